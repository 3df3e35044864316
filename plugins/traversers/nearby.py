"""Nearby: the edges around a question's starts, as one small graph of its own, for what looks at edges one by one.

At most MOST edges: the union over which the edge scorer, ReG's retrievers and the labels for them work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Codes, Floats, Ids, Ints
from memory.graph.walk import Relevance, Walkable
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.traversers.circles import draw

DEPTH, MOST = 2, 2000

_KIND: dict[tuple[int, int], EdgeKind] = {(0, 2): "mention", (0, 1): "asserts", (1, 2): "member", (0, 0): "next"}


class Nearby(NamedTuple):
    """e edges by id: `edges`, `kinds` (index of EDGE_KINDS), `src`, `dst` (e,) node ids, as they are directed.
    `vertices` (v,) node ids rising; `heads`, `tails` (e,) the places of `src` and `dst` among them."""

    edges: Ids
    kinds: Codes
    src: Ids
    dst: Ids
    vertices: Ids
    heads: Ints
    tails: Ints

    def relevance(self, relevance: Relevance) -> Floats:
        """(e,) in [0, 1]: how relevant each edge is without any training, the mean of its two ends (ReG@Entity: of a
        triple p(h) + p(t)). Of what was tried it finds most: by the better end alone 15 instead of 83 of 100 needed
        edges are among the first 50 on hotpotqa, because then a good passage brings all it mentions."""
        of_vertices = relevance(self.vertices)
        found: Floats = ((of_vertices[self.heads] + of_vertices[self.tails]) / 2).astype(np.float32)
        return found

    def best_of_vertices(self, scores: Floats) -> Floats:
        """(e,) -> (v,) the best score of an edge of each vertex (ReG@Entity: p of an entity from those of triples)."""
        found = np.zeros(len(self.vertices), np.float32)
        np.maximum.at(found, self.heads, scores)
        np.maximum.at(found, self.tails, scores)
        return found


def extract_subgraph(
    walk: Walkable, starts: Iterable[int], relevance: Relevance, depth: int = DEPTH, most: int = MOST
) -> Nearby:
    """The edges in the circles around the starts; parallel relations are all kept."""
    return direct_edges(walk, draw(walk, starts, relevance, depth, most).edges)


def direct_edges(walk: Walkable, ends: Mapping[int, tuple[int, int]]) -> Nearby:
    """Edges that join two vertices each, in whatever order these stand, as the graph directs them."""
    edges = np.array(sorted(ends), np.int32)
    pairs = np.array([ends[edge] for edge in edges.tolist()], np.int32).reshape(-1, 2)
    of_ends = np.stack([walk.kinds(pairs[:, 0]), walk.kinds(pairs[:, 1])], 1)
    turned = of_ends[:, 0] > of_ends[:, 1]
    pairs[turned] = pairs[turned][:, ::-1]
    of_ends.sort(axis=1)
    kinds = np.zeros(len(edges), np.int8)
    for (one, other), kind in _KIND.items():
        kinds[(of_ends[:, 0] == one) & (of_ends[:, 1] == other)] = EDGE_KINDS.index(kind)
    links = walk.graph.links
    if len(links.ids):
        places = np.minimum(np.searchsorted(links.ids, edges), len(links.ids) - 1)
        linked = links.ids[places] == edges
        kinds[linked] = links.kinds[places[linked]]
        pairs[linked, 0], pairs[linked, 1] = links.src[places[linked]], links.dst[places[linked]]
    vertices, where = np.unique(pairs, return_inverse=True)
    where = where.reshape(-1, 2)
    return Nearby(edges, kinds, pairs[:, 0], pairs[:, 1], vertices.astype(np.int32), where[:, 0], where[:, 1])
