"""Scope: which episodes a question may see. Every stage gets the result and none can widen it."""

from datetime import datetime

import numpy as np

from memory.graph.arrays import NO_END, NO_TIME, Bools, Floats, Graph
from memory.graph.walk import Moment
from memory.nouns import Scope
from memory.retrieval.state import QuestionState, Retrieval
from memory.stages import ScopeNote
from memory.store import calendars, episodes
from memory.store.connect import Connection
from memory.time.expressions import TimeExpression
from memory.time.timestamps import to_wall

DAY_MS = 86_400_000
SOON_MS = 7 * DAY_MS  # events are recorded within a week, or within the length of the time in question
_LATEST_MS = np.iinfo(np.int64).max
MENTIONED_WEIGHT = 0.5  # of an episode written at another time but about the one in question
OUTSIDE_WEIGHT = 0.1  # and one that has nothing to do with it


def limit_scope(retrieval: Retrieval) -> ScopeNote:
    """Stage: the episodes that the question may see, and those of the time it refers to."""
    conn, graph, question = retrieval.conn, retrieval.graph, retrieval.question
    may_see = visible_episodes(conn, graph, question.as_of, question.within)
    if question.as_of is None and (outdated := retrieval.snapshot.entry_versions(conn).outdated):
        may_see &= ~np.isin(graph.episode_ids, sorted(outdated))
    retrieval.allowed = may_see
    when = question.when if retrieval.settings.time_cues else None
    if question.as_of is not None and when is not None and when.kind == "as_of":
        when = None  # whoever asks as of a time means that one
    retrieval.when = retrieval.spoken_of = when
    retrieval.seen, retrieval.time_weights = limit_to_time(conn, graph, may_see, when, not question.topic)
    return ScopeNote(int(retrieval.seen.sum()))


def fact_time(question: QuestionState, when: TimeExpression | None) -> Moment:
    """Returns the time at which facts must be valid: the one in question, by default now. Includes facts that begin
    later."""
    if question.as_of is not None:
        then = to_wall(question.as_of)
    elif when is not None and when.kind == "as_of" and when.until is not None:
        then = to_wall(when.until) - 1
    else:
        return Moment(NO_END, to_wall(question.asked_on))
    return Moment(then, then)


def asked_time_ms(question: QuestionState, when: TimeExpression | None) -> int:
    """Returns the time whose facts a question is about: the one it names, or the middle of a span."""
    since, until = (when.since, when.until) if when is not None else (None, None)
    if since is not None and until is not None:
        return (to_wall(since) + to_wall(until)) // 2
    if when is not None and when.kind == "as_of" and until is not None:
        return to_wall(until) - 1
    return to_wall(question.as_of or question.asked_on)


def visible_episodes(conn: Connection, graph: Graph, as_of: datetime | None, within: Scope | None) -> Bools:
    """(n,) alive, written by `as_of`, and in scope. An episode without a time always counts as in time."""
    mask = graph.alive.copy()
    if as_of is not None:
        mask &= graph.event_from <= to_wall(as_of)
    if within is not None and within != Scope():
        mask &= np.isin(graph.episode_ids, episodes.find_in_scope(conn, within))
    return mask


def limit_to_time(
    conn: Connection, graph: Graph, allowed: Bools, when: TimeExpression | None, only: bool
) -> tuple[Bools, Floats | None]:
    """Returns which `allowed` episodes (n,) belong to the time of a question, all if there are no such episodes; and
    the weight (n,) of each, None if equal. `as_of`: episodes written before the end of that time, and, with less
    weight, those that name it. `range`: episodes written in it come first, then those that name it or were written soon
    after, and last all others, which may contain another part of the answer. `only`, for a question about that time as
    a whole, drops episodes neither written in it nor naming it."""
    if when is None or when.kind == "now":
        return allowed, None
    written = graph.event_from
    since = NO_TIME + 1 if when.since is None else to_wall(when.since)  # what has no time is in no range
    until = _LATEST_MS if when.until is None else to_wall(when.until)
    inside = allowed & (written < until)
    aside = np.zeros_like(allowed)
    if when.kind == "range":
        inside &= written >= since
        if when.since is not None and when.until is not None and not only:
            aside |= allowed & (written >= until) & (written < until + max(SOON_MS, until - since))
    if when.since is not None and when.until is not None:
        naming = calendars.find_on_days(conn, when.since.date(), when.until.date())
        aside |= allowed & ~inside & np.isin(graph.episode_ids, naming)
    if not (inside | aside).any():
        return allowed, None
    weight = np.select([inside, aside], [1, MENTIONED_WEIGHT], OUTSIDE_WEIGHT).astype(np.float32)
    return (inside | aside if only or when.kind == "as_of" else allowed), weight
