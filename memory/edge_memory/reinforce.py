"""Learning from one question: credit goes to the edges that led to what its answer used, and these are reinforced.

What an answer cites was useful, as is what was collected for it; nobody else is asked. Every useful thing gets the
whole way from what the question named, on all branches: ReMindRAG's code confirms the first branch of a vertex only and
punishes the others. No stage keeps the ways by which spread found something, so they are looked up here, where the
question is over: ways of at most three edges that pass through no hub.

`update_slots` is the one place where an edge learns. What happens with a question (`reinforce_edges`), and what
`memory.edge_memory.rebuild` makes anew from the traces, both go through it, so they come to the same, bit by bit.
"""

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
from memory.store.connect import Connection
from memory.store.edge_memory import Role, Slots
from memory.store.graph import EDGE_KINDS
from memory.store.rows import FIRST_EDGE

MOST_EDGES = 1000  # a vertex with more is no way: what passes through it says nothing
ASSERTS = EDGE_KINDS.index("asserts")
NOTHING_REPLAYED: Mapping[int, float] = MappingProxyType({})


class Credit(NamedTuple):
    """What is to be learnt of edges. `grounded`: whether what was cited is to be remembered. `cited`: the edges on the
    way to something useful -> how many slots each may have; `read`, `unread`: the episodes whose text was useful, or
    was seen and was not; `penalised`: edge -> rho; `replayed`: edge -> how strongly it fired; `shown`: the edges on the
    way to all that was shown; `expanded`: those that a model chose."""

    grounded: bool
    cited: Mapping[int, int]
    read: tuple[int, ...]
    unread: tuple[int, ...]
    penalised: Mapping[int, float]
    replayed: Mapping[int, float]
    shown: tuple[int, ...]
    expanded: tuple[int, ...]


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
    """What a question teaches. `walk`: the graph as the question might walk it; `grounded`: every sentence of the
    answer is proved by what it cites. What it used, in node ids: `named` are the objects that it names; `starts` the
    episodes that the text alone began with, the best first; `shown` the episodes that whoever answered got to see;
    `useful` those that were cited or collected; `facts` the ids of those that were cited; `replayed` the edges that
    were followed from memory, and how strongly each fired; `expanded` the edges that a model chose to follow.

    A refusal, or an answer that is not grounded, enhances nothing; a refusal after a replay penalises what was
    replayed. What was shown with a grounded answer and led to nothing useful is penalised.
    """
    if no_answer:
        wrong = dict.fromkeys(replayed, edges.REPLAYED)
        return Credit(False, {}, (), (), wrong, replayed, (), expanded)
    ways = _PathFinder(walk, named, starts)
    seen = [episode for episode in dict.fromkeys(useful) if walk.visible(episode)]
    cited: dict[int, int] = {}
    for episode in seen:
        cited |= ways.edges_to(episode)
    for fact in facts:
        cited |= ways.of_fact(fact)
    unread = tuple(sorted({episode for episode in shown if walk.visible(episode)} - set(seen)))
    in_view = {edge for episode in unread for edge in ways.edges_to(episode)} | set(expanded) | set(cited)
    penalised = dict.fromkeys(sorted(in_view - cited.keys()), edges.SHOWN) if grounded else {}
    return Credit(grounded, cited, tuple(sorted(seen)), unread, penalised, replayed, tuple(sorted(in_view)), expanded)


_Edges = tuple[Ids, Ids, Ids]
"""Edges around the starting points (e,), by the vertex they lead to: those vertices, the edges, the starting points."""

_CostedPath = tuple[float, tuple[int, ...], tuple[int, ...]]
"""A path, seen from its end: what it costs, its edges from the start on, its vertices back to the start."""


class _PathFinder:
    """Ways from what a question named, or if there is none from where its text began."""

    def __init__(self, walk: Walkable, named: Iterable[int], starts: Iterable[int]) -> None:
        self._walk = walk
        self._from = [[seed for seed in dict.fromkeys(seeds) if walk.visible(seed)] for seeds in (named, starts)]
        self._near: dict[int, _Edges] = {}
        self._found: dict[int, dict[int, int]] = {}

    def edges_to(self, goal: int) -> dict[int, int]:
        """The edges of the ways to a vertex -> how many slots each may have."""
        if goal not in self._found:
            tried = (self._ways(number, goal) for number in range(len(self._from)))
            ways = next(filter(None, tried), [])
            self._found[goal] = {edge: self._slots(vertices) for way, vertices in ways for edge in way}
        return self._found[goal]

    def of_fact(self, fact: int) -> dict[int, int]:
        """The edges that make up a fact, and the ways there; nothing of a relation that may not be seen."""
        if fact < FIRST_EDGE:
            if not self._walk.visible(fact):
                return {}
            around = self._walk.neighbours(fact)
            told = around.edges[around.kinds == ASSERTS].tolist()
            return self.edges_to(fact) | dict.fromkeys(told, edges.SLOTS)
        ends = self._walk.graph.links.ends(fact)
        if ends is None or not self._walk.sees_link(fact):
            return {}
        starts = {seed for seeds in self._from for seed in seeds}
        way: dict[int, int] = {}
        if not starts & set(ends):
            way = min((self.edges_to(end) for end in ends), key=lambda one: (not one, len(one), sorted(one)))
        return way | {fact: self._slots(ends)}

    def _slots(self, vertices: Iterable[int]) -> int:
        crowded = any(len(self._walk.neighbours(vertex).edges) > edges.HUB_DEGREE for vertex in vertices)
        return edges.HUB_SLOTS if crowded else edges.SLOTS

    def _ways(self, number: int, goal: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(edges, vertices) of every way of one edge; without any of the cheapest of two edges, or of three."""
        seeds = self._from[number]
        others = [seed for seed in seeds if seed != goal]
        if not others or (number == 0 and goal in seeds):
            return []
        around = self._walk.neighbours(goal)
        direct = np.isin(around.vertices, others)
        if direct.any():
            pairs = zip(around.edges[direct].tolist(), around.vertices[direct].tolist(), strict=True)
            return [((edge,), (goal, vertex)) for edge, vertex in pairs]
        near = self._around(number)
        shortest = self._join(near, around, goal)
        if shortest is None:
            longer: list[_CostedPath] = []
            for edge, vertex in zip(around.edges.tolist(), around.vertices.tolist(), strict=True):
                rest = self._join(near, self._walk.neighbours(vertex), goal) if self._may_pass(vertex) else None
                if rest is not None:
                    cost = rest[0] + float(self._costs(np.array([vertex], np.int32))[0])
                    longer.append((cost, (*rest[1], edge), (vertex, *rest[2])))
            shortest = min(longer, default=None)
        return [(shortest[1], (goal, *shortest[2]))] if shortest is not None else []

    def _join(self, near: _Edges, around: Neighbours, goal: int) -> _CostedPath | None:
        """The cheapest path of two edges that begins with one of `around` and ends at a start, if there is one."""
        vertices, edges, seeds = near
        begin = np.searchsorted(vertices, around.vertices)
        count = np.searchsorted(vertices, around.vertices, side="right") - begin
        of, met = flatten_slices(begin, np.where(around.vertices == goal, 0, count))
        of, met = of[seeds[met] != goal], met[seeds[met] != goal]
        cost = self._costs(around.vertices)[of] + self._costs(seeds)[met]
        for place in np.lexsort((around.edges[of], edges[met], cost)).tolist():
            first, last = int(of[place]), int(met[place])
            vertex = int(around.vertices[first])
            if self._may_pass(vertex):
                way = int(edges[last]), int(around.edges[first])
                return float(cost[place]), way, (vertex, int(seeds[last]))
        return None

    def _may_pass(self, vertex: int) -> bool:
        return len(self._walk.neighbours(vertex).edges) <= MOST_EDGES

    def _around(self, number: int) -> _Edges:
        if number not in self._near:  # once for all goals, one of which may itself be a start
            seeds = self._from[number]
            parts = [(seed, self._walk.neighbours(seed)) for seed in seeds]
            vertices = np.concatenate([near.vertices for _, near in parts])
            order = np.argsort(vertices, kind="stable")
            of_seeds = np.repeat(np.array(seeds, np.int32), [len(near.edges) for _, near in parts])
            edges = np.concatenate([near.edges for _, near in parts])
            self._near[number] = vertices[order], edges[order], of_seeds[order]
        return self._near[number]

    def _costs(self, vertices: Ids) -> Floats:
        """(v,) what passing through each costs: a hub says less."""
        found: Floats = -np.log(self._walk.penalties(vertices))
        return found


def update_slots(
    held: Slots,
    key: Vector,
    roles: Mapping[Role, float],
    feedback: int | None,
    now: int,
    rejected: Iterable[Vector] = (),
) -> Slots:
    """What an edge remembers after one question. `roles`: what the question did to the edge, with what it takes to
    learn it (`edge_memory.note`); `feedback`: what the person said of the answer, 1, -1 or None; `now` in ms UTC;
    `rejected`: the keys of the earlier questions that it may lead to nothing for (`rejected_keys`).

    An answer that a person calls right counts twice, and even if nothing else was sure of it; of one they call wrong,
    the edges that led to it lose all that fires. Nor do they learn that again by themselves: of a question with the
    same intent so much would be taken away that it does not fire.
    """
    if feedback == -1 and ("enhanced" in roles or "cited" in roles):
        held = edges.penalise(held, key, edges.REJECTED, now)
    elif feedback is None and "enhanced" in roles and any(float(one @ key) >= edges.SAME_INTENT for one in rejected):
        return held
    elif "enhanced" in roles or (feedback == 1 and "cited" in roles):
        most = int(roles.get("enhanced") or roles["cited"])
        for _ in range(2 if feedback == 1 and "enhanced" in roles else 1):
            held = edges.reinforce(held, key, most, now)
    elif "penalised" in roles:
        held = edges.penalise(held, key, roles["penalised"], now)
    return edges.to_float16(held)


def rejected_keys(judged: Iterable[tuple[Vector, int]]) -> list[Vector]:
    """The keys of the questions for which an edge leads to nothing, by a person's last word. `judged`: key and verdict
    (1, -1) of the answers that it led to, in the order in which they were asked."""
    found: list[Vector] = []
    for key, verdict in judged:
        if verdict < 0:
            found.append(key)
        else:
            found = [one for one in found if float(one @ key) < edges.SAME_INTENT]
    return found


def reinforce_edges(
    conn: Connection, remembered: EdgeMemory, embedder_id: int, trace_id: int, query: Vectors, credit: Credit, now: int
) -> EdgeMemory:
    """Learns from a question and notes what it did to edges; what is remembered then. `query` (d,) is its vector. Call
    in the transaction that stores its trace, with the trace's own time `now` (ms UTC), and serve the result only once
    that has been kept."""
    queries.put(conn, embedder_id, trace_id, query)
    rows = _rows(conn, credit, now)
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
    held = edge_memory.slots(conn, embedder_id, remembered.dimension, roles)
    judged = edge_memory.list_verdicts(conn, [edge for edge, what in roles.items() if "enhanced" in what])
    asked = sorted({trace for of_edge in judged.values() for trace, _ in of_edge})
    said = edges.keys_of_traces(conn, embedder_id, remembered.dimension, asked, remembered.center)
    changed = {}
    for edge, what in roles.items():
        before = held.get(edge, Slots.none(remembered.dimension))
        wrong = rejected_keys((said[trace], verdict) for trace, verdict in judged.get(edge, ()) if trace in said)
        after = update_slots(before, key, what, None, now, wrong)
        if not same(before, after):
            changed[edge] = after
    edge_memory.put(conn, embedder_id, changed)
    remembered = remembered.with_changes(changed, ends)
    return remembered.with_answered(trace_id, key) if any(role == "enhanced" for _, role, _ in rows) else remembered


def _rows(conn: Connection, credit: Credit, now: int) -> list[tuple[int, Role, float | None]]:
    """What the question did to edges, and with what. That reading helped is learnt on an edge that may be new."""
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


def same(one: Slots, other: Slots) -> bool:
    """Whether two edges remember the same, bit by bit."""
    return one.vectors.tobytes() == other.vectors.tobytes() and all(
        np.array_equal(mine, theirs) for mine, theirs in zip(one[1:], other[1:], strict=True)
    )
