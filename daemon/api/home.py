"""What a person finds who comes back, and what could be asked."""

from __future__ import annotations

from datetime import date, datetime, time

from daemon import wire
from daemon.api.routing import MOST_ROWS, Api
from daemon.api.services import Services
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import PlannedEntry
from memory.time.timestamps import from_ms

SHOWN = 5  # of each kind
MAX_PLANNED = 30
DAYS = 7  # of what is planned
SUGGESTED = 3


def routes(api: Api, services: Services) -> None:
    memory = services.memory
    plans = Plans(memory)
    known: dict[object, wire.SuggestionsReply] = {}

    @api.get("/home")
    async def home(since: datetime | None = None, day: str = "") -> wire.Home:
        return await services.work(lambda: digest(memory, plans, since, day))

    @api.get("/diff")
    async def diff(since: datetime, until: datetime | None = None, limit: int = 50) -> wire.DiffReply:
        most = max(0, min(limit, MOST_ROWS))
        return await services.work(lambda: compare(memory, since, until or datetime.now().astimezone(), most))

    @api.get("/suggestions")
    async def suggestions() -> wire.SuggestionsReply:
        def call() -> wire.SuggestionsReply:
            key = memory.generation, date.today()
            if key not in known:
                found = suggest(memory, bool(plans.read()))
                known.clear()
                known[key] = found
            return known[key]

        return await services.read(call)


class Plans:
    """What is planned, looked up again when something was written or a day has begun: passages are read for it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: tuple[tuple[int, date], tuple[PlannedEntry, ...]] | None = None

    def read(self, day: date | None = None) -> tuple[PlannedEntry, ...]:
        key = self._memory.generation, day or date.today()
        if self._known is None or self._known[0] != key:
            self._known = key, tuple(self._memory.knowledge.list_planned(key[1], DAYS))
        return self._known[1]


def digest(memory: Memory, plans: Plans, since: datetime | None, day: str = "") -> wire.Home:
    """What is new since a time, what waits and what is planned; or as it is on a day. InvalidInputError for none."""
    of = _parse_day(day) if day else None
    planned, until = plans.read(of), datetime.combine(of, time.max).astimezone() if of else None
    with memory.one_moment():
        changed, changed_total = memory.knowledge.replaced_since(since, SHOWN, until) if since else ([], 0)
        read, read_total = memory.sources.read_since(since, SHOWN, until) if since else ([], 0)
        review = memory.revisions("open", 1)
        review_total = memory.knowledge.count_open_revisions()
    return wire.Home(
        since, tuple(changed), changed_total, tuple(read), read_total, next(iter(review), None), review_total,
        planned[:MAX_PLANNED], len(planned), day,
    )  # fmt: skip


def _parse_day(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except ValueError as error:
        raise InvalidInputError(f"day is no day: {day[:40]!r}. Write it like 2026-03-09.") from error


def compare(memory: Memory, since: datetime, until: datetime, limit: int) -> wire.DiffReply:
    """What changed in the memory after a time and up to another one. InvalidInputError if that is the earlier one."""
    found = memory.browsing.diff(since, until, limit)
    return wire.DiffReply(
        since,
        until,
        tuple(found.begun),
        tuple(found.replaced),
        tuple(found.ended),
        tuple(found.untold),
        tuple(wire.ChangedSource(*row[:-1], from_ms(row.t)) for row in found.sources),
        found.totals,
    )


def suggest(memory: Memory, has_plans: bool) -> wire.SuggestionsReply:
    """Questions that have an answer, the first of them about what changed last; and what was read lately."""
    changed = [one.new for one in memory.revisions("all", SHOWN) if one.relation == "supersedes"]
    questions = memory.questions.suggest(changed, has_plans, SUGGESTED)
    lately = memory.browsing.list_recent(SHOWN)
    return wire.SuggestionsReply(tuple(questions), tuple(lately.notes), tuple(lately.names))
