"""Traces, and why an answer is what it is, as the wire's dataclasses; and the routes that give them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from daemon import views, wire
from daemon.api.routing import Api
from daemon.api.services import Services
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import Scope
from memory.trace import Lost, Traced

MOST_TRACES = 1000


def routes(api: Api, services: Services) -> None:
    """What is only looked at; to ask again is `POST /traces/{id}/again`, beside the questions."""
    memory = services.memory

    @api.get("/traces")
    async def listed(limit: int = 50, offset: int = 0) -> wire.TracesReply:
        if not 0 <= limit <= MOST_TRACES or offset < 0:
            raise InvalidInputError(f"Ask for 0 to {MOST_TRACES} traces, from 0 on.")

        def call() -> wire.TracesReply:
            with memory.one_moment():
                found = memory.questions.traces(limit, offset)
                return wire.TracesReply(tuple(found), memory.questions.count_traces())

        return await services.read(call)

    @api.get("/traces/{id}")
    async def one(id: int) -> wire.Trace:
        return await services.read(lambda: trace(memory.questions.trace(id)))

    @api.get("/traces/{id}/why")
    async def reasons(id: int) -> wire.Why:
        return await services.read(partial(memory.questions.why, id))

    @api.get("/traces/{id}/whynot")
    async def reasons_not(id: int, words: str) -> wire.WhyNotReply:
        return await services.read(lambda: whynot(memory, id, words))


def trace(of: Traced) -> wire.Trace:
    answer, plan = of.answer, of.plan
    found = wire.Trace(
        asked=of.asked,
        as_of=plan.as_of,
        within=plan.within or Scope(),
        effort=plan.effort,
        searched=plan.searched,
        strategy=plan.strategy,
        steps=of.trace.steps,
        visits=of.trace.visits,
    )
    if answer is None:
        return found
    return replace(
        found,
        text=answer.text,
        citations=answer.citations,
        missing=answer.missing,
        confidence=answer.confidence,
        note=answer.note,
    )


def whynot(memory: Memory, id: int, words: str) -> wire.WhyNotReply:
    """NotFoundError, InvalidInputError."""
    found = memory.questions.why_not(id, words)
    return wire.WhyNotReply(found.asked, found.words, tuple(map(_lost, found.lost)), found.missing)


def _lost(of: Lost) -> wire.LostPassage:
    return wire.LostPassage(
        passage=views.passage(of.episode),
        quote=of.quote,
        line=of.line,
        cut=of.cut,
        reason=of.reason,
        place=of.place,
        of=of.of,
        score=of.score,
        channels={name: round(score, 4) for name, score in of.channels.items()},
        by=of.by,
        since=of.since,
    )
