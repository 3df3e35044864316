"""A daemon's life: one at a time, started by whoever needs it, ended politely."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.client.starting import connect
from daemon.config.settings import DiskSettings, NightSettings, Settings, UpkeepSettings
from daemon.lock import ALREADY_RUNNING, AlreadyRunningError, hold, is_held
from daemon.paths import Paths
from daemon.process import refuse_network
from daemon.process.server import wake_by_signals
from daemon.watch import roots
from memory.errors import StoreError
from tests.daemon.conftest import QUICK, wait_until
from tests.running import run_daemon

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and modes are POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("cold_daemon")
def test_a_life(tmp_path: Path) -> None:
    """Start, a second one, what it left on the disk, a polite end, a new start over a stale socket."""
    with run_daemon(tmp_path / "home") as daemon:
        assert daemon.process is not None
        hello = daemon.client.hello()
        assert (hello.protocol, hello.pid) == (wire.PROTOCOL, daemon.process.pid)

        second = daemon.spawn()
        assert second.wait(60) == ALREADY_RUNNING
        assert f"already running (process {daemon.process.pid})" in daemon.paths.output.read_text()
        assert daemon.client.hello() == hello

        for folder in (daemon.paths.data, daemon.paths.runtime, daemon.paths.logs):
            assert mode(folder) == 0o700, folder
        for file in (daemon.paths.socket, daemon.paths.log, daemon.paths.memory, daemon.paths.lock):
            assert mode(file) == 0o600, file

        if (limits := Path(f"/proc/{daemon.process.pid}/limits")).exists():  # no core dump: it would hold the memory
            assert ["Max", "core", "file", "size", "0", "0", "bytes"] in [line.split() for line in limits.open()]

        assert daemon.stop() == 0
        assert not daemon.paths.socket.exists() and not is_held(daemon.paths.lock)
        with pytest.raises(DaemonDownError, match="No daemon is running"):
            daemon.client.hello()

        stale = socket.socket(socket.AF_UNIX)
        stale.bind(str(daemon.paths.socket))
        stale.close()
        daemon.start()
        daemon.client.remember("The key is under the blue pot.")
        daemon.kill()
        assert daemon.paths.socket.exists()
        daemon.start()
        assert daemon.client.status().stats.sources == 1
        assert "Traceback" not in daemon.paths.log.read_text() + daemon.paths.output.read_text()


@pytest.mark.usefixtures("cold_daemons")
def test_three_clients_at_once_start_one_daemon(tmp_path: Path) -> None:
    paths = Paths.in_folder(tmp_path / "home")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        said: list[str] = []
        clients = list(pool.map(lambda _: connect(paths, say=said.append), range(3)))
    try:
        assert len({client.hello().pid for client in clients}) == 1
        assert said
    finally:
        clients[0].stop()
    assert not is_held(paths.lock)


def test_a_second_signal_is_firm_and_loses_nothing(tmp_path: Path) -> None:
    with run_daemon(tmp_path / "home") as daemon:
        assert daemon.process is not None
        daemon.client.remember("The ferry leaves at nine.")
        daemon.process.send_signal(signal.SIGINT)
        daemon.process.send_signal(signal.SIGINT)
        assert daemon.process.wait(60) in (0, 128 + signal.SIGINT)
        daemon.start()
        assert daemon.client.status().stats.sources == 1


@pytest.mark.usefixtures("cold_daemons")
async def test_a_signal_wakes_the_daemon_whichever_thread_gets_it() -> None:
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    other = loop.call_later(5, lambda: None)  # which wakes it, too
    before = signal.signal(signal.SIGUSR1, lambda *_: told.set())
    thread = threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
    try:
        with wake_by_signals():
            thread.start()
            await told.wait()
            assert loop.time() < other.when()
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)


def test_why_it_could_not_start_is_reported(tmp_path: Path) -> None:
    paths = Paths.in_folder(tmp_path)
    paths.config.write_text("[watch]\ndebounces = 1\n")
    with pytest.raises(DaemonDownError) as caught:
        connect(paths)
    assert caught.value.code == 78 and str(caught.value).startswith(
        f"The daemon could not start: {paths.config}, line 2"
    )
    assert "watch.debounces is not a setting" in str(caught.value)

    paths.config.write_text("[night]\nhour = 99\n")
    with pytest.raises(DaemonDownError, match=r"line 2: night\.hour must be a number from 0 to 23, not 99") as caught:
        connect(paths)
    assert caught.value.code == 78 and "debounce" not in str(caught.value)

    paths.config.unlink()
    paths.memory.write_bytes(b"this is no database, whatever its name says" * 100)
    before = paths.memory.read_bytes()
    with pytest.raises(DaemonDownError) as caught:
        connect(paths)
    assert caught.value.code == 74 and "memory.db" in str(caught.value)
    assert "config.toml" not in str(caught.value), "what an earlier daemon said is over"
    assert paths.memory.read_bytes() == before


def test_without_leave_nothing_is_started(tmp_path: Path) -> None:
    with pytest.raises(DaemonDownError, match="pal daemon start"):
        connect(Paths.in_folder(tmp_path), start=False)
    assert list(tmp_path.iterdir()) == []


def test_a_home_may_be_a_link_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with run_daemon(tmp_path / "link") as daemon:
        daemon.client.remember("The ferry leaves at nine.")
    assert (tmp_path / "real" / "memory.db").is_file()


def test_a_home_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DaemonDownError, match=r"cannot be written .*PALIMPSEST_HOME") as caught:
        connect(Paths.in_folder(tmp_path / "file" / "home"))
    assert caught.value.code == 75


def test_a_memory_on_a_network_drive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 35 0:99 / {tmp_path}/nas rw - nfs4 server:/notes rw\n")
    monkeypatch.setattr(roots, "MOUNTS", mounts)
    with pytest.raises(StoreError, match=r"network drive \(nfs4\).*PALIMPSEST_HOME"):
        refuse_network(tmp_path / "nas" / "home", Settings())
    refuse_network(tmp_path / "here", Settings())
    refuse_network(tmp_path / "nas" / "home", Settings(disk=DiskSettings(network=True)))


def test_a_memory_that_is_replaced_under_the_daemon(tmp_path: Path) -> None:
    """Nothing more is acknowledged, what was is kept, and a restart opens what stands there now."""
    with run_daemon(tmp_path / "other", QUICK) as other:
        other.client.remember("The gate is green.")
        other.stop()
        with run_daemon(tmp_path / "home", QUICK) as daemon:
            daemon.client.remember("The ferry leaves at nine.")
            other.paths.memory.rename(daemon.paths.memory)
            with pytest.raises(DaemonError, match="pal daemon restart") as caught:
                daemon.client.remember("The pier is closed.")
            assert caught.value.failed.code == "moved"
            kept = wait_until(lambda: [*daemon.paths.backups.glob("replaced-*.db")])
            with pytest.raises(DaemonError, match="was replaced or moved"):
                daemon.client.status()
            assert daemon.stop() == 0
            daemon.start()
            assert [row.title for row in daemon.client.sources().sources] == ["The gate is green"]
            assert daemon.client.check().problems == ()
            daemon.stop()
            kept[0].rename(daemon.paths.memory)
            daemon.start()
            assert [row.title for row in daemon.client.sources().sources] == ["The ferry leaves at nine"]


def test_a_daemon_whose_home_is_moved_ends(tmp_path: Path) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        assert daemon.process is not None
        daemon.client.remember("The ferry leaves at nine.")
        daemon.paths.data.rename(tmp_path / "moved")
        assert daemon.process.wait(60) == 74
        said: list[str] = []
        connect(daemon.paths, say=said.append).stop()
        assert "a new one begins there" in said[0]
        with run_daemon(tmp_path / "moved") as moved:
            assert moved.client.status().stats.sources == 1


def test_a_daemon_whose_home_was_moved_leaves_its_successor_alone(tmp_path: Path) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        assert daemon.process is not None
        daemon.process.send_signal(signal.SIGSTOP)
        daemon.paths.data.rename(tmp_path / "moved")
        successor = connect(daemon.paths)
        daemon.process.send_signal(signal.SIGCONT)
        assert daemon.process.wait(60) == 74
        assert successor.hello().pid != daemon.process.pid
        successor.stop()


def test_a_machine_that_sleeps(tmp_path: Path) -> None:
    """What was due meanwhile is made up for once, what changed is read, and who waited is answered."""
    now = datetime.now()
    settings = replace(
        QUICK,
        upkeep=UpkeepSettings(hour=now.hour),
        night=NightSettings(enabled=False, after_start_s=1.0),
    )
    notes = tmp_path / "notes"
    notes.mkdir()
    with run_daemon(tmp_path / "home", settings) as daemon, ThreadPoolExecutor(1) as waiting:
        assert daemon.process is not None
        daemon.client.remember("The ferry leaves at nine.")
        daemon.client.watch(notes)
        daemon.process.send_signal(signal.SIGSTOP)
        for number in range(5):
            (notes / f"{number}.md").write_text(f"Crate {number} came from Lisbon.")
        asked = waiting.submit(daemon.client.recall, "When does the ferry leave?")
        time.sleep(2)  # meanwhile its backup and several looks at the disk are due
        daemon.process.send_signal(signal.SIGCONT)
        assert asked.result(20).hits
        wait_until(lambda: daemon.client.status().stats.sources == 6)
        wait_until(lambda: [*daemon.paths.backups.glob("memory-scheduled-*.db")])
        assert daemon.stop() == 0
        assert len([*daemon.paths.backups.glob("memory-scheduled-*.db")]) == 1
        assert " ERROR " not in daemon.paths.log.read_text()


def test_an_older_daemon_is_replaced_and_a_newer_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with run_daemon(tmp_path / "home") as daemon:
        old = daemon.client.hello().pid
        monkeypatch.setattr(wire, "PROTOCOL", wire.PROTOCOL - 1)
        with pytest.raises(DaemonError, match="newer Palimpsest"):
            connect(daemon.paths)
        monkeypatch.undo()
        monkeypatch.setattr(wire, "PROTOCOL", wire.PROTOCOL + 1)
        said: list[str] = []
        assert connect(daemon.paths, say=said.append).hello().pid != old
        assert "older version" in said[0]


def test_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    with hold(path):
        assert is_held(path)
        with pytest.raises(AlreadyRunningError, match=str(os.getpid())), hold(path, patience=0):
            pass
    assert not is_held(path)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from daemon.lock import *\nwith hold({str(path)!r}): print(1, flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"1\n"
    assert is_held(path)
    holder.kill()
    holder.communicate()
    assert not is_held(path)
