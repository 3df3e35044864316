"""Digests and changes: "what happened last week", "what did I do in Porto", "what is new about the boat" are answered
by a line of each note and event under its day, newest last. The day of a note is the one on which it was written.

A time includes all notes written in it and all events on its days; a name all notes and events that contain it. If
there are more than MAX_LINES, each line is the most informative of a group of consecutive ones. "What changed about
Mara Quill" is answered by each replaced fact, with its values and their sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memory.answering.briefing import LEAST_WORDS
from memory.answering.candidates import AnswerCandidate, begins_ms, read_candidates, select_current, show_day
from memory.answering.facts import make_fact_candidates, show_history
from memory.answering.features import AnswerState
from memory.answering.lists import EVENTS, LONGEST_TIME, Topic, find_dated, show_entries
from memory.answering.owner import MAX_FACTS
from memory.facts.rules.passages import MACHINE_SPEAKERS
from memory.nouns import Scope
from memory.retrieval.question_type import changed_words
from memory.store import episodes, relations, revisions, text
from memory.text.languages import stem
from memory.text.markup import read_state
from memory.text.words import count_words
from memory.time.expressions import generic_verbs
from memory.time.timestamps import to_wall

MAX_LINES = 10
MAX_NAMING = 60  # passages with a name that are read
MAX_PASSAGES = 300  # read of a time, evenly spread


class _Item(NamedTuple):
    """The lines of a note on a day, or of an event, most informative first, with its weight."""

    day: date
    is_note: bool
    lines: Sequence[AnswerCandidate]
    weight: int

    @property
    def order(self) -> tuple[date, bool, int, str, int]:
        episode = self.lines[0].episode
        return self.day, self.is_note, self.lines[0].newness, episode.source.uri, episode.seq


def write_digest(state: AnswerState) -> tuple[list[AnswerCandidate], int]:
    """Returns the lines of the digest that a question asks for, and the number of notes and events without a line. No
    lines if it asks for something else, or no note or event matches."""
    question, is_new = state.question, state.question.type.of == "new"
    if question.type.kind == "yes_no":
        return [], 0
    topic = _find_topic(state)
    changes = list_changes(state) if is_new else []
    if topic and not _names_topic(state, topic):
        return changes[:MAX_LINES], 0
    is_over = is_new or Topic(state).is_past
    first, end = _find_days(state, is_over)
    if first >= question.today and not is_over:  # the plans of a day are a list
        return [], 0
    ids, omitted = _choose_passages(state, topic, first, end)
    items = _read_notes(state, topic, ids, first, end)
    if changes:
        newest = max(line.newness for line in changes)
        items = [item for item in items if item.lines[0].newness > newest]
    else:
        items += _read_events(state, topic, first, end)
    if topic and len(items) < 2 and not is_new:
        return [], 0
    items.sort(key=lambda item: item.order)
    room = max(0, MAX_LINES - len(changes))
    chosen = _choose_items(items, room, is_new)
    each = room // max(1, len(chosen))  # if there are few notes, each has more lines
    lines = [
        line for item in chosen for line in sorted(item.lines[:each], key=lambda line: (line.episode.seq, line.start))
    ]
    return [*changes, *lines][:MAX_LINES], len(items) - len(chosen) + omitted


def _find_topic(state: AnswerState) -> frozenset[str]:
    """Returns the stems of the question's topic, without those of its time and of words like "happen" and "new"."""
    question = state.question
    time_words = state.features.stem_words(question.when.words) if question.when else ()
    generic = {stem(word, question.language) for word in generic_verbs()} | changed_words(question.language)
    return frozenset(state.features.stems if question.topic else ()) - generic - {*time_words}


def _names_topic(state: AnswerState, topic: frozenset[str]) -> bool:
    """Whether a topic contains only names; other words would ask for something about them."""
    names = " ".join(mention.surface for mention in state.question.mentions)
    return topic.isdisjoint(state.beside_names - {*state.features.stem_words(names)})


def _find_days(state: AnswerState, is_over: bool) -> tuple[date, date]:
    """Returns the first day of the question's time and the day after its last one, today at the latest if it
    `is_over`."""
    question, tomorrow = state.question, state.question.today + timedelta(days=1)
    when = question.when if question.when and question.when.kind != "now" else None
    first = when.since.astimezone().date() if when and when.since else date.min
    end = when.until.astimezone().date() if when and when.until else tomorrow
    return first, min(end, tomorrow) if is_over else end


def _choose_passages(state: AnswerState, topic: frozenset[str], first: date, end: date) -> tuple[list[int], int]:
    """Returns the passages (ids) that a digest reads: of very many the newest if the question asks for what is new,
    else an even sample. Also the number of notes without a passage among them."""
    question, graph = state.question, state.result.graph
    earliest = date(1, 1, 3)  # valid in every time zone
    since, until = (datetime(day.year, day.month, day.day).astimezone() for day in (max(first, earliest), end))
    ids = episodes.find_in_scope(state.conn, Scope(since=since, until=until))
    if topic:
        terms = [term for term in question.topic if stem(term, question.language) in topic]
        matches, _ = text.search(state.conn, terms, 20_000)
        ids = sorted({*ids} & {*matches.tolist()})
    most = MAX_NAMING if topic else MAX_PASSAGES
    visible = [id for id in ids if state.result.sees(id)]
    if len(visible) <= most:
        return visible, 0
    rows = np.array([graph.row_of[id] for id in visible])
    rows = rows[np.argsort(graph.event_from[rows], kind="stable")]
    is_new = question.type.of == "new"
    chosen = rows[-most:] if is_new else rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    every, read = (
        len({*zip(graph.source_ids[of].tolist(), (graph.event_from[of] // 86_400_000).tolist(), strict=True)})
        for of in (rows, chosen)
    )
    is_sure = len(topic) <= 1  # a passage may contain only one of several names
    return graph.episode_ids[chosen].tolist(), every - read if is_sure else 0


def _read_notes(state: AnswerState, topic: frozenset[str], ids: Sequence[int], first: date, end: date) -> list[_Item]:
    """Returns an item for each day of each note."""
    by_note: dict[tuple[int, date], list[AnswerCandidate]] = defaultdict(list)
    distinct = {passage.content: passage for passage in episodes.get_many(state.conn, ids)}
    passages = {passage.id: passage for passage in distinct.values()}
    lines = state.read(passages.values()) if topic else read_candidates(state.conn, state.result, passages)
    for line in lines:
        place, words = line.place, {*state.features.stem_words(line.shown)}
        turn = line.episode.turn_at(line.start)
        at = (turn.at if turn else None) or line.episode.at
        day = at.astimezone().date() if at else date.min
        is_told = place.kind in ("text", "row") and place.speaker.casefold() not in MACHINE_SPEAKERS
        is_open = bool(place.box) and read_state(place.box) == "open"
        heads = state.features.stem_words(f"{line.context}{line.episode.title} {line.episode.speaker or ''}")
        if is_told and not is_open and first <= day < end and words - topic and topic <= words.union(heads):
            by_note[line.episode.source.id, day].append(line)
    return [_make_item(state, day, lines, bool(topic)) for (_, day), lines in by_note.items()]


def _make_item(state: AnswerState, day: date, lines: Sequence[AnswerCandidate], is_scored: bool) -> _Item:
    lines = [line for line in lines if count_words(line.shown) >= LEAST_WORDS] or lines
    first = min((line.episode.seq, line.start) for line in lines)
    weights = {  # a note's first line counts as if it had one more value
        line.thesis_id: len(state.features.new_values(line.shown)) + ((line.episode.seq, line.start) == first)
        for line in lines
    }
    apart: list[AnswerCandidate] = []
    for line in sorted(lines, key=lambda line: (-weights[line.thesis_id] - line.score * is_scored, line.shown)):
        if not any(line.overlaps(other) for other in apart):
            apart.append(line)
    shown = [replace(line, shown=_show(line, day), earlier=False) for line in apart]
    return _Item(day, True, shown, weights[apart[0].thesis_id])


def _show(line: AnswerCandidate, day: date) -> str:
    """Returns the line after its day, without a date of that day at its start."""
    written = line.episode.at
    is_of_day = written is not None and written.astimezone().date() == day
    head = show_day(line.newness, line.episode, line.start, line.quote) if is_of_day else day.isoformat()
    text = line.shown.strip()
    if text.startswith(day.isoformat()):
        text = text.removeprefix(day.isoformat()).lstrip(" :,–—-") or text
    return f"{head}: {text}"


def _read_events(state: AnswerState, topic: frozenset[str], first: date, end: date) -> list[_Item]:
    """Returns the events of the time, each once, on its first day."""
    if topic and first == date.min:
        first = end - LONGEST_TIME
    if end - first > LONGEST_TIME:
        return []
    events = Topic(state)
    items: dict[int, _Item] = {}
    for day, at, event in find_dated(events, EVENTS, first, end):
        if id(event) not in items and topic <= {*events.in_heads(event), *state.features.stem_words(event.quote)}:
            weight = 1 if event.again else 2  # as many values
            line = show_entries(state, [(event, event.show_recurring(day, at))])
            items[id(event)] = _Item(day, False, line, weight)
    return list(items.values())


def _choose_items(items: Sequence[_Item], most: int, is_newest: bool) -> list[_Item]:
    """Returns at most `most` items in their order: the newest, or the most informative one of each of `most` groups."""
    if len(items) <= most or is_newest:
        return [*items[max(0, len(items) - most) :]]
    groups = np.array_split(np.arange(len(items)), most)
    return [items[max(group.tolist(), key=lambda place: (items[place].weight, place))] for group in groups]


# Changes ----------------------------------------------------------------------------------------


def list_changes(state: AnswerState) -> list[AnswerCandidate]:
    """Returns a line with the values of each fact replaced in the question's time, latest change first, if the question
    may see a passage with it."""
    conn, at, when = state.conn, state.result.time_ms, state.question.when
    if state.objects:
        near = relations.find_incident(conn, state.objects, MAX_FACTS)
    else:
        replacing = (
            "WHERE relation = 'supersedes' AND state IN ('open', 'kept') AND new_kind = 'relation'"
            " ORDER BY t DESC, id DESC LIMIT ?"
        )
        rows = revisions.list_by_clauses(conn, replacing, 200)
        near = relations.get_many(conn, sorted({row.new for row in rows}))
    since, until = (to_wall(when.since), to_wall(when.until)) if when and when.kind == "range" else (None, None)
    changed = [
        fact
        for fact in make_fact_candidates(state, select_current(near, at))
        if fact.past
        and (since is None or since <= begins_ms(fact.relation))
        and (until is None or begins_ms(fact.relation) < until)
    ]
    changed.sort(key=lambda fact: (-begins_ms(fact.relation), fact.relation.id))
    supporting = state.find_supporting([fact.relation.id for fact in changed], [])
    lines = (
        show_history(state, fact, supporting[fact.relation.id], [])
        for fact in changed
        if fact.relation.id in supporting
    )
    topic = _find_changed_topic(state)
    return [line for line in lines if topic <= frozenset(state.features.stem_words(line.shown))][:12]


def select_changed(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the lines that are or precede an earlier value, all if there are no such lines; empty if the question
    asks for any change."""
    if not state.objects and not _find_changed_topic(state):
        return []
    pairs = pairwise([*lines, *lines[-1:]])
    return [line for line, following in pairs if line.earlier or following.earlier] or [*lines]


def _find_changed_topic(state: AnswerState) -> frozenset[str]:
    """Returns the question's stems without those of names, of its time and of words for change."""
    question, stem_words = state.question, state.features.stem_words
    texts = [*state.result.named_objects.values(), question.when.words if question.when else ""]
    return frozenset(state.features.stems).difference(*map(stem_words, texts), changed_words(question.language))
