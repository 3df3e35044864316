"""What a person finds who comes back, and what could be asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time

from daemon import wire
from daemon.api.services import Cache, Services
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import PlannedEntry

SHOWN = 5  # of each kind
MAX_PLANNED = 30
DAYS = 9  # of plans: today, and the eight days after it
SUGGESTED = 3


def home(services: Services, since: datetime | None, day: str) -> wire.Home:
    planned = list_plans(services.memory, services.cache, _parse_day(day) if day else date.today())
    return digest(services.memory, planned, since, day)


def suggestions(services: Services) -> wire.SuggestionsReply:
    today = date.today()

    def make() -> wire.SuggestionsReply:
        return suggest(services.memory, bool(list_plans(services.memory, services.cache, today)))

    return services.cache.get(("suggestions", today), make)


def list_plans(memory: Memory, cache: Cache, day: date) -> Sequence[PlannedEntry]:
    """The planned entries from a day on; they are cached, because finding them reads passages."""
    return cache.get(("plans", day), lambda: memory.knowledge.list_planned(day, DAYS))


def digest(memory: Memory, planned: Sequence[PlannedEntry], since: datetime | None, day: str = "") -> wire.Home:
    """The changes since a time (until the end of `day`), the newest open revision and the plans. InvalidInputError for
    an invalid day."""
    until = datetime.combine(_parse_day(day), time.max).astimezone() if day else None
    with memory.one_moment():
        changed, changed_total = memory.knowledge.replaced_since(since, SHOWN, until) if since else ([], 0)
        read, read_total = memory.sources.read_since(since, SHOWN, until) if since else ([], 0)
        review = memory.revisions("open", 1)
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


def suggest(memory: Memory, has_plans: bool) -> wire.SuggestionsReply:
    """Questions that have an answer, the first of them about what changed last; and what was read lately."""
    changed = [revision.new for revision in memory.revisions("all", SHOWN) if revision.relation == "supersedes"]
    questions = memory.questions.suggest(changed, has_plans, SUGGESTED)
    notes, names = memory.browsing.list_recent(SHOWN)
    return wire.SuggestionsReply(tuple(questions), tuple(notes), tuple(names))
