"""One transaction of documents: written at once, or one by one if one of them fails."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from daemon import wire
from daemon.jobs.workers import Task, Writer
from daemon.reading.frames import PIECE
from daemon.watch.survey import Sources
from memory import Memory
from memory.errors import NotAvailableError, PalimpsestError, StoreBusyError, StoreDamagedError, StoreFullError
from memory.ingest.draft import DocumentDraft
from memory.nouns import Receipt, Source

if TYPE_CHECKING:
    from memory.ingest.ingest import PreparedBatch

log = logging.getLogger(__name__)

BATCH_DOCUMENTS = 64
BATCH_BYTES = 4 << 20
BATCH_SECONDS = 1.0
BATCH_FILES = 1000  # files between two checks for something more urgent

STORE_TROUBLE = (StoreFullError, StoreBusyError, StoreDamagedError, NotAvailableError)  # no document's fault

Written = list[tuple[DocumentDraft, Receipt]]


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
        """Whether to write it before adding more."""
        return (
            len(self.drafts) >= BATCH_DOCUMENTS
            or self.bytes >= BATCH_BYTES
            or self.files >= BATCH_FILES
            or time.monotonic() - self.began > BATCH_SECONDS
            or sum(len(draft.episodes) for draft in self.drafts) >= PIECE
            or any(not draft.is_last for draft in self.drafts[-1:])
        )


class BatchWriter:
    """Writes batches and publishes the changes."""

    def __init__(self, memory: Memory, writer: Writer, publish: Callable[[wire.Event], None]) -> None:
        self._memory = memory
        self._writer = writer
        self._publish = publish
        self._pieces: dict[str, Receipt] = {}  # receipts of the first pieces of incomplete documents

    def write(self, batch: Batch, known: Sources, skipped: Mapping[str, str], task: Task) -> None:
        """Writes a batch, then updates `task` and publishes the changes."""
        prepared = self._prepare(batch)
        written = self._writer.write_later(lambda: self._write_unit(batch, prepared, skipped))
        before = {source.uri for sources in known.values() for source in sources} if batch.drafts else set()
        for draft, receipt in written:
            uri = draft.document.uri
            task.episodes += receipt.added
            receipt = _add_receipts(self._pieces.pop(uri, None), receipt)
            if not draft.is_last:
                self._pieces[uri] = receipt
            elif receipt.added or receipt.removed:
                task.sources += 1
                change = "changed" if uri in before else "added"
                self._publish(wire.SourceChanged(uri, change, len(receipt.episode_ids)))
            else:
                task.unchanged += 1
        for uri in batch.gone:
            self._publish(wire.SourceChanged(uri, "removed"))
        for uri, reason in batch.unread.items():
            event = wire.Skipped(uri, reason, datetime.now(UTC))
            task.tell(event)
            if skipped.get(uri) != reason:
                self._publish(event)
        task.done += batch.files
        task.unchanged += batch.unchanged
        task.skipped += len(batch.unread)
        task.removed += len(batch.gone)

    def _prepare(self, batch: Batch) -> PreparedBatch | None:
        """Embeds the documents in this thread: a model may take seconds, while others want to write."""
        try:
            return self._memory.ingest.embed_drafts(batch.drafts)
        except STORE_TROUBLE:
            raise
        except Exception:  # writing one by one finds the document
            return None

    def _write_unit(self, batch: Batch, prepared: PreparedBatch | None, skipped: Mapping[str, str]) -> Written:
        """Writes a batch in the writer thread. Documents that fail go to its `unread`."""
        written: Written = []
        if batch.again:
            self._memory.sources.read_again(batch.again)
        try:
            prepared = prepared or self._memory.ingest.embed_drafts(batch.drafts)
            written = list(zip(batch.drafts, self._memory.ingest.remember_many(prepared), strict=True))
        except STORE_TROUBLE:
            raise
        except Exception as error:
            log.warning("a batch of %d failed (%s); one by one", len(batch.drafts), type(error).__name__)
            for draft in batch.drafts:
                self._write_alone(draft, batch, written)
        for uri in batch.gone:
            self._memory.ingest.retire(uri)
        over = [uri for uri in batch.readable if uri not in batch.unread]
        fresh = {uri: reason for uri, reason in batch.unread.items() if skipped.get(uri) != reason}
        if over or fresh or batch.stamps or batch.whole:
            self._memory.sources.note_files(over, fresh, batch.stamps, batch.whole)
        return written

    def _write_alone(self, draft: DocumentDraft, batch: Batch, written: Written) -> None:
        try:
            prepared = self._memory.ingest.embed_drafts([draft])
            written.append((draft, self._memory.ingest.remember_many(prepared)[0]))
        except STORE_TROUBLE:
            raise
        except Exception as error:
            reason = (
                str(error) if isinstance(error, PalimpsestError) else f"it could not be stored: {type(error).__name__}"
            )
            log.error("not stored: %s\n%s", draft.document.uri, "".join(traceback.format_tb(error.__traceback__)))
            batch.unread[draft.document.uri] = reason


def _add_receipts(before: Receipt | None, after: Receipt) -> Receipt:
    """The sum of the receipts of two pieces of one document."""
    if before is None:
        return after
    ids = (*before.episode_ids, *after.episode_ids)
    counts = (getattr(before, name) + getattr(after, name) for name in ("added", "kept", "removed"))
    return Receipt(after.source_id, ids, *counts)
