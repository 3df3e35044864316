"""The files of one survey, read into the memory batch by batch.

A file is opened here and read elsewhere (`daemon/reading/`). What is in a small one is written whole, with others, in
one transaction; a large one goes in pieces, so that others who want to write wait for none of it, and it counts as read
with the last one. While files are put together and written the next ones are being read (`AHEAD_FILES`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from daemon.jobs.tasks import Task
from daemon.reading.contents import FileDrafts, OpenFile, ReaderDiedError
from daemon.reading.frames import PIECE
from daemon.reading.process import Readers
from daemon.watch import files
from daemon.watch.attempts import Attempts
from daemon.watch.batch import Batch, BatchWriter
from daemon.watch.files import Found
from daemon.watch.survey import Sources, Survey
from memory import Memory
from memory.ingest.draft import BROKEN_OFF, IN_PART, LEFT_OUT, DocumentDraft
from memory.nouns import FORGOTTEN, SAME_AS_FORGOTTEN, Source
from plugins.manager import Plugins
from plugins.readers import Unreadable
from plugins.readers.copies import CopiedFolders

AHEAD_FILES = 16  # that are open and handed over before what is in the first of them is taken
AHEAD_BYTES = 1 << 20  # of a file that may be among them; a larger one is read alone


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


@dataclass
class _Opened:
    """A file that was looked at. It is being read (`file`, open until `closing` is closed), or cannot be (`error`), or
    is the same as it was. `status`: size and mtime_ns, where these are other ones; `again`: its hash, where it holds
    what was forgotten and is to be read again."""

    uri: str
    found: Found
    there: list[Source]
    file: OpenFile | None = None
    closing: ExitStack = field(default_factory=ExitStack)
    status: tuple[int, int] | None = None
    again: str = ""
    error: Exception | None = None


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
        self._begun: set[str] = set()
        self._folders = CopiedFolders()
        self._ahead = tools.readers.read_ahead()
        self._opened: deque[_Opened] = deque()
        same = disk.same.total()
        files = len(disk.unread) + same
        self._batch = Batch(unread=dict(disk.unread), readable=over, files=files, unchanged=same)

    def run(self) -> Iterator[None]:
        try:
            for uri, found in self._disk.files.items():
                is_doubted = self._attempts.is_doubted(uri)
                is_alone = is_doubted or found.size > AHEAD_BYTES
                if is_alone:
                    yield from self._take_opened(0)
                if is_doubted and self._batch.drafts:
                    self._write()
                    yield
                self._opened.append(self._open(uri, found))
                yield from self._take_opened(0 if is_alone else AHEAD_FILES - 1)
                if is_doubted:
                    self._write()
                    yield
            yield from self._take_opened(0)
            self._write()
        finally:  # what was broken off was no file's fault
            self._ahead.close()
            for opened in self._opened:
                with suppress(files.Unread):
                    opened.closing.close()
            self._attempts.end(self._begun)

    def _take_opened(self, left: int) -> Iterator[None]:
        """Takes what is in the first of the open files, until no more than so many of them are left."""
        while len(self._opened) > left:
            opened = self._opened.popleft()
            self._task.label = opened.uri
            yield from self._take(opened)
            if self._batch.is_full:
                self._write()
                yield

    def _write(self) -> None:
        batch, self._batch = self._batch, Batch()
        self._tools.batches.write(batch, self._known, self._skipped, self._task)
        self._tools.tell(self._task)
        self._attempts.end(batch.read)
        self._begun.difference_update(batch.read)
        if batch.drafts:
            self._attempts.settle()

    def _take(self, opened: _Opened) -> Iterator[None]:
        """Takes what is in a file into the batch, unless it is the same as it was."""
        uri, there = opened.uri, opened.there
        self._batch.files += 1
        try:
            if opened.error is not None:
                raise opened.error
            if opened.again:
                self._batch.again.append(opened.again)
            if opened.file is None:
                self._batch.unchanged += 1
                if opened.status is not None:
                    self._batch.stamps += [(source, *opened.status) for source in there]
            else:
                self._batch.bytes += opened.file.size
                with opened.closing:
                    contents = self._read(opened, opened.file)
                yield from self._keep(opened, contents)
        except (Unreadable, files.Unread) as error:
            self._batch.unread[uri] = str(error)
            if isinstance(error, _ForgottenError):  # what it said is not so any more
                self._batch.gone += [source.uri for source in there]
        self._batch.read.append(uri)
        reason = self._skipped.get(uri, "")
        is_partly_read = opened.file is None and reason.startswith((LEFT_OUT, BROKEN_OFF, IN_PART))
        if reason and uri not in self._batch.unread and not is_partly_read:
            self._batch.readable.append(uri)

    def _open(self, uri: str, found: Found) -> _Opened:
        """Looks at a file, and hands it over to be read if it is not the same as it was."""
        opened = _Opened(uri, found, self._known.get(uri, []))
        try:
            self._hand_over(opened)
        except (Unreadable, files.Unread) as error:
            opened.error = error
        return opened

    def _hand_over(self, opened: _Opened) -> None:
        uri, found, there, disk = opened.uri, opened.found, opened.there, self._disk
        path = found.path
        parts = disk.again and any(s.sha256 and self._memory.sources.is_forgotten(s.sha256) for s in there)
        seen = disk.looks[uri].path == path  # something happened to it, which size and time need not tell
        as_it_was = all((s.size, s.mtime_ns) == (found.size, found.mtime_ns) for s in there)
        if there and as_it_was and not (seen or parts):
            return
        if refusal := self._attempts.refusal(uri, found.size, found.mtime_ns, disk.again):
            raise Unreadable(refusal)
        reader = self._tools.plugins.reader_for(path, found.size)
        with ExitStack() as closing:
            root = disk.looks[uri].ignore.root
            file, status = closing.enter_context(files.open_whole(path, reader.max_bytes, root))
            digest = files.hash_content(file)
            if there and not parts and all(source.sha256 == digest for source in there):
                opened.status = status.st_size, status.st_mtime_ns
                return
            opened.again = self._find_forgotten(digest, there)
            known = {source.uri: source.sha256 for source in there if source.sha256} if reader.stream else {}
            is_copied = self._folders.holds_copy(path, status.st_mtime_ns, root)
            opened.file = OpenFile(file, path, status.st_size, reader, disk.looks[uri].tags, known, is_copied)
            self._begin(uri)
            self._ahead.hand(opened.file)
            opened.closing = closing.pop_all()

    def _find_forgotten(self, digest: str, there: list[Source]) -> str:
        """The hash of a file that holds what a forgotten one held, "" of others; _ForgottenError, unless it is to be
        read again. One that was read before it was forgotten elsewhere stays."""
        if any(source.sha256 is None for source in there) or not self._memory.sources.is_forgotten(digest):
            return ""
        if not self._disk.again:
            raise _ForgottenError(FORGOTTEN if self._disk.forgotten_moved else SAME_AS_FORGOTTEN)
        return digest

    def _begin(self, uri: str) -> None:
        self._attempts.begin(uri)
        self._begun.add(uri)

    def _read(self, opened: _Opened, file: OpenFile) -> FileDrafts:
        """What is in the file that was handed over first. Where the process ended with it, it is tried again alone."""
        uri, found = opened.uri, opened.found
        read = self._ahead.take
        while True:
            try:
                return read()
            except ReaderDiedError as error:
                if refusal := self._attempts.fail(uri, found.size, found.mtime_ns, str(error)):
                    raise Unreadable(refusal) from error
            self._begin(uri)
            read = partial(self._tools.readers.read, file)

    def _keep(self, opened: _Opened, contents: FileDrafts) -> Iterator[None]:
        """Puts what is in a file into the batch, a large one in batches of its own."""
        uri, found, there = opened.uri, opened.found, opened.there
        policies = {source.uri: source.policy for source in there}
        look, path = self._disk.looks[uri], found.path
        location = path.name if look.root == path else path.relative_to(look.root).as_posix()

        def own(draft: DocumentDraft) -> DocumentDraft:
            document = draft.document
            return replace(
                draft,
                document=replace(document, policy=policies.get(document.uri, look.policy), location=location),
            )

        drafts = map(own, self._choose(opened, contents))
        try:
            if contents.episodes <= PIECE and not contents.comes_in_parts:
                self._batch.drafts += [*drafts]
            else:
                yield from self._keep_large(drafts, contents.comes_in_parts or len(contents.uris) > 1)
        except ReaderDiedError as error:
            refusal = self._attempts.fail(uri, found.size, found.mtime_ns, str(error))
            raise Unreadable(refusal or f"{error}; it is tried again") from error
        self._batch.unread |= contents.unread
        if contents.left_out:
            self._batch.unread[uri] = contents.left_out
        same = [source for source in there if source.uri in contents.same]
        stamp = found.size, found.mtime_ns
        self._batch.stamps += [(source, *stamp) for source in same if (source.size, source.mtime_ns) != stamp]
        self._batch.unchanged += len(same)
        self._batch.readable += [skip for skip in self._skipped if skip.startswith(f"{uri}#")]
        if not contents.left_out.startswith(BROKEN_OFF):
            held = contents.uris | contents.same | contents.unread.keys()
            self._batch.gone += {source.uri for source in there} - held

    def _choose(self, opened: _Opened, contents: FileDrafts) -> Iterator[DocumentDraft]:
        """The pieces of a file, without what was forgotten of one whose documents are known by what they say."""
        assert opened.file is not None
        sources, there = self._memory.sources, {source.uri for source in opened.there}
        for draft in contents.pieces():
            digest = draft.document.sha256 or ""
            is_told_apart = opened.file.reader.stream is not None and draft.document.uri not in there
            if not is_told_apart or not sources.is_forgotten(digest):
                yield draft
            elif self._disk.again:
                self._batch.again.append(digest)
                yield draft

    def _keep_large(self, drafts: Iterator[DocumentDraft], are_several: bool) -> Iterator[None]:
        """Of several documents none counts as read before the last one is: the file is read again, or none of it."""
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
