"""kill -9 while hundreds of files are read: nothing is lost, nothing is double, nothing is broken."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

import pytest

from daemon.client.client import DaemonError
from memory.store import jobs
from memory.store.store import Store
from tests.daemon.conftest import QUICK, added, uris, wait_until
from tests.running import RunningDaemon, run_daemon

FILES = 240


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:04}.md").write_text(
            f"# Crate {number}\n\nCrate {number} came from harbour {number % 37}.\n"
        )
    return folder


def kill_when(daemon: RunningDaemon, sources: int) -> int:
    """kill -9 as soon as that many sources are there; how many there were."""
    while (found := daemon.client.status().stats.sources) < sources:
        time.sleep(0.005)
    daemon.kill()
    return found


def all_read(daemon: RunningDaemon, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while daemon.client.status().stats.sources < FILES and time.monotonic() < deadline:
        time.sleep(0.05)
    return daemon.client.status().stats.sources == FILES


def left_to_do(daemon: RunningDaemon) -> int:
    """How many additions the memory's file says are not done."""
    with contextlib.closing(sqlite3.connect(f"file:{daemon.paths.memory}?mode=ro", uri=True)) as conn:
        query = "SELECT count(*) FROM job WHERE kind = 'add' AND state IN ('queued', 'leased')"
        return int(conn.execute(query).fetchone()[0])


@pytest.mark.usefixtures("cold_daemon")
def test_an_addition_survives_kill_9(tmp_path: Path, notes: Path) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        stream = daemon.client.add([notes])  # what is asked is on the disk as soon as the stream begins
        seen = [kill_when(daemon, 40)]
        for more in (100, 170):
            daemon.start()
            seen.append(kill_when(daemon, more))
        stream.close()
        assert seen[0] < FILES and seen == sorted(seen)

        daemon.start()
        assert all_read(daemon)
        assert uris(daemon.client, str(notes)) == sorted(str(path) for path in notes.iterdir())
        status = daemon.client.status()
        assert (status.stats.episodes, status.stats.skipped) == (FILES, 0)
        assert daemon.client.check().problems == ()
        done, _ = added(daemon.client, notes)
        assert (done.sources, done.unchanged) == (0, FILES)
        wait_until(lambda: not left_to_do(daemon))  # the job that went on is marked after its last file
        assert daemon.stop() == 0
        with Store.open(daemon.paths.memory) as store, store.reading() as conn:
            assert {*jobs.count(conn, ["add"])} <= {"done", "dead"}
            assert jobs.list_jobs(conn, "dead") == []


def test_a_stop_in_the_middle_goes_on_later(tmp_path: Path, notes: Path) -> None:
    """Again and again: whoever stops it has not failed at anything, so no attempt counts."""
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        with daemon.client.add([notes]) as stream:
            next(stream)
            assert daemon.stop() == 0
            with pytest.raises(DaemonError) as caught:
                list(stream)
            assert caught.value.failed.code == "stopping"
        for _ in range(3):
            log = daemon.paths.memory.with_name(f"{daemon.paths.memory.name}-wal")
            assert not log.exists() or log.stat().st_size == 0
            with Store.open(daemon.paths.memory) as store, store.reading() as conn:
                assert jobs.list_jobs(conn, "leased") == []
                assert [(job.kind, job.attempts) for job in jobs.list_jobs(conn, "queued")] in ([("add", 0)], [])
            daemon.start()
            with contextlib.suppress(DaemonError):
                list(daemon.client.ask("What is there?"))
            assert daemon.stop() == 0
        daemon.start()
        assert all_read(daemon)
        assert daemon.client.check().problems == ()


def test_a_watched_folder_survives_kill_9(tmp_path: Path, notes: Path) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        daemon.client.watch(notes)
        kill_when(daemon, 40)
        daemon.start()
        assert all_read(daemon)
        assert daemon.client.status().stats.episodes == FILES
        assert daemon.client.check().problems == ()
