"""A time named in a question is answered with what notes said then, and not with what an edit made of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse
from plugins import manager, readers

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
FLAT = "# Flat\n\nThe house was built in 1931. I pay {} a month for the flat.\n"


@pytest.fixture
def memory(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory
        assert memory.maintenance.check().problems == ()


def write(memory: Memory, path: Path, text: str, day: str | None = None) -> None:
    """Reads a file that was written on a day, or now."""
    path.write_text(text)
    if day:
        ns = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 10**9
        os.utime(path, ns=(ns, ns))
    reader = manager.load().reader_for(path, path.stat().st_size)
    memory.ingest.remember_many(readers.documents(reader, path, path.read_bytes(), path.stat()))


def ask(memory: Memory, question: str, now: datetime | None = None) -> str:
    *_, answer = memory.questions.ask(question, now=now)
    assert isinstance(answer, Answer)
    return answer.text


@pytest.mark.parametrize(
    ("form", "question"),
    [
        (FLAT, "What did I pay for the flat before May 2026?"),
        ("# Flat\n\nRent: {}\n", "What was the rent of the flat in April 2026?"),
        ("# Costs\n\n| what | rent |\n| --- | --- |\n| Flat | {} |\n", "What was the rent of the flat in April 2026?"),
    ],
)
def test_what_was_edited_since_answers_for_then(memory: Memory, tmp_path: Path, form: str, question: str) -> None:
    path = tmp_path / "flat.md"
    write(memory, path, form.format(850), "2026-02-01")
    write(memory, path, form.format(910))
    later = datetime.now(UTC)
    then = ask(memory, question, later)
    assert "850" in then and "910" not in then
    today = ask(memory, question.replace(" before May 2026", "").replace(" in April 2026", "").replace("was", "is"))
    assert "910" in today.splitlines()[0] and "850" not in today.splitlines()[0]
    assert "850" not in today or "earlier: " in today


def test_what_is_stated_of_that_time_since_is_not_lost(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "flat.md"
    write(memory, path, FLAT.format(850), "2026-02-01")
    write(memory, path, FLAT.format(910) + "\nIn April 2026 the stairs were painted green.\n")
    assert "green" in ask(memory, "Which colour did the stairs have in April 2026?", datetime.now(UTC))


def test_where_nothing_was_edited_today_answers(memory: Memory, tmp_path: Path) -> None:
    write(memory, tmp_path / "flat.md", FLAT.format(850), "2026-02-01")
    for question in ("What did I pay for the flat before May 2026?", "What do I pay for the flat?"):
        assert "850" in ask(memory, question, NOW)
        assert memory.state.past.state_of(analyse(question, (), NOW)) is memory.state, "a copy costs time"


def test_a_named_time_is_no_name_that_nothing_tells_of(memory: Memory, tmp_path: Path) -> None:
    write(memory, tmp_path / "bins.md", "The bins were collected every Wednesday until May 2024.\n", "2024-05-20")
    assert "nothing in your memory about March" not in ask(
        memory, "On which day were the bins collected in March 2024?"
    )


EDITED = "# House\n\n- wifi channel: {}\n- rent: 900 euros\n\nThe plumber is called {}.\n"


def test_below_what_a_note_says_now_stands_what_it_said_before_it_was_edited(memory: Memory, tmp_path: Path) -> None:
    for words in (("plum-10", "Ola Berg"), ("plum-11", "Ida Moe")):
        write(memory, tmp_path / "house.md", EDITED.format(*words))
    for question, now, before in (
        ("What is the wifi channel?", "plum-11", "plum-10"),
        ("Who is the plumber?", "Ida Moe", "Ola Berg"),
    ):
        *_, answer = memory.questions.ask(question)
        assert isinstance(answer, Answer)
        first, second, *_ = answer.lines
        assert (first.kind, second.kind) == ("answer", "earlier")
        assert now in first.text and before not in first.text and before in second.text and "until" in second.text
        cited = {one.n: one for one in answer.citations}[second.citations[0]]
        assert before in cited.quote and cited.quote in cited.passage and cited.earlier
    memory.forgetting.forget(source=str(tmp_path / "house.md"))
    assert "plum-10" not in ask(memory, "What is the wifi channel?")
