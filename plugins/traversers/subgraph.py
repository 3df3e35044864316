"""The edges around a question's starts as a small graph, and its texts as vectors."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Codes, Floats, Ids, Ints
from memory.graph.walk import EPISODE, OBJECT, THESIS, Relevance, Walkable, index
from memory.retrieval.traversers import Lookup
from memory.store import graph as stored
from memory.store import queries
from memory.store.graph import EDGE_KINDS, EdgeKind

DEPTH, MAX_EDGES = 2, 2000
MAX_EMBEDDED = 10_000  # theses and objects of one question whose words are looked at

_REL = EDGE_KINDS.index("rel")
_KINDS: dict[tuple[int, int], EdgeKind] = {
    (EPISODE, OBJECT): "mention", (EPISODE, THESIS): "asserts", (THESIS, OBJECT): "member", (EPISODE, EPISODE): "next",
}  # fmt: skip


@dataclass(slots=True)
class Rings:
    """Rings around starts: `reached` vertex -> start -> distance; `edges` edge id -> its two ends."""

    reached: dict[int, dict[int, int]] = field(default_factory=dict)
    edges: dict[int, tuple[int, int]] = field(default_factory=dict)


def draw_rings(walk: Walkable, begin: Iterable[int], relevance: Relevance, depth: int = DEPTH) -> Rings:
    """Breadth-first rings of `depth` around each start over at most MAX_EDGES edges, the most relevant of a vertex
    first. Each start has its own share of the edges: a hub cannot use up the others', and the order of the starts does
    not matter."""
    rings = Rings()
    order = sorted(begin)
    share = MAX_EDGES // max(1, len(order))
    for start in order:
        used: set[int] = set()
        rings.reached.setdefault(start, {})[start] = 0
        queue = deque([start])
        while queue and len(used) < share:
            vertex = queue.popleft()
            if rings.reached[vertex][start] >= depth:
                continue
            near = walk.neighbours(vertex)
            for place in np.lexsort((near.edges, -relevance(near.vertices)))[: share - len(used)].tolist():
                edge, end = int(near.edges[place]), int(near.vertices[place])
                used.add(edge)
                rings.edges.setdefault(edge, (vertex, end))
                if start not in rings.reached.setdefault(end, {}):
                    rings.reached[end][start] = rings.reached[vertex][start] + 1
                    queue.append(end)
    return rings


class Subgraph(NamedTuple):
    """e edges by id: `edges`, `kinds` (index of EDGE_KINDS), `src`, `dst` (e,) node ids in the edge's direction.
    `vertices` (v,) node ids, ascending; `heads`, `tails` (e,) the places of `src` and `dst` among them."""

    edges: Ids
    kinds: Codes
    src: Ids
    dst: Ids
    vertices: Ids
    heads: Ints
    tails: Ints

    def mean_of_ends(self, of_vertices: Floats) -> Floats:
        """(v,) -> (e,): relevance of each edge without training (ReG@Entity: of a triple p(h) + p(t)). With the better
        end alone, 15 instead of 83 of 100 needed edges are among the first 50 on hotpotqa, because a good passage then
        lifts everything it mentions."""
        return ((of_vertices[self.heads] + of_vertices[self.tails]) / 2).astype(np.float32)

    def best_of_vertices(self, scores: Floats) -> Floats:
        """(e,) -> (v,) the best score of an edge of each vertex (ReG@Entity: p of an entity from those of triples)."""
        best = np.zeros(len(self.vertices), np.float32)
        np.maximum.at(best, self.heads, scores)
        np.maximum.at(best, self.tails, scores)
        return best


def extract_subgraph(walk: Walkable, begin: Iterable[int], relevance: Relevance, depth: int = DEPTH) -> Subgraph:
    """Returns the at most MAX_EDGES edges in the rings around the starts; parallel relations are all kept."""
    return direct_edges(walk, draw_rings(walk, begin, relevance, depth).edges)


def direct_edges(walk: Walkable, ends: Mapping[int, tuple[int, int]]) -> Subgraph:
    """Returns edges given by two vertices in any order, directed as in the graph."""
    edges = np.array(sorted(ends), np.int32)
    pairs = np.array([ends[edge] for edge in edges.tolist()], np.int32).reshape(-1, 2)
    of_ends = np.stack([walk.kinds(pairs[:, 0]), walk.kinds(pairs[:, 1])], 1)
    turned = of_ends[:, 0] > of_ends[:, 1]
    pairs[turned] = pairs[turned][:, ::-1]
    of_ends.sort(axis=1)
    kinds = np.zeros(len(edges), np.int8)
    for (source, target), kind in _KINDS.items():
        kinds[(of_ends[:, 0] == source) & (of_ends[:, 1] == target)] = EDGE_KINDS.index(kind)
    links = walk.graph.links
    if len(links.ids):
        places = np.minimum(np.searchsorted(links.ids, edges), len(links.ids) - 1)
        linked = links.ids[places] == edges
        kinds[linked] = links.kinds[places[linked]]
        pairs[linked, 0], pairs[linked, 1] = links.src[places[linked]], links.dst[places[linked]]
    vertices, places = np.unique(pairs, return_inverse=True)
    places = places.reshape(-1, 2)
    return Subgraph(edges, kinds, pairs[:, 0], pairs[:, 1], vertices.astype(np.int32), places[:, 0], places[:, 1])


class GraphEmbeddings:
    """A question, the vertices around it and its edges as unit vectors (d,)."""

    def __init__(self, lookup: Lookup) -> None:
        self._conn, snapshot, self._embedder, self._question = lookup
        self._index = index(snapshot.graph)
        self._of_episodes = snapshot.vectors
        self._left = MAX_EMBEDDED

    @cached_property
    def question(self) -> Floats:
        """(d,)."""
        return self._embedder.embed_query(self._question)

    def texts(self, texts: Sequence[str]) -> Floats:
        """(n,) texts -> (n, d)."""
        return self._embedder.embed_documents(texts)

    def vertices(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v, d): the stored vector of an episode, the embedded text of a thesis or object; zeros for
        missing vectors and after MAX_EMBEDDED."""
        kinds, rows = self._index.kinds[vertices], self._index.rows[vertices]
        vectors = np.zeros((len(vertices), self._embedder.dimension), np.float32)
        if self._of_episodes is not None:
            vectors[kinds == EPISODE] = self._of_episodes[rows[kinds == EPISODE]]
        unstored = np.flatnonzero(kinds != EPISODE)[: self._left]
        if len(unstored):
            self._left -= len(unstored)
            names = self._names(vertices[unstored].tolist())
            vectors[unstored] = self.texts([names.get(vertex, "") for vertex in vertices[unstored].tolist()])
        return vectors

    def _predicates(self, near: Subgraph) -> dict[int, str]:
        return queries.predicates(self._conn, near.edges[near.kinds == _REL].tolist())

    def predicates(self, near: Subgraph) -> Floats:
        """Returns (e, d) the predicates of relations, zeros for other edges."""
        return self._embed_relations(near, self._predicates(near))

    def triples(self, near: Subgraph, of_others: Floats) -> Floats:
        """Returns (e, d) what each edge says: a relation its subject, predicate and object; any other its row of
        `of_others` (e, d)."""
        relations = self._predicates(near)
        if not relations:
            return of_others
        is_relation = near.kinds == _REL
        names = self._names(np.unique([near.src[is_relation], near.dst[is_relation]]).tolist())
        ends = zip(near.edges.tolist(), near.src.tolist(), near.dst.tolist(), strict=True)
        texts = {
            edge: f"{names.get(head, '')} {relations[edge]} {names.get(tail, '')}"
            for edge, head, tail in ends
            if edge in relations
        }
        return np.where(is_relation[:, None], self._embed_relations(near, texts), of_others)

    def _names(self, vertices: Sequence[int]) -> dict[int, str]:
        """Returns the words of theses and objects."""
        return stored.object_labels(self._conn, vertices) | stored.thesis_texts(self._conn, vertices)

    def _embed_relations(self, near: Subgraph, texts: Mapping[int, str]) -> Floats:
        vectors = np.zeros((len(near.edges), self._embedder.dimension), np.float32)
        rows = [place for place, edge in enumerate(near.edges.tolist()) if edge in texts]
        if rows:
            vectors[rows] = self.texts([texts[int(near.edges[place])] for place in rows])
        return vectors
