"""Wording: what a question, the vertices around it and its edges say, as unit vectors, made when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memory.graph.adjacency import EDGE_KINDS
from memory.graph.arrays import Floats, Graph, Ids
from memory.graph.snapshot import Snapshot
from memory.graph.subgraph import Nearby
from memory.protocols import Embedder, Vectors
from memory.retrieval.decompose import parts
from memory.retrieval.relevance import Meaning, Texts
from memory.store import graph as stored
from memory.store import training
from memory.store.connect import Connection

EMBEDDED = 4000  # theses and objects of one question whose words are looked at, at most

_REL, _MEMBER = EDGE_KINDS.index("rel"), EDGE_KINDS.index("member")


class Told(NamedTuple):
    """What is known of a relation beside its ends: its predicate, how sure it is, how often it was told."""

    predicate: str
    confidence: float = 1.0
    support: int = 1


Tellings = Callable[[Sequence[int]], Mapping[int, Told]]
"""Ids of relations -> what is known of those that there are."""


class Wording:
    """The words of one question and of what lies around it, compared by `embed`.

    `parts`: the questions that it is made of, if any; `sketches`: sequences of relations that may lead to an answer, if
    a model proposed some. `texts` gives the words of theses and objects, `tellings` those of relations.
    """

    def __init__(
        self,
        graph: Graph,
        vectors: Vectors | None,
        dimension: int,
        embed: Callable[[Sequence[str]], Vectors],
        texts: Texts,
        tellings: Tellings,
        query: Callable[[], Floats],
        parts: Callable[[], Sequence[str]] = tuple,
        sketches: Sequence[Sequence[str]] = (),
    ) -> None:
        self.dimension = dimension
        self.sketches = tuple(map(tuple, sketches))
        self._graph = graph
        self._embed = embed
        self._names = texts
        self._tellings = tellings
        self._ask = query
        self._parts = parts
        self._vertices = Meaning(graph, vectors, dimension, embed, texts, EMBEDDED)
        self._told: dict[int, Told] = {}

    @cached_property
    def query(self) -> Floats:
        """(d,) the question."""
        return self._ask()

    @cached_property
    def parts(self) -> Floats:
        """(p, d) the questions it is made of, p >= 1; by default itself."""
        found = self.texts(self._parts())
        return found if len(found) else self.query[None]

    def texts(self, texts: Sequence[str]) -> Floats:
        """(n,) texts -> (n, d)."""
        return self._embed(list(texts)) if texts else np.zeros((0, self.dimension), np.float32)

    def vertices(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v, d)."""
        return self._vertices(vertices)

    def told(self, near: Nearby) -> dict[int, Told]:
        """What is known of the relations among these edges."""
        relations = near.edges[near.kinds == _REL].tolist()
        new = [edge for edge in relations if edge not in self._told]
        if new:
            self._told.update(self._tellings(new))
        return {edge: self._told[edge] for edge in relations if edge in self._told}

    def predicates(self, near: Nearby) -> Floats:
        """(e, d) the predicates of relations, zeros for other edges."""
        told = self.told(near)
        return self._said(near, {edge: one.predicate for edge, one in told.items()})

    def edges(self, near: Nearby, of_vertices: Floats | None = None) -> Floats:
        """(e, d) what each edge says: a relation its own words, a member the thesis that speaks of it, any other what
        it leads to. `of_vertices` (v, d): what the vertices say, if it is known."""
        own = self.vertices(near.vertices) if of_vertices is None else of_vertices
        found: Floats = np.where((near.kinds == _MEMBER)[:, None], own[near.heads], own[near.tails])
        relations = near.kinds == _REL
        told = self.told(near)
        if told:
            names = self._names(np.unique([near.src[relations], near.dst[relations]]).tolist())
            ends = zip(near.edges.tolist(), near.src.tolist(), near.dst.tolist(), strict=True)
            sentences = {
                edge: f"{names.get(one, '')} {told[edge].predicate} {names.get(other, '')}"
                for edge, one, other in ends
                if edge in told
            }
            found[relations] = self._said(near, sentences)[relations]
        return found

    def _said(self, near: Nearby, words: Mapping[int, str]) -> Floats:
        found = np.zeros((len(near.edges), self.dimension), np.float32)
        if words:
            different = sorted(set(words.values()))
            vectors = dict(zip(different, self.texts(different), strict=True))
            for place in np.flatnonzero(near.kinds == _REL).tolist():
                text = words.get(int(near.edges[place]))
                if text is not None:
                    found[place] = vectors[text]
        return found


def wording(
    conn: Connection,
    snapshot: Snapshot,
    embedder: Embedder,
    question: str,
    embed: Callable[[Sequence[str]], Vectors] | None = None,
    sketches: Sequence[Sequence[str]] = (),
) -> Wording:
    """The wording of a question. `conn` must stay open for as long as it is asked; `embed`: the embedder's, where its
    results are kept from one question to the next."""

    def texts(nodes: Sequence[int]) -> dict[int, str]:
        return stored.object_labels(conn, nodes) | stored.thesis_texts(conn, nodes)

    def tellings(edges: Sequence[int]) -> dict[int, Told]:
        return {edge: Told(*row) for edge, row in training.tellings(conn, edges).items()}

    return Wording(
        snapshot.graph, snapshot.vectors, embedder.dimension, embed or embedder.embed_documents, texts, tellings,
        lambda: embedder.embed_query(question), lambda: parts(question), sketches,
    )  # fmt: skip
