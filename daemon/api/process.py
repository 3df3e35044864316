"""The topic of the daemon: its state, models and embedders, the web page, the shared folder and the replica."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from starlette.responses import Response

from daemon import wire
from daemon.api.routing import follow, stream
from daemon.api.services import Services
from memory.errors import InvalidInputError
from plugins.installing import read_version

MAX_SKIPPED = 100  # files, in the status
MAX_FAILED = 50  # jobs, in the status


async def hello(services: Services) -> wire.Hello:
    return wire.Hello(read_version(), wire.PROTOCOL, os.getpid())


def status(services: Services) -> wire.Status:
    stats = services.cache.get("stats", services.memory.browsing.stats)
    with services.memory.store.reading():
        skipped = services.memory.sources.list_skipped(MAX_SKIPPED)
        review = services.memory.knowledge.count_open_revisions()
        failed, failed_total = services.add_jobs.list_failed(MAX_FAILED)
    uptime_s = round(time.monotonic() - services.began, 1)
    return wire.Status(
        wire.DaemonProcess(read_version(), wire.PROTOCOL, os.getpid(), uptime_s),
        stats,
        wire.FileReading(
            services.tasks.queue,
            services.tasks.busy,
            services.watcher.folders(),
            tuple(skipped),
            tuple(failed),
            failed_total,
            services.safe_mode,
        ),
        model=services.models.answers() if services.memory.state.settings.answer.model == "auto" else None,
        enrichment=services.enrichment.state(),
        review=review,
        night=services.nightly.state(),
        upkeep=services.upkeep.state(),
        erasing=services.erasure.state(),
        disk=services.disk.state(),
        damage=tuple(services.memory.state.damage.items()),
        preparing=services.embedder.describe(),
        sync=services.sync.state(),
        replica=services.replication.state(),
    )


async def activity(services: Services) -> Response:
    return stream(services.activity.listen())


def plugins(services: Services) -> wire.PluginsReply:
    return wire.PluginsReply(services.plugins.built_in(), services.plugins.others)


async def probe_model(services: Services, name: str) -> Response:
    return follow(services, partial(services.models.probe, name), f"grading {name}")


def retry(services: Services, id: int | None) -> int:
    """Retries dead jobs. NotFoundError if that job is not dead."""
    count = services.add_jobs.retry(id)
    return count if count and id is not None else count + services.enrichment.retry(id)


async def open_page(services: Services, port: int | None) -> wire.PageLink:
    return await services.open_page(port)


async def close_page(services: Services) -> bool:
    return await services.close_page()


async def stop(services: Services) -> None:
    services.stop()


def allow_sync(services: Services, folder: Path, allowed: bool) -> wire.SyncState:
    return services.sync.allow(str(services.watcher.find(folder).path), allowed)


def replicate(services: Services, address: str, goes_on: bool, with_local: bool) -> wire.Replica:
    local = [row.path for row in services.watcher.folders() if row.policy == "local"]
    if local and "://" in address and not address.startswith("file:") and not with_local:
        raise InvalidInputError(
            f"All text goes there, also that of folders that are local: {', '.join(local)}. To allow that, add --local."
        )
    return services.replication.begin(address, goes_on)


def renew_replica(services: Services) -> wire.Replica:
    services.memory.forgetting.clear_unused(services.writer.write)  # a copy of the file has its unused parts, too
    return services.replication.renew()
