"""Events of watched folders, if the system gives any, collected until quiet: the paths to look at, each once.

A save causes many events, a copy of a large file more, an unpacked archive thousands. A path is ready after
`debounce_s` without events, or after `longest_wait_s`."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.config.settings import WatchSettings

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch


log = logging.getLogger(__name__)

DEPTH = 5000  # frames: watchdog walks folders with `os.walk`, which until Python 3.12 is a call deeper in each


class Events:
    """The source of events, from `start` to `close`."""

    def __init__(self, overflowed: Callable[[], None]) -> None:
        """`overflowed` is called if events were dropped."""
        self._overflowed = overflowed
        self._observer: BaseObserver | None = None
        self._log = logging.Handler(logging.WARNING)
        self._log.emit = self._notice_overflow  # type: ignore[method-assign]

    def start(self) -> None:
        """Starts observing. If the system has no capacity left, `watch` tries again."""
        sys.setrecursionlimit(max(DEPTH, sys.getrecursionlimit()))
        logging.getLogger("watchdog").addHandler(self._log)
        try:
            self._observer = _begin()
        except OSError as error:
            log.warning("the system gives no events: %s", error)

    def close(self) -> None:
        logging.getLogger("watchdog").removeHandler(self._log)
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(2)

    def watch(self, path: Path, note: Callable[[FileSystemEvent], None]) -> ObservedWatch:
        """Calls `note` for events below the folder. OSError if they are unavailable."""
        from watchdog import events

        kinds: list[type[FileSystemEvent]] = [
            events.FileCreatedEvent,
            events.FileModifiedEvent,
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.FileClosedEvent,
            events.DirCreatedEvent,
            events.DirMovedEvent,
            events.DirDeletedEvent,
        ]
        handler = events.FileSystemEventHandler()
        handler.on_any_event = note  # type: ignore[assignment, method-assign]
        if self._observer is None:
            self._observer = _begin()
        return self._observer.schedule(handler, str(path), recursive=True, event_filter=kinds)

    def unwatch(self, watch: ObservedWatch) -> None:
        if self._observer is not None:
            try:
                self._observer.unschedule(watch)
            except (KeyError, OSError) as error:  # the folder is gone
                log.info("a watch was gone already: %s", type(error).__name__)

    def count_unheard(self, watch: ObservedWatch, folders: Iterable[Path]) -> int:
        """Returns the number of folders without events: Linux limits the watches, and watchdog ignores the failure
        silently. 0 on other systems."""
        emitters = self._observer.emitters if self._observer is not None else set()
        for emitter in emitters:
            if emitter.watch == watch:
                group = getattr(emitter, "_inotify", None)
                heard = getattr(group, "_active_callbacks_by_path", None)
                if heard is not None:
                    return sum(os.fsencode(folder) not in heard and folder.is_dir() for folder in folders)
        return 0

    def _notice_overflow(self, record: logging.LogRecord) -> None:
        """Finds overflows, which watchdog reports in its log only."""
        if "overflow" in record.getMessage():
            self._overflowed()


def _begin() -> BaseObserver:
    from watchdog.observers import Observer

    if sys.platform == "linux":
        from watchdog.observers.inotify import InotifyWatchGroup

        # A folder watched twice, as each folder of a tree that appears at once is, makes a warning that lists all
        # watches: 60 MB at 80,000 folders.
        InotifyWatchGroup.__repr__ = object.__repr__  # type: ignore[method-assign]
        warnings.filterwarnings("ignore", module=r"watchdog\.")
    observer = Observer()
    observer.start()
    return observer


Ready = dict[Path, list[Path]]  # watched folder -> paths in it


class Changes:
    """Collects from any thread; calls `look(ready, moved)` in its own, from `start` to `close`.

    `moved` contains the former paths of ready paths, if known."""

    def __init__(self, settings: WatchSettings, look: Callable[[Ready, dict[Path, Path]], None]) -> None:
        self._settings = settings
        self._look = look
        self._changed = threading.Condition()  # guards the two below
        self._pending: dict[Path, tuple[float, float, Path]] = {}  # path -> first and last event, watched folder
        self._moved: dict[Path, Path] = {}  # new path -> old path
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="changes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def note(self, folder: Path, path: Path) -> None:
        """Records an event of `path` in a watched folder."""
        moment = time.monotonic()
        with self._changed:
            idle = not self._pending
            first, _, _ = self._pending.get(path, (moment, moment, folder))
            self._pending[path] = (first, moment, folder)
            if idle:  # otherwise the thread waits for an earlier path and then looks again
                self._changed.notify()

    def note_move(self, old: Path, new: Path) -> None:
        """Records a rename; both paths were noted."""
        with self._changed:
            self._moved[new] = self._moved.pop(old, old)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closing and (wait := self._compute_wait()) != 0:
                    self._changed.wait(wait)
                if self._closing:
                    return
                ready = self._take()
                paths = [path for group in ready.values() for path in group]
                moved = {path: self._moved.pop(path) for path in paths if path in self._moved}
            try:
                self._look(ready, moved)
            except Exception as error:  # keep watching; the next scan finds this change
                log.error("changes were not looked at: %s", type(error).__name__)

    def _compute_wait(self) -> float | None:
        """Returns the seconds until a path is ready, or None."""
        if not self._pending:
            return None
        ready = min(
            min(last + self._settings.debounce_s, first + self._settings.longest_wait_s)
            for first, last, _ in self._pending.values()
        )
        return max(0.0, ready - time.monotonic())

    def _take(self) -> Ready:
        """Returns the paths to look at now, including nearly ready ones: a move between watched folders needs both ends
        at once, and the system reports the first end half a second late."""
        quiet = time.monotonic() - self._settings.debounce_s / 4
        late = time.monotonic() - self._settings.longest_wait_s
        ready: Ready = {}
        for path, (first, last, folder) in self._pending.items():
            if last <= quiet or first <= late:
                ready.setdefault(folder, []).append(path)
        for paths in ready.values():
            for path in paths:
                del self._pending[path]
        return ready
