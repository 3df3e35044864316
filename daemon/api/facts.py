"""Facts, objects, the graph, notes by their words; how facts changed, what a person decides about that, and its news;
names, tags, the owner's profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from daemon import wire
from daemon.api.services import Cache, Services
from daemon.calls.knowledge import Findable, State, Verdict
from daemon.jobs.activity import quote_sentences
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import BY_HAND, TOLD, Document
from memory.text.mentions import norm
from memory.text.predicates import statement
from memory.views import PlannedEntry

MOST_REVISIONS = 1000
MOST_TAGS = 1000
PROFILE = "note:me/"  # how the uris of entries begin that were set by hand
PROFILE_TITLE = "About me"
MOST_KEY, MOST_VALUE = 40, 200  # characters
NEWEST = 20  # revisions that are looked at
SHOWN = 5  # of each kind
MAX_PLANNED, MAX_OVERDUE = 30, 10
DAYS = 9  # of plans: today, and the eight days after it
SUGGESTED = 3


def revisions(memory: Memory, state: State, about: str | None, limit: int) -> wire.RevisionsReply:
    with memory.store.reading():
        listed = quote_sentences(memory, memory.knowledge.revisions(state, max(0, min(limit, MOST_REVISIONS)), about))
        alias_suspects = memory.knowledge.list_alias_suspects()
        return wire.RevisionsReply(tuple(listed), memory.knowledge.count_open_revisions(), alias_suspects)


def revision(memory: Memory, id: int) -> wire.Revision:
    with memory.store.reading():
        return quote_sentences(memory, [memory.knowledge.revision(id)])[0]


def names(memory: Memory, one: str, other: str, same: bool) -> wire.Names:
    decide = memory.knowledge.join_names if same else memory.knowledge.separate_names
    return wire.Names(one, other, same, decide(one, other))


def names_beginning(memory: Memory, begin: str, limit: int) -> tuple[str, ...]:
    folded = norm(begin)
    return tuple(memory.knowledge.names_beginning(folded, limit)) if folded else ()


def tags(memory: Memory) -> tuple[wire.Tag, ...]:
    return tuple(wire.Tag(*row) for row in memory.sources.count_tags(MOST_TAGS))


def settle(services: Services, id: int, verdict: Verdict) -> wire.Revision:
    return settle_revision(services.memory, services.activity.publish, id, verdict)


def settle_revision(memory: Memory, publish: Callable[[wire.Event], None], id: int, verdict: str) -> wire.Revision:
    """Stores a decision about a revision, in a unit of the writer. InvalidInputError, NotFoundError."""
    settled = memory.knowledge.undo(id) if verdict == "undo" else memory.knowledge.settle(id, verdict)  # type: ignore[arg-type]
    seen = revision(memory, settled.id)
    publish(wire.FactChanged(seen))
    return seen


# A profile that a person enters by hand: each key is a separate note, so that it has a date and a history, and can be
# undone like any other.


def profile(memory: Memory) -> wire.ProfileReply:
    return wire.ProfileReply(memory.knowledge.profile())


def set_profile(memory: Memory, key: str, value: str) -> wire.ProfileReply:
    key, value = _check_key(key), _check_value(value)
    uri, now = PROFILE + key, datetime.now().astimezone()
    note = Document(uri, f"{key}: {value}", title=PROFILE_TITLE, reader=TOLD, at=now, properties={key: value})
    memory.ingest.remember_many([note])
    made = [
        change
        for change in memory.knowledge.revisions("all", NEWEST)
        if change.new.uri == uri and change.state == "open"
    ]
    changes = [change for change in made if change.new.objects[-1:] == (value,)]  # a sentence of the note has no value
    return wire.ProfileReply(memory.knowledge.profile(), tuple(changes))


def remove_from_profile(memory: Memory, key: str) -> wire.ProfileReply:
    uri = PROFILE + _check_key(key)
    if memory.sources.get(uri) is None:
        facts = next((entry.facts for entry in memory.knowledge.profile().entries if entry.key == _check_key(key)), ())
        remedy = f" It is in {facts[0].uri}; edit it there." if facts else ""
        raise NotFoundError(f"You have not stated your {key} here.{remedy}")
    memory.ingest.retire(uri)
    return profile(memory)


def _check_value(value: str) -> str:
    value = " ".join(value.split())
    if not 0 < len(value) <= MOST_VALUE:
        raise InvalidInputError(f"The value has {len(value)} characters; write 1 to {MOST_VALUE}.")
    return value


def _check_key(key: str) -> str:
    key = " ".join(key.casefold().split())
    if not 0 < len(key) <= MOST_KEY or not all(char.isalnum() or char in " -" for char in key):
        raise InvalidInputError(f"{key[:MOST_KEY]!r} is no name of a thing. Write one like phone, address or sister.")
    return key


def search(memory: Memory, what: Findable, words: str, limit: int, offset: int) -> wire.SearchReply:
    browsing = memory.browsing
    find: Mapping[str, Callable[..., tuple[Sequence[Any], int]]] = {
        "objects": browsing.find_objects, "facts": browsing.find_facts, "notes": browsing.find_sources
    }  # fmt: skip
    rows, total = find[what](words, limit, offset)
    return wire.SearchReply(total, **{what: tuple(rows)})


def correct(memory: Memory, fact: int, value: str) -> wire.Corrected:
    """Corrects a fact by a note written by hand."""
    old, value = memory.knowledge.fact(fact), _check_value(value)
    if old.kind != "relation" or not old.holds:
        raise InvalidInputError("Only a current fact can be corrected. Edit its note.")
    if value == old.objects[-1]:
        raise InvalidInputError("That is its value already.")
    text = statement(old.objects[0], old.predicate or "is", value)
    note = Document(f"{BY_HAND}{fact}", text, title="Said by hand", at=datetime.now().astimezone())
    (receipt,) = memory.ingest.remember_many([note])
    new = memory.knowledge.correct(fact, value, receipt.episode_ids[0])
    return wire.Corrected(memory.knowledge.fact(fact), memory.knowledge.fact(new))


def take_back_correction(memory: Memory, fact: int) -> wire.Corrected:
    old = memory.knowledge.fact(fact)
    if memory.sources.get(f"{BY_HAND}{fact}") is None:
        raise NotFoundError("This fact was not corrected by hand.")
    memory.ingest.retire(f"{BY_HAND}{fact}")
    return wire.Corrected(memory.knowledge.fact(old.id))


def home(services: Services, since: datetime | None, day: str) -> wire.Home:
    planned = list_plans(services.memory, services.cache, _parse_day(day) if day else date.today())
    return digest(services.memory, planned, since, day)


def suggestions(services: Services) -> wire.SuggestionsReply:
    return services.cache.get(("suggestions", date.today()), lambda: suggest(services.memory))


def list_plans(memory: Memory, cache: Cache, day: date) -> Sequence[PlannedEntry]:
    """Returns the planned entries from a day on; cached, because finding them reads passages."""
    return cache.get(("plans", day), lambda: memory.knowledge.list_planned(day, DAYS))


def digest(memory: Memory, planned: Sequence[PlannedEntry], since: datetime | None, day: str = "") -> wire.Home:
    """Returns the changes since a time (until the end of `day`), the newest open revision and the plans.
    InvalidInputError for an invalid day."""
    from memory.insight.overview import OVERDUE

    today = _parse_day(day) if day else date.today()
    overdue = [entry for entry in planned if entry.day < today.isoformat()]
    planned = [entry for entry in planned if entry.day >= (today - OVERDUE).isoformat()]
    until = datetime.combine(today, time.max).astimezone() if day else None
    with memory.store.reading():
        changed, changed_total = memory.knowledge.replaced_since(since, SHOWN, until) if since else ([], 0)
        read, read_total = memory.sources.read_since(since, SHOWN, until) if since else ([], 0)
        review = memory.knowledge.revisions("open", 1)
        review_total = memory.knowledge.count_open_revisions()
    return wire.Home(
        since, tuple(changed), changed_total, tuple(read), read_total, next(iter(review), None), review_total,
        tuple(planned[:MAX_PLANNED]), len(planned), day, tuple(overdue[: -MAX_OVERDUE - 1 : -1]), len(overdue),
    )  # fmt: skip


def _parse_day(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except ValueError as error:
        raise InvalidInputError(f"day is no day: {day[:40]!r}. Write it like 2026-03-09.") from error


def suggest(memory: Memory) -> wire.SuggestionsReply:
    """Returns questions that have one clear answer, first about the last change; and the notes read last."""
    changed = [
        revision.new for revision in memory.knowledge.revisions("all", SHOWN) if revision.relation == "supersedes"
    ]
    questions = memory.questions.suggest(changed, SUGGESTED)
    notes, names = memory.browsing.list_recent(SHOWN)
    return wire.SuggestionsReply(tuple(questions), tuple(notes), tuple(names))
