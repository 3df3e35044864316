"""What was asked of the memory in one chat, and what it said, with the times: lines of JSON, for a report of a fault.

    {"recording": 1, "protocol": 1}
    {"at": 0.3, "status": {...}}                                 what Status says
    {"at": 4.1, "ticket": 1, "asked": "When was it?"}
    {"at": 4.2, "ticket": 1, "event": {"type": "Chunk", ...}}    an event of that question, as the daemon sends it
    {"at": 9.0, "activity": {...}} or {"at": 9.0, "down": "..."}

A replay shows the questions and what was said to them at the same times, and asks no daemon.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from textual.message import Message
from textual.message_pump import MessagePump

from daemon import wire
from daemon.client import Client, DaemonDownError
from tui.inquiry import Inquiry
from tui.link import Connect, Link
from tui.messages import Activity, Disconnected, Replayed, SessionStarted, StatusChanged, StreamEvent

EDITION: Final = 1
MAX_PAUSE_SECONDS: Final = 2.0  # of a replay, however long nothing came
WAKE_SECONDS: Final = 0.1  # to see whether the chat was left
OWN_TICKETS: Final = 1_000_000  # from which on those count that are not the recording's
IN_REPLAY: Final = "This is a replay, and no memory is asked."


class RecordingError(Exception):
    """A recording cannot be written or read; the message is a sentence for the person."""


class RecordingLink(Link):
    """A link that also writes what is asked and what comes to a new file, which only this person can read."""

    def __init__(self, connect: Connect, target: MessagePump, path: Path) -> None:
        super().__init__(connect, target)
        try:
            self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii")
        except FileExistsError as error:
            raise RecordingError(f"{path} exists already. Choose another name.") from error
        except OSError as error:
            raise RecordingError(f"{path} cannot be written: {error.strerror}.") from error
        self._lock = threading.Lock()  # events come from several threads
        self._began = time.monotonic()
        self._write({"recording": EDITION, "protocol": wire.PROTOCOL})

    def ask(self, inquiry: Inquiry, conversation: int | None) -> int:
        """Asks, as any link does."""
        with self._lock:  # before its first event
            ticket = super().ask(inquiry, conversation)
            self._write({"at": self._at(), "ticket": ticket, "asked": inquiry.text})
        return ticket

    def close(self) -> None:
        """Ends every stream and the file."""
        super().close()
        with self._lock:
            self._file.close()

    def _post(self, message: Message) -> None:
        if not self._closing.is_set() and (line := _encode(message)) is not None:
            with self._lock:
                self._write({"at": self._at(), **line})
        super()._post(message)

    def _at(self) -> float:
        return round(time.monotonic() - self._began, 3)

    def _write(self, line: dict[str, Any]) -> None:
        if not self._file.closed:
            try:
                self._file.write(json.dumps(line) + "\n")
                self._file.flush()  # what was said last before a fault matters most
            except OSError:
                self._file.close()  # the disk is full: the chat goes on, the recording does not


class ReplayLink(Link):
    """A link that gives what a recording has, and asks no daemon for anything."""

    def __init__(self, target: MessagePump, recording: list[Recorded]) -> None:
        super().__init__(_refuse, target)
        self._recording = recording
        self._tickets = itertools.count(OWN_TICKETS)
        self._asked: deque[int] = deque()
        self._is_asked = threading.Event()

    def open(self) -> None:
        """Begins to replay."""
        self._thread(self._play)

    def ask(self, inquiry: Inquiry, conversation: int | None) -> int:
        """A question of the recording; one that a person asks meanwhile fails."""
        if not self._asked:
            return super().ask(inquiry, conversation)
        self._is_asked.set()
        return self._asked.popleft()

    def _play(self) -> None:
        now = 0.0
        for one in self._recording:
            if self._closing.wait(min(max(0.0, one.at - now), MAX_PAUSE_SECONDS)):
                return
            now = one.at
            if not isinstance(one.message, Replayed):
                self._post(one.message)
                continue
            self._is_asked.clear()
            self._asked.append(one.message.ticket)
            self._post(one.message)
            while not self._is_asked.wait(WAKE_SECONDS):  # the answer before may still be drawn
                if self._closing.is_set():
                    return


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of a recording: what came, so many seconds after its beginning."""

    at: float
    message: Message


def read_recording(path: Path) -> list[Recorded]:
    """The lines of a recording. Raises RecordingError."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise RecordingError(f"{path} cannot be read: {error}.") from error
    recorded = []
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            if number == 1:
                if data["recording"] != EDITION:
                    raise ValueError("it is of another version")
                continue
            recorded.append(Recorded(float(data["at"]), _decode(data)))
        except (ValueError, TypeError, KeyError) as error:
            raise RecordingError(f"{path} is no recording of a chat: line {number}: {error}.") from error
    return recorded


def _encode(message: Message) -> dict[str, Any] | None:
    match message:
        case StatusChanged(status=status, connected=connected):
            return {"status": wire.encode(status), "connected": connected}
        case SessionStarted(ticket=ticket, conversation=conversation):
            return {"ticket": ticket, "session": wire.encode(conversation)}
        case StreamEvent(ticket=ticket, event=event):
            return {"ticket": ticket, "event": wire.encode_event(event)}
        case Activity(event=event):
            return {"activity": wire.encode_event(event)}
        case Disconnected(reason=reason):
            return {"down": reason}
    return None


def _decode(data: dict[str, Any]) -> Message:
    makers: dict[str, Callable[[], Message]] = {
        "asked": lambda: Replayed(int(data["ticket"]), str(data["asked"])),
        "event": lambda: StreamEvent(int(data["ticket"]), wire.parse_event(json.dumps(data["event"]).encode())),
        "session": lambda: SessionStarted(int(data["ticket"]), wire.decode(wire.Conversation, data["session"])),
        "activity": lambda: Activity(wire.parse_event(json.dumps(data["activity"]).encode())),
        "status": lambda: StatusChanged(wire.decode(wire.Status, data["status"]), bool(data.get("connected"))),
        "down": lambda: Disconnected(str(data["down"])),
    }
    for name, make in makers.items():
        if name in data:
            return make()
    raise ValueError("nothing that is known stands in it")


def _refuse(start: bool) -> Client:
    raise DaemonDownError(IN_REPLAY)
