"""The memory's nouns as the wire's dataclasses, and the other way round."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from daemon import wire
from memory.errors import InvalidInputError
from memory.nouns import (
    Answer,
    AskEvent,
    Citation,
    Effort,
    Episode,
    Forgotten,
    Hit,
    Policy,
    Recall,
    Scope,
    Step,
    Token,
    Visit,
)
from memory.time.timestamps import from_ms

if TYPE_CHECKING:
    from memory.services.conversations import ChatMessage, Conversation
    from memory.services.sources import Listed


def now_ms() -> int:
    """The store's time: milliseconds UTC."""
    return time.time_ns() // 1_000_000


def moment(ms: int) -> str:
    """The store's time as the wire writes it."""
    return from_ms(ms).isoformat()


def parsed_moment(text: str | None, name: str, *, end: bool = True) -> datetime | None:
    """An ISO 8601 time; without an offset it is local time, and a day alone is its `end`, or else its beginning.

    Raises InvalidInputError.
    """
    if text is None:
        return None
    try:
        value = datetime.fromisoformat(text)
        if len(text) <= 10 and end:
            value = value.replace(hour=23, minute=59, second=59, microsecond=999999)
        return value if value.tzinfo else value.astimezone()
    except (ValueError, OverflowError) as error:  # the year 1 has no other zone's time
        raise InvalidInputError(
            f"{name} is no time: {text[:40]!r}. Write 2025-05-03 or 2025-05-03T14:00+02:00."
        ) from error


def policy(name: str | None) -> Policy | None:
    """Raises InvalidInputError."""
    if name is not None and name not in get_args(Policy):
        raise InvalidInputError(f"policy is {name[:40]!r}. Write local or any.")
    return cast(Policy | None, name)


def effort(name: str) -> Effort:
    """Raises InvalidInputError."""
    if name not in get_args(Effort):
        raise InvalidInputError(f"effort is {name[:40]!r}. Write quick, normal or deep.")
    return cast(Effort, name)


def scope(within: wire.Within) -> Scope | None:
    """None for no limit."""
    if within == wire.Within():
        return None
    return Scope(
        sources=within.sources,
        folders=within.folders,
        tags=within.tags,
        conversation=within.conversation,
        since=parsed_moment(within.since, "since", end=False),
        until=parsed_moment(within.until, "until"),
    )


def passage(episode: Episode) -> wire.Passage:
    return wire.Passage(
        episode_id=episode.id,
        uri=episode.source.uri,
        kind=episode.source.kind,
        title=episode.title,
        text=episode.text,
        at=iso(episode.at),
        speaker=episode.speaker,
        line=episode.line,
        end_line=episode.end_line,
        refs=episode.refs,
    )


def recall_reply(found: Recall, ms: float) -> wire.RecallReply:
    return wire.RecallReply(tuple(map(_found, found.hits)), ms, tuple(map(stage, found.trace.steps)))


def source_row(listed: Listed) -> wire.SourceRow:
    source = listed.source
    return wire.SourceRow(source.uri, source.kind, source.title, listed.episodes, iso(source.at), source.policy)


def conversation(row: Conversation) -> wire.Conversation:
    return wire.Conversation(row.id, row.title, moment(row.created), moment(row.updated), row.messages)


def message(row: ChatMessage) -> wire.Message:
    return wire.Message(
        id=row.id,
        role=row.role,
        text=row.text,
        at=moment(row.at),
        state=row.state,
        citations=tuple(map(citation, row.citations)),
        no_answer=row.no_answer,
        trace_id=row.trace_id,
        verdict=row.verdict,
    )


def forget_reply(gone: Forgotten, copies: Iterable[Path]) -> wire.Forgotten:
    """`copies` still hold it."""
    held = []
    for path in copies:
        with suppress(FileNotFoundError):
            held.append(wire.Copy(str(path), moment(int(path.stat().st_mtime * 1000))))
    return wire.Forgotten(gone.sources, gone.episodes, gone.objects, gone.facts, tuple(held))


def citation(citation: Citation) -> wire.Cited:
    return wire.Cited(
        n=citation.n,
        label=citation.label,
        uri=citation.uri,
        title=citation.title,
        quote=citation.quote,
        passage=citation.passage,
        episode_id=citation.episode_id,
        line=citation.line,
        end_line=citation.end_line,
        at=iso(citation.at),
        speaker=citation.speaker,
        earlier=citation.earlier,
    )


def event(of: AskEvent) -> wire.Stage | wire.Visited | wire.Chunk | wire.Cited | wire.Answered:
    """An event of `ask`; the Answered still lacks its conversation and its time."""
    match of:
        case Step():
            return stage(of)
        case Visit():
            return visit(of)
        case Token():
            return wire.Chunk(of.text)
        case Citation():
            return citation(of)
        case Answer():
            return wire.Answered(
                text=of.text,
                citations=tuple(map(citation, of.citations)),
                no_answer=of.no_answer,
                missing=of.missing,
                confidence=float(of.confidence),
                trace_id=of.trace_id,
                model=of.model,
                note=of.note,
            )


def visit(visit: Visit) -> wire.Visited:
    return wire.Visited(visit.node_id, visit.kind, visit.label, float(visit.score), visit.stage, visit.status)


def _found(hit: Hit) -> wire.Found:
    return wire.Found(
        passage(hit.episode), float(hit.score), {name: float(score) for name, score in hit.channels.items()}
    )


def stage(step: Step) -> wire.Stage:
    return wire.Stage(step.name, round(step.ms, 3), {str(key): _plain(value) for key, value in step.detail.items()})


def _plain(value: Any) -> Any:
    """Whatever a stage noted, as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(held) for held in value]
    if isinstance(value, datetime):
        return value.isoformat()
    item = getattr(value, "item", None)  # a number of numpy's
    return item() if callable(item) else str(value)


def iso(when: datetime | None) -> str | None:
    """A time as the wire writes it."""
    return when.isoformat() if when else None
