"""What changed: each fact that took the place of another, what it was before, and the sources of both."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.answering.extractive import NOTHING_CHANGED
from memory.nouns import Answer
from plugins.embedders.static import StaticEmbedder

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
NOTES = (
    ("Mara Quill", "2025-01-10", "phone: 0161 496 07\nemployer: Saltworks"),
    ("Mara Quill", "2026-03-02", "phone: 0161 496 99\nemployer: Saltworks"),
    ("Mara Quill", "2026-11-02", "phone: 0161 496 99\nemployer: Harbour Office\n\nMara Quill keeps the ferry."),
    ("Tobias Renn", "2025-05-01", "phone: 0161 555 01"),
    ("Tobias Renn", "2026-11-20", "phone: 0161 555 02"),
    ("Ida Holm", "2026-02-02", "phone: 0161 222 02"),
)
OFFICE = "Mara Quill, employer: Saltworks (2025-01-10 to 2026-11-02), then Harbour Office (as of 2026-11-02)"
PHONE = "Mara Quill, phone: 0161 496 07 (2025-01-10 to 2026-03-02), then 0161 496 99 (since 2026-03-02)"
TOBIAS = "Tobias Renn, phone: 0161 555 01 (2025-05-01 to 2026-11-20), then 0161 555 02 (as of 2026-11-20)"


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp("changes")
    with Memory.open(folder / "memory.db", embedder=StaticEmbedder()) as memory:
        for title, day, text in NOTES:
            at = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)
            memory.ingest.remember(f"# {title}\n\n{text}", title=title, source=f"/{title}.md", at=at)
        yield memory


def ask(notes: Memory, question: str) -> Answer:
    *_, answer = notes.questions.ask(question, now=NOW)
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What changed about Mara Quill?", [OFFICE, PHONE]),
        ("What has changed with Mara Quill since June 2026?", [OFFICE]),
        ("What's new with Mara Quill?", [OFFICE, PHONE]),
        ("What changed about the phone of Mara Quill?", [PHONE]),
        ("Was hat sich bei Mara Quill geändert?", [OFFICE, PHONE]),
        ("What changed since 1 October 2026?", [TOBIAS, OFFICE]),
        ("What changed recently?", [TOBIAS, OFFICE, PHONE]),
        ("What changed?", [TOBIAS, OFFICE, PHONE]),
        ("Was ist neu?", [TOBIAS, OFFICE, PHONE]),
    ],
)
def test_what_changed_is_reported_with_what_was_before(notes: Memory, question: str, expected: list[str]) -> None:
    answer = ask(notes, question)
    assert [line.text for line in answer.lines] == expected


def test_the_old_and_the_new_are_both_cited(notes: Memory) -> None:
    cited = [(one.quote, one.at and one.at.year) for one in ask(notes, "What changed about Tobias Renn?").citations]
    assert cited == [("phone: 0161 555 02", 2026), ("0161 555 01", 2025)]


def test_where_no_fact_of_somebody_changed_that_is_said() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as fresh:
        fresh.ingest.remember("Ida Holm paints boats.\n\nIda Holm lives on a boat.", source="/Ida Holm.md", at=NOW)
        answer = ask(fresh, "What changed about Ida Holm?")
    assert "Ida Holm lives on a boat." in answer.text and answer.note == NOTHING_CHANGED.format("")


def test_where_nothing_changed_at_all_that_is_the_answer(notes: Memory) -> None:
    answer = ask(notes, "What changed since 22 November 2026?")
    assert answer.no_answer and answer.citations == ()
    assert answer.text == NOTHING_CHANGED.format(" since 22 November 2026")


def test_who_asks_for_the_cause_of_a_change_asks_for_something_else(notes: Memory) -> None:
    answer = ask(notes, "What changed my mind about the ferry?")
    assert "keeps the ferry" in answer.text and answer.note == ""
