"""From files to memory: what is new or changed is read, what moved keeps its identity, what has gone is retired.

A batch of documents is one transaction. If it fails its documents are tried one by one, so that one that cannot be
kept does not take the others with it. Nothing is forgotten here: a retired source comes back when its file does.
"""

from __future__ import annotations

import hashlib
import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import wire
from daemon.jobs.tasks import Task, Tasks
from daemon.jobs.writer import Writer
from daemon.settings import WatchSettings
from daemon.watch import files
from daemon.watch.files import Found, Ignore, Walked, uri_of
from daemon.watch.moves import Moves
from daemon.watch.roots import Rules
from daemon.watch.survey import KEPT, Judge, Look, Sources, Survey, Trusting, believe
from memory import Memory
from memory.errors import (
    InvalidInputError,
    NotAvailableError,
    PalimpsestError,
    StoreBusyError,
    StoreDamagedError,
    StoreFullError,
)
from memory.nouns import FORGOTTEN, SAME_AS_FORGOTTEN, Document, Receipt, Source
from plugins.manager import Plugins
from plugins.readers import Unreadable, documents

if TYPE_CHECKING:
    from memory.ingest.ingest import PreparedBatch

log = logging.getLogger(__name__)

BATCH_DOCUMENTS = 64
BATCH_BYTES = 4 << 20
BATCH_SECONDS = 1.0
MAX_DEPTH = 1000  # folders
WALK_STEP = 1000  # files looked at between two looks for something more urgent

STORE_TROUBLE = (StoreFullError, StoreBusyError, StoreDamagedError, NotAvailableError)  # no document's fault


class _ForgottenError(files.Unread):
    """The file holds what was forgotten."""


@dataclass
class _Batch:
    """What one transaction will write. A file that holds several sources has several documents."""

    documents: list[Document] = field(default_factory=list)
    stamps: list[tuple[Source, int, int]] = field(default_factory=list)  # same content, other size or mtime_ns
    gone: list[str] = field(default_factory=list)  # sources that their file does not hold any more
    unread: dict[str, str] = field(default_factory=dict)
    readable: list[str] = field(default_factory=list)  # files whose skip is over
    again: list[str] = field(default_factory=list)  # hashes of what was forgotten and is read again
    files: int = 0
    unchanged: int = 0
    bytes: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def full(self) -> bool:
        return (
            len(self.documents) >= BATCH_DOCUMENTS
            or self.bytes >= BATCH_BYTES
            or self.files >= WALK_STEP
            or time.monotonic() - self.began > BATCH_SECONDS
        )


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
        judge = judge or Trusting()
        self._know_readers()
        disk = Survey(again=again)
        yield from self._walk(looks, disk, task, walked)
        known, skipped = self._stored(looks, disk)
        gone = disk.find_gone(known, skipped)
        looks = disk.accept(looks, known, gone, skipped, judge)
        moves = {uri_of(new): uri_of(old) for new, old in (moved or {}).items()}
        self.moves.follow(disk, known, gone, moves)
        yield
        yield from self._retire(believe(looks, gone, judge), task)
        self._leave_forgotten(disk, skipped, moves)
        yield from self._read(disk, known, skipped, task)
        self._progress(task, last=True)

    def _know_readers(self) -> None:
        """What another version of a reader has read is read again, once."""
        if not self._knows_readers:
            self.writer.submit(self._note_readers).result()
            self._knows_readers = True

    def _note_readers(self) -> None:
        self.memory.sources.set_reader_versions(self._plugins.versions)

    def _walk(self, looks: Sequence[Look], disk: Survey, task: Task, walked: Walked | None = None) -> Iterator[None]:
        for look in looks:
            for found in files.walk(look.path, look.ignore, walked):
                uri = uri_of(found.path)
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
        prefixes = [uri_of(look.path) for look in looks]
        found: dict[int, Source] = {}
        sources = self.memory.sources
        with self.memory.one_moment():
            for prefix in prefixes:
                one = sources.get(prefix)
                # "#" also begins the rest of a sibling's name: notes.json#1 is in notes.json, notes#2/x.md is not
                parts = [part for part in sources.list_under(prefix + "#") if self._file_of(part.uri, disk) == prefix]
                here = [*([one] if one else []), *sources.list_under(prefix + "/"), *parts]
                found |= {source.id: source for source in here if source.kind in ("file", "chat")}
            skipped = {skip.uri: skip.reason for skip in sources.list_skipped()}
        known: Sources = defaultdict(list)
        for source in found.values():
            known[self._file_of(source.uri, disk)].append(source)
        below = tuple(prefix + "/" for prefix in prefixes)
        return known, {uri: why for uri, why in skipped.items() if uri in prefixes or uri.startswith(below)}

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

    def _read(
        self,
        disk: Survey,
        known: Sources,
        skipped: Mapping[str, str],
        task: Task,
    ) -> Iterator[None]:
        batch = _Batch(unread=dict(disk.unread), readable=self._over(disk, known, skipped))
        batch.files = len(disk.unread)
        for uri, found in disk.files.items():
            self._take_file(uri, found, known.get(uri, []), disk, batch)
            if uri in skipped and uri not in batch.unread:
                batch.readable.append(uri)
            task.label = uri
            if batch.full:
                self._write(batch, known, skipped, task)
                batch = _Batch()
                yield
        self._write(batch, known, skipped, task)

    def _over(self, disk: Survey, known: Sources, skipped: Mapping[str, str]) -> list[str]:
        """The skips of files that are not there any more."""
        absent = (uri for uri in skipped if not disk.has(uri))
        return [uri for uri in absent if skipped[uri] != KEPT or uri not in known]

    def _take_file(self, uri: str, found: Found, there: list[Source], disk: Survey, batch: _Batch) -> None:
        """Reads one file into the batch, unless it is the same as it was."""
        batch.files += 1
        path = found.path
        parts = disk.again and any(s.sha256 and self.memory.sources.is_forgotten(s.sha256) for s in there)
        seen = disk.looks[uri].path == path  # something happened to it, which size and time need not tell
        as_it_was = all((s.size, s.mtime_ns) == (found.size, found.mtime_ns) for s in there)
        if there and as_it_was and not (seen or parts):
            batch.unchanged += 1
            return
        try:
            reader = self._plugins.reader_for(path, found.size)
            data, status = files.read(path, reader.max_bytes, disk.looks[uri].ignore.root)
            digest = hashlib.sha256(data).hexdigest()
            if there and not parts and all(source.sha256 == digest for source in there):
                batch.stamps += [(source, status.st_size, status.st_mtime_ns) for source in there]
                batch.unchanged += 1
                return
            self._refuse_forgotten(digest, there, disk, batch)
            read = documents(reader, path, data, status)
        except (Unreadable, files.Unread) as error:
            batch.unread[uri] = str(error)
            if isinstance(error, _ForgottenError):  # what it said is not so any more
                batch.gone += [source.uri for source in there]
            return
        kept = {source.uri: source.policy for source in there}
        look = disk.looks[uri]
        for document in read:
            policy, tags = kept.get(document.uri, look.policy), (*document.tags, *look.tags)
            batch.documents.append(replace(document, policy=policy, tags=tags))
        batch.bytes += len(data)
        batch.gone += {source.uri for source in there} - {document.uri for document in read}

    def _refuse_forgotten(self, digest: str, there: list[Source], disk: Survey, batch: _Batch) -> None:
        """Raises _ForgottenError for a file that holds what a forgotten one held, unless it is to be read again. One
        that was read before it was forgotten elsewhere stays."""
        if any(source.sha256 is None for source in there) or not self.memory.sources.is_forgotten(digest):
            return
        if not disk.again:
            raise _ForgottenError(FORGOTTEN if disk.forgotten_moved else SAME_AS_FORGOTTEN)
        batch.again.append(digest)

    def _write(self, batch: _Batch, known: Sources, skipped: Mapping[str, str], task: Task) -> None:
        """Writes a batch, and then tells of it."""
        prepared = self._prepared(batch)
        written = self.writer.submit(lambda: self._unit(batch, prepared, skipped)).result()
        before = {source.uri for there in known.values() for source in there} if batch.documents else set()
        for document, receipt in written:
            if receipt.added or receipt.removed:
                task.sources += 1
                task.episodes += receipt.added
                change = "changed" if document.uri in before else "added"
                self.publish(wire.SourceChanged(document.uri, change, len(receipt.episode_ids)))
            else:
                task.unchanged += 1
        for uri in batch.gone:
            self.publish(wire.SourceChanged(uri, "removed"))
        for uri, reason in batch.unread.items():
            event = wire.Skipped(uri, reason, datetime.now(UTC))
            task.tell(event)
            if skipped.get(uri) != reason:
                self.publish(event)
        task.done += batch.files
        task.unchanged += batch.unchanged
        task.skipped += len(batch.unread)
        task.removed += len(batch.gone)
        self._progress(task)

    def _progress(self, task: Task, *, last: bool = False) -> None:
        if task.total and (progress := task.progress(last)):
            task.tell(progress)
            self.publish(progress)

    def _prepared(self, batch: _Batch) -> PreparedBatch | None:
        """The documents read and embedded, in this thread: a model may take seconds, and others want to write."""
        try:
            return self.memory.ingest.prepare(batch.documents)
        except STORE_TROUBLE:
            raise
        except Exception:  # which document it is turns out when they are written
            return None

    def _unit(
        self, batch: _Batch, prepared: PreparedBatch | None, skipped: Mapping[str, str]
    ) -> list[tuple[Document, Receipt]]:
        """What the writer thread does for a batch. Documents that cannot be kept become its `unread`."""
        written: list[tuple[Document, Receipt]] = []
        if batch.again:
            self.memory.sources.read_again(batch.again)
        try:
            written = list(zip(batch.documents, self.memory.remember_many(prepared or batch.documents), strict=True))
        except STORE_TROUBLE:
            raise
        except Exception as error:
            log.warning("a batch of %d failed (%s); one by one", len(batch.documents), type(error).__name__)
            for document in batch.documents:
                self._alone(document, batch, written)
        for uri in batch.gone:
            self.memory.ingest.retire(uri)
        over = [uri for uri in batch.readable if uri not in batch.unread]
        fresh = {uri: reason for uri, reason in batch.unread.items() if skipped.get(uri) != reason}
        if over or fresh or batch.stamps:
            self.memory.sources.note_files(over, fresh, batch.stamps)
        return written

    def _alone(self, document: Document, batch: _Batch, written: list[tuple[Document, Receipt]]) -> None:
        try:
            written.append((document, self.memory.remember_many([document])[0]))
        except STORE_TROUBLE:
            raise
        except Exception as error:
            reason = (
                str(error) if isinstance(error, PalimpsestError) else f"it could not be kept: {type(error).__name__}"
            )
            log.error("not kept: %s\n%s", document.uri, "".join(traceback.format_tb(error.__traceback__)))
            batch.unread[document.uri] = reason
