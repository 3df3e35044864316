"""What holds for all tests."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from daemon.client import starting
from daemon.reading import process
from memory.store import store
from tests import fork_server

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.tui.looks import Looks

spawn_cold = starting.spawn
create_private = store.create_private

# The same examples in every run: a change that fails must be at fault itself. To look for new ones, and more of them:
# HYPOTHESIS_PROFILE=explore make test. No example has a deadline: a busy machine is no fault of what is tested.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=10)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Where the tests are run in the background, Ctrl-C may be switched off, and so it would be in what they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The tests run side by side: one that shares a product among threads takes them from another. Set before numpy comes.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Days are those of the machine: tests expect those of UTC, and set another zone themselves where it matters.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

# Terminals have the size that a test gives them; readline, which pytest imports, hands the one of today's to processes.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# How long a test takes, roughly, in tenths of a second, by its folder. Elsewhere one.
TESTS = Path(__file__).parent
TENTHS = {"web": 20, "daemon": 10, "tui": 6, "cli": 4, "benchmarks": 3, "plugins": 2}

# Temporary files in memory, where the system offers that: a commit then waits for no disk.
RAM, ENOUGH_BYTES = Path("/dev/shm"), 4 << 30
if "TMPDIR" not in os.environ and os.access(RAM, os.W_OK) and shutil.disk_usage(RAM).free > ENOUGH_BYTES:
    os.environ["TMPDIR"] = tempfile.tempdir = str(RAM)


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        fork_server.share_servers()
    else:
        gc.disable()  # until the tests are collected, of which nothing is garbage


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first, so that none is begun when all others have ended."""
    tenths = Counter(item.path for item in items)
    for path in tenths:
        tenths[path] *= TENTHS.get(path.relative_to(TESTS).parts[0], 1)
    items.sort(key=lambda item: -tenths[item.path])  # which keeps the order within a file, and of files that are equal


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Files are not named by what is in them: an archive has the time in it, and so another name in each process, and
    a text of megabytes would be sent to and fro with all that is told of its test."""
    return argname if isinstance(val, bytes | str) and len(val) > (30 if isinstance(val, bytes) else 200) else None


def pytest_collection_finish() -> None:
    """What the test modules hold stays to the end: the garbage collector need not look through it again and again.

    Nor need it come as often as it does by itself: a chat makes so many objects that it would take a fifth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def prepared_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new memory file is the copy of one, which saves making its schema."""

    @functools.cache
    def empty() -> bytes:
        path = tmp_path_factory.mktemp("empty") / "memory.db"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "create_private", create_private)
            store.Store.open(path).close()
        return path.read_bytes()

    def create_copy(path: Path) -> None:
        create_private(path)
        if path.stat().st_size == 0:
            path.write_bytes(empty())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "create_private", create_copy)
        yield


@pytest.fixture
def new_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema of a new memory file is made where it is, as it is for everybody else."""
    monkeypatch.setattr(store, "create_private", create_private)


@pytest.fixture(scope="session", autouse=True)
def warm_daemons() -> Iterator[None]:
    """Daemons are forked from a process that has imported all they need, which saves a second and a half for each, and
    so are reading processes, which saves .4 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "spawn", fork_server.spawn)
        patch.setattr(process, "spawn", fork_server.spawn_reader)
        yield


@pytest.fixture
def cold_daemons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Daemons are new interpreters, as they are for everybody else."""
    monkeypatch.setattr(starting, "spawn", spawn_cold)


@pytest.fixture
def cold_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading processes are new interpreters, as they are for everybody else, also those of a daemon."""
    monkeypatch.setattr(process, "spawn", fork_server.spawn_cold_reader)


@pytest.fixture
def cold_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first daemon is a new interpreter, as it is for everybody else; those that come after it are not."""
    spawn_forked = starting.spawn

    def spawn(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(starting, "spawn", spawn_forked)
        return spawn_cold(*args, **kwargs)

    monkeypatch.setattr(starting, "spawn", spawn)


@pytest.fixture
def looks(snapshot: SnapshotAssertion, request: pytest.FixtureRequest) -> Iterator[Looks]:
    """Pictures of a chat. The test fails at its end if one of them was not as before."""
    from tests.tui.looks import Looks

    looks = Looks(snapshot, request.node)
    yield looks
    assert not looks.differing, f"These look otherwise: {', '.join(looks.differing)}. See snapshot_report.html"
