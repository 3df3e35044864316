"""Writing by agents: notes within limits, under their names, undone together; and sessions with them.

An agent's note is its own statement (`memory.nouns.AGENT_NOTES`): its speaker is the agent, and a fact of it that would
replace another speaker's fact waits for the person. A note is named by the hash of its text, so the same note is kept
once.

A session is one chat with the name `note:session/CLIENT/SESSION`, kept once, however often it is captured. A longer
version of it extends that chat. A version without its earlier turns (only the last ones, or another session of the same
name) removes nothing: its new turns become a further part, `.../2`. A turn is identified by its speaker and text. Every
speaker except the person counts as the agent, and no facts are read from its words.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.api.services import Services, WriteLimiter
from daemon.api.sources import date_copies
from daemon.config.settings import CLIENT_NAME
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import AGENT_NOTES, Document, Source, Turn
from memory.views import Forgotten

DAY = timedelta(days=1)
SESSIONS = "note:session/"
PERSON = frozenset(("user", "human", "me", "you", "owner", "i"))  # as speakers
SESSION_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


def remember_for(services: Services, agent: str, text: str, title: str) -> wire.KeptNote:
    return write_note(services.memory, services.limiter, check_name(agent), text, title)


def agents(memory: Memory) -> tuple[wire.Agent, ...]:
    """By name."""
    with memory.one_moment():
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


def capture(memory: Memory, client: str, session: str, turns: Sequence[Turn], title: str | None) -> wire.Captured:
    return keep_session(memory, check_name(client), session, turns, title)


def write_note(memory: Memory, limiter: WriteLimiter, agent: str, text: str, title: str) -> wire.KeptNote:
    """Keeps an agent's note, within a unit of the writer. InvalidInputError, ConflictError."""
    limiter.check_size(text)
    title = " ".join(title.split())
    digest = hashlib.sha256(" ".join(f"{title}\n{text}".casefold().split()).encode("utf-8", "replace")).hexdigest()
    source, now = f"{_prefix(agent)}{digest[:16]}", datetime.now(UTC)
    if memory.sources.get(source) is not None:
        return wire.KeptNote(source, known=True)
    limiter.take(agent, len(_list_notes(memory, agent, now - DAY)))
    memory.remember(text, title or None, source, now, speaker=speaker_of(agent))
    return wire.KeptNote(source)


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


# Sessions -------------------------------------------------------------------------------------


def keep_session(
    memory: Memory, client: str, session: str, turns: Sequence[Turn], title: str | None = None
) -> wire.Captured:
    """Within a unit of the writer. InvalidInputError."""
    if not SESSION_NAME.fullmatch(session):
        raise InvalidInputError("A session's name has letters, digits, dots and dashes, 100 at most.")
    spoken = {turn.ref: turn for turn in _add_refs(memory, [turn for turn in turns if _has_words(turn)])}
    if not spoken:
        raise InvalidInputError("That session has no messages.")
    name = f"{SESSIONS}{client}/{session}"
    parts = {part: _list_refs(memory, part) for part in _list_parts(memory, name)}
    known = set[str | None]().union(*parts.values())
    new = [ref for ref in spoken if ref not in known]
    grown = max(
        (part for part, refs in parts.items() if refs <= spoken.keys()), key=lambda part: len(parts[part]), default=None
    )
    if not new:
        return wire.Captured(grown.uri if grown else name, len(spoken), 0)
    if grown is not None:  # what another part has already is not said twice
        elsewhere = known - parts[grown]
        new_turns = [turn for ref, turn in spoken.items() if ref not in elsewhere]
        uri, at = grown.uri, grown.at
    else:
        new_turns, at = [spoken[ref] for ref in new], None
        uri = name if not parts else f"{name}/{len(parts) + 1}"
    at = at or next((turn.at for turn in new_turns if turn.at is not None), None) or datetime.now(UTC)
    memory.remember_many(
        [Document(uri, turns=tuple(new_turns), title=title or None, kind="chat", at=at, conversation=title or session)]
    )
    return wire.Captured(uri, len(spoken), len(new))


def _list_parts(memory: Memory, name: str) -> list[Source]:
    return [part for part in memory.sources.list_under(name) if part.uri == name or part.uri.startswith(f"{name}/")]


def _list_refs(memory: Memory, part: Source) -> set[str | None]:
    view = memory.browsing.read_source(part.uri)
    return {ref for episode in memory.sources.episodes(view.passages) for ref in episode.refs}


def _add_refs(memory: Memory, turns: Sequence[Turn]) -> Iterator[Turn]:
    """The turns, each with who it is of and what it is known by: the second "yes" of somebody is another one."""
    times = Counter[str]()
    for turn in turns:
        speaker = "user" if turn.speaker.strip().casefold() in PERSON else "assistant"
        words = memory.secrets.mask(f"{speaker}\0{' '.join(turn.text.split())}")
        digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]
        times[digest] += 1
        yield replace(turn, speaker=speaker, ref=f"{digest}-{times[digest]}")


def _has_words(turn: Turn) -> bool:
    return any(char.isalnum() for char in turn.text)
