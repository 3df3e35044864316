from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from daemon import wire
from daemon.client.client import Client
from daemon.config.settings import DaemonSettings, DiskSettings, EmbedderSettings, Settings, WatchSettings
from memory.protocols import Embedder
from plugins.manager import load
from tests.daemon.enriching import Make, world
from tests.running import RunningDaemon, run_daemon

T = TypeVar("T")
QUICK = Settings(
    daemon=DaemonSettings(log_level="DEBUG"),
    disk=DiskSettings(check_s=0.5, ballast_mb=1),
    embedder=EmbedderSettings("static"),
    watch=WatchSettings(debounce_s=0.8, longest_wait_s=5.0, root_check_s=0.5, poll_s=1.0, gone_wait_s=1.5),
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for a whole file of tests; what a test needs of it, the test makes."""
    with run_daemon(tmp_path_factory.mktemp("daemon") / "home", QUICK) as daemon:
        yield daemon


@pytest.fixture(scope="session")
def static() -> Embedder:
    return load().embedder("static")


@pytest.fixture
def make(tmp_path: Path, static: Embedder, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a world whose models are fakes, in a home of its own."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    home = tmp_path / "home"
    home.mkdir()
    return lambda **settings: world(home, static, **settings)


@pytest.fixture
def client(running: RunningDaemon) -> Client:
    return running.client


class Listener:
    """Hears what the daemon does, from the moment it is made."""

    def __init__(self, client: Client) -> None:
        self._stream = client.activity()
        self.heard: list[wire.Event] = []

    def until(self, wanted: Callable[[wire.Event], bool], seconds: float = 60) -> wire.Event:
        """The next event that is wanted; fails with all that was heard if none comes."""
        timer = threading.Timer(seconds, self._stream.close)
        timer.start()
        try:
            for event in self._stream:
                self.heard.append(event)
                if wanted(event):
                    return event
        finally:
            timer.cancel()
        raise AssertionError(f"it did not come; heard: {self.heard}")

    def until_changed(self, path: Path, change: str) -> wire.SourceChanged:
        event = self.until(
            lambda event: isinstance(event, wire.SourceChanged) and (event.uri, event.change) == (str(path), change)
        )
        assert isinstance(event, wire.SourceChanged)
        return event

    def close(self) -> None:
        self._stream.close()


@contextlib.contextmanager
def listening(client: Client) -> Iterator[Listener]:
    listener = Listener(client)
    try:
        yield listener
    finally:
        listener.close()


def added(client: Client, *paths: Path, again: bool = False) -> tuple[wire.Added, list[wire.Event]]:
    """Adds files or folders; what it came to, and all events."""
    events = list(client.add(paths, again=again))
    assert isinstance(events[-1], wire.Added)
    return events[-1], events


def uris(client: Client, query: str = "") -> list[str]:
    return sorted(row.uri for row in client.sources(query, 100_000).sources)


def answer(client: Client, question: str) -> wire.Answered:
    *_, last = client.ask(question)
    assert isinstance(last, wire.Answered)
    return last


_number = itertools.count()


@pytest.fixture
def folder(client: Client, tmp_path: Path) -> Iterator[Path]:
    """A watched folder that has been scanned once, empty, at a path where none was before: of a test that is made again
    and again the temporary folder is the same one, and what was read there is known."""
    path = tmp_path / f"watched{next(_number)}"
    path.mkdir()
    client.watch(path)
    wait_for_state(client, path, "watching")
    yield path
    client.unwatch(path)


@pytest.fixture
def listener(client: Client, folder: Path) -> Iterator[Listener]:
    with listening(client) as hears:
        yield hears


def wait_until(look: Callable[[], T], seconds: float = 60) -> T:
    """The first value of `look` that is true."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return seen


def state_of(client: Client, path: Path) -> wire.Folder:
    (found,) = [row for row in client.folders() if row.path == str(path)]
    return found


def wait_for(client: Client, path: Path, wanted: Callable[[wire.Folder], bool], seconds: float = 60) -> wire.Folder:
    """A watched folder as it is when it is as wanted."""
    deadline = time.monotonic() + seconds
    while not wanted(found := state_of(client, path)):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def wait_for_state(client: Client, path: Path, state: str) -> wire.Folder:
    return wait_for(client, path, lambda found: found.state == state)
