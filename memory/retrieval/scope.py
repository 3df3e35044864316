"""Scope: which episodes a question may see at all. Every stage gets the result and none can widen it.

Also the time that a question names by what happened then, its anchor: "before I moved", "when I lived in Porto". A
dated line of the memory must say when that was: "Moved to Ghent today." in a note of 2 March 2021. Where none does,
the question has no time, and the trace says so. What a line asks, denies, supposes or refers to dates nothing, nor does
what somebody else says of themselves, nor a file's time stamp.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from memory.graph.arrays import NO_END, NO_TIME, Bools, Floats, Graph
from memory.graph.walk import Moment
from memory.nouns import Episode, Scope
from memory.retrieval.analyse import time_note, without_anchor
from memory.retrieval.state import Anchor, QuestionState, Retrieval
from memory.stages import ScopeNote, TimeNote
from memory.store import calendars, episodes
from memory.store import text as full_text
from memory.store.connect import Connection
from memory.text.languages import ENGLISH, content_words, tables
from memory.text.words import words as words_of
from memory.time.expressions import TimeExpression, apply_signal, resolve_time
from memory.time.spans import Span, day_span
from memory.time.timestamps import to_wall

DAY_MS = 86_400_000
SOON_MS = 7 * DAY_MS  # what happened is told within a week, or within as long again as the time asked of
_LATEST_MS = np.iinfo(np.int64).max
BESIDE_WEIGHT = 0.5  # what an episode counts for that was written at another time but tells of the one asked of
OUTSIDE_WEIGHT = 0.1  # and one that has nothing to do with it

MAX_ANCHOR_CANDIDATES = 500  # episodes that full text proposes
LONGEST_ANCHOR = timedelta(days=366)  # a line that names a longer time dates no event
_DURING = ("when", "while")
LONGEST_MOMENT = timedelta(days=31)  # a longer time of a beginning is from when until when
_SAYS = re.compile(r"([^\W\d_][\w .'’-]{0,40}):\s+")
_CAPITALISED = r"([^\W\d_]*[^\W\d_a-zß-ÿ][\w'’-]*)"
_YEAR = re.compile(r"(?<!\d)(?:1[89]|2[01])\d\d(?!\d)")


def limit_scope(retrieval: Retrieval) -> ScopeNote:
    """Stage: the episodes that the question may see, and of these what belongs to the time it speaks of. An event by
    which it names a time is looked up in the memory."""
    conn, graph, settings, question = retrieval.conn, retrieval.graph, retrieval.settings, retrieval.question
    time: TimeNote | None = None
    may_see = visible_episodes(conn, graph, question.as_of, question.within)
    if question.as_of is None and (outdated := retrieval.snapshot.entry_versions(conn).outdated):
        may_see &= ~np.isin(graph.episode_ids, sorted(outdated))
    retrieval.allowed = may_see
    when = question.when if settings.time_cues else None
    if settings.time_cues and question.anchor is not None:
        time = TimeNote("unknown", question.anchor.words)
        dated = resolve_anchor(conn, graph, may_see, question, question.anchor)
        if dated is not None:
            when, told = dated
            time = replace(time_note(when), line=told.line, episode=told.episode.id)
            retrieval.question = without_anchor(question, when)
    if question.as_of is not None and when is not None and when.kind == "as_of":
        when = None  # whoever asks as of a time means that one
    retrieval.when = retrieval.spoken_of = when
    only = not retrieval.question.topic
    retrieval.seen, retrieval.time_weights = limit_to_time(conn, graph, may_see, when, only)
    return ScopeNote(time, int(retrieval.seen.sum()))


def fact_time(question: QuestionState, when: TimeExpression | None) -> Moment:
    """The time at which facts must hold: the one that is asked of, or by default when it is asked. What is yet to begin
    is told of already."""
    if question.as_of is not None:
        then = to_wall(question.as_of)
    elif when is not None and when.kind == "as_of" and when.until is not None:
        then = to_wall(when.until) - 1
    else:
        return Moment(NO_END, to_wall(question.asked_on))
    return Moment(then, then)


def asked_time_ms(question: QuestionState, when: TimeExpression | None) -> int:
    """The time whose facts a question is about: the one that it names, the middle of a span."""
    since, until = (when.since, when.until) if when is not None else (None, None)
    if since is not None and until is not None:
        return (to_wall(since) + to_wall(until)) // 2
    if when is not None and when.kind == "as_of" and until is not None:
        return to_wall(until) - 1
    return to_wall(question.as_of or question.asked_on)


def visible_episodes(conn: Connection, graph: Graph, as_of: datetime | None, within: Scope | None) -> Bools:
    """(n,) alive, written by `as_of`, and within the scope. An episode without a time is always in time."""
    mask = graph.alive.copy()
    if as_of is not None:
        mask &= graph.event_from <= to_wall(as_of)
    if within is not None and within != Scope():
        mask &= np.isin(graph.episode_ids, episodes.find_in_scope(conn, within))
    return mask


def limit_to_time(
    conn: Connection, graph: Graph, allowed: Bools, when: TimeExpression | None, only: bool
) -> tuple[Bools, Floats | None]:
    """Which of the `allowed` episodes (n,) belong to the time a question speaks of, all of them if none does; and the
    weight (n,) of each, None if all are alike.

    `as_of`: what was written before the end of that time, and for less what names the time, whenever it was written.
    `range`: what was written in it comes first, then what names it or was written soon after, and far behind all the
    rest, which may hold another part of the answer; `only`, for a question about that time as a whole, leaves out what
    neither was written in it nor names it.
    """
    if when is None or when.kind == "now":
        return allowed, None
    told = graph.event_from
    since = NO_TIME + 1 if when.since is None else to_wall(when.since)  # what has no time is in no range
    until = _LATEST_MS if when.until is None else to_wall(when.until)
    inside = allowed & (told < until)
    aside = np.zeros_like(allowed)
    if when.kind == "range":
        inside &= told >= since
        if when.since is not None and when.until is not None and not only:
            aside |= allowed & (told >= until) & (told < until + max(SOON_MS, until - since))
    if when.since is not None and when.until is not None:
        naming = calendars.on_days(conn, when.since.date(), when.until.date())
        aside |= allowed & ~inside & np.isin(graph.episode_ids, naming)
    if not (inside | aside).any():
        return allowed, None
    weight = np.select([inside, aside], [1, BESIDE_WEIGHT], OUTSIDE_WEIGHT).astype(np.float32)
    return (inside | aside if only or when.kind == "as_of" else allowed), weight


# Anchors --------------------------------------------------------------------------------------------


class _DatedLine(NamedTuple):
    """A line of the memory that tells of an event, and the local time of that."""

    span: Span
    line: str
    episode: Episode


def resolve_anchor(
    conn: Connection, graph: Graph, allowed: Bools, question: QuestionState, anchor: Anchor
) -> tuple[TimeExpression, _DatedLine] | None:
    """The time that a question means by its anchor, and the line of an `allowed` episode (n,) that dates it; None if no
    line says it. What is told several times was when it was told first; of several such events, each to or at another
    place, the last one is meant. Days are those of this machine."""
    [words] = tables("anchors", language=ENGLISH)
    states = [one for one in words["states"] if anchor.verb in one["verbs"].split()] if anchor.side in _DURING else []
    if states:
        terms = [*states[0]["begin"].split("|"), *states[0]["end"].split("|"), *anchor.about]
        lines = _candidate_lines(conn, graph, allowed, terms)
        latest = _last_stay(lines, words, states[0], anchor, question)
    else:
        lines = _candidate_lines(conn, graph, allowed, [anchor.verb, *anchor.about])
        latest = _last_event(list(_events(lines, words, anchor, question)), words)
    if latest is None:
        return None
    side = "in" if anchor.side in _DURING else anchor.side
    when = apply_signal(side, latest.span, anchor.rest, anchor.words, _local(question.asked_on), None)
    return None if when is None else (when, latest)


def _local(moment: datetime) -> datetime:
    return moment.astimezone().replace(tzinfo=None)


def _candidate_lines(conn: Connection, graph: Graph, allowed: Bools, terms: Sequence[str]) -> list[tuple[str, Episode]]:
    """The sentences of the best episodes for any of the words that may be seen."""
    may_see = allowed & graph.alive
    within = None if may_see.sum() == graph.n_alive else graph.episode_ids[may_see].tolist()
    ids, _ = full_text.search(conn, terms, MAX_ANCHOR_CANDIDATES, within=within)
    nodes = sorted(ids.tolist())
    known = {episode.id: episode for episode in episodes.by_ids(conn, nodes)}
    return [(" ".join(t.text.split()), known[t.episode_id]) for t in episodes.theses_of(conn, nodes)]


def _events(
    lines: Sequence[tuple[str, Episode]], words: dict[str, Any], anchor: Anchor, question: QuestionState
) -> Iterator[_DatedLine]:
    """The lines that tell of the anchor as an event."""
    verb, who = re.escape(anchor.verb), re.escape(anchor.who)
    adverbs = rf"(?:(?:{words['adverbs']}) )*"
    unsure = re.compile(words["unsure"], re.IGNORECASE)
    own = re.compile(words["own"].format(adverbs=adverbs, verb=verb), re.IGNORECASE)
    other = re.compile(rf"\b{who}(?: \w+)?\s+(?:{adverbs})?{verb}(?!\w)", re.IGNORECASE)
    away = re.compile(rf"{words['away']}(?:{'|'.join(map(re.escape, anchor.about))})(?!\w)", re.IGNORECASE)
    for line, episode in lines:
        said, speaker = _speaker(line, episode)
        if unsure.search(said) or not set(anchor.about) <= set(words_of(said)):
            continue
        if anchor.about and away.search(said) and not away.search(anchor.words):  # the way there, not from there
            continue
        if anchor.who == "i":
            fits = _is_own(speaker, question.person_names) and own.search(said)
        else:
            by_them = speaker is not None and anchor.who in speaker.casefold().split()
            fits = other.search(said) or (by_them and own.search(said))
        if fits and (span := _dated(said, episode, question.asked_on)) is not None:
            yield _DatedLine(span, line, episode)


def _last_event(told: Sequence[_DatedLine], words: dict[str, Any]) -> _DatedLine | None:
    """The last of the events, of each the line that told it first."""
    place_name = re.compile(words["place"] + _CAPITALISED)
    first: list[tuple[frozenset[str], _DatedLine]] = []
    for one in sorted(told, key=lambda one: (one.span, one.episode.id, one.line)):
        place = frozenset(place_name.findall(one.line)) or frozenset(content_words(one.line, ENGLISH))
        if not any(place & known for known, _ in first):
            first.append((place, one))
    return first[-1][1] if first else None


def _last_stay(
    lines: Sequence[tuple[str, Episode]],
    words: dict[str, Any],
    state: dict[str, str],
    anchor: Anchor,
    question: QuestionState,
) -> _DatedLine | None:
    """The last stay: from the line that tells of its beginning until one that tells of its end, or now."""
    if anchor.who != "i" or not anchor.about:
        return None
    place = r"\W+".join(map(re.escape, anchor.about))
    begins, ends, onward = (
        re.compile(words[name].format(**state, place=place), re.IGNORECASE) for name in ("begins", "ends", "onward")
    )
    unsure = re.compile(words["unsure"], re.IGNORECASE)
    found: list[tuple[Span, bool, str, Episode]] = []
    for line, episode in lines:
        said, speaker = _speaker(line, episode)
        if unsure.search(said) or not _is_own(speaker, question.person_names):
            continue
        is_begin = begins.search(said) is not None
        elsewhere = onward.search(said)
        is_end = ends.search(said) is not None or (elsewhere is not None and elsewhere[0].split()[-1][:1].isupper())
        if (is_begin or is_end) and (span := _dated(said, episode, question.asked_on)) is not None:
            found.append((span, is_begin, line, episode))
    latest: _DatedLine | None = None
    is_open = False
    for span, is_begin, line, episode in sorted(found, key=lambda one: (one[0], one[3].id, one[2])):
        if is_begin and span[1] - span[0] > LONGEST_MOMENT:  # it says itself from when until when
            latest, is_open = _DatedLine(span, line, episode), False
        elif is_begin and not is_open:
            latest, is_open = _DatedLine((span[0], _local(question.asked_on)), line, episode), True
        elif not is_begin and is_open and latest is not None:
            latest, is_open = latest._replace(span=(latest.span[0], span[0])), False
    return latest if latest is None or latest.span[0] < latest.span[1] else None


def _speaker(line: str, episode: Episode) -> tuple[str, str | None]:
    """The line without the name before it, and who says it; None in a note."""
    match = _SAYS.match(line)
    if episode.source.kind == "chat" and match is not None:
        return line[match.end() :], match[1]
    return line, episode.speaker


def _is_own(speaker: str | None, names: Sequence[str]) -> bool:
    if speaker is None:
        return True
    said = set(speaker.casefold().split())
    return not said.isdisjoint(("user", "me", "i")) or any(not said.isdisjoint(n.casefold().split()) for n in names)


def _dated(line: str, episode: Episode, now: datetime) -> Span | None:
    """When the line says that it was, else when it was written; nothing that is yet to come."""
    at = None if episode.is_stamped else episode.at
    named = resolve_time(line, at or now) if at or _YEAR.search(line) else None
    if named is not None and named.kind != "now":
        since, until = named.since, named.until
        if since is None or until is None or (until - since > LONGEST_ANCHOR and " from " not in line):
            return None
        span = since.replace(tzinfo=None), until.replace(tzinfo=None)
    elif at is None:
        return None
    else:
        span = day_span(_local(at).replace(hour=0, minute=0, second=0, microsecond=0))
    return span if span[0] <= _local(now) else None
