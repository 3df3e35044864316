"""The files of one survey, read into the memory batch by batch.

A file is opened here and read elsewhere (`daemon/reading/`). What is in a small one is written whole, with others, in
one transaction; a large one goes in pieces, so that others who want to write wait for none of it, and it counts as read
with the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from daemon.jobs.tasks import Task
from daemon.reading.frames import PIECE
from daemon.reading.memory import give_back
from daemon.reading.process import FileDrafts, OpenFile, ReaderDiedError, Readers
from daemon.watch import files
from daemon.watch.attempts import Attempts
from daemon.watch.batch import Batch, BatchWriter
from daemon.watch.files import Found
from daemon.watch.survey import Sources, Survey
from memory import Memory
from memory.ingest.draft import LEFT_OUT, DocumentDraft
from memory.nouns import FORGOTTEN, SAME_AS_FORGOTTEN, Source
from plugins.manager import Plugins
from plugins.readers import Unreadable


class _ForgottenError(files.Unread):
    """The file holds what was forgotten."""


@dataclass(frozen=True)
class Tools:
    """What files are read with. `tell` is called after each batch."""

    memory: Memory
    plugins: Plugins
    readers: Readers
    attempts: Attempts
    batches: BatchWriter
    tell: Callable[[Task], None]


class Intake:
    """Reads the files of one survey; each `next` of `run` is one batch."""

    def __init__(
        self,
        tools: Tools,
        disk: Survey,
        known: Sources,
        skipped: Mapping[str, str],
        task: Task,
        over: list[str],
    ) -> None:
        """`over` are the skips of files that are not there any more."""
        self._tools = tools
        self._memory = tools.memory
        self._attempts = tools.attempts
        self._disk = disk
        self._known = known
        self._skipped = skipped
        self._task = task
        self._begun: list[str] = []
        self._was_large = False
        self._batch = Batch(unread=dict(disk.unread), readable=over, files=len(disk.unread))

    def run(self) -> Iterator[None]:
        try:
            for uri, found in self._disk.files.items():
                is_doubted = self._attempts.is_doubted(uri)
                if is_doubted and self._batch.drafts:
                    self._write()
                    yield
                self._task.label = uri
                yield from self._take(uri, found, self._known.get(uri, []))
                if self._batch.is_full or is_doubted:
                    self._write()
                    yield
            self._write()
        finally:  # what was broken off was no file's fault
            self._attempts.end(self._begun)
            if self._was_large:
                give_back()

    def _write(self) -> None:
        batch, self._batch = self._batch, Batch()
        self._tools.batches.write(batch, self._known, self._skipped, self._task)
        self._tools.tell(self._task)
        self._attempts.end(batch.read)
        if batch.drafts:
            self._attempts.settle()

    def _take(self, uri: str, found: Found, there: list[Source]) -> Iterator[None]:
        """Reads one file into the batch, unless it is the same as it was."""
        self._batch.files += 1
        contents = None
        try:
            contents = self._open(uri, found, there)
            if contents is None:
                self._batch.unchanged += 1
            else:
                yield from self._keep(uri, contents, there)
        except (Unreadable, files.Unread) as error:
            self._batch.unread[uri] = str(error)
            if isinstance(error, _ForgottenError):  # what it said is not so any more
                self._batch.gone += [source.uri for source in there]
        self._batch.read.append(uri)
        reason = self._skipped.get(uri, "")
        is_partly_read = contents is None and reason.startswith(LEFT_OUT)
        if reason and uri not in self._batch.unread and not is_partly_read:
            self._batch.readable.append(uri)

    def _open(self, uri: str, found: Found, there: list[Source]) -> FileDrafts | None:
        """What is in a file, None if it is the same as it was. Unreadable, files.Unread."""
        path, disk = found.path, self._disk
        parts = disk.again and any(s.sha256 and self._memory.sources.is_forgotten(s.sha256) for s in there)
        seen = disk.looks[uri].path == path  # something happened to it, which size and time need not tell
        as_it_was = all((s.size, s.mtime_ns) == (found.size, found.mtime_ns) for s in there)
        if there and as_it_was and not (seen or parts):
            return None
        if refusal := self._attempts.refusal(uri, found.size, found.mtime_ns, disk.again):
            raise Unreadable(refusal)
        reader = self._tools.plugins.reader_for(path, found.size)
        with files.open_whole(path, reader.max_bytes, disk.looks[uri].ignore.root) as (file, status):
            digest = files.hash_content(file)
            if there and not parts and all(source.sha256 == digest for source in there):
                self._batch.stamps += [(source, status.st_size, status.st_mtime_ns) for source in there]
                return None
            self._refuse_forgotten(digest, there)
            self._batch.bytes += status.st_size
            return self._read(uri, found, OpenFile(file, path, status.st_size, reader, disk.looks[uri].tags))

    def _refuse_forgotten(self, digest: str, there: list[Source]) -> None:
        """Raises _ForgottenError for a file that holds what a forgotten one held, unless it is to be read again. One
        that was read before it was forgotten elsewhere stays."""
        if any(source.sha256 is None for source in there) or not self._memory.sources.is_forgotten(digest):
            return
        if not self._disk.again:
            raise _ForgottenError(FORGOTTEN if self._disk.forgotten_moved else SAME_AS_FORGOTTEN)
        self._batch.again.append(digest)

    def _read(self, uri: str, found: Found, file: OpenFile) -> FileDrafts:
        while True:
            self._attempts.begin(uri)
            self._begun.append(uri)
            try:
                return self._tools.readers.read(file)
            except ReaderDiedError as error:
                if refusal := self._attempts.fail(uri, found.size, found.mtime_ns, str(error)):
                    raise Unreadable(refusal) from error

    def _keep(self, uri: str, contents: FileDrafts, there: list[Source]) -> Iterator[None]:
        """Puts what is in a file into the batch, a large one in batches of its own."""
        policies = {source.uri: source.policy for source in there}
        policy = self._disk.looks[uri].policy

        def own(draft: DocumentDraft) -> DocumentDraft:
            document = draft.document
            return replace(draft, document=replace(document, policy=policies.get(document.uri, policy)))

        try:
            if contents.episodes <= PIECE:
                self._batch.drafts += [own(draft) for draft in [*contents.pieces()]]
            else:
                yield from self._keep_large(map(own, contents.pieces()), len(contents.uris) > 1)
        except ReaderDiedError as error:
            found = self._disk.files[uri]
            refusal = self._attempts.fail(uri, found.size, found.mtime_ns, str(error))
            raise Unreadable(refusal or f"{error}; it is tried again") from error
        self._batch.unread |= contents.unread
        if contents.left_out:
            self._batch.unread[uri] = contents.left_out
        self._batch.gone += {source.uri for source in there} - contents.uris - contents.unread.keys()

    def _keep_large(self, drafts: Iterator[DocumentDraft], are_several: bool) -> Iterator[None]:
        """Of several documents none counts as read before the last one is: the file is read again, or none of it."""
        self._was_large = True
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
