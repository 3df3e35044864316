"""Runs synchronisation: checks every two seconds whether this memory or the shared folder has changed.

The rounds are in `memory.sync`, which is imported once a folder was chosen; `sync.json` has the folder, this computer's
name and the words of the key."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from daemon import wire
from daemon.jobs.workers import Writer
from daemon.paths import write_private
from memory.errors import InvalidInputError, NotAvailableError, NotFoundError, PalimpsestError
from plugins.installing import install_command

if TYPE_CHECKING:
    from memory import Memory
    from memory.sync.sync import Sync

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
SHARE = 0.05  # of the time that rounds may take while the memory changes all the time
NO_FOLDER = "Nothing is synchronised. To begin: pal sync init FOLDER"


@dataclass
class SyncJob:
    """Runs rounds of `Sync` in its own thread, from `start` to `close`, and on request."""

    memory: Memory
    writer: Writer
    file: Path

    def __post_init__(self) -> None:
        self._turn = threading.RLock()  # locked during a round
        self._sync: Sync | None = None
        self._problem = ""
        self._wake = threading.Event()
        self._is_closing = False
        self._thread = threading.Thread(target=self._look, name="sync", daemon=True)

    def start(self) -> None:
        if self.file.exists() and not self._thread.is_alive():
            self._thread.start()

    def close(self) -> None:
        """Starts no more rounds."""
        self._is_closing = True
        self._wake.set()

    def begin(self, folder: Path, words: str) -> str:
        """Joins a folder and runs the first round; returns new words. InvalidInputError, NotAvailableError."""
        new_words = self.join(folder, words)
        self.run()
        return new_words

    def join(self, folder: Path, words: str) -> str:
        """Joins a folder with the words of its key, or creates one; returns new words. InvalidInputError."""
        from_before: dict[str, str] = {}
        with suppress(NotFoundError, NotAvailableError):
            from_before = self._settings()
        with self._needing_extra():
            from memory.sync.folder import MARKER, SharedFolder, make_words

            if not words and (folder / MARKER).exists():
                raise InvalidInputError(f"{folder} is used by another computer. Give the words that it showed.")
            new_words = "" if words else make_words()
            machine = from_before.get("machine", "")
            if not machine or from_before["folder"] != str(folder) or self._problem:
                machine = f"{re.sub('[^a-z0-9]+', '-', socket.gethostname().lower())[:40].strip('-')}-{token_hex(2)}"
            SharedFolder(folder, machine, words or new_words).open()
        with self._turn:
            kept = {"folder": str(folder), "machine": machine, "words": words or new_words}
            write_private(self.file, json.dumps(kept))
            self._sync, self._problem = None, ""
        self.start()
        return new_words

    def run(self) -> wire.SyncState:
        """Runs a round now. NotFoundError without a folder, NotAvailableError, InvalidInputError."""
        with self._turn:
            try:
                self._open().run(self.writer.write)
            except PalimpsestError as error:
                self._problem = str(error)
                raise
            self._problem = ""
        return self._read_state()

    def forget(self, machine: str) -> wire.SyncState:
        """Removes a computer. NotFoundError, InvalidInputError, NotAvailableError."""
        with self._turn:
            self.run()
            self._open().forget_machine(machine)
        return self._read_state()

    def allow(self, folder: str, is_allowed: bool) -> wire.SyncState:
        """Sets whether a folder's text is synchronised although its policy is local. NotFoundError."""
        allowed = set(self.memory.sources.synced_folders()) - {folder}
        folders = allowed | ({folder} if is_allowed else set())
        self.writer.write(lambda: self.memory.sources.set_synced_folders(sorted(folders)))
        return self._read_state()

    def words(self) -> str:
        """Returns the words of the key. NotFoundError without a folder."""
        return self._settings()["words"]

    def state(self) -> wire.SyncState | None:
        return self._read_state() if self.file.exists() else None

    def _read_state(self) -> wire.SyncState:
        """Returns the state. NotFoundError without a folder."""
        allowed = tuple(self.memory.sources.synced_folders())
        try:
            settings = self._settings()
        except NotAvailableError as error:
            return wire.SyncState("", "", problem=str(error), allowed=allowed)
        now = self._sync.state if self._sync else wire.SyncState(settings["folder"], settings["machine"])
        return replace(now, problem=self._problem, allowed=allowed)

    def _settings(self) -> dict[str, str]:
        if not self.file.exists():
            raise NotFoundError(NO_FOLDER)
        try:
            settings = json.loads(self.file.read_text("utf-8"))
            return {name: str(settings[name]) for name in ("folder", "machine", "words")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NotAvailableError(f"{self.file} is damaged. To write it again: pal sync init FOLDER") from error

    def _open(self) -> Sync:
        if self._sync is None:
            settings = self._settings()
            with self._needing_extra():
                from memory.sync.sync import Sync

                self._sync = Sync(self.memory, Path(settings["folder"]), settings["machine"], settings["words"])
        return self._sync

    @contextmanager
    def _needing_extra(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            raise NotAvailableError(f"That needs the extra sync: {install_command('sync')}") from error

    def _look(self) -> None:
        pause = LOOK_SECONDS
        while not self._wake.wait(pause) and not self._is_closing:
            pause, began = LOOK_SECONDS, time.monotonic()
            try:
                with self._turn:
                    if self._open().is_due:
                        self.run()
                        pause = max(LOOK_SECONDS, (time.monotonic() - began) / SHARE)
            except PalimpsestError as error:
                if str(error) != self._problem:
                    log.warning("not synchronised: %s", error)
                self._problem = str(error)
            except Exception as error:
                if not self._is_closing:  # its message may quote the memory
                    log.error("a round of synchronising failed: %s", type(error).__name__)
                    self._problem = "internal error; see the log."
