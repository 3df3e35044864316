"""Features: what is known of an edge near a question, as 33 numbers for the edge scorer (after SubgraphRAG).

SubgraphRAG's head reads four vectors of an embedder and ten numbers, and needs thousands of questions. Ours has to
learn from a few hundred of one person, so it reads cosines instead of vectors.

The distance encoding (DDE) walks from the starts along the edges, two rounds with and two against their direction. A
vertex gets the mean of those that point to it, as printed, and beside it whether any of them has something: among 500
edges of a hub the mean of one start is 0.002. Where nothing points, nothing arrives: such rows stay zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import NO_TIME, Bools, Floats, Graph
from memory.graph.walk import EPISODE, OBJECT, Relevance, Walkable
from memory.retrieval.traversers import Lookup, Seeds
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.traversers.settings import WalkSettings
from plugins.traversers.subgraph import GraphEmbeddings, Subgraph, direct_edges, draw_rings
from plugins.traversers.walking import begin_walk

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

_GROUPS: tuple[tuple[EdgeKind, ...], ...] = (("rel",), ("asserts", "member"), ("mention", "next"))


class Surroundings(NamedTuple):
    """The edges near a question, and what their features are relative to: the graph as it may be walked, where the
    question starts, how relevant vertices are, words as vectors, edge -> how strongly its memory fires, and when the
    question was asked (ms UTC)."""

    near: Subgraph
    walk: Walkable
    starts: Sequence[int]
    relevance: Relevance
    embeddings: GraphEmbeddings | None
    activation: Mapping[int, float]
    at: int

    @classmethod
    def gather(
        cls, lookup: Lookup, graph: Graph, seeds: Seeds, allowed: Bools, facts: Sequence[int] = ()
    ) -> Surroundings:
        """Those of a question, and these relations (edge ids) wherever they lie."""
        walk, begin, relevance = begin_walk(graph, seeds, allowed, WALK)
        known = {one: ends for one in facts if (ends := graph.links.ends(one)) is not None}
        near = direct_edges(walk, draw_rings(walk, begin, relevance).edges | known)
        own = seeds.guidance
        return cls(near, walk, tuple(begin), relevance, GraphEmbeddings(lookup), own.activation, own.at_ms)


def features(around: Surroundings) -> Floats:
    """(e, WIDTH), as NAMES says."""
    near = around.near
    found = np.zeros((len(near.edges), WIDTH), np.float32)
    if not len(near.edges):
        return found
    column = {name: found[:, number] for number, name in enumerate(NAMES)}
    if around.embeddings is not None:
        words, question = around.embeddings, around.embeddings.question
        own = words.vertices(near.vertices)
        is_member = near.kinds == EDGE_KINDS.index("member")  # which says what its thesis does, any other its end
        said = words.triples(near, np.where(is_member[:, None], own[near.heads], own[near.tails]))
        column["cos text"][:] = said @ question
        column["cos head"][:], column["cos tail"][:] = (own @ question)[near.heads], (own @ question)[near.tails]
        column["cos predicate"][:] = words.predicates(near) @ question
        column["cos part"][:] = (said @ words.parts.T).max(1)
    column["memory"][:] = [around.activation.get(edge, 0.0) for edge in near.edges.tolist()]
    column["sigma"][:] = near.mean_of_ends(around.relevance(near.vertices))
    encoded = encode_distances(near, around.starts)
    first, width = NAMES.index("head start"), encoded.shape[1]
    found[:, first : first + width] = encoded[near.heads]
    found[:, first + width : first + 2 * width] = encoded[near.tails]
    degrees = np.log1p(np.bincount(np.concatenate([near.heads, near.tails]), minlength=len(near.vertices)))
    column["degree head"][:], column["degree tail"][:] = degrees[near.heads], degrees[near.tails]
    for name, group in zip(("is relation", "is thesis", "is mention"), _GROUPS, strict=True):
        column[name][:] = np.isin(near.kinds, [EDGE_KINDS.index(kind) for kind in group])
    column["age"][:] = _age(around)
    support, confidence = _evidence(around)
    column["support"][:], column["confidence"][:] = np.log1p(support), confidence
    return found


def encode_distances(near: Subgraph, begin: Sequence[int]) -> Floats:
    """(v, 9) of each vertex: whether it is a start; what arrives there, by mean, after one and two rounds with the
    edges and after one and two against them; and the same as 0 or 1."""
    start = np.isin(near.vertices, np.array(begin, np.int32)).astype(np.float32)[:, None]
    size = len(near.vertices)
    means = []
    for to, of in ((near.tails, near.heads), (near.heads, near.tails)):
        arriving = np.bincount(to, minlength=size)[:, None]
        mean = start
        for _ in range(2):
            sums = np.bincount(to, mean[of, 0], size).astype(np.float32)[:, None]
            mean = np.divide(sums, arriving, out=np.zeros_like(start), where=arriving > 0)
            means.append(mean)
    return np.hstack([start, *means, *((mean > 0).astype(np.float32) for mean in means)])


def _age(around: Surroundings) -> Floats:
    """(e,) ln(1 + days) between what an edge tells and the question: since a relation holds, or when the passage at
    its head is of; 0 where nobody knows."""
    near, graph = around.near, around.walk.graph
    times = np.full(len(near.edges), NO_TIME, np.int64)
    rows = around.walk.episodes_of(near.src)
    times[rows >= 0] = graph.event_from[rows[rows >= 0]]
    if len(graph.links.ids):
        places = np.minimum(np.searchsorted(graph.links.ids, near.edges), len(graph.links.ids) - 1)
        linked = (graph.links.ids[places] == near.edges) & (rows < 0)
        times[linked] = graph.links.valid_from[places[linked]]
    known = times != NO_TIME
    found = np.zeros(len(times), np.float32)
    found[known] = np.log1p(np.abs(around.at - times[known]) / DAY)
    return found


def _evidence(around: Surroundings) -> tuple[Floats, Floats]:
    """(e,) how often each edge is told, and (e,) how sure it is."""
    near, walk = around.near, around.walk
    support, confidence = np.ones(len(near.edges), np.float32), np.ones(len(near.edges), np.float32)
    mentions = np.flatnonzero((walk.kinds(near.src) == EPISODE) & (walk.kinds(near.dst) == OBJECT))
    if len(mentions):
        rows, columns = walk.rows(near.src[mentions]), walk.rows(near.dst[mentions])
        support[mentions] = walk.graph.counts.values_at(rows, columns)
    told = around.embeddings.relations(near) if around.embeddings is not None else {}
    for place, edge in enumerate(near.edges.tolist()):
        if edge in told:
            _, confidence[place], support[place] = told[edge]
    return support, confidence
