"""What a traverser may look up, from a small store: objects with their names, and the relations between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from memory.graph.arrays import Graph
from memory.graph.snapshot import Snapshot
from memory.retrieval.traversers import Lookup
from memory.store import graph as stored
from memory.store import relations
from memory.store.graph import EdgeRow
from memory.store.store import Store
from tests.memory.retrieval.walking import related_graph

Triples = Mapping[int, tuple[int, str, int]]
"""Edge id -> subject, predicate, object."""


@dataclass(frozen=True)
class WordEmbedder:
    """Each of `words` is a direction of its own; a text has those that stand in it."""

    words: Sequence[str]
    name: str = "words"
    batch: int = 64
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def dimension(self) -> int:
        return len(self.words)

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array([[float(word in text) for word in self.words] for text in texts], np.float32)
        rows = rows.reshape(-1, self.dimension)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_documents([text])[0]


@contextmanager
def stored_triples(
    triples: Triples,
    question: str,
    words: Sequence[str],
    names: Mapping[int, str] | None = None,
    evidence: Mapping[int, tuple[float, int]] | None = None,
) -> Iterator[tuple[Graph, Lookup]]:
    """A graph of these relations, and what the question may look up in it; an object without a name has no words.
    `evidence`: how sure a relation is, and how often it was told."""
    graph = related_graph({edge: (one, other) for edge, (one, _, other) in triples.items()})
    nodes = sorted({node for one, _, other in triples.values() for node in (one, other)})
    with Store.open(":memory:") as store:
        with store.writing() as conn:
            stored.insert_objects(conn, [(node, (names or {}).get(node, ""), None) for node in nodes], 1)
            for edge, (one, said, other) in triples.items():
                confidence, support = (evidence or {}).get(edge, (1.0, 1))
                predicate, _ = relations.ensure_predicate(conn, said, said)
                row = EdgeRow(edge, "rel", one, other, support, pred_id=predicate, conf=confidence)
                stored.insert_edges(conn, [row], 1)
        with store.reading() as conn:
            yield graph, Lookup(conn, Snapshot(graph, None, 0), WordEmbedder(words), question)
