"""Writing by agents: notes within limits, under their names, undone together.

An agent's note is its own statement (`memory.nouns.AGENT_NOTES`): its speaker is the agent, and a fact of it that would
replace another speaker's fact waits for the person. A note is named by the hash of its text, so the same note is kept
once.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.api.services import Services
from daemon.api.sources import date_copies
from daemon.config.settings import CLIENT_NAME
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import AGENT_NOTES, Source
from memory.views import Forgotten

DAY = timedelta(days=1)


def remember_for(services: Services, agent: str, text: str, title: str) -> wire.KeptNote:
    """ConflictError above a limit."""
    memory, limiter = services.memory, services.limiter
    limiter.check_size(text)
    title = " ".join(title.split())
    digest = hashlib.sha256(" ".join(f"{title}\n{text}".casefold().split()).encode("utf-8", "replace")).hexdigest()
    source, now = f"{_prefix(check_name(agent))}{digest[:16]}", datetime.now(UTC)
    if memory.sources.get(source) is not None:
        return wire.KeptNote(source, known=True)
    limiter.take(agent, len(_list_notes(memory, agent, now - DAY)))
    memory.ingest.remember(text, title or None, source, now, speaker=speaker_of(agent))
    return wire.KeptNote(source)


def agents(memory: Memory) -> tuple[wire.Agent, ...]:
    """By name."""
    with memory.store.reading():
        verdicts = memory.questions.count_verdicts_of_agents()
        notes: dict[str, list[Source]] = defaultdict(list)
        for source in memory.sources.list_under(AGENT_NOTES):
            notes[source.uri.removeprefix(AGENT_NOTES).partition("/")[0]].append(source)
    return tuple(
        wire.Agent(
            name,
            len(notes.get(name, ())),
            max((source.at for source in notes.get(name, ()) if source.at), default=None),
            verdicts.get(name, 0),
        )
        for name in sorted({*notes, *verdicts})
    )


async def undo_agent(services: Services, agent: str, since: datetime | None) -> wire.AgentUndone:
    undone = await services.write(partial(_undo, services.memory, services.backups, check_name(agent), since))
    services.erasing.watch(undone.forgotten)
    return undone


def _undo(memory: Memory, backups: Path, agent: str, since: datetime | None) -> wire.AgentUndone:
    """The writer's unit."""
    uris = [source.uri for source in _list_notes(memory, agent, since)]
    verdicts = memory.questions.take_back_verdicts(agent, since)
    if not uris:
        return wire.AgentUndone(Forgotten(), 0, verdicts)
    copies = date_copies(memory.maintenance.copies_with(backups, uris))
    gone = memory.forgetting.forget_sources(uris)
    return wire.AgentUndone(replace(gone, copies=copies), len(uris), verdicts)


def speaker_of(agent: str) -> str:
    """The speaker of an agent's note: a name that no owner or person can have."""
    return f"{agent} (agent)"


def _list_notes(memory: Memory, agent: str, since: datetime | None) -> list[Source]:
    """Its notes, or those since a time."""
    notes = memory.sources.list_under(_prefix(agent))
    return [note for note in notes if since is None or (note.at is not None and note.at >= since)]


def _prefix(agent: str) -> str:
    return f"{AGENT_NOTES}{agent}/"


def check_name(agent: str) -> str:
    """The name of an agent. InvalidInputError for an invalid name."""
    if not CLIENT_NAME.fullmatch(agent):
        raise InvalidInputError("An agent's name has small letters, digits and dashes, 40 at most.")
    return agent
