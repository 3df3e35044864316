"""What the API does with the memory beyond one call of it: forget, back up."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.jobs.erasure import find_files
from daemon.jobs.writer import Writer
from daemon.paths import private_folder
from daemon.watch.files import uri_of
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Copy, Forgotten
from memory.time.timestamps import from_ms

if TYPE_CHECKING:
    from daemon.jobs.erasure import Erasure
    from daemon.watch.watcher import Watcher
    from memory import Memory


def forget(
    memory: Memory,
    backups: Path,
    source: str | None,
    object: str | None,
    episode: int | None,
    fact: int | None,
) -> wire.Forgotten:
    """Forgets one thing. A file of which it was the content is skipped from then on, or it would come back."""
    if source is None:
        copies = memory.maintenance.copies_with(backups, (), object, fact, episode)
        return replace(memory.forget(None, object, fact, episode), copies=date_copies(copies))
    if (object, episode, fact) != (None, None, None):
        raise InvalidInputError("Say one thing to forget: a source, an object, a fact or an episode.")
    uris = _named(memory, source)
    copies = memory.maintenance.copies_with(backups, uris)
    equal = tuple(memory.sources.list_equal(uris))
    try:
        gone = memory.ingest.forget_sources(uris, find_files(uris))
        return replace(gone, copies=date_copies(copies), also_in=equal)
    except NotFoundError:
        if memory.sources.count_all(source.rstrip("/") + "/"):
            raise InvalidInputError(
                f"{source} is a folder. To forget all that was read from it: pal watch rm --forget {source}"
            ) from None
        if memory.ingest.unwiped_since() is None:
            raise
        return Forgotten(pending=memory.ingest.wipe(0.0))  # it may be what was asked for a moment ago


def list_skipped(memory: Memory, match: str, limit: int) -> wire.SkippedReply:
    """Files that could not be read, of which name or reason have the words."""
    found, total = memory.sources.search_skipped(match, limit)
    return wire.SkippedReply(tuple(wire.Skipped(skip.uri, skip.reason, from_ms(skip.t)) for skip in found), total)


def forget_folder(memory: Memory, watcher: Watcher, erasing: Erasure, backups: Path, folder: Path) -> wire.Forgotten:
    """Stops watching a folder and forgets all that was read from it, also what had gone from it. Of one that is not
    watched any more what is left is forgotten."""
    uri = uri_of(watcher.stored_path(folder))
    uris = memory.sources.list_uris(uri + "/")
    copies = memory.maintenance.copies_with(backups, uris) if uris else []
    wanted = erasing.job(uri, watcher.covers(folder))
    try:
        watcher.remove(folder, wanted)
    except NotFoundError:
        if not uris and not erasing.is_unfinished(uri):
            raise
    return replace(erasing.forget(wanted).result(), copies=date_copies(copies))


def forget_retired(memory: Memory, erasing: Erasure, backups: Path, under: str) -> wire.Forgotten:
    """Forgets what no question finds any more: all of it, or that of a source or folder."""
    copies = memory.maintenance.known_copies(backups)  # any of them may have any of it
    gone = erasing.forget(erasing.job_of_retired(under)).result()
    return replace(gone, copies=date_copies(copies) if gone.episodes or gone.sources else ())


def date_copies(copies: Iterable[Path]) -> tuple[Copy, ...]:
    """Copies of the memory, with when each was made."""
    held = []
    for path in copies:
        with suppress(FileNotFoundError):
            held.append(Copy(str(path), from_ms(int(path.stat().st_mtime * 1000))))
    return tuple(held)


def find_existing(paths: Iterable[str]) -> list[Path]:
    """The files and folders to read, links followed: who names one means it. InvalidInputError, NotFoundError."""
    found = []
    for path in paths:
        if not Path(path).is_absolute():
            raise InvalidInputError(f"{path} is no absolute path. Send one: the daemon stands in another folder.")
        try:
            found.append(Path(path).resolve(strict=True))
        except FileNotFoundError as error:
            raise NotFoundError(f"There is no {path}. Check the path.") from error
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidInputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if not found:
        raise InvalidInputError("Name at least one file or folder.")
    return found


def backup(memory: Memory, writer: Writer, folder: Path, path: Path | None) -> wire.BackedUp:
    """A verified copy at `path`, or in `folder` under a name that tells when."""
    to = path or private_folder(folder) / f"memory-{datetime.now():%Y%m%d-%H%M%S-%f}.db"
    if not to.parent.is_dir():
        raise NotFoundError(f"There is no folder {to.parent}. Create it, or choose another one.")
    if to.parent != folder:  # before it is made: a daemon that is killed in it leaves most of a copy there
        writer.write(partial(memory.maintenance.note_copy, to))
    memory.backup(to)
    return wire.BackedUp(str(to), to.stat().st_size)


def _named(memory: Memory, name: str) -> list[str]:
    """The uris of the source of that name, which may be a path; of all sources in it, if the file holds several."""
    for uri in dict.fromkeys([name, Path(name).as_posix()]):
        if memory.sources.get(uri):
            return [uri]
        if parts := [part.uri for part in memory.sources.list_under(uri + "#") if "/" not in part.uri[len(uri) :]]:
            return parts
    return [name]  # it may have been retired; the memory knows those too
