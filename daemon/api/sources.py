"""What is read and forgotten: notes, files that are read once, watched folders, copies of the memory, exports; notes of
agents.

An agent's note is its own statement (`memory.nouns.AGENT_NOTES`): its speaker is the agent, and a fact of it that would
replace another speaker's fact waits for the person. A note is named by the hash of its text, so the same note is kept
once.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from starlette.responses import Response

from daemon import wire
from daemon.api.routing import MOST_ROWS, stream
from daemon.api.services import Services
from daemon.config.settings import CLIENT_NAME
from daemon.failures import ConflictError
from daemon.jobs.activity import Channel
from daemon.jobs.erasure import find_files
from daemon.paths import name_backup
from daemon.watch.files import uri_of
from daemon.watch.walking import Ignore, walk
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import AGENT_NOTES, Policy, Source
from memory.views import Forgotten
from plugins.installing import read_version

COUNT_SECONDS = 10.0
DAY = timedelta(days=1)


def remember(
    memory: Memory,
    text: str,
    title: str | None,
    source: str | None,
    at: datetime | None,
    speaker: str | None,
    ref: str | None,
) -> wire.Receipt:
    """Stores a note, by default with the current time."""
    at = at or datetime.now().astimezone()
    return memory.ingest.remember(text, title=title, source=source, at=at, speaker=speaker, ref=ref)


async def add(services: Services, paths: Sequence[Path], policy: Policy | None, again: bool) -> Response:
    channel = Channel()
    existing = await services.work(partial(find_existing, paths))

    def tell(event: wire.Event) -> None:
        channel.put(event)
        if isinstance(event, wire.Added | wire.Failed):
            channel.end()

    await services.work(lambda: services.add_jobs.add(existing, tell, policy, services.policy(), again))
    return stream(channel.events())


def count(services: Services, paths: Sequence[Path]) -> wire.Counted:
    """Counts the files that would be read, within some seconds; opens no file."""
    number = size = lacking = 0
    plugins, deadline = services.plugins, time.monotonic() + COUNT_SECONDS
    for path in find_existing(paths):
        ignore = Ignore(path if path.is_dir() else path.parent, services.settings.watch.ignore, services.own)
        for entry in walk(path, ignore):
            if entry.unread is None and entry.size and plugins.reads(entry.path):
                number += 1
                size += entry.size
                lacking += plugins.lacks_library(entry.path)
            if time.monotonic() > deadline:
                return wire.Counted(number, size, complete=False, lacking=lacking)
    return wire.Counted(number, size, complete=True, lacking=lacking)


def sources(memory: Memory, query: str, limit: int) -> wire.SourcesReply:
    listed, total = memory.sources.search(query, max(0, min(limit, MOST_ROWS)))
    return wire.SourcesReply(tuple(listed), total)


def list_skipped(memory: Memory, match: str, limit: int) -> wire.SkippedReply:
    files, total = memory.sources.search_skipped(match, max(0, min(limit, MOST_ROWS)))
    return wire.SkippedReply(tuple(files), total)


def list_retired(memory: Memory, limit: int) -> wire.RetiredReply:
    listed, total = memory.forgetting.list_retired(max(0, min(limit, MOST_ROWS)))
    return wire.RetiredReply(tuple(listed), total)


# Watched folders ------------------------------------------------------------------------------


def watch(services: Services, path: Path, policy: Policy | None, tags: Sequence[str] | None) -> wire.Folder:
    return services.watcher.add(path, policy, services.policy(), tags)


def list_gone(services: Services, path: Path) -> wire.GoneReply:
    files = services.watcher.list_gone(path)
    return wire.GoneReply(str(path), files[:MOST_ROWS], len(files))


def unwatch(services: Services, path: Path, forget: bool) -> wire.Forgotten:
    if forget:
        return _forget_folder(services, path)
    services.watcher.remove(path)
    return Forgotten()


# Forgetting -----------------------------------------------------------------------------------


async def forget(
    services: Services, source: str | None, object: str | None, episode: int | None, fact: int | None, retired: bool
) -> wire.Forgotten:
    if retired:
        if (object, episode, fact) != (None, None, None):
            raise InvalidInputError("Retired text is forgotten as a whole, or that of a source or folder.")
        return services.replication.add_copy(await services.work(partial(_forget_retired, services, source or "")))
    unit = partial(_forget_one, services, source, object, episode, fact)
    return services.replication.add_copy(services.erasure.watch(await services.write(unit)))


def _forget_one(
    services: Services, source: str | None, object: str | None, episode: int | None, fact: int | None
) -> wire.Forgotten:
    """Forgets one item. Files with that content are not read again."""
    memory, backups = services.memory, services.backups
    if source is None:
        copies = memory.maintenance.copies_with(backups, (), object, fact, episode)
        return replace(memory.forgetting.forget(None, object, fact, episode), copies=copies)
    if (object, episode, fact) != (None, None, None):
        raise InvalidInputError("Say one thing to forget: a source, an object, a fact or an episode.")
    uris = _list_named(memory, source)
    copies = memory.maintenance.copies_with(backups, uris)
    equal = tuple(memory.sources.list_equal(uris))
    try:
        gone = memory.forgetting.forget_sources(uris, find_files(uris))
        return replace(gone, copies=copies, also_in=equal)
    except NotFoundError:
        if memory.sources.count_under(source.rstrip("/") + "/", ever=True):
            raise InvalidInputError(
                f"{source} is a folder. To forget all that was read from it: pal watch rm --forget {source}"
            ) from None
        if memory.forgetting.unwiped_since() is None:
            raise
        return Forgotten(pending=memory.forgetting.wipe(0.0))  # the text may have been forgotten a moment ago


def _forget_folder(services: Services, folder: Path) -> wire.Forgotten:
    """Stops watching a folder and forgets everything read from it, including retired sources, also if it is not watched
    any more."""
    memory, watcher, erasure = services.memory, services.watcher, services.erasure
    uri = uri_of(watcher.stored_path(folder))
    uris = memory.sources.list_uris(uri + "/")
    copies = memory.maintenance.copies_with(services.backups, uris) if uris else ()
    job = erasure.job(uri, watcher.covers(folder))
    try:
        watcher.remove(folder, job)
    except NotFoundError:
        if not uris and not erasure.is_unfinished(uri):
            raise
    return services.replication.add_copy(replace(erasure.forget(job).result(), copies=copies))


def _forget_retired(services: Services, under: str) -> wire.Forgotten:
    """Forgets retired text: all of it, or that of a source or folder."""
    copies = services.memory.maintenance.known_copies(services.backups)  # any of them may have any of it
    gone = services.erasure.forget(services.erasure.job_of_retired(under)).result()
    return replace(gone, copies=copies if gone.episodes or gone.sources else ())


def find_existing(paths: Iterable[Path]) -> list[Path]:
    """Resolves the files and folders to read; links are followed, because a person named them. InvalidInputError,
    NotFoundError."""
    existing = []
    for path in paths:
        try:
            existing.append(path.resolve(strict=True))
        except FileNotFoundError as error:
            raise NotFoundError(f"There is no {path}. Check the path.") from error
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidInputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if not existing:
        raise InvalidInputError("Name at least one file or folder.")
    return existing


def _list_named(memory: Memory, name: str) -> list[str]:
    """Returns the uris of the source of that name, which may be a path; of all sources in it, if the file has
    several."""
    for uri in dict.fromkeys([name, Path(name).as_posix()]):
        if memory.sources.get(uri):
            return [uri]
        if parts := [part.uri for part in memory.sources.list_under(uri + "#") if "/" not in part.uri[len(uri) :]]:
            return parts
    return [name]  # it may have been retired; the memory knows those too


def backup(services: Services, to: Path | None) -> wire.BackedUp:
    memory, to = services.memory, to or name_backup(services.backups)
    if not to.parent.is_dir():
        raise NotFoundError(f"There is no folder {to.parent}. Create it, or choose another one.")
    if to.parent != services.backups:  # before it is made: a daemon that is killed in it leaves most of a copy there
        services.writer.write(partial(memory.maintenance.note_copy, to))
    memory.maintenance.backup(to)
    return wire.BackedUp(str(to), to.stat().st_size)


def export(memory: Memory, pages: bool) -> Iterator[bytes]:
    if pages:
        return memory.browsing.export_pages(read_version())
    return memory.browsing.export_rows(read_version())


def export_with_secrets(memory: Memory) -> Iterator[bytes]:
    return memory.browsing.export_rows(read_version(), unmask=True)


def secret_places(memory: Memory) -> tuple[wire.SecretPlace, ...]:
    """Finds secrets in all stored text."""
    return (*memory.sources.list_masked(), *memory.sources.list_unmasked())


def remember_for(services: Services, agent: str, text: str, title: str) -> wire.KeptNote:
    """Stores an agent's note. ConflictError above a limit. The notes of a day are counted in the memory, so neither a
    new daemon nor several processes of one agent evade it."""
    memory, limits = services.memory, services.settings.mcp
    if len(text.encode("utf-8", "replace")) > 1000 * limits.note_kb:
        raise InvalidInputError(f"A note may have {limits.note_kb} kB. Write a shorter note.")
    title = " ".join(title.split())
    digest = hashlib.sha256(" ".join(f"{title}\n{text}".casefold().split()).encode("utf-8", "replace")).hexdigest()
    source, now = f"{_prefix(check_name(agent))}{digest[:16]}", datetime.now(UTC)
    if memory.sources.get(source) is not None:
        return wire.KeptNote(source, known=True)
    if (today := len(_list_notes(memory, agent, now - DAY))) >= limits.notes_per_day:
        raise ConflictError(f"{agent} has written {today} notes within 24 hours, which is all it may.")
    if wait := services.note_limits[agent].take():
        raise ConflictError(f"{agent} may write {limits.notes_per_minute} notes a minute: wait {wait:.0f} s.")
    speaker = f"{agent} (agent)"  # a name that no owner or person can have
    memory.ingest.remember(text, title or None, source, now, speaker=speaker)
    return wire.KeptNote(source)


def agents(memory: Memory) -> tuple[wire.Agent, ...]:
    """Lists agents by name."""
    with memory.store.reading():
        verdicts = memory.questions.count_verdicts_of_agents()
        notes: dict[str, list[Source]] = defaultdict(list)
        for source in memory.sources.list_under(AGENT_NOTES):
            notes[source.uri.removeprefix(AGENT_NOTES).partition("/")[0]].append(source)
    return tuple(
        wire.Agent(
            name,
            len(notes.get(name, ())),
            max((source.at for source in notes.get(name, ()) if source.at), default=None),
            verdicts.get(name, 0),
        )
        for name in sorted({*notes, *verdicts})
    )


async def undo_agent(services: Services, agent: str, since: datetime | None) -> wire.AgentUndone:
    undone = await services.write(partial(_undo, services.memory, services.backups, check_name(agent), since))
    services.erasure.watch(undone.forgotten)
    return undone


def _undo(memory: Memory, backups: Path, agent: str, since: datetime | None) -> wire.AgentUndone:
    """Deletes the agent's notes and verdicts; a unit of the writer."""
    uris = [source.uri for source in _list_notes(memory, agent, since)]
    verdicts = memory.questions.take_back_verdicts(agent, since)
    if not uris:
        return wire.AgentUndone(Forgotten(), 0, verdicts)
    copies = memory.maintenance.copies_with(backups, uris)
    return wire.AgentUndone(replace(memory.forgetting.forget_sources(uris), copies=copies), len(uris), verdicts)


def _list_notes(memory: Memory, agent: str, since: datetime | None) -> list[Source]:
    """Lists the agent's notes, or those since a time."""
    notes = memory.sources.list_under(_prefix(agent))
    return [note for note in notes if since is None or (note.at is not None and note.at >= since)]


def _prefix(agent: str) -> str:
    return f"{AGENT_NOTES}{agent}/"


def check_name(agent: str) -> str:
    """Checks an agent's name. InvalidInputError."""
    if not CLIENT_NAME.fullmatch(agent):
        raise InvalidInputError("An agent's name has small letters, digits and dashes, 40 at most.")
    return agent
