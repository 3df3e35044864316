"""Reads the files of one scan into the memory, batch by batch. A batch is one transaction: its documents are written at
once, or one by one if one of them fails.

A file is opened here and parsed in another process (`daemon/reading/`). Small files share a transaction; a large one is
written in pieces, so that other writers need not wait, and counts as read with the last piece. The next files are
parsed while the current ones are written (`AHEAD_FILES`)."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from daemon import wire
from daemon.failures import log_unexpected
from daemon.jobs.workers import Task, Writer
from daemon.reading import FileDrafts, OpenFile, ReaderDiedError
from daemon.reading.frames import PIECE
from daemon.reading.process import Readers
from daemon.watch import files
from daemon.watch.attempts import Attempts
from daemon.watch.files import FoundFile
from daemon.watch.scan import Scan, Sources
from memory import Memory
from memory.errors import NotAvailableError, PalimpsestError, StoreBusyError, StoreDamagedError, StoreFullError
from memory.ingest.draft import BROKEN_OFF, IN_PART, LEFT_OUT, DocumentDraft
from memory.ingest.ingest import PreparedBatch
from memory.nouns import FORGOTTEN, SAME_AS_FORGOTTEN, Receipt, Source
from plugins.manager import Plugins
from plugins.readers import Unreadable
from plugins.readers.common.origin import CopiedFolders

log = logging.getLogger(__name__)

AHEAD_FILES = 16  # opened and handed over before the results of the first are taken
AHEAD_BYTES = 1 << 20  # size limit of these; a larger file is read alone


BATCH_DOCUMENTS = 64
BATCH_BYTES = 4 << 20
BATCH_SECONDS = 1.0
BATCH_FILES = 1000  # files between two checks for something more urgent

STORE_TROUBLE = (StoreFullError, StoreBusyError, StoreDamagedError, NotAvailableError)  # no document's fault


@dataclass
class Batch:
    """The contents of one transaction. A file of several sources has several documents."""

    drafts: list[DocumentDraft] = field(default_factory=list)
    stamps: list[tuple[Source, int, int]] = field(default_factory=list)  # same content, new size or mtime_ns
    whole: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # sha256, size, mtime_ns of read files
    gone: list[str] = field(default_factory=list)  # sources no longer in their file
    unread: dict[str, str] = field(default_factory=dict)
    readable: list[str] = field(default_factory=list)  # files no longer skipped
    again: list[str] = field(default_factory=list)  # hashes of forgotten contents that are read again
    read: list[str] = field(default_factory=list)  # completely processed files
    files: int = 0
    unchanged: int = 0
    bytes: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def is_full(self) -> bool:
        return (
            len(self.drafts) >= BATCH_DOCUMENTS
            or self.bytes >= BATCH_BYTES
            or self.files >= BATCH_FILES
            or time.monotonic() - self.began > BATCH_SECONDS
            or sum(len(draft.episodes) for draft in self.drafts) >= PIECE
            or any(not draft.is_last for draft in self.drafts[-1:])
        )


@dataclass
class _Opened:
    """A checked file: it is being read (`file`, open until `closing` is closed), failed (`error`), or is unchanged.
    `status`: new size and mtime_ns; `again`: its hash, if it was forgotten and is read again."""

    uri: str
    entry: FoundFile
    there: list[Source]
    file: OpenFile | None = None
    closing: ExitStack = field(default_factory=ExitStack)
    status: tuple[int, int] | None = None
    again: str = ""
    error: Exception | None = None


@dataclass
class FileImporter:
    """Imports the files of one scan; each `next` of `run` is one batch, after which `tell` is called. `over`: the skips
    of files that no longer exist."""

    memory: Memory
    plugins: Plugins
    readers: Readers
    attempts: Attempts
    writer: Writer
    publish: Callable[[wire.Event], None]
    tell: Callable[[Task], None]
    disk: Scan
    known: Sources
    skipped: Mapping[str, str]
    task: Task
    over: list[str]

    def __post_init__(self) -> None:
        self._begun: set[str] = set()
        self._pieces: dict[str, tuple[int, int]] = {}  # of incomplete documents: changed and all passages so far
        self._folders = CopiedFolders()
        self._ahead = self.readers.read_ahead()
        self._opened: deque[_Opened] = deque()
        same = self.disk.same.total()
        files = len(self.disk.unread) + same
        self._batch = Batch(unread=dict(self.disk.unread), readable=self.over, files=files, unchanged=same)

    def run(self) -> Iterator[None]:
        try:
            for uri, file in self.disk.files.items():
                is_doubted = self.attempts.is_doubted(uri)
                is_alone = is_doubted or file.size > AHEAD_BYTES
                if is_alone:
                    yield from self._take_opened(0)
                if is_doubted and self._batch.drafts:
                    self._write()
                    yield
                self._opened.append(self._open(uri, file))
                yield from self._take_opened(0 if is_alone else AHEAD_FILES - 1)
                if is_doubted:
                    self._write()
                    yield
            yield from self._take_opened(0)
            self._write()
        finally:  # an interruption is no file's fault
            self._ahead.close()
            for opened in self._opened:
                with suppress(Unreadable):
                    opened.closing.close()
            self.attempts.end(self._begun)

    def _take_opened(self, remaining: int) -> Iterator[None]:
        """Takes the results of the first open files until `remaining` are left."""
        while len(self._opened) > remaining:
            opened = self._opened.popleft()
            self.task.label = opened.uri
            yield from self._take(opened)
            if self._batch.is_full:
                self._write()
                yield

    def _take(self, opened: _Opened) -> Iterator[None]:
        """Adds a file to the batch, unless it is unchanged."""
        uri, sources = opened.uri, opened.there
        self._batch.files += 1
        try:
            if opened.error is not None:
                raise opened.error
            if opened.again:
                self._batch.again.append(opened.again)
            if opened.file is None:
                self._batch.unchanged += 1
                if opened.status is not None:
                    self._batch.stamps += [(source, *opened.status) for source in sources]
            else:
                self._batch.bytes += opened.file.size
                with opened.closing:
                    contents = self._read(opened, opened.file)
                yield from self._keep(opened, contents)
        except Unreadable as error:
            self._batch.unread[uri] = str(error)
            if str(error) in (FORGOTTEN, SAME_AS_FORGOTTEN):  # its statements no longer count
                self._batch.gone += [source.uri for source in sources]
        self._batch.read.append(uri)
        reason = self.skipped.get(uri, "")
        is_partly_read = opened.file is None and reason.startswith((LEFT_OUT, BROKEN_OFF, IN_PART))
        if reason and uri not in self._batch.unread and not is_partly_read:
            self._batch.readable.append(uri)

    def _open(self, uri: str, file: FoundFile) -> _Opened:
        """Checks a file, and passes it to the parser if it changed."""
        opened = _Opened(uri, file, self.known.get(uri, []))
        try:
            self._hand_over(opened)
        except Unreadable as error:
            opened.error = error
        return opened

    def _hand_over(self, opened: _Opened) -> None:
        uri, met, sources, disk = opened.uri, opened.entry, opened.there, self.disk
        parts = disk.again and any(s.sha256 and self.memory.sources.is_forgotten(s.sha256) for s in sources)
        seen = disk.targets[uri].path == met.path  # an event occurred, perhaps without a change of size and time
        as_it_was = all((s.size, s.mtime_ns) == (met.size, met.mtime_ns) for s in sources)
        if sources and as_it_was and not (seen or parts):
            return
        if refusal := self.attempts.refusal(uri, met.size, met.mtime_ns, disk.again):
            raise Unreadable(refusal)
        reader = self.plugins.reader_for(met.path, met.size)
        with ExitStack() as closing:
            root = disk.targets[uri].ignore.root
            file, status = closing.enter_context(files.open_whole(met.path, reader.max_bytes, root))
            digest = files.hash_content(file)
            if sources and not parts and all(source.sha256 == digest for source in sources):
                opened.status = status.st_size, files.read_mtime(status)
                return
            opened.again = self._find_forgotten(digest, sources)
            hashes = {source.uri: source.sha256 for source in sources if source.sha256} if reader.stream else {}
            is_copied = self._folders.holds_copy(met.path, status.st_mtime_ns, root)
            opened.file = OpenFile(file, met.path, status.st_size, reader, disk.targets[uri].tags, hashes, is_copied)
            self._begin(uri)
            self._ahead.hand(opened.file)
            opened.closing = closing.pop_all()

    def _find_forgotten(self, digest: str, sources: list[Source]) -> str:
        """Returns the hash of a file with forgotten content that is read again, "" for other files; Unreadable if it
        must not be read. A file that was read before its content was forgotten elsewhere stays."""
        if any(source.sha256 is None for source in sources) or not self.memory.sources.is_forgotten(digest):
            return ""
        if not self.disk.again:
            raise Unreadable(FORGOTTEN if self.disk.forgotten_moved else SAME_AS_FORGOTTEN)
        return digest

    def _begin(self, uri: str) -> None:
        self.attempts.begin(uri)
        self._begun.add(uri)

    def _read(self, opened: _Opened, file: OpenFile) -> FileDrafts:
        """Returns the parsed contents of the first file. After a crash of the parser process it is retried alone."""
        met, read = opened.entry, self._ahead.take
        while True:
            try:
                return read()
            except ReaderDiedError as error:
                if refusal := self.attempts.fail(opened.uri, met.size, met.mtime_ns, str(error)):
                    raise Unreadable(refusal) from error
            self._begin(opened.uri)
            read = partial(self.readers.read, file)

    def _keep(self, opened: _Opened, contents: FileDrafts) -> Iterator[None]:
        """Adds the contents of a file to the batch; a large one gets its own batches."""
        uri, met, stored = opened.uri, opened.entry, opened.there
        policies = {source.uri: source.policy for source in stored}
        target, path = self.disk.targets[uri], met.path
        location = path.name if target.root == path else path.relative_to(target.root).as_posix()

        def add_location(draft: DocumentDraft) -> DocumentDraft:
            policy = policies.get(draft.document.uri, target.policy)
            return replace(draft, document=replace(draft.document, policy=policy, location=location))

        drafts = map(add_location, self._choose(opened, contents))
        try:
            if contents.episodes <= PIECE and not contents.comes_in_parts:
                self._batch.drafts += [*drafts]
            else:
                yield from self._keep_large(drafts, contents.comes_in_parts or len(contents.uris) > 1)
        except ReaderDiedError as error:
            refusal = self.attempts.fail(uri, met.size, met.mtime_ns, str(error))
            raise Unreadable(refusal or f"{error}; trying again") from error
        self._batch.unread |= contents.unread
        if contents.left_out:
            self._batch.unread[uri] = contents.left_out
        same = [source for source in stored if source.uri in contents.same]
        stamp = met.size, met.mtime_ns
        self._batch.stamps += [(source, *stamp) for source in same if (source.size, source.mtime_ns) != stamp]
        self._batch.unchanged += len(same)
        self._batch.readable += [skip for skip in self.skipped if skip.startswith(f"{uri}#")]
        if not contents.left_out.startswith(BROKEN_OFF):
            current = contents.uris | contents.same | contents.unread.keys()
            self._batch.gone += {source.uri for source in stored} - current

    def _choose(self, opened: _Opened, contents: FileDrafts) -> Iterator[DocumentDraft]:
        """Yields the pieces of a file, without forgotten documents of a streamed file."""
        assert opened.file is not None
        sources, uris = self.memory.sources, {source.uri for source in opened.there}
        for draft in contents.pieces():
            digest = draft.document.sha256 or ""
            is_told_apart = opened.file.reader.stream is not None and draft.document.uri not in uris
            if not is_told_apart or not sources.is_forgotten(digest):
                yield draft
            elif self.disk.again:
                self._batch.again.append(digest)
                yield draft

    def _keep_large(self, drafts: Iterator[DocumentDraft], are_several: bool) -> Iterator[None]:
        """Writes a large file piece by piece. Of several documents no one counts as read before the last: the file is
        read completely or again."""
        whole = {}
        for draft in drafts:
            document = draft.document
            if are_several and document.sha256 and document.size is not None and document.mtime_ns is not None:
                whole[document.uri] = document.sha256, document.size, document.mtime_ns
                draft = replace(draft, document=replace(document, sha256=None, size=None, mtime_ns=None))
            self._batch.drafts.append(draft)
            if self._batch.is_full:
                self._write()
                yield
        self._batch.whole |= whole

    # Writing --------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Writes the batch, then updates the task and publishes the changes."""
        batch, self._batch, task = self._batch, Batch(), self.task
        prepared = self._prepare(batch)
        written = self.writer.write_later(lambda: self._write_unit(batch, prepared))
        before = {source.uri for sources in self.known.values() for source in sources} if batch.drafts else set()
        for draft, receipt in written:
            uri = draft.document.uri
            task.episodes += receipt.added
            changed, passages = self._pieces.pop(uri, (0, 0))
            changed, passages = changed + receipt.added + receipt.removed, passages + len(receipt.episode_ids)
            if not draft.is_last:
                self._pieces[uri] = changed, passages
            elif changed:
                task.sources += 1
                change = "changed" if uri in before else "added"
                self.publish(wire.SourceChanged(uri, change, passages))
            else:
                task.unchanged += 1
        for uri in batch.gone:
            self.publish(wire.SourceChanged(uri, "removed"))
        for uri, reason in batch.unread.items():
            event = wire.Skipped(uri, reason, datetime.now(UTC))
            task.tell(event)
            if self.skipped.get(uri) != reason:
                self.publish(event)
        task.done += batch.files
        task.unchanged += batch.unchanged
        task.skipped += len(batch.unread)
        task.removed += len(batch.gone)
        self.tell(task)
        self.attempts.end(batch.read)
        self._begun.difference_update(batch.read)
        if batch.drafts:
            self.attempts.settle()

    def _prepare(self, batch: Batch) -> PreparedBatch | None:
        """Embeds the documents in this thread: a model may take seconds, while others want to write."""
        try:
            return self.memory.ingest.embed_drafts(batch.drafts)
        except STORE_TROUBLE:
            raise
        except Exception:  # writing one by one finds the document
            return None

    def _write_unit(self, batch: Batch, prepared: PreparedBatch | None) -> list[tuple[DocumentDraft, Receipt]]:
        """Writes a batch in the writer thread. Documents that fail go to its `unread`."""
        written: list[tuple[DocumentDraft, Receipt]] = []
        if batch.again:
            self.memory.sources.read_again(batch.again)
        try:
            prepared = prepared or self.memory.ingest.embed_drafts(batch.drafts)
            written = list(zip(batch.drafts, self.memory.ingest.remember_many(prepared), strict=True))
        except STORE_TROUBLE:
            raise
        except Exception as error:
            log.warning("a batch of %d failed (%s); one by one", len(batch.drafts), type(error).__name__)
            for draft in batch.drafts:
                self._write_alone(draft, batch, written)
        for uri in batch.gone:
            self.memory.ingest.retire(uri)
        over = [uri for uri in batch.readable if uri not in batch.unread]
        fresh = {uri: reason for uri, reason in batch.unread.items() if self.skipped.get(uri) != reason}
        if over or fresh or batch.stamps or batch.whole:
            self.memory.sources.note_files(over, fresh, batch.stamps, batch.whole)
        return written

    def _write_alone(self, draft: DocumentDraft, batch: Batch, written: list[tuple[DocumentDraft, Receipt]]) -> None:
        try:
            prepared = self.memory.ingest.embed_drafts([draft])
            written.append((draft, self.memory.ingest.remember_many(prepared)[0]))
        except STORE_TROUBLE:
            raise
        except Exception as error:
            is_known = isinstance(error, PalimpsestError)
            reason = str(error) if is_known else f"it could not be stored: {type(error).__name__}"
            log_unexpected(log, "not stored: %s", draft.document.uri, error=error)
            batch.unread[draft.document.uri] = reason
