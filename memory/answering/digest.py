"""Digests: "what happened last week", "what did I do in Porto", "what is new about the boat" are answered with a line
of each note and event under its day, the newest last. The day of a note is the one on which it was written.

A time includes all notes written in it and all events on its days; a name all that contain it. If there are more than
MAX_LINES, each line is the most informative of a group of consecutive ones.
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
from memory.answering.entries import Entry, read_entries
from memory.answering.features import AnswerState
from memory.answering.listed_entries import precede_with_notes, show_entries, show_entry
from memory.answering.lists import EVENTS, LONGEST_TIME, find_dated, list_changes
from memory.facts.rules.passages import MACHINE_SPEAKERS
from memory.nouns import Scope
from memory.retrieval.question_type import changed_words
from memory.store import episodes, text
from memory.text.languages import stem
from memory.text.mentions import mentions
from memory.text.words import count_words
from memory.time.expressions import generic_verbs, tense
from memory.time.timex import fold

MAX_LINES, LEAST_LINES = 10, 2  # at most; at least, of a digest about a name
MAX_PASSAGES = 300  # read of a time, evenly spread
EARLIEST = date(1, 1, 3)  # valid in every time zone
MAX_NAMING, MAX_COUNTED = 60, 20_000  # passages with a name: read, and counted
DAY_MS = 86_400_000
FIRST_WEIGHT = 0.5  # of a note's first line
FIELD_WEIGHT, ASKS_WEIGHT, TASK_WEIGHT, MACHINE_WEIGHT = -0.5, -1.0, -1.0, -2.0  # of a field, question, open task, bot
_FIELD = re.compile(r"[^:.]{1,24}: ")
_NUMERIC_DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})(?:\2(?:\d{4}|\d\d)|\.)?(?![\w./-])[\s:,–—-]*")


@dataclass(frozen=True, slots=True)
class Digest:
    """The lines, and the number of notes and events without a line."""

    lines: Sequence[AnswerCandidate] = ()
    left_out: int = 0

    def rest(self) -> tuple[Line, ...]:
        """A line with the number of omitted notes; none if it is 0."""
        if not self.left_out:
            return ()
        return ((f"and {self.left_out:,} more note{'s' * (self.left_out > 1)}", ()),)


NO_DIGEST = Digest()


@dataclass(frozen=True, slots=True)
class _Item:
    """The lines of a note on a day, or of an event, the most informative first, with its weight."""

    day: date
    lines: Sequence[AnswerCandidate]
    score: float
    is_event: bool = False

    @property
    def order(self) -> tuple[date, bool, int, str, int]:
        episode = self.lines[0].episode
        return self.day, not self.is_event, self.lines[0].newness, episode.source.uri, episode.seq

    def show(self, most: int) -> list[AnswerCandidate]:
        """Its best lines, at most `most`, in the order of the note, as an answer shows them."""
        chosen = sorted(self.lines[:most], key=lambda line: (line.episode.seq, line.start))
        if self.is_event:
            return chosen
        return [replace(line, shown=_show(line, self.day), earlier=False) for line in chosen]


def write_digest(state: AnswerState) -> Digest:
    """The digest that a question asks for; empty if it asks for none or has nothing to show."""
    question = state.question
    if question.type.of not in ("all", "new") or question.type.kind == "yes_no":
        return NO_DIGEST
    topic = _find_topic(state)
    changes = list_changes(state) if question.type.of == "new" else []
    if topic and not _names_topic(state, topic):
        return Digest(changes[:MAX_LINES])
    is_over = question.type.of == "new" or tense(fold(question.text)) == "past"
    first, end = _find_days(state, is_over)
    if first >= question.today and not is_over:  # the plans of a day are a list
        return NO_DIGEST
    ids, omitted = _choose_passages(state, topic, first, end)
    items = _read_notes(state, topic, ids, first, end)
    if changes:
        newest = max(line.newness for line in changes)
        items = [item for item in items if item.lines[0].newness > newest]
    else:
        items += _read_events(state, topic, first, end)
    if topic and len(items) < LEAST_LINES and question.type.of == "all":
        return NO_DIGEST
    items.sort(key=lambda item: item.order)
    room = max(0, MAX_LINES - len(changes))
    chosen = _choose_items(items, room, is_newest=question.type.of == "new")
    each = room // max(1, len(chosen))  # if there are few notes, each has more lines
    lines = [line for item in chosen for line in item.show(each)]
    return Digest([*changes, *precede_with_notes(state, lines)][:MAX_LINES], len(items) - len(chosen) + omitted)


def _find_topic(state: AnswerState) -> frozenset[str]:
    """The stems of the question's topic, without those of its time and of words like "happen" and "new"."""
    question, words = state.question, state.features.stem_words
    time_words = words(question.when.words) if question.when else ()
    generic = {stem(word, question.language) for word in generic_verbs()} | changed_words(question.language)
    return frozenset(state.features.stems if question.topic else ()) - generic - {*time_words}


def _names_topic(state: AnswerState, topic: frozenset[str]) -> bool:
    """Whether a topic contains only names; other words would ask for something about them."""
    names = " ".join(mention.surface for mention in state.question.mentions)
    return topic.isdisjoint(state.beside_names - {*state.features.stem_words(names)})


def _find_days(state: AnswerState, is_over: bool) -> tuple[date, date]:
    """The first day of the question's time and the day after its last one, today at the latest if it `is_over`."""
    question, tomorrow = state.question, state.question.today + timedelta(days=1)
    when = question.when if question.when and question.when.kind != "now" else None
    first = when.since.astimezone().date() if when and when.since else date.min
    end = when.until.astimezone().date() if when and when.until else tomorrow
    return first, min(end, tomorrow) if is_over else end


# Notes -----------------------------------------------------------------------------------------


def _choose_passages(state: AnswerState, topic: frozenset[str], first: date, end: date) -> tuple[list[int], int]:
    """The passages (ids) that a digest reads: of very many the newest if the question asks for what is new, else an
    even sample. Also the number of notes without a passage among them."""
    question, graph = state.question, state.found.graph
    within = Scope(since=_midnight(max(first, EARLIEST)), until=_midnight(end))
    ids = episodes.find_in_scope(state.conn, within)
    if topic:
        terms = [term for term in question.topic if stem(term, question.language) in topic]
        matches, _ = text.search(state.conn, terms, MAX_COUNTED)
        ids = sorted({*ids} & {*matches.tolist()})
    most = MAX_NAMING if topic else MAX_PASSAGES
    visible = [id for id in ids if state.found.sees(id)]
    if len(visible) <= most:
        return visible, 0
    rows = np.array([graph.row_of[id] for id in visible])
    rows = rows[np.argsort(graph.event_from[rows], kind="stable")]
    places = np.arange(len(rows) - most, len(rows))
    if question.type.of != "new":
        places = np.linspace(0, len(rows) - 1, most).astype(int)
    notes = [
        {*zip(graph.source_ids[chosen], graph.event_from[chosen] // DAY_MS, strict=True)}
        for chosen in (rows, rows[places])
    ]
    is_sure = len(topic) <= 1  # a passage may contain only one of several names
    return graph.episode_ids[rows[places]].tolist(), len(notes[0] - notes[1]) if is_sure else 0


def _read_notes(state: AnswerState, topic: frozenset[str], ids: Sequence[int], first: date, end: date) -> list[_Item]:
    """An item for each day of each note."""
    by_note: dict[tuple[int, date], list[AnswerCandidate]] = defaultdict(list)
    distinct = {passage.content: passage for passage in episodes.by_ids(state.conn, ids)}
    passages = {passage.id: passage for passage in distinct.values()}
    lines = state.read(passages.values()) if topic else read_candidates(state.conn, state.found, passages)
    for line in lines:
        day = _find_day(line)
        if day is None or not first <= day < end or line.place.kind not in ("text", "row", "task"):
            continue
        words = {*state.features.stem_words(line.shown)}
        heads = f"{line.context}{line.episode.title} {line.episode.speaker or ''}"
        if words - topic and topic <= words | {*state.features.stem_words(heads)}:
            by_note[line.episode.source.id, day].append(line)
    return [_make_item(state, day, lines, bool(topic)) for (_, day), lines in by_note.items()]


def _make_item(state: AnswerState, day: date, lines: Sequence[AnswerCandidate], is_scored: bool) -> _Item:
    lines = [line for line in lines if count_words(line.shown) >= LEAST_WORDS] or lines
    first = min((line.episode.seq, line.start) for line in lines)
    weights = {line.thesis_id: _weigh_line(state, line, (line.episode.seq, line.start) == first) for line in lines}
    lines = sorted(lines, key=lambda line: (-weights[line.thesis_id] - (line.score if is_scored else 0), line.shown))
    apart: list[AnswerCandidate] = []
    for line in lines:
        if not any(line.overlaps(other) for other in apart):
            apart.append(line)
    return _Item(day, apart, weights[lines[0].thesis_id])


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day).astimezone()


def _find_day(line: AnswerCandidate) -> date | None:
    turn = line.episode.turn_at(line.start)
    at = (turn.at if turn else None) or line.episode.at
    return at.astimezone().date() if at else None


def _weigh_line(state: AnswerState, line: AnswerCandidate, is_first: bool) -> float:
    """How informative a line is, by its values and length; more for the first, less for a field, question, open task or
    bot."""
    task = _find_task(line)
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
    """The line after its day, without a second mention of the day."""
    written = line.episode.at
    is_of_day = written is not None and written.astimezone().date() == day
    head = show_day(line.newness, line.episode, line.start, line.quote) if is_of_day else day.isoformat()
    task = _find_task(line)
    text = (task.shown if task else line.shown).strip()
    numeric = _NUMERIC_DAY.match(text)
    dates = (mention for mention in mentions(text) if mention.kind == "date" and text.startswith(mention.surface))
    named = next(dates, None)
    if numeric and {int(numeric[1]), int(numeric[3])} == {day.day, day.month}:
        head, text = day.isoformat(), text[numeric.end() :] or text
    elif named and day.isoformat().endswith(named.norm):
        text = text[len(named.surface) :].lstrip(" ,:–—-") or text
    return f"{head}: {text}"


def _find_task(line: AnswerCandidate) -> Entry | None:
    """The task that contains a line."""
    return next((task for task in _list_tasks(line.episode.text) if task.start <= line.start < task.end), None)


@lru_cache(maxsize=2 * MAX_PASSAGES)
def _list_tasks(text: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in read_entries(text) if entry.kind == "task")


# Events ----------------------------------------------------------------------------------------


def _read_events(state: AnswerState, topic: frozenset[str], first: date, end: date) -> list[_Item]:
    """The events of the time, each once, on its first day."""
    if topic and first == date.min:
        first = end - LONGEST_TIME
    if end - first > LONGEST_TIME:
        return []
    items: dict[int, _Item] = {}
    for day, at, event in find_dated(state, topic, EVENTS, first, end):
        if id(event) not in items and topic <= event.heads | event.own:
            often = event.again.describe() if event.again else ""
            shown = ", ".join(filter(None, (show_entry(event, day, at), often)))
            score = VALUES_WEIGHT / (2 if often else 1)
            items[id(event)] = _Item(day, show_entries(state, [(event, shown)]), score, is_event=True)
    return list(items.values())


# Choosing --------------------------------------------------------------------------------------


def _choose_items(items: Sequence[_Item], most: int, is_newest: bool) -> list[_Item]:
    """At most `most` items in their order: the newest, or the most informative one of each of `most` groups."""
    if len(items) <= most or is_newest:
        return [*items[max(0, len(items) - most) :]]
    groups = np.array_split(np.arange(len(items)), most)
    return [items[max(group.tolist(), key=lambda place: (items[place].score, place))] for group in groups]
