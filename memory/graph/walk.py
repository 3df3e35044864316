"""Walking the graph without SQL: the neighbours of a vertex, of any kind, by node id; paths; and what a walk reached.

A `Walkable` belongs to one question. Nothing that the question may not see ever comes out of it: no episode or thesis
outside `allowed`, no fact that does not hold at its moment, no object that only such episodes speak of, and no vertex
of a kind that may not be entered. Whoever walks with `neighbours` cannot break this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from memory.errors import InvalidInputError
from memory.graph.arrays import NO_END, NO_TIME, Bools, Codes, Floats, Graph, Ids, Ints
from memory.graph.postings import SparseRows
from memory.store.graph import EDGE_KINDS, EdgeKind

EPISODE, THESIS, OBJECT = 0, 1, 2
VERTEX_KINDS = "ETO"
MIN_HUB_EDGES = 16  # a vertex with fewer edges is no hub, whatever the others have
HUB_FACTOR = 4  # times the median degree of its kind
PATH_LENGTH_EXPONENT = 0.75  # of a path's length in its cost: below 1, so that of two equally good the shorter wins
MIN_RELEVANCE = 0.02  # relevance below which it makes no difference any more: a cost of 3.9

Status = Literal["seed", "selected", "pruned", "scanned"]


class Neighbours(NamedTuple):
    """The edges of a vertex, by id: edge ids, indices of EDGE_KINDS, node ids at the other ends; one length."""

    edges: Ids
    kinds: Codes
    vertices: Ids


class Moment(NamedTuple):
    """When facts must hold, in ms UTC: those that began by `begun_by` and end after `ends_after`."""

    begun_by: int
    ends_after: int

    def covers(self, start: int | None, end: int | None) -> bool:
        """Whether what holds from `start` on and before `end` holds then; None is open."""
        return (start is None or start <= self.begun_by) and (end is None or end > self.ends_after)


ANY_TIME = Moment(NO_END, NO_TIME)

Relevance = Callable[[Ids], Floats]
"""Node ids (v,) of any kind -> how well each fits the question (v,), in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Index:
    """A Graph read backwards; made once for each Graph. `kinds`, `rows` by node id: EPISODE, THESIS or OBJECT (-1:
    unknown) and the row or column. `mentioned` (m, n) and `in_theses` (m, t), with edge ids as entries;
    `asserted` (n, t), with thesis rows as entries. `link_ends` (2l,) sorted node ids and `link_places` (2l,)
    which link ends there. `penalties` by node id: the hub penalty, 1 for ordinary vertices and less for hubs."""

    kinds: Codes
    rows: Ids
    mentioned: SparseRows
    in_theses: SparseRows
    asserted: SparseRows
    link_ends: Ids
    link_places: Ids
    penalties: Floats


def index(graph: Graph) -> Index:
    """The index of a graph, made once."""
    return graph.derive("index", _index)


def _index(graph: Graph) -> Index:
    theses, links = graph.theses, graph.links
    size = 1 + max(int(ids.max(initial=0)) for ids in (graph.episode_ids, theses.ids, graph.object_ids))
    kinds, rows = np.full(size, -1, np.int8), np.zeros(size, np.int32)
    for kind, ids in ((EPISODE, graph.episode_ids), (THESIS, theses.ids), (OBJECT, graph.object_ids)):
        kinds[ids] = kind
        rows[ids] = np.arange(len(ids))  # of two rows of an episode the later one lives
    count = len(theses.ids)
    numbers = np.arange(count + 1, dtype=np.int32)
    asserted = SparseRows(numbers[:count], theses.rows, numbers, (count, len(graph.alive)))
    ends = np.concatenate([links.src, links.dst])
    order = np.argsort(ends, kind="stable")
    mentioned = replace(graph.counts, data=graph.mention_ids)
    columns = mentioned.transpose(), theses.members.transpose(), asserted.transpose()
    places = (order % max(1, len(links.ids))).astype(np.int32)
    return Index(kinds, rows, *columns, ends[order], places, _penalties(graph, size, ends))


def _penalties(graph: Graph, size: int, link_ends: Ids) -> Floats:
    theses = graph.theses
    told = graph.alive[theses.rows].astype(np.float32)
    members = np.diff(theses.members.indptr)
    in_theses = np.bincount(theses.members.indices, np.repeat(told, members), len(graph.object_ids))
    asserts = np.bincount(theses.rows, minlength=len(graph.alive))
    links = np.bincount(link_ends, minlength=size)
    penalties = np.ones(size, np.float32)
    for ids, degree in (
        (graph.episode_ids, (np.diff(graph.counts.indptr) + asserts) * graph.alive),
        (theses.ids, (members + 1) * told),
        (graph.object_ids, graph.document_frequency + in_theses),
    ):
        whole = degree + links[ids]
        if len(whole) and whole.any():
            ordinary = max(MIN_HUB_EDGES, HUB_FACTOR * float(np.median(whole[whole > 0])))
            penalties[ids] = 1 / (1 + np.maximum(0, np.log2(np.maximum(whole, 1) / ordinary)))
    return penalties


class Walkable:
    """A graph as one question may walk it; vertices are node ids. `allowed` (n,) are the episodes that may be seen.
    `enter` names the kinds of vertex that may be entered, "E", "T" and "O"; a small letter: only as the end of a path.
    Where a walk starts is up to the walk. `hub_penalty` false makes all vertices ordinary. Raises InvalidInputError for
    other letters."""

    def __init__(
        self, graph: Graph, allowed: Bools, enter: str = VERTEX_KINDS, when: Moment = ANY_TIME, hub_penalty: bool = True
    ) -> None:
        if not set(enter.upper()) <= set(VERTEX_KINDS):
            raise InvalidInputError(f"{enter!r} names no kinds of vertex. Use the letters E, T and O, or e, t and o.")
        self.graph = graph
        self._index = index(graph)
        self.allowed = allowed & graph.alive
        self._when = when
        self._hub_penalty = hub_penalty
        self._may_enter = np.array([kind in enter.upper() for kind in VERTEX_KINDS])
        self._may_leave = [kind not in enter for kind in VERTEX_KINDS.lower()]
        self._known: dict[int, Neighbours] = {}
        self._spoken_of: dict[int, bool] = {}

    def kinds(self, vertices: Sequence[int] | Ids) -> Codes:
        """(v,) EPISODE, THESIS or OBJECT."""
        found: Codes = self._index.kinds[np.asarray(vertices, np.int64)]
        return found

    def rows(self, vertices: Sequence[int] | Ids) -> Ids:
        """(v,) the row of an episode or thesis, the column of an object."""
        found: Ids = self._index.rows[np.asarray(vertices, np.int64)]
        return found

    def episodes_of(self, vertices: Sequence[int] | Ids) -> Ids:
        """(v,) the row of the episode, or of the episode that asserts the thesis; -1 for an object."""
        kinds, rows = self.kinds(vertices), self.rows(vertices)
        found = np.full(len(rows), -1, np.int32)
        found[kinds == EPISODE] = rows[kinds == EPISODE]
        found[kinds == THESIS] = self.graph.theses.rows[rows[kinds == THESIS]]
        return found

    def penalties(self, vertices: Sequence[int] | Ids) -> Floats:
        """(v,) pen(n) in (0, 1]: less than 1 for hubs, unless they are not penalised."""
        if not self._hub_penalty:
            return np.ones(len(vertices), np.float32)
        found: Floats = self._index.penalties[np.asarray(vertices, np.int64)]
        return found

    def visible(self, vertex: int) -> bool:
        """Whether the question may see the vertex at all, of whatever kind it is."""
        if not 0 <= vertex < len(self._index.kinds):
            return False
        kind, row = int(self._index.kinds[vertex]), int(self._index.rows[vertex])
        if kind == EPISODE:
            return bool(self.allowed[row])
        if kind == THESIS:
            return bool(self._seen_theses(np.array([row]))[0])
        return kind == OBJECT and self._seen_object(row)

    def may_leave(self, vertex: int) -> bool:
        """Whether paths go on from the vertex if it is no start."""
        return self._may_leave[int(self._index.kinds[vertex])]

    def neighbours(self, vertex: int) -> Neighbours:
        """The edges of a vertex that may be followed, by edge id; none of a vertex at which paths end."""
        if vertex not in self._known:
            self._known[vertex] = self._neighbours(vertex)
        return self._known[vertex]

    def follows(self, edge: int, one: int, other: int) -> bool:
        """Whether the edge, which joins these two vertices, may be followed. Costs little, whatever hubs they are."""
        if not (self.visible(one) and self.visible(other)):
            return False
        kinds = self.kinds([one, other])
        if (kinds == OBJECT).all():
            return self._may_enter[OBJECT] and self.sees_link(edge)
        few = one if kinds[0] != OBJECT else other  # a passage or a thesis has few edges
        return bool((self.neighbours(few).edges == edge).any())

    def sees_link(self, edge: int) -> bool:
        """Whether a link of two objects holds then and somebody who may be seen tells of it. An end that nobody speaks
        of otherwise, a date or a sum, is no vertex that is walked to."""
        links = self.graph.links
        place = int(np.searchsorted(links.ids, edge))
        if place == len(links.ids) or links.ids[place] != edge:
            return False
        within = links.valid_from[place] <= self._when.begun_by and links.valid_to[place] > self._when.ends_after
        return bool(within) and self._is_told(edge)

    def edges_among(self, vertices: Iterable[int]) -> list[tuple[int, int, int]]:
        """The mentions and relations among these episodes and objects that may be followed, by id: edge, ends. Costs
        little, whatever hubs they are."""
        wanted = np.array(sorted(set(vertices)), np.int32)
        graph, links, found = self.graph, self.graph.links, set()
        for vertex, kind, row in zip(wanted, self.kinds(wanted), self.rows(wanted), strict=True):
            if kind == EPISODE and self.allowed[row]:
                here = slice(*graph.counts.indptr[row : row + 2])
                objects = graph.object_ids[graph.counts.indices[here]]
                joined = np.isin(objects, wanted)
                pairs = zip(graph.mention_ids[here][joined], objects[joined], strict=True)
                found |= {(int(edge), int(vertex), int(other)) for edge, other in pairs if edge}
            elif kind == OBJECT and self._seen_object(int(row)):
                places = self._index.link_places[slice(*np.searchsorted(self._index.link_ends, [vertex, vertex + 1]))]
                joined = (links.src[places] == vertex) & np.isin(links.dst[places], wanted)
                ends = zip(links.ids[places][joined], links.dst[places][joined], strict=True)
                found |= {(int(edge), int(vertex), int(other)) for edge, other in ends if self.sees_link(int(edge))}
        return sorted(found)

    def _neighbours(self, vertex: int) -> Neighbours:
        kind, row = int(self._index.kinds[vertex]), int(self._index.rows[vertex])
        if not self._may_leave[kind]:
            return _joined([])
        of_kind = {EPISODE: self._of_episode, THESIS: self._of_thesis, OBJECT: self._of_object}
        parts = [part for part in of_kind[kind](row) if len(part.edges)]
        if self._may_enter[EPISODE if kind == EPISODE else OBJECT]:
            parts += self._linked(vertex, kind)
        return _joined(parts)

    def _of_episode(self, row: int) -> list[Neighbours]:
        graph, parts = self.graph, []
        if self._may_enter[OBJECT]:
            here = slice(*graph.counts.indptr[row : row + 2])
            parts.append(_part(graph.mention_ids[here], "mention", graph.object_ids[graph.counts.indices[here]]))
        if self._may_enter[THESIS]:
            asserted = self._index.asserted
            theses = asserted.data[slice(*asserted.indptr[row : row + 2])]
            theses = theses[self._seen_theses(theses)]
            parts.append(_part(graph.theses.asserts[theses], "asserts", graph.theses.ids[theses]))
        return parts

    def _of_thesis(self, row: int) -> list[Neighbours]:
        graph, parts = self.graph, []
        if self._may_enter[EPISODE] and self.allowed[graph.theses.rows[row]]:
            episode = graph.episode_ids[graph.theses.rows[row : row + 1]]
            parts.append(_part(graph.theses.asserts[row : row + 1], "asserts", episode))
        if self._may_enter[OBJECT]:
            members = graph.theses.members
            here = slice(*members.indptr[row : row + 2])
            parts.append(_part(members.data[here], "member", graph.object_ids[members.indices[here]]))
        return parts

    def _of_object(self, column: int) -> list[Neighbours]:
        graph, parts = self.graph, []
        if self._may_enter[EPISODE]:
            mentioned = self._index.mentioned
            here = slice(*mentioned.indptr[column : column + 2])
            seen = self.allowed[mentioned.indices[here]]
            rows = mentioned.indices[here][seen]
            parts.append(_part(mentioned.data[here][seen], "mention", graph.episode_ids[rows]))
        if self._may_enter[THESIS]:
            in_theses = self._index.in_theses
            here = slice(*in_theses.indptr[column : column + 2])
            seen = self._seen_theses(in_theses.indices[here])
            rows = in_theses.indices[here][seen]
            parts.append(_part(in_theses.data[here][seen], "member", graph.theses.ids[rows]))
        return parts

    def _linked(self, vertex: int, kind: int) -> list[Neighbours]:
        if not len(self._index.link_ends):
            return []
        first, last = np.searchsorted(self._index.link_ends, [vertex, vertex + 1])
        if first == last:
            return []
        links = self.graph.links
        places = np.unique(self._index.link_places[first:last])  # a link from a vertex to itself ends there twice
        others = np.where(links.src[places] == vertex, links.dst[places], links.src[places])
        seen = (links.valid_from[places] <= self._when.begun_by) & (links.valid_to[places] > self._when.ends_after)
        seen &= self.kinds(others) == kind
        rows = self.rows(others)
        if kind == EPISODE:
            seen &= self.allowed[rows]
        else:
            seen[seen] = [self._seen_object(int(column)) for column in rows[seen]]
            seen[seen] = [self._is_told(int(id)) for id in links.ids[places[seen]]]
        return [Neighbours(links.ids[places[seen]], links.kinds[places[seen]], others[seen])]

    def _seen_theses(self, rows: Ids) -> Bools:
        theses = self.graph.theses
        seen: Bools = self.allowed[theses.rows[rows]]
        if self._when != ANY_TIME:
            seen = seen & (theses.valid_from[rows] <= self._when.begun_by)
            seen &= theses.valid_to[rows] > self._when.ends_after
        return seen

    def _seen_object(self, column: int) -> bool:
        """Whether an episode or thesis that may be seen speaks of it."""
        if column not in self._spoken_of:
            mentioned, in_theses = self._index.mentioned, self._index.in_theses
            episodes = mentioned.indices[slice(*mentioned.indptr[column : column + 2])]
            theses = in_theses.indices[slice(*in_theses.indptr[column : column + 2])]
            self._spoken_of[column] = bool(self.allowed[episodes].any() or self._seen_theses(theses).any())
        return self._spoken_of[column]

    def _is_told(self, link: int) -> bool:
        """Whether a link has evidence in an episode that may be seen; one without any is seen with its ends."""
        evidence = self.graph.links.evidence
        first, last = np.searchsorted(evidence[:, 0], [link, link + 1])
        episodes = evidence[first:last, 1]
        return first == last or any(map(self.visible, episodes.tolist()))  # a retired one may not even have a row


def _part(edges: Ids, kind: EdgeKind, vertices: Ids | Ints) -> Neighbours:
    return Neighbours(edges, np.full(len(edges), EDGE_KINDS.index(kind), np.int8), vertices.astype(np.int32))


def _joined(parts: list[Neighbours]) -> Neighbours:
    if not parts:
        return Neighbours(np.empty(0, np.int32), np.empty(0, np.int8), np.empty(0, np.int32))
    edges, kinds, vertices = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(edges, kind="stable")
    return Neighbours(edges[order], kinds[order], vertices[order])


@dataclass(frozen=True, slots=True)
class Path:
    """A path in the graph: node ids, the ids of the edges between them, the cost of each edge, and who found it."""

    vertices: tuple[int, ...]
    edges: tuple[int, ...] = ()
    costs: tuple[float, ...] = ()
    tag: str = ""

    @property
    def cost(self) -> float:
        """`sum / length^0.75`, 0 for a path without edges."""
        return sum(self.costs) / len(self.costs) ** PATH_LENGTH_EXPONENT if self.costs else 0.0

    def extend(self, edge: int, vertex: int, cost: float) -> Path:
        """This path and one edge more."""
        return Path((*self.vertices, vertex), (*self.edges, edge), (*self.costs, cost), self.tag)


@dataclass(frozen=True, slots=True)
class Visited:
    """What a walk remembers of a vertex: the cheapest path there, the depth at which it was met first, and what became
    of it. Nothing that was visited is forgotten: what a beam dropped can still be brought back."""

    path: Path
    status: Status
    depth: int


@dataclass(frozen=True, slots=True)
class Walk:
    """What a traverser reached: a score for every episode (n,) and object (m,), 0 where it never came; the paths it
    chose, best first; all it saw, by node id; and the edges of what it chose, best first. `votes`: scores (n,) in
    [0, 1] by which the ranking is to be mixed, and their share of it."""

    episodes: Floats
    objects: Floats
    paths: tuple[Path, ...] = ()
    visit: Mapping[int, Visited] = field(default_factory=dict)
    edges: tuple[int, ...] = ()
    votes: tuple[Floats, float] | None = None


def top_k(scores: Floats, allowed: Bools, k: int) -> Ints:
    """Top-k selection: rows of the `k` best allowed episodes that scored at all, best first; ties by row."""
    candidates = np.flatnonzero(allowed & (scores > 0))
    if len(candidates) > 4 * k:
        top = np.argpartition(-scores[candidates], 4 * k)[: 4 * k]
        floor = scores[candidates[top]].min()
        candidates = candidates[scores[candidates] >= floor]
    order = np.lexsort((candidates, -scores[candidates]))
    rows: Ints = candidates[order[:k]]
    return rows
