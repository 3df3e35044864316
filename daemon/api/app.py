"""The HTTP API: `daemon.wire` over a socket. Every reply is one of its dataclasses, every error a Failed.

Questions run in threads of their own; what writes goes through the writer; both beside the event loop, which only
moves bytes. `Gate` stands before everything: who may come in, and how many.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from daemon import views, wire
from daemon.api import completion, conversations, documents, feedback, objects, questions, secrets, traces, training
from daemon.api import facts as known_facts
from daemon.api import profile as known_profile
from daemon.api.gate import fail
from daemon.api.routing import Api, stream
from daemon.api.services import Services
from daemon.failures import failure
from daemon.jobs.activity import Channel
from memory.errors import InvalidInputError, NotFoundError, PalimpsestError
from memory.nouns import Recall
from memory.time.timestamps import from_ms

if TYPE_CHECKING:
    from memory.insight.diagnosis import Diagnosis

log = logging.getLogger(__name__)

MOST_HITS = 200
MOST_ROWS = 1000
MAX_SKIPPED = 100  # files, in the status
MAX_FAILED = 50  # jobs, in the status


def build(services: Services) -> Starlette:
    """The application, without its gate."""
    api = Api()
    _state_routes(api, services)
    _question_routes(api, services)
    traces.routes(api, services)
    feedback.routes(api, services)
    training.routes(api, services)
    secrets.routes(api, services)
    _fact_routes(api, services)
    completion.routes(api, services)
    objects.routes(api, services)
    _writing_routes(api, services)
    _folder_routes(api, services)
    conversations.routes(api, services)
    _model_routes(api, services)
    _enrichment_routes(api, services)

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

    @api.get("/embedder")
    async def embedder() -> wire.EmbedderReply:
        return services.embedding.state()

    @api.post("/embedder")
    async def change_embedder(name: str) -> wire.EmbedderReply:
        return await services.work(partial(services.embedding.change, name))

    @api.get("/activity")
    async def activity() -> Response:
        return stream(services.activity.listen())

    @api.post("/consolidate")
    async def consolidate() -> wire.ConsolidationReport:
        return await services.work(services.nightly.consolidate)

    @api.post("/stop")
    async def stop() -> None:
        services.stop()


def _question_routes(api: Api, services: Services) -> None:
    memory = services.memory

    models = services.models.choose, services.models.drive

    async def answer(channel: Channel, begin: Callable[[], Callable[[], None]]) -> Response:
        services.questions.submit(await services.read(begin))
        return stream(channel.events())

    @api.post("/ask")
    async def ask(
        question: str,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        conversation: int | None = None,
        effort: str = "normal",
        replay: bool = True,
        strategy: str = "",
    ) -> Response:
        channel = Channel()
        begin = partial(
            questions.begin, memory, services.writer, channel, question, *models, as_of=as_of, within=within,
            conversation=conversation, is_loading=services.models.is_loading, effort=effort, replay=replay,
            strategy=strategy,
        )  # fmt: skip
        return await answer(channel, begin)

    @api.post("/traces/{id}/again")
    async def again(id: int, conversation: int | None = None, replay: bool = True) -> Response:
        channel = Channel()
        begin = partial(
            questions.ask_again, memory, services.writer, channel, id, *models, conversation=conversation,
            is_loading=services.models.is_loading, replay=replay,
        )  # fmt: skip
        return await answer(channel, begin)

    @api.post("/recall")
    async def recall(
        question: str,
        k: int = 10,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        strategy: str = "",
    ) -> wire.RecallReply:
        if not 1 <= k <= MOST_HITS:
            raise InvalidInputError(f"k is {k}; ask for 1 to {MOST_HITS} episodes.")
        began = time.monotonic()

        def call() -> Recall:
            return memory.recall(question, k, as_of, questions.checked_scope(memory, within), strategy=strategy)

        found = await services.read(call)
        return views.recall_reply(found, round((time.monotonic() - began) * 1000, 1))

    @api.get("/episodes/{id}")
    async def episode(id: int) -> wire.Passage:
        def call() -> wire.Passage:
            for found in memory.sources.episodes([id]):
                return views.passage(found)
            raise NotFoundError(f"There is no episode {id}.")

        return await services.read(call)


def _fact_routes(api: Api, services: Services) -> None:
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


def _writing_routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.post("/remember")
    async def remember(
        text: str,
        title: str | None = None,
        source: str | None = None,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
    ) -> wire.Receipt:
        """A note has the time it was made, unless it says another."""
        at = at or datetime.now().astimezone()
        return await services.write(
            partial(memory.remember, text, title=title, source=source, at=at, speaker=speaker, ref=ref)
        )

    @api.post("/forget")
    async def forget(
        source: str | None = None,
        object: str | None = None,
        episode: int | None = None,
        fact: int | None = None,
        retired: bool = False,
    ) -> wire.Forgotten:
        if retired:
            if (object, episode, fact) != (None, None, None):
                raise InvalidInputError("Retired text is forgotten as a whole, or that of a source or folder.")
            erase = partial(documents.forget_retired, memory, services.erasing, services.backups, source or "")
            return await services.work(erase)
        unit = partial(documents.forget, memory, services.backups, source, object, episode, fact)
        return services.erasing.watch(await services.write(unit))

    @api.get("/retired")
    async def list_retired(limit: int = 100) -> wire.RetiredReply:
        def call() -> wire.RetiredReply:
            listed, total = memory.retention.list_retired(max(0, min(limit, MOST_ROWS)))
            return wire.RetiredReply(tuple(listed), total)

        return await services.work(call)

    @api.post("/add")
    async def add(paths: tuple[str, ...], policy: str | None = None, again: bool = False) -> Response:
        channel = Channel()
        there = await services.work(partial(documents.find_existing, paths))

        def tell(event: wire.Event) -> None:
            channel.put(event)
            if isinstance(event, wire.Added | wire.Failed):
                channel.end()

        chosen = views.policy(policy)
        await services.work(lambda: services.adds.add(there, tell, chosen, services.policy(), again))
        return stream(channel.events())


def _folder_routes(api: Api, services: Services) -> None:
    watcher = services.watcher

    @api.get("/folders")
    async def listed() -> wire.FoldersReply:
        return wire.FoldersReply(await services.work(watcher.folders))

    @api.post("/folders")
    async def watch(
        path: Path,
        policy: str | None = None,
        tags: tuple[str, ...] | None = None,
        readers: tuple[str, ...] | None = None,
        depth: int | None = None,
    ) -> wire.Folder:
        chosen = views.policy(policy)
        add = partial(watcher.add, path, chosen, services.policy(), tags, readers, depth)
        return await services.work(add)

    @api.get("/folders/gone")
    async def gone(path: Path) -> wire.GoneReply:
        files = watcher.list_gone(path)
        return wire.GoneReply(str(path), files[:MOST_ROWS], len(files))

    @api.post("/folders/gone")
    async def decide(path: Path, keep: bool) -> wire.Folder:
        return await services.work(partial(watcher.decide, path, keep))

    @api.post("/folders/remove")
    async def unwatch(path: Path, forget: bool = False) -> wire.Forgotten:
        def call() -> wire.Forgotten:
            if forget:
                return documents.forget_folder(services.memory, watcher, services.erasing, services.backups, path)
            watcher.remove(path)
            return wire.Forgotten()

        return await services.work(call)


def _model_routes(api: Api, services: Services) -> None:
    models = services.models

    @api.get("/models")
    async def listed(elsewhere: bool = False) -> wire.ModelsReply:
        return await services.work(partial(models.reply, elsewhere))

    @api.post("/models/use")
    async def use(role: str, names: tuple[str, ...]) -> wire.ModelsReply:
        return await services.work(partial(models.use, role, names))

    @api.post("/models/probe")
    async def probe(name: str) -> Response:
        channel = Channel()
        await services.work(partial(models.begin_probe, name, channel))
        return stream(channel.events())

    @api.post("/models/pull")
    async def pull(name: str) -> Response:
        channel = Channel()
        await services.work(partial(models.begin_pull, name, channel))
        return stream(channel.events())


def _enrichment_routes(api: Api, services: Services) -> None:
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
