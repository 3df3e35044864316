"""A file that cannot be written, or is damaged in places: questions are answered all the same."""

from __future__ import annotations

import hashlib
import itertools
import random
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memory import Memory
from memory.errors import StoreBusyError, StoreDamagedError, StoreError
from memory.nouns import Answer, Document
from memory.protocols import Embedder
from memory.store.connect import driver

KEY = "The spare key hangs behind the clock in the hall."


@pytest.fixture
def path(tmp_path: Path, static: Embedder) -> Path:
    """A closed memory of some notes."""
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        memory.ingest.remember(KEY, source="key")
        memory.ingest.remember_many([
            Document(f"crate {n}", f"Crate {n} came from Harbour {n % 7}. Ana Weber signed for it.") for n in range(40)
        ])  # fmt: skip
        *_, _ = memory.questions.ask("Where is the spare key?")
    return tmp_path / "memory.db"


def answer(memory: Memory, question: str = "Where is the spare key?") -> Answer:
    *_, last = memory.questions.ask(question)
    assert isinstance(last, Answer)
    return last


@contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as conn, conn:
        yield conn


def test_a_question_is_answered_while_another_program_holds_the_file(path: Path, static: Embedder) -> None:
    with Memory.open(path, embedder=static) as memory, closing(driver().connect(path, isolation_level=None)) as other:
        memory.store._writer.execute("PRAGMA busy_timeout = 50")
        other.execute("BEGIN IMMEDIATE")
        said = answer(memory)
        assert "behind the clock" in said.text and said.trace_id is not None
        with pytest.raises(StoreBusyError, match="Another program holds "):
            memory.questions.why(said.trace_id)
        other.execute("ROLLBACK")
        memory.questions.feedback(said.trace_id, "good")
        assert memory.questions.why(said.trace_id).asked.verdict == "good"


def test_a_title_of_3000_words_costs_a_question_no_more_than_one_of_its_beginning(static: Embedder) -> None:
    titles = [" ".join(["anchor", *(f"word{n * k % 2999}" for k in range(3000))]) for n in range(1, 21)]
    calls = [_count_calls([title[:length] for title in titles], static) for length in (300, None)]
    assert calls[1] < 1.1 * calls[0]


def _count_calls(titles: list[str], static: Embedder) -> int:
    """Calls of functions while a question is answered by a memory of notes with these titles."""
    calls = itertools.count()
    with Memory.open(":memory:", embedder=static) as memory:
        memory.ingest.remember_many(
            [Document(f"{n}", f"Crate {n} is here.", title=title) for n, title in enumerate(titles)]
        )
        answer(memory, "Who has the anchor?")  # what is compiled and cached then is no work of the next question
        sys.setprofile(lambda *_: next(calls))
        try:
            answer(memory, "Where is the anchor?")
        finally:
            sys.setprofile(None)
    return next(calls)


def test_a_memory_can_be_asked_without_changing_a_byte(path: Path, static: Embedder) -> None:
    before = hashlib.sha256(path.read_bytes()).digest()
    with Memory.open(path, embedder=static, read_only=True) as memory:
        said = answer(memory)
        assert "behind the clock" in said.text and "not kept" in said.note
        assert memory.questions.retrieve("crate 9 harbour").recall.hits and memory.knowledge.facts("Ana Weber")
        assert memory.maintenance.check().problems == ()
        with pytest.raises(StoreError, match="only be read"):
            memory.ingest.remember("The ferry leaves at noon.")
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]
    with pytest.raises(StoreError, match="no memory"):
        Memory.open(path.with_name("other.db"), embedder=static, read_only=True)


def test_the_log_of_a_crash_is_read_too(path: Path, static: Embedder) -> None:
    crashed = path.with_name("crashed.db")
    with Memory.open(path, embedder=static) as memory:
        memory.ingest.remember("The ferry leaves at noon.", source="ferry")
        for log in ("", "-wal"):
            crashed.with_name(crashed.name + log).write_bytes(path.with_name(path.name + log).read_bytes())
    with Memory.open(crashed, embedder=static, read_only=True) as memory:
        assert "noon" in answer(memory, "When does the ferry leave?").text


@pytest.mark.parametrize("what, damage", [
    ("vectors", "UPDATE vec SET data = x'0102' WHERE id % 3 = 0"),
    ("graph", "PRAGMA ignore_check_constraints = ON; UPDATE edge SET kind = 'nothing' WHERE id % 5 = 0"),
])  # fmt: skip
def test_what_is_damaged_is_done_without(path: Path, static: Embedder, what: str, damage: str) -> None:
    with edited(path) as conn:
        conn.executescript(damage)
    for read_only in (True, False):
        with Memory.open(path, embedder=static, read_only=read_only) as memory:
            assert [*memory.state.damage] == [what]
            assert "behind the clock" in answer(memory).text
            assert memory.questions.retrieve("crate 9").recall.hits


@pytest.mark.parametrize("seed", range(4))
def test_a_garbled_file_is_reported_in_a_sentence(path: Path, static: Embedder, seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(path.read_bytes())
    for page in rng.sample(range(4, len(data) // 8192), 12):
        data[page * 8192 : (page + 1) * 8192] = rng.randbytes(8192)
    path.write_bytes(data)
    try:
        with Memory.open(path, embedder=static, read_only=True) as memory:
            assert memory.maintenance.check().problems
            assert answer(memory).text
    except StoreDamagedError as error:
        assert "restore a backup" in str(error)
