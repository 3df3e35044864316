"""Scheduled backups and looks for damage: when they are due, what is kept, and who is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from daemon import wire
from daemon.jobs.upkeep import PREFIX, Upkeep
from daemon.jobs.writer import Writer
from daemon.settings import UpkeepSettings
from memory import Memory
from memory.errors import StoreFullError
from memory.nouns import Check
from memory.protocols import Embedder

NOON = datetime.fromisoformat("2024-05-05T12:00:00+00:00")


class Desk:
    """A memory with its upkeep, which is driven look by look."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory, self.folder = memory, folder
        self.writer = Writer()
        self.writer.start()
        self.now = NOON
        self.told: list[wire.Event] = []

    def upkeep(self, **settings: Any) -> Upkeep:
        return Upkeep(
            self.memory, self.writer, UpkeepSettings(**settings), self.folder, self.told.append, clock=lambda: self.now
        )

    @property
    def names(self) -> list[str]:
        """The files but checksums, of which there is one for each backup."""
        names = {path.name for path in self.folder.iterdir()}
        checksums = {name for name in names if name.endswith(".sha256")}
        assert {name.removesuffix(".sha256") for name in checksums} <= names
        return sorted(names - checksums)


@pytest.fixture
def desk(tmp_path: Path, static: Embedder) -> Iterator[Desk]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        memory.remember("The spare key hangs behind the clock.")
        desk = Desk(memory, tmp_path / "backups")
        yield desk
        desk.writer.close(5)


def test_a_backup_is_made_once_a_day_and_can_be_opened(desk: Desk, static: Embedder) -> None:
    upkeep = desk.upkeep()
    assert upkeep.state().backup_at is None
    assert upkeep.back_up() and not upkeep.back_up()
    assert not desk.upkeep().back_up(), "the next daemon knows"
    desk.now += timedelta(days=1)
    assert upkeep.back_up()
    assert desk.names == [f"{PREFIX}20240505-120000.db", f"{PREFIX}20240506-120000.db"]
    assert upkeep.state().backups == 2 and upkeep.state().backup_at
    with Memory.open(desk.folder / desk.names[0], embedder=static) as copy:
        assert copy.recall("spare key").hits


def test_only_the_oldest_scheduled_backups_go(desk: Desk) -> None:
    desk.folder.mkdir()
    others = ("memory-20200101-000000-000000.db", "scheduled.db", "precious.txt")
    for name in others:
        (desk.folder / name).write_text("x")
    upkeep = desk.upkeep(backups_kept=2)
    for _ in range(4):
        assert upkeep.back_up()
        desk.now += timedelta(days=1)
    assert {*others} < {*desk.names}
    assert [name for name in desk.names if name.startswith(PREFIX)] == [
        f"{PREFIX}20240507-120000.db", f"{PREFIX}20240508-120000.db",
    ]  # fmt: skip


def test_missed_backups_are_made_up_for_once(desk: Desk) -> None:
    assert desk.upkeep().back_up()
    desk.now += timedelta(days=9)
    assert desk.upkeep().back_up() and not desk.upkeep().back_up()


def test_a_backup_that_fails_is_told_and_not_tried_all_day(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(to: Path) -> int:
        raise StoreFullError("The disk is full. Free some space.")

    upkeep = desk.upkeep()
    monkeypatch.setattr(desk.memory, "backup", full)
    assert not upkeep.back_up() and not upkeep.back_up()
    [notice] = desk.told
    assert isinstance(notice, wire.Notice) and notice.level == "error" and "disk is full" in notice.text
    assert "disk is full" in upkeep.state().backup_problem
    monkeypatch.undo()
    desk.now += timedelta(days=1)
    assert upkeep.back_up() and upkeep.state().backup_problem == ""


def test_nothing_is_done_that_is_not_wanted(desk: Desk) -> None:
    upkeep = desk.upkeep(backup_days=0, check_days=0)
    assert not upkeep.back_up() and not upkeep.check() and not desk.folder.exists()


def test_the_memory_is_checked_once_a_week(desk: Desk) -> None:
    upkeep = desk.upkeep()
    assert upkeep.check() and not upkeep.check()
    assert upkeep.state().check_at and upkeep.state().problems == 0 and desk.told == []
    desk.now += timedelta(days=6)
    assert not upkeep.check()
    desk.now += timedelta(days=1)
    assert upkeep.check()


def test_damage_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    upkeep = desk.upkeep()
    monkeypatch.setattr(desk.memory, "check", lambda quick: Check(("Page 7 is torn.", "So is page 8."), ("file",)))
    assert upkeep.check()
    [notice] = desk.told
    assert isinstance(notice, wire.Notice) and "Page 7 is torn. All of them: pal check" in notice.text
    assert upkeep.state().problems == 2
