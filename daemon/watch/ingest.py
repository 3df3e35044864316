"""Updates the memory from files: new and changed files are read, moved ones keep their identity, deleted ones are
retired.

A batch of documents is one transaction. If it fails, its documents are written one by one, so that one cannot block the
others. Nothing is forgotten here: a retired source returns with its file."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.config.settings import WatchSettings
from daemon.jobs.workers import Task, Tasks, Writer
from daemon.lock import give_back
from daemon.reading.process import Readers
from daemon.watch.attempts import LOOKING, Attempts
from daemon.watch.files import FoundFile, hash_content, is_gone, open_whole, uri_of
from daemon.watch.roots import DeletionGuard
from daemon.watch.scan import KEPT, Scan, ScanTarget, Sources, confirm_deletions, leave_copies
from daemon.watch.walking import Ignore, walk_in_steps
from memory import Memory
from memory.errors import NotFoundError, PalimpsestError
from memory.nouns import FORGOTTEN, Policy, Source
from memory.time.timestamps import to_ms
from plugins.manager import Plugins
from plugins.readers import Unreadable

log = logging.getLogger(__name__)

STEP_SECONDS = 0.05  # of walking, between two checks for something more urgent
PAGE = 1000  # sources compared with the disk at once
MANY_GONE = (
    "{:,} files that were read there before are gone. What they said is kept; to decide about it, have the folder "
    "watched: pal watch add FOLDER, then pal watch gone"
)
MANY = 1000  # files, or passages, after which memory is returned to the system


@dataclass
class Ingest:
    """Updates the memory from files, once or on changes. `publish` receives news: changed sources, skipped files.
    `own`: the daemon's files, which are never read. `is_away`: whether a file is in a missing folder."""

    memory: Memory
    plugins: Plugins
    writer: Writer
    tasks: Tasks
    publish: Callable[[wire.Event], None]
    settings: WatchSettings
    own: tuple[Path, ...]
    readers: Readers
    attempts: Attempts
    is_away: Callable[[Path], bool] = lambda path: False
    _knows_readers: bool = False

    def ignore_rules(self, root: Path) -> Ignore:
        """Returns the rules for what is not read below `root`."""
        return Ignore(root, self.settings.ignore, self.own)

    def take(
        self,
        targets: Sequence[ScanTarget],
        task: Task,
        moved: Mapping[Path, Path] | None = None,
        guard: DeletionGuard | None = None,
        disk: Scan | None = None,
    ) -> Iterator[None]:
        """Reads what is new or changed below `targets`; each `next` is one batch.

        `moved` maps files to their former paths, if known. `guard` decides about the missing files of watched folders.
        `disk` is filled by the scan."""
        from daemon.watch.importer import FileImporter  # imported with the first file: a daemon must start quickly

        self._update_readers()
        disk = disk or Scan()
        try:
            self.attempts.begin(LOOKING)
            yield from self._walk(targets, disk, task)
            copies = leave_copies(disk)
            known, skipped = self._list_stored(targets, disk)
            gone = disk.find_gone(known, skipped, targets)
            if guard is not None:
                targets = disk.accept(targets, known, gone, skipped, guard)
            self._follow_moves(disk, known, gone, {uri_of(new): uri_of(old) for new, old in (moved or {}).items()})
            self.attempts.end([LOOKING])
            yield
            copied = {uri: known[uri] for uri in copies if uri in known}
            deleted = confirm_deletions(targets, gone, guard)
            if guard is None and (doubted := len(gone) - len(deleted)):
                task.tell(wire.Notice("warning", MANY_GONE.format(doubted)))
            yield from self._retire(deleted | copied, task)
            self._leave_forgotten(disk, skipped)
            disk.leave_kept(skipped)
            disk.leave_key_files(self.settings.key_files, known)
            over = self._end_skips(disk, known, skipped)
            yield from FileImporter(
                self.memory, self.plugins, self.readers, self.attempts, self.writer, self.publish, self._tell_progress,
                disk, known, skipped, task, over,
            ).run()  # fmt: skip
            self._tell_progress(task, last=True)
        finally:
            if max(task.total, task.episodes) >= MANY:
                self.memory.release_caches()
                give_back()

    def _leave_forgotten(self, disk: Scan, skipped: Mapping[str, str]) -> None:
        """Skips forgotten files, whatever they contain now. New content counts as forgotten, too, so that the files are
        recognised when they are renamed while no daemon runs."""
        marked = {uri for uri, reason in skipped.items() if reason == FORGOTTEN}
        disk.forgotten_moved = any(not disk.has(uri) for uri in marked)
        left = [] if disk.again else sorted(marked & disk.files.keys())
        noted = {skip.uri: skip.at for skip in self.memory.sources.list_skipped()} if left else {}
        changed = {}
        for uri in left:
            file, target = disk.files[uri], disk.targets[uri]
            disk.skip(uri, FORGOTTEN)
            if file.size and (target.path == file.path or file.mtime_ns > (to_ms(noted[uri]) or 0) * 1_000_000):
                with suppress(Unreadable), open_whole(file.path, file.size, target.ignore.root) as (stream, _):
                    changed[uri] = hash_content(stream)
        if changed:
            self.writer.write_later(partial(self.memory.sources.forget_content, changed))

    def _update_readers(self) -> None:
        """Marks sources read by another version of a reader as unread, once."""
        if not self._knows_readers:
            self.attempts.recover()
            self.writer.write_later(partial(self.memory.sources.set_reader_versions, self.plugins.versions))
            self._knows_readers = True

    def _walk(self, targets: Sequence[ScanTarget], disk: Scan, task: Task) -> Iterator[None]:
        began = time.monotonic()
        for target in targets:
            for file in walk_in_steps(target.path, target.ignore, disk.folders, disk.mounts):
                if time.monotonic() - began > STEP_SECONDS:
                    task.total = len(disk.files) + len(disk.unread)
                    self._tell_progress(task)
                    yield
                    began = time.monotonic()
                if file is None:
                    continue
                uri = uri_of(file.path)
                uri = file.name if uri == file.name else uri  # share the string
                if file.unread is None:
                    disk.files[uri], disk.targets[uri] = file, target
                else:
                    disk.unread[uri] = file.unread
                if file.folder:
                    disk.blind.append(uri)
        task.total = len(disk.files) + len(disk.unread)

    def _list_stored(self, targets: Sequence[ScanTarget], disk: Scan) -> tuple[Sources, dict[str, str]]:
        """Returns, by the uri of their file, (live sources of the `targets`, reasons of skipped files)."""
        paths = {target.path for target in targets}
        outermost = [uri_of(path) for path in sorted(paths) if paths.isdisjoint(path.parents)]
        below = tuple(prefix + "/" for prefix in outermost)
        by_id: dict[int, Source] = {}
        known: Sources = defaultdict(list)
        sources = self.memory.sources
        with self.memory.store.reading():
            skipped = {skip.uri: skip.reason for skip in sources.list_skipped()}
            for prefix in outermost:
                # "#" can belong to a sibling's name: notes.json#1 is in notes.json, notes#2/x.md is not
                parts = [part for part in sources.list_under(prefix + "#") if self._find_file(part.uri, disk) == prefix]
                whole = sources.get(prefix)
                listed = [*([whole] if whole else []), *sources.list_under(prefix + "/", "#"), *parts]
                by_id |= {source.id: source for source in listed if source.kind in ("file", "chat")}
            for source in by_id.values():
                known[self._find_file(source.uri, disk)].append(source)
            for source in self._list_below(below):
                if source.uri in known or source.uri in skipped or not disk.leave_same(source):
                    known[source.uri].append(source)
        uris, parts_of = {*outermost}, tuple(prefix + "#" for prefix in outermost)
        here_too = (*below, *parts_of)
        return known, {uri: why for uri, why in skipped.items() if uri in uris or uri.startswith(here_too)}

    def _list_below(self, folders: Sequence[str]) -> Iterator[Source]:
        """Yields the sources of whole files in these folders, in pages."""
        for folder in folders:
            after = folder
            while page := self.memory.sources.list_below(folder, after, PAGE):
                yield from (source for source in page if source.kind in ("file", "chat"))
                after = page[-1].uri

    def _find_file(self, uri: str, disk: Scan) -> str:
        """Returns the uri of a source's file: without the part after "#", unless that belongs to the file's name."""
        ends = [i for i, char in enumerate(uri) if char == "#"]
        for name in [uri, *(uri[:end] for end in reversed(ends))]:
            if name in disk.files or name in disk.unread:
                return name
        return uri if not ends or self.plugins.reads(Path(uri)) else uri[: ends[-1]]

    def _retire(self, lost: Sources, task: Task) -> Iterator[None]:
        for sources in lost.values():
            for source in sources:
                with suppress(NotFoundError):  # another task has retired it
                    self.writer.write_later(partial(self.memory.ingest.retire, source.uri))
                task.removed += 1
                self.publish(wire.SourceChanged(source.uri, "removed"))
            yield

    def _end_skips(self, disk: Scan, known: Sources, skipped: Mapping[str, str]) -> list[str]:
        """Returns the skips of files that no longer exist. The skip of a forgotten file stays while rules exclude the
        file."""
        absent = (uri for uri in skipped if not disk.has(uri) and not disk.has(self._find_file(uri, disk)))
        return [
            uri
            for uri in absent
            if (skipped[uri] != KEPT or uri not in known) and (skipped[uri] != FORGOTTEN or is_gone(Path(uri)))
        ]

    def _tell_progress(self, task: Task, *, last: bool = False) -> None:
        if task.total and (progress := task.progress(last)):
            task.tell(progress)
            self.publish(progress)

    # Moved files keep their identity: detected by events or by content.

    def _follow_moves(self, disk: Scan, known: Sources, gone: Sources, moved: Mapping[str, str]) -> None:
        """Renames the sources of moved files, which move from `gone` to `known`."""
        new = {uri: file for uri, file in disk.files.items() if uri not in known and file.size}
        lost = self._find_left_behind(disk, known, new.values()) | gone
        pairs = {uri: moved[uri] for uri in new if moved.get(uri) in lost}
        content: dict[tuple[int | None, str | None], list[str]] = defaultdict(list)
        for uri, sources in lost.items():
            if uri not in pairs.values():
                content[sources[0].size, sources[0].sha256].append(uri)
        sizes = {size for size, _ in content}
        for uri, file in new.items():
            if uri in pairs or file.size not in sizes:
                continue
            try:
                with open_whole(file.path, file.size, disk.targets[uri].ignore.root) as (stream, status):
                    digest = hash_content(stream)
            except Unreadable:
                continue
            if same := content.get((status.st_size, digest)):
                name = file.path.name
                old = next((uri for uri in same if uri.endswith("/" + name)), same[0])
                same.remove(old)
                pairs[uri] = old
        for uri, old in pairs.items():
            renamed = {source.uri: uri + source.uri[len(old) :] for source in lost[old]}
            try:
                self.writer.write_later(partial(self._move, renamed, disk.targets[uri].policy))
            except PalimpsestError as error:
                log.warning("a moved file was not followed: %s", error)
                continue
            known[uri] = [replace(source, uri=renamed[source.uri]) for source in lost[old]]
            gone.pop(old, None)
            self.publish(wire.SourceChanged(uri, "moved"))

    def keep_forgotten(self, moved: Mapping[Path, Path]) -> None:
        """Moves the marks of forgotten files with them, before any task or scan can read them under the new name."""
        if not moved:
            return
        forgotten = {skip.uri for skip in self.memory.sources.list_skipped() if skip.reason == FORGOTTEN}
        marks = {uri_of(new): old for new, old in moved.items() if uri_of(old) in forgotten}
        if marks:
            ended = [uri_of(old) for old in marks.values() if is_gone(old)]
            reasons = dict.fromkeys(marks, FORGOTTEN)
            self.writer.write(partial(self.memory.sources.note_files, ended, reasons, ()))

    def _find_left_behind(self, disk: Scan, known: Sources, new: Collection[FoundFile]) -> Sources:
        """Returns the sources of missing files elsewhere with the size of a new one."""
        sizes = {file.size for file in new}
        missing: Sources = defaultdict(list)
        for source in self.memory.sources.list_of_size(sizes) if sizes else ():
            uri = self._find_file(source.uri, disk)
            path = Path(uri)
            if uri not in known and path.is_absolute() and is_gone(path) and not self.is_away(path):
                missing[uri].append(source)
        return missing

    def _move(self, renamed: Mapping[str, str], policy: Policy) -> None:
        """Renames the sources. A file moved into a local-only folder becomes local-only."""
        for old, new in renamed.items():
            self.memory.ingest.move(old, new)
            if policy == "local":
                self.memory.sources.set_policy({new: policy})
