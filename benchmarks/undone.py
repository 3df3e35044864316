"""Can everything be taken back? A memory whose revisions are all undone, beside one in which nothing was revised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from memory import Memory
from memory.errors import PalimpsestError
from memory.nouns import Fact

MOST = 100_000  # revisions of a memory
EXAMPLES = 20

Key = tuple[str, str, str, str]
"""Subject, predicate, object and modality of a relation."""


@dataclass(frozen=True, slots=True)
class Undone:
    """`lost`: relations that are live where nothing was revised and are not after undoing; `closed`: those that end
    earlier, or are still replaced; `more`: those that are only there after undoing; `refused`: revisions that could not
    be undone."""

    revisions: int = 0
    facts: int = 0
    lost: int = 0
    closed: int = 0
    more: int = 0
    refused: int = 0
    examples: tuple[str, ...] = field(default=())

    def figures(self) -> dict[str, Any]:
        return asdict(self)


def take_back(memory: Memory) -> tuple[int, list[str]]:
    """Undo every revision that stands, the newest first; how many there were, and why some could not be undone."""
    standing = [one for one in memory.knowledge.revisions("all", limit=MOST) if one.state != "undone"]
    refused = []
    for one in sorted(standing, key=lambda one: one.id, reverse=True):
        try:
            memory.knowledge.undo(one.id)
        except PalimpsestError as error:
            refused.append(f"{one.relation}: {one.old.text} / {one.new.text}: {error}")
    return len(standing), refused


def compare(revised: Memory, untouched: Memory) -> Undone:
    """Take everything back in `revised` and hold it against `untouched`, which has learnt the same."""
    count, refused = take_back(revised)
    after, wanted = _standing(revised), _standing(untouched)
    lost = [key for key in wanted if key not in after]
    closed = [key for key in wanted if key in after and _shorter(after[key], wanted[key])]
    return Undone(
        count,
        len(wanted),
        len(lost),
        len(closed),
        sum(key not in wanted for key in after),
        len(refused),
        (*refused, *(" - ".join(key) for key in (*lost, *closed)))[:EXAMPLES],
    )


def _shorter(ends: set[float], wanted: set[float]) -> bool:
    return max(ends) < max(wanted)


def _standing(memory: Memory) -> Mapping[Key, set[float]]:
    """Until when each relation that is live and not replaced holds: seconds since 1970, or infinity."""
    with memory.store.reading() as conn:
        ids = [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'rel' ORDER BY id")]
    found: dict[Key, set[float]] = {}
    for fact in map(memory.knowledge.fact, ids):
        if fact.retired is None and fact.superseded_by is None:
            found.setdefault(_key(fact), set()).add(fact.valid_to.timestamp() if fact.valid_to else math.inf)
    return found


def _key(fact: Fact) -> Key:
    return fact.objects[0], fact.predicate or "", fact.objects[1], fact.modality
