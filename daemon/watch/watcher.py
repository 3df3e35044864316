"""Watched folders: what changes there is read within seconds, and nothing is lost.

Events only say where to look: they come late, double, out of order or not at all. So a path that changed is compared
with the disk when it has been quiet for a while, all folders are scanned at start and every hour, and what is not
there any more is let go only as `daemon.watch.losses` says.

    watching  events come, and it has been scanned
    scanning  it is being compared with the disk
    missing   it is not there, or it is not itself; nothing of it is removed or read
    polling   events of it, or of some folders in it, cannot be had; the scans alone find what changes
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.failures import ConflictError
from daemon.jobs.tasks import CHANGE, SCAN, Task
from daemon.terminal import count
from daemon.watch.changes import Changes, Ready
from daemon.watch.events import Events
from daemon.watch.files import FOLDER_RULES, Walked, uri_of
from daemon.watch.ingest import Ingest
from daemon.watch.losses import AWAY, Losses
from daemon.watch.roots import Root, Rules, identify, network_of, resolve_folder
from daemon.watch.survey import KEPT, Look
from memory.errors import InvalidInputError, NotFoundError, StoreError, StoreFullError, StoreMovedError
from memory.nouns import Policy
from memory.services.jobs import NewJob

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

log = logging.getLogger(__name__)

POLL_SHARE = 0.05  # of the time may go into scans of a folder of which no events come
MANY = 512  # changed paths of one folder after which it is scanned instead
SETTLE_SECONDS = 2.0  # in which events of a folder that is new are asked for


class Watcher:
    """Keeps the memory up to date with the watched folders, from `start` to `close`."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest
        self._memory = ingest.memory
        self._writer = ingest.writer
        self.run_later: Callable[..., object] = lambda seconds, call, *args: None  # of the daemon's schedule
        self._roots: dict[Path, Root] = {}
        self._events = Events(self.scan_all)
        self._losses = Losses(
            ingest.memory,
            ingest.settings,
            save=self._save,
            warn=lambda text: ingest.publish(wire.Notice("warning", text)),
            look_again=lambda seconds, root: self.run_later(seconds, self._scan, root),
        )
        self._changes = Changes(ingest.settings, self._look)
        self._started = threading.Event()
        ingest.moves.is_away = self.is_away

    def load(self) -> None:
        """Knows the folders, and does not yet look at them."""
        for folder in self._memory.sources.watched_folders():
            path = Path(folder.path)
            self._roots[path] = Root.from_options(path, folder.policy, folder.options, self._ingest.ignore_rules)

    def start(self) -> None:
        """Begins to watch and scan all folders."""
        self._events.start()
        self._changes.start()
        for root in list(self._roots.values()):
            self._watch(root)
            self._scan(root)
        self._started.set()

    def close(self) -> None:
        """Looks at nothing any more."""
        self._changes.close()
        if self._started.is_set():
            self._events.close()

    # What a person asks for -----------------------------------------------------------------------

    def add(
        self,
        path: Path,
        policy: Policy | None = None,
        default: Policy = "local",
        tags: Sequence[str] | None = None,
        readers: Sequence[str] | None = None,
        depth: int | None = None,
    ) -> wire.Folder:
        """Watches a folder from now on. InvalidInputError, NotFoundError, ConflictError.

        `policy` is for all that lies in it, read before or from now on; without one what is new gets the `default`, or
        what was said when it was first watched. `tags`, `readers` and `depth` (see Rules) are as they were where
        nothing is said. A folder that was taken for another one is the right one from now on.
        """
        path = self._find_folder(path)
        known = self._roots.get(path)
        before = known.rules if known else Rules()
        rules = Rules(
            before.tags if tags is None else tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in tags)),
            before.readers if readers is None else tuple(readers),
            before.depth if depth is None else depth,
        )
        self._ingest.check_rules(rules)
        if known is None:
            if not self._started.wait(60):
                raise ConflictError("Folders cannot be watched now. See the daemon's log, and restart it.")
            ignore = self._ingest.ignore_rules(path, rules)
            root = Root(path, ignore, policy or default, identify(path), rules)
            self._writer.write(partial(self._store, root, policy))
            self._roots[path] = root
            self._watch(root)
            self._scan(root)
            return self._folder(root)
        known.policy, known.rules = policy or known.policy, rules
        identity = identify(path)
        is_accepted = known.state == "missing" or identity != known.known_as  # the latter: a scan has yet to say so
        if is_accepted:  # whatever of it is gone is asked about
            known.known_as, known.held = identity, True
        if policy or is_accepted or rules != before:
            self._writer.write(partial(self._store, known, policy, before.tags))
        if is_accepted or rules != before:
            self._scan(known)
        return self._folder(known)

    def _find_folder(self, path: Path) -> Path:
        """The folder, if it can be watched. InvalidInputError, NotFoundError, ConflictError."""
        path = resolve_folder(path)
        if any(path == own or path.is_relative_to(own) for own in self._ingest.own):
            raise InvalidInputError(f"{path} is where the memory itself is kept. Watch another folder.")
        for other in self._roots:
            if path != other and (path.is_relative_to(other) or other.is_relative_to(path)):
                where = "inside" if path.is_relative_to(other) else "around"
                raise ConflictError(f"{path} is {where} {other}, which is watched already. Stop watching that first.")
        return path

    def remove(self, path: Path, then: NewJob | None = None) -> Path:
        """Stops watching, and queues a job with that; returns the folder's path as it was stored. NotFoundError if it
        was not watched."""
        root = self._roots.pop(self._find(path).path)
        self._writer.write(partial(self._memory.sources.unwatch_folder, str(root.path), uri_of(root.path), then))
        self._unwatch(root)
        return root.path

    def keep_named(self, paths: Iterable[Path]) -> None:
        """A person has these read: what of them the rules of a watched folder leave out is kept there all the same."""
        for root in list(self._roots.values()):
            inner = [path for path in paths if path != root.path and path.is_relative_to(root.path)]
            left_out = [path for path in inner if root.ignore.reaches(path) or (root.rules.depth and path.is_dir())]
            if new := {uri_of(path) for path in left_out if not root.is_named(uri_of(path))}:
                root.named = tuple(sorted({*root.named, *new}))
                self._writer.write(partial(self._store, root))

    def list_gone(self, path: Path) -> tuple[str, ...]:
        """The files of a watched folder that are gone and of which a person decides, by uri. NotFoundError."""
        root = self._find(path)
        return self._losses.look_again_for(root)

    def decide(self, path: Path, keep: bool) -> wire.Folder:
        """A person says whether to keep what the files that are gone said, or to drop it. NotFoundError."""
        root = self._find(path)
        if not self._losses.look_again_for(root):
            raise NotFoundError(f"No files of {path} are waited for. See what is: pal watch list.")
        if keep:
            kept = dict.fromkeys(root.gone, KEPT)
            self._writer.write(partial(self._memory.sources.note_files, (), kept, ()))
            self._losses.answer(root)
        else:
            root.dropped = frozenset(root.gone)
        self._scan(root)
        return self._folder(root)

    def _find(self, path: Path) -> Root:
        root = self._roots.get(path) or self._roots.get(path.resolve())
        if root is None:
            raise NotFoundError(f"{path} is not watched. See what is: pal watch list.")
        return root

    def covers(self, path: Path) -> bool:
        """Whether a folder lies in one that is watched, and is none itself."""
        known = self.stored_path(path)
        return known not in self._roots and any(known.is_relative_to(root) for root in list(self._roots))

    def stored_path(self, path: Path) -> Path:
        """The path of a folder as it is or would be stored: with links followed, unless it has gone."""
        return path if path in self._roots else path.resolve()

    def folders(self) -> tuple[wire.Folder, ...]:
        return tuple(self._folder(root) for root in sorted(self._roots.values(), key=lambda root: root.path))

    def is_away(self, path: Path) -> bool:
        """Whether a file lies in a watched folder of which nothing can be known now."""
        roots = [root for root in list(self._roots.values()) if path.is_relative_to(root.path)]
        return any(identify(root.path) != root.known_as for root in roots)

    def scan_all(self) -> None:
        """Compares every folder with the disk."""
        for root in list(self._roots.values()):
            self._scan(root)

    # Folders --------------------------------------------------------------------------------------

    def _watch(self, root: Root) -> None:
        """Asks for events before the scan, so that nothing slips between."""
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
            self._poll(root, f"it is on a network drive ({root.network}), of which events tell half")

    def _unwatch(self, root: Root) -> None:
        if root.watch is not None:
            self._events.unwatch(root.watch)
            root.watch = None

    def _poll(self, root: Root, why: str) -> None:
        """The scans alone find what changes."""
        if not root.unheard:
            log.warning("folder %s: %s", root.path, why)
            self._ingest.publish(wire.Notice("warning", f"{root.path}: {why}; {self._how_often(root)}."))
        root.unheard = why

    def _how_often(self, root: Root) -> str:
        return f"it is scanned every {self._poll_s(root):,.0f} s instead"

    def _poll_s(self, root: Root) -> float:
        settings = self._ingest.settings
        return max(settings.poll_s, min(root.scan_s / POLL_SHARE, settings.scan_interval_s))

    def _scan(self, root: Root) -> None:
        if identify(root.path) is None:
            self._losses.miss(root, AWAY)
            return
        if root.scan_waits:
            return
        root.scans += 1
        root.scan_waits = True
        root.state = "scanning"
        walked = Walked()
        task = Task(f"Scanning {root.path.name}")
        task.ended = partial(self._scanned, root, task, walked)
        task.steps = self._take(root, task, walked)
        self._ingest.tasks.submit(SCAN, task)

    def _take(self, root: Root, task: Task, walked: Walked) -> Iterator[None]:
        """What happens once a scan has begun needs another one. It ends when the folder is not watched any more: it may
        be being forgotten."""
        root.scan_waits = False
        root.scanned = time.monotonic()
        root.ignore = self._ingest.ignore_rules(root.path, root.rules)
        for _ in self._ingest.take([self._look_at(root, root.path)], task, {}, self, walked=walked):
            yield
            if self._roots.get(root.path) is not root:
                return

    def _scanned(self, root: Root, task: Task, walked: Walked, error: BaseException | None) -> None:
        if not task.sources:  # else most of the time went into reading
            root.scan_s = time.monotonic() - root.scanned
        root.scans -= 1
        self._try_again(root, error)
        root.scan_waits = root.scan_waits and root.scans > 0
        if root.scans or root.state != "scanning":
            root.dropped = root.dropped if root.scans else frozenset()
            return
        root.state = "watching"
        if root.dropped:
            self._losses.answer(root)
        identity = identify(root.path)
        is_doubted = root.held or root.doubted is not None
        mounts = {*map(uri_of, walked.mounts), *(root.mounts if is_doubted else ())}
        is_other = identity != root.known_as and root.doubted is None
        if error is None and identity and (is_other or mounts != set(root.mounts)):
            root.known_as = identity if is_other else root.known_as
            root.mounts = tuple(sorted(mounts))
            self._save(root)
        if error is None and root.watch is not None and not root.network:
            if self._events.count_unheard(root.watch, walked.folders):
                self.run_later(SETTLE_SECONDS, self._hear, root, walked.folders)
            else:
                root.unheard = ""

    def _hear(self, root: Root, folders: Sequence[Path]) -> None:
        """Looks whether the system tells of these folders of it by now."""
        if root.watch is not None and (unheard := self._events.count_unheard(root.watch, folders)):
            share = f"{unheard:,} of its {count(len(folders), 'folder')}"
            self._poll(
                root,
                f"the system gives no events of {share}, since it watches no more (raise fs.inotify.max_user_watches)",
            )

    def accept(self, root: Path, there: int, gone: int, whole: bool) -> bool:
        """See `Losses.accept`."""
        known = self._roots.get(root)
        return known is not None and self._losses.accept(known, there, gone, whole)

    def believe(self, root: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        """See `Losses.believe`."""
        known = self._roots.get(root)
        return self._losses.believe(known, gone, whole) if known is not None else ()

    def check_roots(self) -> None:
        """Notices folders that went, came back or are other ones: their events have ended without a word."""
        for root in list(self._roots.values()):
            identity = identify(root.path)
            if identity is None:
                self._unwatch(root)
                root.watched_as = None
                self._losses.miss(root, AWAY)
                continue
            late = not root.scans and time.monotonic() - root.scanned > self._poll_s(root)
            if identity != root.watched_as or (late and (root.unheard or root.state == "missing")):
                if identity != root.watched_as or (root.unheard and not root.network):
                    self._watch(root)  # there may be more watches now
                self._scan(root)

    def _save(self, root: Root) -> None:
        """Writes what is known of a folder, soon, if it is still watched then."""
        self._writer.submit(lambda: self._store(root) if self._roots.get(root.path) is root else None)

    def _store(self, root: Root, policy: Policy | None = None, former: Sequence[str] = ()) -> None:
        """Writes what is known of a folder. A `policy`, and tags in place of the `former`, are for what was read from
        it before, too."""
        self._memory.sources.watch_folder(str(root.path), root.policy, root.options)
        if policy:
            self._memory.sources.set_policy({uri_of(root.path): policy})
        if set(former) != set(root.rules.tags):
            self._memory.sources.change_tags(uri_of(root.path) + "/", former, root.rules.tags)

    def _folder(self, root: Root) -> wire.Folder:
        count = self._memory.sources.count_under(uri_of(root.path) + "/")
        state, detail = root.state, root.detail
        if root.unheard and state != "missing":
            state = "polling"
            detail = "; ".join(filter(None, (f"{root.unheard}; {self._how_often(root)}", detail)))
        gone, rules = len(root.gone) if root.held else 0, root.rules
        return wire.Folder(
            str(root.path), state, count, detail, root.policy, gone, rules.tags, rules.readers, rules.depth
        )

    def _look_at(self, root: Root, path: Path) -> Look:
        return Look(path, root.ignore, root.path, root.policy, root.rules.tags)

    # Events ---------------------------------------------------------------------------------------

    def _note(self, root: Root, event: FileSystemEvent) -> None:
        """An event of the system: notes which paths to look at."""
        old, new = (Path(os.fsdecode(name)) if name else None for name in (event.src_path, event.dest_path))
        noted = [path for path in (old, new) if path and (self._changes.knows(path) or not self._ignored(root, path))]
        for path in noted:
            self._changes.note(root.path, path)
        if old and new in noted and not event.is_directory:
            self._changes.note_move(old, new)

    def _ignored(self, root: Root, path: Path) -> bool:
        return not path.is_relative_to(root.path) or root.ignore.reaches(path)

    def _look(self, ready: Ready, moved: dict[Path, Path]) -> None:
        looks = []
        for place, changed in ready.items():
            root = self._roots.get(place)
            if root is None:
                continue
            is_back = root.state == "missing" or not {uri_of(path) for path in changed}.isdisjoint(root.gone)
            has_rules = any(path.name == FOLDER_RULES for path in changed)
            if len(changed) > MANY or place in changed or has_rules or is_back:
                self._scan(root)
                continue
            all_changed = set(changed)
            looks += [self._look_at(root, path) for path in sorted(changed) if all_changed.isdisjoint(path.parents)]
        if looks:
            task = Task(f"Reading {len(looks)} changed files")
            task.steps = self._ingest.take(looks, task, moved, self)
            task.ended = partial(self._looked, {look.root for look in looks})
            self._ingest.tasks.submit(CHANGE, task)

    def _looked(self, places: Iterable[Path], error: BaseException | None) -> None:
        for root in filter(None, map(self._roots.get, places)):
            self._try_again(root, error)

    def _try_again(self, root: Root, error: BaseException | None) -> None:
        """What could not be written, because the disk reported an error or another program held the file, is found by
        another scan. When a disk is full that waits until there is room."""
        if isinstance(error, StoreError) and not isinstance(error, StoreFullError | StoreMovedError):
            self.run_later(self._ingest.settings.poll_s, self._scan, root)
