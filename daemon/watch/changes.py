"""File system events, collected until quiet: the paths to look at, each once.

A save causes many events, a copy of a large file more, an unpacked archive thousands. A path is ready after
`debounce_s` without events, or after `longest_wait_s`."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from daemon.config.settings import WatchSettings

log = logging.getLogger(__name__)

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

    def knows(self, path: Path) -> bool:
        """Whether the path is waiting."""
        return path in self._pending

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
        """Seconds until a path is ready, or None."""
        if not self._pending:
            return None
        ready = min(
            min(last + self._settings.debounce_s, first + self._settings.longest_wait_s)
            for first, last, _ in self._pending.values()
        )
        return max(0.0, ready - time.monotonic())

    def _take(self) -> Ready:
        """The paths to look at now, including nearly ready ones: a move between watched folders needs both ends at
        once, and the system reports the first end half a second late."""
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
