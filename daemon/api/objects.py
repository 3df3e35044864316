"""Objects, facts and notes by their words, one of them, the graph around it, and corrections by hand; what a person
finds who comes back, and what could be asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from daemon import wire
from daemon.api.facts import strands
from daemon.api.services import Cache, Services
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import BY_HAND, Document, Fact
from memory.text.predicates import statement
from memory.time.timestamps import from_ms
from memory.views import PlannedEntry

MOST_ROWS = 500
MOST_PASSAGES = 200  # of a note
MOST_VALUE = 200  # characters
MOST_DAYS = 366  # of plans
MOST_VERTICES = 5000  # of the graph
MOST_NEAR = 500  # objects of a neighbourhood
SHOWN = 5  # of each kind
MAX_PLANNED = 30
DAYS = 9  # of plans: today, and the eight days after it
SUGGESTED = 3


def search_objects(memory: Memory, words: str, limit: int, offset: int) -> wire.FoundObjects:
    objects, total = memory.browsing.find_objects(words, *_limit_page(limit, offset))
    return wire.FoundObjects(tuple(objects), total)


def search_facts(memory: Memory, words: str, limit: int, offset: int) -> wire.FoundFacts:
    facts, total = memory.browsing.find_facts(words, *_limit_page(limit, offset))
    return wire.FoundFacts(tuple(facts), total)


def search_notes(memory: Memory, words: str, limit: int, offset: int) -> wire.FoundNotes:
    notes, total = memory.browsing.find_sources(words, *_limit_page(limit, offset))
    return wire.FoundNotes(tuple(notes), total)


def plans(memory: Memory, days: int) -> wire.PlansReply:
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInputError(f"days is {days}; ask for 1 to {MOST_DAYS}.")
    planned = memory.knowledge.list_planned(date.today(), days)
    return wire.PlansReply(tuple(planned), tuple(memory.browsing.list_tasks()))


def object(memory: Memory, name: str) -> wire.ObjectReply:
    """What is known of an object. NotFoundError."""
    view = memory.browsing.object(name)
    return wire.ObjectReply(
        view.name,
        view.names,
        tuple(fact for fact in view.facts if _holds(fact)),
        strands(view.facts, view.revisions),
        view.notes,
        view.notes_total,
        view.neighbours,
    )


def note(memory: Memory, uri: str) -> wire.NoteReply:
    with memory.store.reading():
        view = memory.browsing.read_source(uri)
        shown = view.passages[:MOST_PASSAGES]
        passages = tuple(episode.to_passage() for episode in memory.sources.episodes(shown))
        facts = tuple(memory.browsing.facts_of(shown))
    return wire.NoteReply(view.source, from_ms(view.read), view.tags, view.readers, passages, facts)


def correct(memory: Memory, fact: int, value: str) -> wire.Corrected:
    """A note by hand has the words."""
    old, value = memory.knowledge.fact(fact), " ".join(value.split())
    if old.kind != "relation" or not _holds(old):
        raise InvalidInputError("Only a current fact can be corrected. Edit its note.")
    if not 0 < len(value) <= MOST_VALUE:
        raise InvalidInputError(f"The value has {len(value)} characters; write 1 to {MOST_VALUE}.")
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


def neighbourhood(memory: Memory, about: str, limit: int, as_of: datetime | None) -> wire.GraphReply:
    if not 1 <= limit <= MOST_NEAR:
        raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_NEAR} objects.")
    return memory.browsing.explore(about, limit, as_of)


def graph(memory: Memory, about: str, limit: int) -> wire.GraphReply:
    if not 1 <= limit <= MOST_VERTICES:
        raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_VERTICES} vertices.")
    return memory.browsing.graph(about, limit)


def _limit_page(limit: int, offset: int) -> tuple[int, int]:
    if not 0 <= limit <= MOST_ROWS or not 0 <= offset < 1 << 31:
        raise InvalidInputError(f"Ask for 0 to {MOST_ROWS} rows, from 0 on.")
    return limit, offset


def _holds(fact: Fact) -> bool:
    """Whether the fact holds now."""
    ended = fact.valid_to is not None and fact.valid_to <= datetime.now(UTC)
    return fact.superseded_by is None and fact.retired is None and not ended


def home(services: Services, since: datetime | None, day: str) -> wire.Home:
    planned = list_plans(services.memory, services.cache, _parse_day(day) if day else date.today())
    return digest(services.memory, planned, since, day)


def suggestions(services: Services) -> wire.SuggestionsReply:
    return services.cache.get(("suggestions", date.today()), lambda: suggest(services.memory))


def list_plans(memory: Memory, cache: Cache, day: date) -> Sequence[PlannedEntry]:
    """The planned entries from a day on; they are cached, because finding them reads passages."""
    return cache.get(("plans", day), lambda: memory.knowledge.list_planned(day, DAYS))


def digest(memory: Memory, planned: Sequence[PlannedEntry], since: datetime | None, day: str = "") -> wire.Home:
    """The changes since a time (until the end of `day`), the newest open revision and the plans. InvalidInputError for
    an invalid day."""
    until = datetime.combine(_parse_day(day), time.max).astimezone() if day else None
    with memory.store.reading():
        changed, changed_total = memory.knowledge.replaced_since(since, SHOWN, until) if since else ([], 0)
        read, read_total = memory.sources.read_since(since, SHOWN, until) if since else ([], 0)
        review = memory.knowledge.revisions("open", 1)
        review_total = memory.knowledge.count_open_revisions()
    return wire.Home(
        since, tuple(changed), changed_total, tuple(read), read_total, next(iter(review), None), review_total,
        tuple(planned[:MAX_PLANNED]), len(planned), day,
    )  # fmt: skip


def _parse_day(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except ValueError as error:
        raise InvalidInputError(f"day is no day: {day[:40]!r}. Write it like 2026-03-09.") from error


def suggest(memory: Memory) -> wire.SuggestionsReply:
    """Questions that have one clear answer, the first of them about what changed last; and what was read lately."""
    changed = [
        revision.new for revision in memory.knowledge.revisions("all", SHOWN) if revision.relation == "supersedes"
    ]
    questions = memory.questions.suggest(changed, SUGGESTED)
    notes, names = memory.browsing.list_recent(SHOWN)
    return wire.SuggestionsReply(tuple(questions), tuple(notes), tuple(names))
