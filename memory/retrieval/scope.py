"""Scope: which episodes a question may see at all. Every stage gets the result and none can widen it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np

from memory.graph.adjacency import Moment
from memory.graph.arrays import NO_END, NO_TIME, Bools, Graph
from memory.nouns import Scope
from memory.retrieval.analyse import time_note, without_anchor
from memory.retrieval.anchors import resolve_anchor
from memory.retrieval.state import QuestionState, Retrieval, View
from memory.stages import ScopeNote, TimeNote
from memory.store import episodes, text
from memory.store.connect import Connection
from memory.time.expressions import TimeExpression
from memory.time.timestamps import to_ms

DAY_MS = 86_400_000
SOON_MS = 7 * DAY_MS  # what happened is told within a week, or within as long again as the time asked of
_LATEST_MS = np.iinfo(np.int64).max
BESIDE_WEIGHT = 0.5  # what an episode counts for that was written at another time but tells of the one asked of
OUTSIDE_WEIGHT = 0.1  # and one that has nothing to do with it


def limit_scope(retrieval: Retrieval) -> ScopeNote:
    """Stage: the episodes that the question may see, and of these what belongs to the time it speaks of. An event by
    which it names a time is looked up in the memory."""
    conn, graph, settings, question = retrieval.conn, retrieval.graph, retrieval.settings, retrieval.question
    time: TimeNote | None = None
    may_see = retrieval.allowed = visible_episodes(conn, graph, question.as_of, question.within)
    when = question.when if settings.time_cues else None
    if settings.time_cues and question.anchor is not None:
        dated = resolve_anchor(conn, graph, may_see, question.anchor, question.person_names, question.asked_on)
        time = TimeNote("unknown", question.anchor.words)
        if dated is not None:
            when = dated.when
            time = replace(time_note(when), line=dated.line, episode=dated.episode.id)
            retrieval.question = without_anchor(question, when)
    if question.as_of is not None and when is not None and when.kind == "as_of":
        when = None  # whoever asks as of a time means that one
    retrieval.when = retrieval.spoken_of = when
    retrieval.view = view(conn, graph, may_see, when, only=not retrieval.question.topic)
    return ScopeNote(time, int(retrieval.view.seen.sum()))


def fact_time(question: QuestionState, when: TimeExpression | None) -> Moment:
    """The time at which facts must hold: the one that is asked of, or by default when it is asked. What is yet to begin
    is told of already."""
    if question.as_of is not None:
        then = to_ms(question.as_of)
    elif when is not None and when.kind == "as_of" and when.until is not None:
        then = to_ms(when.until) - 1
    else:
        return Moment(NO_END, to_ms(question.asked_on))
    return Moment(then, then)


def asked_time_ms(question: QuestionState, when: TimeExpression | None) -> int:
    """The time whose facts a question is about: the one that it names, the middle of a span."""
    since, until = (when.since, when.until) if when is not None else (None, None)
    if since is not None and until is not None:
        return (to_ms(since) + to_ms(until)) // 2
    if when is not None and when.kind == "as_of" and until is not None:
        return to_ms(until) - 1
    return to_ms(question.as_of or question.asked_on)


def visible_episodes(conn: Connection, graph: Graph, as_of: datetime | None, within: Scope | None) -> Bools:
    """(n,) alive, written by `as_of`, and within the scope. An episode without a time is always in time."""
    mask = graph.alive.copy()
    if as_of is not None:
        mask &= graph.event_from <= to_ms(as_of)
    if within is not None and within != Scope():
        mask &= np.isin(graph.episode_ids, episodes.find_in_scope(conn, within))
    return mask


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
    until = _LATEST_MS if when.until is None else to_ms(when.until)
    inside = allowed & (told < until)
    aside = np.zeros_like(allowed)
    if when.kind == "range":
        inside &= told >= since
        if when.since is not None and when.until is not None and not only:
            aside |= allowed & (told >= until) & (told < until + max(SOON_MS, until - since))
    if when.since is not None and when.until is not None:
        naming = text.naming_dates(conn, when.since.date(), when.until.date())
        aside |= allowed & ~inside & np.isin(graph.episode_ids, naming)
    if not (inside | aside).any():
        return View(allowed)
    weight = np.select([inside, aside], [1, BESIDE_WEIGHT], OUTSIDE_WEIGHT).astype(np.float32)
    return View(inside | aside if only or when.kind == "as_of" else allowed, weight)
