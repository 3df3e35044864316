"""Lists: questions for several things are answered with the entries of the list that they are in, counted here.

"What is still open for the move", "ingredients of the soup", "how many books": the list whose heads say what is asked,
or of all lists the tasks in that state. "What is on Friday", "when is the next rehearsal": the entries of those days.
Nothing is found where no list is clearly meant; then the sentences answer, as for any question.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta

from memory.answering.candidates import AnswerCandidate, is_current
from memory.answering.changes import list_changes
from memory.answering.entries import KINDS, Entry, Kind, read_entries
from memory.answering.event_notes import precede_with_notes
from memory.answering.features import AnswerState
from memory.answering.owner import OwnerQuestion
from memory.answering.places import read_cells, show_row
from memory.facts.attributes import CONTACT
from memory.nouns import Episode
from memory.store import calendars, episodes, graph, relations, text
from memory.store.episodes import Thesis
from memory.text.languages import stem, word_set
from memory.text.task_marks import drop_marks, drop_other_days, read_marks
from memory.text.words import Term, show_links
from memory.text.words import words as words_of
from memory.time.expressions import tense
from memory.time.recurrence import MAX_AHEAD_DAYS, Recurrence, list_event_days, move_day, read_recurrence
from memory.time.timestamps import to_wall
from memory.time.timex import fold

TASKS: tuple[Kind, ...] = ("task",)
EVENTS: tuple[Kind, ...] = ("event",)
NO_DAYS: frozenset[date] = frozenset()
LEAST_COVERED = 0.6  # share of the question's weight that a list holds, to be the one that is meant
LEAST_OF_NAME = 0.99  # of one that is only asked for by its name
LEAST_OF_ENTRY = 0.5  # the same of a task or a dated entry under its heads
LEAST_OF_APPOINTMENT = 0.99  # of one that is only asked for by "when is"
BESIDE_WEIGHT = 0.5  # of what only stands elsewhere in the passage
LEAST_ENTRIES, MAX_UNFOLDED, MAX_ENTRIES = 2, 12, 100  # of a list: for it to be one; shown at once; shown at all
MAX_TASKS_LOOKED_UP = 200
MAX_COMPOUND_PASSAGES = 30  # with a part of a compound
LEAST_COMPOUND_CHARS = 5  # of each part of one
LONGEST_TIME = timedelta(days=366)  # that entries are listed of
NEXT_WEEKS = timedelta(days=28)  # of a calendar that is asked of without a time
MAX_CONTINUED = 10  # passages that a list goes on in
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)(?:[T ]?(?:[A-Z][a-z]{2} )?(\d\d:\d\d))?")
_TASK_TAG = re.compile(r"\s*#task(?![\w/-])")
_NO_DAY = re.compile(r"(?m:^Not on: .*)|^(?:x(?: \d{4}-\d\d-\d\d)?|\([A-Z]\)) \d{4}-\d\d-\d\d")
_DETAIL = re.compile(r"(?:When|Due|Where|Who): (.+)")


@dataclass(frozen=True, slots=True)
class Found:
    """An entry in its passage, with the stems of the question that its `heads` and that it itself holds (`own`);
    `elsewhere`: days of a series that another file has."""

    episode: Episode
    entry: Entry
    heads: frozenset[str]
    own: frozenset[str]
    elsewhere: frozenset[date] = frozenset()

    @property
    def quote(self) -> str:
        """Its words in the passage."""
        return self.episode.text[self.entry.start : self.entry.end]

    @property
    def block(self) -> tuple[int, int, tuple[str, ...]]:
        """The list that it is in."""
        return self.episode.id, self.entry.block, self.entry.heads

    @property
    def again(self) -> Recurrence | None:
        """When an event comes again."""
        return read_recurrence(self.quote) if self.entry.kind == "event" else None

    def days_within(self, since: date, until: date) -> dict[date, str]:
        """The days from `since` on and before `until` on which it is, each with its time of day or ""."""
        if self.entry.kind == "event":
            return list_event_days(self.quote, since, until, self.elsewhere)
        return {day: at for day, at in self.days().items() if since <= day < until}

    def next_day(self, today: date) -> tuple[date, str] | None:
        """The first day from today on on which it is, with its time of day or ""."""
        ahead = move_day(today, MAX_AHEAD_DAYS)
        return min(self.days_within(today, date.max if self.again is None else ahead).items(), default=None)

    @property
    def stated_due(self) -> str:
        """When a task is due, as its marks say it; "" where they do not."""
        marks = dict(reversed(read_marks(self.quote))) if self.entry.kind == "task" else {}
        return marks.get("due") or marks.get("deadline") or ""

    @property
    def due(self) -> tuple[date, str] | None:
        """The day on which a task is due, by its marks; the time of day is always "". None for "next week"."""
        with suppress(ValueError):
            return date.fromisoformat(self.stated_due.strip("[]")), ""
        return None

    def days(self) -> dict[date, str]:
        """The days that it names, but for those on which it was made or done or may be begun, each with its time of
        day or ""."""
        if self.entry.kind == "event":
            again = self.again
            if again is None:
                return list_event_days(self.quote, date.min, date.max)
            return dict.fromkeys(sorted({again.first.date(), *again.listed} - again.left_out), "")
        days: dict[date, str] = {}
        for year, month, day, at in _DAY.findall(_NO_DAY.sub("", drop_other_days(self.quote))):
            try:
                days.setdefault(date(int(year), int(month), int(day)), at)
            except ValueError:
                continue
        return days


def list_entries(state: AnswerState) -> list[AnswerCandidate]:
    """The entries that a question for several things asks for, in their order, under their number where it asks how
    many there are; none if no list is meant for sure."""
    asked = state.question.type
    topic = _topic(state)
    match asked.of:
        case "open" if _asks_ahead(state):
            return _dated(state, topic, ("task", "event"), is_once=True)
        case "open" | "done":
            found = _tasks(state, topic, asked.of) or (_whole_list(state, topic) if topic else [])
        case "next":
            return _next(state, topic)
        case "when":
            return _next_appointment(state, topic)
        case "changed" | "new":
            return list_changes(state)
        case "named":
            found = _whole_list(state, topic, LEAST_OF_NAME) if topic else []
        case _:
            if (asked.of == "dated" or _asks_days(state)) and (lines := _dated(state, topic)):
                return lines
            found = _whole_list(state, topic) if topic and asked.asks_list else []
    if not found:
        return []
    lines = show_entries(state, [(one, show_entry(one)) for one in found])
    if asked.kind == "count":
        heads = found[0].entry.heads[: -1 if found[0].entry.kind == "row" else None]
        head = heads[-1] if heads else found[0].episode.title
        number = replace(lines[0], shown=f"{len(found)} ({head})", value=str(len(found)))
        return [number, *lines]
    return lines


def _asks_days(state: AnswerState) -> bool:
    """Whether it asks of nothing but some days, which are not over: "What happens on Thursday?"."""
    return _asks_ahead(state) and not state.question.topic and tense(fold(state.question.text)) != "past"


def _asks_ahead(state: AnswerState) -> bool:
    """Whether it asks of some days which are not over."""
    when = state.question.when
    return when is not None and when.kind != "now" and when.until is not None and when.until > state.question.asked_on


def _topic(state: AnswerState) -> frozenset[str]:
    """The stems of what is asked, without those that only ask for a list or say when; none of a time as a whole."""
    if not state.question.topic:
        return frozenset()
    language, when = state.question.language, state.question.when
    words = word_set("lists", "generic", language=language) | word_set("lists", "calendar", language=language)
    generic = {stem(word, language) for word in words}
    return frozenset(state.features.stems) - generic - {*state.features.stem_words(when.words if when else "")}


def _share(state: AnswerState, held: frozenset[str], topic: frozenset[str]) -> float:
    """In [0, 1]: the part of a topic's weight that some stems hold; 1 of no topic."""
    weights = dict(zip(state.features.stems, state.features.shares.tolist(), strict=True))
    total = sum(weights[one] for one in topic)
    return sum(weights[one] for one in topic & held) / total if total else 1.0


def _read(state: AnswerState, passages: Iterable[Episode], topic: frozenset[str]) -> list[Found]:
    """The entries of some passages."""
    found, parts = [], _compounds(state, topic)
    elsewhere = state.found.snapshot.entry_versions(state.conn).elsewhere
    for episode in passages:
        for entry in read_entries(episode.text):
            said = (" ".join((episode.title, *entry.heads)), episode.text[entry.start : entry.end])
            heads, own = (
                frozenset(one for one in topic if one in words or parts.get(one) in words)
                for words in map(state.features.stem_words, said)
            )
            found.append(Found(episode, entry, heads, own, elsewhere.get(episode.id, NO_DAYS)))
    return found


def _compounds(state: AnswerState, topic: frozenset[str]) -> dict[str, str]:
    """Of stems that end with a word which only asks for a list the stem of what stands before it: "Zahnarzt" of
    "Zahnarzttermin"."""
    language = state.question.language
    ends = [word for word in word_set("lists", "generic", language=language) if len(word) >= LEAST_COMPOUND_CHARS]
    return {
        one: stem(one.removesuffix(end), language)
        for one in topic
        for end in ends
        if one.endswith(end) and len(one) - len(end) >= LEAST_COMPOUND_CHARS
    }


def _hits(state: AnswerState) -> list[Episode]:
    return [hit.episode for hit in state.found.recall.hits]


# One list ---------------------------------------------------------------------------------------


def list_around(state: AnswerState, line: AnswerCandidate) -> list[AnswerCandidate]:
    """All entries of the list that a line which itself holds nothing of what is asked is one of; none if it is of no
    list."""
    topic = _topic(state)
    entries = [one for one in _read(state, [line.episode], topic) if one.entry.kind in ("item", "row")]
    mine = next((one for one in entries if one.entry.start <= line.start < one.entry.end and not one.own), None)
    if mine is None:
        return []
    found = [one for one in entries if one.block == mine.block and one.entry.level == mine.entry.level]
    found = _continued(state, found, topic) if len(found) >= LEAST_ENTRIES else []
    return show_entries(state, [(one, show_entry(one)) for one in found])


def _whole_list(state: AnswerState, topic: frozenset[str], least: float = LEAST_COVERED) -> list[Found]:
    """The entries of the list whose heads say what is asked for, those that hold what the heads do not."""
    asked = next((one for one in state.features.stems if one in topic), "")
    is_count = state.question.type.kind == "count"  # of another thing it would be a lie
    if topic - {asked} and not is_count and _is_unknown(state, asked):  # the songs of a setlist
        topic -= {asked}
        asked = next((one for one in state.features.stems if one in topic), "")
    left_out = ("event",) if is_count else ("event", "part")  # their line is as plain
    blocks: dict[tuple[int, int, tuple[str, ...]], list[Found]] = {}
    for one in _read(state, _hits(state), topic):
        if one.entry.kind not in left_out and one.entry.state != "cancelled":
            blocks.setdefault(one.block, []).append(one)
    best: tuple[tuple[float, ...], list[Found]] | None = None
    for entries in blocks.values():
        first = entries[0]
        is_named = state.features.stem_words(" ".join((*first.entry.heads[-2:], first.episode.title)))
        rest = topic - first.heads
        held = frozenset[str]().union(*(one.own & rest for one in entries))
        chosen = [one for one in entries if held <= one.own and one.entry.level == first.entry.level]
        beside = topic.intersection(state.features.stem_words(first.episode.text))
        said = _share(state, first.heads | held, topic)
        share = said + BESIDE_WEIGHT * (_share(state, first.heads | held | beside, topic) - said)
        if asked not in is_named or share < least:
            continue
        in_time = [one for one in chosen if _is_in_time(state, one)]
        heads = " ".join((first.episode.title, *first.entry.heads))
        is_like = float(state.features.cosines([heads])[0])
        newness = state.features.newness(first.episode)
        near = len(topic.intersection(state.features.stem_words(" ".join(first.entry.heads[-2:]))))
        key = (round(share, 2), _time_fit(state, heads, in_time), near, newness, is_like)
        if len(in_time) >= LEAST_ENTRIES and (best is None or key > best[0]):
            best = key, in_time
    return _continued(state, best[1], topic) if best else []


def _is_unknown(state: AnswerState, asked: str) -> bool:
    """Whether no passage holds the word of a stem of the question."""
    terms = [term for term in state.question.terms if stem(term, state.question.language) == asked]
    return not any(text.document_frequencies(state.conn, terms).values())


def _is_in_time(state: AnswerState, one: Found) -> bool:
    """Whether the days that it names, if any, lie in the time that is asked of."""
    days, when = one.days(), state.question.when
    return not days or when is None or when.kind != "range" or any(_within(state, day) for day in days)


def _time_fit(state: AnswerState, heads: str, entries: Sequence[Found]) -> float:
    """1 if a list is of the time that is asked of, by its heads or days."""
    when = state.question.when
    if when is None:
        return 0.0
    years = set(re.findall(r"\d{4}", when.words))
    named = not years.isdisjoint(re.findall(r"\d{4}", heads))
    return float(named or any(_within(state, day) for one in entries for day in one.days()))


def _continued(state: AnswerState, entries: list[Found], topic: frozenset[str]) -> list[Found]:
    """The entries with those in the passages of the same note in which their list goes on."""
    found, last = list(entries), entries[-1]
    seen = {(" ".join(one.quote.split()), one.episode.line_at(one.entry.start)) for one in found}
    passage: Episode | None = last.episode
    for _ in range(MAX_CONTINUED):
        if passage is None or passage.text[last.entry.end :].strip():
            break
        _, after = episodes.neighbours(state.conn, [passage.id]).get(passage.id, (None, None))
        passage = next(iter(episodes.by_ids(state.conn, [after])), None) if after and state.found.sees(after) else None
        if passage is None or passage.title != last.episode.title:
            break
        more = [one for one in _read(state, [passage], topic) if one.entry.kind == last.entry.kind]
        first = next(
            (one for one in more if not passage.text[: one.entry.start].strip(" \t\n-*+•|[]xX0123456789.)")), None
        )
        if first is None:
            break
        for one in more:
            key = (" ".join(one.quote.split()), passage.line_at(one.entry.start))
            if one.block == first.block and key not in seen:
                seen.add(key)
                found.append(one)
        last = more[-1]
    return found


# Tasks ------------------------------------------------------------------------------------------


def _tasks(state: AnswerState, topic: frozenset[str], wanted: str) -> list[Found]:
    """The tasks in that state that are about what is asked for best; all of the memory that are known to be, where it
    is asked of nothing."""
    passages = _hits(state) if topic else _passages_with(state, wanted) or _hits(state)
    tasks = [one for one in _read(state, passages, topic) if one.entry.state]
    shares = {id(one): _share(state, one.heads | one.own, topic) for one in tasks}
    best = max(shares.values(), default=0.0)
    tasks = [one for one in tasks if shares[id(one)] >= max(LEAST_OF_ENTRY, best - 0.01)]
    return [one for one in keep_newest(tasks) if one.entry.state == wanted]


def _passages_with(state: AnswerState, wanted: str) -> list[Episode]:
    """The passages with tasks that are known to be in a state."""
    conn = state.conn
    nodes = [node for found in graph.objects_by_norm(conn, [wanted]).values() for node in found]
    facts = [one for one in relations.find_incident(conn, nodes, MAX_TASKS_LOOKED_UP) if one.predicate == "status"]
    ids = [one.id for one in facts if is_current(one, state.found.time_ms)]
    where = [row[1] for row in relations.evidence(conn, ids)]
    outlines, _ = text.search(conn, ("todo", "done"), MAX_TASKS_LOOKED_UP)
    return episodes.by_ids(conn, [id for id in dict.fromkeys((*where, *outlines.tolist())) if state.found.sees(id)])


# Days -------------------------------------------------------------------------------------------


def _dated(
    state: AnswerState, topic: frozenset[str], kinds: Collection[Kind] = KINDS, is_once: bool = False
) -> list[AnswerCandidate]:
    """The entries of some kinds that name a day of the time that is asked of, in order, of the calendar those of the
    next weeks; `is_once`: each event on the first of its days that is not over."""
    question, when = state.question, state.question.when
    calendar = word_set("lists", "calendar", language=question.language)
    is_calendar = not calendar.isdisjoint(words_of(question.text))
    if when is None and is_calendar and not topic:
        first, end = question.today, question.today + NEXT_WEEKS
    elif when is None or when.until is None or (when.since and when.until - when.since > LONGEST_TIME):
        return []
    else:
        first, end = (when.since or question.asked_on).date(), when.until.date()
    kinds = EVENTS if is_calendar else TASKS if _asks_due(state) else kinds
    found = find_dated(state, topic, kinds, first, end)
    if is_once:
        ahead = [one for one in found if one[0] >= question.today or one[2].entry.kind == "task"]
        found = [*{id(one): (day, at, one) for day, at, one in reversed(ahead)}.values()][::-1]
    return precede_with_notes(state, show_entries(state, [(one, show_entry(one, day, at)) for day, at, one in found]))


def find_dated(
    state: AnswerState, topic: frozenset[str], kinds: Collection[Kind], first: date, end: date
) -> list[tuple[date, str, Found]]:
    """The entries of some kinds with each of their days from the `first` on and before the `end`, and its time, in
    order."""
    named = calendars.on_days(state.conn, first, end)
    passages = episodes.by_ids(state.conn, [id for id in named if state.found.sees(id)])
    found = [
        (day, at, one)
        for one in keep_newest(_read(state, passages, topic))
        if one.entry.state in ("", "open") and one.entry.kind in kinds
        if _share(state, one.heads | one.own, topic) >= LEAST_OF_ENTRY
        for day, at in one.days_within(first, end).items()
    ]
    return sorted(found, key=lambda one: (one[0], one[1], one[2].episode.id, one[2].entry.start))


def _next_appointment(state: AnswerState, topic: frozenset[str]) -> list[AnswerCandidate]:
    """The first event or task from today on that holds all of what is asked for; of what is the owner's none that is
    somebody else's, and none of what everybody has ("my birthday")."""
    owner = OwnerQuestion.from_state(state) if state.question.of_owner else None
    if tense(fold(state.question.text)) == "past" or (owner is not None and owner.attribute in CONTACT):
        return []
    found = _next(state, topic, LEAST_OF_APPOINTMENT, ("event", "task"))
    return [one for one in found if owner is None or not owner.is_of_another(one)]


def _next(
    state: AnswerState, topic: frozenset[str], least: float = LEAST_OF_ENTRY, kinds: Collection[Kind] = KINDS
) -> list[AnswerCandidate]:
    """The first entry from today on that holds so much of what is asked for."""
    if not topic:
        return []
    asks_due = _asks_due(state)
    terms = [Term(part, (f"{part}*",)) for part in _compounds(state, topic).values()]
    ids, _ = text.search(state.conn, terms, MAX_COMPOUND_PASSAGES)
    beside = episodes.by_ids(state.conn, [id for id in ids.tolist() if state.found.sees(id)])
    found = [
        (-share, *coming, one)
        for one in _read(state, [*_hits(state), *beside], topic)
        if one.own and one.entry.kind in kinds and one.entry.state in ("", "open")
        if (share := round(_share(state, one.heads | one.own, topic), 2)) >= least
        if (coming := (asks_due and one.due) or one.next_day(state.question.today)) is not None
    ]
    if not found:
        return []
    _, day, at, one = min(found, key=lambda found: (*found[:3], found[3].episode.id, found[3].entry.start))
    often = one.again.describe() if one.again else ""
    shown = ", ".join(filter(None, (show_entry(one, day, at), often)))
    return precede_with_notes(
        state, [replace(line, value=day.isoformat()) for line in show_entries(state, [(one, shown)])]
    )


def _asks_due(state: AnswerState) -> bool:
    due = "|".join(word_set("lists", "due", language=state.question.language)) or "(?!)"
    return re.search(due, state.question.text, re.IGNORECASE) is not None


def _within(state: AnswerState, day: date) -> bool:
    when = state.question.when
    assert when is not None
    since = when.since or (state.question.asked_on if when.until and when.until > state.question.asked_on else None)
    return (since is None or since.date() <= day) and (when.until is None or day < when.until.date())


# Lines ------------------------------------------------------------------------------------------


def keep_newest(entries: Iterable[Found]) -> list[Found]:
    """Each entry once: what says the same is of the newest passage."""
    newest: dict[str, Found] = {}
    for one in entries:
        key = key_of(one)
        other = newest.get(key)
        if other is None or (to_wall(one.episode.at) or 0) > (to_wall(other.episode.at) or 0):
            newest[key] = one
    return list(newest.values())


def key_of(one: Found) -> str:
    """What entries that say the same have in common: the words, of an event with its days."""
    said = strip_days(one)
    again = one.again
    return f"{said} {sorted(one.days())} {again.rules if again else ''}" if one.entry.kind == "event" else said


def strip_days(one: Found) -> str:
    """The words of an entry, in lower case, without the days that it names."""
    return " ".join(_DAY.sub("", _drop_marks(one.entry.shown)).casefold().split())


def show_entry(one: Found, day: date | None = None, time: str = "") -> str:
    """An entry as it is shown, under the `day` that was asked of and its time."""
    bare = _shown_row(one, day) if one.quote.lstrip().startswith("|") else one.entry.shown
    said = " ".join(_drop_marks(bare).split()) or bare
    said = re.sub(r"\*\*|__", "", show_links(said))
    details = [] if one.entry.kind == "item" else _DETAIL.findall(one.quote)
    if day is None:
        if one.entry.kind != "task":
            return said
        due = one.stated_due or next((day.isoformat() for day in one.days()), "")
        rule = dict(reversed(read_marks(one.quote))).get("repeats", "")
        plans = [f"due {due}" if due and due not in said else "", f"repeats {rule}" if rule else ""]
        return f"{said} ({', '.join(filter(None, plans))})" if any(plans) else said
    at = " ".join(filter(None, (day.isoformat(), time)))
    bare_details = (" ".join(_DAY.sub("", detail).replace("(all day)", "").split()) for detail in details)
    rest = [re.sub(r"^to(?! \d) ?" if time else r"^to\b ?", "", detail) for detail in bare_details]
    if details and not time and (span := re.search(r"\d\d:\d\d(?: to \d\d:\d\d)?", details[0])):
        rest[0] = span[0]
    elif details:
        at, rest[0] = f"{at} {rest[0]}".strip(), ""
    return f"{at}: {', '.join(filter(None, (said, *rest)))}"


def _drop_marks(words: str) -> str:
    return drop_marks(_TASK_TAG.sub("", words))


def _shown_row(one: Found, day: date | None) -> str:
    """A table's row without the `day` that it is shown under; of two columns without what stands over them."""
    cells = read_cells(one.quote)
    head = one.entry.heads[-1].split(" | ") if one.entry.heads else []
    kept = [place for place, cell in enumerate(cells) if not place or day is None or cell != day.isoformat()]
    is_named = len(head) == len(cells) > 2
    return show_row([cells[place] for place in kept], [head[place] for place in kept] if is_named else ())


def show_entries(state: AnswerState, found: Sequence[tuple[Found, str]]) -> list[AnswerCandidate]:
    """The lines of entries, each as it is shown; those after the first MAX_UNFOLDED are folded."""
    if more := max(0, len(found) - MAX_ENTRIES):
        last, shown = found[MAX_ENTRIES - 1]
        found = [*found[: MAX_ENTRIES - 1], (last, f"{shown} (and {more} more)")]
    theses: dict[int, list[Thesis]] = defaultdict(list)
    for thesis in episodes.theses_of(state.conn, sorted({one.episode.id for one, _ in found})):
        theses[thesis.episode_id].append(thesis)
    lines = []
    for place, (one, shown) in enumerate(found):
        begun = [thesis for thesis in theses[one.episode.id] if (thesis.span_from or 0) <= one.entry.start]
        line = AnswerCandidate.from_thesis(one.episode, (begun or theses[one.episode.id])[-1])
        folded = place >= MAX_UNFOLDED and len(found) > MAX_UNFOLDED + 1
        lines.append(replace(line, start=one.entry.start, quote=one.quote, shown=shown, folded=folded))
    return lines
