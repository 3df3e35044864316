"""Which stage lost a change that was not found: each is looked for in what the stage before handed on.

extraction -> resolution -> candidates -> decision -> found
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.gold import Change, Pair, matches, same
from benchmarks.judge import contains
from memory.nouns import Fact

STAGES = ("extraction", "resolution", "candidates", "decision", "found")

Proposed = Mapping[tuple[int, int], str]
"""Pairs (old, new) of facts, by their ids, that were looked at, and what was decided of each."""

ENDED = "negates"  # in what was decided: the old fact ended, and nothing is known to have taken its place


@dataclass(frozen=True, slots=True)
class Told:
    """A relation that was told at any time, and the files that tell it."""

    fact: Fact
    paths: frozenset[str]

    @property
    def subject(self) -> str:
        return self.fact.objects[0]

    def __str__(self) -> str:
        """On a line, with how it was told and its validity; a thesis in its own words."""
        start, end = (at.date().isoformat() if at else "" for at in (self.fact.valid_from, self.fact.valid_to))
        predicate = self.fact.predicate
        said = self.fact.text if predicate is None else " - ".join((self.subject, predicate, *self.fact.objects[1:]))
        return f"{said} [{self.fact.modality}, {start}..{end}]"


class Loss(NamedTuple):
    """How far a change got, and what is to be seen there."""

    stage: str
    detail: str


def trace(change: Change, found: Iterable[Pair], told: Collection[Told], proposed: Proposed) -> Loss:
    """Follows a change through what was found, all relations that were ever told and the pairs that were looked at."""
    if any(matches(change, one) for one in found):
        return Loss("found", "")
    old = _telling(change.old, {change.old_path, change.new_path}, told)
    new = _telling(change.new, {change.new_path}, told)
    pairs = [(one, other) for one in old for other in new if one.fact.id != other.fact.id]
    if not pairs:
        lacking = [value for value, telling in ((change.old, old), (change.new, new)) if not telling]
        return Loss("extraction", f"nobody told {' and '.join(map(repr, lacking or [change.new]))}")
    for one, other in pairs:
        ids = (one.fact.id, other.fact.id)
        decided = proposed.get(ids) or proposed.get(ids[::-1])
        if decided:
            return Loss("decision", f"{decided}: {one} / {other}")
    for one in old:
        if any(pair[0] == one.fact.id and ENDED in decided for pair, decided in proposed.items()):
            return Loss("decision", f"ended, and nothing in its place: {one} / {new[0]}")
    akin = [(one, other) for one, other in pairs if one.subject == other.subject]
    if not akin:
        return Loss("resolution", " / ".join(map(str, pairs[0])))
    alike = max(akin, key=lambda pair: pair[0].fact.predicate == pair[1].fact.predicate)
    return Loss("candidates", " / ".join(map(str, alike)))


def nearest_rank(change: Change, told: Collection[Told], nearest: Mapping[int, Sequence[int]]) -> int | None:
    """At which place, from 1 on, the replaced fact stands among those that were nearest to the one which took its place
    (id -> ids) when that was read; 0 for none. None if nobody told both values."""
    old = {one.fact.id for one in _telling(change.old, {change.old_path, change.new_path}, told)}
    new = {one.fact.id for one in _telling(change.new, {change.new_path}, told)}
    if not any(one != other for one in old for other in new):
        return None
    places = (place for id in new for place, other in enumerate(nearest.get(id, ()), 1) if other in old)
    return min(places, default=0)


def _telling(value: str, paths: Collection[str], told: Iterable[Told]) -> list[Told]:
    """Relations that one of these files tells and of which the value is an end, or else a part."""
    here = [one for one in told if one.paths & set(paths)]
    ends = [one for one in here if any(same(value, end) for end in one.fact.objects)]
    return ends or [one for one in here if contains(one.fact.text, value)]


def table(losses: Sequence[Loss]) -> dict[str, int]:
    """How many changes each stage lost, and how many were found."""
    counts = Counter(loss.stage for loss in losses)
    return {stage: counts[stage] for stage in STAGES}


def rows(changes: Sequence[Change], losses: Sequence[Loss]) -> list[dict[str, Any]]:
    """What was not found, a row each."""
    return [
        {
            "about": change.about,
            "old": change.old,
            "new": change.new,
            "kind": change.kind,
            "date": change.date,
            "lost_by": loss.stage,
            "detail": loss.detail,
        }
        for change, loss in zip(changes, losses, strict=True)
        if loss.stage != "found"
    ]
