"""The memory from beginning to end, as lines of JSON, to whoever reads it.

Each reading has a thread and a snapshot of its own, and goes on only as fast as its client takes what there is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from functools import partial
from importlib.metadata import version
from typing import Any

from starlette.responses import Response, StreamingResponse

from daemon.api.objects import read_object
from daemon.api.routing import Api
from daemon.api.secrets import PATH as SECRETS
from daemon.api.services import Services
from daemon.failures import failure
from daemon.wire import event_line
from memory import Memory
from memory.errors import NotFoundError
from memory.services.exporting import View

log = logging.getLogger(__name__)


def routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.get("/export")
    async def export(kinds: str = "") -> Response:
        return await _stream(read_lines(memory, kinds))

    @api.get(f"{SECRETS}/export")
    async def export_with_secrets(kinds: str = "") -> Response:
        return await _stream(read_lines(memory, kinds, secrets=True))


def read_lines(memory: Memory, kinds: str, secrets: bool = False) -> Iterator[bytes]:
    """Pieces of lines of these kinds, with commas between them, or of all that is true. InvalidInputError."""
    views = memory.exporting.views()
    views["page"] = View(views["thing"].count, partial(list_pages, memory))
    return memory.exporting.read(version("palimpsest"), tuple(filter(None, kinds.split(","))), secrets, views)


def list_pages(memory: Memory) -> Iterator[dict[str, Any]]:
    """What is known of each thing that has a page, with its `id`."""
    for thing in memory.exporting.views()["thing"].read():
        if thing.page == thing.id:
            with suppress(NotFoundError):
                page = read_object(memory, thing.name)
                yield {"id": thing.id} | {item.name: getattr(page, item.name) for item in fields(page)}


async def _stream(pieces: Iterator[bytes]) -> Response:
    return StreamingResponse(_in_a_thread(pieces), media_type="application/x-ndjson")


async def _in_a_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """What an iterator gives, all of it asked for in one thread: a snapshot belongs to the thread that reads it."""
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "export")
    try:
        while piece := await loop.run_in_executor(thread, next, pieces, b""):
            yield piece
    except Exception as error:
        log.error("an export failed: %s", type(error).__name__)
        yield event_line(failure(error))
    finally:
        thread.submit(pieces.close)  # type: ignore[attr-defined]  # it is a generator: its snapshot ends
        thread.shutdown(wait=False)
