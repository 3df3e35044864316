"""The routes that begin learning from earlier questions, and take it back."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse

from daemon import wire
from daemon.api.gate import reply
from daemon.failures import failed
from daemon.jobs.activity import Channel
from daemon.jobs.training import Learning

log = logging.getLogger(__name__)


def routes(
    app: FastAPI,
    learning: Learning,
    start: Callable[[Callable[[], None]], Any],
    work: Callable[[Callable[[], wire.Unlearnt]], Any],
    stream: Callable[[AsyncIterator[wire.Event]], Response],
) -> None:
    """`start` runs what takes a while in a thread of its own, `work` waits for it; `stream` sends events."""

    @app.post("/learn", response_class=StreamingResponse)
    async def learn(request: wire.LearnRequest) -> Response:
        channel = Channel()
        start(partial(_filled, learning, request.dry_run, channel))
        return stream(channel.events())

    @app.post("/learn/undo", response_model=wire.Unlearnt)
    async def undo() -> Response:
        return reply(await work(learning.undo))


def _filled(learning: Learning, dry_run: bool, channel: Channel) -> None:
    """Goes on if nobody listens any more: half of it helps nobody."""
    try:
        channel.put(learning.study(dry_run, channel.put))
    except (Exception, CancelledError) as error:
        log.error("learning failed: %s", type(error).__name__)
        channel.put(failed(error))
    finally:
        channel.end()
