"""The chat's connection to the daemon: every call blocks, so every call has its own thread.

Results are posted as messages or awaited; the event loop never waits for the daemon. The threads
are daemon threads and not Textual workers, because Textual joins its workers at the end, and leaving the chat must not
wait for a daemon that does not answer.

    connecting -> up -> down -> up ...

The chat starts the daemon when it opens and on every request. While the daemon is down the chat only polls: it does not
restart a daemon that somebody stopped on purpose.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError, Stream
from daemon.terminal import title_of
from tui.session import Inquiry


@dataclass
class Disconnected(Message, bubble=False):
    """The daemon is down; `reason` is a sentence."""

    reason: str


@dataclass
class StatusChanged(Message, bubble=False):
    """The current state of the memory; with `connected` the first one after connecting."""

    status: wire.Status
    connected: bool = False


@dataclass
class Activity(Message, bubble=False):
    """One event of the daemon's activity stream."""

    event: wire.Event


@dataclass
class StreamEvent(Message, bubble=False):
    """One event of a question's stream, or of an ingestion's; the last one is an Answered, an Added or a Failed. The
    first may be the new session that the daemon stores for the question."""

    ticket: int
    event: wire.Event | wire.Conversation


T = TypeVar("T")

EFFORTS = {  # how far a question may go
    "quick": "a model answers once, from the first results",
    "normal": "a model may search again: at most 4 calls",
    "deep": "a model directs the search: 12 calls or more, minutes",
}
RETRY_SECONDS = 2.0
PROGRESS_SECONDS = 0.1  # an ingestion may report thousands of files a second; a person reads ten


Connect = Callable[[bool], Client]
"""`connect(start)` -> a client of a daemon that answers; with `start` it is started first. Raises DaemonDownError."""


class Link:
    """The connection of one chat. `target` gets the messages; `effort` applies to the next questions."""

    def __init__(self, connect: Connect, target: MessagePump) -> None:
        self._connect = connect
        self._target = target
        self._tickets = itertools.count(1)
        self._streams: dict[int, Stream] = {}
        self._cancelled: set[int] = set()
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._listening: Stream | None = None
        self.effort = "normal"

    def open(self) -> None:
        """Starts connecting and listening."""
        self._thread(self._listen)

    def close(self) -> None:
        """Ends every stream. No message is posted after this."""
        self._closing.set()
        self._wake.set()
        for stream in (self._listening, *self._streams.values()):
            if stream is not None:
                stream.close()

    def ask(self, inquiry: Inquiry, conversation: int | None) -> int:
        """Asks in a session, or a new one if None; StreamEvent messages with the returned ticket follow."""
        ticket = next(self._tickets)
        self._thread(lambda: self._relay(ticket, self._ask(ticket, inquiry, conversation)))
        return ticket

    def add(self, path: Path) -> int:
        """Reads a file or a folder once; StreamEvent messages with the returned ticket follow."""
        ticket = next(self._tickets)
        self._thread(lambda: self._relay(ticket, self._add(ticket, path)))
        return ticket

    def cancel(self, ticket: int) -> None:
        """Stops the messages of this ticket, and the daemon's work for it."""
        self._cancelled.add(ticket)
        if stream := self._streams.get(ticket):
            stream.close()

    async def call(self, method: Callable[[Client], T]) -> T:
        """Returns the result of one call, without blocking the event loop. Raises the client's errors."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def give(result: T | None, error: BaseException | None) -> None:
            if future.cancelled() or self._closing.is_set():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]

        def run() -> None:
            result, error = None, None
            try:
                result = method(self._get_client())
            except Exception as caught:  # carried over to the awaiting side, whatever it is
                error = caught
            with suppress(RuntimeError):  # the loop is closed: the chat has ended meanwhile
                loop.call_soon_threadsafe(give, result, error)

        self._thread(run)
        return await future

    async def sessions(self) -> tuple[wire.Conversation, ...]:
        """Returns the sessions with messages, newest first. A failed first question leaves an empty session."""
        stored = await self.call(lambda client: client.conversations())
        return tuple(session for session in stored if session.messages)

    def refresh_status(self) -> None:
        """Requests the memory's state; a StatusChanged message follows if the daemon answers."""

        def run() -> None:
            with suppress(DaemonError, DaemonDownError):
                self._post(StatusChanged(self._connect(False).status()))

        self._thread(run)

    # In threads ---------------------------------------------------------------------------------

    def _listen(self) -> None:
        start, why_not = True, ""
        while not self._closing.is_set():
            self._wake.clear()
            try:
                client = self._connect(start)
                self._listening = client.activity()
                self._post(StatusChanged(client.status(), connected=True))
                why_not = ""
                for event in _limit_rate(self._listening):
                    self._post(Activity(event))
                reason = "The memory daemon is not running."
            except (DaemonDownError, DaemonError) as error:
                why_not = str(error) if start else why_not  # a failed start is not repeated, and its reason stays shown
                reason = why_not or str(error)
            except Exception as error:  # otherwise the chat would try to connect for ever
                reason = f"The chat failed: {type(error).__name__}: {error}. Please report this."
            self._listening = None
            self._post(Disconnected(reason))
            start = False
            self._wake.wait(RETRY_SECONDS)

    def _ask(self, ticket: int, inquiry: Inquiry, conversation: int | None) -> Iterator[StreamEvent]:
        client = self._get_client()
        if conversation is None:
            started = client.new_conversation(title_of(inquiry.words))
            conversation = started.id
            yield StreamEvent(ticket, started)
        stream = client.ask(
            inquiry.text,
            as_of=inquiry.as_of,
            within=inquiry.within,
            conversation=conversation,
            effort=self.effort,
            own_words=True,
        )
        for event in self._register_stream(ticket, stream):
            yield StreamEvent(ticket, event)

    def _add(self, ticket: int, path: Path) -> Iterator[StreamEvent]:
        for event in _limit_rate(self._register_stream(ticket, self._get_client().add([path]))):
            yield StreamEvent(ticket, event)

    def _register_stream(self, ticket: int, stream: Stream) -> Stream:
        self._streams[ticket] = stream
        if ticket in self._cancelled:
            stream.close()
        return stream

    def _relay(self, ticket: int, messages: Iterator[StreamEvent]) -> None:
        failed = None
        try:
            for message in messages:
                if ticket in self._cancelled and not isinstance(message.event, wire.Conversation):
                    break
                self._post(message)
        except DaemonError as error:
            failed = error.failed
        except DaemonDownError as error:
            failed = wire.Failed("down", str(error))
        except Exception as error:  # a thread has nobody above it: the person must hear of it all the same
            failed = wire.Failed("chat", f"The chat failed: {type(error).__name__}: {error}.", "Please report this.")
        finally:
            self._streams.pop(ticket, None)
        if failed is not None and ticket not in self._cancelled:
            self._post(StreamEvent(ticket, failed))

    def _get_client(self) -> Client:
        client = self._connect(True)
        self._wake.set()  # it is back: listen again at once
        return client

    def _thread(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True, name="palimpsest-chat").start()

    def _post(self, message: Message) -> None:
        if not self._closing.is_set():
            self._target.post_message(message)


def _limit_rate(events: Stream) -> Iterator[wire.Event]:
    """Yields the events, with progress limited to a readable rate; the last one of an ingestion always comes."""
    shown_at = 0.0
    for event in events:
        if isinstance(event, wire.Progress) and event.done < event.total:
            now = time.monotonic()
            if now - shown_at < PROGRESS_SECONDS:
                continue
            shown_at = now
        yield event
