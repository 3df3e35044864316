"""Lists: a question for several things is answered with the entries of a list.

"What is still open for the move", "ingredients of the soup", "how many books": the list whose headings match the
question, or all tasks in that state. "What is on Friday", "when is the next rehearsal": the entries of those days.
If no list clearly matches, the result is empty, and sentences answer the question.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from memory.answering.candidates import AnswerCandidate, is_current
from memory.answering.entries import KINDS, NO_DAYS, Entry, Kind, keep_newest, read_entries
from memory.answering.features import AnswerState
from memory.answering.owner import OwnerQuestion
from memory.facts.attributes import CONTACT
from memory.nouns import Episode
from memory.store import calendars, episodes, graph, relations, text
from memory.store.graph import Thesis
from memory.text.languages import stem, word_set
from memory.text.words import words as words_of
from memory.time.expressions import tense
from memory.time.timex import fold

EVENTS: tuple[Kind, ...] = ("event",)
LEAST_OF_ENTRY = 0.5  # share of the topic that a task or a dated entry covers with its heads
MAX_UNFOLDED, MAX_ENTRIES = 12, 100  # of a list: shown at once; shown at all
LONGEST_TIME = timedelta(days=366)  # whose entries are listed

Shown = tuple[Entry, str]  # an entry, and its text


def list_entries(state: AnswerState) -> list[AnswerCandidate]:
    """Returns the entries that answer a question, in order, below their number if it asks how many; empty if no list
    clearly matches."""
    asked, topic = state.question.type, Topic(state)
    if asked.of in ("open", "done") and not (asked.of == "open" and topic.is_ahead):
        entries = _find_tasks(topic, asked.of) or _find_list(topic)
    elif asked.of in ("next", "when"):
        return _list_next(topic, is_appointment=asked.of == "when")
    else:
        is_open = asked.of == "open"
        asks_days = topic.is_ahead and not state.question.topic and not topic.is_past
        if is_open or asked.of == "dated" or asks_days:
            lines = _list_days(topic, ("task", "event") if is_open else KINDS, is_once=is_open)
            if lines or is_open:
                return lines
        entries = _find_list(topic) if asked.asks_list else []
    lines = show_entries(state, [(entry, entry.show()) for entry in entries])
    if lines and asked.kind == "count":
        first = entries[0]
        heads = first.heads[: -1 if first.kind == "row" else None]
        number = f"{len(entries)} ({heads[-1] if heads else first.episode.title})"
        return [replace(lines[0], shown=number, value=str(len(entries))), *lines]
    return lines


def show_entries(state: AnswerState, entries: Sequence[Shown]) -> list[AnswerCandidate]:
    """The lines of entries with their texts, at most MAX_ENTRIES; those after the first MAX_UNFOLDED are folded."""
    if more := max(0, len(entries) - MAX_ENTRIES):
        last, shown = entries[MAX_ENTRIES - 1]
        entries = [*entries[: MAX_ENTRIES - 1], (last, f"{shown} (and {more} more)")]
    theses: dict[int, list[Thesis]] = defaultdict(list)
    for thesis in episodes.theses_of(state.conn, sorted({entry.episode.id for entry, _ in entries})):
        theses[thesis.episode_id].append(thesis)
    lines = []
    for place, (entry, shown) in enumerate(entries):
        of_passage = theses[entry.episode.id]
        begun = [thesis for thesis in of_passage if (thesis.span_from or 0) <= entry.start]
        line = AnswerCandidate.from_thesis(entry.episode, (begun or of_passage)[-1])
        folded = place >= MAX_UNFOLDED and len(entries) > MAX_UNFOLDED + 1
        lines.append(replace(line, start=entry.start, quote=entry.quote, shown=shown, folded=folded))
    return lines


class Topic:
    """The topic of a question: the `stems` of its words without those of its time and generic words for lists; empty
    for a question without a topic."""

    def __init__(self, state: AnswerState) -> None:
        self.state, question = state, state.question
        when, language = question.when, question.language
        words = word_set("lists", "generic", language=language) | word_set("lists", "calendar", language=language)
        others = {stem(word, language) for word in words} | {*state.features.stem_words(when.words if when else "")}
        self.stems = frozenset(state.features.stems if question.topic else ()) - others
        self.is_past = tense(fold(question.text)) == "past"
        self.is_ahead = bool(when and when.kind != "now" and when.until and when.until > question.asked_on)
        due = "|".join(word_set("lists", "due", language=language)) or "(?!)"
        self.asks_due = re.search(due, question.text, re.IGNORECASE) is not None
        self._weights = dict(zip(state.features.stems, state.features.shares.tolist(), strict=True))

    def share(self, stems: Collection[str]) -> float:
        """Returns, in [0, 1], the share of its weight that these stems cover; 1 for an empty topic."""
        total = sum(self._weights[key] for key in self.stems)
        return sum(self._weights[key] for key in self.stems.intersection(stems)) / total if total else 1.0

    def find(self, *texts: str) -> frozenset[str]:
        """Returns the stems that these texts contain."""
        return self.stems.intersection(self.state.features.stem_words(" ".join(texts)))

    def in_heads(self, entry: Entry) -> frozenset[str]:
        """Returns the stems in the headings of an entry."""
        return self.find(entry.episode.title, *entry.heads)

    def covers(self, entry: Entry) -> float:
        """Returns the share of its weight that an entry with its headings covers."""
        return self.share(self.in_heads(entry) | self.find(entry.quote))

    def read(self, passages: Iterable[Episode] | None = None) -> Iterator[Entry]:
        """Yields the entries of these passages, by default of the retrieved ones."""
        versions = self.state.result.snapshot.entry_versions(self.state.conn)
        for passage in passages or (hit.episode for hit in self.state.result.recall.hits):
            yield from read_entries(passage, versions.elsewhere.get(passage.id, NO_DAYS))


# One list ---------------------------------------------------------------------------------------


def _find_list(topic: Topic) -> list[Entry]:
    """Returns the entries of the list that covers most of a topic: those with the words that its headings lack."""
    if not topic.stems:
        return []
    lists: dict[tuple[int, int, tuple[str, ...]], list[Entry]] = defaultdict(list)
    for entry in topic.read():
        if entry.kind != "event" and entry.state != "cancelled":
            lists[entry.episode.id, entry.block, entry.heads].append(entry)
    ranked = sorted((key, place) for place, entries in enumerate(lists.values()) if (key := _rank_list(topic, entries)))
    if not ranked:
        return []
    chosen = _choose_entries(topic, list(lists.values())[ranked[-1][1]])
    return _add_continuation(topic, chosen)


def _choose_entries(topic: Topic, entries: Sequence[Entry]) -> list[Entry]:
    """The entries of a list that have the words which its headings lack, as far as any has, and the question's time."""
    first = entries[0]
    rest = topic.stems - topic.in_heads(first)
    own = frozenset[str]().union(*(topic.find(entry.quote) & rest for entry in entries))
    chosen = [entry for entry in entries if own <= topic.find(entry.quote) and entry.level == first.level]
    when = topic.state.question.when
    if when is None or when.kind != "range":
        return chosen
    return [entry for entry in chosen if not (days := entry.days()) or any(_includes(topic, day) for day in days)]


def _rank_list(topic: Topic, entries: Sequence[Entry]) -> tuple[float, ...]:
    """Returns a sort key of how well a list matches, best highest; () if it does not."""
    state, first, chosen = topic.state, entries[0], _choose_entries(topic, entries)
    nearest = topic.find(*first.heads[-2:])
    heads = topic.in_heads(first)
    own = topic.find(*(entry.quote for entry in chosen)) - heads
    covered = topic.share(heads | own)
    share = covered + 0.5 * (topic.share(heads | own | topic.find(first.episode.text)) - covered)
    noun = next((key for key in state.features.stems if key in topic.stems), "")
    if len(chosen) < 2 or share < 0.6 or noun not in nearest | topic.find(first.episode.title):
        return ()
    title = " ".join((first.episode.title, *first.heads))
    newness, cosine = state.features.newness(first.episode), float(state.features.cosines([title])[0])
    return round(share, 2), _fits_time(topic, title, chosen), len(nearest), newness, cosine


def _fits_time(topic: Topic, title: str, entries: Sequence[Entry]) -> bool:
    """Whether the headings or days of a list are in the time of the question."""
    when = topic.state.question.when
    years = set(re.findall(r"\d{4}", when.words)) if when else set()
    if not years.isdisjoint(re.findall(r"\d{4}", title)):
        return True
    return when is not None and any(_includes(topic, day) for entry in entries for day in entry.days())


def _includes(topic: Topic, day: date) -> bool:
    """Whether the time of the question includes a day."""
    when = topic.state.question.when
    assert when is not None
    since = when.since or (topic.state.question.asked_on if topic.is_ahead else None)
    return (since is None or since.date() <= day) and (when.until is None or day < when.until.date())


def _add_continuation(topic: Topic, entries: list[Entry]) -> list[Entry]:
    """Returns the entries, with those of the next passages of the note, as far as these begin with more of their list.
    Passages overlap."""
    whole = {(entry.episode.line_at(entry.start), entry.text): entry for entry in entries}
    last, conn = entries[-1], topic.state.conn
    for _ in range(10):  # passages in which a list continues
        passage, is_whole = last.episode, not last.episode.text[last.end :].strip()
        _, after = episodes.neighbours(conn, [passage.id]).get(passage.id, (None, None))
        if not is_whole or after is None or not topic.state.result.sees(after):
            break
        (following,) = episodes.get_many(conn, [after])
        more = [entry for entry in topic.read([following]) if entry.kind == last.kind]
        if following.title != passage.title or not more or following.text[: more[0].start].strip():
            break
        of_list = [entry for entry in more if entry.block == more[0].block]
        whole |= {(following.line_at(entry.start), entry.text): entry for entry in of_list}
        last = more[-1]
    return list(whole.values())


# Tasks ------------------------------------------------------------------------------------------


def _find_tasks(topic: Topic, wanted: str) -> list[Entry]:
    """Returns the tasks in a state that match the topic best; without a topic all known tasks in that state."""
    passages = [] if topic.stems else _find_passages_with(topic.state, wanted)
    shares = [(topic.covers(entry), entry) for entry in topic.read(passages) if entry.state]
    least = max(LEAST_OF_ENTRY, max((share for share, _ in shares), default=0.0) - 0.01)
    newest = keep_newest(entry for share, entry in shares if share >= least)
    return [entry for entry in newest if entry.state == wanted]


def _find_passages_with(state: AnswerState, wanted: str) -> list[Episode]:
    """Returns the passages with tasks in a state."""
    conn = state.conn
    nodes = [node for of_name in graph.objects_by_norm(conn, [wanted]).values() for node in of_name]
    facts = [fact for fact in relations.find_incident(conn, nodes, 200) if fact.predicate == "status"]
    ids = [fact.id for fact in facts if is_current(fact, state.result.time_ms)]
    stating = [row[1] for row in relations.evidence(conn, ids)]
    outlines, _ = text.search(conn, ("todo", "done"), 200)
    return episodes.get_many(
        conn, [id for id in dict.fromkeys((*stating, *outlines.tolist())) if state.result.sees(id)]
    )


# Days -------------------------------------------------------------------------------------------


def _list_days(topic: Topic, kinds: Collection[Kind], is_once: bool) -> list[AnswerCandidate]:
    """Returns the entries of these kinds on the days of the question, in order; of a calendar without a time those of
    the next weeks. `is_once`: each event only on the first of its days that is not over."""
    question, when = topic.state.question, topic.state.question.when
    calendar = word_set("lists", "calendar", language=question.language)
    is_calendar = not calendar.isdisjoint(words_of(question.text))
    if when is None and is_calendar and not topic.stems:
        first, end = question.today, question.today + timedelta(days=28)  # of a calendar, if the question names no time
    elif when is None or when.until is None or (when.since and when.until - when.since > LONGEST_TIME):
        return []
    else:
        first, end = (when.since or question.asked_on).date(), when.until.date()
    rows = find_dated(topic, EVENTS if is_calendar else ("task",) if topic.asks_due else kinds, first, end)
    if is_once:
        ahead = [row for row in rows if row[0] >= question.today or row[2].kind == "task"]
        rows = [*{id(row[2]): row for row in reversed(ahead)}.values()][::-1]
    return show_entries(topic.state, [(entry, entry.show(day, at)) for day, at, entry in rows])


def find_dated(topic: Topic, kinds: Collection[Kind], first: date, end: date) -> list[tuple[date, str, Entry]]:
    """Returns (day, time of day, entry) for the entries of these kinds on each of their days from `first` on and before
    `end`, in order."""
    conn = topic.state.conn
    named = [id for id in calendars.find_on_days(conn, first, end) if topic.state.result.sees(id)]
    rows = [
        (day, at, entry)
        for entry in keep_newest(topic.read(episodes.get_many(conn, named)) if named else ())
        if entry.state in ("", "open") and entry.kind in kinds and topic.covers(entry) >= LEAST_OF_ENTRY
        for day, at in entry.days_within(first, end).items()
    ]
    return sorted(rows, key=lambda row: (row[0], row[1], row[2].episode.id, row[2].start))


def _list_next(topic: Topic, is_appointment: bool) -> list[AnswerCandidate]:
    """The next entry that covers most of the topic. As an appointment ("when is") only an event or task that covers all
    of it; for the owner none that belongs to another person, and none for what everybody has ("my birthday")."""
    state = topic.state
    owner = OwnerQuestion.from_state(state) if is_appointment and state.question.of_owner else None
    if not topic.stems or (is_appointment and topic.is_past) or (owner is not None and owner.attribute in CONTACT):
        return []
    kinds = ("event", "task") if is_appointment else KINDS
    least = 0.99 if is_appointment else LEAST_OF_ENTRY  # the same, where only "when is" asks
    matches = [
        (-share, *coming, entry.episode.id, entry.start, entry)
        for entry in topic.read()
        if entry.kind in kinds and entry.state in ("", "open") and topic.find(entry.quote)
        if (share := round(topic.covers(entry), 2)) >= least
        if (coming := (topic.asks_due and entry.due) or entry.next_day(state.question.today)) is not None
    ]
    if not matches:
        return []
    _, day, at, *_, entry = min(matches, key=lambda match: match[:-1])
    lines = show_entries(state, [(entry, entry.show_recurring(day, at))])
    return [replace(line, value=day.isoformat()) for line in lines if owner is None or not owner.is_of_another(line)]
