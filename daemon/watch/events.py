"""File system events of watched folders, if available."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

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
        """Starts. If the system has no capacity left, `watch` tries again."""
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
        """Calls `note` for events below the folder. OSError if there are none."""
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
        """The number of folders without events: Linux limits the watches, and watchdog ignores the failure silently. 0
        on other systems."""
        emitters = self._observer.emitters if self._observer is not None else set()
        for emitter in emitters:
            if emitter.watch == watch:
                group = getattr(emitter, "_inotify", None)
                heard = getattr(group, "_active_callbacks_by_path", None)
                if heard is not None:
                    return sum(os.fsencode(folder) not in heard and folder.is_dir() for folder in folders)
        return 0

    def _notice_overflow(self, record: logging.LogRecord) -> None:
        """watchdog reports an overflow in its log only."""
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
