"""What a night of learning brings: `python -m benchmarks.learning --data DIR [--json]`.

Every question of a set is traced in the order of the file, as if it had been answered with its gold as citations. Then
one night learns from the older four fifths, and the newest fifth is measured: how many of the edges that lead to the
gold are among the first 50 near the question, by relevance alone and by the scorer; and whether more gold is among
the first episodes. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.asking import build
from memory import Memory
from memory.edge_memory.edges import load_edge_memory
from memory.edge_memory.reinforce import reinforce_edges
from memory.graph import snapshot
from memory.nouns import Answer, Citation, Scope
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse
from memory.retrieval.pipeline import retrieve, training_signal
from memory.retrieval.state import Serving
from memory.settings import MemorySettings, RecallSettings
from memory.store import queries, traces, vectors
from memory.store.store import Store
from memory.trace import Plan
from plugins import manager
from plugins.rankers import TrainedRanker
from plugins.rankers.training import NEWEST
from plugins.settings import TrainedSettings, ranker_kind
from tests.plugins.rankers.trials import KINDS, trial

RANKS = (5, 10, 50)
BESIDE = ("spread", "entities", "spread+entities", "sketches", "spread+sketches")
FIRST = 1_767_225_600_000  # ms UTC: when the first question is asked; each next one a second later
LEAST = 50  # questions from which on is learnt here: the sets are small


def measure(questions: data.QuestionSet, embedder: Embedder, path: Path, trained: TrainedSettings) -> dict[str, Any]:
    """One set's figures, as the JSON object of the README."""
    build(path, questions.documents, embedder, questions.name)
    judged = [one for one in questions.questions if one.gold and not one.apart]
    with Store.open(path) as store:
        serving = _serving(store, embedder)
        command.note(f"{questions.name}: trace {len(judged)} questions")
        _trace(store, serving, judged)
    newest = judged[-max(1, round(NEWEST * len(judged))) :]
    before = _episodes(path, embedder, newest, BESIDE)
    command.note(f"{questions.name}: learn")
    with Store.open(path) as store:
        started = time.process_time()
        report = TrainedRanker(trained).train(store, _serving(store, embedder), RecallSettings(), now=FIRST)
        cpu_seconds = round(time.process_time() - started, 2)
        with store.reading() as conn:
            models = queries.models(conn, ranker_kind(embedder.name))
    beside = [name for name in BESIDE if "entities" in name] if report.promoted else []
    return {
        "set": questions.name,
        "embedder": embedder.name,
        "traced": len(judged),
        **asdict(report),
        "gain": None if report.scorer is None or report.sigma is None else round(report.scorer - report.sigma, 2),
        "bytes": len(models[0].params) if models else None,
        "cpu_seconds": cpu_seconds,
        "before": before,
        "after": _episodes(path, embedder, newest, beside),
    }


def _serving(store: Store, embedder: Embedder) -> Serving:
    with store.reading() as conn:
        embedder_id, _ = vectors.active(conn)
        assert embedder_id is not None
        limit = RecallSettings().vectors_in_memory
        graph = snapshot.load_graph(conn)
        found = snapshot.with_vectors(conn, graph, embedder_id, embedder.dimension, limit)
        return Serving(embedder, embedder_id, found, True, ())


def _trace(store: Store, serving: Serving, questions: Sequence[data.Question]) -> None:
    """Each question with its gold as citations, and what edges learn of it, as `Questions.ask` would keep it."""
    with store.reading() as conn:
        known = load_edge_memory(conn, serving.embedder_id, serving.embedder.dimension)
        rows = conn.execute("SELECT node_id, value FROM episode, json_each(episode.refs) ORDER BY node_id").fetchall()
    holding: dict[str, list[int]] = {}
    for episode, ref in rows:
        holding.setdefault(ref, []).append(episode)
    with command.progress() as bar:
        for number, question in enumerate(bar.track(questions, description="")):
            within = Scope(conversation=question.conversation) if question.conversation else None
            gold = dict.fromkeys(episode for ref in question.gold for episode in holding.get(ref, ()))
            citations = tuple(Citation(n, episode, "", "", "") for n, episode in enumerate(gold, 1))
            said = Answer(next(iter(question.answers), ""), citations, model="gold")
            with store.reading() as conn:
                asked = analyse(question.text, within=within)
                found = retrieve(conn, serving.snapshot, serving.embedder, RecallSettings(), asked, 10)
                credit = training_signal(found, said)
            now, query = FIRST + 1000 * number, serving.embedder.embed_query(question.text)
            with store.writing() as conn:
                id = traces.store(conn, found.recall.trace, said, now, Plan(within=within))
                known = reinforce_edges(conn, known, serving.embedder_id, id, query, credit, now)


def _episodes(
    path: Path, embedder: Embedder, questions: Sequence[data.Question], strategies: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Recall in percent at each rank of RANKS by each strategy, and ms a question; nothing of the questions' own
    traces is used."""
    found = {}
    for name in strategies:
        settings = MemorySettings(recall=RecallSettings(strategy=name, replay=False))
        plugins = manager.load()
        with Memory.open(
            path, embedder=embedder, settings=settings, find_strategy=plugins.strategies(), ranker=plugins.ranker()
        ) as memory:
            rankings, started = [], time.perf_counter()
            for question in questions:
                within = Scope(conversation=question.conversation) if question.conversation else None
                hits = memory.questions.retrieve(question.text, k=max(RANKS), within=within).recall.hits
                rankings.append((question.gold, [hit.episode.refs for hit in hits]))
            ms = 1000 * (time.perf_counter() - started) / len(questions)
        shares = {
            str(k): round(
                100 * sum(metrics.recall_at(gold, ranking, k) for gold, ranking in rankings) / len(rankings), 1
            )
            for k in RANKS
        }
        found[name] = shares | {"ms": round(ms, 1)}
    return found


def trials(number: int) -> dict[str, int]:
    """In how many small worlds a scorer was promoted, by what there is to learn in them, and after how many promotions
    less was found in later questions."""
    done = [trial(seed) for seed in range(number)]
    promoted = [one for one in done if one.promoted]
    return {
        "trials": number,
        **{kind: sum(one.kind == kind for one in promoted) for kind in KINDS},
        "promoted": len(promoted),
        "lowered": sum(one.later.scorer < one.later.sigma for one in promoted),
    }


def show(results: Sequence[dict[str, Any]]) -> None:
    """Print the tables: what the scorer gains on edges, then what its use gains on episodes."""
    command.show_table(
        "Needed edges among the first 50, in percent, on the newest fifth",
        results,
        {
            "set": "set", "traced": "traced", "trained": "trained", "measured": "measured",
            "near": "reached", "sigma": "sigma", "scorer": "scorer", "gain": "gain", "±": "margin", "epoch": "epoch",
            "promoted": "promoted", "s": "seconds", "CPU s": "cpu_seconds", "bytes": "bytes",
        },
    )  # fmt: skip
    command.show_table(
        "Gold among the first episodes, in percent, on the newest fifth",
        [
            {"name": f"{result['set']}, {name}{learnt}", **figures}
            for result in results
            for when, learnt in (("before", ""), ("after", ", trained"))
            for name, figures in result[when].items()
        ],
        {"set, strategy": "name"} | {f"R@{k}": str(k) for k in RANKS} | {"ms": "ms"},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=(__doc__ or "").split("\n\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--data", type=Path, metavar="DIR", help="a question set, or a folder of them")
    what.add_argument(
        "--trials", type=command.positive, metavar="N", help="instead: N small worlds, and whether promotion ever harms"
    )
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these sets of the folder")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="trace the first N questions only")
    parser.add_argument(
        "--least", type=command.positive, default=LEAST, metavar="N", help=f"learn from N questions on ({LEAST})"
    )
    parser.add_argument("--labels", choices=("cited", "pool"), default="cited", help="which edges count as needed")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of tables")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    if options.trials:
        result = trials(options.trials)
        if options.json:
            print(json.dumps(result))
        else:
            command.show_table("Promoted, by what there is to learn", [result], {name: name for name in result})
        return
    embedder = manager.load().embedder(options.embedder)
    results = []
    for folder in data.find_sets(options.data, options.sets):
        questions = data.load(folder, options.limit)
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary:
            path = Path(temporary) / f"{questions.name}.db"
            trained = TrainedSettings(questions=options.least, labels=options.labels)
            result = measure(questions, embedder, path, trained)
        results.append(result)
        if options.json:
            print(json.dumps(result), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
