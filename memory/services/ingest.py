"""Texts into memory: chunked, embedded and written in one transaction, moved, retired, and forgotten for good."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from memory.errors import NotFoundError, StoreBusyError
from memory.facts.assertion import FactAsserter
from memory.facts.attributes import is_about_owner
from memory.ingest.ingest import Ingestion, PreparedBatch, compare_versions, prepare, texts_to_embed
from memory.nouns import FORGOTTEN, Document, Forgotten, Receipt
from memory.services.state import State
from memory.store import episodes, sources, vectors
from memory.store import forget as forgetting
from memory.store.connect import Connection
from memory.text.mentions import norm
from memory.time.timestamps import now_ms

CHECKPOINT_SECONDS = 10.0  # that forgetting waits for questions that are being answered


class Ingest:
    """Documents as sources and episodes. Every call is on the disk when it returns."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    def prepare(self, documents: Iterable[Document]) -> PreparedBatch:
        """Chunks and embeds documents, which takes the time; nothing is written, and nobody waits. Raises
        InvalidInputError for a document without words, NotAvailableError from the embedder."""
        settings = self._state.settings
        return prepare(self._store, list(documents), settings.chunk, self._state.serving.embedder, settings.facts.rules)

    def remember_many(self, documents: Iterable[Document] | PreparedBatch) -> list[Receipt]:
        """Ingests documents in one transaction: all of them, or on any error none. A receipt for each, in order. Of two
        documents with one uri the later is the newer version and the only one kept."""
        ready = documents if isinstance(documents, PreparedBatch) else self.prepare(documents)
        batch = ready.documents
        if not batch:
            return []
        state = self._state
        with state.write_lock:
            serving = state.serving
            diffs = self._store.read(compare_versions, batch)
            matrix = ready.embed(texts_to_embed(batch, diffs), serving.embedder)
            with self._store.writing() as conn:
                ingestion = Ingestion(conn, serving.embedder_id, now_ms())
                receipts = ingestion.write(batch, diffs, matrix)
                change = ingestion.change
                if change.added:
                    vectors.leave_behind(conn, serving.embedder_id)
                asserter = state.asserter(conn)
                asserter.withdraw_episodes(ingestion.redated)
                same = [id for id in change.retired if id not in ingestion.redated]
                asserter.carry_evidence(same, [row.node_id for row in change.added])
                asserter.assert_extractions(ingestion.extractions, edited=ingestion.edited)
                ingestion.retire_removed()
                asserter.replace_edited(ingestion.edited, ingestion.edits)
                asserter.withdraw_episodes(change.retired)
                changes = asserter.graph_changes()
            state.serving = replace(serving, snapshot=serving.snapshot.apply(change, matrix))
            state.show(changes)
            if any(_tells_owner(draft.document.reader, draft.title) for draft in batch):
                state.name_owner()
            self._see_edges(asserter)
        return [receipts[place] for place in ready.places]

    def move(self, old_uri: str, new_uri: str) -> None:
        """A source has another uri now; its episodes and all that hangs on them stay. NotFoundError."""
        with self._state.write_lock:
            self._store.write(sources.rename, old_uri, new_uri)

    def retire(self, uri: str) -> int:
        """A source has gone: its episodes are no longer found, but stay in history; returns how many. NotFoundError."""
        state = self._state
        with state.write_lock:
            with self._store.writing() as conn:
                source = sources.get(conn, uri)
                if source is None:
                    raise NotFoundError(f"There is no source {uri}.")
                gone = episodes.retire_source(conn, source.id, now_ms())
                asserter = state.asserter(conn)
                asserter.withdraw_episodes(gone)
                changes = asserter.graph_changes()
            before = state.serving.snapshot
            state.serving = replace(state.serving, snapshot=before.without_episodes(gone))
            state.show(changes)
            if _tells_owner(source.reader, source.title):
                state.name_owner()
            self._see_edges(asserter)
        return len([node for node in gone if node in before.graph.row_of])

    def forget(self, object: str | None = None, fact: int | None = None, episode: int | None = None) -> Forgotten:
        """Removes one object (by name), fact or episode (by id) for good."""
        with self._forgetting() as conn:
            if object is not None:
                return forgetting.object(conn, norm(object), now_ms())
            if fact is not None:
                return forgetting.fact(conn, fact, now_ms())
            assert episode is not None
            return forgetting.episode(conn, episode, now_ms())

    def forget_sources(self, uris: Sequence[str], file: str | None = None) -> Forgotten:
        """Removes these sources for good, all of them or, with a NotFoundError, none. Files with the same content are
        not read again, nor is that `file` (a uri), whatever it holds later."""
        with self._forgetting() as conn:
            gone = sum((forgetting.source(conn, uri, now_ms()) for uri in uris), Forgotten())
            if file is not None:
                sources.skip(conn, file, FORGOTTEN, now_ms())
            return gone

    def _see_edges(self, asserter: FactAsserter) -> None:
        """What a fact handed on to its successor is seen."""
        if asserter.passed_on_edge_memory:
            self._state.reload_edge_memory()

    @contextmanager
    def _forgetting(self) -> Iterator[Connection]:
        """A unit of forgetting; after it the snapshot is loaded anew and the old words are off the disk."""
        state = self._state
        with state.write_lock:
            with self._store.writing() as conn:
                yield conn
                state.complete_edge_memory(conn)
            state.past.drop()
            state.serving = state.load(state.serving.embedder, state.serving.embedder_id)
            state.reload_edge_memory()
        deadline = time.monotonic() + CHECKPOINT_SECONDS
        while True:
            try:
                return self._store.checkpoint()  # until then the old words are still in the file
            except StoreBusyError:  # a question is being answered
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def _tells_owner(reader: str, title: str) -> bool:
    """Whether what is read so may tell whose memory it is."""
    return reader == sources.MAIL_READER or is_about_owner(title)
