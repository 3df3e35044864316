"""The page in the browser, opened and closed. The page itself may do neither."""

from __future__ import annotations

from daemon import wire
from daemon.api.routing import Api
from daemon.api.services import Services


def routes(api: Api, services: Services) -> None:
    @api.post("/page")
    async def open_page(port: int | None = None) -> wire.PageLink:
        return await services.page.open(port)

    @api.post("/page/close")
    async def close_page() -> wire.PageClosed:
        return wire.PageClosed(await services.page.close())
