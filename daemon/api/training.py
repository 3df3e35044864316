"""The routes that begin learning from earlier questions, and take it back."""

from __future__ import annotations

import logging
from concurrent.futures import CancelledError
from functools import partial

from starlette.responses import Response

from daemon import wire
from daemon.api.routing import Api, stream
from daemon.api.services import Services
from daemon.failures import failure
from daemon.jobs.activity import Channel
from daemon.jobs.training import Learning

log = logging.getLogger(__name__)


def routes(api: Api, services: Services) -> None:
    learning = services.learning

    @api.post("/train")
    async def train(dry_run: bool = False) -> Response:
        channel = Channel()
        services.workers.submit(partial(_filled, learning, dry_run, channel))
        return stream(channel.events())

    @api.post("/train/undo")
    async def undo() -> wire.TrainingUndone:
        return await services.work(learning.undo)


def _filled(learning: Learning, dry_run: bool, channel: Channel) -> None:
    """Goes on if nobody listens any more: half of it helps nobody."""
    try:
        channel.put(learning.study(dry_run, channel.put))
    except (Exception, CancelledError) as error:
        log.error("learning failed: %s", type(error).__name__)
        channel.put(failure(error))
    finally:
        channel.end()
