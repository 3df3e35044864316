"""Best-first search over objects: looks further for a question without a model (after Algorithm 2 of RLM-on-KG).

Objects are visited best first, by relevance times hub penalty: those that the question names and those of its best
passages, then those beside them. The passages of all that were visited are pooled and ranked at the end. As printed the
algorithm visits objects in the order of their popularity and stops as soon as it has k passages, so that a hub takes
all of them and what is rare is never seen; and its stall rule counts passages that it has already.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from memory.exploring.explorer import CollectedEvidence
from memory.graph.arrays import Floats, Ids, Ints
from memory.graph.walk import EPISODE, OBJECT, Walkable, top_k
from memory.nouns import Step
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import PropagatedRelevance

MAX_START_PASSAGES = 8  # best ones, from whose objects it starts beside those that the question names
MAX_PASSAGES_PER_OBJECT = 5  # best passages of an object that are pooled; a hub has thousands
MAX_POOLED = 20  # best passages of the pool that are returned


def explore_best_first(
    found: RetrievalResult, *, depth: int = 3, nodes: int = 50, stall: int = 12
) -> CollectedEvidence:
    """The best passages around what the question names, by the question's own ranking: at most `nodes` objects, up to
    `depth` steps off; it stops after `stall` objects in a row that bring no passage it has not seen. The same question
    gives the same."""
    began = perf_counter()
    top = float(found.ranking[found.allowed].max(initial=0.0))
    if top <= 0:
        return CollectedEvidence({}, stopped="nothing found")
    search = _Search(found, found.ranking / np.float32(top))
    stopped = search.run(depth, nodes, stall)
    rows = np.array(sorted(search.pool), np.int64)
    rows = rows[np.lexsort((rows, -search.ranking[rows]))][:MAX_POOLED]
    ids = found.graph.episode_ids[rows].tolist()
    collected = dict(zip(ids, search.ranking[rows].clip(0, 1).tolist(), strict=True))
    detail = {"objects": search.visited, "pooled": len(search.pool), "collected": ids, "stopped": stopped}
    step = Step("heuristic", round((perf_counter() - began) * 1000, 3), detail)
    return CollectedEvidence(collected, (step,), stopped=stopped)


@dataclass(slots=True)
class _Search:
    found: RetrievalResult
    ranking: Floats
    visited: int = 0
    pool: set[int] = field(default_factory=set)
    _walk: Walkable = field(init=False)
    _relevance: PropagatedRelevance = field(init=False)
    _ahead: list[tuple[float, int, int]] = field(default_factory=list)  # (-score, node, steps off)
    _met: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        found = self.found
        self._walk = Walkable(found.graph, found.allowed, "EO", found.seeds.guidance.when)
        self._relevance = PropagatedRelevance(found.graph, self.ranking, self._walk.allowed)

    def run(self, depth: int, nodes: int, stall: int) -> str:
        """Fills the pool; why it ended."""
        graph = self.found.graph
        self._meet(graph.object_ids[sorted(self.found.seeds.objects)], 0)
        for row in top_k(self.ranking, self._walk.allowed, MAX_START_PASSAGES):
            self._meet(self._objects_in(row), 1)
        stalled = 0
        while self._ahead:
            if self.visited >= nodes:
                return "nodes"
            if stalled >= stall:
                return "stalled"
            _, node, steps = heapq.heappop(self._ahead)
            self.visited += 1
            rows, beside = self._around(node)
            new = set(rows.tolist()) - self.pool
            self.pool |= new
            stalled = 0 if new else stalled + 1
            if steps < depth:
                self._meet(beside, steps + 1)
                for row in rows:
                    self._meet(self._objects_in(row), steps + 1)
        return "all"

    def _around(self, node: int) -> tuple[Ints, Ids]:
        """Rows of the best passages that mention an object, and the objects that it is related to."""
        near = self._walk.neighbours(node)
        kinds = self._walk.kinds(near.vertices)
        rows = np.unique(self._walk.rows(near.vertices[kinds == EPISODE])).astype(np.int64)
        ordered: Ints = rows[np.lexsort((rows, -self.ranking[rows]))][:MAX_PASSAGES_PER_OBJECT]
        return ordered, near.vertices[kinds == OBJECT]

    def _objects_in(self, row: int) -> Ints:
        graph = self.found.graph
        columns = graph.counts.indices[slice(*graph.counts.indptr[row : row + 2])]
        objects: Ints = graph.object_ids[columns[~graph.is_date[columns]]]
        return objects

    def _meet(self, objects: Ints | Ids, steps: int) -> None:
        """Puts objects that were not met yet where they belong among those to be visited."""
        new = np.array([node for node in objects.tolist() if node not in self._met], np.int32)
        self._met.update(new.tolist())
        scores = self._relevance(new) * self._walk.penalties(new)
        for node, value in zip(new.tolist(), scores.tolist(), strict=True):
            heapq.heappush(self._ahead, (-value, node, steps))
