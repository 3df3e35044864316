"""The memory's nouns as clients get them, where these are not the nouns themselves."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import cast, get_args

from daemon import wire
from memory.errors import InvalidInputError
from memory.nouns import Effort, Episode, Forgotten, Hit, Policy, Recall
from memory.time.timestamps import from_ms


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


def passage(episode: Episode) -> wire.Passage:
    return wire.Passage(
        episode_id=episode.id,
        uri=episode.source.uri,
        kind=episode.source.kind,
        title=episode.title,
        text=episode.text,
        at=episode.at,
        speaker=episode.speaker,
        line=episode.line,
        end_line=episode.end_line,
        refs=episode.refs,
    )


def recall_reply(found: Recall, ms: float) -> wire.RecallReply:
    return wire.RecallReply(tuple(map(_found, found.hits)), ms, found.trace.steps)


def forget_reply(gone: Forgotten, copies: Iterable[Path]) -> wire.Forgotten:
    """`copies` still hold it."""
    held = []
    for path in copies:
        with suppress(FileNotFoundError):
            held.append(wire.Copy(str(path), from_ms(int(path.stat().st_mtime * 1000))))
    return wire.Forgotten(gone.sources, gone.episodes, gone.objects, gone.facts, tuple(held))


def _found(hit: Hit) -> wire.Found:
    return wire.Found(
        passage(hit.episode), float(hit.score), {name: float(score) for name, score in hit.channels.items()}
    )
