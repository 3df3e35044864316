"""Replay: what helped with such a question before is found again, before anything is searched.

After ReMindRAG (Hu et al. 2025): from the seeds, edges whose memory fires for the question are followed, with no model
and no look at what stands in the passages. Theirs is a search into the depth without an end; here the
strongest edge goes first and the number of vertices is limited. What is reached joins the seeds of the traversers; of
the passages among it those count as evidence whose reading helped before.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memory.edge_memory.edges import ALPHA, SAME, Activation, EdgeMemory, Vector
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import EPISODE, MIN_RELEVANCE, Moment, Path, Visited, Walkable, top_k
from memory.protocols import Vectors
from memory.stages import ReplayNote
from memory.store import queries
from memory.store.connect import Connection
from memory.store.queries import Earlier

NODES, DEPTH = 40, 6  # that a replay reaches at most, and the edges to the furthest
STARTS = 8  # best episodes of the text from which it starts, beside the objects named
TRIED = 10  # edges that may turn out not to be walkable, for each vertex that may be reached
APART = 0.20  # by how much others must be less alike (cosine) than the question that counts as this one in other words
NO_QUERY = np.zeros(0, np.float32)
OFFERED = 10  # of such questions, the most alike, are looked at


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What earlier questions bring to this one.

    `query` (d,) is the question's vector, empty if nothing was looked at. Of the walk: `visit` is what was reached,
    with the way there, starts included; `weights`: vertex -> how strongly it was reached, without the starts, in the
    order in which it was; `followed`: edge -> how strongly it fired; `read`: episode whose text helped before -> how
    much, the surest first; `fires`: all edges that fire, reached or not, for those who walk later. `earlier` is the
    question that was all but the same, or else `like` the one that stands out as the same in other words, if what
    answered it is as it was.
    """

    query: Vectors = field(default_factory=lambda: NO_QUERY, compare=False)
    visit: Mapping[int, Visited] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    followed: Mapping[int, float] = field(default_factory=dict)
    read: Mapping[int, float] = field(default_factory=dict)
    fires: Mapping[int, float] = field(default_factory=dict)
    earlier: Earlier | None = None
    like: Earlier | None = None

    @property
    def evidence(self) -> tuple[int, ...]:
        """The episodes (ids) that helped with such a question before, the surest first."""
        if self.earlier is not None:
            return self.earlier.cited
        return tuple(dict.fromkeys((*(self.like.cited if self.like is not None else ()), *self.read)))

    def scores(self, graph: Graph) -> Floats:
        """(n,) in [0, 1]: how surely reading an episode helped before."""
        found = np.zeros(len(graph.alive), np.float32)
        cited = self.earlier.cited if self.earlier is not None else ()
        for episode, value in {**self.read, **dict.fromkeys(cited, 1.0)}.items():
            if episode in graph.row_of:
                found[graph.row_of[episode]] = value
        return found

    def note(self) -> ReplayNote:
        """For the trace."""
        earlier, like = (one and one.trace_id for one in (self.earlier, self.like))
        return ReplayNote(len(self.fires), len(self.followed), self.evidence, tuple(self.read), earlier, like)


NOT_ASKED_BEFORE = ReplayResult()


def replay_earlier(
    conn: Connection,
    graph: Graph,
    remembered: EdgeMemory,
    query: Vectors,
    starts: Iterable[int],
    allowed: Bools,
    valid_time: Moment,
    as_of: int | None,
    timeless: bool,
) -> ReplayResult:
    """What is remembered for a question with the vector `query` (d,) that begins at `starts` (node ids) and may see
    `allowed` (n,), as of a time in ms UTC. Only one that is `timeless`, that speaks of no time itself, is taken for an
    earlier one."""
    key = remembered.key(query) if query.any() else None
    if key is None:
        return ReplayResult(query)
    fires = remembered.activate(key)
    found = NOT_ASKED_BEFORE
    if len(fires.edges):
        found = replay_walk(Walkable(graph, allowed, when=valid_time), starts, fires)
    found = replace(found, query=query)
    if not timeless:
        return found

    def sees(episode: int) -> bool:
        return episode in graph.row_of and bool(allowed[graph.row_of[episode]])

    asked = asked_before(conn, remembered, key, as_of, sees)
    earlier = answered_before(asked)
    return replace(found, earlier=earlier, like=most_alike(asked) if earlier is None else None)


def replay_walk(
    walk: Walkable, starts: Iterable[int], fires: Activation, nodes: int = NODES, depth: int = DEPTH
) -> ReplayResult:
    """What is reached from `starts` (node ids) over edges that fire and that the question may walk: the strongest m
    first, of equals the smaller id; at most `nodes` vertices, `depth` edges away. Deterministic; costs as much as it
    reaches, whatever else fires."""
    seen = [vertex for vertex in dict.fromkeys(starts) if walk.visible(vertex)]
    visit = {vertex: Visited(Path((vertex,), tag="replay"), "seed", 0) for vertex in seen}
    weights: dict[int, float] = {}
    followed: dict[int, float] = {}
    waiting: list[tuple[float, int, int, int]] = []  # -weight, vertex, edge, vertex before
    for vertex in visit:
        _add_edges(waiting, vertex, fires)
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
                _add_edges(waiting, vertex, fires)
        followed[edge] = fires.activation_of[edge]
    read = {}
    for vertex in visit:
        opening = fires.openings.get(vertex)
        if opening is not None and walk.kinds([vertex])[0] == EPISODE:
            read[vertex] = followed[opening] = fires.activation_of[opening]
    read = {episode: read[episode] for episode in sorted(read, key=lambda episode: (-read[episode], episode))}
    return ReplayResult(visit=visit, weights=weights, followed=followed, read=read, fires=fires.activation_of)


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


def _add_edges(waiting: list[tuple[float, int, int, int]], vertex: int, fires: Activation) -> None:
    for edge, other in fires.around.get(vertex, []):
        heapq.heappush(waiting, (-(1 - ALPHA) * fires.activation_of[edge], other, edge, vertex))
