from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.config.settings import WatchSettings
from daemon.watch.events import Changes, Ready

FOLDER, OTHER = Path("/notes"), Path("/other")
Looked = queue.SimpleQueue[tuple[float, Ready, dict[Path, Path]]]


@pytest.fixture
def looked() -> Looked:
    return queue.SimpleQueue()


@contextmanager
def gathering(looked: Looked, debounce_s: float, longest_wait_s: float) -> Iterator[Changes]:
    settings = WatchSettings(debounce_s=debounce_s, longest_wait_s=longest_wait_s)
    gathered = Changes(settings, lambda ready, moved: looked.put((time.monotonic(), ready, moved)))
    gathered.start()
    yield gathered
    gathered.close()


@pytest.fixture
def changes(looked: Looked) -> Iterator[Changes]:
    with gathering(looked, 0.4, 5.0) as gathered:
        yield gathered


def test_many_events_are_one_look_when_it_is_quiet(changes: Changes, looked: Looked) -> None:
    for _ in range(100):
        changes.note(FOLDER, FOLDER / "a.md")
    last = time.monotonic()
    moment, ready, moved = looked.get(timeout=60)
    assert moment - last >= 0.39
    assert (ready, moved) == ({FOLDER: [FOLDER / "a.md"]}, {})
    changes.note(FOLDER, FOLDER / "b.md")
    assert looked.get(timeout=60)[1] == {FOLDER: [FOLDER / "b.md"]}, "a.md does not wait any more"


def test_what_is_never_quiet_is_looked_at_all_the_same(looked: Looked) -> None:
    ended = threading.Event()
    with gathering(looked, 10.0, 0.3) as changes:

        def restless() -> None:
            while not ended.wait(0.02):
                changes.note(FOLDER, FOLDER / "growing.log")

        thread = threading.Thread(target=restless)
        began = time.monotonic()
        thread.start()
        moment, ready, _ = looked.get(timeout=60)
        ended.set()
        thread.join()
    assert ready == {FOLDER: [FOLDER / "growing.log"]}
    assert moment - began >= 0.28


def test_both_ends_of_a_move_are_looked_at_together(changes: Changes, looked: Looked) -> None:
    old, middle, new = FOLDER / "a.md", FOLDER / "b.md", OTHER / "c.md"
    changes.note(OTHER, new)
    time.sleep(0.1)  # less than it must be quiet, more than it must nearly be
    changes.note(FOLDER, old)
    changes.note(FOLDER, middle)
    changes.note_move(old, middle)
    changes.note_move(middle, new)
    found: Ready = {}
    where: dict[Path, Path] = {}
    while len(found.get(FOLDER, [])) < 2 or OTHER not in found:
        _, ready, moved = looked.get(timeout=60)
        found |= ready
        where |= moved
    assert where == {new: old}


def test_a_look_that_fails_is_not_the_last(looked: Looked) -> None:
    def look(ready: Ready, moved: dict[Path, Path]) -> None:
        looked.put((0, ready, moved))
        raise RuntimeError

    changes = Changes(WatchSettings(debounce_s=0.01), look)
    changes.start()
    for name in ("a", "b"):
        changes.note(FOLDER, FOLDER / name)
        assert looked.get(timeout=60)[1] == {FOLDER: [FOLDER / name]}
    changes.close()
