"""Watched folders: changes are read within seconds, and none is lost.

Events only say where to look: they can be late, doubled, out of order or missing. So a changed path is compared with
the disk after a quiet period, all folders are scanned at start and every hour, and missing files are retired only as
`daemon.watch.roots` decides.

States: watching (events arrive, scan done); scanning; missing (the folder is missing or another one; nothing is removed
or read); polling (events are missing or incomplete; periodic scans find the changes)."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.failures import ConflictError
from daemon.jobs.workers import CHANGE, SCAN, Task
from daemon.terminal import count
from daemon.watch.events import Changes, Events, Ready
from daemon.watch.files import uri_of
from daemon.watch.ingest import Ingest
from daemon.watch.roots import AWAY, DeletionGuard, Root, identify, network_of, resolve_folder
from daemon.watch.scan import KEPT, Scan, ScanTarget
from daemon.watch.walking import FOLDER_RULES
from memory.errors import InvalidInputError, NotFoundError, StoreError, StoreFullError, StoreMovedError
from memory.nouns import Policy
from memory.services.activity import Job

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

log = logging.getLogger(__name__)

SCAN_SECONDS = 3600.0  # between two full scans, which find changes that events missed
POLL_SHARE = 0.05  # share of time for scans of a folder without events
MANY = 512  # changed paths of one folder above which it is scanned
SETTLE_SECONDS = 2.0  # until the events of a new folder are checked


class Watcher:
    """Updates the memory from the watched folders, from `start` to `close`. `run_later` is that of the schedule."""

    def __init__(self, ingest: Ingest, run_later: Callable[..., object]) -> None:
        self._ingest = ingest
        self._memory = ingest.memory
        self._writer = ingest.writer
        self._run_later = run_later
        self._roots: dict[Path, Root] = {}
        self._events = Events(self.scan_all)
        self._deletion_guard = DeletionGuard(
            ingest.memory,
            ingest.settings,
            self._roots,
            save=self._save,
            warn=lambda text: ingest.publish(wire.Notice("warning", text)),
            look_again=lambda seconds, root: self._run_later(seconds, self._scan, root),
        )
        self._changes = Changes(ingest.settings, self._look)
        self._started = threading.Event()
        ingest.is_away = self.is_away
        for path, policy, options in self._memory.sources.watched_folders():
            folder = Path(path)
            self._roots[folder] = Root.from_options(folder, policy, options, ingest.ignore_rules(folder))

    def start(self) -> None:
        """Starts watching and scanning all folders."""
        self._events.start()
        self._changes.start()
        for root in list(self._roots.values()):
            self._watch(root)
            self._scan(root)
        self._started.set()

    def close(self) -> None:
        """Stops watching."""
        self._changes.close()
        if self._started.is_set():
            self._events.close()

    # Requests of a person -------------------------------------------------------------------------

    def add(
        self,
        path: Path,
        policy: Policy | None = None,
        default: Policy = "local",
        tags: Sequence[str] | None = None,
    ) -> wire.Folder:
        """Watches a folder. `policy` applies to old and new sources; without it, new sources get the `default`, or the
        policy of the first call. Without `tags` its sources keep theirs. Accepts a folder with another identity.
        InvalidInputError, NotFoundError, ConflictError."""
        path = self._find_folder(path)
        is_new = path not in self._roots
        if is_new and not self._started.wait(60):
            raise ConflictError("Folders cannot be watched now. See the daemon's log, and restart it.")
        root = self._roots.get(path) or Root(path, self._ingest.ignore_rules(path), default, None)
        former = root.tags
        new = former if tags is None else tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in tags))
        if "" in new:
            raise InvalidInputError("A tag is a word.")
        root.policy, root.tags, identity = policy or root.policy, new, identify(path)
        is_accepted = is_new or root.state == "missing" or identity != root.known_as  # which no scan has noticed yet
        if is_accepted:
            root.known_as, root.is_undecided = identity, not is_new  # ask about missing files
        if policy or is_accepted or new != former:
            self._writer.write(partial(self._store, root, policy, former))
        if is_new:
            self._roots[path] = root
            self._watch(root)
        if is_accepted:
            self._scan(root)
        return self._make_folder(root)

    def _find_folder(self, path: Path) -> Path:
        """Returns the folder, if it can be watched. InvalidInputError, NotFoundError, ConflictError."""
        path = resolve_folder(path)
        if any(path.is_relative_to(own) for own in self._ingest.own):
            raise InvalidInputError(f"{path} contains the memory itself. Watch another folder.")
        for other in self._roots:
            if path != other and (path.is_relative_to(other) or other.is_relative_to(path)):
                where = "inside" if path.is_relative_to(other) else "around"
                raise ConflictError(f"{path} is {where} {other}, which is watched already. Stop watching that first.")
        return path

    def remove(self, path: Path, then: Job | None = None) -> Path:
        """Stops watching, and queues the job `then`; returns the stored path. NotFoundError."""
        root = self._roots.pop(self.find(path).path)
        self._writer.write(partial(self._memory.sources.unwatch_folder, str(root.path), uri_of(root.path), then))
        self._unwatch(root)
        return root.path

    def keep_named(self, paths: Iterable[Path]) -> None:
        """Keeps these paths, which a person added, even if the rules of a watched folder exclude them."""
        for root in list(self._roots.values()):
            inner = [path for path in paths if path != root.path and path.is_relative_to(root.path)]
            left_out = [uri_of(path) for path in inner if root.ignore.reaches(path)]
            if new := {uri for uri in left_out if not root.is_named(uri)}:
                root.named = tuple(sorted({*root.named, *new}))
                self._writer.write(partial(self._store, root))

    def list_gone(self, path: Path) -> tuple[str, ...]:
        """Lists the uris of missing files of a watched folder that a person must decide about. NotFoundError."""
        return self._deletion_guard.list_undecided(self.find(path))

    def decide(self, path: Path, keep: bool) -> wire.Folder:
        """Keeps or drops the content of the missing files. NotFoundError."""
        root = self.find(path)
        if not self._deletion_guard.list_undecided(root):
            raise NotFoundError(f"There is no question about {path}. List the folders: pal watch list.")
        if keep:
            reasons = dict.fromkeys(root.gone, KEPT)
            self._writer.write(partial(self._memory.sources.note_files, (), reasons, ()))
            self._deletion_guard.apply_decision(root)
        else:
            root.dropped = frozenset(root.gone)
        self._scan(root)
        return self._make_folder(root)

    def find(self, path: Path) -> Root:
        """Returns a watched folder. NotFoundError."""
        root = self._roots.get(path) or self._roots.get(path.resolve())
        if root is None:
            raise NotFoundError(f"{path} is not watched. List the folders: pal watch list.")
        return root

    def covers(self, path: Path) -> bool:
        """Whether a folder is inside a watched one."""
        stored = self.stored_path(path)
        return stored not in self._roots and any(stored.is_relative_to(root) for root in list(self._roots))

    def stored_path(self, path: Path) -> Path:
        """Returns the path under which a folder is or would be stored: without links, unless it is missing."""
        return path if path in self._roots else path.resolve()

    def folders(self) -> tuple[wire.Folder, ...]:
        return tuple(self._make_folder(root) for root in sorted(self._roots.values(), key=lambda root: root.path))

    def is_away(self, path: Path) -> bool:
        """Whether a file is in a watched folder that is missing."""
        roots = list(self._roots.values())
        return any(path.is_relative_to(root.path) and identify(root.path) != root.known_as for root in roots)

    def scan_all(self) -> None:
        """Scans every folder."""
        for root in list(self._roots.values()):
            self._scan(root)

    # Folders --------------------------------------------------------------------------------------

    def _watch(self, root: Root) -> None:
        """Starts events before the scan, so that no change is missed."""
        self._unwatch(root)
        root.watched_as = identify(root.path)
        if root.watched_as is None:
            return
        root.network = network_of(root.path)
        try:
            root.watch = self._events.watch(root.path, partial(self._note, root))
        except OSError as error:
            self._poll(root, f"the system gives no events ({error.strerror or error})")
        if root.network:
            self._poll(root, f"it is on a network drive ({root.network}), where events are incomplete")

    def _unwatch(self, root: Root) -> None:
        if root.watch is not None:
            self._events.unwatch(root.watch)
            root.watch = None

    def _poll(self, root: Root, why: str) -> None:
        """Marks a folder as found by scans only."""
        if not root.unheard:
            log.warning("folder %s: %s", root.path, why)
            self._ingest.publish(wire.Notice("warning", f"{root.path}: {why}; {self._describe_polls(root)}."))
        root.unheard = why

    def _describe_polls(self, root: Root) -> str:
        return f"it is scanned every {self._choose_poll_seconds(root):,.0f} s instead"

    def _choose_poll_seconds(self, root: Root) -> float:
        return max(self._ingest.settings.poll_s, min(root.scan_s / POLL_SHARE, SCAN_SECONDS))

    def _scan(self, root: Root) -> None:
        if identify(root.path) is None:
            self._deletion_guard.mark_missing(root, AWAY)
            return
        if root.scan_waits:
            return
        root.scans += 1
        root.scan_waits = True
        root.state = "scanning"
        disk = Scan()
        task = Task(f"Scanning {root.path.name}")
        task.ended = partial(self._finish_scan, root, task, disk)
        task.steps = self._take(root, task, disk)
        self._ingest.tasks.submit(SCAN, task)

    def _take(self, root: Root, task: Task, disk: Scan) -> Iterator[None]:
        """Scans a folder while it is watched: it may be forgotten meanwhile. A later change needs another scan."""
        root.scan_waits = False
        root.scanned = time.monotonic()
        root.ignore = self._ingest.ignore_rules(root.path)
        for _ in self._ingest.take([self._make_target(root, root.path)], task, {}, self._deletion_guard, disk):
            yield
            if self._roots.get(root.path) is not root:
                return

    def _finish_scan(self, root: Root, task: Task, disk: Scan, error: BaseException | None) -> None:
        if not task.sources:  # otherwise most of the time was reading
            root.scan_s = time.monotonic() - root.scanned
        root.scans -= 1
        self._try_again([root.path], error)
        root.scan_waits = root.scan_waits and root.scans > 0
        if root.scans or root.state != "scanning":
            root.dropped = root.dropped if root.scans else frozenset()
            return
        root.state = "watching"
        if root.dropped:
            self._deletion_guard.apply_decision(root)
        identity = identify(root.path)
        is_doubted = root.is_undecided or root.doubted is not None
        mounts = {*map(uri_of, disk.mounts), *(root.mounts if is_doubted else ())}
        is_other = identity != root.known_as and root.doubted is None
        if error is None and identity and (is_other or mounts != set(root.mounts)):
            root.known_as = identity if is_other else root.known_as
            root.mounts = tuple(sorted(mounts))
            self._save(root)
        if error is None and root.watch is not None and not root.network:
            if self._events.count_unheard(root.watch, disk.folders):
                self._run_later(SETTLE_SECONDS, self._check_events, root, disk.folders)
            else:
                root.unheard = ""

    def _check_events(self, root: Root, folders: Sequence[Path]) -> None:
        """Checks whether these folders have events by now."""
        if root.watch is not None and (unheard := self._events.count_unheard(root.watch, folders)):
            share = f"{unheard:,} of its {count(len(folders), 'folder')}"
            self._poll(root, f"the system gives no events of {share}; raise its limit fs.inotify.max_user_watches")

    def check_roots(self) -> None:
        """Detects folders that disappeared, returned or were replaced, which ends their events silently."""
        for root in list(self._roots.values()):
            identity = identify(root.path)
            if identity is None:
                self._unwatch(root)
                root.watched_as = None
                self._deletion_guard.mark_missing(root, AWAY)
                continue
            late = not root.scans and time.monotonic() - root.scanned > self._choose_poll_seconds(root)
            if identity != root.watched_as or (late and (root.unheard or root.state == "missing")):
                if identity != root.watched_as or (root.unheard and not root.network):
                    self._watch(root)  # watches may be available now
                self._scan(root)

    def _save(self, root: Root) -> None:
        """Queues the storing of a folder, if it is still watched then."""
        self._writer.submit(lambda: self._store(root) if self._roots.get(root.path) is root else None)

    def _store(self, root: Root, policy: Policy | None = None, former: Sequence[str] = ()) -> None:
        """Stores a folder. A `policy`, and changed tags, also apply to its existing sources."""
        self._memory.sources.watch_folder(str(root.path), root.policy, root.options)
        if policy:
            self._memory.sources.set_policy({uri_of(root.path): policy})
        if set(former) != set(root.tags):
            self._memory.sources.change_tags(uri_of(root.path) + "/", former, root.tags)

    def _make_folder(self, root: Root) -> wire.Folder:
        count = self._memory.sources.count_under(uri_of(root.path) + "/")
        state, detail = root.state, root.detail
        if root.unheard and state != "missing":
            state = "polling"
            detail = "; ".join(filter(None, (f"{root.unheard}; {self._describe_polls(root)}", detail)))
        gone = len(root.gone) if root.is_undecided else 0
        return wire.Folder(str(root.path), state, count, detail, root.policy, gone, root.tags)

    def _make_target(self, root: Root, path: Path) -> ScanTarget:
        return ScanTarget(path, root.ignore, root.path, root.policy, root.tags)

    # Events ---------------------------------------------------------------------------------------

    def _note(self, root: Root, event: FileSystemEvent) -> None:
        """Records the paths of a file system event. It must be quick, since all events wait for it."""
        old, new = (Path(os.fsdecode(name)) if name else None for name in (event.src_path, event.dest_path))
        for path in filter(None, (old, new)):
            if path.is_relative_to(root.path) and not root.ignore.is_own(path):
                self._changes.note(root.path, path)
        if old and new and not event.is_directory:
            self._changes.note_move(old, new)

    def _look(self, ready: Ready, moved: dict[Path, Path]) -> None:
        """Reads changed files, one task for each folder, outermost first: no folder waits for another's rules or files.
        Moves need all of their paths at once, and a folder may be large, so these follow."""
        self._ingest.keep_forgotten(moved)
        alone: dict[Path, list[ScanTarget]] = defaultdict(list)
        others: list[ScanTarget] = []
        urgency = CHANGE
        for place, changed in ready.items():
            if (root := self._roots.get(place)) is None:
                continue
            is_back = root.state == "missing" or not {uri_of(path) for path in changed}.isdisjoint(root.gone)
            if place in changed or is_back:
                self._scan(root)
                continue
            has_rules = any(path.name == FOLDER_RULES for path in changed)
            if has_rules:
                root.ignore = self._ingest.ignore_rules(root.path)
                self._scan(root)
            changed.sort(key=lambda path: (str(path).count(os.sep), path))
            all_changed = set(changed)
            for number, path in enumerate(changed):
                if not all_changed.isdisjoint(path.parents):
                    continue
                target = self._make_target(root, path)
                # An editor moves a new file, which the memory does not know, over the old one.
                is_moved = path in moved and self._memory.sources.get(uri_of(moved[path])) is not None
                if number < MANY and path.is_file() and not is_moved:
                    alone[path.parent].append(target)
                elif not has_rules:
                    others.append(target)
                    urgency = SCAN if number == MANY or path.is_dir() else urgency
        for targets in alone.values():
            self._submit_scan(CHANGE, targets, {})
        if others:
            self._submit_scan(urgency, others, moved)

    def _submit_scan(self, urgency: int, targets: list[ScanTarget], moved: Mapping[Path, Path]) -> None:
        task = Task(f"Reading {count(len(targets), 'changed file')}")
        task.steps = self._take_changed(targets, task, moved)
        task.ended = partial(self._try_again, {target.root for target in targets})
        self._ingest.tasks.submit(urgency, task)

    def _take_changed(self, targets: list[ScanTarget], task: Task, moved: Mapping[Path, Path]) -> Iterator[None]:
        """Reads the changed paths that no rule excludes, or scans their folders if there are MANY."""
        reached = []
        for target in targets:
            if not (yield from target.ignore.check(target.path)):
                reached.append(target)
            yield
        if len(reached) > MANY:
            for root in filter(None, map(self._roots.get, {target.root for target in reached})):
                self._scan(root)
        elif reached:
            yield from self._ingest.take(reached, task, moved, self._deletion_guard)

    def _try_again(self, places: Iterable[Path], error: BaseException | None) -> None:
        """Schedules scans after an error of the disk or a locked file. A full disk waits for room."""
        if isinstance(error, StoreError) and not isinstance(error, StoreFullError | StoreMovedError):
            for root in filter(None, map(self._roots.get, places)):
                self._run_later(self._ingest.settings.poll_s, self._scan, root)
