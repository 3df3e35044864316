"""A part of the graph, to be drawn."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from daemon import wire
from daemon.api.objects import name_kind
from daemon.api.routing import Api
from daemon.api.services import Services
from memory import Memory
from memory.errors import InvalidInputError
from memory.time.timestamps import from_wall

MOST_VERTICES = 5000
MOST_STEPS, MOST_NEAR = 6, 500  # of a neighbourhood


def routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.get("/graph")
    async def graph(about: str = "", limit: int = 200) -> wire.GraphReply:
        if not 1 <= limit <= MOST_VERTICES:
            raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_VERTICES} vertices.")
        return await services.work(partial(read_graph, memory, about, limit))

    @api.get("/neighbourhood")
    async def neighbourhood(
        about: str, depth: int = 1, limit: int = 40, as_of: datetime | None = None
    ) -> wire.Neighbourhood:
        if not 1 <= depth <= MOST_STEPS:
            raise InvalidInputError(f"depth is {depth}; ask for 1 to {MOST_STEPS} steps.")
        if not 1 <= limit <= MOST_NEAR:
            raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_NEAR} objects.")
        return await services.work(partial(read_neighbourhood, memory, about, depth, limit, as_of))


def read_neighbourhood(
    memory: Memory, about: str, depth: int, limit: int, as_of: datetime | None
) -> wire.Neighbourhood:
    """What stands around an object. NotFoundError."""
    found = memory.browsing.explore(about, depth, limit, as_of)
    shown = next((name for name in found.names if name.casefold() == about.casefold()), about)
    called = {id: one.label for id, one in found.vertices.items()} | {next(iter(found.steps)): shown}
    return wire.Neighbourhood(
        shown,
        tuple(found.names),
        tuple(
            wire.NearNode(id, called[id], name_kind(found.vertices[id].type), steps)
            for id, steps in found.steps.items()
            if id in called and id in found.vertices
        ),
        tuple(
            wire.NearEdge(one.one, one.other, (one.fact.predicate or "") if one.fact else "", one.fact, one.passages)
            for one in found.joined
        ),
        found.left_out,
        as_of,
    )


def read_graph(memory: Memory, about: str, limit: int) -> wire.GraphReply:
    """A part of the graph. NotFoundError."""
    found = memory.browsing.graph(about, limit)
    return wire.GraphReply(
        found.center,
        tuple(
            wire.GraphNode(one.id, one.label, name_kind(one.type), one.uri, from_wall(one.at), one.degree)
            for one in found.vertices
        ),
        tuple(
            wire.GraphEdge(one.id, one.src, one.dst, one.predicate, from_wall(one.valid_from), from_wall(one.valid_to))
            for one in found.edges
        ),
    )
