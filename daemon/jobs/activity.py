"""Events from working threads to listening clients.

Invariant: a worker never waits for a listener. A full channel drops its oldest events (activity stream) or is unbounded
(of one question, whose events are few).
"""

from __future__ import annotations

import asyncio
import collections
import re
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from daemon import wire
from memory import Memory
from memory.nouns import Fact
from memory.revisions import Revision

BACKLOG = 1000  # events that may wait for a listener
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
NEWS = 100  # changes that are published of one unit


class Channel:
    """A stream of events from any thread to one coroutine. Create it in the event loop that reads it."""

    def __init__(self, backlog: int | None = None) -> None:
        self._events: collections.deque[wire.Event] = collections.deque(maxlen=backlog)
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._ended = False
        self.abandoned = False  # the listener is gone; the worker may stop

    def put(self, event: wire.Event) -> None:
        """Adds an event. Never blocks; thread-safe."""
        self._events.append(event)
        self._wake()

    def end(self) -> None:
        """Ends the stream; thread-safe."""
        self._ended = True
        self._wake()

    async def events(self) -> AsyncGenerator[wire.Event]:
        """Yields all events until the end."""
        try:
            while True:
                while self._events:
                    yield self._events.popleft()
                if self._ended:
                    return
                self._changed.clear()
                if not self._events and not self._ended:
                    await self._changed.wait()
        finally:
            self.abandoned = True

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._changed.set)
        except RuntimeError:  # the loop is closed: the daemon is ending
            self.abandoned = True


class Activity:
    """Broadcasts the daemon's events to every listener."""

    def __init__(self) -> None:
        self._listeners: set[Channel] = set()
        self._lock = threading.Lock()

    def publish(self, event: wire.Event) -> None:
        """Sends an event. Never blocks; thread-safe."""
        with self._lock:
            listeners = list(self._listeners)
        for channel in listeners:
            channel.put(event)

    async def listen(self) -> AsyncGenerator[wire.Event]:
        """Yields the events from now on, until `close`."""
        channel = Channel(BACKLOG)
        with self._lock:
            self._listeners.add(channel)
        try:
            async for event in channel.events():
                yield event
        finally:
            with self._lock:
                self._listeners.discard(channel)

    def close(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for channel in listeners:
            channel.end()


class News:
    """Publishes replaced facts right after the write. Call `publish_new` in the writer's thread."""

    def __init__(self, memory: Memory, publish: Callable[[wire.Event], None]) -> None:
        self._memory = memory
        self._publish = publish
        self._generation = memory.store.generation
        self._newest = self._find_last()

    def publish_new(self) -> None:
        """Publishes a FactChanged for every revision since the last call, oldest first."""
        generation = self._memory.store.generation
        if generation == self._generation:
            return
        self._generation = generation
        if (newest := self._find_last()) > self._newest:
            fresh = {revision.id for revision in self._memory.knowledge.revisions("all", NEWS)}
            for id in sorted(id for id in fresh if id > self._newest):
                [seen] = quote_sentences(self._memory, [self._memory.knowledge.revision(id)])
                self._publish(wire.FactChanged(seen))
            self._newest = newest

    def _find_last(self) -> int:
        return max((revision.id for revision in self._memory.knowledge.revisions("all", 1)), default=0)


def quote_sentences(memory: Memory, listed: Sequence[Revision]) -> list[Revision]:
    """Extends the quotes of revisions to whole sentences, so that a person can judge them."""
    ids = {fact.episode_id for each in listed for fact in (each.old, each.new)}
    passages = {episode.id: episode for episode in memory.sources.episodes(sorted(ids))}

    def whole(fact: Fact) -> Fact:
        passage = passages.get(fact.episode_id)
        for match in re.finditer(re.escape(fact.quote), passage.text) if passage and fact.quote else ():
            if passage and passage.line_at(match.start()) == fact.line:
                start = max((end.end() for end in SENTENCE_END.finditer(passage.text, 0, match.start())), default=0)
                end = SENTENCE_END.search(passage.text, max(match.start(), match.end() - 1))
                return replace(fact, quote=passage.text[start : end.start() if end else None].strip())
        return fact

    return [replace(each, old=whole(each.old), new=whole(each.new)) for each in listed]
