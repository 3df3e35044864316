"""What agents write: within limits, under their own name, and all of it to be taken back at once.

An agent's note is its own word (`memory.nouns.AGENT_NOTES`): its speaker is the agent, and what it says in place of
what somebody else told waits for the person. A note is named by its words, so that the same note again is the same one.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.api.documents import date_copies
from daemon.api.routing import Api
from daemon.api.services import Services
from daemon.failures import ConflictError
from daemon.settings import CLIENT_NAME, McpSettings
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import AGENT_NOTES, Forgotten, Source

MAX_TITLE_CHARS = 200
DAY = timedelta(days=1)


def routes(api: Api, services: Services) -> None:
    memory, limiter = services.memory, WriteLimiter(services.settings.mcp)

    @api.post("/agents/remember")
    async def remember(agent: str, text: str, title: str = "") -> wire.KeptNote:
        return await services.write(partial(write_note, memory, limiter, check_name(agent), text, title))

    @api.get("/agents")
    async def listed() -> wire.AgentsReply:
        return await services.work(partial(list_agents, memory))

    @api.post("/agents/undo")
    async def undo(agent: str, since: datetime | None = None) -> wire.AgentUndone:
        taken = await services.write(partial(take_back, memory, services.backups, check_name(agent), since))
        services.erasing.watch(taken.forgotten)
        return taken


class WriteLimiter:
    """How much an agent may write: of a note, in a minute, within a day. What it wrote within a day the memory knows,
    so that neither a new daemon nor many processes of one agent change that."""

    def __init__(self, settings: McpSettings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._now = now
        self._lock = threading.Lock()
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def check_size(self, text: str) -> None:
        """InvalidInputError for a note that is too long."""
        kilobytes = self._settings.note_kb
        if len(text.encode("utf-8", "replace")) > 1000 * kilobytes:
            raise InvalidInputError(
                f"A note may have {kilobytes} kB. Write down what is worth keeping, in fewer words."
            )

    def take(self, agent: str, today: int) -> None:
        """Counts a note of an agent that has written so many `today`. ConflictError for one too many."""
        limits = self._settings
        if today >= limits.notes_per_day:
            raise ConflictError(
                f"{agent} has written {today} notes within 24 hours, which is all it may. The person can allow more: "
                f"pal config set mcp.notes_per_day {2 * limits.notes_per_day}"
            )
        with self._lock:
            times, now = self._times[agent], self._now()
            while times and now - times[0] >= 60:
                times.popleft()
            if len(times) >= limits.notes_per_minute:
                wait = 60 - (now - times[0])
                raise ConflictError(f"{agent} may write {limits.notes_per_minute} notes a minute: wait {wait:.0f} s.")
            times.append(now)


def write_note(memory: Memory, limiter: WriteLimiter, agent: str, text: str, title: str) -> wire.KeptNote:
    """Keeps an agent's note, within a unit of the writer. InvalidInputError, ConflictError."""
    limiter.check_size(text)
    title = " ".join(title.split())[:MAX_TITLE_CHARS]
    digest = hashlib.sha256(" ".join(f"{title}\n{text}".casefold().split()).encode("utf-8", "replace")).hexdigest()
    source, now = f"{_prefix(agent)}{digest[:16]}", datetime.now(UTC)
    if memory.sources.get(source) is not None:
        return wire.KeptNote(source, known=True)
    limiter.take(agent, len(_notes(memory, agent, now - DAY)))
    memory.remember(text, title or None, source, now, speaker=speaker_of(agent))
    return wire.KeptNote(source)


def list_agents(memory: Memory) -> wire.AgentsReply:
    """Those that wrote or judged anything, by name."""
    with memory.one_moment():
        verdicts = memory.questions.count_verdicts_of_agents()
        notes: dict[str, list[Source]] = defaultdict(list)
        for source in memory.sources.list_under(AGENT_NOTES):
            notes[source.uri.removeprefix(AGENT_NOTES).partition("/")[0]].append(source)
    return wire.AgentsReply(
        tuple(
            wire.Agent(
                name,
                len(notes.get(name, ())),
                max((source.at for source in notes.get(name, ()) if source.at), default=None),
                verdicts.get(name, 0),
            )
            for name in sorted({*notes, *verdicts})
        )
    )


def take_back(memory: Memory, backups: Path, agent: str, since: datetime | None) -> wire.AgentUndone:
    """Forgets the notes of an agent, all of them or those since a time, and takes back what it said of answers; within
    a unit of the writer."""
    uris = [source.uri for source in _notes(memory, agent, since)]
    verdicts = memory.questions.take_back_verdicts(agent, since)
    if not uris:
        return wire.AgentUndone(Forgotten(), 0, verdicts)
    copies = date_copies(memory.maintenance.copies_with(backups, uris))
    gone = memory.ingest.forget_sources(uris)
    return wire.AgentUndone(replace(gone, copies=copies), len(uris), verdicts)


def speaker_of(agent: str) -> str:
    """Who says what stands in an agent's note: nobody whom an owner or a person could be called after."""
    return f"{agent} (agent)"


def _notes(memory: Memory, agent: str, since: datetime | None) -> list[Source]:
    """Its notes, or those since a time."""
    notes = memory.sources.list_under(_prefix(agent))
    return [one for one in notes if since is None or (one.at is not None and one.at >= since)]


def _prefix(agent: str) -> str:
    return f"{AGENT_NOTES}{agent}/"


def check_name(agent: str) -> str:
    """The name of an agent. InvalidInputError for what is none."""
    if not CLIENT_NAME.fullmatch(agent):
        raise InvalidInputError("An agent's name has small letters, digits and dashes, 40 at most.")
    return agent
