"""What a half-typed name or tag may become."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamesReply:
    """GET /names?begin=&limit=: names of people, places and things that begin so, the shortest first."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, with how many sources carry it."""

    name: str
    sources: int


@dataclass(frozen=True, slots=True)
class TagsReply:
    """GET /tags, the most used first."""

    tags: tuple[Tag, ...]
