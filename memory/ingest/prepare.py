"""What can be done with documents before anybody has to wait: they are read, and what seems new is embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory.ingest import ingest
from memory.nouns import Document
from memory.protocols import Embedder, Vectors
from memory.settings import ChunkSettings
from memory.store.store import Store


@dataclass(frozen=True, slots=True)
class Prepared:
    """Documents ready to be written. `newest`: of those with one uri only the last. `known`: embedded text -> its
    vector by `embedder`, for what was not stored when they were prepared."""

    given: tuple[Document, ...]
    newest: tuple[str, ...]
    batch: tuple[ingest.ReadDocument, ...]
    embedder: Embedder
    known: Mapping[str, Vectors]

    def matrix(self, texts: Sequence[str], embedder: Embedder) -> Vectors:
        """(n,) texts -> (n, dimension): what is known, and what is not embedded now."""
        if embedder is not self.embedder:
            return embedder.embed_documents(texts)
        unknown = [text for text in texts if text not in self.known]
        vectors = np.zeros((len(texts), embedder.dimension), np.float32)
        late = iter(embedder.embed_documents(unknown)) if unknown else iter(())
        for row, text in enumerate(texts):
            vectors[row] = self.known[text] if text in self.known else next(late)
        return vectors


def prepare(
    store: Store, documents: Sequence[Document], settings: ChunkSettings, embedder: Embedder, rules: bool = True
) -> Prepared:
    """Reads and embeds. Raises InvalidInputError for a document without words or without a uri."""
    newest = {document.uri: document for document in documents}
    batch = tuple(ingest.read(document, settings, rules) for document in newest.values())
    with store.reading() as conn:
        texts = ingest.new_texts(batch, ingest.plan(conn, batch))
    known = dict(zip(texts, embedder.embed_documents(texts), strict=True)) if texts else {}
    return Prepared(tuple(documents), tuple(newest), batch, embedder, known)
