"""The checks of `pal doctor` and the chat: each problem with the command that repairs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from daemon import wire
from daemon.config.file import describe_exposure
from daemon.config.settings import SettingsError, describe_ignored
from daemon.paths import Paths
from daemon.terminal import count, list_replica_problems, list_sync_problems

if TYPE_CHECKING:
    from daemon.client.client import Client


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check of `place`. `problem` is a sentence with the command that repairs it, "" if all is well; the last field
    names an automatic repair, "" if it takes a person."""

    place: str
    problem: str = ""
    fix: str = ""


def _rebuild(what: str) -> Callable[[Client], object]:
    return lambda client: list(client.rebuild((what,)))


# Repairs that remove nothing and can be repeated, by their commands.
FIXES: Mapping[str, Callable[[Client], object]] = {
    "pal rebuild --rows": _rebuild("rows"),
    "pal rebuild --text": _rebuild("text"),
    "pal rebuild --vectors": _rebuild("vectors"),
    "pal rebuild --memory": _rebuild("memory"),
    "pal backup": lambda client: client.backup(),
    "pal tidy": lambda client: client.tidy(),
}
DAMAGED = {  # a damaged part, which questions do without -> the command that rebuilds it
    "vectors": "pal rebuild --vectors",
    "edge memory": "pal rebuild --memory",
    "ranker": "pal train",
    "graph": "pal restore",
    "names": "pal restore",
}


def examine(client: Client, paths: Paths) -> Iterator[HealthCheck]:
    """Check a daemon that answers. DaemonDownError, DaemonError."""
    state = _group_problems(client.status())
    yield HealthCheck("daemon")
    for problem in _settings(paths):
        yield HealthCheck("config.toml", problem)
    more: dict[str, Iterable[str]] = {
        "file": client.check().problems,
        "disk": _places(paths),
        "folders": _rules(client),
        "readers": [*_readers(client), *_set_aside(client)],
        "plug-ins": _plugins(client.plugins()),
        "embedder": _embedder(client.embedder()),
        "models": _models(client),
    }
    for place in dict.fromkeys([*state, *more]):
        yield from check_place(place, [*more.get(place, ()), *state.get(place, ())])


def list_problems(now: wire.Status) -> Iterator[str]:
    """What the daemon knows to be wrong, each with the command that fixes it."""
    for problems in _group_problems(now).values():
        yield from problems


def _group_problems(now: wire.Status) -> dict[str, Iterable[str]]:
    """The same by place, all places that are looked at."""
    return {
        "file": _damage(now),
        "disk": _disk(now),
        "backups": now.upkeep.warnings if now.upkeep else (),
        "folders": _folders(now.folders),
        "reading": _reading(now),
        "night": _night(now),
        "sync": list_sync_problems(now.sync) if now.sync else (),
        "replica": list_replica_problems(now.replica) if now.replica else (),
    }


def check_place(place: str, problems: Iterable[str]) -> Iterator[HealthCheck]:
    """A check for each problem, or one without a problem."""
    is_reported = False
    for problem in problems:
        is_reported = True
        yield HealthCheck(place, problem, next((fix for fix in FIXES if fix in problem), ""))
    if not is_reported:
        yield HealthCheck(place)


def _settings(paths: Paths) -> Iterator[str]:
    try:
        yield from filter(None, (describe_exposure(paths.config), describe_ignored(paths.config)))
    except SettingsError as error:  # an edit since the daemon began, which it does not know of
        yield str(error)


def _damage(now: wire.Status) -> Iterator[str]:
    for what, why in now.damage:
        fix = DAMAGED.get(what, "pal check")
        yield f"The {what} cannot be read ({why}), so questions are answered without. To fix that: {fix}"


def _places(paths: Paths) -> Iterator[str]:
    for folder, what in ((paths.logs, "The daemon's log"), (paths.backups, "Backups")):
        if folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
            yield f"{what} cannot be written into {folder}. Correct that: ls -ld {shlex.quote(str(folder))}"


def _reading(now: wire.Status) -> Iterator[str]:
    if given_up := now.failed_total + (now.enrichment.failed_total if now.enrichment else 0):
        yield f"{count(given_up, 'job')} of reading failed; which: pal status --failed. To try again: pal retry"
    if now.enrichment and now.enrichment.unable:
        yield f"{now.enrichment.unable} Which model reads: pal models"


def _set_aside(client: Client) -> Iterator[str]:
    from daemon.wire.documents import SET_ASIDE  # imports the memory, which the chat does without

    if set_aside := client.list_skipped(SET_ASIDE, 1).total:
        yield f"{count(set_aside, 'file')} could not be read; which: pal status --skipped. To try again: pal retry"


def _disk(now: wire.Status) -> Iterator[str]:
    if now.safe_mode:
        yield now.safe_mode
    if now.disk and now.disk.text:
        yield now.disk.text
    if now.erasing and now.erasing.reason:
        yield f"Forgotten text is still on the disk: {now.erasing.reason}. It is tried again until it is."


def _folders(folders: tuple[wire.Folder, ...]) -> Iterator[str]:
    for folder in folders:
        if folder.state == "missing":
            why = folder.detail or "it is not there"
            yield f'{folder.path} is watched, but {why}. To let it go: pal watch rm "{folder.path}"'
        elif folder.gone or folder.state == "polling":
            yield f"{folder.path}: {folder.detail}"


def _rules(client: Client) -> Iterator[str]:
    from daemon.wire.documents import RULES_TOO_LONG  # imports the memory, which the chat does without

    if unread := client.list_skipped(RULES_TOO_LONG, 1).total:
        yield f"The rules of {count(unread, 'folder')} are too long to be followed. Which: pal status --skipped"


def _readers(client: Client) -> Iterator[str]:
    from plugins.installing import install_command
    from plugins.readers.common import NOT_INSTALLED

    if waiting := client.list_skipped(NOT_INSTALLED, 1).total:
        files, them = (f"{waiting:,} files need", "them") if waiting > 1 else ("1 file needs", "it")
        yield (
            f"{files} readers that are not installed. To have {them} read: {install_command('readers')}, then"
            " pal daemon restart. Which: pal status --skipped"
        )


def _plugins(found: wire.PluginsReply) -> Iterator[str]:
    if found.reranker:
        why = found.reranker.rstrip(".")
        yield f"The reranker does not work: {why}. To do without: pal config set reranker.name none"
    for plugin in found.plugins:
        if plugin.problem:
            yield (
                f"The plug-in {plugin.name} was left out ({plugin.problem}). Install another version of"
                f" {plugin.package}, or do without: pal plugins off {plugin.name}"
            )


def _embedder(embedder: wire.EmbedderReply) -> Iterator[str]:
    if embedder.problem:
        yield f"{embedder.problem} Then try again: pal embedder {embedder.name}"


def _models(client: Client) -> Iterator[str]:
    for problem in client.models().problems:
        yield problem if "pal " in problem else f"{problem} What can be: pal models"


def _night(now: wire.Status) -> Iterator[str]:
    if now.night and now.night.state == "failed":
        yield "Nightly work was interrupted; see the daemon's log. To do it now: pal tidy, pal train"
