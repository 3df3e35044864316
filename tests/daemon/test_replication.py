"""A replica of the memory by Litestream: complete after each kill, without what was forgotten, restored elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon import litestream, wire
from daemon.client.client import DaemonError
from memory import Memory
from plugins.embedders.static import StaticEmbedder
from tests.daemon.conftest import QUICK, wait_until
from tests.running import RunningDaemon, run_daemon

BOAT = "The boat is called Wendelin."


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    with run_daemon(tmp_path / "home", QUICK) as running:
        yield running


def state(daemon: RunningDaemon) -> wire.Replica:
    replica = daemon.client.status().replica
    assert replica is not None
    return replica


def wait_until_complete(daemon: RunningDaemon) -> None:
    """Until the replica was seen to have all that is in the memory now."""
    now = datetime.now(UTC)
    wait_until(lambda: (state(daemon).at or now) > now, 60)


def read_restored(address: Path | str, to: Path) -> set[str]:
    """The texts of the memory that is restored from a replica."""
    to.unlink(missing_ok=True)
    litestream.restore(litestream.read_address(str(address)), to)
    with Memory.open(to, embedder=StaticEmbedder()) as memory:
        assert not memory.maintenance.check().problems
        query = "SELECT text FROM episode JOIN node ON id = node_id WHERE t_expired IS NULL"
        return {text for (text,) in memory.store.read(lambda conn: conn.execute(query).fetchall())}


def find_programs(folder: Path) -> list[int]:
    """The processes of Litestream whose configuration is below a folder."""
    listed = subprocess.run(["ps", "-wweo", "pid,args"], capture_output=True, text=True, check=True).stdout
    lines = (line.split(None, 1) for line in listed.splitlines()[1:])
    return [int(pid) for pid, run in lines if f"replicate -config {folder}" in run and "/bin/sh" not in run]


def test_a_kill_of_either_loses_nothing_and_leaves_no_process(daemon: RunningDaemon, tmp_path: Path) -> None:
    daemon.client.replicate(str(tmp_path / "replica"))
    texts = set()
    for number in range(4):
        texts.add(f"The boat number {number} is called Wendelin.")
        daemon.client.remember(f"The boat number {number} is called Wendelin.")
        if number % 2:
            [pid] = wait_until(lambda: find_programs(tmp_path))
            os.kill(pid, signal.SIGKILL)
        else:
            daemon.kill()
            wait_until(lambda: not find_programs(tmp_path))
            daemon.start()
    wait_until_complete(daemon)
    assert read_restored(tmp_path / "replica", tmp_path / "restored.db") == texts
    daemon.stop()
    assert not find_programs(tmp_path)


def test_what_is_forgotten_is_in_the_replica_until_it_is_renewed(daemon: RunningDaemon, tmp_path: Path) -> None:
    address = daemon.client.replicate(str(tmp_path / "replica")).address
    daemon.client.remember(BOAT)
    note = daemon.client.remember("The safe opens with 4711.")
    wait_until_complete(daemon)
    gone = daemon.client.forget(episode=note.episode_ids[0])
    assert not gone.pending and [copy.path for copy in gone.copies] == [address]
    until = state(daemon).forgotten_until
    assert until is not None and (until - datetime.now(UTC)).days == 7
    began = datetime.now(UTC).replace(microsecond=0)
    assert daemon.client.renew_replica().forgotten_until is None
    assert min(litestream.list_times(address)) >= began
    assert read_restored(address, tmp_path / "restored.db") == {BOAT}


def test_a_place_that_has_a_replica_is_taken_only_on_request(daemon: RunningDaemon, tmp_path: Path) -> None:
    with run_daemon(tmp_path / "other", QUICK) as other:
        other.client.remember("Another memory.")
        other.client.replicate(str(tmp_path / "replica"))
        other.client.stop_replica()
        assert other.client.status().replica is None and not find_programs(tmp_path / "other")
    with pytest.raises(DaemonError, match="has a replica already"):
        daemon.client.replicate(str(tmp_path / "replica"))
    assert daemon.client.status().replica is None
    daemon.client.remember(BOAT)
    begun = daemon.client.replicate(str(tmp_path / "replica"), True)
    assert daemon.client.replicate(str(tmp_path / "replica")).address == begun.address  # its own
    assert read_restored(tmp_path / "replica", tmp_path / "restored.db") == {BOAT}


def test_an_older_memory_that_is_restored_goes_on_with_its_replica(daemon: RunningDaemon, tmp_path: Path) -> None:
    daemon.client.replicate(str(tmp_path / "replica"))
    daemon.client.remember(BOAT)
    copy = tmp_path / "copy.db"
    daemon.client.backup(copy)
    daemon.client.remember("A note that the backup does not have.")
    wait_until_complete(daemon)
    daemon.stop()
    Memory.restore(copy, daemon.paths.memory, tmp_path / "kept.db")
    daemon.start()
    daemon.client.remember("A newer note.")
    wait_until_complete(daemon)
    assert read_restored(tmp_path / "replica", tmp_path / "restored.db") == {BOAT, "A newer note."}


def test_a_drive_that_is_not_mounted_gets_nothing_until_it_is_back(daemon: RunningDaemon, tmp_path: Path) -> None:
    drive, elsewhere = tmp_path / "drive", tmp_path / "elsewhere"
    daemon.client.replicate(str(drive))
    drive.rename(elsewhere)
    drive.mkdir()
    wait_until(lambda: "not the replica's folder" in state(daemon).problem)
    for file in [*drive.iterdir()]:
        assert file.name == "ltx"  # written before it was noticed
        file.rename(tmp_path / "early")
    daemon.client.remember(BOAT)
    assert not [*drive.iterdir()]
    drive.rmdir()
    elsewhere.rename(drive)
    wait_until_complete(daemon)
    assert not state(daemon).problem
    assert read_restored(drive, tmp_path / "restored.db") == {BOAT}


def test_what_cannot_be_written_is_a_problem_until_it_can(daemon: RunningDaemon, tmp_path: Path) -> None:
    place = tmp_path / "replica"
    daemon.client.replicate(str(place))
    (place / "ltx").rename(place / "away")
    (place / "ltx").write_text("no folder")
    daemon.client.remember(BOAT)
    wait_until(lambda: state(daemon).problem)
    (place / "ltx").unlink()
    (place / "away").rename(place / "ltx")
    wait_until_complete(daemon)
    assert not state(daemon).problem
    assert read_restored(place, tmp_path / "restored.db") == {BOAT}


def test_a_place_that_cannot_be_used_is_refused_with_the_reason(daemon: RunningDaemon) -> None:
    for address, why in (
        ("replica", "whole path"),
        ("ftp://host/x", "not at ftp"),
        ("sftp://nobody@127.0.0.1:9/x", "not known yet"),
        ("/proc/none", "cannot be written"),
    ):
        with pytest.raises(DaemonError, match=why):
            daemon.client.replicate(address)
        assert daemon.client.status().replica is None, address


def test_text_of_a_local_folder_leaves_the_computer_only_if_that_is_allowed(
    daemon: RunningDaemon, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    daemon.client.watch(tmp_path / "notes")
    with pytest.raises(DaemonError, match="also that of folders that are local"):
        daemon.client.replicate("sftp://nobody@127.0.0.1:9/x")
    with pytest.raises(DaemonError, match="not known yet"):  # which is asked next
        daemon.client.replicate("sftp://nobody@127.0.0.1:9/x", with_local=True)
    daemon.client.replicate(str(tmp_path / "replica"))
