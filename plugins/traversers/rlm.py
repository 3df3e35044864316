"""The two controllers of RLM-on-KG that ask no model: the one-hop baseline ("GraphRAG-local") and Algorithm 2.

Both only collect passages over what they mention; a collected passage scores what its text scores (the paper's vector
re-rank), and the rest of the ranking backfills.
"""

from collections import Counter, deque
from collections.abc import Iterable

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import EPISODE, OBJECT, Walk, Walkable, top_k
from memory.retrieval.traversers import Seeds
from plugins.settings import TraverserSettings
from plugins.traversers.walking import begin_walk, end_walk

START_PASSAGES, MAX_OBJECTS = 8, 12  # one hop: the best by text, and the objects that most of them mention
MAX_PASSAGES_PER_OBJECT = 12  # the best by text
DEPTH, MAX_COLLECTED, STALL = 3, 20, 2  # Algorithm 2: D, k, and objects without a new passage that end it


def one_hop(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns the best passages by text, and those that mention the objects that most of these mention."""
    walk, _, _ = begin_walk(graph, seeds, allowed, settings.walk)
    starts = graph.episode_ids[top_k(seeds.episode_scores, walk.allowed, START_PASSAGES)].tolist()
    counted = Counter(object for passage in starts for object in _list_ends(walk, passage, OBJECT))
    objects = sorted(counted, key=lambda object: (-counted[object], object))[:MAX_OBJECTS]
    about = [passage for object in objects for passage in list_passages(walk, seeds.episode_scores, object)]
    return _rank_by_text(walk, seeds, [*starts, *about])


def heuristic(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns the passages of the named objects, those of most passages first, then of the objects that these passages
    mention or that are related, breadth first, until MAX_COLLECTED are collected."""
    walk, begin, _ = begin_walk(graph, seeds, allowed, settings.walk)
    objects = [vertex for vertex in begin if walk.kinds([vertex])[0] == OBJECT]
    objects.sort(key=lambda object: (-len(list_passages(walk, seeds.episode_scores, object)), object))
    queue, known, stalled = deque((object, 0) for object in objects), {*objects}, 0
    collected: dict[int, None] = {}
    while queue and len(collected) < MAX_COLLECTED and stalled < STALL:
        object, depth = queue.popleft()
        passages = list_passages(walk, seeds.episode_scores, object)
        stalled = 0 if {*passages} - collected.keys() else stalled + 1
        collected |= dict.fromkeys(passages)
        around = [neighbour for vertex in (*passages, object) for neighbour in _list_ends(walk, vertex, OBJECT)]
        for neighbour in around if depth < DEPTH else ():
            if neighbour not in known:
                known.add(neighbour)
                queue.append((neighbour, depth + 1))
    return _rank_by_text(walk, seeds, collected)


def list_passages(walk: Walkable, scores: Floats, object: int) -> list[int]:
    """Returns the best passages that mention an object, by text."""
    passages = _list_ends(walk, object, EPISODE)
    score = dict(zip(passages, scores[walk.rows(passages)].tolist(), strict=True))
    return sorted(passages, key=lambda passage: (-score[passage], passage))[:MAX_PASSAGES_PER_OBJECT]


def _list_ends(walk: Walkable, vertex: int, kind: int) -> list[int]:
    """Returns the neighbours of this kind, in the order of the edges."""
    near = walk.neighbours(vertex).vertices
    ends: list[int] = near[walk.kinds(near) == kind].tolist()
    return ends


def _rank_by_text(walk: Walkable, seeds: Seeds, collected: Iterable[int]) -> Walk:
    """Returns the walk in which a passage scores by text, and an object what the best collected passage does that
    mentions it."""
    worth: dict[int, float] = {}
    for passage in collected:
        score = float(seeds.episode_scores[walk.rows([passage])[0]])
        for vertex in (passage, *_list_ends(walk, passage, OBJECT)):
            worth[vertex] = max(worth.get(vertex, 0.0), score)
    return end_walk(walk, worth)
