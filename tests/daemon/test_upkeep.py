"""Scheduled backups and looks for damage: when they are due, what is kept, and who is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from daemon import wire
from daemon.config.settings import UpkeepSettings
from daemon.jobs.upkeep import PREFIX, BackupJob, choose_kept
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import StoreFullError
from memory.protocols import Embedder
from memory.views import Check

NOON = datetime.fromisoformat("2024-05-05T12:00:00+00:00")


class Desk:
    """A memory with its upkeep, which is driven look by look."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory, self.folder = memory, folder
        self.writer = Writer()
        self.writer.start()
        self.now = NOON
        self.told: list[wire.Event] = []

    def upkeep(self, **settings: Any) -> BackupJob:
        return BackupJob(
            self.memory, self.writer, UpkeepSettings(**settings), self.folder, self.told.append, clock=lambda: self.now
        )

    def next_day(self, days: int = 1) -> None:
        """Later, and something was remembered in between."""
        self.now += timedelta(days=days)
        self.memory.ingest.remember(f"The ferry of {self.now} was late.")

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
        memory.ingest.remember("The spare key hangs behind the clock.")
        desk = Desk(memory, tmp_path / "backups")
        yield desk
        desk.writer.close(60)


def test_a_backup_is_made_once_a_day_and_can_be_opened(desk: Desk, static: Embedder) -> None:
    upkeep = desk.upkeep()
    assert upkeep.state().backup_at is None
    assert upkeep.back_up() and not upkeep.back_up()
    assert not desk.upkeep().back_up(), "the next daemon knows"
    desk.next_day()
    assert upkeep.back_up()
    assert desk.names == [f"{PREFIX}20240505-120000.db", f"{PREFIX}20240506-120000.db"]
    assert upkeep.state().backups == 2 and upkeep.state().backup_at
    with Memory.open(desk.folder / desk.names[0], embedder=static) as copy:
        assert copy.questions.retrieve("spare key").recall.hits


def test_only_the_oldest_scheduled_backups_go(desk: Desk) -> None:
    desk.folder.mkdir()
    others = ("memory-20200101-000000-000000.db", "scheduled.db", "precious.txt")
    for name in others:
        (desk.folder / name).write_text("x")
    upkeep = desk.upkeep(backups_kept=2, backups_weekly=0, backups_monthly=0)
    for _ in range(4):
        assert upkeep.back_up()
        desk.next_day()
    assert {*others} < {*desk.names}
    assert [name for name in desk.names if name.startswith(PREFIX)] == [
        f"{PREFIX}20240507-120000.db", f"{PREFIX}20240508-120000.db",
    ]  # fmt: skip


def test_missed_backups_are_made_up_for_once(desk: Desk) -> None:
    assert desk.upkeep().back_up()
    desk.next_day(9)
    assert desk.upkeep().back_up() and not desk.upkeep().back_up()


def test_a_backup_that_fails_is_reported_and_not_tried_all_day(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(to: Path) -> int:
        raise StoreFullError("The disk is full. Free some space.")

    upkeep = desk.upkeep()
    monkeypatch.setattr(desk.memory.maintenance, "backup", full)
    assert not upkeep.back_up() and not upkeep.back_up()
    [notice] = desk.told
    assert isinstance(notice, wire.Notice) and notice.level == "error" and "disk is full" in notice.text
    assert "disk is full" in upkeep.state().backup_problem
    monkeypatch.undo()
    desk.now += timedelta(days=1)
    assert upkeep.back_up() and upkeep.state().backup_problem == ""


def test_nothing_new_needs_no_backup(desk: Desk) -> None:
    upkeep = desk.upkeep()
    assert upkeep.back_up()
    for _ in range(3):
        desk.now += timedelta(days=1)
        assert not upkeep.back_up() and upkeep.state().backup_at == desk.now
    assert len(desk.names) == 1
    for path in desk.folder.iterdir():
        path.unlink()
    desk.now += timedelta(days=1)
    assert upkeep.back_up(), "somebody took it away"
    desk.now += timedelta(days=1)
    desk.memory.forgetting.forget(source=desk.memory.sources.search("", 1)[0][0].uri)
    assert upkeep.back_up(), "to forget is a change, too"


def test_of_the_last_days_weeks_and_months_one_is_kept(tmp_path: Path) -> None:
    made = {tmp_path / f"{n}": NOON - timedelta(days=n) for n in range(100)}
    kept = sorted(int(path.name) for path in choose_kept(made, 3, 3, 3))
    assert kept == [0, 1, 2, 5, 7, 14, 35]  # 5 May is a Sunday
    assert choose_kept({}, 3, 3, 3) == set()
    assert len(choose_kept(made, 0, 0, 0)) == 1


def test_a_backup_is_restored_on_trial_once_a_month(desk: Desk) -> None:
    upkeep = desk.upkeep()
    assert not upkeep.try_restoring(), "there is none"
    upkeep.back_up()
    assert upkeep.try_restoring() and not upkeep.try_restoring()
    assert upkeep.state().trial_at == desk.now and upkeep.state().warnings == () and desk.told == []
    (backup,) = desk.folder.glob("*.db")
    data = bytearray(backup.read_bytes())
    data[len(data) // 2] ^= 4
    backup.write_bytes(data)
    desk.now += timedelta(days=30)
    assert upkeep.try_restoring()
    [notice] = desk.told
    assert isinstance(notice, wire.Notice) and "its checksum differs" in notice.text and "pal backup" in notice.text
    assert "checksum differs" in upkeep.state().warnings[-1]
    left = {path.name for path in desk.folder.parent.iterdir() if not path.name.startswith("memory.db-")}
    assert left == {"memory.db", "backups"}


def test_no_backup_goes_while_the_memory_is_damaged(desk: Desk) -> None:
    upkeep = desk.upkeep(backups_kept=1, backups_weekly=0, backups_monthly=0, scrub_nights=1)
    assert upkeep.back_up() and len(desk.names) == 1
    with desk.memory.store.quiet() as conn:  # as a disk would do it: no trigger sees it
        conn.execute("PRAGMA trusted_schema = ON")
        sealed = conn.execute("SELECT * FROM seal").fetchall()
        conn.execute("UPDATE episode SET text = 'The spare key hangs behind the block.'")
        conn.executemany("INSERT OR REPLACE INTO seal VALUES (?, ?, ?)", sealed)
    for _ in range(2):
        desk.next_day()
        assert upkeep.back_up()
    assert len(desk.names) == 3
    assert any(isinstance(notice, wire.Notice) and "Rows of the table episode" in notice.text for notice in desk.told)
    assert "no old backup is removed" in upkeep.state().warnings[-1] and upkeep.state().problems == 1


def test_who_has_no_backup_or_an_old_one_is_warned(desk: Desk) -> None:
    upkeep = desk.upkeep()
    desk.now = datetime.now().astimezone()
    assert upkeep.state().warnings == ()
    desk.now += timedelta(days=3)
    assert "There is no backup. To make one: pal backup" in upkeep.state().warnings[0]
    assert upkeep.back_up() and upkeep.state().warnings == ()
    desk.now += timedelta(days=4)
    assert upkeep.state().warnings == ("The last backup is 4 days old. To make one now: pal backup",)


def test_nothing_is_done_that_is_not_wanted(desk: Desk) -> None:
    upkeep = desk.upkeep(backup_days=0, check_days=0, scrub_nights=0, trial_days=0)
    assert not upkeep.back_up() and not upkeep.check() and not desk.folder.exists()
    assert not upkeep.scrub() and not upkeep.try_restoring()


def test_the_memory_is_checked_once_a_week(desk: Desk) -> None:
    upkeep = desk.upkeep()
    assert upkeep.check() and not upkeep.check()
    assert upkeep.state().check_at and upkeep.state().problems == 0 and desk.told == []
    desk.now += timedelta(days=6)
    assert not upkeep.check()
    desk.now += timedelta(days=1)
    assert upkeep.check()


def test_damage_is_reported(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    upkeep = desk.upkeep()
    monkeypatch.setattr(
        desk.memory.maintenance, "check", lambda quick: Check(("Page 7 is torn.", "So is page 8."), ("file",))
    )
    assert upkeep.check()
    [notice] = desk.told
    assert isinstance(notice, wire.Notice) and "Page 7 is torn. All of them: pal check" in notice.text
    assert upkeep.state().problems == 2
