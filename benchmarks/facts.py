"""What a question costs where many facts are known: `python -m benchmarks.facts [--facts N] [--json]`.

Builds a memory of invented notes, each of which tells ten facts as if a model had read them, and asks plain questions
for their values, without a model. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import command, metrics
from benchmarks.synthetic import SYLLABLES
from memory import Memory
from memory.answering import facts
from memory.facts.extraction import OWNER, ExtractedRelation, Extraction
from memory.nouns import Document
from memory.protocols import Embedder
from memory.store import facts as stored_facts
from plugins import manager

PER_NOTE = 10  # facts
PER_SUBJECT = 20  # facts, on the average; half of all are of a tenth of the subjects
OF_OWNER = 0.02  # of the facts are of the person whose memory it is
PREDICATES = tuple(
    "rent employer birthday doctor landlord budget bank size colour supplier deadline price owner neighbour teacher car"
    " dosage address nickname hobby".split()
)
BATCH = 200  # notes of a transaction
WARM_UP = 10
FIRST_DAY = datetime(2015, 1, 1, tzinfo=UTC)
READER = "invented"  # the model that is said to have read the notes


@dataclass(frozen=True, slots=True)
class Told:
    """A fact of a note. Of the owner the subject is OWNER."""

    subject: str
    predicate: str
    value: str

    def sentence(self) -> str:
        if self.subject == OWNER:
            return f"My {self.predicate} is {self.value}."
        return f"The {self.predicate} of {self.subject} is {self.value}."

    def question(self) -> str:
        if self.subject == OWNER:
            return f"What is my {self.predicate}?"
        return f"What is the {self.predicate} of {self.subject}?"


def invent(count: int, seed: int = 0) -> list[tuple[Document, list[Told]]]:
    """Notes that tell `count` facts together; the same each time."""
    rng = random.Random(seed)
    subjects = [f"{_word(rng)} {_word(rng)}" for _ in range(max(1, count // PER_SUBJECT))]
    often = subjects[: max(1, len(subjects) // PER_NOTE)]
    notes = []
    for number in range(-(-count // PER_NOTE)):
        told = []
        for _ in range(min(PER_NOTE, count - number * PER_NOTE)):
            subject = OWNER if rng.random() < OF_OWNER else rng.choice(often if rng.random() < 0.5 else subjects)
            told.append(Told(subject, rng.choice(PREDICATES), f"{_word(rng)} {rng.randrange(10, 1000)}"))
        text = " ".join(one.sentence() for one in told)
        at = FIRST_DAY + timedelta(hours=number)
        notes.append((Document(f"invented/{number}", text, title=_word(rng), at=at, policy="any"), told))
    return notes


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))).capitalize()


def build(memory: Memory, notes: Sequence[tuple[Document, list[Told]]]) -> None:
    """Writes the notes and what a model would have read in them; nothing is decided of it."""
    with command.progress() as bar:
        for start in bar.track(range(0, len(notes), BATCH), description=""):
            some = notes[start : start + BATCH]
            receipts = memory.ingest.remember_many([document for document, _ in some])
            extractions = {
                receipt.episode_ids[0]: _extraction(document.text, told)
                for receipt, (document, told) in zip(receipts, some, strict=True)
            }
            with memory.knowledge.transaction() as asserter:
                asserter.assert_extractions(extractions, READER)


def _extraction(text: str, told: Sequence[Told]) -> Extraction:
    places = [(one, text.find(one.sentence())) for one in told]
    return Extraction(
        tuple(
            ExtractedRelation(
                subject=one.subject, predicate=one.predicate, object=one.value, start=start,
                end=start + len(one.sentence()),
            )
            for one, start in places
        )
    )  # fmt: skip


def measure(memory: Memory, questions: Sequence[str]) -> dict[str, Any]:
    """The figures of the memory, as the JSON object of the README."""
    for question in questions[:WARM_UP]:
        _ask(memory, question)
    spent: list[float] = []

    def timed(*args: Any) -> Any:
        started = time.perf_counter()
        try:
            return facts.find_fact_candidates(*args)
        finally:
            spent.append(1000 * (time.perf_counter() - started))

    whole, cpu, of_facts = [], [], []
    with patch("memory.answering.extractive.find_fact_candidates", timed):
        for question in questions:
            spent.clear()
            started, cpu_started = time.perf_counter(), time.thread_time()
            _ask(memory, question)
            whole.append(1000 * (time.perf_counter() - started))
            cpu.append(1000 * (time.thread_time() - cpu_started))
            of_facts.append(sum(spent))
    with memory.store.reading() as conn:
        near = []
        for (id,) in conn.execute("SELECT id FROM vec_fact ORDER BY id DESC LIMIT ?", (len(questions),)).fetchall():
            started = time.thread_time()
            stored_facts.nearest(conn, id, 12)
            near.append(1000 * (time.thread_time() - started))
    return {
        "questions": len(questions),
        "p50_ms": metrics.percentile(whole, 50),
        "p95_ms": metrics.percentile(whole, 95),
        "p50_cpu_ms": metrics.percentile(cpu, 50),
        "p95_cpu_ms": metrics.percentile(cpu, 95),
        "facts_p50_ms": metrics.percentile(of_facts, 50),
        "facts_p95_ms": metrics.percentile(of_facts, 95),
        "nearest_cpu_ms": metrics.percentile(near, 50),
    }


def _ask(memory: Memory, question: str) -> None:
    for _ in memory.questions.ask(question, replay=False):
        pass


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    columns = {"facts": "facts", "questions": "questions", "p50 ms": "p50_ms", "p95 ms": "p95_ms"}
    columns |= {"CPU p50": "p50_cpu_ms", "CPU p95": "p95_cpu_ms", "facts p50": "facts_p50_ms"}
    columns |= {"facts p95": "facts_p95_ms", "nearest CPU": "nearest_cpu_ms", "open s": "open_s"}
    command.show_table("Questions among many facts", [result], columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--facts", type=command.positive, default=100_000, metavar="N", help="facts (default: 100000)")
    parser.add_argument("--questions", type=command.positive, default=200, metavar="N", help="asked (default: 200)")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--keep", type=Path, metavar="PATH", help="keep the memory there, and use it if it is there")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    embedder: Embedder = manager.load().embedder(options.embedder)
    notes = invent(options.facts)
    asked = random.Random(1).sample([one for _, told in notes for one in told], min(options.questions, options.facts))
    kept = nullcontext(options.keep.parent) if options.keep else tempfile.TemporaryDirectory(prefix="palimpsest-bench-")
    with kept as folder:
        path = options.keep or Path(folder) / "facts.db"
        if not path.exists():
            command.note(f"tell {options.facts} facts")
            with Memory.open(path, embedder=embedder) as memory:
                build(memory, notes)
        command.note(f"ask {len(asked)} questions")
        started = time.perf_counter()
        with Memory.open(path, embedder=embedder) as memory:
            opened = {"facts": options.facts, "open_s": round(time.perf_counter() - started, 2)}
            result = opened | measure(memory, [one.question() for one in asked])
    print(json.dumps(result)) if options.json else show(result)


if __name__ == "__main__":
    sys.exit(main())
