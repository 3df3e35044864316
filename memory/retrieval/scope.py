"""Scope: which episodes a question may see at all. Every stage gets the result and none can widen it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory.errors import InvalidInputError
from memory.graph.arrays import NO_TIME, Bools, Floats, Graph
from memory.nouns import Scope
from memory.store import episodes, text
from memory.store.connect import Connection
from memory.time.expressions import TimeExpression
from memory.time.timestamps import to_ms

DAY = 86_400_000  # ms
SOON = 7 * DAY  # what happened is told within a week, or within as long again as the time asked of
_END = np.iinfo(np.int64).max
ASIDE = 0.5  # what an episode counts for that was written at another time but tells of the one asked of
OUTSIDE = 0.1  # and one that has nothing to do with it


def checked(as_of: datetime | None, within: Scope | None, now: datetime | None) -> None:
    """Raises InvalidInputError for a time without a zone, and for a range that ends before it begins."""
    to_ms(as_of), to_ms(now)
    if within is not None:
        since, until = to_ms(within.since), to_ms(within.until)
        if since is not None and until is not None and since > until:
            raise InvalidInputError("The time range ends before it begins. Exchange its two ends.")


def allowed(conn: Connection, graph: Graph, as_of: datetime | None, within: Scope | None) -> Bools:
    """(n,) alive, written by `as_of`, and within the scope. An episode without a time is always in time."""
    mask = graph.alive.copy()
    if as_of is not None:
        mask &= graph.event_from <= to_ms(as_of)
    if within is not None and within != Scope():
        mask &= np.isin(graph.episode_ids, episodes.within(conn, within))
    return mask


@dataclass(frozen=True, slots=True)
class View:
    """What a question looks at, of what it may see: `seen` (n,), and the `weight` (n,) of each; None: all are alike."""

    seen: Bools
    weight: Floats | None = None


def view(conn: Connection, graph: Graph, allowed: Bools, when: TimeExpression | None, only: bool) -> View:
    """What of the `allowed` episodes belongs to the time a question speaks of; all of them if none does.

    `as_of`: what was written before the end of that time, and for less what names the time, whenever it was written.
    `range`: what was written in it comes first, then what names it or was written soon after, and far behind all the
    rest, which may hold another part of the answer; `only`, for a question about that time as a whole, leaves out what
    neither was written in it nor names it.
    """
    if when is None or when.kind == "now":
        return View(allowed)
    told = graph.event_from
    since = NO_TIME + 1 if when.since is None else to_ms(when.since)  # what has no time is in no range
    until = _END if when.until is None else to_ms(when.until)
    inside = allowed & (told < until)
    aside = np.zeros_like(allowed)
    if when.kind == "range":
        inside &= told >= since
        if when.since is not None and when.until is not None and not only:
            aside |= allowed & (told >= until) & (told < until + max(SOON, until - since))
    if when.since is not None and when.until is not None:
        naming = text.naming_dates(conn, when.since.date(), when.until.date())
        aside |= allowed & ~inside & np.isin(graph.episode_ids, naming)
    if not (inside | aside).any():
        return View(allowed)
    weight = np.select([inside, aside], [1, ASIDE], OUTSIDE).astype(np.float32)
    return View(inside | aside if only or when.kind == "as_of" else allowed, weight)
