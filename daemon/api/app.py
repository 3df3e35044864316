"""The HTTP API: `daemon.wire` over a socket. Every reply is one of its dataclasses, every error a Failed.

Questions run in threads of their own; what writes goes through the writer; both beside the event loop, which only
moves bytes. `Gate` stands before everything: who may come in, and how many.
"""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import CancelledError
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from daemon import views, wire
from daemon.api import (
    agents,
    asking,
    capturing,
    completion,
    conversations,
    documents,
    exporting,
    feedback,
    folders,
    graph,
    home,
    knowledge,
    models,
    objects,
    page,
    secrets,
    statements,
    traces,
    training,
    writing,
)
from daemon.api.gate import fail
from daemon.api.routing import MOST_ROWS, Api, stream
from daemon.api.services import Services
from daemon.failures import failure
from memory.errors import InvalidInputError, PalimpsestError
from memory.time.timestamps import from_ms

if TYPE_CHECKING:
    from memory.insight.diagnosis import Diagnosis

log = logging.getLogger(__name__)

MAX_SKIPPED = 100  # files, in the status
MAX_FAILED = 50  # jobs, in the status


def build(services: Services) -> Starlette:
    """The application, without its gate."""
    api = Api()
    _state_routes(api, services)
    _plugin_routes(api, services)
    asking.routes(api, services)
    traces.routes(api, services)
    feedback.routes(api, services)
    training.routes(api, services)
    secrets.routes(api, services)
    knowledge.routes(api, services)
    completion.routes(api, services)
    home.routes(api, services)
    objects.routes(api, services)
    graph.routes(api, services)
    writing.routes(api, services)
    statements.routes(api, services)
    agents.routes(api, services)
    capturing.routes(api, services)
    folders.routes(api, services)
    conversations.routes(api, services)
    models.routes(api, services)
    page.routes(api, services)
    exporting.routes(api, services)

    @api.get("/openapi.json")
    async def description() -> Response:
        from daemon.api.description import describe

        return JSONResponse(describe(api.endpoints))

    kinds = (PalimpsestError, CancelledError, OverflowError, Exception)
    handlers: dict[Any, Any] = dict.fromkeys(kinds, _explain) | {HTTPException: _refuse}
    return Starlette(routes=api.routes(), exception_handlers=handlers)


def _state_routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.get("/hello")
    async def hello() -> wire.Hello:
        return wire.Hello(version("palimpsest"), wire.PROTOCOL, os.getpid())

    @api.get("/status")
    async def status() -> wire.Status:
        return await services.work(partial(_status, services))

    @api.get("/sources")
    async def list_sources(query: str = "", limit: int = 100) -> wire.SourcesReply:
        def call() -> wire.SourcesReply:
            listed, total = memory.sources.search(query, max(0, min(limit, MOST_ROWS)))
            return wire.SourcesReply(tuple(listed), total)

        return await services.work(call)

    @api.get("/check")
    async def check() -> wire.Check:
        return await services.work(memory.check)

    @api.get("/diagnosis")
    async def diagnosis(limit: int | None = None) -> wire.Diagnosis:
        if limit is not None and not 1 <= limit <= MOST_ROWS:
            raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_ROWS} questions.")

        def call() -> Diagnosis:
            return memory.maintenance.diagnose() if limit is None else memory.maintenance.diagnose(limit)

        return await services.work(call)

    @api.post("/backup")
    async def backup(to: Path | None = None) -> wire.BackedUp:
        return await services.work(partial(documents.backup, memory, services.writer, services.backups, to))

    @api.get("/activity")
    async def activity() -> Response:
        return stream(services.activity.listen())

    @api.post("/consolidate")
    async def consolidate() -> wire.ConsolidationReport:
        return await services.work(services.nightly.consolidate)

    @api.post("/stop")
    async def stop() -> None:
        services.stop()


def _plugin_routes(api: Api, services: Services) -> None:
    @api.get("/plugins")
    async def plugins() -> wire.PluginsReply:
        built_in, *others = map(views.plugin, (services.plugins.built_in(), *services.plugins.others))
        return wire.PluginsReply(built_in, tuple(others), services.memory.reranker_problem)

    @api.get("/embedder")
    async def embedder() -> wire.EmbedderReply:
        return services.embedding.state()

    @api.post("/embedder")
    async def change_embedder(name: str) -> wire.EmbedderReply:
        return await services.work(partial(services.embedding.change, name))


def _status(services: Services) -> wire.Status:
    stats = services.stats()
    with services.memory.one_moment():
        skipped = services.memory.sources.list_skipped(MAX_SKIPPED)
        review = services.memory.knowledge.count_open_revisions()
        failed, failed_total = services.adds.list_failed(MAX_FAILED)
    return wire.Status(
        version=version("palimpsest"),
        protocol=wire.PROTOCOL,
        pid=os.getpid(),
        uptime_s=round(time.monotonic() - services.began, 1),
        path=stats.path,
        embedder=stats.embedder,
        sources=stats.sources,
        episodes=stats.episodes,
        theses=stats.theses,
        objects=stats.objects,
        edges=stats.edges,
        bytes=stats.bytes,
        queue=services.tasks.queue,
        busy=services.tasks.busy,
        folders=services.watcher.folders(),
        skipped=tuple(wire.Skipped(skip.uri, skip.reason, from_ms(skip.t)) for skip in skipped),
        skipped_total=stats.skipped,
        copies=stats.copies,
        model=services.models.answers() if services.memory.settings.answer.model == "auto" else None,
        enrichment=services.enrichment.state(),
        review=review,
        night=services.nightly.state(),
        upkeep=services.upkeep.state(),
        jobs=services.schedule.state(),
        erasing=services.erasing.state(),
        disk=services.disk.state(),
        damage=tuple(services.memory.damage.items()),
        safe_mode=services.safe_mode,
        failed=tuple(failed),
        failed_total=failed_total,
        preparing=services.embedding.describe(),
    )


# Errors --------------------------------------------------------------------------------------


async def _explain(request: Request, error: Exception) -> Response:
    return fail(failure(error))


async def _refuse(request: Request, error: HTTPException) -> Response:
    match error.status_code:
        case 404:
            return fail(wire.Failed("not_found", f"There is no {request.url.path}.", "See /openapi.json."))
        case 405:
            return fail(wire.Failed("not_allowed", f"{request.method} is not for {request.url.path}."))
        case _:
            return fail(wire.Failed("bad_input", str(error.detail)))
