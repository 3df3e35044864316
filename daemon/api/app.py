"""The HTTP API: `daemon.wire` over a socket. Every reply is one of its dataclasses, every error a Failed.

Questions run in threads of their own; what writes goes through the writer; both beside the event loop, which only
moves bytes. `Gate` stands before everything: who may come in, and how many.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from daemon import views, wire
from daemon.api import conversations, documents, feedback, questions, traces, training
from daemon.api import facts as known_facts
from daemon.api.gate import TOO_LARGE, fail, reply
from daemon.api.question_pool import Readers
from daemon.failures import failed
from daemon.jobs.activity import Activity, Channel
from daemon.jobs.embedder import Embedding
from daemon.jobs.enrichment import Enrichment
from daemon.jobs.models import Models
from daemon.jobs.night import Nightly
from daemon.jobs.tasks import Tasks
from daemon.jobs.training import Learning
from daemon.jobs.writer import Writer
from daemon.settings import Settings
from daemon.watch.adds import Adds
from daemon.watch.watcher import Watcher
from memory import Memory
from memory.answering.options import ModelChoice
from memory.errors import InvalidInputError, NotFoundError, PalimpsestError
from memory.insight.diagnose import TRACES
from memory.nouns import Policy, Recall, Stats
from memory.store import episodes, revisions, skips, sources

log = logging.getLogger(__name__)

BODY_BYTES = 2 << 20
MOST_HITS = 200
MOST_ROWS = 1000

T = TypeVar("T")


@dataclass
class Services:
    """What the API serves."""

    settings: Settings
    memory: Memory
    writer: Writer
    tasks: Tasks
    adds: Adds
    watcher: Watcher
    embedding: Embedding
    models: Models
    enrichment: Enrichment
    learning: Learning
    nightly: Nightly
    estimate: Callable[[wire.EstimateRequest], wire.Estimate]
    activity: Activity
    backups: Path
    policy: Callable[[], Policy]  # of new folders, as config.toml says now
    stop: Callable[[], None]
    began: float = field(default_factory=time.monotonic)
    _counted: tuple[int, Stats] | None = None

    def __post_init__(self) -> None:
        # Each has its own, so that questions do not wait for a check or a backup, nor a status for questions.
        self.readers = Readers(self.settings.daemon.readers or 1)
        self.workers = ThreadPoolExecutor(4, "worker")

    async def read(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.readers, call)

    async def work(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.workers, call)

    def stats(self) -> Stats:
        """Counted again only when something was written: a chat asks often, and it takes 10 us an episode."""
        generation = self.memory.store.generation
        if self._counted is None or self._counted[0] != generation:
            self._counted = generation, self.memory.stats()
        return self._counted[1]

    def close(self) -> None:
        """What has not begun is dropped; nobody waits for it any more."""
        for pool in (self.readers, self.workers):
            pool.shutdown(wait=False, cancel_futures=True)


def build(services: Services) -> FastAPI:
    """The application, without its gate."""
    app = FastAPI(
        title="Palimpsest",
        version=version("palimpsest"),
        docs_url=None,  # its page loads scripts from the network
        redoc_url=None,
        max_body_size=BODY_BYTES,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        responses={"default": {"model": wire.Failed, "description": "It could not be done."}},
    )
    for kind in (PalimpsestError, CancelledError, OverflowError, Exception):
        app.add_exception_handler(kind, _told)
    app.add_exception_handler(RequestValidationError, _misread)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _refused)  # type: ignore[arg-type]
    _state_routes(app, services)
    _question_routes(app, services)
    traces.routes(app, services.memory, services.read)
    feedback.routes(app, services.memory, services.writer, services.workers.submit, _stream)
    training.routes(app, services.learning, services.workers.submit, services.work, _stream)
    _fact_routes(app, services)
    _writing_routes(app, services)
    _folder_routes(app, services)
    conversations.routes(app, services.memory.store, services.writer, services.work)
    _model_routes(app, services)
    _enrichment_routes(app, services)
    return app


def _state_routes(app: FastAPI, services: Services) -> None:
    memory = services.memory

    @app.get("/hello", response_model=wire.Hello)
    async def hello() -> Response:
        return reply(wire.Hello(version("palimpsest"), wire.PROTOCOL, os.getpid()))

    @app.get("/status", response_model=wire.Status)
    async def status() -> Response:
        return reply(await services.work(partial(_status, services)))

    @app.get("/sources", response_model=wire.SourcesReply)
    async def list_sources(query: str = "", limit: int = 100) -> Response:
        def call() -> wire.SourcesReply:
            with memory.store.reading() as conn:
                listed = sources.listing(conn, query, max(0, min(limit, MOST_ROWS)))
                return wire.SourcesReply(tuple(map(views.source_row, listed)), sources.count(conn, query))

        return reply(await services.work(call))

    @app.get("/check", response_model=wire.CheckReply)
    async def check() -> Response:
        result = await services.work(memory.check)
        return reply(wire.CheckReply(result.problems, result.checked))

    @app.get("/diagnosis", response_model=wire.Diagnosis)
    async def diagnosis(limit: int = TRACES) -> Response:
        if not 1 <= limit <= MOST_ROWS:
            raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_ROWS} questions.")
        return reply(views.diagnosis(await services.work(lambda: memory.maintenance.diagnose(limit))))

    @app.post("/backup", response_model=wire.BackedUp)
    async def backup(request: wire.BackupRequest) -> Response:
        return reply(await services.work(partial(documents.backup, memory, services.writer, services.backups, request)))

    @app.get("/embedder", response_model=wire.EmbedderReply)
    async def embedder() -> Response:
        return reply(services.embedding.state())

    @app.post("/embedder", response_model=wire.EmbedderReply)
    async def change_embedder(request: wire.EmbedderRequest) -> Response:
        return reply(await services.work(partial(services.embedding.change, request.name)))

    @app.get("/activity", response_class=StreamingResponse)
    async def activity() -> Response:
        return _stream(services.activity.listen())

    @app.post("/consolidate", response_model=wire.Consolidated)
    async def consolidate() -> Response:
        return reply(await services.work(services.nightly.consolidate))

    @app.post("/stop", response_model=wire.Done)
    async def stop() -> Response:
        services.stop()
        return reply(wire.Done())


def _question_routes(app: FastAPI, services: Services) -> None:
    memory = services.memory

    def models() -> ModelChoice:
        return ModelChoice(services.models.choose, services.models.drive)

    def answering(work: Callable[[Channel], None]) -> Response:
        channel = Channel()
        services.readers.submit(work, channel)
        return _stream(channel.events())

    @app.post("/ask", response_class=StreamingResponse)
    async def ask(request: wire.AskRequest) -> Response:
        return answering(await services.read(partial(questions.begin, memory, services.writer, request, models())))

    @app.post("/traces/{id}/again", response_class=StreamingResponse)
    async def again(id: int) -> Response:
        return answering(await services.read(partial(questions.again, memory, services.writer, id, models())))

    @app.post("/recall", response_model=wire.RecallReply)
    async def recall(request: wire.RecallRequest) -> Response:
        if not 1 <= request.k <= MOST_HITS:
            raise InvalidInputError(f"k is {request.k}; ask for 1 to {MOST_HITS} episodes.")
        as_of = views.parsed_moment(request.as_of, "as_of")
        began = time.monotonic()

        def call() -> Recall:
            return memory.recall(request.question, request.k, as_of, questions.scope(memory, request.within))

        found = await services.read(call)
        return reply(views.recall_reply(found, round((time.monotonic() - began) * 1000, 1)))

    @app.get("/episodes/{id}", response_model=wire.Passage)
    async def episode(id: int) -> Response:
        def call() -> wire.Passage:
            with memory.store.reading() as conn:
                for found in episodes.by_ids(conn, [id]):
                    return views.passage(found)
            raise NotFoundError(f"There is no episode {id}.")

        return reply(await services.read(call))


def _fact_routes(app: FastAPI, services: Services) -> None:
    memory = services.memory

    @app.get("/facts", response_model=wire.FactsReply)
    async def facts(
        about: str, as_of: str | None = None, known_on: str | None = None, history: bool = False
    ) -> Response:
        return reply(await services.read(lambda: known_facts.facts(memory, about, as_of, known_on, history)))

    @app.get("/history", response_model=wire.HistoryReply)
    async def history(about: str) -> Response:
        return reply(await services.read(lambda: known_facts.history(memory, about)))

    @app.get("/revisions", response_model=wire.RevisionsReply)
    async def listed(state: str = "open", about: str | None = None, limit: int = 50) -> Response:
        most = max(0, min(limit, MOST_ROWS))
        return reply(await services.read(lambda: known_facts.listing(memory, state, about, most)))

    @app.get("/revisions/{id}", response_model=wire.FactRevision)
    async def revision(id: int) -> Response:
        return reply(await services.read(lambda: known_facts.one(memory, id)))

    @app.post("/revisions/{id}", response_model=wire.FactRevision)
    async def settle(id: int, request: wire.VerdictRequest) -> Response:
        unit = partial(known_facts.settle, memory, services.activity.publish, id, request.verdict)
        return reply(await asyncio.wrap_future(services.writer.submit(unit, urgent=True)))

    @app.post("/names", response_model=wire.Names)
    async def names(request: wire.NamesRequest) -> Response:
        unit = partial(known_facts.names, memory, request)
        return reply(await asyncio.wrap_future(services.writer.submit(unit, urgent=True)))


def _writing_routes(app: FastAPI, services: Services) -> None:
    memory, writer = services.memory, services.writer

    @app.post("/remember", response_model=wire.Remembered)
    async def remember(request: wire.RememberRequest) -> Response:
        receipt = await asyncio.wrap_future(writer.submit(partial(documents.remember, memory, request), urgent=True))
        return reply(views.remembered(receipt))

    @app.post("/forget", response_model=wire.Forgotten)
    async def forget(request: wire.ForgetRequest) -> Response:
        unit = partial(documents.forget, memory, services.watcher.covers, services.backups, request)
        return reply(await asyncio.wrap_future(writer.submit(unit, urgent=True)))

    @app.post("/add", response_class=StreamingResponse)
    async def add(request: wire.AddRequest) -> Response:
        channel = Channel()
        paths = await services.work(partial(documents.existing, request.paths))

        def tell(event: wire.Event) -> None:
            channel.put(event)
            if isinstance(event, wire.Added | wire.Failed):
                channel.end()

        policy = views.policy(request.policy)
        await services.work(lambda: services.adds.add(paths, tell, policy, services.policy()))
        return _stream(channel.events())


def _folder_routes(app: FastAPI, services: Services) -> None:
    watcher = services.watcher

    @app.get("/folders", response_model=wire.FoldersReply)
    async def listed() -> Response:
        return reply(wire.FoldersReply(await services.work(watcher.folders)))

    @app.post("/folders", response_model=wire.Folder)
    async def watch(request: wire.FolderRequest) -> Response:
        policy = views.policy(request.policy)
        return reply(await services.work(lambda: watcher.add(Path(request.path), policy, services.policy())))

    @app.post("/folders/remove", response_model=wire.Forgotten)
    async def unwatch(request: wire.FolderRequest) -> Response:
        def call() -> wire.Forgotten:
            folder = watcher.remove(Path(request.path))
            if not request.forget:
                return wire.Forgotten(0, 0, 0, 0)
            return documents.forget_folder(services.memory, services.writer, services.backups, folder)

        return reply(await services.work(call))


def _model_routes(app: FastAPI, services: Services) -> None:
    models = services.models

    @app.get("/models", response_model=wire.ModelsReply)
    async def listed() -> Response:
        return reply(await services.work(models.reply))

    @app.post("/models/use", response_model=wire.ModelsReply)
    async def use(request: wire.RoleRequest) -> Response:
        return reply(await services.work(partial(models.use, request)))

    @app.post("/models/probe", response_class=StreamingResponse)
    async def probe(request: wire.ProbeRequest) -> Response:
        channel = Channel()
        await services.work(partial(models.begin_probe, request.name, channel))
        return _stream(channel.events())


def _enrichment_routes(app: FastAPI, services: Services) -> None:
    enrichment = services.enrichment

    @app.post("/enrichment", response_model=wire.Enrichment)
    async def enable(request: wire.EnrichmentRequest) -> Response:
        enrichment.enable(request.enabled)
        return reply(await services.work(enrichment.state))

    @app.post("/enrichment/retry", response_model=wire.Retried)
    async def retry(request: wire.RetryRequest) -> Response:
        return reply(wire.Retried(await services.work(lambda: enrichment.retry(request.id))))

    @app.post("/estimate", response_model=wire.Estimate)
    async def estimate(request: wire.EstimateRequest) -> Response:
        return reply(await services.work(partial(services.estimate, request)))


def _status(services: Services) -> wire.Status:
    stats = services.stats()
    with services.memory.store.reading() as conn:
        skipped = skips.listing(conn, limit=100)
        review = revisions.count_open(conn)
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
        skipped=tuple(wire.Skipped(skip.uri, skip.reason, views.moment(skip.t)) for skip in skipped),
        skipped_total=stats.skipped,
        model=services.models.answers() if services.memory.settings.answer.model == "auto" else None,
        enrichment=services.enrichment.state(),
        review=review,
        night=services.nightly.state(),
    )


# Streams and errors --------------------------------------------------------------------------------------


def _stream(events: AsyncIterator[wire.Event]) -> Response:
    async def lines() -> AsyncIterator[bytes]:
        async for event in events:
            yield wire.event_line(event)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _told(request: Request, error: Exception) -> Response:
    return fail(failed(error))


async def _misread(request: Request, error: RequestValidationError) -> Response:
    """The body or a parameter is not what `wire` says. Nothing of it is quoted back."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return fail(wire.Failed("bad_input", f"{where or 'The request'}: {first['msg']}.", "See /openapi.json."))


async def _refused(request: Request, error: HTTPException) -> Response:
    match error.status_code:
        case 404:
            return fail(wire.Failed("not_found", f"There is no {request.url.path}.", "See /openapi.json."))
        case 413:
            return fail(TOO_LARGE)
        case 405:
            return fail(wire.Failed("not_allowed", f"{request.method} is not for {request.url.path}."))
        case _:
            return fail(wire.Failed("bad_input", str(error.detail)))
