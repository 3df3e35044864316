"""Lists: a question for several things is answered with the entries of a list.

"What is still open for the move", "ingredients of the soup", "how many books": the list whose headings match the
question, or all tasks in that state. "What is on Friday", "when is the next rehearsal": the entries of those days.
"What changed about Mara Quill": each fact that replaced another, with its former values and the sources of both.
If no list clearly matches, the result is empty, and sentences answer the question.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

from memory.answering.candidates import AnswerCandidate, begins_ms, is_current, read_names, select_current
from memory.answering.entries import KINDS, Kind
from memory.answering.facts import MAX_FACTS_NEAR, FactCandidate, show_history
from memory.answering.features import AnswerState
from memory.answering.listed_entries import (
    ListedEntry,
    keep_newest,
    list_passage_entries,
    precede_with_notes,
    share_of,
    show_entries,
    show_entry,
)
from memory.answering.owner import OwnerQuestion
from memory.facts.attributes import CONTACT
from memory.nouns import Episode
from memory.retrieval.question_type import changed_words
from memory.store import calendars, episodes, graph, relations, revisions, text
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.languages import stem, word_set
from memory.text.predicates import statement
from memory.text.words import words as words_of
from memory.time.expressions import tense
from memory.time.timestamps import to_wall
from memory.time.timex import fold

TASKS: tuple[Kind, ...] = ("task",)
EVENTS: tuple[Kind, ...] = ("event",)
LEAST_COVERED = 0.6  # share of the question's weight that a list must cover
LEAST_OF_ENTRY = 0.5  # the same, of a task or a dated entry with its heads
LEAST_OF_APPOINTMENT = 0.99  # the same, where only "when is" asks
PASSAGE_WEIGHT = 0.5  # of words that are elsewhere in the passage
LEAST_ENTRIES = 2  # of a list
MAX_TASKS_LOOKED_UP = 200
LONGEST_TIME = timedelta(days=366)  # whose entries are listed
NEXT_WEEKS = timedelta(days=28)  # of a calendar, if the question names no time
MAX_CONTINUED = 10  # passages in which a list continues


def list_entries(state: AnswerState) -> list[AnswerCandidate]:
    """The entries that answer a question, in order, below their number if it asks how many; empty if no list clearly
    matches."""
    asked, topic = state.question.type, _find_topic(state)
    match asked.of:
        case "open" if _asks_ahead(state):
            return _list_dated(state, topic, ("task", "event"), is_once=True)
        case "open" | "done":
            entries = _find_tasks(state, topic, asked.of) or (_find_list(state, topic) if topic else [])
        case "next":
            return _list_next(state, topic)
        case "when":
            return _list_next_appointment(state, topic)
        case "changed" | "new":
            return list_changes(state)
        case _:
            if (asked.of == "dated" or _asks_days(state)) and (lines := _list_dated(state, topic)):
                return lines
            entries = _find_list(state, topic) if topic and asked.asks_list else []
    if not entries:
        return []
    lines = _show(state, entries)
    if asked.kind == "count":
        first = entries[0]
        heads = first.entry.heads[: -1 if first.entry.kind == "row" else None]
        head = heads[-1] if heads else first.episode.title
        number = replace(lines[0], shown=f"{len(entries)} ({head})", value=str(len(entries)))
        return [number, *lines]
    return lines


def _show(state: AnswerState, entries: Sequence[ListedEntry]) -> list[AnswerCandidate]:
    return show_entries(state, [(listed, show_entry(listed)) for listed in entries])


def _asks_days(state: AnswerState) -> bool:
    """Whether the question names nothing but days that are not over: "What happens on Thursday?"."""
    return _asks_ahead(state) and not state.question.topic and tense(fold(state.question.text)) != "past"


def _asks_ahead(state: AnswerState) -> bool:
    """Whether the question names days that are not over."""
    when = state.question.when
    return when is not None and when.kind != "now" and when.until is not None and when.until > state.question.asked_on


def _find_topic(state: AnswerState) -> frozenset[str]:
    """The stems of the question without those of generic words for lists and of its time; empty without a topic."""
    if not state.question.topic:
        return frozenset()
    language, when = state.question.language, state.question.when
    words = word_set("lists", "generic", language=language) | word_set("lists", "calendar", language=language)
    generic = {stem(word, language) for word in words}
    return frozenset(state.features.stems) - generic - {*state.features.stem_words(when.words if when else "")}


def _list_hits(state: AnswerState) -> list[Episode]:
    return [hit.episode for hit in state.found.recall.hits]


# One list ---------------------------------------------------------------------------------------


def _find_list(state: AnswerState, topic: frozenset[str]) -> list[ListedEntry]:
    """The entries of the list that covers most of a topic: those with the words that its headings lack."""
    noun = next((key for key in state.features.stems if key in topic), "")
    lists: dict[tuple[int, int, tuple[str, ...]], list[ListedEntry]] = {}
    for listed in list_passage_entries(state, _list_hits(state), topic):
        if listed.entry.kind != "event" and listed.entry.state != "cancelled":
            lists.setdefault(listed.block, []).append(listed)
    best: tuple[tuple[float, ...], list[ListedEntry]] | None = None
    stem_words = state.features.stem_words
    for entries in lists.values():
        first = entries[0]
        rest = topic - first.heads
        own = frozenset[str]().union(*(listed.own & rest for listed in entries))
        in_passage = topic.intersection(stem_words(first.episode.text))
        covered = share_of(state, first.heads | own, topic)
        share = covered + PASSAGE_WEIGHT * (share_of(state, first.heads | own | in_passage, topic) - covered)
        if share < LEAST_COVERED or noun not in stem_words(" ".join((*first.entry.heads[-2:], first.episode.title))):
            continue
        chosen = [one for one in entries if own <= one.own and one.entry.level == first.entry.level]
        in_time = [listed for listed in chosen if _is_in_time(state, listed)]
        heads = " ".join((first.episode.title, *first.entry.heads))
        cosine = float(state.features.cosines([heads])[0])
        newness = state.features.newness(first.episode)
        near = len(topic.intersection(stem_words(" ".join(first.entry.heads[-2:]))))
        key = (round(share, 2), _fit_time(state, heads, in_time), near, newness, cosine)
        if len(in_time) >= LEAST_ENTRIES and (best is None or key > best[0]):
            best = key, in_time
    return _add_continuation(state, best[1], topic) if best else []


def _is_in_time(state: AnswerState, listed: ListedEntry) -> bool:
    """Whether an entry names no day, or one in the time of the question."""
    days, when = listed.days(), state.question.when
    return not days or when is None or when.kind != "range" or any(_includes(state, day) for day in days)


def _fit_time(state: AnswerState, heads: str, entries: Sequence[ListedEntry]) -> float:
    """1 if the headings or days of a list are in the time of the question, else 0."""
    when = state.question.when
    if when is None:
        return 0.0
    years = set(re.findall(r"\d{4}", when.words))
    is_named = not years.isdisjoint(re.findall(r"\d{4}", heads))
    return float(is_named or any(_includes(state, day) for listed in entries for day in listed.days()))


def _add_continuation(state: AnswerState, entries: list[ListedEntry], topic: frozenset[str]) -> list[ListedEntry]:
    """The entries, with those of the next passages of the note in which their list continues."""
    whole, last = list(entries), entries[-1]
    seen = {(" ".join(listed.quote.split()), listed.episode.line_at(listed.entry.start)) for listed in whole}
    passage: Episode | None = last.episode
    for _ in range(MAX_CONTINUED):
        if passage is None or passage.text[last.entry.end :].strip():
            break
        _, after = episodes.neighbours(state.conn, [passage.id]).get(passage.id, (None, None))
        passage = next(iter(episodes.by_ids(state.conn, [after])), None) if after and state.found.sees(after) else None
        if passage is None or passage.title != last.episode.title:
            break
        here = list_passage_entries(state, [passage], topic)
        more = [listed for listed in here if listed.entry.kind == last.entry.kind]
        is_first = (one for one in more if not passage.text[: one.entry.start].strip(" \t\n-*+•|[]xX0123456789.)"))
        if (first := next(is_first, None)) is None:
            break
        for listed in more:
            key = (" ".join(listed.quote.split()), passage.line_at(listed.entry.start))
            if listed.block == first.block and key not in seen:
                seen.add(key)
                whole.append(listed)
        last = more[-1]
    return whole


# Tasks ------------------------------------------------------------------------------------------


def _find_tasks(state: AnswerState, topic: frozenset[str], wanted: str) -> list[ListedEntry]:
    """The tasks in a state that match the topic best; without a topic all known tasks in that state."""
    passages = _list_hits(state) if topic else _find_passages_with(state, wanted) or _list_hits(state)
    tasks = [listed for listed in list_passage_entries(state, passages, topic) if listed.entry.state]
    shares = {id(listed): share_of(state, listed.heads | listed.own, topic) for listed in tasks}
    least = max(LEAST_OF_ENTRY, max(shares.values(), default=0.0) - 0.01)
    newest = keep_newest(listed for listed in tasks if shares[id(listed)] >= least)
    return [listed for listed in newest if listed.entry.state == wanted]


def _find_passages_with(state: AnswerState, wanted: str) -> list[Episode]:
    """The passages with tasks in a state."""
    conn = state.conn
    nodes = [node for of_name in graph.objects_by_norm(conn, [wanted]).values() for node in of_name]
    facts = [fact for fact in relations.find_incident(conn, nodes, MAX_TASKS_LOOKED_UP) if fact.predicate == "status"]
    ids = [fact.id for fact in facts if is_current(fact, state.found.time_ms)]
    stating = [row[1] for row in relations.evidence(conn, ids)]
    outlines, _ = text.search(conn, ("todo", "done"), MAX_TASKS_LOOKED_UP)
    return episodes.by_ids(conn, [id for id in dict.fromkeys((*stating, *outlines.tolist())) if state.found.sees(id)])


# Days -------------------------------------------------------------------------------------------


def _list_dated(
    state: AnswerState, topic: frozenset[str], kinds: Collection[Kind] = KINDS, is_once: bool = False
) -> list[AnswerCandidate]:
    """The entries of these kinds on the days of the question, in order; of a calendar without a time those of the next
    weeks. `is_once`: each event only on the first of its days that is not over."""
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
    dated = find_dated(state, topic, kinds, first, end)
    if is_once:
        ahead = [row for row in dated if row[0] >= question.today or row[2].entry.kind == "task"]
        dated = [*{id(listed): (day, at, listed) for day, at, listed in reversed(ahead)}.values()][::-1]
    shown = [(listed, show_entry(listed, day, at)) for day, at, listed in dated]
    return precede_with_notes(state, show_entries(state, shown))


def find_dated(
    state: AnswerState, topic: frozenset[str], kinds: Collection[Kind], first: date, end: date
) -> list[tuple[date, str, ListedEntry]]:
    """(day, time of day, entry) for the entries of these kinds on each of their days from `first` on and before `end`,
    in order."""
    dated = calendars.on_days(state.conn, first, end)
    passages = episodes.by_ids(state.conn, [id for id in dated if state.found.sees(id)])
    rows = [
        (day, at, listed)
        for listed in keep_newest(list_passage_entries(state, passages, topic))
        if listed.entry.state in ("", "open") and listed.entry.kind in kinds
        if share_of(state, listed.heads | listed.own, topic) >= LEAST_OF_ENTRY
        for day, at in listed.days_within(first, end).items()
    ]
    return sorted(rows, key=lambda row: (row[0], row[1], row[2].episode.id, row[2].entry.start))


def _list_next_appointment(state: AnswerState, topic: frozenset[str]) -> list[AnswerCandidate]:
    """The next event or task that covers the whole topic; for the owner none that belongs to another user, and none
    for what everybody has ("my birthday")."""
    owner = OwnerQuestion.from_state(state) if state.question.of_owner else None
    if tense(fold(state.question.text)) == "past" or (owner is not None and owner.attribute in CONTACT):
        return []
    lines = _list_next(state, topic, LEAST_OF_APPOINTMENT, ("event", "task"))
    return [line for line in lines if owner is None or not owner.is_of_another(line)]


def _list_next(
    state: AnswerState, topic: frozenset[str], least: float = LEAST_OF_ENTRY, kinds: Collection[Kind] = KINDS
) -> list[AnswerCandidate]:
    """The next entry that covers at least this share of the topic."""
    if not topic:
        return []
    asks_due = _asks_due(state)
    matches = [
        (-share, *coming, listed)
        for listed in list_passage_entries(state, _list_hits(state), topic)
        if listed.own and listed.entry.kind in kinds and listed.entry.state in ("", "open")
        if (share := round(share_of(state, listed.heads | listed.own, topic), 2)) >= least
        if (coming := (asks_due and listed.due) or listed.next_day(state.question.today)) is not None
    ]
    if not matches:
        return []
    _, day, at, listed = min(matches, key=lambda match: (*match[:3], match[3].episode.id, match[3].entry.start))
    often = listed.again.describe() if listed.again else ""
    shown = ", ".join(filter(None, (show_entry(listed, day, at), often)))
    lines = [replace(line, value=day.isoformat()) for line in show_entries(state, [(listed, shown)])]
    return precede_with_notes(state, lines)


def _asks_due(state: AnswerState) -> bool:
    due = "|".join(word_set("lists", "due", language=state.question.language)) or "(?!)"
    return re.search(due, state.question.text, re.IGNORECASE) is not None


def _includes(state: AnswerState, day: date) -> bool:
    """Whether the time of the question includes a day."""
    when = state.question.when
    assert when is not None
    since = when.since or (state.question.asked_on if when.until and when.until > state.question.asked_on else None)
    return (since is None or since.date() <= day) and (when.until is None or day < when.until.date())


# Changes ----------------------------------------------------------------------------------------

MAX_CHANGES = 12  # lines
MAX_REVISIONS = 200  # the newest, read if the question names no object


def list_changes(state: AnswerState) -> list[AnswerCandidate]:
    """A line with the values of each fact that replaced another in the question's time, the latest change first."""
    conn, at = state.conn, state.found.time_ms
    if state.objects:
        near = relations.find_incident(conn, state.objects, MAX_FACTS_NEAR)
    else:
        near = relations.by_id(conn, _list_replacing(conn))
    current = select_current(near, at)
    past = relations.predecessors(conn, [fact.id for fact in current])
    changed = [fact for fact in current if past[fact.id] and _is_time_asked(state, begins_ms(fact))]
    changed.sort(key=lambda fact: (-begins_ms(fact), fact.id))
    lines = [line for fact in changed for line in _show_change(state, fact, past[fact.id])]
    topic = _find_changed_topic(state)
    return [line for line in lines if topic <= frozenset(state.features.stem_words(line.shown))][:MAX_CHANGES]


def select_changed(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The lines that are or precede an earlier value, all if there is none; empty if the question asks for any
    change."""
    if not state.objects and not _find_changed_topic(state):
        return []
    pairs = pairwise([*lines, *lines[-1:]])
    return [line for line, following in pairs if line.earlier or following.earlier] or [*lines]


def _list_replacing(conn: Connection) -> list[int]:
    """The relations that replaced others in the newest revisions."""
    rows = revisions.list_by_clauses(
        conn,
        "WHERE relation = 'supersedes' AND state IN ('open', 'kept') AND new_kind = 'relation'"
        " ORDER BY t DESC, id DESC LIMIT ?",
        MAX_REVISIONS,
    )
    return sorted({row.new for row in rows})


def _is_time_asked(state: AnswerState, ms: int) -> bool:
    """Whether the time of the question includes a time (ms UTC)."""
    when = state.question.when
    if when is None or when.kind != "range":
        return True
    since, until = to_wall(when.since), to_wall(when.until)
    return (since is None or since <= ms) and (until is None or ms < until)


def _find_changed_topic(state: AnswerState) -> frozenset[str]:
    """The question's stems without those of names, of its time and of words for change."""
    question, stem_words = state.question, state.features.stem_words
    texts = [*state.found.named_objects.values(), question.when.words if question.when else ""]
    stems = frozenset(stem for text in texts for stem in stem_words(text))
    return frozenset(state.features.stems) - stems - changed_words(question.language)


def _show_change(state: AnswerState, fact: Relation, past: Sequence[int]) -> list[AnswerCandidate]:
    """The line of a fact; empty if the question may see no passage that states it."""
    supporting = state.find_supporting([fact.id], [])
    if fact.id not in supporting:
        return []
    names = read_names(state.conn, [fact])
    subject, value = names[fact.subject], names[fact.object]
    words = statement(subject, fact.predicate, value)
    candidate = FactCandidate(fact, subject, value, words, past, (), ())
    return [show_history(state, candidate, supporting[fact.id], [])]
