"""Two daemons, each with its copy of a shared folder: what one decides the other shows soon after the file arrived."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import DaemonError
from daemon.jobs.syncing import SyncJob
from daemon.jobs.workers import Writer
from daemon.paths import write_private
from memory.errors import NotAvailableError
from memory.sync.folder import MARKER
from tests.daemon.conftest import QUICK, wait_until
from tests.memory.sync.computers import Computer
from tests.running import RunningDaemon, run_daemon

SOON = 5.0  # seconds


class Machine:
    """A daemon with a watched folder of notes and its copy of the shared folder."""

    def __init__(self, daemon: RunningDaemon, place: Path) -> None:
        self.daemon = daemon
        self.client = daemon.client
        self.shared = place / "shared"
        self.notes = place / "notes"
        self.notes.mkdir(parents=True)
        (self.notes / "flat 1.md").write_text("# Flat\n\nRent: 700 euros\n")
        (self.notes / "flat 2.md").write_text("# Flat\n\nRent: 750 euros\n")

    def review(self, state: str) -> list[wire.Revision]:
        return list(self.client.revisions(state).revisions)

    def carry_to(self, other: Machine) -> None:
        """Its newest files arrive at the other one, as a program for folders brings them."""
        for file in self.shared.rglob("*.update"):
            copy = other.shared / file.relative_to(self.shared)
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy.with_name(".arriving"))
                copy.with_name(".arriving").rename(copy)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    with run_daemon(tmp_path / "a" / "home", QUICK) as one, run_daemon(tmp_path / "b" / "home", QUICK) as two:
        first, second = Machine(one, tmp_path / "a"), Machine(two, tmp_path / "b")
        for machine in (first, second):
            machine.client.watch(machine.notes)
            wait_until(lambda machine=machine: machine.review("open"))
        yield first, second


def test_a_decision_is_visible_soon_after_its_file_arrived(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    with pytest.raises(DaemonError, match="pal sync init"):
        one.client.sync()
    words = one.client.begin_sync(one.shared)
    assert len(words.split()) == 12 and one.client.sync_words() == words
    two.shared.mkdir()
    shutil.copy(one.shared / MARKER, two.shared)
    with pytest.raises(DaemonError, match="words"):
        two.client.begin_sync(two.shared)
    assert two.client.begin_sync(two.shared, words) == ""
    [revision] = one.review("open")
    one.client.settle(revision.id, "keep")
    wait_until(lambda: len([*one.shared.rglob("*.update")]) > 1)  # by itself
    one.carry_to(two)
    wait_until(lambda: two.review("kept"), SOON)

    def find_computers() -> int:
        state = two.client.status().sync
        assert state is not None and not state.problem
        return len(state.computers)

    wait_until(lambda: find_computers() == 2)  # its own comes with the round that has read the file


def test_a_daemon_that_is_killed_goes_on_and_a_missing_folder_is_a_problem_that_passes(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    words = one.client.begin_sync(one.shared)
    two.shared.mkdir()
    shutil.copy(one.shared / MARKER, two.shared)
    two.client.begin_sync(two.shared, words)
    one.client.remember("The boat is at pier seven.", source="note:boat")
    one.daemon.kill()
    one.daemon.start()
    wait_until(lambda: len([*one.shared.rglob("*.update")]) > 1)
    two.shared.rename(two.shared.with_name("gone"))
    wait_until(lambda: (two.client.status().sync or wire.SyncState("", "")).problem)
    two.shared.with_name("gone").rename(two.shared)

    def is_there() -> bool:
        one.carry_to(two)
        return bool(two.client.sources("note:boat").total)

    wait_until(is_there)
    one.client.forget(source="note:boat")

    def is_gone() -> bool:
        one.carry_to(two)
        return not two.client.sources("note:boat").total

    wait_until(is_gone)
    assert two.client.status().sync is not None


@pytest.fixture
def syncing(tmp_path: Path) -> Iterator[SyncJob]:
    with Computer(tmp_path, "anna").memory as memory:
        writer = Writer()
        writer.start()
        yield SyncJob(memory, writer, tmp_path / "sync.json")
        writer.close(1)


def test_only_the_owner_reads_the_words_whatever_the_umask(syncing: SyncJob, tmp_path: Path) -> None:
    for umask in (0o000, 0o777):
        before = os.umask(umask)
        try:
            write_private(tmp_path / "sync.json", "{}")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "sync.json").stat().st_mode) == 0o600
    syncing.join(tmp_path / "shared", "")
    syncing.close()
    assert stat.S_IMODE((tmp_path / "sync.json").stat().st_mode) == 0o600


def test_a_damaged_file_of_words_is_a_problem_that_init_solves(syncing: SyncJob, tmp_path: Path) -> None:
    (tmp_path / "sync.json").write_text('{"folder": "/sha')
    state = syncing.state()
    assert state is not None and "damaged" in state.problem
    with pytest.raises(NotAvailableError, match="damaged"):
        syncing.run()
    syncing.join(tmp_path / "shared", "")
    syncing.close()
    state = syncing.state()
    assert state is not None and not state.problem


def test_without_the_extra_its_name_is_said_and_nothing_is_written(
    syncing: SyncJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "memory.sync.folder", None)
    with pytest.raises(NotAvailableError, match="extra sync"):
        syncing.join(tmp_path / "shared", "")
    assert not (tmp_path / "sync.json").exists() and not (tmp_path / "shared").exists()
