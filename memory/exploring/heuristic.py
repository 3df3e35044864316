"""Best-first search over objects: explores for a question without a model (after Algorithm 2 of RLM-on-KG).

Objects are visited best first, by relevance times hub penalty: those of the question and of its best passages, then
their neighbours. The passages of all visited objects are pooled and ranked at the end. The printed algorithm visits
objects by popularity and stops at k passages, so that a hub takes all of them and rare objects are never seen; and its
stall rule counts passages that it has already.
"""

import heapq
from time import perf_counter

import numpy as np

from memory.exploring.explorer import CollectedEvidence
from memory.graph.arrays import Ids, Ints
from memory.graph.walk import EPISODE, OBJECT, Walkable, top_k
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import PropagatedRelevance
from memory.stages import HeuristicNote, step

MAX_START_PASSAGES = 8  # best passages whose objects are starts, like those that the question names
MAX_PASSAGES_PER_OBJECT = 5  # best passages of an object that are pooled; a hub has thousands
MAX_POOLED = 20  # best passages of the pool that are returned


def explore_best_first(
    result: RetrievalResult, *, depth: int = 3, nodes: int = 50, stall: int = 12
) -> CollectedEvidence:
    """The best passages around the question's objects, by its own ranking: at most `nodes` objects, up to `depth` steps
    away; stops after `stall` objects in a row without a new passage. Deterministic."""
    began = perf_counter()
    graph = result.graph
    ranking = result.relevance(result.allowed)
    if not ranking.any():
        return CollectedEvidence({}, stopped="nothing found")
    walk = Walkable(graph, result.allowed, "EO", result.seeds.guidance.when)
    relevance = PropagatedRelevance(graph, ranking, walk.allowed)
    ahead: list[tuple[float, int, int]] = []  # (-score, object, steps off), best first
    met: set[int] = set()

    def meet(objects: Ints | Ids, steps: int) -> None:
        new = np.array([node for node in objects.tolist() if node not in met], np.int32)
        met.update(new.tolist())
        scores = relevance(new) * walk.penalties(new)
        for node, score in zip(new.tolist(), scores.tolist(), strict=True):
            heapq.heappush(ahead, (-score, node, steps))

    def meet_objects_in(row: int, steps: int) -> None:
        columns = graph.counts.indices[slice(*graph.counts.indptr[row : row + 2])]
        meet(graph.object_ids[columns[~graph.leads_nowhere[columns]]], steps)

    meet(graph.object_ids[sorted(result.seeds.objects)], 0)
    for row in top_k(ranking, walk.allowed, MAX_START_PASSAGES):
        meet_objects_in(row, 1)
    pool: set[int] = set()  # rows of passages
    visited = stalled = 0
    while ahead and visited < nodes and stalled < stall:
        _, node, steps = heapq.heappop(ahead)
        visited += 1
        near = walk.neighbours(node)
        kinds = walk.kinds(near.vertices)
        rows = np.unique(walk.rows(near.vertices[kinds == EPISODE])).astype(np.int64)
        rows = rows[np.lexsort((rows, -ranking[rows]))][:MAX_PASSAGES_PER_OBJECT]
        stalled = stalled + 1 if pool.issuperset(rows.tolist()) else 0
        pool.update(rows.tolist())
        if steps < depth:
            meet(near.vertices[kinds == OBJECT], steps + 1)
            for row in rows:
                meet_objects_in(row, steps + 1)
    stopped = "all" if not ahead else "nodes" if visited >= nodes else "stalled"
    rows = np.array(sorted(pool), np.int64)
    rows = rows[np.lexsort((rows, -ranking[rows]))][:MAX_POOLED]
    ids = graph.episode_ids[rows].tolist()
    note = HeuristicNote(visited, len(pool), tuple(ids), stopped)
    collected = dict(zip(ids, ranking[rows].clip(0, 1).tolist(), strict=True))
    return CollectedEvidence(collected, (step(note, (perf_counter() - began) * 1000),), stopped=stopped)
