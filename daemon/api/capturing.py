"""Sessions with agents that are handed over as what was said: kept once, however often they come.

A session is one chat under its name, `note:session/CLIENT/SESSION`. What comes again with more behind it is that chat,
grown. What comes without all that was there (only the last turns, or another session of the same name) takes nothing
away: its new turns are a further part, `.../2`. A turn is known by who said what. Who is not the person is the agent,
whatever it is called: its words are no facts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from daemon import wire
from daemon.api.agents import check_name
from daemon.api.routing import Api
from daemon.api.services import Services
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import Document, Source, Turn

SESSIONS = "note:session/"
PERSON = frozenset(("user", "human", "me", "you", "owner", "i"))  # as speakers
SESSION_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


def routes(api: Api, services: Services) -> None:
    @api.post("/capture")
    async def capture(
        client: str, session: str, turns: tuple[wire.Turn, ...], title: str | None = None
    ) -> wire.Captured:
        keep = partial(keep_session, services.memory, check_name(client), session, turns, title)
        return await services.write(keep)


def keep_session(
    memory: Memory, client: str, session: str, turns: Sequence[Turn], title: str | None = None
) -> wire.Captured:
    """Keeps what is new of a session, within a unit of the writer. InvalidInputError."""
    if not SESSION_NAME.fullmatch(session):
        raise InvalidInputError("A session's name has letters, digits, dots and dashes, 100 at most.")
    spoken = {turn.ref: turn for turn in _with_refs(memory, [turn for turn in turns if _has_words(turn)])}
    if not spoken:
        raise InvalidInputError("Nobody says anything in that session.")
    name = f"{SESSIONS}{client}/{session}"
    parts = {part: _refs(memory, part) for part in _parts(memory, name)}
    known = set[str | None]().union(*parts.values())
    new = [ref for ref in spoken if ref not in known]
    grown = max(
        (part for part, refs in parts.items() if refs <= spoken.keys()), key=lambda one: len(parts[one]), default=None
    )
    if not new:
        return wire.Captured(grown.uri if grown else name, len(spoken), 0)
    if grown is not None:  # what another part has already is not said twice
        elsewhere = known - parts[grown]
        said = [turn for ref, turn in spoken.items() if ref not in elsewhere]
        uri, at = grown.uri, grown.at
    else:
        said, at = [spoken[ref] for ref in new], None
        uri = name if not parts else f"{name}/{len(parts) + 1}"
    at = at or next((turn.at for turn in said if turn.at is not None), None) or datetime.now(UTC)
    memory.remember_many(
        [Document(uri, turns=tuple(said), title=title or None, kind="chat", at=at, conversation=title or session)]
    )
    return wire.Captured(uri, len(spoken), len(new))


def _parts(memory: Memory, name: str) -> list[Source]:
    return [one for one in memory.sources.list_under(name) if one.uri == name or one.uri.startswith(f"{name}/")]


def _refs(memory: Memory, part: Source) -> set[str | None]:
    found = memory.browsing.read_source(part.uri)
    return {ref for episode in memory.sources.episodes(found.passages) for ref in episode.refs}


def _with_refs(memory: Memory, turns: Sequence[Turn]) -> Iterator[Turn]:
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
