"""Language models, and what they read by themselves, as clients see them."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from daemon import wire
from daemon.api.routing import Api, stream
from daemon.api.services import Services
from daemon.jobs.activity import Channel


def routes(api: Api, services: Services) -> None:
    """Language models, and what they read by themselves."""
    models = services.models

    @api.get("/models")
    async def listed(elsewhere: bool = False) -> wire.ModelsReply:
        return await services.work(partial(models.reply, elsewhere))

    @api.post("/models/use")
    async def use(role: str, names: tuple[str, ...]) -> wire.ModelsReply:
        return await services.work(partial(models.use, role, names))

    @api.post("/models/try")
    async def try_model(name: str) -> wire.Tried:
        return await services.work(partial(models.try_model, name))

    @api.post("/models/probe")
    async def probe(name: str) -> Response:
        channel = Channel()
        await services.work(partial(models.begin_probe, name, channel))
        return stream(channel.events())

    enrichment = services.enrichment

    @api.post("/enrichment")
    async def enable(enabled: bool) -> wire.Enrichment:
        enrichment.enable(enabled)
        return await services.work(enrichment.state)

    @api.post("/enrichment/retry")
    async def retry(id: int | None = None) -> wire.Retried:
        return wire.Retried(await services.work(partial(services.retry, id)))

    @api.post("/count")
    async def count_ahead(paths: tuple[str, ...]) -> wire.Counted:
        from daemon.api.estimate import count

        return await services.work(partial(count, services.plugins, services.settings, services.own, paths))

    @api.post("/estimate")
    async def look_ahead(paths: tuple[str, ...], policy: str | None = None) -> wire.Estimate:
        from daemon.api.estimate import estimate

        parts = services.plugins, services.readers, services.models, services.settings, services.own
        return await services.work(partial(estimate, *parts, paths, policy))
