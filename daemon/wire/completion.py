"""What a half-typed name or tag may become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamesReply:
    """GET /names?begin=&limit=: names of people, places and things that begin so, the shortest first."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StrategiesReply:
    """GET /strategies: the ways to walk the graph, each with a sentence that says what it does."""

    strategies: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, with how many sources carry it."""

    name: str
    sources: int


@dataclass(frozen=True, slots=True)
class TagsReply:
    """GET /tags, the most used first."""

    tags: tuple[Tag, ...]
