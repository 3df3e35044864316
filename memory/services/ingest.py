"""Texts into memory: chunked, embedded and written in one transaction, moved, retired, and forgotten for good."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from memory.errors import NotFoundError, StoreBusyError, StoreDamagedError, StoreError, StoreFullError, StoreMovedError
from memory.facts.assertion import FactAsserter
from memory.facts.attributes import is_about_owner
from memory.ingest.draft import DocumentDraft
from memory.ingest.ingest import (
    Ingestion,
    PreparedBatch,
    compare_versions,
    embed_drafts,
    prepare,
    sentence_window,
    texts_to_embed,
)
from memory.nouns import FORGOTTEN, Document, Forgotten, Receipt
from memory.protocols import Write, write_directly
from memory.services.state import State
from memory.store import episodes, sources, vectors
from memory.store import forget as forgetting
from memory.store.connect import Connection
from memory.store.store import read_by
from memory.text.mentions import norm
from memory.time.timestamps import now_ms

WIPE_SECONDS = 3.0  # that forgetting waits for questions that are being answered
PATIENCE_SECONDS = 0.5  # of these without letting others write
READ = "the memory is being read, by a question or another program, so it is still in the log"
FULL = "the disk is full, so it could not be overwritten; make room"
REFUSED = "the disk reported an error, so it could not be overwritten; check the disk"


class Ingest:
    """Documents as sources and episodes. Every call is on the disk when it returns."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store
        self.unwiped_because = ""  # why the last try to wipe forgotten words from the disk failed

    unwiped_since = read_by(forgetting.unwiped_since)
    is_uncleared = read_by(forgetting.is_uncleared)

    def prepare(self, documents: Iterable[Document]) -> PreparedBatch:
        """Chunks and embeds documents, the slow part, without writing or holding a lock. Raises InvalidInputError for a
        document without words, NotAvailableError from the embedder."""
        state, settings = self._state, self._state.settings
        return prepare(
            self._store, list(documents), settings.chunk, state.serving.embedder, settings.facts.rules, state.masker
        )

    def embed_drafts(self, drafts: Sequence[DocumentDraft]) -> PreparedBatch:
        """Embeds the new parts of documents, or of pieces of long ones, that were drafted elsewhere, each with another
        uri; writes nothing. NotAvailableError from the embedder."""
        return embed_drafts(self._store, drafts, self._state.serving.embedder)

    def remember_many(self, documents: Iterable[Document] | PreparedBatch) -> list[Receipt]:
        """Ingests documents in one transaction: all of them, or none on any error. Returns a receipt for each, in
        order. Of two documents with one uri only the later is kept."""
        ready = documents if isinstance(documents, PreparedBatch) else self.prepare(documents)
        batch = ready.documents
        if not batch:
            return []
        state = self._state
        with state.write_lock:
            serving = state.serving
            diffs = self._store.read(compare_versions, batch)
            matrix = ready.embed(texts_to_embed(batch, diffs, sentence_window(serving.embedder)), serving.embedder)
            with self._store.writing() as conn:
                ingestion = Ingestion(conn, serving.embedder_id, now_ms())
                receipts = ingestion.write(batch, diffs, matrix)
                change = ingestion.change
                if change.added:
                    vectors.deactivate_others(conn, serving.embedder_id)
                asserter = state.asserter(conn)
                asserter.withdraw_episodes(ingestion.redated)
                same = [id for id in change.retired if id not in ingestion.redated]
                asserter.carry_evidence(same, [row.node_id for row in change.added])
                asserter.assert_extractions(ingestion.extractions, edited=ingestion.edited)
                ingestion.retire_removed()
                asserter.replace_edited(ingestion.edited, ingestion.edits)
                asserter.withdraw_episodes(change.retired)
                changes = asserter.graph_changes()
            state.serving = replace(
                serving, snapshot=serving.snapshot.apply(change, np.nan_to_num(matrix[: len(change.added)]))
            )
            state.show(changes)
            if any(_tells_owner(draft.document.reader, draft.title) for draft in batch):
                state.name_owner()
            self._see_edges(asserter)
        return [receipts[place] for place in ready.places]

    def move(self, old_uri: str, new_uri: str) -> None:
        """Changes the uri of a source; its episodes and all that depends on them stay. NotFoundError."""
        with self._state.write_lock:
            self._store.write(sources.rename, old_uri, new_uri)

    def retire(self, uri: str) -> int:
        """Retires a deleted source: its episodes are no longer found, but stay in history; returns how many.
        NotFoundError."""
        state = self._state
        with state.write_lock:
            with self._store.writing() as conn:
                source = sources.get(conn, uri)
                if source is None:
                    raise NotFoundError(f"There is no source {uri}.")
                retired = episodes.retire_source(conn, source.id, now_ms())
                asserter = state.asserter(conn)
                asserter.withdraw_episodes(retired)
                changes = asserter.graph_changes()
            before = state.serving.snapshot
            state.serving = replace(state.serving, snapshot=before.without_episodes(retired))
            state.show(changes)
            if _tells_owner(source.reader, source.title):
                state.name_owner()
            self._see_edges(asserter)
        return len([node for node in retired if node in before.graph.row_of])

    def forget(self, object: str | None = None, fact: int | None = None, episode: int | None = None) -> Forgotten:
        """Removes one object (by name), fact or episode (by id) for good."""
        with self._begin_forgetting() as conn:
            if object is not None:
                forgotten = forgetting.object(conn, norm(object), now_ms())
            elif fact is not None:
                forgotten = forgetting.fact(conn, fact, now_ms())
            else:
                assert episode is not None
                forgotten = forgetting.episode(conn, episode, now_ms())
        return replace(forgotten, pending=self.wipe())

    def forget_sources(self, uris: Sequence[str], files: Iterable[str] = (), wipe: bool = True) -> Forgotten:
        """Removes these sources for good, all of them or, with a NotFoundError, none. Files with the same content are
        not read again, nor are these `files` (uris), whatever their later content. Without `wipe` their words stay in
        the log until it is called."""
        with self._begin_forgetting() as conn:
            forgotten = sum((forgetting.source(conn, uri, now_ms()) for uri in uris), Forgotten())
            for file in files:
                sources.skip(conn, file, FORGOTTEN, now_ms())
        return replace(forgotten, pending=self.wipe()) if wipe else forgotten

    def erase(self, unit: Callable[[Connection], Forgotten], by_person: bool) -> Forgotten:
        """A unit of forgetting; its words stay in the log until `wipe` is called."""
        with self._begin_forgetting(by_person) as conn:
            return unit(conn)

    def wipe(self, seconds: float = WIPE_SECONDS) -> str:
        """Empties the log, which removes forgotten text from the disk; "" on success, else why it failed within
        `seconds`. Until then the memory notes it (`unwiped_since`)."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                with self._state.write_lock, self._store.making_room():
                    self._store.checkpoint(min(seconds, PATIENCE_SECONDS))
                    self._store.write(forgetting.note_wiped)
                self.unwiped_because = ""
                return ""
            except StoreBusyError:
                self.unwiped_because = READ
            except StoreFullError:
                self.unwiped_because = FULL
            except (StoreDamagedError, StoreMovedError):
                raise
            except StoreError:
                self.unwiped_because = REFUSED
            if time.monotonic() > deadline:
                return self.unwiped_because
            time.sleep(0.02)

    def clear_unused(self, write: Write = write_directly) -> bool:
        """Rewrites the file if a person forgot something since the last time; returns whether it did. SQLite leaves
        copies of rows in unused parts of pages that it has split, which deleting the rows does not overwrite."""
        if not self._store.read(forgetting.is_uncleared):
            return False

        def rewrite() -> None:
            with self._state.write_lock, self._store.making_room():
                self._store.rewrite()
                self._store.write(forgetting.note_cleared)
            self.wipe()

        write(rewrite)
        return True

    def _see_edges(self, asserter: FactAsserter) -> None:
        """Updates the snapshot with credit that moved to a fact's successor."""
        if asserter.passed_on_edge_memory:
            self._state.reload_edge_memory()

    @contextmanager
    def _begin_forgetting(self, by_person: bool = True) -> Iterator[Connection]:
        """A unit of forgetting; then reloads the snapshot and wipes the log."""
        state = self._state
        with state.write_lock, self._store.making_room():
            with self._store.writing() as conn:
                yield conn
                state.complete_edge_memory(conn)
                forgetting.note_unwiped(conn, now_ms(), by_person)
            state.past.drop()
            state.serving = state.load(state.serving.embedder, state.serving.embedder_id)
            state.reload_edge_memory()


def _tells_owner(reader: str, title: str) -> bool:
    """Whether a document of this reader and title may name the owner."""
    return reader == sources.MAIL_READER or is_about_owner(title)
