"""From files to memory: what is new or changed is read, what moved keeps its identity, what has gone is retired.

A batch of documents is one transaction. If it fails its documents are tried one by one, so that one that cannot be
kept does not take the others with it. Nothing is forgotten here: a retired source comes back when its file does.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.jobs.tasks import Task, Tasks
from daemon.jobs.writer import Writer
from daemon.reading.memory import give_back
from daemon.reading.process import Readers
from daemon.settings import WatchSettings
from daemon.watch import files
from daemon.watch.attempts import LOOKING, Attempts
from daemon.watch.copies import leave_copies
from daemon.watch.files import Ignore, Walked, uri_of
from daemon.watch.moves import Moves
from daemon.watch.roots import Rules
from daemon.watch.survey import KEPT, Judge, Look, Sources, Survey, Trusting, believe
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import FORGOTTEN, Source
from plugins.manager import Plugins

if TYPE_CHECKING:
    from daemon.watch.intake import Tools

log = logging.getLogger(__name__)

MAX_DEPTH = 1000  # folders
WALK_STEP = 1000  # files looked at between two looks for something more urgent
PAGE = 1000  # sources that are compared with the disk at a time
MANY = 1000  # files, and passages, after which memory is given back


class Ingest:
    """Brings the memory up to date with files, read once or whenever they change."""

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
        """`publish` takes what is news to everybody: sources that changed, files that cannot be read. `own` is never
        read: the daemon's own files."""
        self.memory = memory
        self.writer = writer
        self.tasks = tasks
        self.publish = publish
        self.settings = settings
        self.own = own
        self.moves = Moves(memory, writer, publish, self._file_of)
        self._plugins = plugins
        self.attempts = attempts
        self._readers = readers
        self._knows_readers = False

    def ignore_rules(self, root: Path, rules: Rules | None = None) -> Ignore:
        """What is not read below `root`."""
        rules = rules or Rules()
        suffixes = self._plugins.suffixes_of(rules.readers) if rules.readers else None
        return Ignore(root, self.settings.ignore, self.own, rules.depth, suffixes)

    def check_rules(self, rules: Rules) -> None:
        """InvalidInputError for what cannot be."""
        if unknown := set(rules.readers).difference(self._plugins.readers):
            known = ", ".join(self._plugins.readers)
            raise InvalidInputError(f"There is no reader {sorted(unknown)[0]!r}. There are: {known}.")
        if not 0 <= rules.depth <= MAX_DEPTH or "" in rules.tags:
            raise InvalidInputError(f"A tag is a word, and depth a number from 0 (all of it) to {MAX_DEPTH}.")

    def take(
        self,
        looks: Sequence[Look],
        task: Task,
        moved: Mapping[Path, Path] | None = None,
        judge: Judge | None = None,
        again: bool = False,
        walked: Walked | None = None,
    ) -> Iterator[None]:
        """Reads what is new or changed below `looks`; each `next` is one batch. `again`: what was forgotten, too.

        `moved` says where a file was before, if that was seen. The `judge` says whether what is there is to be
        believed; without one all is. The folders that were looked into are added to `walked`.
        """
        self._know_readers()
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
        from daemon.watch.intake import Intake  # with the first file: a daemon must start quickly

        self.attempts.begin(LOOKING)
        yield from self._walk(looks, disk, task, walked)
        copies = leave_copies(disk)
        known, skipped = self._stored(looks, disk)
        gone = disk.find_gone(known, skipped)
        looks = disk.accept(looks, known, gone, skipped, judge)
        moves = {uri_of(new): uri_of(old) for new, old in moved.items()}
        self.moves.follow(disk, known, gone, moves)
        self.attempts.end([LOOKING])
        yield
        copied = {uri: known[uri] for uri in copies if uri in known}
        yield from self._retire(believe(looks, gone, judge) | copied, task)
        self._leave_forgotten(disk, skipped, moves)
        disk.leave_kept(skipped)
        disk.leave_key_files(self.settings.key_files, known)
        yield from Intake(self._tools(), disk, known, skipped, task, self._over(disk, known, skipped)).run()
        self._progress(task, last=True)

    def _tools(self) -> Tools:
        from daemon.watch.batch import BatchWriter
        from daemon.watch.intake import Tools

        batches = BatchWriter(self.memory, self.writer, self.publish)
        return Tools(self.memory, self._plugins, self._readers, self.attempts, batches, self._progress)

    def _know_readers(self) -> None:
        """What another version of a reader has read is read again, once."""
        if not self._knows_readers:
            self.attempts.recover()
            self.writer.submit(self._note_readers).result()
            self._knows_readers = True

    def _note_readers(self) -> None:
        self.memory.sources.set_reader_versions(self._plugins.versions)

    def _walk(self, looks: Sequence[Look], disk: Survey, task: Task, walked: Walked | None = None) -> Iterator[None]:
        for look in looks:
            for found in files.walk(look.path, look.ignore, walked):
                uri = uri_of(found.path)
                uri = found.name if uri == found.name else uri  # kept once
                if found.unread is None:
                    disk.files[uri], disk.looks[uri] = found, look
                else:
                    disk.unread[uri] = found.unread
                if found.folder:
                    disk.blind.append(uri)
                task.total = len(disk.files) + len(disk.unread)
                if task.total % WALK_STEP == 0:
                    self._progress(task)
                    yield

    def _stored(self, looks: Sequence[Look], disk: Survey) -> tuple[Sources, dict[str, str]]:
        """By the uri of their file: the live sources below `looks`, and the reasons of the files that were skipped."""
        paths = {look.path for look in looks}
        outermost = [uri_of(path) for path in sorted(paths) if paths.isdisjoint(path.parents)]
        below = tuple(prefix + "/" for prefix in outermost)
        found: dict[int, Source] = {}
        known: Sources = defaultdict(list)
        sources = self.memory.sources
        with self.memory.one_moment():
            skipped = {skip.uri: skip.reason for skip in sources.list_skipped()}
            for prefix in outermost:
                # "#" also begins the rest of a sibling's name: notes.json#1 is in notes.json, notes#2/x.md is not
                parts = [part for part in sources.list_parts(prefix + "#") if self._file_of(part.uri, disk) == prefix]
                one = sources.get(prefix)
                here = [*([one] if one else []), *sources.list_parts(prefix + "/"), *parts]
                found |= {source.id: source for source in here if source.kind in ("file", "chat")}
            for source in found.values():
                known[self._file_of(source.uri, disk)].append(source)
            for source in self._list_below(below):
                if source.uri in known or source.uri in skipped or not disk.leave_same(source):
                    known[source.uri].append(source)
        wanted, parts_of = {*outermost}, tuple(prefix + "#" for prefix in outermost)
        here_too = (*below, *parts_of)
        return known, {uri: why for uri, why in skipped.items() if uri in wanted or uri.startswith(here_too)}

    def _list_below(self, folders: Sequence[str]) -> Iterator[Source]:
        """The sources of files in these folders that are no parts, some at a time."""
        for folder in folders:
            after = folder
            while some := self.memory.sources.list_below(folder, after, PAGE):
                yield from (source for source in some if source.kind in ("file", "chat"))
                after = some[-1].uri

    def _file_of(self, uri: str, disk: Survey) -> str:
        """The file a source is in: its uri without the part behind "#", if that is no part of the file's name."""
        ends = [i for i, char in enumerate(uri) if char == "#"]
        for name in [uri, *(uri[:end] for end in reversed(ends))]:
            if name in disk.files or name in disk.unread:
                return name
        return uri if not ends or self._plugins.reads(Path(uri)) else uri[: ends[-1]]

    def _leave_forgotten(self, disk: Survey, skipped: Mapping[str, str], moved: Mapping[str, str]) -> None:
        """What a person forgot is not read, whatever it holds by now, nor under the name that it was given since."""
        named = {uri for uri, reason in skipped.items() if reason == FORGOTTEN}
        disk.forgotten_moved = any(not disk.has(uri) for uri in named)
        named |= {new for new, old in moved.items() if old in named and not disk.has(old)}
        for uri in [] if disk.again else named & disk.files.keys():
            del disk.files[uri]
            disk.unread[uri] = FORGOTTEN

    def _retire(self, lost: Sources, task: Task) -> Iterator[None]:
        for there in lost.values():
            for source in there:
                self.writer.submit(partial(self.memory.ingest.retire, source.uri)).result()
                task.removed += 1
                self.publish(wire.SourceChanged(source.uri, "removed"))
            yield

    def _over(self, disk: Survey, known: Sources, skipped: Mapping[str, str]) -> list[str]:
        """The skips of files that are not there any more."""
        absent = (uri for uri in skipped if not disk.has(uri) and not disk.has(self._file_of(uri, disk)))
        return [uri for uri in absent if skipped[uri] != KEPT or uri not in known]

    def _progress(self, task: Task, *, last: bool = False) -> None:
        if task.total and (progress := task.progress(last)):
            task.tell(progress)
            self.publish(progress)
