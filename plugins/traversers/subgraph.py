"""The edges around a question's starts, as one small graph of its own, and what they say as vectors."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Codes, Floats, Ids, Ints
from memory.graph.walk import EPISODE, OBJECT, THESIS, Path, Relevance, Walkable, index
from memory.retrieval.question_type import decompose
from memory.retrieval.traversers import Lookup
from memory.store import graph as stored
from memory.store import training
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.traversers.walking import costs

DEPTH, MAX_EDGES = 2, 2000
MAX_EMBEDDED = 10_000  # theses and objects of one question whose words are looked at

_REL = EDGE_KINDS.index("rel")
_KINDS: dict[tuple[int, int], EdgeKind] = {
    (EPISODE, OBJECT): "mention", (EPISODE, THESIS): "asserts", (THESIS, OBJECT): "member", (EPISODE, EPISODE): "next",
}  # fmt: skip


@dataclass(slots=True)
class Rings:
    """Rings around starts: `reached` vertex -> the starts whose rings hold it, and how far from each; `paths` the way
    to each from its nearest start; `edges` edge id -> its two ends."""

    reached: dict[int, dict[int, int]] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)
    edges: dict[int, tuple[int, int]] = field(default_factory=dict)


def draw_rings(
    walk: Walkable, begin: Iterable[int], relevance: Relevance, depth: int = DEPTH, most: int = MAX_EDGES
) -> Rings:
    """Breadth-first rings of `depth` around each start over `most` edges at the utmost, the most relevant of a vertex
    first. Each start has its own share of the edges, so that a hub among them does not use up what the others need, and
    the order of the starts does not matter."""
    rings = Rings()
    order = sorted(begin)
    share = most // max(1, len(order))
    for start in order:
        used: set[int] = set()
        rings.reached.setdefault(start, {})[start] = 0
        ways = {start: Path((start,))}
        queue = deque([start])
        while queue and len(used) < share:
            here = queue.popleft()
            if rings.reached[here][start] >= depth:
                continue
            near = walk.neighbours(here)
            fits = relevance(near.vertices)
            cost = costs(fits, walk.penalties(near.vertices))
            for place in np.lexsort((near.edges, -fits))[: share - len(used)].tolist():
                edge, end = int(near.edges[place]), int(near.vertices[place])
                used.add(edge)
                rings.edges.setdefault(edge, (here, end))
                if start not in rings.reached.setdefault(end, {}):
                    rings.reached[end][start] = rings.reached[here][start] + 1
                    ways[end] = ways[here].extend(edge, end, float(cost[place]))
                    queue.append(end)
        for vertex, path in ways.items():
            if vertex not in rings.paths or _order(path) < _order(rings.paths[vertex]):
                rings.paths[vertex] = path
    return rings


def _order(path: Path) -> tuple[int, float, tuple[int, ...]]:
    return len(path.edges), path.cost, path.edges


class Subgraph(NamedTuple):
    """e edges by id: `edges`, `kinds` (index of EDGE_KINDS), `src`, `dst` (e,) node ids, as they are directed.
    `vertices` (v,) node ids rising; `heads`, `tails` (e,) the places of `src` and `dst` among them."""

    edges: Ids
    kinds: Codes
    src: Ids
    dst: Ids
    vertices: Ids
    heads: Ints
    tails: Ints

    def mean_of_ends(self, of_vertices: Floats) -> Floats:
        """(v,) -> (e,): how relevant each edge is without any training (ReG@Entity: of a triple p(h) + p(t)). By the
        better end alone 15 instead of 83 of 100 needed edges are among the first 50 on hotpotqa, because then a good
        passage brings all it mentions."""
        return ((of_vertices[self.heads] + of_vertices[self.tails]) / 2).astype(np.float32)

    def best_of_vertices(self, scores: Floats) -> Floats:
        """(e,) -> (v,) the best score of an edge of each vertex (ReG@Entity: p of an entity from those of triples)."""
        found = np.zeros(len(self.vertices), np.float32)
        np.maximum.at(found, self.heads, scores)
        np.maximum.at(found, self.tails, scores)
        return found


def extract_subgraph(walk: Walkable, begin: Iterable[int], relevance: Relevance, depth: int = DEPTH) -> Subgraph:
    """The at most MAX_EDGES edges in the rings around the starts; parallel relations are all kept."""
    return direct_edges(walk, draw_rings(walk, begin, relevance, depth).edges)


def direct_edges(walk: Walkable, ends: Mapping[int, tuple[int, int]]) -> Subgraph:
    """Edges that join two vertices each, in whatever order these stand, as the graph directs them."""
    edges = np.array(sorted(ends), np.int32)
    pairs = np.array([ends[edge] for edge in edges.tolist()], np.int32).reshape(-1, 2)
    of_ends = np.stack([walk.kinds(pairs[:, 0]), walk.kinds(pairs[:, 1])], 1)
    turned = of_ends[:, 0] > of_ends[:, 1]
    pairs[turned] = pairs[turned][:, ::-1]
    of_ends.sort(axis=1)
    kinds = np.zeros(len(edges), np.int8)
    for (one, other), kind in _KINDS.items():
        kinds[(of_ends[:, 0] == one) & (of_ends[:, 1] == other)] = EDGE_KINDS.index(kind)
    links = walk.graph.links
    if len(links.ids):
        places = np.minimum(np.searchsorted(links.ids, edges), len(links.ids) - 1)
        linked = links.ids[places] == edges
        kinds[linked] = links.kinds[places[linked]]
        pairs[linked, 0], pairs[linked, 1] = links.src[places[linked]], links.dst[places[linked]]
    vertices, where = np.unique(pairs, return_inverse=True)
    where = where.reshape(-1, 2)
    return Subgraph(edges, kinds, pairs[:, 0], pairs[:, 1], vertices.astype(np.int32), where[:, 0], where[:, 1])


class GraphEmbeddings:
    """What a question, the vertices around it and its edges say, as unit vectors (d,)."""

    def __init__(self, lookup: Lookup) -> None:
        self._conn, snapshot, self._embedder, self._question = lookup
        self._index = index(snapshot.graph)
        self._of_episodes = snapshot.vectors
        self._left = MAX_EMBEDDED

    @cached_property
    def question(self) -> Floats:
        """(d,)."""
        return self._embedder.embed_query(self._question)

    @cached_property
    def parts(self) -> Floats:
        """(p, d) the questions that it is made of, p >= 1; by default itself."""
        split = decompose(self._question)
        return self.texts(split) if split else self.question[None]

    def texts(self, texts: Sequence[str]) -> Floats:
        """(n,) texts -> (n, d)."""
        return self._embedder.embed_documents(texts)

    def vertices(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v, d): of an episode its stored vector, of a thesis or object that of its words; zeros
        where there is none, or where MAX_EMBEDDED are used up."""
        kinds, rows = self._index.kinds[vertices], self._index.rows[vertices]
        found = np.zeros((len(vertices), self._embedder.dimension), np.float32)
        if self._of_episodes is not None:
            found[kinds == EPISODE] = self._of_episodes[rows[kinds == EPISODE]]
        others = np.flatnonzero(kinds != EPISODE)[: self._left]
        if len(others):
            self._left -= len(others)
            names = self._names(vertices[others].tolist())
            found[others] = self.texts([names.get(one, "") for one in vertices[others].tolist()])
        return found

    def relations(self, near: Subgraph) -> dict[int, tuple[str, float, int]]:
        """The predicate of each relation among these edges, how sure it is, and how often it was told."""
        return training.tellings(self._conn, near.edges[near.kinds == _REL].tolist())

    def predicates(self, near: Subgraph) -> Floats:
        """(e, d) the predicates of relations, zeros for other edges."""
        said = {edge: predicate for edge, (predicate, *_) in self.relations(near).items()}
        return self._of_relations(near, said)

    def triples(self, near: Subgraph, of_others: Floats) -> Floats:
        """(e, d) what each edge says: a relation its subject, predicate and object; any other its row of `of_others`
        (e, d)."""
        told = self.relations(near)
        if not told:
            return of_others
        is_relation = near.kinds == _REL
        names = self._names(np.unique([near.src[is_relation], near.dst[is_relation]]).tolist())
        ends = zip(near.edges.tolist(), near.src.tolist(), near.dst.tolist(), strict=True)
        said = {
            edge: f"{names.get(one, '')} {told[edge][0]} {names.get(other, '')}"
            for edge, one, other in ends
            if edge in told
        }
        return np.where(is_relation[:, None], self._of_relations(near, said), of_others)

    def _names(self, vertices: Sequence[int]) -> dict[int, str]:
        """The words of theses and objects."""
        return stored.object_labels(self._conn, vertices) | stored.thesis_texts(self._conn, vertices)

    def _of_relations(self, near: Subgraph, said: Mapping[int, str]) -> Floats:
        found = np.zeros((len(near.edges), self._embedder.dimension), np.float32)
        rows = [place for place, edge in enumerate(near.edges.tolist()) if edge in said]
        if rows:
            found[rows] = self.texts([said[int(near.edges[place])] for place in rows])
        return found
