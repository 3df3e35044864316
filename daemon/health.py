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
DAMAGED = {  # a damaged part, which questions do without -> the command that rebuilds it
    "vectors": "pal rebuild --vectors",
    "edge memory": "pal rebuild --memory",
    "ranker": "pal train",
    "graph": "pal restore",
    "names": "pal restore",
}
# What is looked at, in this order.
PLACES = tuple("file disk backups folders reading night sync replica readers plug-ins embedder models".split())


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check of `place`. `problem` is a sentence with the command that repairs it, "" if all is well; the last field
    names an automatic repair, "" if a person must act."""

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


def examine(client: Client, paths: Paths) -> Iterator[HealthCheck]:
    """Checks a running daemon. DaemonDownError, DaemonError."""
    now = client.status()
    yield HealthCheck("daemon")
    for problem in _check_settings(paths):
        yield HealthCheck("config.toml", problem)
    problems: dict[str, list[str]] = {place: [] for place in PLACES}
    for place, problem in (*_ask_daemon(client, paths), *_find_problems(now)):
        problems[place].append(problem)
    for place in PLACES:
        yield from check_place(place, problems[place])


def list_problems(now: wire.Status) -> list[str]:
    """Lists the problems that the daemon knows, each with the command that fixes it."""
    return [problem for _, problem in sorted(_find_problems(now), key=lambda pair: PLACES.index(pair[0]))]


def check_place(place: str, problems: Iterable[str]) -> Iterator[HealthCheck]:
    """Yields a check for each problem, or one without a problem."""
    for problem in list(problems) or [""]:
        yield HealthCheck(place, problem, next((fix for fix in FIXES if fix in problem), ""))


def _check_settings(paths: Paths) -> Iterator[str]:
    try:
        yield from filter(None, (describe_exposure(paths.config), describe_ignored(paths.config)))
    except SettingsError as error:  # an edit since the daemon began, which it does not know of
        yield str(error)


def _find_problems(now: wire.Status) -> Iterator[tuple[str, str]]:
    """Yields (place, problem) as the daemon's status has it."""
    for what, why in now.damage:
        fix = DAMAGED.get(what, "pal check")
        yield "file", f"The {what} cannot be read ({why}), so questions are answered without. To fix that: {fix}"
    if now.files.safe_mode:
        yield "disk", now.files.safe_mode
    if now.disk and now.disk.text:
        yield "disk", now.disk.text
    if now.erasing and now.erasing.reason:
        yield "disk", f"Forgotten text is still on the disk: {now.erasing.reason}. It is tried again until it is."
    for folder in now.files.folders:
        if folder.state == "missing":
            why = folder.detail or "it is not there"
            yield "folders", f'{folder.path} is watched, but {why}. To stop watching it: pal watch rm "{folder.path}"'
        elif folder.gone or folder.state == "polling":
            yield "folders", f"{folder.path}: {folder.detail}"
    yield from _find_problems_of_work(now)


def _find_problems_of_work(now: wire.Status) -> Iterator[tuple[str, str]]:
    if given_up := now.files.failed_total + (now.enrichment.failed_total if now.enrichment else 0):
        jobs = count(given_up, "job")
        yield "reading", f"{jobs} of reading failed; which: pal status --failed. To try again: pal retry"
    if now.enrichment and now.enrichment.unable:
        yield "reading", now.enrichment.unable
    if now.night and now.night.state == "failed":
        yield "night", "Nightly work was interrupted; see the daemon's log. To do it now: pal tidy, pal train"
    lists: dict[str, Iterable[str]] = {
        "backups": now.upkeep.warnings if now.upkeep else (),
        "sync": list_sync_problems(now.sync) if now.sync else (),
        "replica": list_replica_problems(now.replica) if now.replica else (),
    }
    for place, problems in lists.items():
        yield from ((place, problem) for problem in problems)


def _ask_daemon(client: Client, paths: Paths) -> Iterator[tuple[str, str]]:
    """Yields (place, problem) that the status does not have."""
    for problem in client.check().problems:
        yield "file", problem
    for folder, what in ((paths.logs, "The daemon's log"), (paths.backups, "Backups")):
        if folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
            yield "disk", f"{what} cannot be written into {folder}. Correct that: ls -ld {shlex.quote(str(folder))}"
    yield from _count_skipped(client)
    for problem in _list_plugin_problems(client.plugins()):
        yield "plug-ins", problem
    if (embedder := client.embedder()).problem:
        yield "embedder", f"{embedder.problem} Then try again: pal embedder {embedder.name}"
    for problem in client.models().problems:
        yield "models", problem if "pal " in problem else f"{problem} What can be: pal models"


def _count_skipped(client: Client) -> Iterator[tuple[str, str]]:
    from daemon.wire.documents import RULES_TOO_LONG, SET_ASIDE  # import the memory, which the chat does without
    from plugins.installing import install_command
    from plugins.readers.common import NOT_INSTALLED

    if unread := client.list_skipped(RULES_TOO_LONG, 1).total:
        folders = count(unread, "folder")
        yield "folders", f"The rules of {folders} are too long to be followed. Which: pal status --skipped"
    if waiting := client.list_skipped(NOT_INSTALLED, 1).total:
        files, them = (f"{waiting:,} files need", "them") if waiting > 1 else ("1 file needs", "it")
        how = f"{install_command('readers')}, then pal daemon restart. Which: pal status --skipped"
        yield "readers", f"{files} readers that are not installed. To have {them} read: {how}"
    if set_aside := client.list_skipped(SET_ASIDE, 1).total:
        files = count(set_aside, "file")
        yield "readers", f"{files} could not be read; which: pal status --skipped. To try again: pal retry"


def _list_plugin_problems(reply: wire.PluginsReply) -> Iterator[str]:
    for plugin in reply.plugins:
        if plugin.problem:
            yield (
                f"The plug-in {plugin.name} was left out ({plugin.problem}). Install another version of"
                f" {plugin.package}, or do without: pal plugins off {plugin.name}"
            )
