"""Features: an edge near a question as 28 numbers for the edge scorer (after SubgraphRAG).

SubgraphRAG's head reads four vectors of an embedder and ten numbers, and needs thousands of questions. This one learns
from a few hundred questions of one person, so it reads cosines instead of vectors.

The distance encoding (DDE) walks from the starts along the edges, two rounds with and two against their direction. A
vertex gets the mean of its predecessors, as in the paper, and also whether any of them is non-zero: among 500 edges of
a hub the mean of one start is 0.002. Rows without predecessors stay zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import Relevance, Walkable
from memory.retrieval.traversers import Lookup, Seeds
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.settings import WalkSettings
from plugins.traversers.subgraph import GraphEmbeddings, Subgraph, extract_subgraph
from plugins.traversers.walking import begin_walk

ROUNDS = ("1", "2", "1 against", "2 against")
_OF_END = ("start", *(f"mean {name}" for name in ROUNDS), *(f"any {name}" for name in ROUNDS))
NAMES: tuple[str, ...] = (
    "cos text", "cos head", "cos tail", "cos predicate", "sigma",
    *(f"head {name}" for name in _OF_END), *(f"tail {name}" for name in _OF_END),
    "degree head", "degree tail", "is relation", "is thesis", "is mention",
)  # fmt: skip
WIDTH = len(NAMES)
SIGMA = NAMES.index("sigma")
WALK = WalkSettings()  # what was learnt does not depend on how a person lets others walk

_GROUPS: tuple[tuple[EdgeKind, ...], ...] = (("rel",), ("asserts", "member"), ("mention", "next"))


class Surroundings(NamedTuple):
    """The edges near a question and the context of their features: the walkable graph, the starts, the relevance of
    vertices, and text vectors."""

    near: Subgraph
    walk: Walkable
    starts: Sequence[int]
    relevance: Relevance
    embeddings: GraphEmbeddings | None

    @classmethod
    def gather(cls, lookup: Lookup, graph: Graph, seeds: Seeds, allowed: Bools) -> Surroundings:
        """Returns those of a question."""
        walk, begin, relevance = begin_walk(graph, seeds, allowed, WALK)
        near = extract_subgraph(walk, begin, relevance)
        return cls(near, walk, tuple(begin), relevance, GraphEmbeddings(lookup))


def features(around: Surroundings) -> Floats:
    """Returns (e, WIDTH), as NAMES says."""
    near = around.near
    matrix = np.zeros((len(near.edges), WIDTH), np.float32)
    if not len(near.edges):
        return matrix
    column = {name: matrix[:, number] for number, name in enumerate(NAMES)}
    if around.embeddings is not None:
        words, question = around.embeddings, around.embeddings.question
        own = words.vertices(near.vertices)
        is_member = near.kinds == EDGE_KINDS.index("member")  # which says what its thesis does, any other its end
        triples = words.triples(near, np.where(is_member[:, None], own[near.heads], own[near.tails]))
        column["cos text"][:] = triples @ question
        column["cos head"][:], column["cos tail"][:] = (own @ question)[near.heads], (own @ question)[near.tails]
        column["cos predicate"][:] = words.predicates(near) @ question
    column["sigma"][:] = near.mean_of_ends(around.relevance(near.vertices))
    encoded = encode_distances(near, around.starts)
    first, width = NAMES.index("head start"), encoded.shape[1]
    matrix[:, first : first + width] = encoded[near.heads]
    matrix[:, first + width : first + 2 * width] = encoded[near.tails]
    degrees = np.log1p(np.bincount(np.concatenate([near.heads, near.tails]), minlength=len(near.vertices)))
    column["degree head"][:], column["degree tail"][:] = degrees[near.heads], degrees[near.tails]
    for name, group in zip(("is relation", "is thesis", "is mention"), _GROUPS, strict=True):
        column[name][:] = np.isin(near.kinds, [EDGE_KINDS.index(kind) for kind in group])
    return matrix


def encode_distances(near: Subgraph, begin: Sequence[int]) -> Floats:
    """(v, 9) for each vertex: whether it is a start; the mean that arrives after one and two rounds with the edges and
    after one and two against them; and the same as 0 or 1."""
    start = np.isin(near.vertices, np.array(begin, np.int32)).astype(np.float32)[:, None]
    size = len(near.vertices)
    means = []
    for targets, sources in ((near.tails, near.heads), (near.heads, near.tails)):
        arriving = np.bincount(targets, minlength=size)[:, None]
        mean = start
        for _ in range(2):
            sums = np.bincount(targets, mean[sources, 0], size).astype(np.float32)[:, None]
            mean = np.divide(sums, arriving, out=np.zeros_like(start), where=arriving > 0)
            means.append(mean)
    return np.hstack([start, *means, *((mean > 0).astype(np.float32) for mean in means)])
