"""What a half-typed name or tag may become."""

from __future__ import annotations

from daemon import wire
from daemon.api.routing import Api
from daemon.api.services import Services
from memory.errors import InvalidInputError
from memory.text.mentions import norm

MOST_NAMES = 100
MOST_TAGS = 1000


def routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.get("/names")
    async def names(begin: str, limit: int = 20) -> wire.NamesReply:
        if not 0 <= limit <= MOST_NAMES:
            raise InvalidInputError(f"limit is {limit}; ask for 0 to {MOST_NAMES} names.")

        def call() -> wire.NamesReply:
            folded = norm(begin)
            return wire.NamesReply(tuple(memory.knowledge.names_beginning(folded, limit)) if folded else ())

        return await services.read(call)

    @api.get("/strategies")
    async def strategies() -> wire.StrategiesReply:
        def call() -> wire.StrategiesReply:
            from plugins.manager import load

            return wire.StrategiesReply(load().describe_strategies())

        return await services.work(call)

    @api.get("/tags")
    async def tags() -> wire.TagsReply:
        def call() -> wire.TagsReply:
            return wire.TagsReply(tuple(wire.Tag(*row) for row in memory.sources.count_tags(MOST_TAGS)))

        return await services.read(call)
