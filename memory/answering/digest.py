"""Digests: "what happened last week", "what did I do in Porto", "what is new about the boat" are answered with a line
of each note and event, the newest last, each under its day: an event's own, else the one on which it was written.

Of a time all notes that were written in it count and all events that were in it, of what is named those that hold its
name. Where there are more than MAX_LINES, each line is the most telling of as many that follow one another.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

import numpy as np

from memory.answering.briefing import LEAST_WORDS, VALUES_WEIGHT, weigh_words
from memory.answering.candidates import AnswerCandidate, Line, read_candidates, show_day
from memory.answering.changes import list_changes
from memory.answering.entries import Entry, read_entries
from memory.answering.event_notes import precede_with_notes
from memory.answering.features import AnswerState
from memory.answering.listed_entries import show_entries, show_entry
from memory.answering.lists import EVENTS, LONGEST_TIME, find_dated
from memory.facts.rules.passages import MACHINE_SPEAKERS
from memory.nouns import Scope
from memory.retrieval.question_type import changed_words
from memory.store import episodes, text
from memory.text.languages import stem
from memory.text.mentions import mentions
from memory.text.words import count_words
from memory.time.expressions import generic_verbs, tense
from memory.time.timex import fold

MAX_LINES, LEAST_LINES = 10, 2  # of a digest; of one that is asked of something by its name
MAX_PASSAGES = 300  # of a time that are looked at, evenly spread
EARLIEST = date(1, 1, 3)  # a day that is one in every zone
MAX_NAMING, MAX_COUNTED = 60, 20_000  # with what is named that are looked at, and found at all
DAY_MS = 86_400_000
FIRST_WEIGHT = 0.5  # of the line that a note begins with
FIELD_WEIGHT, ASKS_WEIGHT, TASK_WEIGHT, MACHINE_WEIGHT = -0.5, -1.0, -1.0, -2.0  # of what tells little of a day
_FIELD = re.compile(r"[^:.]{1,24}: ")
_NUMERIC_DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})(?:\2(?:\d{4}|\d\d)|\.)?(?![\w./-])[\s:,–—-]*")


@dataclass(frozen=True, slots=True)
class Digest:
    """The lines, and how many notes and events have none."""

    lines: Sequence[AnswerCandidate] = ()
    left_out: int = 0

    def rest(self) -> tuple[Line, ...]:
        """The line that counts what is left out."""
        if not self.left_out:
            return ()
        return ((f"and {self.left_out:,} more note{'s' * (self.left_out > 1)}", ()),)


NO_DIGEST = Digest()


@dataclass(frozen=True, slots=True)
class _Item:
    """The lines of a note on a day, or of an event, the most telling first, and how much that one says."""

    day: date
    lines: Sequence[AnswerCandidate]
    score: float
    is_event: bool = False

    @property
    def order(self) -> tuple[date, bool, int, str, int]:
        episode = self.lines[0].episode
        return self.day, not self.is_event, self.lines[0].newness, episode.source.uri, episode.seq

    def show(self, most: int) -> list[AnswerCandidate]:
        """So many of its lines, in their order, as they are shown."""
        chosen = sorted(self.lines[:most], key=lambda one: (one.episode.seq, one.start))
        return chosen if self.is_event else [replace(one, shown=_show(one, self.day), earlier=False) for one in chosen]


def write_digest(state: AnswerState) -> Digest:
    """The digest that a question asks for; an empty one if it asks for none, or there is nothing to tell."""
    question = state.question
    if question.type.of not in ("all", "new") or question.type.kind == "yes_no":
        return NO_DIGEST
    topic = _topic(state)
    changes = list_changes(state) if question.type.of == "new" else []
    if topic and not _names_all(state, topic):
        return Digest(changes[:MAX_LINES])
    is_over = question.type.of == "new" or tense(fold(question.text)) == "past"
    first, end = _span(state, is_over)
    if first >= question.today and not is_over:  # what is planned for a day is a list
        return NO_DIGEST
    read, unread = _choose_passages(state, topic, first, end)
    items = _tell_notes(state, topic, read, first, end)
    if changes:
        newest = max(one.newness for one in changes)
        items = [one for one in items if one.lines[0].newness > newest]
    else:
        items += _tell_events(state, topic, first, end)
    if topic and len(items) < LEAST_LINES and question.type.of == "all":
        return NO_DIGEST
    items.sort(key=lambda one: one.order)
    room = max(0, MAX_LINES - len(changes))
    chosen = _spread(items, room, is_newest=question.type.of == "new")
    each = room // max(1, len(chosen))  # where there are few notes each has more lines
    lines = [line for one in chosen for line in one.show(each)]
    return Digest([*changes, *precede_with_notes(state, lines)][:MAX_LINES], len(items) - len(chosen) + unread)


def _topic(state: AnswerState) -> frozenset[str]:
    """The stems of what is named, without those that ask for all, or what is new."""
    question, words = state.question, state.features.stem_words
    said = words(question.when.words) if question.when else ()
    asking = {stem(word, question.language) for word in generic_verbs()} | changed_words(question.language)
    return frozenset(state.features.stems if question.topic else ()) - asking - {*said}


def _names_all(state: AnswerState, topic: frozenset[str]) -> bool:
    """Whether all of a topic is named: what else is said would be asked of it."""
    named = " ".join(one.surface for one in state.question.mentions)
    return topic.isdisjoint(state.beside_names - {*state.features.stem_words(named)})


def _span(state: AnswerState, is_over: bool) -> tuple[date, date]:
    """The days that are asked of, none after today where what `is_over` is asked for; of no time all until today."""
    question, tomorrow = state.question, state.question.today + timedelta(days=1)
    when = question.when if question.when and question.when.kind != "now" else None
    first = when.since.astimezone().date() if when and when.since else date.min
    end = when.until.astimezone().date() if when and when.until else tomorrow
    return first, min(end, tomorrow) if is_over else end


# Notes -----------------------------------------------------------------------------------------


def _choose_passages(state: AnswerState, topic: frozenset[str], first: date, end: date) -> tuple[list[int], int]:
    """The passages (ids) that are read for a digest: of very many the newest of what is new, else some that are evenly
    spread; and how many notes have none among these."""
    question, graph = state.question, state.found.graph
    within = Scope(since=_midnight(max(first, EARLIEST)), until=_midnight(end))
    ids = episodes.find_in_scope(state.conn, within)
    if topic:
        terms = [term for term in question.topic if stem(term, question.language) in topic]
        named, _ = text.search(state.conn, terms, MAX_COUNTED)
        ids = sorted({*ids} & {*named.tolist()})
    most = MAX_NAMING if topic else MAX_PASSAGES
    seen = [id for id in ids if state.found.sees(id)]
    if len(seen) <= most:
        return seen, 0
    rows = np.array([graph.row_of[id] for id in seen])
    rows = rows[np.argsort(graph.event_from[rows], kind="stable")]
    places = np.arange(len(rows) - most, len(rows))
    if question.type.of != "new":
        places = np.linspace(0, len(rows) - 1, most).astype(int)
    notes = [{*zip(graph.source_ids[of], graph.event_from[of] // DAY_MS, strict=True)} for of in (rows, rows[places])]
    is_sure = len(topic) <= 1  # of several names a passage may hold only one
    return graph.episode_ids[rows[places]].tolist(), len(notes[0] - notes[1]) if is_sure else 0


def _tell_notes(state: AnswerState, topic: frozenset[str], ids: Sequence[int], first: date, end: date) -> list[_Item]:
    """The lines of each note on each of its days."""
    by_note: dict[tuple[int, date], list[AnswerCandidate]] = defaultdict(list)
    unlike = {one.id: one for one in {one.content: one for one in episodes.by_ids(state.conn, ids)}.values()}
    lines = state.read(unlike.values()) if topic else read_candidates(state.conn, state.found, unlike)
    for one in lines:
        day = _day_of(one)
        if day is None or not first <= day < end or one.place.kind not in ("text", "row", "task"):
            continue
        said = {*state.features.stem_words(one.shown)}
        heads = f"{one.context}{one.episode.title} {one.episode.speaker or ''}"
        if said - topic and topic <= said | {*state.features.stem_words(heads)}:
            by_note[one.episode.source.id, day].append(one)
    items = []
    for (_, day), lines in by_note.items():
        lines = [one for one in lines if count_words(one.shown) >= LEAST_WORDS] or lines
        begins = min((one.episode.seq, one.start) for one in lines)
        telling = {one.thesis_id: _tell(state, one, (one.episode.seq, one.start) == begins) for one in lines}
        lines.sort(key=lambda one: (-telling[one.thesis_id] - (one.score if topic else 0), one.shown))
        apart: list[AnswerCandidate] = []
        for one in lines:
            if not any(one.overlaps(other) for other in apart):
                apart.append(one)
        items.append(_Item(day, apart, telling[lines[0].thesis_id]))
    return items


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day).astimezone()


def _day_of(line: AnswerCandidate) -> date | None:
    turn = line.episode.turn_at(line.start)
    at = (turn.at if turn else None) or line.episode.at
    return at.astimezone().date() if at else None


def _tell(state: AnswerState, line: AnswerCandidate, is_first: bool) -> float:
    """How much a line says by itself: names, days and numbers, its length, and that its note begins with it; little if
    it is a field, a question, something to do, or of an assistant."""
    task = _task_at(line)
    is_machine = line.episode.source.by_agent or line.place.speaker.casefold() in MACHINE_SPEAKERS
    return (
        weigh_words(state.features.new_values(line.shown), {*state.features.stem_words(line.shown)})
        + FIRST_WEIGHT * is_first
        + FIELD_WEIGHT * (not line.place.speaker and _FIELD.match(line.shown) is not None)
        + TASK_WEIGHT * (task is not None and task.state == "open")
        + ASKS_WEIGHT * line.shown.endswith("?")
        + MACHINE_WEIGHT * is_machine
    )


def _show(line: AnswerCandidate, day: date) -> str:
    """The line under its day, which it does not say once more."""
    written = line.episode.at
    is_written_then = written is not None and written.astimezone().date() == day
    head = show_day(line.newness, line.episode, line.start, line.quote) if is_written_then else day.isoformat()
    task = _task_at(line)
    said = (task.shown if task else line.shown).strip()
    numeric = _NUMERIC_DAY.match(said)
    named = next((one for one in mentions(said) if one.kind == "date" and said.startswith(one.surface)), None)
    if numeric and {int(numeric[1]), int(numeric[3])} == {day.day, day.month}:
        head, said = day.isoformat(), said[numeric.end() :] or said
    elif named and day.isoformat().endswith(named.norm):
        said = said[len(named.surface) :].lstrip(" ,:–—-") or said
    return f"{head}: {said}"


def _task_at(line: AnswerCandidate) -> Entry | None:
    """The task that a line is of."""
    return next((one for one in _list_tasks(line.episode.text) if one.start <= line.start < one.end), None)


@lru_cache(maxsize=2 * MAX_PASSAGES)
def _list_tasks(text: str) -> tuple[Entry, ...]:
    return tuple(one for one in read_entries(text) if one.kind == "task")


# Events ----------------------------------------------------------------------------------------


def _tell_events(state: AnswerState, topic: frozenset[str], first: date, end: date) -> list[_Item]:
    """The events of the time, each once, on its first day."""
    if topic and first == date.min:
        first = end - LONGEST_TIME
    if end - first > LONGEST_TIME:
        return []
    found: dict[int, _Item] = {}
    for day, at, one in find_dated(state, topic, EVENTS, first, end):
        if id(one) not in found and topic <= one.heads | one.own:
            often = one.again.describe() if one.again else ""
            shown = ", ".join(filter(None, (show_entry(one, day, at), often)))
            score = VALUES_WEIGHT / (2 if often else 1)
            found[id(one)] = _Item(day, show_entries(state, [(one, shown)]), score, is_event=True)
    return list(found.values())


# Choosing --------------------------------------------------------------------------------------


def _spread(items: Sequence[_Item], most: int, is_newest: bool) -> list[_Item]:
    """At most so many items, in their order: the newest, or the most telling one of each of as many groups."""
    if len(items) <= most or is_newest:
        return [*items[max(0, len(items) - most) :]]
    groups = np.array_split(np.arange(len(items)), most)
    return [items[max(group.tolist(), key=lambda place: (items[place].score, place))] for group in groups]
