"""The watched folders, as clients see them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from daemon import views, wire
from daemon.api import documents
from daemon.api.routing import MOST_ROWS, Api
from daemon.api.services import Services


def routes(api: Api, services: Services) -> None:
    """The watched folders."""
    watcher = services.watcher

    @api.get("/skipped")
    async def list_skipped(match: str = "", limit: int = 100) -> wire.SkippedReply:
        most = max(0, min(limit, MOST_ROWS))
        return await services.work(partial(documents.list_skipped, services.memory, match, most))

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
