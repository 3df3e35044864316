"""Side by side with others: `python -m benchmarks.peers --data DIR [--sets NAME ...] [--peers NAME ...] [--json]`.

Each gets the same passages and, if it searches vectors, the same embedder; writes them to disk, is closed and opened
again. Then every question is asked of each in turn, so that what else the machine does disturbs all alike. Nothing
is downloaded and nothing is sent anywhere. A peer that is not installed is reported as that.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks import command, data, metrics
from benchmarks.asking import BATCH, WARM_UP
from memory import Memory
from memory.ingest.chunk import chunk_document
from memory.ingest.ingest import embedded_text
from memory.nouns import Document, Scope
from memory.protocols import Embedder
from memory.settings import ChunkSettings
from plugins import manager
from plugins.installing import read_version

RANKS = (5, 10)
DEPTH = 50  # passages each half of a hybrid search finds before the two are merged
INSTALL = "pip install -c constraints.txt -e '.[bench]'"
OURS = "palimpsest"


@dataclass(frozen=True, slots=True)
class Passage:
    """An episode as it is given to a peer: its words with the title before them, and the corpus ids it holds."""

    text: str
    refs: tuple[str, ...]
    conversation: str


Found = list[tuple[str, ...]]


class System(Protocol):
    """Something that keeps passages in a folder and finds them. Opened on a folder that is empty or was written."""

    def add(self, passages: Sequence[Passage]) -> None:
        """Keep them all; called once."""

    def ask(self, question: data.Question, k: int) -> Found:
        """The refs of the `k` best passages of the question's conversation, best first."""

    def close(self) -> None:
        """After this everything is on disk."""


class Palimpsest:
    """This program, through the library. It cuts the documents itself, into the passages that the others get."""

    def __init__(self, folder: Path, embedder: Embedder, documents: Sequence[Document]) -> None:
        self._memory = Memory.open(folder / "memory.db", embedder=embedder)
        self._documents = documents

    def add(self, passages: Sequence[Passage]) -> None:
        for start in range(0, len(self._documents), BATCH):
            self._memory.ingest.remember_many(self._documents[start : start + BATCH])

    def ask(self, question: data.Question, k: int) -> Found:
        within = Scope(conversation=question.conversation) if question.conversation else None
        return [
            hit.episode.refs for hit in self._memory.questions.retrieve(question.text, k=k, within=within).recall.hits
        ]

    def close(self) -> None:
        self._memory.close()


class Chroma:
    """chromadb: vectors in an HNSW graph, cosine. Its own embedder, a download, is never made."""

    def __init__(self, folder: Path, embedder: Embedder, passages: Sequence[Passage]) -> None:
        import chromadb
        from chromadb.config import Settings

        self._embedder, self._passages = embedder, passages
        self._client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._kept = self._client.get_or_create_collection(
            "passages", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, passages: Sequence[Passage]) -> None:
        step = self._client.get_max_batch_size()
        for start in range(0, len(passages), step):
            batch = passages[start : start + step]
            texts = [passage.text for passage in batch]
            self._kept.add(
                ids=[str(start + i) for i in range(len(batch))],
                documents=texts,
                embeddings=self._embedder.embed_documents(texts),
                metadatas=[{"conversation": passage.conversation} for passage in batch],
            )

    def ask(self, question: data.Question, k: int) -> Found:
        where = {"conversation": question.conversation} if question.conversation else None
        query = self._embedder.embed_query(question.text)
        found = self._kept.query(query_embeddings=[query], n_results=k, where=where, include=[])
        return [self._passages[int(id)].refs for id in found["ids"][0]]

    def close(self) -> None:
        self._client.close()


class Bm25s:
    """bm25s: BM25 in sparse matrices, English stop words and stems. No vectors; its index is loaded whole."""

    def __init__(self, folder: Path, embedder: Embedder, passages: Sequence[Passage]) -> None:
        import bm25s
        import snowballstemmer

        self._bm25s, self._stemmer = bm25s, snowballstemmer.stemmer("english")
        self._folder, self._passages = folder, passages
        written = any(folder.iterdir())
        self._index = bm25s.BM25.load(folder) if written else bm25s.BM25()
        rows: dict[str, list[int]] = defaultdict(list)
        for row, passage in enumerate(passages):
            rows[passage.conversation].append(row)
        self._masks = {name: _mask(held, len(passages)) for name, held in rows.items()}

    def add(self, passages: Sequence[Passage]) -> None:
        self._index.index(self._words([passage.text for passage in passages]), show_progress=False)
        self._index.save(self._folder, corpus=[passage.text for passage in passages], show_progress=False)

    def ask(self, question: data.Question, k: int) -> Found:
        mask = self._masks[question.conversation] if question.conversation else None
        words = self._words([question.text])
        rows, scores = self._index.retrieve(words, k=min(k, len(self._passages)), weight_mask=mask, show_progress=False)
        return [self._passages[int(row)].refs for row, score in zip(rows[0], scores[0], strict=True) if score > 0]

    def _words(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    def close(self) -> None:
        pass


def _mask(rows: Sequence[int], size: int) -> Any:
    mask = np.zeros(size, np.float32)
    mask[rows] = 1
    return mask


class Lance:
    """lancedb: its hybrid search, full text (English stop words and stems) and all vectors, merged by rank (RRF)."""

    def __init__(self, folder: Path, embedder: Embedder, passages: Sequence[Passage]) -> None:
        os.environ.setdefault("LANCEDB_LOG", "error")  # it warns of every search; must be said before it is imported
        import lancedb
        from lancedb.rerankers import RRFReranker

        self._embedder, self._passages = embedder, passages
        self._base = lancedb.connect(str(folder))
        self._table: Any = self._base.open_table("passages") if any(folder.iterdir()) else None
        self._merge = RRFReranker()

    def add(self, passages: Sequence[Passage]) -> None:
        from lancedb.index import FTS

        vectors = self._embedder.embed_documents([passage.text for passage in passages])
        rows = [
            {"row": row, "text": passage.text, "conversation": passage.conversation, "vector": vector}
            for row, (passage, vector) in enumerate(zip(passages, vectors, strict=True))
        ]
        self._table = self._base.create_table("passages", data=rows)
        self._table.create_index("text", config=FTS())

    def ask(self, question: data.Question, k: int) -> Found:
        from lancedb.query import MatchQuery

        search = self._table.search(query_type="hybrid").vector(self._embedder.embed_query(question.text))
        search = search.distance_type("cosine").text(MatchQuery(question.text, "text")).rerank(self._merge)
        if question.conversation:
            name = question.conversation.replace("'", "''")
            search = search.where(f"conversation = '{name}'", prefilter=True)
        found = search.select(["row"]).limit(max(k, DEPTH)).to_arrow()
        return [self._passages[row].refs for row in found["row"].to_pylist()[:k]]

    def close(self) -> None:
        pass


PEERS: dict[str, Callable[[Path, Embedder, Sequence[Passage]], System]] = {  # by the package to install
    "chromadb": Chroma,
    "bm25s": Bm25s,
    "lancedb": Lance,
}


def passages_of(questions: data.QuestionSet) -> list[Passage]:
    """The episodes that Palimpsest makes of the set, as it embeds them."""
    return [
        Passage(embedded_text(draft.title, draft.text), draft.refs, document.conversation or "")
        for document in questions.documents
        for draft in chunk_document(document, ChunkSettings())
    ]


def measure(questions: data.QuestionSet, embedder: Embedder, folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """One set's figures, as the JSON object of the README. Everything lies in `folder`."""
    passages = passages_of(questions)
    embedder.embed_query("warm")  # load the embedder before the clock runs
    result: dict[str, dict[str, Any]] = {}
    opened: dict[str, System] = {}
    with ExitStack() as stack:
        for name in (OURS, *names):
            if name != OURS and find_spec(name) is None:
                command.note(f"{questions.name}: {name} is not installed: {INSTALL}")
                result[name] = {"installed": False, "install": INSTALL}
                continue
            (own := folder / name).mkdir()

            def opening(name: str = name, own: Path = own) -> System:
                if name == OURS:
                    return Palimpsest(own, embedder, questions.documents)
                return PEERS[name](own, embedder, passages)

            command.note(f"{questions.name}: {name} keeps {len(passages)} passages")
            result[name] = {
                "installed": True,
                "version": read_version() if name == OURS else version(name),
                **_written(opening, own, passages),
            }
            opened[name] = stack.enter_context(closing(opening()))
        command.note(f"{questions.name}: ask {len(questions.questions)} questions of {', '.join(opened)}")
        for name, figures in _asked(opened, questions.questions).items():
            result[name] |= figures
    return {"set": questions.name, "embedder": embedder.name, "passages": len(passages), "systems": result}


def _written(opening: Callable[[], System], folder: Path, passages: Sequence[Passage]) -> dict[str, float]:
    started = time.perf_counter()
    with closing(opening()) as system:
        system.add(passages)
    seconds = time.perf_counter() - started
    size = command.folder_bytes(folder) / 1e6
    return {
        "ingest_s": round(seconds, 3),
        "passages_per_s": round(len(passages) / seconds, 1),
        "mb": round(size, 3),
        "mb_per_1000": round(1000 * size / len(passages), 3),
    }


def _asked(systems: dict[str, System], questions: Sequence[data.Question]) -> dict[str, dict[str, Any]]:
    """Each question is asked of all before the next one."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    recall: dict[str, dict[int, list[float]]] = {name: {k: [] for k in RANKS} for name in systems}
    for question in questions[:WARM_UP]:
        for system in systems.values():
            system.ask(question, max(RANKS))
    with command.progress() as bar:
        for question in bar.track(questions, description=""):
            for name, system in systems.items():
                started = time.perf_counter()
                found = system.ask(question, max(RANKS))
                times[name].append(1000 * (time.perf_counter() - started))
                if question.gold and not question.apart:
                    for k in RANKS:
                        recall[name][k].append(metrics.recall_at(question.gold, found, k))
    return {
        name: {
            "questions": len(recall[name][RANKS[0]]),
            "recall": {str(k): metrics.percent(shares) for k, shares in recall[name].items()},
            "margin": {str(k): metrics.margin(shares) for k, shares in recall[name].items()},
            "all": {str(k): metrics.percent([float(s == 1) for s in shares]) for k, shares in recall[name].items()},
            "p50_ms": metrics.percentile(times[name], 50),
            "p95_ms": metrics.percentile(times[name], 95),
            "times_ms": metrics.ratio(times[name], times[OURS]),
        }
        for name in systems
    }


COLUMNS = {
    "system": "name",
    "version": "version",
    "questions": "questions",
    "R@5": "recall.5",
    "±": "margin.5",
    "R@10": "recall.10",
    "All@5": "all.5",
    "p50 ms": "p50_ms",
    "p95 ms": "p95_ms",
    "× p50": "times_ms",
    "passages/s": "passages_per_s",
    "MB": "mb",
    "MB/1,000": "mb_per_1000",
}


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table: the systems that are installed."""
    return [{"name": name, **one} for name, one in result["systems"].items() if one["installed"]]


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print a table for each set, and what to install for the peers that are not there."""
    for result in results:
        title = f"{result['set']}: {result['passages']:,} passages, embedder {result['embedder']}"
        command.show_table(title, rows(result), COLUMNS)
    missing = {name: one for result in results for name, one in result["systems"].items() if not one["installed"]}
    for name, one in missing.items():
        print(f"{name} is not installed: {one['install']}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these sets of the folder")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=[*PEERS], metavar="NAME", help="only these peers")
    parser.add_argument("--embedder", default="static", help="name of the embedder, for all (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of tables")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    embedder = manager.load().embedder(options.embedder)
    results = []
    for folder in data.find_sets(options.data, options.sets):
        questions = data.load(folder, options.limit)
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-", ignore_cleanup_errors=True) as temporary:
            results.append(measure(questions, embedder, Path(temporary), options.peers))
        if options.json:
            print(json.dumps(results[-1]), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
