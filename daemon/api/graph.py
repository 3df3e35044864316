"""A part of the graph, to be drawn."""

from __future__ import annotations

from functools import partial

from daemon import wire
from daemon.api.objects import name_kind
from daemon.api.routing import Api
from daemon.api.services import Services
from memory import Memory
from memory.errors import InvalidInputError
from memory.time.timestamps import from_ms

MOST_VERTICES = 5000


def routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.get("/graph")
    async def graph(about: str = "", limit: int = 200) -> wire.GraphReply:
        if not 1 <= limit <= MOST_VERTICES:
            raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_VERTICES} vertices.")
        return await services.work(partial(read_graph, memory, about, limit))


def read_graph(memory: Memory, about: str, limit: int) -> wire.GraphReply:
    """A part of the graph. NotFoundError."""
    found = memory.browsing.graph(about, limit)
    return wire.GraphReply(
        found.center,
        tuple(
            wire.GraphNode(one.id, one.label, name_kind(one.type), one.uri, from_ms(one.at), one.degree)
            for one in found.vertices
        ),
        tuple(
            wire.GraphEdge(one.id, one.src, one.dst, one.predicate, from_ms(one.valid_from), from_ms(one.valid_to))
            for one in found.edges
        ),
    )
