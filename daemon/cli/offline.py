"""What only reads, done in this process: for when the daemon cannot start, because the file is damaged or cannot be
written. Nothing is changed and nothing is kept; no language model is asked. Also how a memory is opened without it.

Imported only then: it takes the library, half a second, where a client takes none of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from daemon import wire
from daemon.api import find_function, questions
from daemon.calls import Call
from daemon.client.client import Client, DaemonDownError, Lines, Stream
from daemon.client.connection import Response
from daemon.config.settings import load
from daemon.jobs.embedder import open_memory
from daemon.lock import hold
from daemon.paths import Paths, name_backup
from memory import Memory
from memory.nouns import Answer
from plugins import manager
from plugins.installing import read_version


def open_stored(paths: Paths, **options: Any) -> Memory:
    """Opens the memory as a daemon would open it. NotAvailableError where its embedder is not installed; StoreError."""
    settings = load(paths.config)
    return open_memory(paths.memory, settings, manager.load(settings), **options)


class Offline(Client):
    """Makes the calls that read, of a memory that nobody else has open, with the functions of the daemon."""

    def __init__(self, paths: Paths) -> None:
        """Raises AlreadyRunningError, SettingsError, StoreError."""
        super().__init__(paths)
        self._open = ExitStack()
        with ExitStack() as opening:
            with suppress(OSError):  # a home that cannot be written: nobody else writes there, either
                opening.enter_context(hold(paths.lock))
            self._memory = opening.enter_context(open_stored(paths, read_only=True))
            self._open = opening.pop_all()

    def close(self) -> None:
        self._open.close()

    def make(self, call: Call, arguments: dict[str, Any]) -> Any:
        if not call.offline:
            raise DaemonDownError("This needs the daemon, which cannot start.")
        values = call.defaults | arguments
        match call.name:
            case "ask":
                return Stream(_Pieces(map(wire.event_line, self._answer(values))), call.ends)
            case "status":
                process = wire.DaemonProcess(read_version(), wire.PROTOCOL, os.getpid(), 0.0)
                return wire.Status(process, self._memory.browsing.stats(), wire.FileReading())
            case "backup":
                to = values["to"] or name_backup(self.paths.backups)
                return wire.BackedUp(str(to), self._memory.maintenance.backup(to.absolute()))
        function = find_function(call)
        result = function(SimpleNamespace(memory=self._memory) if call.to else self._memory, **values)
        return Lines(_Pieces(result)) if call.is_stream else result

    def _answer(self, values: dict[str, Any]) -> Iterator[wire.Event]:
        """Answers without storing anything, whoever asks."""
        began = time.monotonic()
        asked = {name: values[name] for name in ("question", "as_of", "effort", "replay", "strategy")}
        within = questions.checked_scope(self._memory, values["within"])
        for event in self._memory.questions.ask(**asked, within=within):
            yield replace(questions.end_question(event, began), note="") if isinstance(event, Answer) else event


class _Pieces(Response):
    """A reply that is made in this process, a line after the other."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._lines = (line for piece in pieces for line in piece.splitlines(keepends=True))

    def readline(self) -> bytes:
        return next(self._lines, b"")

    def close(self) -> None:
        self._lines.close()

    def interrupt(self) -> None:
        """Does nothing: nobody else reads it."""
