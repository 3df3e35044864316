"""Notes whose parts are from different times, read from the disk and asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer
from plugins import manager
from plugins.readers import documents

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
Keep = Callable[..., None]

HEAD = "# Kitchen project\nDeadline: 30 April\nBuilder: Ferro & Sons\n"
MARCH = "Deadline: 14 May."
APRIL = "Builder: Casa Nova. Deadline: 1 June."
QUESTION = "what is the deadline of the kitchen project?"


@pytest.fixture(scope="module")
def plugins() -> manager.Plugins:
    return manager.load()


@pytest.fixture
def memory(tmp_path: Path, plugins: manager.Plugins) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=plugins.embedder("static")) as memory:
        yield memory


@pytest.fixture
def keep(tmp_path: Path, memory: Memory, plugins: manager.Plugins) -> Keep:
    """keep(name, text): writes the file, last changed at `at`, and lets the memory read it."""

    def write(name: str, text: str, at: datetime = NOW) -> None:
        path = tmp_path / "notes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        os.utime(path, (at.timestamp(), at.timestamp()))
        reader = plugins.reader_for(path, path.stat().st_size)
        memory.ingest.remember_many(documents(reader, path, path.read_bytes(), path.stat()))

    return write


def answer(memory: Memory, question: str = QUESTION, as_of: datetime | None = None) -> list[str]:
    *_, last = memory.questions.ask(question, as_of=as_of)
    assert isinstance(last, Answer)
    return [line.removeprefix("- ").partition(" [")[0] for line in last.text.split("\n") if line.startswith("- ")]


NEWEST = "Deadline: 1 June"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kitchen.md", f"{HEAD}## 2026-03-02\n{MARCH}\n## 2026-04-10\n{APRIL}\n"),
        ("newest first.md", f"{HEAD}## 2026-04-10\n{APRIL}\n## 2026-03-02\n{MARCH}\n"),
        ("list.md", f"{HEAD}\n- 2026-03-02: {MARCH}\n- 2026-04-10: {APRIL}\n"),
        ("Kitchen project.txt", f"{HEAD[18:]}\n10 April 2026 - {APRIL}\n2 March 2026 - {MARCH}\n"),
        ("log.md", f"{HEAD}## Log\n**2026-04-10**\n{APRIL}\n\n**2026-03-02**\n{MARCH}\n"),
        ("meetings.md", f"{HEAD}## Meeting\nDate: 10 April 2026\n\n{APRIL}\n## Sync\nDate: 2 March 2026\n\n{MARCH}\n"),
        (
            "kitchen.org",
            f"#+TITLE: Kitchen project\n{HEAD[18:]}* <2026-03-02 Mon>\n{MARCH}\n* [2026-04-10 Fri]\n{APRIL}\n",
        ),
    ],
)
def test_the_newest_date_in_the_text_answers(memory: Memory, keep: Keep, name: str, text: str) -> None:
    keep(name, text)
    lines = answer(memory)
    assert NEWEST in lines[0]
    assert all(line.startswith("earlier: ") for line in lines[1:] if "14 May" in line)
    assert not any(line.startswith("earlier: ") for line in lines if "30 April" in line), "nobody knows from when it is"
    assert "Casa Nova" in answer(memory, "who is the builder of the kitchen project?")[0]
    course = answer(memory, "how did the deadline of the kitchen project change?")
    assert [value for line in course for value in ("30 April", "14 May", "1 June") if value in line] == [
        "30 April", "14 May", "1 June"
    ]  # fmt: skip


def test_what_held_then_answers_for_then(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", f"{HEAD}## 2026-03-02\n{MARCH}\n## 2026-04-10\n{APRIL}\n")
    assert "30 April" in answer(memory, as_of=datetime(2026, 2, 1, tzinfo=UTC))[0]
    assert "14 May" in answer(memory, as_of=datetime(2026, 3, 20, tzinfo=UTC))[0]
    assert "1 June" in answer(memory, as_of=datetime(2026, 4, 20, tzinfo=UTC))[0]


def test_german(memory: Memory, keep: Keep) -> None:
    keep(
        "küche.md",
        "# Küche\nFrist: 30. April\nFirma: Ferro\n## 2. März 2026\nFrist: 14. Mai\n"
        "## Freitag, 10. April 2026\nFirma: Casa Nova\nFrist: 1. Juni\n",
    )
    assert "1. Juni" in answer(memory, "Was ist die Frist der Küche?")[0]
    assert "Casa Nova" in answer(memory, "Welche Firma macht die Küche?")[0]


def test_what_has_no_date_is_not_shown_to_be_from_today(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", f"{HEAD}## 2026-03-02\nThe tiles are grey.\n")
    assert answer(memory)[0] == "Kitchen project, deadline: 30 April"


def test_a_note_without_dates_is_as_old_as_its_file(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", HEAD)
    assert answer(memory)[0] == "Kitchen project, deadline: 30 April (as of 2026-05-20)"


def test_a_date_that_lies_ahead_makes_nothing_hold(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", f"{HEAD}## 2026-03-02\n{MARCH}\n## 2027-01-10\nDeadline: 1 February\n")
    assert "14 May" in answer(memory)[0]


def test_a_newer_note_answers_and_what_another_note_says_is_no_earlier_value(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", f"{HEAD}## 2026-03-02\nDeadline: 14 May\n")
    keep("update.md", "# Kitchen project\nDeadline: 20 May\n", datetime(2026, 4, 1))
    lines = answer(memory)
    assert "20 May" in lines[0] and any("14 May" in line for line in lines)
    assert not any(line.startswith("earlier") for line in lines)


def test_only_headings(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", "# Kitchen project\n## 2026-03-02 Tiles chosen\n## 2026-04-10 Oven delivered\n")
    assert [
        hit.episode.at and hit.episode.at.date().isoformat() for hit in memory.questions.retrieve("oven").recall.hits
    ][:1] == ["2026-04-10"]


def test_a_part_that_is_added_later_takes_the_place_of_what_was_known(memory: Memory, keep: Keep) -> None:
    keep("kitchen.md", HEAD, datetime(2026, 4, 9, tzinfo=UTC))
    keep("kitchen.md", f"{HEAD}## 2026-04-10\n{APRIL}\n")
    assert NEWEST in answer(memory)[0]
    keep("kitchen.md", f"{HEAD}## 2026-03-02\n{MARCH}\n## 2026-04-10\n{APRIL}\n")
    assert NEWEST in answer(memory)[0]
    keep("kitchen.md", f"{HEAD}## 2026-04-10\n{APRIL}\n## 2026-05-02\nDeadline: 9 June\n")
    assert "9 June" in answer(memory)[0]


def test_a_note_that_was_read_as_a_whole_before_is_put_right(memory: Memory, keep: Keep, tmp_path: Path) -> None:
    text = f"{HEAD}## 2026-03-02\n{MARCH}\n## 2026-04-10\n{APRIL}\n"
    keep("kitchen.md", text)
    path = (tmp_path / "notes" / "kitchen.md").as_posix()
    with memory.store.reading() as conn:
        right = conn.execute("SELECT text, event_from FROM episode ORDER BY seq").fetchall()
    memory.forgetting.forget(source=path)
    memory.ingest.remember(text, source=path, at=NOW)  # as every reader did once
    assert NEWEST not in answer(memory)[0]
    keep("kitchen.md", text)
    assert NEWEST in answer(memory)[0]
    with memory.store.reading() as conn:
        live = conn.execute(
            "SELECT e.text, e.event_from FROM episode e JOIN node n ON n.id = e.node_id"
            " WHERE n.t_expired IS NULL ORDER BY e.seq"
        ).fetchall()
    assert live == right
    assert not memory.maintenance.check().problems


def test_reading_it_again_changes_nothing(memory: Memory, keep: Keep) -> None:
    text = f"{HEAD}## 2026-03-02\n{MARCH}\n## 2026-04-10\n{APRIL}\n"
    keep("kitchen.md", text)
    before = memory.browsing.stats()
    keep("kitchen.md", text)
    after = memory.browsing.stats()
    assert (before.episodes, before.theses, before.edges) == (after.episodes, after.theses, after.edges)
