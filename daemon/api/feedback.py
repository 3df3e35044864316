"""What a person says of an answer, and what memory learnt from answers made anew; and the routes that do it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from typing import TypeVar

from starlette.responses import Response

from daemon import wire
from daemon.api.routing import Api, stream
from daemon.api.services import Services
from daemon.failures import failure
from daemon.jobs.activity import Channel
from daemon.jobs.writer import Writer
from memory import Memory
from memory.errors import InvalidInputError

T = TypeVar("T")

log = logging.getLogger(__name__)

REBUILT = ("memory", "text", "vectors")


def routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.post("/traces/{id}/feedback")
    async def judge(id: int, verdict: str) -> wire.Judged:
        return await services.write(partial(note_verdict, memory, id, verdict))

    @api.post("/rebuild")
    async def rebuild(what: tuple[str, ...]) -> Response:
        if not what or not set(what) <= set(REBUILT):
            raise InvalidInputError(f"Say what to rebuild: {' or '.join(REBUILT)}.")
        channel = Channel()
        services.workers.submit(partial(rebuilt, memory, services.writer, what, channel))
        return stream(channel.events())


def note_verdict(memory: Memory, id: int, verdict: str) -> wire.Judged:
    """Notes a verdict, within a unit of the writer. NotFoundError, InvalidInputError."""
    before = memory.questions.trace(id)
    if before.answer is None:
        raise InvalidInputError(f"Trace {id} looked for passages only; there is no answer to judge.")
    memory.feedback(id, verdict)
    after = memory.questions.trace(id).asked
    passages = 0 if before.answer.no_answer else len({citation.episode_id for citation in before.answer.citations})
    return wire.Judged(after, before.asked.verdict, passages)


def rebuilt(memory: Memory, writer: Writer, what: tuple[str, ...], channel: Channel) -> None:
    """Makes views of the traces and the text anew, and fills the channel with how far it is. It goes on if nobody
    listens any more: half of it helps nobody."""

    def tell(done: int, total: int) -> None:
        channel.put(wire.Progress(done, total, "Making it anew"))

    edges, passages, vectors = 0, 0, 0

    def write(unit: Callable[[], T]) -> T:
        return writer.submit(unit).result()

    try:
        if "memory" in what:
            edges = memory.maintenance.rebuild_edge_memory(tell, write)
        if "text" in what:
            passages = write(partial(_index, memory))
        if "vectors" in what:
            vectors = memory.maintenance.rebuild_vectors(tell, write)
        channel.put(wire.Rebuilt(what, edges, passages, vectors))
    except (Exception, CancelledError) as error:
        log.error("rebuilding failed: %s", type(error).__name__)
        channel.put(failure(error))
    finally:
        channel.end()


def _index(memory: Memory) -> int:
    memory.maintenance.rebuild_text()
    return memory.stats().episodes
