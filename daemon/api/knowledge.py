"""Facts, their revisions, and what a person says of themselves, as clients ask for them."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from daemon import wire
from daemon.api import facts as known_facts
from daemon.api import profile as known_profile
from daemon.api.routing import MOST_ROWS, Api
from daemon.api.services import Services


def routes(api: Api, services: Services) -> None:
    """Facts, their revisions, and what a person says of themselves."""
    memory = services.memory

    @api.get("/facts")
    async def facts(
        about: str, as_of: datetime | None = None, known_on: datetime | None = None, history: bool = False
    ) -> wire.FactsReply:
        return await services.read(lambda: known_facts.facts(memory, about, as_of, known_on, history))

    @api.get("/history")
    async def history(about: str) -> wire.HistoryReply:
        return await services.read(lambda: known_facts.history(memory, about))

    @api.get("/revisions")
    async def listed(state: str = "open", about: str | None = None, limit: int = 50) -> wire.RevisionsReply:
        most = max(0, min(limit, MOST_ROWS))
        return await services.read(lambda: known_facts.list_revisions(memory, state, about, most))

    @api.get("/revisions/{id}")
    async def revision(id: int) -> wire.Revision:
        return await services.read(lambda: known_facts.one(memory, id))

    @api.post("/revisions/{id}")
    async def settle(id: int, verdict: str) -> wire.Revision:
        unit = partial(known_facts.settle, memory, services.activity.publish, id, verdict)
        return await services.write(unit)

    @api.get("/profile")
    async def profile() -> wire.ProfileReply:
        return await services.read(lambda: wire.ProfileReply(memory.knowledge.profile()))

    @api.post("/profile")
    async def set_profile(key: str, value: str) -> wire.ProfileReply:
        return await services.write(partial(known_profile.set_value, memory, key, value))

    @api.post("/profile/remove")
    async def remove_from_profile(key: str) -> wire.ProfileReply:
        return await services.write(partial(known_profile.remove_value, memory, key))

    @api.post("/names")
    async def names(one: str, other: str, same: bool) -> wire.Names:
        return await services.write(partial(known_facts.names, memory, one, other, same))
