"""Ingestion of texts: chunked, embedded and written in one transaction; renaming and retiring sources."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

import numpy as np

from memory.errors import NotFoundError
from memory.facts.attributes import is_about_owner
from memory.ingest.draft import DocumentDraft, draft_document
from memory.ingest.ingest import Ingestion, PreparedBatch, embed_drafts, sentence_window, texts_to_embed
from memory.ingest.versions import compare_versions
from memory.nouns import Document, Receipt
from memory.services.state import State
from memory.store import episodes, sources, vectors
from memory.time.timestamps import now_ms


class Ingest:
    """Stores documents as sources and episodes. Every call is on the disk when it returns."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    def prepare(self, documents: Iterable[Document]) -> PreparedBatch:
        """Chunks and embeds documents, the slow part, without writing or locking. InvalidInputError for a document
        without words or uri, NotAvailableError from the embedder."""
        given, settings, masker = list(documents), self._state.settings, self._state.masker
        newest = {document.uri: document for document in given}
        drafts = [draft_document(document, settings.chunk, settings.rules, masker) for document in newest.values()]
        places = {uri: place for place, uri in enumerate(newest)}
        return self.embed_drafts(drafts)._replace(places=tuple(places[document.uri] for document in given))

    def embed_drafts(self, drafts: Sequence[DocumentDraft]) -> PreparedBatch:
        """Embeds new parts of documents, or of pieces of long ones, that were drafted elsewhere, with different uris;
        writes nothing. NotAvailableError from the embedder."""
        return embed_drafts(self._store, drafts, self._state.serving.embedder)

    def remember(
        self,
        text: str,
        title: str | None = None,
        source: str | None = None,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
    ) -> Receipt:
        """Stores a text. The same `source` again is a newer version of it; without one the text is a source by itself.
        Idempotent. InvalidInputError for a text without words."""
        words = "\0".join([self._state.mask(text), title or "", ref or ""]).encode("utf-8", "replace")
        uri = source or f"note:{sha256(words).hexdigest()}"
        return self.remember_many([Document(uri, text, title=title, at=at, speaker=speaker, ref=ref)])[0]

    def remember_many(self, documents: Iterable[Document] | PreparedBatch) -> list[Receipt]:
        """Stores documents in one transaction; none on any error. Returns a receipt for each, in order. Of two
        documents with one uri only the later is stored."""
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
        return [receipts[place] for place in ready.places]

    def move(self, old_uri: str, new_uri: str) -> None:
        """Changes the uri of a source; its episodes and all that depends on them stay. NotFoundError."""
        with self._state.write_lock:
            self._store.write(sources.rename, old_uri, new_uri)

    def retire(self, uri: str) -> int:
        """Retires a deleted source: its episodes are only found in history; returns their number. NotFoundError."""
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
        return len([node for node in retired if node in before.graph.row_of])


def _tells_owner(reader: str, title: str) -> bool:
    """Whether a document of this reader and title may name the owner."""
    return reader == sources.MAIL_READER or is_about_owner(title)
