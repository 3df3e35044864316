"""The two controllers of RLM-on-KG that ask no model: the one-hop baseline ("GraphRAG-local") and Algorithm 2.

Both only collect passages over what they mention; a collected passage scores what its text scores (the paper's vector
re-rank), and the rest of the ranking backfills.
"""

from collections import Counter, deque
from collections.abc import Mapping

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import EPISODE, OBJECT, Neighbours, Path, Visited, Walk, Walkable, top_k
from memory.retrieval.traversers import Seeds
from plugins.settings import TraverserSettings
from plugins.traversers.walking import begin_walk, end_walk

START_PASSAGES, MAX_OBJECTS = 8, 12  # one hop: the best by text, and the objects that most of them mention
MAX_PASSAGES_PER_OBJECT = 12  # the best by text
DEPTH, MAX_COLLECTED, STALL = 3, 20, 2  # Algorithm 2: D, k, and objects without a new passage that end it


def one_hop(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns the best passages by text, and those that mention the objects that most of these mention."""
    walk, _, _ = begin_walk(graph, seeds, allowed, settings.walk)
    rows = top_k(seeds.episode_scores, walk.allowed, START_PASSAGES)
    starts = [Path((vertex,)) for vertex in graph.episode_ids[rows].tolist()]
    visit = {path.vertices[0]: Visited(path, "seed") for path in starts}
    counted: Counter[int] = Counter()
    for path in starts:
        for edge, object in _list_ends(walk, walk.neighbours(path.vertices[0]), OBJECT):
            counted[object] += 1
            visit.setdefault(object, Visited(path.extend(edge, object, 0.0), "scanned"))
    for object in sorted(counted, key=lambda object: (-counted[object], object))[:MAX_OBJECTS]:
        visit[object] = Visited(visit[object].path, "selected")
        for edge, passage in list_passages(walk, seeds.episode_scores, object):
            visit.setdefault(passage, Visited(visit[object].path.extend(edge, passage, 0.0), "selected"))
    return _rank_by_text(walk, seeds, visit)


def heuristic(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns the passages of the named objects, those of most passages first, then of the objects that these passages
    mention or that are related, breadth first, until MAX_COLLECTED are collected."""
    walk, begin, _ = begin_walk(graph, seeds, allowed, settings.walk)
    objects = [vertex for vertex in begin if walk.kinds([vertex])[0] == OBJECT]
    objects.sort(key=lambda object: (-len(list_passages(walk, seeds.episode_scores, object)), object))
    visit = {object: Visited(Path((object,)), "seed") for object in objects}
    queue, collected, stalled = deque((object, 0) for object in objects), 0, 0
    while queue and collected < MAX_COLLECTED and stalled < STALL:
        object, depth = queue.popleft()
        path = visit[object].path
        stalled += 1
        around: list[tuple[int, Path]] = []
        for edge, passage in list_passages(walk, seeds.episode_scores, object):
            onward = path.extend(edge, passage, 0.0)
            if passage not in visit:
                visit[passage] = Visited(onward, "selected")
                collected, stalled = collected + 1, 0
            for edge_on, neighbour in _list_ends(walk, walk.neighbours(passage), OBJECT):
                around.append((neighbour, onward.extend(edge_on, neighbour, 0.0)))
        for edge, neighbour in _list_ends(walk, walk.neighbours(object), OBJECT):
            around.append((neighbour, path.extend(edge, neighbour, 0.0)))
        for neighbour, onward in around if depth < DEPTH else ():
            if neighbour not in visit:
                visit[neighbour] = Visited(onward, "scanned")
                queue.append((neighbour, depth + 1))
    return _rank_by_text(walk, seeds, visit)


def list_passages(walk: Walkable, scores: Floats, object: int) -> list[tuple[int, int]]:
    """Returns (edge, passage) of the best passages that mention an object, by text."""
    passages = _list_ends(walk, walk.neighbours(object), EPISODE)
    score = dict(zip(passages, scores[walk.rows([passage for _, passage in passages])].tolist(), strict=True))
    return sorted(passages, key=lambda passage: (-score[passage], passage))[:MAX_PASSAGES_PER_OBJECT]


def _list_ends(walk: Walkable, near: Neighbours, kind: int) -> list[tuple[int, int]]:
    chosen = walk.kinds(near.vertices) == kind
    return list(zip(near.edges[chosen].tolist(), near.vertices[chosen].tolist(), strict=True))


def _rank_by_text(walk: Walkable, seeds: Seeds, visit: Mapping[int, Visited]) -> Walk:
    """Returns the walk in which a passage scores by text, and an object what its best visited passage does."""
    worth = dict.fromkeys(visit, 0.0)
    passages = [vertex for vertex, kind in zip(visit, walk.kinds([*visit]), strict=True) if kind == EPISODE]
    for passage, score in zip(passages, seeds.episode_scores[walk.rows(passages)].tolist(), strict=True):
        for vertex in visit[passage].path.vertices:
            worth[vertex] = max(worth[vertex], score)
    paths = [visited.path for vertex, visited in visit.items() if visited.status == "selected" and vertex in passages]
    return end_walk(walk, visit, worth, sorted(paths, key=lambda path: (-worth[path.vertices[-1]], path.edges)))
