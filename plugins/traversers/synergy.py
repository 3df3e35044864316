"""TGS-RAG: the graph reranks the text, and the text confirms the graph.

Objects that a beam visited vote for the episodes that mention them (equation 2). Paths through objects of the best
episodes are confirmed (equation 3), and objects of those episodes that no path reaches are bridged by the paths of the
visited memory (algorithm 2).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import OBJECT, Path, Relevance, Walk, Walkable, index, scale, top_k
from memory.retrieval.traversers import Seeds
from plugins.settings import TraverserSettings
from plugins.traversers.beam import search, worth_of
from plugins.traversers.walking import begin_walk, end_walk

EPSILON = 0.4  # what each object of the best episodes adds to a path's score
GAMMA = 0.4  # what a path gains that joins several seeds
MAX_CONFIRMING = 5  # best episodes of the text, which confirm paths and whose objects are bridged
MAX_BRIDGES = 3  # k_o: objects that are bridged
MAX_PATHS = 10
VOTES_SHARE = 0.5  # of the final score (equation 2)


def synergy(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns the walk of a beam with the votes; a vertex on a confirmed path scores as the best of them."""
    walk, begin, relevance = begin_walk(graph, seeds, allowed, settings.walk)
    paths, visit = search(walk, begin, relevance, settings.beam)
    columns = np.unique(graph.counts.columns_of(top_k(seeds.episode_scores, walk.allowed, MAX_CONFIRMING)))
    spoken_of = set(graph.object_ids[columns].tolist())
    worth = worth_of(visit, begin)
    for score, path in rank_paths(paths, spoken_of, begin, find_bridges(paths, visit, spoken_of, relevance)):
        worth |= {vertex: max(score, worth[vertex]) for vertex in path.vertices}
    return replace(end_walk(walk, worth), votes=(scale(count_votes(walk, visit)), VOTES_SHARE))


def count_votes(walk: Walkable, visit: Iterable[int]) -> Floats:
    """Rec (n,): the number of visited objects that each episode mentions."""
    backwards = index(walk.graph).mentioned
    votes = np.zeros(len(walk.allowed), np.float32)
    vertices = np.array([*visit], np.int32)
    for column in walk.rows(vertices[walk.kinds(vertices) == OBJECT]).tolist():
        votes[backwards.indices[slice(*backwards.indptr[column : column + 2])]] += 1
    return np.where(walk.allowed, votes, 0).astype(np.float32)


def rank_paths(
    paths: Sequence[Path], spoken_of: Collection[int], begin: Collection[int], bridges: Sequence[Path] = ()
) -> list[tuple[float, Path]]:
    """Returns the best paths: `exp(-cost) * (1 + gamma * seeds / length)`, the factor only for several seeds, plus
    `epsilon * x` for the x objects of the best episodes on it; `bridges` are not confirmed. A path whose vertices are
    all on a better path is dropped."""

    def score(path: Path, confirms: Collection[int]) -> tuple[float, Path]:
        n_seeds = len({*path.vertices}.intersection(begin))
        density = 1 + GAMMA * n_seeds / max(1, len(path.edges)) if n_seeds > 1 else 1
        confirmed = EPSILON * len({*path.vertices}.intersection(confirms))
        return float(np.exp(-path.cost)) * density + confirmed, path

    scored = [*(score(path, spoken_of) for path in paths), *(score(bridge, ()) for bridge in bridges)]
    best: list[tuple[float, Path]] = []
    for value, path in sorted(scored, key=lambda each: (-each[0], each[1].edges)):
        if not any({*path.vertices} <= {*other.vertices} for _, other in best):
            best.append((value, path))
    return best[:MAX_PATHS]


def find_bridges(
    paths: Sequence[Path], visit: Mapping[int, Path], spoken_of: Collection[int], relevance: Relevance
) -> list[Path]:
    """The remembered paths to the MAX_BRIDGES most relevant objects of the best episodes that no path reaches."""
    reached = {vertex for path in paths for vertex in path.vertices}
    orphans = np.array(sorted(vertex for vertex in {*spoken_of} - reached if vertex in visit), np.int32)
    order = np.lexsort((orphans, -relevance(orphans)))
    remembered = (visit[vertex] for vertex in orphans[order].tolist())
    return [path for path in remembered if path.edges][:MAX_BRIDGES]
