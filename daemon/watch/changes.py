"""The system's events, gathered until it is quiet: which paths to look at, each once.

A save is many events, a copy of a large file more, an unpacked archive thousands. A path is ready when it has been
quiet for `debounce_s`, or restless for `longest_wait_s`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from daemon.settings import WatchSettings

log = logging.getLogger(__name__)

Ready = dict[Path, list[Path]]  # watched folder -> paths in it


class Changes:
    """Gathers from any thread; calls `look(ready, moved)` in its own, from `start` to `close`.

    `moved` says of ready paths where they were before, if that was seen.
    """

    def __init__(self, settings: WatchSettings, look: Callable[[Ready, dict[Path, Path]], None]) -> None:
        self._settings = settings
        self._look = look
        self._changed = threading.Condition()  # guards the two below
        self._pending: dict[Path, tuple[float, float, Path]] = {}  # path -> first and last event, watched folder
        self._moved: dict[Path, Path] = {}  # where it is -> where it was
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
        """Whether the path waits already."""
        return path in self._pending

    def note(self, folder: Path, path: Path) -> None:
        """Something happened to `path`, in a watched folder."""
        moment = time.monotonic()
        with self._changed:
            idle = not self._pending
            first, _, _ = self._pending.get(path, (moment, moment, folder))
            self._pending[path] = (first, moment, folder)
            if idle:  # else the thread waits for a path that was there before, and looks again then
                self._changed.notify()

    def note_move(self, old: Path, new: Path) -> None:
        """A file has another name; both names were noted."""
        with self._changed:
            self._moved[new] = self._moved.pop(old, old)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closing and (wait := self._quiet_in()) != 0:
                    self._changed.wait(wait)
                if self._closing:
                    return
                ready = self._take()
                paths = [path for some in ready.values() for path in some]
                moved = {path: self._moved.pop(path) for path in paths if path in self._moved}
            try:
                self._look(ready, moved)
            except Exception as error:  # the next change shall be seen, and the next scan finds this one
                log.error("changes were not looked at: %s", type(error).__name__)

    def _quiet_in(self) -> float | None:
        """Seconds until a path is ready; None if none is pending."""
        if not self._pending:
            return None
        ready = min(
            min(last + self._settings.debounce_s, first + self._settings.longest_wait_s)
            for first, last, _ in self._pending.values()
        )
        return max(0.0, ready - time.monotonic())

    def _take(self) -> Ready:
        """The paths to look at now. With a ready one go those that are nearly so: both ends of a move from one watched
        folder to another are needed at once, and the system tells of the first end half a second late.
        """
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
