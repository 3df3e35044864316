"""Embeddings of a question, of the vertices around it and of its edges: unit vectors, made when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Floats, Graph, Ids
from memory.graph.walk import EPISODE, index
from memory.protocols import Vectors
from memory.retrieval.question_type import decompose
from memory.retrieval.traversers import Lookup
from memory.store import graph as stored
from memory.store import training
from memory.store.graph import EDGE_KINDS
from plugins.traversers.nearby import Nearby

EMBEDDED = 4000  # theses and objects of one question whose words are looked at, at most

_REL, _MEMBER = EDGE_KINDS.index("rel"), EDGE_KINDS.index("member")


Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""Node ids of theses and objects -> their words."""


class Told(NamedTuple):
    """What is known of a relation beside its ends: its predicate, how sure it is, how often it was told."""

    predicate: str
    confidence: float = 1.0
    support: int = 1


Tellings = Callable[[Sequence[int]], Mapping[int, Told]]
"""Ids of relations -> what is known of those that there are."""


class EdgeEmbeddings:
    """The words of one question and of what lies around it, compared by `embed`.

    `vectors` (n, d): those of the episodes; `parts`: the questions that it is made of, if any. `texts` gives the words
    of theses and objects, of which at most `budget` are embedded, `tellings` those of relations.
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
        budget: int = EMBEDDED,
    ) -> None:
        self.dimension = dimension
        self._index = index(graph)
        self._episodes = vectors
        self._embed = embed
        self._names = texts
        self._tellings = tellings
        self._ask = query
        self._parts = parts
        self._budget = budget
        self._known: dict[int, Floats] = {}
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
        """(v,) node ids -> (v, d): of an episode its stored vector, of a thesis or object one that is made when it is
        first asked for; zeros where there is none or the budget is used up."""
        words = [vertex for vertex in vertices.tolist() if self._index.kinds[vertex] != EPISODE]
        new = [vertex for vertex in dict.fromkeys(words) if vertex not in self._known][: self._budget]
        if new:
            self._budget -= len(new)
            texts = self._names(new)
            self._known.update(zip(new, self._embed([texts.get(vertex, "") for vertex in new]), strict=True))
        found = np.zeros((len(vertices), self.dimension), np.float32)
        for place, vertex in enumerate(vertices.tolist()):
            if self._index.kinds[vertex] != EPISODE:
                found[place] = self._known.get(vertex, 0.0)
            elif self._episodes is not None:
                found[place] = self._episodes[self._index.rows[vertex]]
        return found

    def evidence(self, near: Nearby) -> dict[int, Told]:
        """What is known of the relations among these edges."""
        relations = near.edges[near.kinds == _REL].tolist()
        new = [edge for edge in relations if edge not in self._told]
        if new:
            self._told.update(self._tellings(new))
        return {edge: self._told[edge] for edge in relations if edge in self._told}

    def predicates(self, near: Nearby) -> Floats:
        """(e, d) the predicates of relations, zeros for other edges."""
        told = self.evidence(near)
        return self._said(near, {edge: one.predicate for edge, one in told.items()})

    def edges(self, near: Nearby, of_vertices: Floats | None = None) -> Floats:
        """(e, d) what each edge says: a relation its own words, a member the thesis that speaks of it, any other what
        it leads to. `of_vertices` (v, d): what the vertices say, if it is known."""
        own = self.vertices(near.vertices) if of_vertices is None else of_vertices
        found: Floats = np.where((near.kinds == _MEMBER)[:, None], own[near.heads], own[near.tails])
        relations = near.kinds == _REL
        told = self.evidence(near)
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


def embed_edges(lookup: Lookup, embed: Callable[[Sequence[str]], Vectors] | None = None) -> EdgeEmbeddings:
    """The embeddings around a question. `embed`: the embedder's, where its results are kept for the next question."""
    conn, snapshot, embedder, question = lookup

    def texts(nodes: Sequence[int]) -> dict[int, str]:
        return stored.object_labels(conn, nodes) | stored.thesis_texts(conn, nodes)

    def tellings(edges: Sequence[int]) -> dict[int, Told]:
        return {edge: Told(*row) for edge, row in training.tellings(conn, edges).items()}

    return EdgeEmbeddings(
        snapshot.graph, snapshot.vectors, embedder.dimension, embed or embedder.embed_documents, texts, tellings,
        lambda: embedder.embed_query(question), lambda: decompose(question),
    )  # fmt: skip
