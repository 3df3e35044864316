"""How recall grows with the memory: `python -m benchmarks.scale --data DIR --episodes N [--json]`.

Builds a memory of the sets' passages and as many synthetic episodes as are missing to N, in a process of its own, and
asks the sets' questions. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.synthetic import Invention
from memory import Memory
from memory.ingest import ingest, versions
from memory.ingest.draft import draft_document
from memory.nouns import Document, Recall
from memory.protocols import Embedder
from memory.settings import ChunkSettings
from memory.store import vectors
from memory.store.store import Store
from plugins import manager

BATCH = 1024  # documents per transaction
REAL = 0.5  # share of the episodes that may be the sets' own
WARM_UP = 20  # questions asked before the clock counts
NOTES = 5  # written to see what one write costs
DEPTH = 5


def load_sets(folder: Path) -> list[data.QuestionSet]:
    """The sets of passages, their ids made unique. Raises DataError."""
    sets = []
    for one in map(data.load, data.find_sets(folder)):
        if not one.turns:
            documents = tuple(replace(document, ref=f"{one.name}/{document.ref}") for document in one.documents)
            questions = tuple(
                replace(question, gold=tuple(f"{one.name}/{id}" for id in question.gold)) for question in one.questions
            )
            sets.append(replace(one, documents=documents, questions=questions))
    if not sets:
        raise command.DataError(f"{folder} holds no set of passages.")
    return sets


def documents_of(sets: Sequence[data.QuestionSet], count: int) -> Iterator[Document]:
    """`count` documents: the sets' own, up to REAL of all, and synthetic ones."""
    real = [document for one in sets for document in one.documents][: int(count * REAL)]
    invention = Invention([text for one in sets for text in one.texts.values()])
    return chain(real, invention.documents(count - len(real)))


def build(path: Path, folder: Path, count: int, embedder_name: str) -> None:
    """Writes a memory of `count` documents. By the writer itself: nobody asks meanwhile, so no graph is kept."""
    embedder = manager.load().embedder(embedder_name)
    documents = documents_of(load_sets(folder), count)
    with Store.open(path) as store, command.progress() as bar:
        task = bar.add_task("", total=count)
        with store.writing() as conn:
            embedder_id = vectors.register(conn, embedder)
        while batch := list(islice(documents, BATCH)):
            drafts = [draft_document(document, ChunkSettings()) for document in batch]
            ready = ingest.embed_drafts(store, drafts, embedder)
            with store.reading() as conn:
                diffs = versions.compare_versions(conn, ready.documents)
            texts = ingest.texts_to_embed(ready.documents, diffs, ingest.sentence_window(embedder))
            matrix = ready.embed(texts, embedder)
            with store.writing() as conn:
                ingestion = ingest.Ingestion(conn, embedder_id, time.time_ns() // 1_000_000)
                ingestion.write(ready.documents, diffs, matrix)
            bar.advance(task, len(batch))


def build_apart(path: Path, folder: Path, count: int, embedder_name: str) -> None:
    """The same in a process of its own, whose memory is not measured. DataError."""
    command.note(f"remember {count} documents")
    work = (path, folder, count, embedder_name)
    process = multiprocessing.get_context("spawn").Process(target=build, args=work)
    process.start()
    process.join()
    if process.exitcode:
        raise command.DataError("The memory could not be built; the lines above say why.")


def measure(path: Path, sets: Sequence[data.QuestionSet], embedder: Embedder) -> dict[str, Any]:
    """The figures of the memory at `path`, as the JSON object of the README. A few notes are written to it."""
    embedder.embed_query("warm")
    before = command.resident_mb()
    started = time.perf_counter()
    with Memory.open(path, embedder=embedder) as memory:
        open_s = time.perf_counter() - started
        opened = command.resident_mb()
        peak_open = command.peak_mb()
        questions = [question for one in sets for question in one.questions]
        started = time.perf_counter()
        memory.questions.retrieve(questions[0].text)
        first_ms = 1000 * (time.perf_counter() - started)
        for question in questions[1:WARM_UP]:
            memory.questions.retrieve(question.text)
        asked = [_timed(memory, question.text) for question in questions]
        stages = _stages(memory, questions, [recall for _, _, recall in asked])
        stats = memory.browsing.stats()
        size = command.file_bytes(path)
        gc.collect()
        resident = command.resident_mb()
        writes, after = zip(
            *[_written(memory, i, questions[i % len(questions)].text) for i in range(NOTES)], strict=True
        )
        found = [
            metrics.recall_at(question.gold, [hit.episode.refs for hit in recall.hits], DEPTH)
            for question, (_, _, recall) in zip(questions, asked, strict=True)
        ]
    times = [ms for ms, _, _ in asked]
    return {
        "episodes": stats.episodes,
        "objects": stats.objects,
        "edges": stats.edges,
        "questions": len(questions),
        "p50_ms": metrics.percentile(times, 50),
        "p95_ms": metrics.percentile(times, 95),
        "p50_cpu_ms": metrics.percentile([cpu for _, cpu, _ in asked], 50),
        "stages_ms": stages,
        "recall_5": metrics.percent(found),
        "open_s": round(open_s, 2),
        "first_ms": round(first_ms, 1),
        "write_ms": metrics.percentile(writes, 50),
        "after_write_ms": metrics.percentile(after, 50),
        "start_mb": before,
        "open_mb": opened,
        "resident_mb": resident,
        "peak_open_mb": peak_open,
        "peak_mb": command.peak_mb(),
        "mb_per_1000": round(size / 1e6 / stats.episodes * 1000, 3),
    }


def _timed(memory: Memory, question: str) -> tuple[float, float, Recall]:
    started, cpu_started = time.perf_counter(), time.thread_time()
    recall = memory.questions.retrieve(question, k=10).recall
    return 1000 * (time.perf_counter() - started), 1000 * (time.thread_time() - cpu_started), recall


def _written(memory: Memory, number: int, question: str) -> tuple[float, float]:
    """Milliseconds of writing one note, and of the first question after it."""
    text = f"Met Orla Fennick{number} at the harbour of Brindle. She will call {number} days after the regatta."
    started = time.perf_counter()
    memory.ingest.remember(text, source=f"scale/{time.time_ns()}")
    written = time.perf_counter()
    memory.questions.retrieve(question)
    return 1000 * (written - started), 1000 * (time.perf_counter() - written)


def _stages(memory: Memory, questions: Sequence[data.Question], recalls: Sequence[Recall]) -> dict[str, float]:
    """Mean milliseconds of full text and vectors, each asked alone, of the graph, and of all the rest."""
    text, graph, whole = (fmean(_ms(recall, stage) for recall in recalls) for stage in ("text", "graph", None))
    channels, given = {}, memory.state.settings
    for name, weight in (("full text", 1.0), ("vectors", 0.0)):
        memory.state.settings = replace(given, recall=replace(given.recall, lexical_weight=weight, strategy="none"))
        channels[name] = fmean(_ms(memory.questions.retrieve(question.text).recall, "text") for question in questions)
    memory.state.settings = given
    return {name: round(ms, 2) for name, ms in {**channels, "graph": graph, "rest": whole - text - graph}.items()}


def _ms(recall: Recall, stage: str | None) -> float:
    return sum(step.ms for step in recall.trace.steps if stage in (None, step.name))


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables: one row per size."""
    command.show_table(
        "Questions",
        results,
        {"episodes": "episodes", "objects": "objects", "p50 ms": "p50_ms", "p95 ms": "p95_ms", "CPU ms": "p50_cpu_ms"}
        | {name: f"stages_ms.{name}" for name in results[0]["stages_ms"]}
        | {"R@5": "recall_5"},
    )
    command.show_table(
        "Opening, writing, memory",
        results,
        {"episodes": "episodes", "open s": "open_s", "first ms": "first_ms", "write ms": "write_ms"}
        | {"next ms": "after_write_ms", "RSS MB": "resident_mb", "peak MB": "peak_mb", "MB/1000": "mb_per_1000"},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--episodes", type=command.positive, required=True, metavar="N", help="documents to remember")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--keep", type=Path, metavar="PATH", help="keep the memory there, and use it if it is there")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    sets = load_sets(options.data)
    kept = nullcontext(options.keep.parent) if options.keep else tempfile.TemporaryDirectory(prefix="palimpsest-bench-")
    with kept as folder:
        path = options.keep or Path(folder) / "scale.db"
        if not path.exists():
            build_apart(path, options.data, options.episodes, options.embedder)
        command.note(f"ask {sum(len(one.questions) for one in sets)} questions")
        result = measure(path, sets, manager.load().embedder(options.embedder))
    print(json.dumps(result)) if options.json else show([result])


if __name__ == "__main__":
    sys.exit(main())
