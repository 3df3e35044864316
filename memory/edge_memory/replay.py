"""Replay: what helped with such a question before is found again, before anything is searched.

After ReMindRAG (Hu et al. 2025): from the seeds, edges whose memory fires for the question are followed, with no model
and no look at what stands in the passages. Theirs is a search into the depth without an end; here the
strongest edge goes first and the number of vertices is limited. What is reached joins the seeds of the traversers; of
the passages among it those count as evidence whose reading helped before.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memory.edge_memory.activation import SAME, Activation, EdgeMemory
from memory.edge_memory.edges import ALPHA, Vector
from memory.graph.adjacency import EPISODE, Walkable
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import MIN_RELEVANCE, Path, Visited, top_k
from memory.store import queries
from memory.store.connect import Connection
from memory.store.queries import Earlier

NODES, DEPTH = 40, 6  # that a replay reaches at most, and the edges to the furthest
STARTS = 8  # best episodes of the text from which it starts, beside the objects named
TRIED = 10  # edges that may turn out not to be walkable, for each vertex that may be reached
APART = 0.20  # by how much others must be less alike (cosine) than the question that counts as this one in other words
OFFERED = 10  # of such questions, the most alike, are looked at


@dataclass(frozen=True)
class Replayed:
    """What memory brought. `visit`: what was reached, with the way there, starts included; `weights`: vertex -> how
    strongly it was reached, without the starts, in the order in which it was; `followed`: edge -> how strongly it
    fired; `read`: episode whose text helped before -> how much, the surest first; `fires`: all edges that fire, reached
    or not, for those who walk later."""

    visit: Mapping[int, Visited] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    followed: Mapping[int, float] = field(default_factory=dict)
    read: Mapping[int, float] = field(default_factory=dict)
    fires: Mapping[int, float] = field(default_factory=dict)

    @property
    def evidence(self) -> tuple[int, ...]:
        """The episodes whose text helped before, the surest first."""
        return tuple(self.read)


def replay_walk(
    walk: Walkable,
    starts: Iterable[int],
    fires: Activation,
    nodes: int = NODES,
    depth: int = DEPTH,
) -> Replayed:
    """What is reached from `starts` (node ids) over edges that fire and that the question may walk: the strongest
    m first, of equals the smaller id; at most `nodes` vertices, `depth` edges away.

    Deterministic; costs as much as it reaches, whatever else fires.
    """
    visit = {vertex: Visited(Path((vertex,), tag="replay"), "seed", 0) for vertex in _visible(walk, starts)}
    weights: dict[int, float] = {}
    followed: dict[int, float] = {}
    waiting: list[tuple[float, int, int, int]] = []  # -weight, vertex, edge, vertex before
    for vertex in visit:
        _look(waiting, vertex, fires)
    pops = nodes * TRIED
    while waiting and len(weights) < nodes and pops:
        pops -= 1
        negative, vertex, edge, before = heapq.heappop(waiting)
        if not walk.follows(edge, before, vertex):
            continue
        if vertex not in visit:
            path = visit[before].path.extend(edge, vertex, -math.log(max(MIN_RELEVANCE, -negative)))
            visit[vertex] = Visited(path, "selected", len(path.edges))
            weights[vertex] = -negative
            if len(path.edges) < depth:
                _look(waiting, vertex, fires)
        followed[edge] = fires.activation_of[edge]
    return _replayed(walk, visit, weights, followed, fires)


def text_starts(graph: Graph, episode_scores: Floats, allowed: Bools) -> tuple[int, ...]:
    """The episodes, by node id, from which a question begins beside the objects that it names: the best of the text
    alone, the best first."""
    return tuple(int(graph.episode_ids[row]) for row in top_k(episode_scores, allowed, STARTS))


def asked_before(
    conn: Connection, remembered: EdgeMemory, key: Vector, as_of: int | None, sees: Callable[[int], bool]
) -> list[tuple[Earlier, float]]:
    """The questions like this one that were answered well, and how much alike they are, the most alike first; only
    those of which all that answered them may be seen and is as it was. There are ten to choose from.

    `as_of` (ms UTC): the same time must have been asked of. Not for a question that speaks of a time itself: "last
    week" is another one now. They must be as much alike as hardly any two questions are that need other evidence,
    which is calibrated. A person who called an answer bad has said so of the evidence: to such a question it is not
    offered from any other answer either.
    """
    alike = remembered.nearest(key, remembered.threshold)
    if bad := remembered.rejected_traces(key):
        wrong = queries.rejected_as_well(conn, [trace for trace, _ in alike], bad)
        alike = [one for one in alike if one[0] not in wrong]
    alike = alike[:OFFERED]
    known = queries.earlier(conn, [trace for trace, _ in alike]) if alike else {}
    found = [(known[trace], cosine) for trace, cosine in alike if trace in known]
    return [
        (one, cosine) for one, cosine in found if one.unchanged and one.as_of == as_of and all(map(sees, one.cited))
    ]


def answered_before(found: Sequence[tuple[Earlier, float]]) -> Earlier | None:
    """Of what was `asked_before` the question in (nearly) the same words: its evidence can be offered at once, and its
    text is to be written anew."""
    return next((one for one, cosine in found if cosine >= SAME), None)


def most_alike(found: Sequence[tuple[Earlier, float]]) -> Earlier | None:
    """Of what was `asked_before` the question that stands out as one like this: the next one that was answered from
    other evidence is much less alike. To be alike says little where all are about the same few people, and each has one
    that is as much alike."""
    if not found:
        return None
    top_k, alike = found[0]
    strange = (cosine for other, cosine in found if not set(top_k.cited) & set(other.cited))
    return top_k if alike - next(strange, 0.0) >= APART else None


def _visible(walk: Walkable, starts: Iterable[int]) -> list[int]:
    return [vertex for vertex in dict.fromkeys(starts) if walk.visible(vertex)]


def _look(waiting: list[tuple[float, int, int, int]], vertex: int, fires: Activation) -> None:
    for edge, other in fires.around.get(vertex, []):
        heapq.heappush(waiting, (-(1 - ALPHA) * fires.activation_of[edge], other, edge, vertex))


def _replayed(
    walk: Walkable, visit: dict[int, Visited], weights: dict[int, float], followed: dict[int, float], fires: Activation
) -> Replayed:
    read = {}
    for vertex in visit:
        edge = fires.openings.get(vertex)
        if edge is not None and walk.kinds([vertex])[0] == EPISODE:
            read[vertex] = fires.activation_of[edge]
            followed[edge] = fires.activation_of[edge]
    surest = sorted(read, key=lambda episode: (-read[episode], episode))
    return Replayed(visit, weights, followed, {episode: read[episode] for episode in surest}, fires.activation_of)
