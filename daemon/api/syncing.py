"""One memory on several computers, through a shared folder."""

from __future__ import annotations

from pathlib import Path

from daemon import wire
from daemon.api.services import Services
from daemon.jobs.syncing import NO_FOLDER
from memory.errors import InvalidInputError, NotFoundError


def begin_sync(services: Services, folder: Path, words: str) -> wire.SyncBegun:
    if not folder.is_absolute():
        raise InvalidInputError("Give the folder's whole path.")
    new_words = services.syncing.init(folder, words)
    services.syncing.run()
    return wire.SyncBegun(_state(services), new_words)


def sync(services: Services) -> wire.Sync:
    services.syncing.run()
    return _state(services)


def sync_words(services: Services) -> str:
    return services.syncing.words()


def forget_computer(services: Services, name: str) -> wire.Sync:
    services.syncing.forget(name)
    return _state(services)


def allow_sync(services: Services, folder: Path, allowed: bool) -> wire.Sync:
    path = str(services.watcher.stored_path(folder))
    if path not in {row.path for row in services.watcher.folders()}:
        raise NotFoundError(f"{folder} is not watched. The watched folders: pal watch list")
    services.syncing.allow(path, allowed)
    return _state(services)


def _state(services: Services) -> wire.Sync:
    if (state := services.syncing.state()) is None:
        raise NotFoundError(NO_FOLDER)
    return state
