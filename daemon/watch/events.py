"""The system's events of watched folders, as far as they can be had."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger(__name__)


class Events:
    """What gives events, from `start` to `close`."""

    def __init__(self, overflowed: Callable[[], None]) -> None:
        """`overflowed` is called when events came too fast and were dropped."""
        self._overflowed = overflowed
        self._observer: BaseObserver | None = None
        self._log = logging.Handler(logging.WARNING)
        self._log.emit = self._notice_overflow  # type: ignore[method-assign]

    def start(self) -> None:
        """Begins. If the system has no more of it to give, `watch` tries again."""
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
        """Has `note` called for what happens below the folder. OSError if there are no events of it."""
        from watchdog import events

        wanted: list[type[FileSystemEvent]] = [
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
        return self._observer.schedule(handler, str(path), recursive=True, event_filter=wanted)

    def unwatch(self, watch: ObservedWatch) -> None:
        if self._observer is not None:
            try:
                self._observer.unschedule(watch)
            except (KeyError, OSError) as error:  # the folder went away below it
                log.info("a watch was gone already: %s", type(error).__name__)

    def count_unheard(self, watch: ObservedWatch, folders: Iterable[Path]) -> int:
        """How many of the folders below a watched one the system tells nothing of: Linux has only so many watches, and
        watchdog goes on without a word where there are no more. 0 where it keeps no book of them."""
        emitters = self._observer.emitters if self._observer is not None else set()
        for emitter in emitters:
            if emitter.watch == watch:
                group = getattr(emitter, "_inotify", None)
                heard = getattr(group, "_active_callbacks_by_path", None)
                if heard is not None:
                    return sum(os.fsencode(folder) not in heard and folder.is_dir() for folder in folders)
        return 0

    def _notice_overflow(self, record: logging.LogRecord) -> None:
        """watchdog tells that to its log, and to nobody else."""
        if "overflow" in record.getMessage():
            self._overflowed()


def _begin() -> BaseObserver:
    from watchdog.observers import Observer

    observer = Observer()
    observer.start()
    return observer
