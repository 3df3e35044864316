"""Learning from one question: credit goes to the edges that led to the passages its answer used.

Cited and collected passages were useful. Each gets the whole path from the objects in the question, on all branches:
ReMindRAG's code confirms only the first branch of a vertex and penalises the others. Spread does not record its paths,
so they are searched here afterwards: paths of at most three edges without hubs.

`update_slots` is the only place where an edge learns, both during a question (`reinforce_edges`) and in
`memory.edge_memory.rebuild`, so both give bit-identical results."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from memory.edge_memory import edges
from memory.edge_memory.edges import EdgeMemory, Vector
from memory.graph.arrays import Floats, Ids
from memory.graph.postings import flatten_slices
from memory.graph.walk import Neighbours, Walkable
from memory.protocols import Vectors
from memory.store import edge_memory, queries
from memory.store.connect import FIRST_EDGE, Connection
from memory.store.edge_memory import Role, Slots
from memory.store.graph import EDGE_KINDS

MOST_EDGES = 1000  # a vertex with more edges is a hub, through which a path means nothing
ASSERTS = EDGE_KINDS.index("asserts")
NOTHING_REPLAYED: Mapping[int, float] = MappingProxyType({})


class Credit(NamedTuple):
    """What edges learn. `grounded`: whether citations are learned. `cited`: edges on the way to something useful ->
    maximum number of slots; `read`, `unread`: episodes whose text was useful, or was seen and useless; `penalised`:
    edge -> rho; `replayed`: edge -> activation; `shown`: edges on the way to all shown passages; `expanded`: edges that
    a model chose; `in_vain`: whether there is no answer, or none of a model that is proved."""

    grounded: bool
    cited: Mapping[int, int]
    read: tuple[int, ...]
    unread: tuple[int, ...]
    penalised: Mapping[int, float]
    replayed: Mapping[int, float]
    shown: tuple[int, ...]
    expanded: tuple[int, ...]
    in_vain: bool = False


def assign_credit(
    walk: Walkable,
    *,
    grounded: bool,
    no_answer: bool = False,
    named: Iterable[int] = (),
    starts: Iterable[int] = (),
    shown: Iterable[int] = (),
    useful: Iterable[int] = (),
    facts: Iterable[int] = (),
    replayed: Mapping[int, float] = NOTHING_REPLAYED,
    expanded: tuple[int, ...] = (),
) -> Credit:
    """The credit of a question. `walk`: the graph of the question; `grounded`: its citations prove every sentence of
    the answer. In node ids: `named`, the objects in the question; `starts`, the first episodes of text search, best
    first; `shown`, the episodes shown to the answerer; `useful`, those cited or collected; `facts`, ids of cited facts;
    `replayed`, edges followed from memory with their activation; `expanded`, edges that a model chose.

    A refusal and an ungrounded answer enhance nothing; a refusal after a replay penalises the replayed edges. Edges to
    useless passages of a grounded answer are penalised."""
    if no_answer:
        wrong = dict.fromkeys(replayed, edges.REPLAYED)
        return Credit(False, {}, (), (), wrong, replayed, (), expanded, in_vain=True)
    ways = _PathFinder(walk, named, starts)
    seen = [episode for episode in dict.fromkeys(useful) if walk.visible(episode)]
    cited: dict[int, int] = {}
    for episode in seen:
        cited |= ways.edges_to(episode)
    for fact in facts:
        cited |= ways.find_fact_edges(fact)
    unread = tuple(sorted({episode for episode in shown if walk.visible(episode)} - set(seen)))
    in_view = {edge for episode in unread for edge in ways.edges_to(episode)} | set(expanded) | set(cited)
    penalised = dict.fromkeys(sorted(in_view - cited.keys()), edges.SHOWN) if grounded else {}
    return Credit(grounded, cited, tuple(sorted(seen)), unread, penalised, replayed, tuple(sorted(in_view)), expanded)


_Edges = tuple[Ids, Ids, Ids]
"""Edges around the starting points (e,), by the vertex they lead to: those vertices, the edges, the starting points."""

_CostedPath = tuple[float, tuple[int, ...], tuple[int, ...]]
"""A path, seen from its end: what it costs, its edges from the start on, its vertices back to the start."""


class _PathFinder:
    """Paths from the objects of a question, or if there are none, from its first episodes."""

    def __init__(self, walk: Walkable, named: Iterable[int], starts: Iterable[int]) -> None:
        self._walk = walk
        self._from = [[seed for seed in dict.fromkeys(seeds) if walk.visible(seed)] for seeds in (named, starts)]
        self._near: dict[int, _Edges] = {}
        self._found: dict[int, dict[int, int]] = {}

    def edges_to(self, goal: int) -> dict[int, int]:
        """Returns {edge on a path to a vertex: maximum number of slots}."""
        if goal not in self._found:
            tried = (self._find_paths(number, goal) for number in range(len(self._from)))
            ways = next(filter(None, tried), [])
            self._found[goal] = {edge: self._count_slots(vertices) for way, vertices in ways for edge in way}
        return self._found[goal]

    def find_fact_edges(self, fact: int) -> dict[int, int]:
        """Returns {edge of a fact, or on a path to it: maximum number of slots}; empty for an invisible relation."""
        if fact < FIRST_EDGE:
            if not self._walk.visible(fact):
                return {}
            around = self._walk.neighbours(fact)
            asserting = around.edges[around.kinds == ASSERTS].tolist()
            return self.edges_to(fact) | dict.fromkeys(asserting, edges.SLOTS)
        ends = self._walk.graph.links.ends(fact)
        if ends is None or not self._walk.sees_link(fact):
            return {}
        starts = {seed for seeds in self._from for seed in seeds}
        way: dict[int, int] = {}
        if not starts & set(ends):
            way = min((self.edges_to(end) for end in ends), key=lambda path: (not path, len(path), sorted(path)))
        return way | {fact: self._count_slots(ends)}

    def _count_slots(self, vertices: Iterable[int]) -> int:
        crowded = any(len(self._walk.neighbours(vertex).edges) > edges.HUB_DEGREE for vertex in vertices)
        return edges.HUB_SLOTS if crowded else edges.SLOTS

    def _find_paths(self, number: int, goal: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Returns [(edges, vertices)] of all paths of one edge, else of the cheapest of two edges, else of three."""
        seeds = self._from[number]
        others = [seed for seed in seeds if seed != goal]
        if not others:
            return []
        around = self._walk.neighbours(goal)
        direct = np.isin(around.vertices, others)
        if direct.any():
            pairs = zip(around.edges[direct].tolist(), around.vertices[direct].tolist(), strict=True)
            return [((edge,), (goal, vertex)) for edge, vertex in pairs]
        near = self._list_edges_at_starts(number)
        shortest = self._join_paths(near, around, goal)
        if shortest is None:
            longer: list[_CostedPath] = []
            for edge, vertex in zip(around.edges.tolist(), around.vertices.tolist(), strict=True):
                rest = self._join_paths(near, self._walk.neighbours(vertex), goal) if self._may_pass(vertex) else None
                if rest is not None:
                    cost = rest[0] + float(self._find_costs(np.array([vertex], np.int32))[0])
                    longer.append((cost, (*rest[1], edge), (vertex, *rest[2])))
            shortest = min(longer, default=None)
        return [(shortest[1], (goal, *shortest[2]))] if shortest is not None else []

    def _join_paths(self, near: _Edges, around: Neighbours, goal: int) -> _CostedPath | None:
        """Returns the cheapest path of two edges from one of `around` to a start, or None."""
        vertices, edges, seeds = near
        begin = np.searchsorted(vertices, around.vertices)
        count = np.searchsorted(vertices, around.vertices, side="right") - begin
        positions, met = flatten_slices(begin, np.where(around.vertices == goal, 0, count))
        positions, met = positions[seeds[met] != goal], met[seeds[met] != goal]
        cost = self._find_costs(around.vertices)[positions] + self._find_costs(seeds)[met]
        for place in np.lexsort((around.edges[positions], edges[met], cost)).tolist():
            first, last = int(positions[place]), int(met[place])
            vertex = int(around.vertices[first])
            if self._may_pass(vertex):
                way = int(edges[last]), int(around.edges[first])
                return float(cost[place]), way, (vertex, int(seeds[last]))
        return None

    def _may_pass(self, vertex: int) -> bool:
        return len(self._walk.neighbours(vertex).edges) <= MOST_EDGES

    def _list_edges_at_starts(self, number: int) -> _Edges:
        if number not in self._near:  # once for all goals; a goal may be a start
            seeds = self._from[number]
            parts = [(seed, self._walk.neighbours(seed)) for seed in seeds]
            vertices = np.concatenate([near.vertices for _, near in parts])
            order = np.argsort(vertices, kind="stable")
            of_seeds = np.repeat(np.array(seeds, np.int32), [len(near.edges) for _, near in parts])
            edges = np.concatenate([near.edges for _, near in parts])
            self._near[number] = vertices[order], edges[order], of_seeds[order]
        return self._near[number]

    def _find_costs(self, vertices: Ids) -> Floats:
        """(v,) the cost of passing through each; higher for hubs."""
        costs: Floats = -np.log(self._walk.penalties(vertices))
        return costs


def update_slots(
    slots: Slots,
    key: Vector,
    roles: Mapping[Role, float],
    feedback: int | None,
    now: int,
    rejected: Iterable[Vector] = (),
) -> Slots:
    """The slots of an edge after one question. `roles`: the effects of the question on the edge with their parameters
    (`edge_memory.note`); `feedback`: the person's verdict, 1, -1 or None; `now` in ms UTC; `rejected`: keys of earlier
    questions with rejected answers (`rejected_keys`).

    An answer judged right counts twice, grounded or not; one judged wrong removes all activation of the edges that led
    to it. These do not learn a question of the same intent by themselves again."""
    if feedback == -1 and ("enhanced" in roles or "cited" in roles):
        slots = edges.penalise(slots, key, edges.REJECTED, now)
    elif feedback is None and "enhanced" in roles and any(float(bad @ key) >= edges.SAME_INTENT for bad in rejected):
        return slots
    elif "enhanced" in roles or (feedback == 1 and "cited" in roles):
        most = int(roles.get("enhanced") or roles["cited"])
        for _ in range(2 if feedback == 1 and "enhanced" in roles else 1):
            slots = edges.reinforce(slots, key, most, now)
    elif "penalised" in roles:
        slots = edges.penalise(slots, key, roles["penalised"], now)
    return edges.to_float16(slots)


def rejected_keys(judged: Iterable[tuple[Vector, int]]) -> list[Vector]:
    """Returns the keys of the questions whose last verdict for an edge is bad. `judged`: (key, verdict 1 or -1) of its
    answers in chronological order."""
    bad_keys: list[Vector] = []
    for key, verdict in judged:
        if verdict < 0:
            bad_keys.append(key)
        else:
            bad_keys = [other for other in bad_keys if float(other @ key) < edges.SAME_INTENT]
    return bad_keys


def reinforce_edges(
    conn: Connection, remembered: EdgeMemory, embedder_id: int, trace_id: int, query: Vectors, credit: Credit, now: int
) -> EdgeMemory:
    """Learns from a question and records its effects; returns the new edge memory. `query` (d,) is its vector. Call in
    the transaction that stores its trace, with the trace's time `now` (ms UTC), and use the result only after the
    commit."""
    queries.put(conn, embedder_id, trace_id, query)
    rows = _list_effects(conn, credit, now)
    ends = edge_memory.ends(conn, {edge for edge, _, _ in rows})
    rows = [row for row in rows if row[0] in ends]
    edge_memory.note(conn, trace_id, rows)
    key = remembered.key(query)
    if key is None:
        return remembered
    roles: dict[int, dict[Role, float]] = {}
    for edge, role, given in rows:
        if role in ("cited", "enhanced", "penalised"):
            roles.setdefault(edge, {})[role] = float(given or 0)
    slots_of = edge_memory.slots(conn, embedder_id, remembered.dimension, roles)
    judged = edge_memory.list_verdicts(conn, [edge for edge, what in roles.items() if "enhanced" in what])
    asked = sorted({trace for of_edge in judged.values() for trace, _ in of_edge})
    key_of = edges.keys_of_traces(conn, embedder_id, remembered.dimension, asked, remembered.center)
    changed = {}
    for edge, what in roles.items():
        before = slots_of.get(edge, Slots.none(remembered.dimension))
        wrong = rejected_keys((key_of[trace], verdict) for trace, verdict in judged.get(edge, ()) if trace in key_of)
        after = update_slots(before, key, what, None, now, wrong)
        if not same(before, after):
            changed[edge] = after
    edge_memory.put(conn, embedder_id, changed)
    remembered = remembered.with_changes(changed, ends)
    if any(role == "enhanced" for _, role, _ in rows):
        return remembered.with_answer(trace_id, key)
    return remembered.add_unanswered(key) if credit.in_vain else remembered


def _list_effects(conn: Connection, credit: Credit, now: int) -> list[tuple[int, Role, float | None]]:
    """Returns (edge, role, parameter) of the question's effects. "Reading helped" is learned on an `open` edge, created
    if missing."""
    read = edge_memory.open_edges(conn, credit.read, now)
    unread = edge_memory.openings(conn, credit.unread)
    cited = {**credit.cited, **dict.fromkeys(read.values(), edges.SLOTS)}
    penalised = {**credit.penalised}
    if credit.grounded:
        penalised |= dict.fromkeys(unread.values(), edges.SHOWN)
    return [
        *((edge, "replayed", strength) for edge, strength in credit.replayed.items()),
        *((edge, "expanded", None) for edge in credit.expanded),
        *((edge, "shown", None) for edge in {*credit.shown, *read.values(), *unread.values()}),
        *((edge, "cited", most) for edge, most in cited.items()),
        *((edge, "enhanced", most) for edge, most in cited.items() if credit.grounded),
        *((edge, "penalised", rho) for edge, rho in penalised.items()),
    ]


def same(slots: Slots, other: Slots) -> bool:
    """Whether two slots are bit-identical."""
    return slots.vectors.tobytes() == other.vectors.tobytes() and all(
        np.array_equal(mine, theirs) for mine, theirs in zip(slots[1:], other[1:], strict=True)
    )
