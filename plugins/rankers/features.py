"""Features: what is known of an edge near a question, as 33 numbers for the edge scorer (after SubgraphRAG).

SubgraphRAG's head reads four vectors of an embedder and ten numbers, and needs thousands of questions. Ours has to
learn from a few hundred of one person, so it reads cosines instead of vectors.

The distance encoding (DDE) walks from the starts along the edges, two rounds with and two against their direction. A
vertex gets the mean of those that point to it, as printed, and beside it whether any of them has something: among 500
edges of a hub the mean of one start is 0.002. Where nothing points, nothing arrives: such rows stay zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from memory.graph.arrays import NO_TIME, Bools, Floats, Graph, Ints
from memory.graph.walk import EPISODE, OBJECT, Relevance, Walkable
from memory.protocols import Vectors
from memory.retrieval.traversers import Lookup, Seeds, relevance_of
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.traversers.circles import draw
from plugins.traversers.edge_embeddings import EdgeEmbeddings, embed_edges
from plugins.traversers.nearby import DEPTH, MOST, Nearby, direct_edges
from plugins.traversers.settings import WalkSettings
from plugins.traversers.walking import starts, walkable

ROUNDS = ("1", "2", "1 against", "2 against")
_OF_END = ("start", *(f"mean {one}" for one in ROUNDS), *(f"any {one}" for one in ROUNDS))
NAMES: tuple[str, ...] = (
    "cos text", "cos head", "cos tail", "cos predicate", "cos part", "memory", "sigma",
    *(f"head {name}" for name in _OF_END), *(f"tail {name}" for name in _OF_END),
    "degree head", "degree tail", "is relation", "is thesis", "is mention", "age", "support", "confidence",
)  # fmt: skip
WIDTH = len(NAMES)
MEMORY, SIGMA = NAMES.index("memory"), NAMES.index("sigma")
DAY = 86_400_000  # ms
WALK = WalkSettings()  # what was learnt does not depend on how a person lets others walk

_GROUPS: tuple[tuple[EdgeKind, ...], ...] = (("rel",), ("asserts", "member"), ("mention", "next", "syn"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What features are relative to: where the question starts, its words, how relevant vertices are, edge -> how
    strongly it fires, and when it was asked (ms UTC)."""

    starts: Sequence[int]
    relevance: Relevance
    embedded: EdgeEmbeddings | None
    memory: Mapping[int, float]
    at: int


class Surroundings(NamedTuple):
    """The edges near a question, the graph as it may walk it, and what their features are relative to."""

    near: Nearby
    walk: Walkable
    asked: Asked

    @classmethod
    def gather(
        cls,
        lookup: Lookup,
        graph: Graph,
        seeds: Seeds,
        allowed: Bools,
        facts: Sequence[int] = (),
        embed: Callable[[Sequence[str]], Vectors] | None = None,
    ) -> Surroundings:
        """Those of a question, and these relations (edge ids) wherever they lie. `embed`: as for `embed_edges`."""
        walk = walkable(graph, seeds, allowed, WALK)
        begin = tuple(starts(walk, seeds, WALK))
        relevance = relevance_of(walk, seeds)
        known = {one: ends for one in facts if (ends := graph.links.ends(one)) is not None}
        near = direct_edges(walk, {**draw(walk, begin, relevance, DEPTH, MOST).edges, **known})
        guidance, embedded = seeds.guidance, embed_edges(lookup, embed)
        return cls(near, walk, Asked(begin, relevance, embedded, guidance.activation, guidance.at_ms))


def features(near: Nearby, walk: Walkable, asked: Asked) -> Floats:
    """(e, WIDTH), as NAMES says."""
    columns = np.zeros((len(near.edges), WIDTH), np.float32)
    if not len(near.edges):
        return columns
    place = {name: number for number, name in enumerate(NAMES)}
    if asked.embedded is not None:
        _compared(columns, near, asked.embedded)
    fires = [asked.memory.get(edge, 0.0) for edge in near.edges.tolist()]
    columns[:, MEMORY], columns[:, SIGMA] = fires, near.relevance(asked.relevance)
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
    support, confidence = _told(near, walk, asked.embedded)
    columns[:, place["support"]], columns[:, place["confidence"]] = np.log1p(support), confidence
    return columns


def distances(near: Nearby, starts: Sequence[int]) -> Floats:
    """(v, 9) of each vertex: whether it is a start; what arrives there, by mean, after one and two rounds with the
    edges and after one and two against them; and the same as 0 or 1."""
    start = are_starts(near, starts)[:, None]
    means = average_neighbours(near, start)
    return np.hstack([start, *means, *((mean > 0).astype(np.float32) for mean in means)])


def are_starts(near: Nearby, starts: Sequence[int]) -> Floats:
    """(v,) 1 for those of its vertices that the question starts from, else 0."""
    return np.isin(near.vertices, np.array(sorted(starts), np.int32)).astype(np.float32)


def average_neighbours(near: Nearby, begin: Floats) -> list[Floats]:
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


def _compared(columns: Floats, near: Nearby, embedded: EdgeEmbeddings) -> None:
    """The first five: cosines with the question; the fifth the best one with a part of it."""
    of_vertices = embedded.vertices(near.vertices)
    said = embedded.edges(near, of_vertices)
    to_query = of_vertices @ embedded.query
    columns[:, 0] = said @ embedded.query
    columns[:, 1], columns[:, 2] = to_query[near.heads], to_query[near.tails]
    columns[:, 3] = embedded.predicates(near) @ embedded.query
    columns[:, 4] = (said @ embedded.parts.T).max(1)


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


def _told(near: Nearby, walk: Walkable, embedded: EdgeEmbeddings | None) -> tuple[Ints | Floats, Floats]:
    """How often each edge is told, and how sure it is."""
    support, confidence = np.ones(len(near.edges), np.float32), np.ones(len(near.edges), np.float32)
    mentions = np.flatnonzero((walk.kinds(near.src) == EPISODE) & (walk.kinds(near.dst) == OBJECT))
    if len(mentions):
        rows, columns = walk.rows(near.src[mentions]), walk.rows(near.dst[mentions])
        support[mentions] = np.asarray(walk.graph.counts[rows, columns]).ravel()
    told = embedded.evidence(near) if embedded is not None else {}
    for place in np.flatnonzero(near.kinds == EDGE_KINDS.index("rel")).tolist() if told else ():
        one = told.get(int(near.edges[place]))
        if one is not None:
            support[place], confidence[place] = one.support, one.confidence
    return support, confidence
