"""What the first pages show: the owner's profile, plans, and questions worth asking.

The profile has names, addresses, people, things, and their history, from facts whose subject is the owner only: a phone
number in a note about a plumber belongs to the plumber. Questions are proposals: the caller tries each first, because a
question without one clear answer is worse than none."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

from memory.answering.entries import NO_DAYS, Entry, keep_newest, read_entries
from memory.facts.attributes import CONTACT, FAMILY, attribute_of, attribute_words, title_spellings
from memory.facts.rules.phrases import value_kind
from memory.nouns import Fact, Profile, ProfileEntry
from memory.store import browse, calendars, episodes, facts, graph, sources
from memory.store.connect import Connection
from memory.text.mentions import is_name
from memory.text.predicates import same_value
from memory.text.words import words
from memory.time.timestamps import from_ms, now_ms, wall_of
from memory.views import PlannedEntry

ORDER = (
    "birthday", "address", "phone", "email", "employer", "role", "manager", "car", "bank", "insurance", "passport",
)  # fmt: skip


def read_profile(conn: Connection, names: Mapping[str, str], now: int) -> Profile:
    """Returns the profile at a time (ms UTC). `names`: names of the owner -> their origin."""
    own = graph.owner(conn)
    called = set(graph.object_labels(conn, own).values())
    about = {uri for uri, _, _ in sources.list_titled(conn, title_spellings())}
    stated = [fact for fact in facts.list_about(conn, own, now, now, True, relations=True) if fact.objects[0] in called]
    slots: dict[str, list[Fact]] = {}
    for fact in stated:
        key = _find_slot(fact.predicate or "", fact.uri in about)
        ended = fact.retired is not None and fact.superseded_by is None
        if key and not ended and fact.modality in ("asserted", "past"):
            slots.setdefault(key, []).append(fact)
    entries = [_make_entry(key, slot_facts, now) for key, slot_facts in slots.items()]
    return Profile(tuple(names), tuple(dict.fromkeys(names.values())), tuple(sorted(entries, key=_find_place)))


def _find_slot(predicate: str, about: bool) -> str | None:
    """Returns the key of a fact in the profile: any field of a note about the owner; of other notes only common
    attributes of people."""
    key = attribute_of(predicate)
    if about:
        return key or predicate
    return key if key and all(word in attribute_words(key) | {"address"} for word in words(predicate)) else None


def _make_entry(key: str, slot_facts: list[Fact], now: int) -> ProfileEntry:
    slot_facts.sort(key=lambda fact: (fact.valid_from or fact.recorded, fact.id), reverse=True)
    at = from_ms(now)
    holding: list[Fact] = []
    before: list[Fact] = []
    for fact in slot_facts:
        is_over = fact.valid_to is not None and fact.valid_to <= at
        holds = fact.superseded_by is None and fact.modality == "asserted" and not is_over
        compared = holding if holds else [*holding, *before]
        if not any(same_value(fact.objects[-1], other.objects[-1]) for other in compared):
            (holding if holds else before).append(fact)
    return ProfileEntry(key, tuple(holding), tuple(before))


def _find_place(entry: ProfileEntry) -> tuple[int, str]:
    """Sort key: contact details, attributes of everybody, family, others."""
    if entry.key in ORDER:
        return ORDER.index(entry.key), ""
    return len(ORDER) + (entry.key not in CONTACT) + (entry.key not in FAMILY), entry.key


MAX_PASSAGES = 300  # the newest, which are read for plans, as many with open tasks; from which questions are made
OVERDUE = timedelta(days=14)  # how long an open task is listed that names the day without a mark of "due"
MAX_TASKS = 1000  # the newest
_CLOCK = re.compile(r", (\d\d:\d\d(?: to \d\d:\d\d)?)(?=,|$)")


def list_planned(conn: Connection, today: date, days: int) -> list[PlannedEntry]:
    """The planned entries of the next `days` days and the overdue tasks, by day and time."""
    end = today + timedelta(days=days)
    named = calendars.find_on_days(conn, today - OVERDUE, end)
    is_open = browse.list_open_tasks(conn, MAX_TASKS)
    versions = calendars.find_entry_versions(conn)
    alive = episodes.alive(conn, [*named, *is_open]) - versions.outdated
    newest = {id for ids in (named, is_open) for id in sorted(alive.intersection(ids), reverse=True)[:MAX_PASSAGES]}
    entries = keep_newest(_read_passages(conn, sorted(newest, reverse=True), versions.elsewhere))
    planned = [plan for entry in entries for plan in _list_days(entry, today, end)]
    return sorted(planned, key=lambda plan: (plan.day, plan.time, plan.episode_id, plan.line or 0))


def _read_passages(conn: Connection, passages: list[int], elsewhere: Mapping[int, frozenset[date]]) -> Iterator[Entry]:
    for episode in episodes.get_many(conn, passages):
        entries = read_entries(episode, elsewhere.get(episode.id, NO_DAYS))
        yield from (entry for entry in entries if entry.state in ("", "open"))


def _list_days(entry: Entry, today: date, end: date) -> Iterator[PlannedEntry]:
    is_task, episode = entry.kind == "task", entry.episode
    days = entry.days_within(today - OVERDUE if is_task else today, end)
    if entry.due and entry.due[0] < today:
        days = dict([entry.due]) | days
    for day, at in days.items():
        head, _, text = entry.show(day, at).partition(": ")
        time = head.removeprefix(day.isoformat()).strip()
        if not time and (match := _CLOCK.search(text)):  # of a recurring event, after its name
            time, text = match[1], text[: match.start()] + text[match.end() :]
        text = text.removeprefix(f"{day.isoformat()} ").removeprefix(f"{time} ")  # of a line that begins with them
        line = episode.line_at(entry.start)
        yield PlannedEntry(day.isoformat(), time, text, is_task, episode.source.uri, episode.title, line, episode.id)


MAX_NAMES = 12
MAX_NAME_CHARS, MAX_VALUE_CHARS = 40, 60
_PLACE = re.compile(r"(?P<verb>live|work|stay|keep)s? (?:in|at|to)")


Proposal = tuple[str, str]  # a question, and words that the line of a clear answer has


def propose_questions(conn: Connection, changed: Sequence[Fact]) -> list[Proposal]:
    """Proposals, best first. `changed`: facts that replaced others."""
    things = browse.list_mentioned_things(conn, browse.list_newest_episodes(conn, MAX_PASSAGES), MAX_NAMES)
    now = now_ms()
    known = facts.list_about(conn, [id for id, _ in things], now, wall_of(now), relations=True)
    names = [label for _, label in things if len(label) <= MAX_NAME_CHARS and is_name(label)]
    # The doctor below the heading "Dad" is not that of the note "People".
    own = (
        fact for fact in (*changed, *known) if not graph.all_by_norm(conn, (fact.predicate or "").rpartition(" ")[0])
    )
    return list(dict.fromkeys(_ask_about_facts(own, names)))


def _ask_about_facts(candidates: Iterable[Fact], names: Sequence[str]) -> Iterator[Proposal]:
    for fact in candidates:
        if fact.predicate and fact.modality == "asserted" and fact.superseded_by is None and fact.objects[0] in names:
            value, question = fact.objects[-1], _ask_for(fact.objects[0], fact.predicate)
            is_value = is_name(value) or value_kind(value) != "word"
            if question and is_value and len(value) <= MAX_VALUE_CHARS:
                yield question, value


def _ask_for(subject: str, predicate: str) -> str:
    """A question for the value of a relation; "" if its predicate is neither a place's nor ends in an attribute."""
    if place := _PLACE.fullmatch(predicate):
        return f"Where does {subject} {place['verb']}?"
    attribute = attribute_of(predicate.rpartition(" ")[2])
    noun = predicate if attribute and predicate.endswith(attribute) else attribute
    return f"{'When' if attribute == 'birthday' else 'What'} is {subject}'s {noun}?" if noun else ""
