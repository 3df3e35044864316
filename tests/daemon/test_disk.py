"""A disk that runs full, and has room again: what stops, what works all the same, and what goes on by itself."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import DaemonError
from daemon.config.settings import DiskSettings
from daemon.jobs.disk import MB, Disk, release_ballast
from daemon.jobs.workers import Writer
from daemon.paths import Paths
from memory import Memory
from memory.errors import StoreFullError
from memory.protocols import Embedder
from memory.store.connect import driver
from tests.daemon.conftest import QUICK, added, answer, listening, wait_for_state
from tests.running import run_daemon

SETTINGS = DiskSettings(pause_mb=50, full_mb=10, ballast_mb=1, log_mb=1)


class Drive:
    """A memory on a disk of which the test says how much is free."""

    def __init__(self, memory: Memory, home: Path) -> None:
        self.memory, self.paths = memory, Paths.in_folder(home)
        self.free_mb = 1000
        self.told: list[wire.Event] = []
        self.went_on: list[bool] = []
        self.writer = Writer()
        self.writer.start()
        self.disk = Disk(
            memory, self.writer, self.paths, SETTINGS, self.told.append, lambda: None, self.went_on.append,
            lambda folder: self.free_mb * MB,
        )  # fmt: skip

    def check(self, free_mb: int) -> str:
        self.free_mb = free_mb
        self.disk.check()
        return self.disk.state().state


@pytest.fixture
def drive(tmp_path: Path, static: Embedder) -> Iterator[Drive]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        memory.ingest.remember("The spare key hangs behind the clock.", source="key")
        drive = Drive(memory, tmp_path)
        yield drive
        drive.writer.close(60)


def test_first_reading_stops_and_then_all_writing_but_forgetting(drive: Drive) -> None:
    memory = drive.memory
    assert [drive.check(free) for free in (1000, 49, 53, 9, 10)] == ["ok", "low", "low", "full", "full"]
    assert [notice.level for notice in drive.told if isinstance(notice, wire.Notice)] == ["warning", "error"]
    with pytest.raises(StoreFullError, match="Nothing is written"):
        memory.ingest.remember("The ferry leaves at noon.")
    *_, said = memory.questions.ask("Where is the spare key?")
    assert "behind the clock" in said.text and "not kept" in said.note  # type: ignore[union-attr]
    assert memory.forgetting.forget(source="key").sources == 1
    assert drive.check(12) == "low"
    assert memory.ingest.remember("The ferry leaves at noon.").added == 1
    with pytest.raises(StoreFullError, match="nearly full"):
        drive.writer.submit(lambda: None).result()
    assert drive.writer.write(lambda: 7) == 7
    assert drive.check(1000) == "ok" and drive.disk.state().text == ""
    assert drive.writer.submit(lambda: 8).result() == 8
    assert drive.went_on == [False, True]


def test_a_program_that_reads_for_long_is_reported_and_the_log_stops_to_grow(drive: Drive) -> None:
    """It cannot be cut off, and while it reads its snapshot the log cannot be emptied."""
    memory = drive.memory
    other = driver().connect(str(drive.paths.memory))
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM episode").fetchone()
    number = 0
    while memory.store.log_bytes <= MB:
        number += 1
        memory.ingest.remember(f"Lamp {number} hangs over door {number}.", source=f"lamp {number}")
    assert drive.check(1000) == "low" and "Another program" in drive.disk.state().text
    with pytest.raises(StoreFullError, match="Another program"):
        drive.writer.submit(lambda: None).result()
    assert memory.ingest.remember("What a person says is kept.").added == 1
    other.close()
    assert drive.check(1000) == "ok" and memory.store.log_bytes == 0
    assert [notice.text.split(";")[0] for notice in drive.told if isinstance(notice, wire.Notice)][-1] == (
        "No other program blocks the memory's log any more"
    )
    assert drive.writer.submit(lambda: 8).result() == 8


def test_the_ballast_is_given_up_for_forgetting_and_for_opening(drive: Drive) -> None:
    ballast = drive.paths.ballast
    drive.check(1000)
    assert not ballast.exists(), "not by the first look"
    drive.check(1000)
    assert ballast.stat().st_size == MB
    drive.check(5)
    assert ballast.exists(), "others would write there"
    drive.memory.forgetting.forget(source="key")
    assert not ballast.exists()
    drive.check(60)
    assert not ballast.exists(), "there is too little room for one"
    drive.check(1000)
    release_ballast(drive.paths, lambda folder: 1000 * MB)
    assert ballast.exists()
    release_ballast(drive.paths, lambda folder: MB)
    assert not ballast.exists()


def test_a_daemon_on_a_full_disk(tmp_path: Path) -> None:
    """It starts, answers and forgets, refuses the rest, and goes on with what was begun when there is room."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(20):
        (notes / f"{number}.md").write_text(f"Crate {number} came from harbour {number % 7}.\n")
    full = replace(QUICK, disk=replace(QUICK.disk, full_mb=10**9))
    with run_daemon(tmp_path / "home", full) as daemon:
        seen = until_state(daemon.client.status, "full")
        assert "Free some space" in seen.text
        with pytest.raises(DaemonError, match="The disk is full") as caught:
            daemon.client.remember("The gate is green.")
        assert caught.value.failed.code == "full"
        assert answer(daemon.client, "Where is the gate?").no_answer
        daemon.stop()
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        (tmp_path / "old").mkdir()
        (tmp_path / "old" / "letter.md").write_text("The letter is from Ana.\n")
        added(daemon.client, tmp_path / "old")
        daemon.stop()
    with run_daemon(tmp_path / "home", full) as daemon:
        until_state(daemon.client.status, "full")
        gone = daemon.client.unwatch(tmp_path / "old", forget=True)
        assert (gone.sources, gone.pending) == (1, "") and daemon.client.status().erasing is None
        daemon.stop()
    low = replace(QUICK, disk=replace(QUICK.disk, pause_mb=10**9))
    with run_daemon(tmp_path / "home", low) as daemon:
        until_state(daemon.client.status, "low")
        with pytest.raises(DaemonError, match="goes on by itself when there is room"):
            added(daemon.client, notes)
        daemon.stop()
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        deadline = time.monotonic() + 60
        while daemon.client.status().stats.sources < 20:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def until_state(status: object, wanted: str) -> wire.Disk:
    deadline = time.monotonic() + 60
    while (seen := status().disk) is None or seen.state != wanted:  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return seen  # type: ignore[no-any-return]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="a limit of bytes in a file, as an error of the disk")
def test_a_daemon_whose_disk_reports_errors_goes_on_when_that_is_over(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        client, none = daemon.client, resource.RLIM_INFINITY
        client.watch(notes)
        wait_for_state(client, notes, "watching")
        client.remember("The first lamp is green.")
        assert daemon.process is not None
        size = daemon.paths.memory.with_name("memory.db-wal").stat().st_size
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (size + 1000, none))
        with listening(client) as listener:
            for number in range(3):
                with pytest.raises(DaemonError, match="disk reported an error") as caught:
                    client.remember(f"Lamp {number} is red.")
                assert caught.value.failed.code == "store"
            (notes / "a.md").write_text("The harbour lamp is blue.")
            listener.until(lambda event: isinstance(event, wire.Notice) and "disk reported an error" in event.text)
            assert "green" in answer(client, "What is the first lamp?").text
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (none, none))
            listener.until_changed(notes / "a.md", "added")
        client.remember("The last lamp is white.")
        assert client.sources().total == 3 and client.check().problems == ()
