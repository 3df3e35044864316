"""Features: what is known of an edge near a question, as 33 numbers for the edge scorer (SPEC 7.6; after SubgraphRAG).

SubgraphRAG's head reads four vectors of an embedder and ten numbers, and needs thousands of questions. Ours has to
learn from a few hundred of one person, so it reads cosines instead of vectors.

The distance encoding (DDE) walks from the starts along the edges, two rounds with and two against their direction. A
vertex gets the mean of those that point to it, as printed, and beside it whether any of them has something: among 500
edges of a hub the mean of one start is 0.002. Where nothing points, nothing arrives: such rows stay zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from memory.graph.adjacency import EDGE_KINDS, EPISODE, OBJECT, EdgeKind, Relevance, Walkable
from memory.graph.arrays import NO_TIME, Floats, Ints
from memory.graph.subgraph import Nearby
from memory.retrieval.edge_embeddings import Wording

ROUNDS = ("1", "2", "1 against", "2 against")
_OF_END = ("start", *(f"mean {one}" for one in ROUNDS), *(f"any {one}" for one in ROUNDS))
NAMES: tuple[str, ...] = (
    "cos text", "cos head", "cos tail", "cos predicate", "cos part", "memory", "sigma",
    *(f"head {name}" for name in _OF_END), *(f"tail {name}" for name in _OF_END),
    "degree head", "degree tail", "is relation", "is thesis", "is mention", "age", "support", "confidence",
)  # fmt: skip
WIDTH = len(NAMES)
HeadName = Literal["compact", "full"]
MEMORY, SIGMA = NAMES.index("memory"), NAMES.index("sigma")
DAY = 86_400_000  # ms

_GROUPS: tuple[tuple[EdgeKind, ...], ...] = (("rel",), ("asserts", "member"), ("mention", "next", "syn"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What features are relative to: where the question starts, its words, how relevant vertices are, edge -> how
    strongly it fires, and when it was asked (ms UTC)."""

    starts: Sequence[int]
    relevance: Relevance
    wording: Wording | None
    memory: Mapping[int, float]
    at: int


class EdgeScorer(Protocol):
    """What was learnt about edges, whichever head it is of."""

    @property
    def head(self) -> HeadName: ...

    def near(self, near: Nearby, walk: Walkable, asked: Asked) -> Floats:
        """(e,) in (0, 1): how likely the question needs each of these edges."""
        ...

    def logits(self, features: Any) -> NDArray[np.floating[Any]]:
        """(e,) of what this head reads of e edges, the higher the more likely the edge is needed."""
        ...

    def packed(self) -> bytes:
        """Its numbers, which no other head reads."""
        ...


def sigma(near: Nearby, relevance: Relevance) -> Floats:
    """(e,) in [0, 1]: how relevant an edge is without any training, the mean of its two ends (ReG@Entity: of a triple
    p(h) + p(t)). Of what was tried it finds most: by the better end alone 15 instead of 83 of 100 needed edges are
    among the first 50 on hotpotqa, because then a good passage brings all it mentions."""
    of_vertices = relevance(near.vertices)
    found: Floats = ((of_vertices[near.heads] + of_vertices[near.tails]) / 2).astype(np.float32)
    return found


def features(near: Nearby, walk: Walkable, asked: Asked) -> Floats:
    """(e, WIDTH), as NAMES says."""
    columns = np.zeros((len(near.edges), WIDTH), np.float32)
    if not len(near.edges):
        return columns
    place = {name: number for number, name in enumerate(NAMES)}
    if asked.wording is not None:
        _compared(columns, near, asked.wording)
    fires = [asked.memory.get(edge, 0.0) for edge in near.edges.tolist()]
    columns[:, MEMORY], columns[:, SIGMA] = fires, sigma(near, asked.relevance)
    encoded = distances(near, asked.starts)
    first = place["head start"]
    width = encoded.shape[1]
    columns[:, first : first + width] = encoded[near.heads]
    columns[:, first + width : first + 2 * width] = encoded[near.tails]
    degrees = np.log1p(np.bincount(np.concatenate([near.heads, near.tails]), minlength=len(near.vertices)))
    columns[:, place["degree head"]], columns[:, place["degree tail"]] = degrees[near.heads], degrees[near.tails]
    for number, group in enumerate(_GROUPS):
        codes = [EDGE_KINDS.index(kind) for kind in group]
        columns[:, place["is relation"] + number] = np.isin(near.kinds, codes)
    columns[:, place["age"]] = _age(near, walk, asked.at)
    support, confidence = _told(near, walk, asked.wording)
    columns[:, place["support"]], columns[:, place["confidence"]] = np.log1p(support), confidence
    return columns


def distances(near: Nearby, starts: Sequence[int]) -> Floats:
    """(v, 9) of each vertex: whether it is a start; what arrives there, by mean, after one and two rounds with the
    edges and after one and two against them; and the same as 0 or 1."""
    start = are_starts(near, starts)[:, None]
    means = walked(near, start)
    return np.hstack([start, *means, *((mean > 0).astype(np.float32) for mean in means)])


def are_starts(near: Nearby, starts: Sequence[int]) -> Floats:
    """(v,) 1 for those of its vertices that the question starts from, else 0."""
    return np.isin(near.vertices, np.array(sorted(starts), np.int32)).astype(np.float32)


def walked(near: Nearby, begin: Floats) -> list[Floats]:
    """(v, c) -> four times (v, c), in the order of ROUNDS: the mean of what those have that point to a vertex, zeros
    where none does."""
    size, n = len(near.vertices), len(near.edges)
    with_edges = sparse.csr_matrix((np.ones(n, np.float32), (near.tails, near.heads)), (size, size))
    found = []
    for matrix in (with_edges, with_edges.T.tocsr()):
        arriving = np.asarray(matrix.sum(1))
        mean = begin
        for _ in range(2):
            mean = np.divide(matrix @ mean, arriving, out=np.zeros_like(begin), where=arriving > 0)
            found.append(mean)
    return found


def _compared(columns: Floats, near: Nearby, wording: Wording) -> None:
    """The first five: cosines with the question; the fifth the best one with a part of it."""
    of_vertices = wording.vertices(near.vertices)
    said = wording.edges(near, of_vertices)
    to_query = of_vertices @ wording.query
    columns[:, 0] = said @ wording.query
    columns[:, 1], columns[:, 2] = to_query[near.heads], to_query[near.tails]
    columns[:, 3] = wording.predicates(near) @ wording.query
    columns[:, 4] = (said @ wording.parts.T).max(1)


def _age(near: Nearby, walk: Walkable, at: int) -> Floats:
    """(e,) ln(1 + days) between what an edge tells and the question: since a relation holds, or when the passage at
    its head is of; 0 where nobody knows."""
    graph = walk.graph
    times = np.full(len(near.edges), NO_TIME, np.int64)
    rows = walk.episodes_of(near.src)
    times[rows >= 0] = graph.event_from[rows[rows >= 0]]
    if len(graph.links.ids):
        places = np.minimum(np.searchsorted(graph.links.ids, near.edges), len(graph.links.ids) - 1)
        linked = (graph.links.ids[places] == near.edges) & (rows < 0)
        times[linked] = graph.links.valid_from[places[linked]]
    known = times != NO_TIME
    found = np.zeros(len(times), np.float32)
    found[known] = np.log1p(np.abs(at - times[known]) / DAY)
    return found


def _told(near: Nearby, walk: Walkable, wording: Wording | None) -> tuple[Ints | Floats, Floats]:
    """How often each edge is told, and how sure it is."""
    support, confidence = np.ones(len(near.edges), np.float32), np.ones(len(near.edges), np.float32)
    mentions = np.flatnonzero((walk.kinds(near.src) == EPISODE) & (walk.kinds(near.dst) == OBJECT))
    if len(mentions):
        rows, columns = walk.rows(near.src[mentions]), walk.rows(near.dst[mentions])
        support[mentions] = np.asarray(walk.graph.counts[rows, columns]).ravel()
    told = wording.told(near) if wording is not None else {}
    for place in np.flatnonzero(near.kinds == EDGE_KINDS.index("rel")).tolist() if told else ():
        one = told.get(int(near.edges[place]))
        if one is not None:
            support[place], confidence[place] = one.support, one.confidence
    return support, confidence
