"""Regular checks of the memory's file and of free disk space.

Writes to a file that was replaced or moved are lost, so each commit checks first and is refused. This check rescues
earlier writes, and ends a daemon whose folder is gone.

On a full disk, background reading stops first, then everything except forgetting. Forgetting writes before it frees, so
it can use up the ballast, a file of some megabytes. With free space again all work resumes.

A program that reads the file for long keeps the log from being emptied, and the log grows. It cannot be disconnected,
so the daemon reports it, and reading stops as on a nearly full disk.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.config.settings import DiskSettings
from daemon.jobs.workers import Writer
from daemon.paths import Paths, name_replaced
from memory import Memory
from memory.errors import PalimpsestError, StoreBusyError, StoreMovedError

log = logging.getLogger(__name__)

MB = 1 << 20
OPENING_BYTES = 4 * MB  # that it takes to open a memory, and more
OK, LOW, FULL = "ok", "low", "full"


def find_room(folder: Path) -> int:
    """Returns the free bytes on the disk of a folder."""
    return shutil.disk_usage(folder).free


def release_ballast(paths: Paths, room: Callable[[Path], int] = find_room) -> None:
    """Deletes the ballast if there is no space for opening the memory."""
    if paths.ballast.exists() and room(paths.data) < OPENING_BYTES:
        paths.ballast.unlink()


@dataclass
class Disk:
    """Monitors the memory's file and its disk. `give_up` is called if the folder is gone; `go_on` at each check with
    free space, with whether there was none before. `room` returns the free bytes."""

    memory: Memory
    writer: Writer
    paths: Paths
    settings: DiskSettings
    publish: Callable[[wire.Event], None]
    give_up: Callable[[], None]
    go_on: Callable[[bool], None]
    room: Callable[[Path], int] = find_room
    _is_moved: bool = False
    _state: str = OK
    _held_log: int = 0  # bytes of a log that another program keeps open
    _is_first: bool = True

    def check(self) -> None:
        """Checks once and acts on the result."""
        try:
            self.memory.store.verify_place()
        except StoreMovedError as error:
            if not self._is_moved:
                self._is_moved = True
                self._keep(str(error))
            return
        self._weigh()

    def state(self) -> wire.Disk:
        """Returns the free space and its level."""
        free = self.room(self.paths.data)
        return wire.Disk(self._state, free, self._describe_state(free))

    # The room -------------------------------------------------------------------------------------

    def _weigh(self) -> None:
        free, before, was_held = self.room(self.paths.data), self._state, bool(self._held_log)
        self._held_log = self._measure_log()
        self._state = self._judge(free)
        sentence = self._describe_state(free)
        if self._state == OK and not self._is_first:  # who only asks one question need not have one
            self._take_ballast(free)
        self._is_first = False
        self.writer.refuse_background(sentence)
        # Deletes the ballast only when needed: other programs would use the space.
        self.memory.store.block_writes(
            sentence if self._state == FULL else "", partial(self.paths.ballast.unlink, missing_ok=True)
        )
        if self._state != before:
            log.warning("the disk is %s: %d MB free, %d MB of log", self._state, free // MB, self._held_log // MB)
            over = (
                "No other program blocks the memory's log any more" if was_held else "There is room on the disk again"
            )
            text = sentence or f"{over}; all work continues."
            self.publish(wire.Notice({OK: "info", LOW: "warning", FULL: "error"}[self._state], text))
        if self._state == OK:
            self.go_on(before != OK)

    def _judge(self, free: int) -> str:
        """Returns the level of free space. A full disk stays full until a tenth more is free, so that the level does
        not flap."""
        for state, limit in ((FULL, self.settings.full_mb), (LOW, self.settings.pause_mb)):
            is_current = self._state == state or (state == LOW and self._state == FULL)
            if free < limit * MB * (1.1 if is_current else 1.0):
                return state
        return LOW if self._held_log else OK

    def _measure_log(self) -> int:
        """Returns the log's size if it is too large and cannot be emptied."""
        if (size := self.memory.store.log_bytes) <= self.settings.log_mb * MB:
            return 0
        try:
            self.writer.write(self.memory.store.checkpoint)
        except StoreBusyError:
            return size
        except (PalimpsestError, CancelledError) as error:
            log.warning("the log could not be emptied: %s", type(error).__name__)
        return 0

    def _describe_state(self, free: int) -> str:
        space = f"{free // MB:,} MB are free on the disk of {self.paths.data}"
        match self._state:
            case "full":
                return (
                    f"The disk is full: {space}. Nothing is written until {self.settings.full_mb:,} MB are free; "
                    "questions and pal forget work. Free some space."
                )
            case "low" if self._held_log:
                return (
                    f"Another program has {self.paths.memory} open, so its log has grown to"
                    f" {self._held_log // MB:,} MB. Reading continues when it is closed (lsof names it)."
                )
            case "low":
                return f"The disk is nearly full: {space}. Reading continues at {self.settings.pause_mb:,} MB."
            case _:
                return ""

    def _take_ballast(self, free: int) -> None:
        ballast, size = self.paths.ballast, self.settings.ballast_mb * MB
        if ballast.exists() or not size or free - size < self.settings.pause_mb * MB * 2:
            return
        try:
            handle = os.open(ballast, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                for _ in range(self.settings.ballast_mb):
                    os.write(handle, bytes(MB))
            finally:
                os.close(handle)
        except OSError as error:
            log.warning("there is no ballast: %s", error.strerror)
            with suppress(OSError):
                ballast.unlink(missing_ok=True)

    # The file -------------------------------------------------------------------------------------

    def _keep(self, text: str) -> None:
        if self.memory.store.is_elsewhere:
            log.error("the folder of the memory was moved or deleted; this daemon ends")
            self.publish(wire.Notice("error", "The folder of the memory was moved or deleted, so its daemon ends."))
            self.give_up()
            return
        try:
            copy = self.memory.store.rescue(name_replaced(self.paths.backups))
            text += f" The open one is saved as {copy}"
            log.error("the memory was replaced while it was open; the open one is kept as %s", copy.name)
        except (PalimpsestError, OSError) as error:
            log.error("the memory was replaced while it was open, and cannot be kept: %s", type(error).__name__)
        self.publish(wire.Notice("error", text))
