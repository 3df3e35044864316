"""Watched folders: what changes there is read within seconds, and nothing is lost.

Events only say where to look: they come late, double, out of order or not at all. So a path that changed is compared
with the disk when it has been quiet for a while, all folders are scanned at start and every hour, and a file that is
not there any more is retired only if its folder is still the one that was watched and not half of it went at once.

    watching  events come, and it has been scanned
    scanning  it is being compared with the disk
    missing   it is not there, or it is not itself; nothing of it is removed
    polling   events cannot be had; the scans alone find what changes
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.failures import ConflictError
from daemon.jobs.tasks import CHANGE, SCAN, Task
from daemon.watch.changes import Changes, Ready
from daemon.watch.files import FOLDER_RULES, Ignore, uri_of
from daemon.watch.ingest import Ingest, Look
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Policy

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger(__name__)

POLL_SECONDS = 60.0
MANY = 512  # changed paths of one folder after which it is scanned instead

Identity = tuple[int, int]  # device and inode


@dataclass
class _Root:
    """A watched folder."""

    path: Path
    ignore: Ignore
    known_as: Identity | None  # what it was when it was last believed
    policy: Policy  # of what is new in it
    watch: ObservedWatch | None = None
    watched_as: Identity | None = None  # what the events come from
    state: str = "scanning"
    detail: str = ""
    scans: int = 0  # that are under way
    scanned: float = 0.0  # when the last one began
    doubted: float | None = None  # when many files were first not there


class Watcher:
    """Keeps the memory up to date with the watched folders, from `start` to `close`."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest
        self._memory = ingest.memory
        self._writer = ingest.writer
        self._settings = ingest.settings
        self.run_later: Callable[..., object] = lambda seconds, call, *args: None  # of the daemon's schedule
        self._roots: dict[Path, _Root] = {}
        self._changes = Changes(ingest.settings, self._look)
        self._started = threading.Event()

    def load(self) -> None:
        """Knows the folders, and does not yet look at them."""
        for folder in self._memory.sources.watched_folders():
            identity = folder.options.get("identity")
            known_as = tuple(identity) if identity else None
            self._roots[Path(folder.path)] = self._root(Path(folder.path), known_as, folder.policy)

    def start(self) -> None:
        """Begins to watch and scan all folders."""
        self._observer = _observer()
        self._overflow = logging.Handler(logging.WARNING)
        self._overflow.emit = self._notice_overflow  # type: ignore[method-assign]
        logging.getLogger("watchdog").addHandler(self._overflow)
        self._changes.start()
        for root in list(self._roots.values()):
            self._watch(root)
            self._scan(root)
        self._started.set()

    def close(self) -> None:
        """Looks at nothing any more."""
        self._changes.close()
        if not self._started.is_set():
            return
        logging.getLogger("watchdog").removeHandler(self._overflow)
        if self._observer:
            self._observer.stop()
            self._observer.join(2)

    # What a person asks for -----------------------------------------------------------------------

    def add(self, path: Path, policy: Policy | None = None, default: Policy = "local") -> wire.Folder:
        """Watches a folder from now on. InvalidInputError, NotFoundError, ConflictError.

        `policy` is for all that lies in it, read before or from now on; without one what is new gets the `default`, or
        what was said when it was first watched.
        """
        try:
            path = path.resolve(strict=True)
            os.scandir(path).close()
        except FileNotFoundError as error:
            raise NotFoundError(f"There is no folder {path}. Check the path.") from error
        except NotADirectoryError as error:
            raise InvalidInputError(
                f"{path} is no folder. Watch the folder it is in, or read it once: pal add."
            ) from error
        except (OSError, RuntimeError) as error:
            raise InvalidInputError(
                f"{path} cannot be watched: {getattr(error, 'strerror', None) or error}."
            ) from error
        if any(path == own or path.is_relative_to(own) for own in self._ingest.own):
            raise InvalidInputError(f"{path} is where the memory itself is kept. Watch another folder.")
        for other in self._roots:
            if path != other and (path.is_relative_to(other) or other.is_relative_to(path)):
                where = "inside" if path.is_relative_to(other) else "around"
                raise ConflictError(f"{path} is {where} {other}, which is watched already. Stop watching that first.")
        if path not in self._roots:
            if not self._started.wait(60):
                raise ConflictError("Folders cannot be watched now. See the daemon's log, and restart it.")
            root = self._root(path, _identity(path), policy or default)
            self._writer.write(partial(self._store, root, root.known_as, policy))
            self._roots[path] = root
            self._watch(root)
            self._scan(root)
        elif policy:
            root = self._roots[path]
            root.policy = policy
            self._writer.write(partial(self._store, root, root.known_as, policy))
        return self._folder(self._roots[path])

    def remove(self, path: Path) -> Path:
        """Stops watching; returns the folder's path as it was stored. NotFoundError if it was not watched."""
        known = path if path in self._roots else path.resolve()
        root = self._roots.pop(known, None)
        if root is None:
            raise NotFoundError(f"{path} is not watched. See what is: pal watch list.")

        self._writer.write(partial(self._memory.sources.unwatch_folder, str(known), uri_of(known)))
        self._unwatch(root)
        return known

    def folders(self) -> tuple[wire.Folder, ...]:
        return tuple(self._folder(root) for root in sorted(self._roots.values(), key=lambda root: root.path))

    def scan_all(self) -> None:
        """Compares every folder with the disk."""
        for root in list(self._roots.values()):
            self._scan(root)

    # Folders --------------------------------------------------------------------------------------

    def _root(self, path: Path, known_as: Identity | None, policy: Policy) -> _Root:
        return _Root(path, self._ingest.ignore_rules(path), known_as, policy)

    def _watch(self, root: _Root) -> None:
        """Asks for events before the scan, so that nothing slips between."""
        self._unwatch(root)
        root.watched_as = _identity(root.path)
        if root.watched_as is None:
            return
        from watchdog import events

        wanted: list[type[FileSystemEvent]] = [
            events.FileCreatedEvent,
            events.FileModifiedEvent,
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.FileClosedEvent,
            events.DirCreatedEvent,
            events.DirMovedEvent,
            events.DirDeletedEvent,
        ]
        handler = events.FileSystemEventHandler()
        handler.on_any_event = partial(self._note, root)  # type: ignore[method-assign]
        try:
            if self._observer is None:
                raise OSError("it can watch no more folders")
            root.watch = self._observer.schedule(handler, str(root.path), recursive=True, event_filter=wanted)
        except OSError as error:
            why = error.strerror or error
            root.state, root.detail = "polling", f"the system gives no events ({why}); it is scanned every minute"
            log.warning("no events for folder %s: %s", root.path, error)

    def _unwatch(self, root: _Root) -> None:
        if root.watch is not None and self._observer is not None:
            try:
                self._observer.unschedule(root.watch)
            except (KeyError, OSError) as error:  # the folder went away below it
                log.info("a watch was gone already: %s", type(error).__name__)
            root.watch = None

    def _scan(self, root: _Root) -> None:
        if _identity(root.path) is None:
            self._missing(root, "it is not there; it is read again when it comes back")
            return
        root.ignore = self._ingest.ignore_rules(root.path)
        root.scans += 1
        root.scanned = time.monotonic()
        if root.state != "polling":
            root.state = "scanning"
        self._submit(SCAN, f"Scanning {root.path.name}", [self._look_at(root, root.path)], {}, root)

    def _submit(
        self, urgency: int, name: str, looks: Sequence[Look], moved: dict[Path, Path], scanned: _Root | None = None
    ) -> None:
        def ended(error: BaseException | None) -> None:
            if scanned is not None:
                self._scanned(scanned, error)

        task = Task(name, ended=ended)
        task.steps = self._ingest.take(looks, task, moved, self._trust)
        self._ingest.tasks.submit(urgency, task)

    def _scanned(self, root: _Root, error: BaseException | None) -> None:
        root.scans -= 1
        if root.scans or root.state != "scanning":
            return
        root.state = "watching"
        if root.doubted is None:
            root.detail = ""
            identity = _identity(root.path)
            if error is None and identity and identity != root.known_as:
                root.known_as = identity
                self._writer.submit(partial(self._store, root, identity))

    def _missing(self, root: _Root, why: str) -> None:
        if root.state != "missing":
            log.warning("folder %s: %s", root.path, why)
            self._ingest.publish(wire.Notice("warning", f"{root.path}: {why}."))
        root.state, root.detail = "missing", why

    def _trust(self, path: Path, gone: int) -> bool:
        """Whether `gone` files of a watched folder are believed to be gone."""
        root = self._roots.get(path)
        if root is None:
            return False
        identity = _identity(path)
        if identity is None:
            self._missing(root, "it is not there; it is read again when it comes back")
            return False
        itself = identity == root.known_as
        if gone <= self._settings.gone_files and itself:
            root.doubted = None
            return True
        total = len(self._memory.sources.list_under(uri_of(path) + "/"))
        many = gone > self._settings.gone_files and gone > self._settings.gone_share * total
        if not itself and (many or gone >= total):
            self._missing(root, f"{gone:,} of its files are not there; is its drive mounted? Nothing was removed")
            return False
        if not many:
            root.doubted = None
            return True
        return self._waited(root, gone)

    def _waited(self, root: _Root, gone: int) -> bool:
        """Whether so many files have been gone for long enough; if not, they will be looked for again."""
        wait = self._settings.gone_wait_s
        if root.doubted is None:
            root.doubted = time.monotonic()
            root.detail = f"{gone:,} files are gone at once; looking again before that is believed"
            self.run_later(wait, self._scan, root)
        if time.monotonic() - root.doubted < wait * 0.9:  # the clock that calls again is another one
            return False
        root.doubted, root.detail = None, ""
        return True

    def check_roots(self) -> None:
        """Notices folders that went, came back or are other ones: their events have ended without a word."""
        for root in list(self._roots.values()):
            identity = _identity(root.path)
            if identity is None:
                self._unwatch(root)
                root.watched_as = None
                self._missing(root, "it is not there; it is read again when it comes back")
            elif identity != root.watched_as:
                root.state = "scanning"
                self._watch(root)
                self._scan(root)
            elif root.state == "polling" and not root.scans and time.monotonic() - root.scanned > POLL_SECONDS:
                self._scan(root)

    def _store(self, root: _Root, identity: Identity | None, policy: Policy | None = None) -> None:
        """Writes what is known of a folder; a `policy` is for what was read from it before, too."""
        self._memory.sources.watch_folder(str(root.path), root.policy, {"identity": identity})
        if policy:
            self._memory.sources.set_policy({uri_of(root.path): policy})

    def _folder(self, root: _Root) -> wire.Folder:
        count = self._memory.sources.count(uri_of(root.path) + "/")
        return wire.Folder(str(root.path), root.state, count, root.detail, root.policy)

    def _look_at(self, root: _Root, path: Path) -> Look:
        return Look(path, root.ignore, root.path, root.policy)

    # Events ---------------------------------------------------------------------------------------

    def _note(self, root: _Root, event: FileSystemEvent) -> None:
        """An event of the system: notes which paths to look at."""
        old, new = (Path(os.fsdecode(name)) if name else None for name in (event.src_path, event.dest_path))
        noted = [path for path in (old, new) if path and (self._changes.knows(path) or not self._ignored(root, path))]
        for path in noted:
            self._changes.note(root.path, path)
        if old and new in noted and not event.is_directory:
            self._changes.note_move(old, new)

    def _notice_overflow(self, record: logging.LogRecord) -> None:
        """The system drops events when they come too fast; watchdog tells that to its log, and to nobody else."""
        if "overflow" in record.getMessage():
            self.scan_all()

    def _ignored(self, root: _Root, path: Path) -> bool:
        return not path.is_relative_to(root.path) or root.ignore.reaches(path)

    def _look(self, ready: Ready, moved: dict[Path, Path]) -> None:
        looks = []
        for place, changed in ready.items():
            root = self._roots.get(place)
            if root is None:
                continue
            if len(changed) > MANY or place / FOLDER_RULES in changed or place in changed:
                self._scan(root)
                continue
            all_changed = set(changed)
            looks += [self._look_at(root, path) for path in sorted(changed) if all_changed.isdisjoint(path.parents)]
        if looks:
            self._submit(CHANGE, f"Reading {len(looks)} changed files", looks, moved)


def _observer() -> BaseObserver | None:
    """What gives the system's events, started; None if the system has no more of it to give."""
    from watchdog.observers import Observer

    try:
        observer = Observer()
        observer.start()
    except OSError as error:
        log.warning("the system gives no events: %s", error)
        return None
    return observer


def _identity(path: Path) -> Identity | None:
    """What the folder is, whatever its name; None if it is not there."""
    try:
        status = path.stat()
        os.scandir(path).close()
    except OSError:
        return None
    return status.st_dev, status.st_ino
