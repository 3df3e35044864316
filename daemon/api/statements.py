"""What a person tells, as clients send it: kept, taken back, and whether it is to be kept from now on."""

from __future__ import annotations

from functools import partial
from typing import Literal

from daemon import wire
from daemon.api import documents
from daemon.api.routing import Api
from daemon.api.services import Services


def routes(api: Api, services: Services) -> None:
    memory, telling = services.memory, services.telling

    @api.post("/told")
    async def tell(text: str, conversation: int | None = None) -> wire.Told:
        return await services.work(partial(telling.keep, text, conversation))

    @api.put("/told")
    async def set_telling(remember: Literal["ask", "yes", "no"]) -> None:
        await services.work(partial(telling.set, remember))

    @api.post("/told/undo")
    async def take_back(source: str = "") -> wire.Told:
        last = await services.work(partial(telling.find_last, source))
        unit = partial(documents.forget, memory, services.backups, last.source, None, None, None)
        services.erasing.watch(await services.write(unit))
        return last
