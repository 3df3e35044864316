"""Scope: which episodes a question may see. Every stage gets the result and none can widen it.

Also resolves anchors, events by which a question gives a time: "before I moved", "when I lived in Porto". A dated line
of the memory must say when that was: "Moved to Ghent today." in a note of 2 March 2021. Without such a line the
question has no time, and the trace records that. Questions, negations, suppositions and references date nothing, nor do
statements of other people about themselves, nor file time stamps.
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
from memory.time.dates import Span, day_span
from memory.time.expressions import TimeExpression, apply_signal, resolve_time
from memory.time.timestamps import to_wall

DAY_MS = 86_400_000
SOON_MS = 7 * DAY_MS  # events are recorded within a week, or within the length of the time in question
_LATEST_MS = np.iinfo(np.int64).max
MENTIONED_WEIGHT = 0.5  # of an episode written at another time but about the one in question
OUTSIDE_WEIGHT = 0.1  # and one that has nothing to do with it

MAX_ANCHOR_CANDIDATES = 500  # episodes that full text proposes
LONGEST_ANCHOR = timedelta(days=366)  # a line that names a longer time dates no event
_DURING = ("when", "while")
LONGEST_MOMENT = timedelta(days=31)  # a longer time of a beginning is from when until when
_SAYS = re.compile(r"([^\W\d_][\w .'’-]{0,40}):\s+")
_CAPITALISED = r"([^\W\d_]*[^\W\d_a-zß-ÿ][\w'’-]*)"
_YEAR = re.compile(r"(?<!\d)(?:1[89]|2[01])\d\d(?!\d)")


def limit_scope(retrieval: Retrieval) -> ScopeNote:
    """Stage: the episodes that the question may see, and those of the time it refers to. An anchor event is looked up
    in the memory."""
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
            when, dated_line = dated
            time = replace(time_note(when), line=dated_line.line, episode=dated_line.episode.id)
            retrieval.question = without_anchor(question, when)
    if question.as_of is not None and when is not None and when.kind == "as_of":
        when = None  # whoever asks as of a time means that one
    retrieval.when = retrieval.spoken_of = when
    only = not retrieval.question.topic
    retrieval.seen, retrieval.time_weights = limit_to_time(conn, graph, may_see, when, only)
    return ScopeNote(time, int(retrieval.seen.sum()))


def fact_time(question: QuestionState, when: TimeExpression | None) -> Moment:
    """The time at which facts must hold: the one in question, by default now. Includes facts that begin later."""
    if question.as_of is not None:
        then = to_wall(question.as_of)
    elif when is not None and when.kind == "as_of" and when.until is not None:
        then = to_wall(when.until) - 1
    else:
        return Moment(NO_END, to_wall(question.asked_on))
    return Moment(then, then)


def asked_time_ms(question: QuestionState, when: TimeExpression | None) -> int:
    """The time whose facts a question is about: the one it names, or the middle of a span."""
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
    """Which `allowed` episodes (n,) belong to the time a question refers to, all if none does; and the weight (n,) of
    each, None if equal.

    `as_of`: episodes written before the end of that time, and, with less weight, those that name it. `range`: episodes
    written in it come first, then those that name it or were written soon after, and last all others, which may contain
    another part of the answer. `only`, for a question about that time as a whole, drops episodes neither written in it
    nor naming it.
    """
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
        naming = calendars.on_days(conn, when.since.date(), when.until.date())
        aside |= allowed & ~inside & np.isin(graph.episode_ids, naming)
    if not (inside | aside).any():
        return allowed, None
    weight = np.select([inside, aside], [1, MENTIONED_WEIGHT], OUTSIDE_WEIGHT).astype(np.float32)
    return (inside | aside if only or when.kind == "as_of" else allowed), weight


# Anchors --------------------------------------------------------------------------------------------


class _DatedLine(NamedTuple):
    """A line of the memory about an event, and the event's local time."""

    span: Span
    line: str
    episode: Episode


def resolve_anchor(
    conn: Connection, graph: Graph, allowed: Bools, question: QuestionState, anchor: Anchor
) -> tuple[TimeExpression, _DatedLine] | None:
    """The time of a question's anchor and the line of an `allowed` episode (n,) that dates it; None without such a
    line. The first mention of an event counts; of several such events, each at another place, the last one. Days are
    local."""
    [words] = tables("anchors", language=ENGLISH)
    states = (
        [state for state in words["states"] if anchor.verb in state["verbs"].split()] if anchor.side in _DURING else []
    )
    if states:
        terms = [*states[0]["begin"].split("|"), *states[0]["end"].split("|"), *anchor.about]
        lines = _candidate_lines(conn, graph, allowed, terms)
        latest = _find_last_stay(lines, words, states[0], anchor, question)
    else:
        lines = _candidate_lines(conn, graph, allowed, [anchor.verb, *anchor.about])
        latest = _find_last_event(list(_find_events(lines, words, anchor, question)), words)
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
    episode_of = {episode.id: episode for episode in episodes.by_ids(conn, nodes)}
    return [(" ".join(t.text.split()), episode_of[t.episode_id]) for t in episodes.theses_of(conn, nodes)]


def _find_events(
    lines: Sequence[tuple[str, Episode]], words: dict[str, Any], anchor: Anchor, question: QuestionState
) -> Iterator[_DatedLine]:
    """The lines that record the anchor event."""
    verb, who = re.escape(anchor.verb), re.escape(anchor.who)
    adverbs = rf"(?:(?:{words['adverbs']}) )*"
    unsure = re.compile(words["unsure"], re.IGNORECASE)
    own = re.compile(words["own"].format(adverbs=adverbs, verb=verb), re.IGNORECASE)
    by_name = re.compile(rf"\b{who}(?: \w+)?\s+(?:{adverbs})?{verb}(?!\w)", re.IGNORECASE)
    away = re.compile(rf"{words['away']}(?:{'|'.join(map(re.escape, anchor.about))})(?!\w)", re.IGNORECASE)
    for line, episode in lines:
        text, speaker = _split_speaker(line, episode)
        if unsure.search(text) or not set(anchor.about) <= set(words_of(text)):
            continue
        if anchor.about and away.search(text) and not away.search(anchor.words):  # the way there, not from there
            continue
        if anchor.who == "i":
            fits = _is_own(speaker, question.person_names) and own.search(text)
        else:
            by_them = speaker is not None and anchor.who in speaker.casefold().split()
            fits = by_name.search(text) or (by_them and own.search(text))
        if fits and (span := _find_date(text, episode, question.asked_on)) is not None:
            yield _DatedLine(span, line, episode)


def _find_last_event(lines: Sequence[_DatedLine], words: dict[str, Any]) -> _DatedLine | None:
    """The last of the events, by its first line."""
    place_name = re.compile(words["place"] + _CAPITALISED)
    first: list[tuple[frozenset[str], _DatedLine]] = []
    for line in sorted(lines, key=lambda line: (line.span, line.episode.id, line.line)):
        place = frozenset(place_name.findall(line.line)) or frozenset(content_words(line.line, ENGLISH))
        if not any(place & places for places, _ in first):
            first.append((place, line))
    return first[-1][1] if first else None


def _find_last_stay(
    lines: Sequence[tuple[str, Episode]],
    words: dict[str, Any],
    state: dict[str, str],
    anchor: Anchor,
    question: QuestionState,
) -> _DatedLine | None:
    """The last stay: from the line with its beginning until the line with its end, or now."""
    if anchor.who != "i" or not anchor.about:
        return None
    place = r"\W+".join(map(re.escape, anchor.about))
    begins, ends, onward = (
        re.compile(words[name].format(**state, place=place), re.IGNORECASE) for name in ("begins", "ends", "onward")
    )
    unsure = re.compile(words["unsure"], re.IGNORECASE)
    turns: list[tuple[Span, bool, str, Episode]] = []
    for line, episode in lines:
        text, speaker = _split_speaker(line, episode)
        if unsure.search(text) or not _is_own(speaker, question.person_names):
            continue
        is_begin = begins.search(text) is not None
        elsewhere = onward.search(text)
        is_end = ends.search(text) is not None or (elsewhere is not None and elsewhere[0].split()[-1][:1].isupper())
        if (is_begin or is_end) and (span := _find_date(text, episode, question.asked_on)) is not None:
            turns.append((span, is_begin, line, episode))
    latest: _DatedLine | None = None
    is_open = False
    for span, is_begin, line, episode in sorted(turns, key=lambda turn: (turn[0], turn[3].id, turn[2])):
        if is_begin and span[1] - span[0] > LONGEST_MOMENT:  # it says itself from when until when
            latest, is_open = _DatedLine(span, line, episode), False
        elif is_begin and not is_open:
            latest, is_open = _DatedLine((span[0], _local(question.asked_on)), line, episode), True
        elif not is_begin and is_open and latest is not None:
            latest, is_open = latest._replace(span=(latest.span[0], span[0])), False
    return latest if latest is None or latest.span[0] < latest.span[1] else None


def _split_speaker(line: str, episode: Episode) -> tuple[str, str | None]:
    """The line without a leading name, and that name; None in a note."""
    match = _SAYS.match(line)
    if episode.source.kind == "chat" and match is not None:
        return line[match.end() :], match[1]
    return line, episode.speaker


def _is_own(speaker: str | None, names: Sequence[str]) -> bool:
    if speaker is None:
        return True
    words = set(speaker.casefold().split())
    return not words.isdisjoint(("user", "me", "i")) or any(not words.isdisjoint(n.casefold().split()) for n in names)


def _find_date(line: str, episode: Episode, now: datetime) -> Span | None:
    """The event's time: from the line, else the time of writing; None for the future."""
    written = None if episode.is_stamped else episode.at
    expression = resolve_time(line, written or now) if written or _YEAR.search(line) else None
    if expression is not None and expression.kind != "now":
        since, until = expression.since, expression.until
        if since is None or until is None or (until - since > LONGEST_ANCHOR and " from " not in line):
            return None
        span = since.replace(tzinfo=None), until.replace(tzinfo=None)
    elif written is None:
        return None
    else:
        span = day_span(_local(written).replace(hour=0, minute=0, second=0, microsecond=0))
    return span if span[0] <= _local(now) else None
