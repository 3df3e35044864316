"""What years of questions cost: `python -m benchmarks.years --data DIR --episodes N --asked M ... [--json]`.

Builds a memory as `benchmarks.scale` does, lets it learn from M questions as if they had been answered, and measures
what replay, opening, learning and comparing all of it anew take then. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from benchmarks import command, drift, metrics, replaying, scale
from memory import Memory
from memory.answering.extractive import AskOutcome
from memory.edge_memory import rebuild
from memory.edge_memory.reinforce import assign_credit, reinforce_edges
from memory.edge_memory.replay import (
    answered_before,
    find_similar_questions,
    most_alike,
    replay_earlier,
    replay_walk,
    text_starts,
)
from memory.graph.walk import EPISODE, OBJECT, Walkable
from memory.llm import NOTHING
from memory.nouns import Answer, Citation, Episode, Step, Trace, Visit
from memory.protocols import Embedder
from memory.store import episodes, traces
from memory.store import graph as stored
from memory.trace import PLAIN
from plugins import manager

TOPICS = 5  # questions for each episode that is asked about: intents that share edges
AGAIN, REWORDED = 0.2, 0.2  # shares of questions that were asked before, in the same and in other words
VERDICTS = 0.01  # share of answers that a person calls good or bad
SHOWN = 10  # episodes, as an answer is made from
AT_ONCE = 100  # questions learnt in one transaction
PROBED, LEARNT = 200, 100  # questions of each kind that are measured, and that are learnt from while it is
WARM_UP = 20
LEAST_WORDS = 5  # of a question that is put in other words
ANSWER = "An answer. [1]"
PARTS = ("embedding", "key", "fires", "walk", "asked before", "most alike")


class Used(TypedDict):
    """What an answer used, in node ids: what `assign_credit` takes by these names."""

    named: Sequence[int]
    starts: Sequence[int]
    shown: Sequence[int]
    useful: Sequence[int]


@dataclass(slots=True)
class Past:
    """What was asked. Few episodes are asked about often, and some for many reasons; `questions` are all that were
    answered: a text and the episode."""

    memory: Memory
    draw: random.Random
    pool: list[int]
    questions: list[tuple[str, int]]

    @classmethod
    def of(cls, memory: Memory, most: int) -> Past:
        """Of a memory that at most so many questions are to be asked of."""
        draw = random.Random(42)
        graph = memory.state.serving.snapshot.graph
        every = graph.episode_ids[graph.alive].tolist()
        return cls(memory, draw, draw.sample(every, min(len(every), max(1, most // TOPICS))), [])

    def episode(self) -> Episode:
        """One that is asked about: the first of the pool much more often than the last."""
        [found] = self.fetched([self.pool[int(len(self.pool) * self.draw.random() ** 2)]])
        return found

    def fetched(self, ids: Sequence[int]) -> list[Episode]:
        with self.memory.store.reading() as conn:
            return episodes.get_many(conn, ids)

    def next(self) -> tuple[str, Episode]:
        """A question and the episode that answers it; a known one again, in its words or others, or a new one."""
        kind = self.draw.random()
        if self.questions and kind < AGAIN + REWORDED:
            text, id = self.draw.choice(self.questions)
            [found] = self.fetched([id])
            return (text if kind < AGAIN else reworded(text, self.draw)), found
        found = self.episode()
        return drift.made_of(found.text, self.draw), found

    def learn(self, count: int) -> None:
        """Lets the memory learn from so many more questions, a hundred in a transaction, without recall."""
        memory = self.memory
        graph = memory.state.serving.snapshot.graph
        with command.progress() as bar:
            for start in bar.track(range(0, count, AT_ONCE), description=""):
                walk = Walkable(graph, graph.alive)
                asked = [self.next() for _ in range(min(AT_ONCE, count - start))]
                lessons = [self._lesson(walk, *one) for one in asked]
                of, known = memory.state.edge_memory
                with memory.store.writing() as conn:
                    for (text, episode), (trace, used) in zip(asked, lessons, strict=True):
                        said = Answer(ANSWER, (_cited(episode),), model="years")
                        now = time.time_ns() // 1_000_000
                        id = traces.store(conn, trace, said, now)
                        given = assign_credit(walk, grounded=True, **used)
                        query = memory.embedder.embed_query(text)
                        known = reinforce_edges(conn, known, of, id, query, given, now)
                        if self.draw.random() < VERDICTS:
                            rebuild.apply_verdict(conn, of, known.dimension, id, self.draw.choice((1, -1)))
                memory.state.edge_memory = of, known
                self.questions += [(text, episode.id) for text, episode in asked]
        memory.state.reload_edge_memory()

    def _lesson(self, walk: Walkable, text: str, episode: Episode) -> tuple[Trace, Used]:
        """The trace of a question, and what it used: what it names, and what was shown beside the answer."""
        around = walk.neighbours(episode.id).vertices
        objects = around[walk.kinds(around) == OBJECT].tolist()
        with self.memory.store.reading() as conn:
            labels = stored.object_labels(conn, objects)
        named = [id for id in objects if labels[id].lower() in text.lower()][:3] or objects[:1]
        beside = [vertex for id in named for vertex in walk.neighbours(id).vertices[:50].tolist()]
        others = [id for id in dict.fromkeys(beside) if walk.kinds([id])[0] == EPISODE and id != episode.id]
        shown = (episode.id, *self.draw.sample(others, min(len(others), SHOWN - 1)))
        visits = [Visit(id, "object", labels[id], 1.0, "seed", "seed") for id in named]
        visits += [Visit(id, "episode", "", 0.5, "rank") for id in shown]
        steps = tuple(Step(stage, 1.0, {"episodes": len(shown)}) for stage in ("analyse", "text", "graph", "rank"))
        used = Used(named=named, starts=shown[1:4], shown=shown, useful=(episode.id,))
        return Trace(text, steps, tuple(visits)), used


def reworded(text: str, draw: random.Random) -> str:
    """The same in other words: one is left out and two change places."""
    words = text.rstrip("?").split()
    if len(words) < LEAST_WORDS:
        return f"Tell me: {text}"
    del words[draw.randrange(2, len(words))]
    one, other = draw.sample(range(2, len(words)), 2)
    words[one], words[other] = words[other], words[one]
    return " ".join(words) + "?"


def _cited(episode: Episode) -> Citation:
    return Citation(1, episode.id, episode.source.uri, episode.title, episode.text[:40])


def measured(memory: Memory, past: Past) -> dict[str, Any]:
    """The figures of a memory that has learnt, as the JSON object of the README."""
    kinds: dict[str, Callable[[], str]] = {
        "same": lambda: past.draw.choice(past.questions)[0],
        "other words": lambda: reworded(past.draw.choice(past.questions)[0], past.draw),
        "other": lambda: drift.made_of(past.fetched([past.draw.choice(every)])[0].text, past.draw),
    }
    every = memory.state.serving.snapshot.graph.episode_ids[memory.state.serving.snapshot.graph.alive].tolist()
    for _ in range(WARM_UP):
        memory.questions.retrieve(past.draw.choice(past.questions)[0])
    replays = [
        {"questions of": name} | _replayed(memory, [ask() for _ in range(PROBED)]) for name, ask in kinds.items()
    ]
    opened = time.perf_counter()
    memory.state.reload_edge_memory()
    loaded = time.perf_counter() - opened
    return {
        "asked": len(past.questions),
        "answered": len(memory.state.edge_memory[1].traces),
        "memory": replaying.held(memory),
        "replay": replays,
        "load_s": round(loaded, 2),
        **_learnt(memory, past),
        **_anew(memory),
    }


def _replayed(memory: Memory, questions: Sequence[str]) -> dict[str, Any]:
    """Milliseconds of the stage and of what it is made of, and how often it brought something, in percent."""
    whole: list[float] = []
    cpu: list[float] = []
    brought: list[float] = []
    parts: dict[str, list[float]] = {name: [] for name in PARTS}
    for text in questions:
        found = memory.questions.retrieve(text, SHOWN, None, None, None)
        [stage] = [step for step in found.recall.trace.steps if step.name == "replay"]
        whole.append(stage.ms)
        brought.append(float(bool(stage.detail["episodes"])))
        known, graph = memory.state.edge_memory[1], found.graph
        taken: dict[str, float] = {}
        with _timed(taken, "embedding"):
            query = memory.embedder.embed_query(text)
        starts = [int(id) for id in found.named_objects] + list(
            text_starts(graph, found.seeds.episode_scores, found.allowed)
        )
        with memory.store.reading() as conn:
            conn.execute("SELECT 1 FROM trace LIMIT 1").fetchone()
            began = time.thread_time()
            replay_earlier(conn, graph, known, query, starts, found.allowed, found.valid_time, None, text)
            cpu.append(1000 * (time.thread_time() - began))
            with _timed(taken, "key"):
                key = known.key(query)
            if key is None:
                continue
            with _timed(taken, "fires"):
                fires = known.activate(key)
            with _timed(taken, "walk"):
                replay_walk(Walkable(graph, found.allowed, when=found.valid_time), starts, fires)
            with _timed(taken, "asked before"):
                asked = find_similar_questions(conn, known, key, None, found.sees)
            with _timed(taken, "most alike"):
                answered_before(asked) or most_alike(asked, text)
        for name, ms in taken.items():
            parts[name].append(ms)
    return {
        "brought": metrics.percent(brought),
        **_percentiles(whole),
        "p50_cpu_ms": metrics.percentile(cpu, 50),
        "p95_cpu_ms": metrics.percentile(cpu, 95),
        "parts_ms": {name: _percentiles(times) for name, times in parts.items()},
    }


def _learnt(memory: Memory, past: Past) -> dict[str, Any]:
    """Milliseconds of keeping a question and learning from it, and of looking whether it is time to compare anew."""
    keep: list[float] = []
    settle: list[float] = []
    for _ in range(LEARNT):
        text, episode = past.next()
        found = memory.questions.retrieve(text, SHOWN, None, None, None)
        hits = [hit.episode for hit in found.recall.hits]
        said = Answer(ANSWER, (_cited(episode if episode in hits else hits[0]),), model="years")
        taken: dict[str, float] = {}
        with _timed(taken, "keep"):
            memory.questions.keep(found.recall.trace, said, PLAIN, AskOutcome(said, (), found, "R2", 0, NOTHING))
        with _timed(taken, "settle"):
            memory.questions.compare_edges()
        keep.append(taken["keep"])
        settle.append(taken["settle"])
    return {"learn_ms": _percentiles(keep), "settle_ms": _percentiles(settle)}


def _anew(memory: Memory) -> dict[str, Any]:
    """Seconds of what a night does once the questions have doubled, and milliseconds that a writer waits meanwhile."""
    waits: list[float] = []
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.01):
            began = time.perf_counter()
            with memory.store.writing():
                waits.append(1000 * (time.perf_counter() - began))

    writer = threading.Thread(target=write)
    writer.start()
    began = time.perf_counter()
    try:
        done = memory.maintenance.compare_edges(lambda unit: unit())
    finally:
        over.set()
        writer.join()
    return {
        "anew": done,
        "anew_s": round(time.perf_counter() - began, 2),
        "longest_wait_ms": round(max(waits, default=0.0), 1),
    }


@contextmanager
def _timed(taken: dict[str, float], name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    taken[name] = 1000 * (time.perf_counter() - began)


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    return {
        "p50_ms": metrics.percentile(times, 50),
        "p95_ms": metrics.percentile(times, 95),
        "max_ms": round(max(times), 3),
    }


def results(path: Path, embedder: Embedder, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The figures of the memory at `path` after so many questions, one size after the other."""
    with Memory.open(path, embedder=embedder) as memory:
        past = Past.of(memory, max(sizes))
        for size in sorted(sizes):
            command.note(f"learn from {size} questions")
            past.learn(size - len(past.questions))
            command.note("measure")
            yield measured(memory, past)


def show(found: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables: the stage by size and kind of question, and what else grows."""
    rows = [{"asked": one["asked"], **stage} for one in found for stage in one["replay"]]
    command.show_table(
        "Replay, milliseconds",
        rows,
        {"asked": "asked", "questions": "questions of", "brought %": "brought", "p50": "p50_ms", "p95": "p95_ms"}
        | {"max": "max_ms", "CPU p50": "p50_cpu_ms", "CPU p95": "p95_cpu_ms"}
        | {f"{name} p95": f"parts_ms.{name}.p95_ms" for name in PARTS},
    )
    command.show_table(
        "What grows",
        found,
        {"asked": "asked", "edges": "memory.edges", "slots": "memory.slots", "MB": "memory.mb", "%": "memory.share"}
        | {"load s": "load_s", "learn p50 ms": "learn_ms.p50_ms", "p95 ms": "learn_ms.p95_ms"}
        | {"settle p95 ms": "settle_ms.p95_ms", "anew s": "anew_s", "writer waits ms": "longest_wait_ms"},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.years", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--episodes", type=command.positive, required=True, metavar="N", help="documents to remember")
    parser.add_argument("--asked", type=command.positive, nargs="+", required=True, metavar="M", help="questions")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--keep", type=Path, metavar="PATH", help="keep the memory there, nothing asked yet, or use it")
    parser.add_argument("--json", action="store_true", help="one JSON object per size instead of tables")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder:
        path = Path(folder) / "years.db"
        kept = options.keep or path
        if not kept.exists():
            scale.build_apart(kept, options.data, options.episodes, options.embedder)
        if options.keep:
            shutil.copy(kept, path)
        found = []
        for one in results(path, manager.load().embedder(options.embedder), options.asked):
            found.append(one)
            if options.json:
                print(json.dumps(one), flush=True)
    if not options.json:
        show(found)


if __name__ == "__main__":
    sys.exit(main())
