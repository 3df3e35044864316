"""From files to memory: new and changed files are read, moved ones keep their identity, deleted ones are retired.

A batch of documents is one transaction. If it fails, its documents are written one by one, so that one cannot block the
others. Nothing is forgotten here: a retired source returns with its file."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.config.settings import WatchSettings
from daemon.jobs.workers import Task, Tasks, Writer
from daemon.reading.memory import give_back
from daemon.reading.process import Readers
from daemon.watch.attempts import LOOKING, Attempts
from daemon.watch.copies import leave_copies
from daemon.watch.files import Unread, hash_content, is_gone, open_whole, uri_of
from daemon.watch.moves import Moves
from daemon.watch.survey import KEPT, Judge, Look, Sources, Survey, Trusting, believe
from daemon.watch.walking import Ignore, Walked, walk_in_steps
from memory import Memory
from memory.errors import NotFoundError
from memory.nouns import FORGOTTEN, Source
from memory.time.timestamps import to_ms
from plugins.manager import Plugins

if TYPE_CHECKING:
    from daemon.watch.intake import Tools


STEP_SECONDS = 0.05  # of walking, between two checks for something more urgent
PAGE = 1000  # sources compared with the disk at once
MANY = 1000  # files, or passages, after which memory is returned to the system


class Ingest:
    """Updates the memory from files, once or on changes."""

    def __init__(
        self,
        memory: Memory,
        plugins: Plugins,
        writer: Writer,
        tasks: Tasks,
        publish: Callable[[wire.Event], None],
        settings: WatchSettings,
        own: tuple[Path, ...],
        readers: Readers,
        attempts: Attempts,
    ) -> None:
        """`publish` receives news: changed sources, skipped files. `own`: the daemon's files, which are never read."""
        self.memory = memory
        self.writer = writer
        self.tasks = tasks
        self.publish = publish
        self.settings = settings
        self.own = own
        self.moves = Moves(memory, writer, publish, self._find_file)
        self._plugins = plugins
        self.attempts = attempts
        self._readers = readers
        self._knows_readers = False

    def ignore_rules(self, root: Path) -> Ignore:
        """The rules for what is not read below `root`."""
        return Ignore(root, self.settings.ignore, self.own)

    def take(
        self,
        looks: Sequence[Look],
        task: Task,
        moved: Mapping[Path, Path] | None = None,
        judge: Judge | None = None,
        again: bool = False,
        walked: Walked | None = None,
    ) -> Iterator[None]:
        """Reads what is new or changed below `looks`; each `next` is one batch. `again`: forgotten files, too.

        `moved` maps files to their former paths, if known. The `judge` decides whether to trust the scan; without one
        it is trusted. Listed folders are added to `walked`."""
        self._update_readers()
        try:
            yield from self._take(looks, task, moved or {}, judge or Trusting(), Survey(again=again), walked)
        finally:
            if max(task.total, task.episodes) >= MANY:
                self.memory.release_caches()
                give_back()

    def _take(
        self,
        looks: Sequence[Look],
        task: Task,
        moved: Mapping[Path, Path],
        judge: Judge,
        disk: Survey,
        walked: Walked | None,
    ) -> Iterator[None]:
        from daemon.watch.intake import Intake  # imported with the first file: a daemon must start quickly

        self.attempts.begin(LOOKING)
        yield from self._walk(looks, disk, task, walked or Walked())
        copies = leave_copies(disk)
        known, skipped = self._list_stored(looks, disk)
        gone = disk.find_gone(known, skipped, looks)
        looks = disk.accept(looks, known, gone, skipped, judge)
        moves = {uri_of(new): uri_of(old) for new, old in moved.items()}
        self.moves.follow(disk, known, gone, moves)
        self.attempts.end([LOOKING])
        yield
        copied = {uri: known[uri] for uri in copies if uri in known}
        yield from self._retire(believe(looks, gone, judge) | copied, task)
        self._leave_forgotten(disk, skipped)
        disk.leave_kept(skipped)
        disk.leave_key_files(self.settings.key_files, known)
        yield from Intake(self._equip(), disk, known, skipped, task, self._end_skips(disk, known, skipped)).run()
        self._tell_progress(task, last=True)

    def _leave_forgotten(self, disk: Survey, skipped: Mapping[str, str]) -> None:
        """Skips forgotten files, whatever they contain now. What that is counts as forgotten, too: so they are
        recognised when they are renamed while no daemon runs."""
        marked = {uri for uri, reason in skipped.items() if reason == FORGOTTEN}
        disk.forgotten_moved = any(not disk.has(uri) for uri in marked)
        left = [] if disk.again else sorted(marked & disk.files.keys())
        noted = {skip.uri: skip.at for skip in self.memory.sources.list_skipped()} if left else {}
        changed = {}
        for uri in left:
            file, look = disk.files.pop(uri), disk.looks[uri]
            disk.unread[uri] = FORGOTTEN
            if file.size and (look.path == file.path or file.mtime_ns > (to_ms(noted[uri]) or 0) * 1_000_000):
                with suppress(Unread), open_whole(file.path, file.size, look.ignore.root) as (stream, _):
                    changed[uri] = hash_content(stream)
        if changed:
            self.writer.write_later(partial(self.memory.sources.forget_content, changed))

    def _equip(self) -> Tools:
        from daemon.watch.batch import BatchWriter
        from daemon.watch.intake import Tools

        batches = BatchWriter(self.memory, self.writer, self.publish)
        return Tools(self.memory, self._plugins, self._readers, self.attempts, batches, self._tell_progress)

    def _update_readers(self) -> None:
        """Marks sources read by another version of a reader as unread, once."""
        if not self._knows_readers:
            self.attempts.recover()
            self.writer.write_later(partial(self.memory.sources.set_reader_versions, self._plugins.versions))
            self._knows_readers = True

    def _walk(self, looks: Sequence[Look], disk: Survey, task: Task, walked: Walked) -> Iterator[None]:
        began = time.monotonic()
        for look in looks:
            for file in walk_in_steps(look.path, look.ignore, walked):
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
                    disk.files[uri], disk.looks[uri] = file, look
                else:
                    disk.unread[uri] = file.unread
                if file.folder:
                    disk.blind.append(uri)
        task.total = len(disk.files) + len(disk.unread)

    def _list_stored(self, looks: Sequence[Look], disk: Survey) -> tuple[Sources, dict[str, str]]:
        """By the uri of their file: (live sources below `looks`, reasons of skipped files)."""
        paths = {look.path for look in looks}
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
        """The sources of whole files in these folders, in pages."""
        for folder in folders:
            after = folder
            while page := self.memory.sources.list_below(folder, after, PAGE):
                yield from (source for source in page if source.kind in ("file", "chat"))
                after = page[-1].uri

    def _find_file(self, uri: str, disk: Survey) -> str:
        """The uri of the file of a source: without the part after "#", unless that belongs to the file's name."""
        ends = [i for i, char in enumerate(uri) if char == "#"]
        for name in [uri, *(uri[:end] for end in reversed(ends))]:
            if name in disk.files or name in disk.unread:
                return name
        return uri if not ends or self._plugins.reads(Path(uri)) else uri[: ends[-1]]

    def _retire(self, lost: Sources, task: Task) -> Iterator[None]:
        for sources in lost.values():
            for source in sources:
                with suppress(NotFoundError):  # another task has retired it
                    self.writer.write_later(partial(self.memory.ingest.retire, source.uri))
                task.removed += 1
                self.publish(wire.SourceChanged(source.uri, "removed"))
            yield

    def _end_skips(self, disk: Survey, known: Sources, skipped: Mapping[str, str]) -> list[str]:
        """The skips of files that no longer exist. That of a forgotten file stays while rules exclude the file."""
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
