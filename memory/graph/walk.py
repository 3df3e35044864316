"""Walking the graph without SQL: neighbours of any vertex by node id, paths, and results of a walk.

A `Walkable` belongs to one question and never returns what the question may not see: episodes or theses outside
`allowed`, facts not valid at its moment, objects mentioned only there, and kinds of vertex that may not be entered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from memory.errors import InvalidInputError
from memory.graph.arrays import NO_END, NO_TIME, Bools, Codes, Floats, Graph, Ids, Ints
from memory.graph.postings import SparseRows
from memory.store.graph import EDGE_KINDS, EdgeKind

EPISODE, THESIS, OBJECT = 0, 1, 2
VERTEX_KINDS = "ETO"
MIN_HUB_EDGES = 16  # with fewer edges a vertex is never a hub
HUB_FACTOR = 4  # times the median degree of its kind
PATH_LENGTH_EXPONENT = 0.75  # of the length in a path's cost; below 1: shorter paths win
MIN_RELEVANCE = 0.02  # lower relevances make no difference: a cost of 3.9


class Neighbours(NamedTuple):
    """The edges of a vertex sorted by id: edge ids, indices of EDGE_KINDS, node ids of the other ends; equal
    lengths."""

    edges: Ids
    kinds: Codes
    vertices: Ids


class Moment(NamedTuple):
    """When facts must be valid, in ms UTC: begun by `begun_by`, ending after `ends_after`."""

    begun_by: int
    ends_after: int

    def covers(self, start: int | None, end: int | None) -> bool:
        """Whether a validity [start, end) covers the moment; None is unbounded."""
        return (start is None or start <= self.begun_by) and (end is None or end > self.ends_after)


ANY_TIME = Moment(NO_END, NO_TIME)

Relevance = Callable[[Ids], Floats]
"""Node ids (v,) of any kind -> how well each fits the question (v,), in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Index:
    """The reverse index of a Graph, built once. `kinds`, `rows` by node id: EPISODE, THESIS or OBJECT (-1: unknown) and
    the row or column. `mentioned` (m, n) and `in_theses` (m, t), with edge ids as entries; `asserted` (n, t), with
    thesis rows as entries. `link_ends` (2l,) sorted node ids and `link_places` (2l,) their links. `penalties` by node
    id: 1, less for hubs."""

    kinds: Codes
    rows: Ids
    mentioned: SparseRows
    in_theses: SparseRows
    asserted: SparseRows
    link_ends: Ids
    link_places: Ids
    penalties: Floats


def index(graph: Graph) -> Index:
    """Returns the cached index of a graph."""
    return graph.derive("index", _make_index)


def _make_index(graph: Graph) -> Index:
    theses, links = graph.theses, graph.links
    size = 1 + max(int(ids.max(initial=0)) for ids in (graph.episode_ids, theses.ids, graph.object_ids))
    kinds, rows = np.full(size, -1, np.int8), np.zeros(size, np.int32)
    for kind, ids in ((EPISODE, graph.episode_ids), (THESIS, theses.ids), (OBJECT, graph.object_ids)):
        kinds[ids] = kind
        rows[ids] = np.arange(len(ids))  # of two rows of an episode the later one is live
    count = len(theses.ids)
    numbers = np.arange(count + 1, dtype=np.int32)
    asserted = SparseRows(numbers[:count], theses.rows, numbers, (count, len(graph.alive)))
    ends = np.concatenate([links.src, links.dst])
    order = np.argsort(ends, kind="stable")
    mentioned = replace(graph.counts, data=graph.mention_ids)
    columns = mentioned.transpose(), theses.members.transpose(), asserted.transpose()
    places = (order % max(1, len(links.ids))).astype(np.int32)
    return Index(kinds, rows, *columns, ends[order], places, _compute_penalties(graph, size, ends))


def _compute_penalties(graph: Graph, size: int, link_ends: Ids) -> Floats:
    theses = graph.theses
    is_alive = graph.alive[theses.rows].astype(np.float32)
    members = np.diff(theses.members.indptr)
    in_theses = np.bincount(theses.members.indices, np.repeat(is_alive, members), len(graph.object_ids))
    asserts = np.bincount(theses.rows, minlength=len(graph.alive))
    links = np.bincount(link_ends, minlength=size)
    penalties = np.ones(size, np.float32)
    for ids, degree in (
        (graph.episode_ids, (np.diff(graph.counts.indptr) + asserts) * graph.alive),
        (theses.ids, (members + 1) * is_alive),
        (graph.object_ids, graph.document_frequency + in_theses),
    ):
        whole = degree + links[ids]
        if len(whole) and whole.any():
            ordinary = max(MIN_HUB_EDGES, HUB_FACTOR * float(np.median(whole[whole > 0])))
            penalties[ids] = 1 / (1 + np.maximum(0, np.log2(np.maximum(whole, 1) / ordinary)))
    return penalties


def enterable(enter: str) -> set[int]:
    """The kinds of vertex that letters allow to enter, whatever their case. Raises InvalidInputError for others."""
    if not set(enter.upper()) <= set(VERTEX_KINDS):
        raise InvalidInputError(f"{enter[:20]!r} names no kinds of vertex. Use the letters E, T and O, or e, t and o.")
    return {VERTEX_KINDS.index(kind) for kind in enter.upper()}


class Walkable:
    """A graph as one question may walk it; vertices are node ids. `allowed` (n,): the visible episodes. `enter`: the
    kinds of vertex that may be entered, "E", "T" and "O"; a small letter allows it only as the end of a path. Starts
    are not restricted. `hub_penalty` false ignores hubs. Raises InvalidInputError for other letters."""

    def __init__(
        self, graph: Graph, allowed: Bools, enter: str = VERTEX_KINDS, when: Moment = ANY_TIME, hub_penalty: bool = True
    ) -> None:
        self.graph = graph
        self._index = index(graph)
        self.allowed = allowed & graph.alive
        self._when = when
        self._hub_penalty = hub_penalty
        self._may_enter = np.isin(np.arange(len(VERTEX_KINDS)), [*enterable(enter)])
        self._may_leave = [kind not in enter for kind in VERTEX_KINDS.lower()]
        self._known: dict[int, Neighbours] = {}
        self._spoken_of: dict[int, bool] = {}

    def kinds(self, vertices: Sequence[int] | Ids) -> Codes:
        """(v,) EPISODE, THESIS or OBJECT."""
        codes: Codes = self._index.kinds[np.asarray(vertices, np.int64)]
        return codes

    def rows(self, vertices: Sequence[int] | Ids) -> Ids:
        """(v,) the row of an episode or thesis, the column of an object."""
        places: Ids = self._index.rows[np.asarray(vertices, np.int64)]
        return places

    def episodes_of(self, vertices: Sequence[int] | Ids) -> Ids:
        """(v,) the row of the episode, or of the episode that asserts the thesis; -1 for an object."""
        kinds, rows = self.kinds(vertices), self.rows(vertices)
        episode_rows = np.full(len(rows), -1, np.int32)
        episode_rows[kinds == EPISODE] = rows[kinds == EPISODE]
        episode_rows[kinds == THESIS] = self.graph.theses.rows[rows[kinds == THESIS]]
        return episode_rows

    def penalties(self, vertices: Sequence[int] | Ids) -> Floats:
        """(v,) pen(n) in (0, 1]: less than 1 for hubs, if penalised."""
        if not self._hub_penalty:
            return np.ones(len(vertices), np.float32)
        values: Floats = self._index.penalties[np.asarray(vertices, np.int64)]
        return values

    def visible(self, vertex: int) -> bool:
        """Whether the question may see the vertex, of any kind."""
        if not 0 <= vertex < len(self._index.kinds):
            return False
        kind, row = int(self._index.kinds[vertex]), int(self._index.rows[vertex])
        if kind == EPISODE:
            return bool(self.allowed[row])
        if kind == THESIS:
            return bool(self._find_seen_theses(np.array([row]))[0])
        return kind == OBJECT and self._is_object_seen(row)

    def may_leave(self, vertex: int) -> bool:
        """Whether paths continue from the vertex if it is no start."""
        return self._may_leave[int(self._index.kinds[vertex])]

    def neighbours(self, vertex: int) -> Neighbours:
        """Returns the edges that may be followed from a vertex, by edge id; none if paths end there."""
        if vertex not in self._known:
            self._known[vertex] = self._list_neighbours(vertex)
        return self._known[vertex]

    def follows(self, edge: int, vertex: int, other: int) -> bool:
        """Whether the edge between these vertices may be followed. Cheap, even for hubs."""
        if not (self.visible(vertex) and self.visible(other)):
            return False
        kinds = self.kinds([vertex, other])
        if (kinds == OBJECT).all():
            return self._may_enter[OBJECT] and self.sees_link(edge)
        few = vertex if kinds[0] != OBJECT else other  # a passage or a thesis has few edges
        return bool((self.neighbours(few).edges == edge).any())

    def sees_link(self, edge: int) -> bool:
        """Whether a link of two objects is valid and has visible evidence. An object mentioned nowhere else, such as a
        date or amount, is not walked to."""
        links = self.graph.links
        place = int(np.searchsorted(links.ids, edge))
        if place == len(links.ids) or links.ids[place] != edge:
            return False
        within = links.valid_from[place] <= self._when.begun_by and links.valid_to[place] > self._when.ends_after
        return bool(within) and self._has_evidence(edge)

    def edges_among(self, vertices: Iterable[int]) -> list[tuple[int, int, int]]:
        """Returns (edge, source, target) of the mentions and relations between these episodes and objects that may be
        followed, by id. Cheap, even for hubs."""
        vertex_ids = np.array(sorted(set(vertices)), np.int32)
        graph, links, edges = self.graph, self.graph.links, set()
        for vertex, kind, row in zip(vertex_ids, self.kinds(vertex_ids), self.rows(vertex_ids), strict=True):
            if kind == EPISODE and self.allowed[row]:
                entries = slice(*graph.counts.indptr[row : row + 2])
                objects = graph.object_ids[graph.counts.indices[entries]]
                joined = np.isin(objects, vertex_ids)
                pairs = zip(graph.mention_ids[entries][joined], objects[joined], strict=True)
                edges |= {(int(edge), int(vertex), int(other)) for edge, other in pairs if edge}
            elif kind == OBJECT and self._is_object_seen(int(row)):
                places = self._index.link_places[slice(*np.searchsorted(self._index.link_ends, [vertex, vertex + 1]))]
                joined = (links.src[places] == vertex) & np.isin(links.dst[places], vertex_ids)
                ends = zip(links.ids[places][joined], links.dst[places][joined], strict=True)
                edges |= {(int(edge), int(vertex), int(other)) for edge, other in ends if self.sees_link(int(edge))}
        return sorted(edges)

    def _list_neighbours(self, vertex: int) -> Neighbours:
        kind, row = int(self._index.kinds[vertex]), int(self._index.rows[vertex])
        if not self._may_leave[kind]:
            return _join_neighbours([])
        of_kind = {EPISODE: self._list_of_episode, THESIS: self._list_of_thesis, OBJECT: self._list_of_object}
        parts = [part for part in of_kind[kind](row) if len(part.edges)]
        if self._may_enter[EPISODE if kind == EPISODE else OBJECT]:
            parts += self._list_linked(vertex, kind)
        return _join_neighbours(parts)

    def _list_of_episode(self, row: int) -> list[Neighbours]:
        graph, parts = self.graph, []
        if self._may_enter[OBJECT]:
            entries = slice(*graph.counts.indptr[row : row + 2])
            parts.append(_pick(graph.mention_ids[entries], "mention", graph.object_ids[graph.counts.indices[entries]]))
        if self._may_enter[THESIS]:
            asserted = self._index.asserted
            theses = asserted.data[slice(*asserted.indptr[row : row + 2])]
            theses = theses[self._find_seen_theses(theses)]
            parts.append(_pick(graph.theses.asserts[theses], "asserts", graph.theses.ids[theses]))
        return parts

    def _list_of_thesis(self, row: int) -> list[Neighbours]:
        graph, parts = self.graph, []
        if self._may_enter[EPISODE] and self.allowed[graph.theses.rows[row]]:
            episode = graph.episode_ids[graph.theses.rows[row : row + 1]]
            parts.append(_pick(graph.theses.asserts[row : row + 1], "asserts", episode))
        if self._may_enter[OBJECT]:
            members = graph.theses.members
            entries = slice(*members.indptr[row : row + 2])
            parts.append(_pick(members.data[entries], "member", graph.object_ids[members.indices[entries]]))
        return parts

    def _list_of_object(self, column: int) -> list[Neighbours]:
        graph, parts = self.graph, []
        if self._may_enter[EPISODE]:
            mentioned = self._index.mentioned
            entries = slice(*mentioned.indptr[column : column + 2])
            seen = self.allowed[mentioned.indices[entries]]
            rows = mentioned.indices[entries][seen]
            parts.append(_pick(mentioned.data[entries][seen], "mention", graph.episode_ids[rows]))
        if self._may_enter[THESIS]:
            in_theses = self._index.in_theses
            entries = slice(*in_theses.indptr[column : column + 2])
            seen = self._find_seen_theses(in_theses.indices[entries])
            rows = in_theses.indices[entries][seen]
            parts.append(_pick(in_theses.data[entries][seen], "member", graph.theses.ids[rows]))
        return parts

    def _list_linked(self, vertex: int, kind: int) -> list[Neighbours]:
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
            seen[seen] = [self._is_object_seen(int(column)) for column in rows[seen]]
            seen[seen] = [self._has_evidence(int(id)) for id in links.ids[places[seen]]]
        return [Neighbours(links.ids[places[seen]], links.kinds[places[seen]], others[seen])]

    def _find_seen_theses(self, rows: Ids) -> Bools:
        theses = self.graph.theses
        seen: Bools = self.allowed[theses.rows[rows]]
        if self._when != ANY_TIME:
            seen = seen & (theses.valid_from[rows] <= self._when.begun_by)
            seen &= theses.valid_to[rows] > self._when.ends_after
        return seen

    def _is_object_seen(self, column: int) -> bool:
        """Whether a visible episode or thesis mentions the object."""
        if column not in self._spoken_of:
            mentioned, in_theses = self._index.mentioned, self._index.in_theses
            episodes = mentioned.indices[slice(*mentioned.indptr[column : column + 2])]
            theses = in_theses.indices[slice(*in_theses.indptr[column : column + 2])]
            self._spoken_of[column] = bool(self.allowed[episodes].any() or self._find_seen_theses(theses).any())
        return self._spoken_of[column]

    def _has_evidence(self, link: int) -> bool:
        """Whether a link has evidence in a visible episode; one without evidence is visible with its ends."""
        evidence = self.graph.links.evidence_of(link).tolist()
        return not evidence or any(map(self.visible, evidence))  # a retired one may have no row


def _pick(edges: Ids, kind: EdgeKind, vertices: Ids | Ints) -> Neighbours:
    return Neighbours(edges, np.full(len(edges), EDGE_KINDS.index(kind), np.int8), vertices.astype(np.int32))


def _join_neighbours(parts: list[Neighbours]) -> Neighbours:
    if not parts:
        return Neighbours(np.empty(0, np.int32), np.empty(0, np.int8), np.empty(0, np.int32))
    edges, kinds, vertices = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(edges, kind="stable")
    return Neighbours(edges[order], kinds[order], vertices[order])


@dataclass(frozen=True, slots=True)
class Path:
    """A path: node ids, edge ids between them, the cost of each edge, and the exponent of its length."""

    vertices: tuple[int, ...]
    edges: tuple[int, ...] = ()
    costs: tuple[float, ...] = ()
    alpha: float = PATH_LENGTH_EXPONENT

    @property
    def cost(self) -> float:
        """`sum / length^alpha`, 0 for a path without edges."""
        return sum(self.costs) / len(self.costs) ** self.alpha if self.costs else 0.0

    def extend(self, edge: int, vertex: int, cost: float) -> Path:
        """This path and one more edge."""
        return replace(self, vertices=(*self.vertices, vertex), edges=(*self.edges, edge), costs=(*self.costs, cost))


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a traverser: a score for every episode (n,) and object (m,), 0 if not reached. `votes`: scores (n,)
    in [0, 1] to mix into the ranking, and their share."""

    episodes: Floats
    objects: Floats
    votes: tuple[Floats, float] | None = None


def scale(scores: Floats) -> Floats:
    """(n,) >= 0 -> (n,) in [0, 1]: divided by the greatest; zeros stay."""
    scaled: Floats = scores / np.float32(max(1e-30, float(scores.max(initial=0.0))))
    return scaled


def top_k(scores: Floats, allowed: Bools, k: int) -> Ints:
    """Returns the rows of the `k` best allowed episodes with a score, best first; ties by row."""
    candidates = np.flatnonzero(allowed & (scores > 0))
    if len(candidates) > 4 * k:
        top = np.argpartition(-scores[candidates], 4 * k)[: 4 * k]
        floor = scores[candidates[top]].min()
        candidates = candidates[scores[candidates] >= floor]
    order = np.lexsort((candidates, -scores[candidates]))
    rows: Ints = candidates[order[:k]]
    return rows
