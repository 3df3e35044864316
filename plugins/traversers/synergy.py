"""Synergy of TGS-RAG: the graph reranks the text, and the text confirms the graph.

Visited vertices vote for the episodes that mention them, weighted by rarity, relevance and status. Paths through
objects of the best episodes are confirmed, with a decreasing gain per object. Objects of those episodes that no path
reaches are bridged from dropped vertices, else by a short search. The formula "paper" follows TGS-RAG's equation 2:
every vote and every confirmation counts one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import OBJECT, Path, Relevance, Visited, Walk, Walkable, index, top_k
from memory.retrieval.traversers import Seeds
from plugins.traversers.settings import TraverserSettings
from plugins.traversers.walking import begin_walk, price_paths, search_breadth_first

WEIGHTS = {"seed": 1.0, "selected": 1.0, "pruned": 0.5, "scanned": 0.25}
EPSILON = 0.4  # what confirmation can add to a path's score
GAMMA = 0.4  # what a path gains that joins several seeds
MAX_CONFIRMING = 5  # best episodes of the text, which confirm paths and whose objects are bridged
MAX_BRIDGES = 3  # k_o: objects that are bridged
MAX_BRIDGE_EDGES, MAX_BRIDGE_POPS = 3, 100
MAX_PATHS = 10

Scored = tuple[float, Path]


def synergy(graph: Graph, seeds: Seeds, allowed: Bools, walk: Walk, settings: TraverserSettings) -> Walk:
    """The walk with its votes and the confirmed paths. An episode's vote is the mean of its votes and of the best path
    through it, each scaled to a maximum of 1; an empty part does not count. In the paper's formula paths rank only
    paths."""
    view, _, relevance = begin_walk(graph, seeds, allowed, settings.walk)
    plain = settings.synergy.formula == "paper"
    columns = np.unique(graph.counts.columns_of(top_k(seeds.episode_scores, view.allowed, MAX_CONFIRMING)))
    nodes = graph.object_ids[columns]
    worth = dict(zip(nodes.tolist(), (graph.idf[columns] * relevance(nodes.astype(np.int32))).tolist(), strict=True))
    bridges = find_bridges(view, walk.paths, walk.visit, worth, relevance)
    begin = {vertex for vertex, visited in walk.visit.items() if visited.status == "seed"}
    ranked = rank_paths(walk.paths, bridges, worth, begin, plain)
    parts = [count_votes(view, walk.visit, relevance, plain), *([] if plain else [_score_episodes(view, ranked)])]
    scaled = [part / part.max() for part in parts if part.any()]
    none = np.zeros(len(graph.alive), np.float32)
    scores: Floats = np.mean(scaled, axis=0, dtype=np.float32) if scaled else none
    return replace(walk, paths=tuple(path for _, path in ranked), votes=(scores, settings.synergy.weight))


def count_votes(view: Walkable, visit: Mapping[int, Visited], relevance: Relevance, plain: bool = False) -> Floats:
    """Rec (n,): `sum idf * sigma * status / log2(2 + objects of the episode)` over the visited objects; `plain`: the
    number of them that the episode mentions."""
    graph, backwards = view.graph, index(view.graph).mentioned
    votes = np.zeros(len(graph.alive), np.float32)
    vertices = np.array(sorted(visit), np.int32)
    vertices = vertices[view.kinds(vertices) == OBJECT]
    fits = relevance(vertices)
    rarity = np.log1p(graph.n_alive / (1 + graph.document_frequency))
    for vertex, column, fit in zip(vertices.tolist(), view.rows(vertices).tolist(), fits.tolist(), strict=True):
        rows = backwards.indices[slice(*backwards.indptr[column : column + 2])]
        votes[rows] += 1 if plain else rarity[column] * fit * WEIGHTS[visit[vertex].status]
    size = 1 if plain else np.log2(2 + np.diff(graph.counts.indptr))
    return np.where(view.allowed, votes / size, 0).astype(np.float32)


def rank_paths(
    paths: Sequence[Path],
    bridges: Sequence[Path],
    spoken_of: Collection[int],
    begin: Collection[int],
    plain: bool = False,
) -> list[Scored]:
    """The best paths: `exp(-cost) * (1 + gamma * seeds / length)`, the factor only for several seeds, plus `eps * (1 -
    exp(-x / 2))` for the x objects of the best episodes on it that are not seeds. `plain`: `eps * x`, and nothing for
    bridges. A path whose vertices are all on a better path is dropped."""

    def score(path: Path, confirmed: bool) -> Scored:
        on_it = set(path.vertices)
        n_seeds, x = len(on_it.intersection(begin)), len(on_it.intersection(spoken_of) - set(begin))
        density = 1 + GAMMA * min(1, n_seeds / max(1, len(path.edges))) if n_seeds > 1 else 1
        confirmation = EPSILON * (x if plain else 1 - float(np.exp(-x / 2)))
        return float(np.exp(-path.cost)) * density + (confirmation if confirmed else 0), path

    scored = [score(path, True) for path in paths] + [score(path, not plain) for path in bridges]
    best: list[Scored] = []
    for value, path in sorted(scored, key=lambda each: (-each[0], each[1].edges)):
        vertices = set(path.vertices)
        if any(set(path.edges) == set(other.edges) or vertices <= set(other.vertices) for _, other in best):
            continue
        best = [each for each in best if not set(each[1].vertices) < vertices or each[0] >= value]
        best.append((value, path))
    return best[:MAX_PATHS]


def find_bridges(
    view: Walkable,
    paths: Sequence[Path],
    visit: Mapping[int, Visited],
    worth: Mapping[int, float],
    relevance: Relevance,
) -> list[Path]:
    """Orphan bridging: paths to the objects of the best episodes that no path reaches, in order of `worth`: a path from
    the visited memory, else the shortest one from a path."""
    reached = {vertex for path in paths for vertex in path.vertices}
    bridges: list[Path] = []
    for vertex in sorted(worth.keys() - reached, key=lambda vertex: (-worth[vertex], vertex)):
        visited = visit.get(vertex)
        if visited is not None and visited.path.edges:
            bridges.append(replace(visited.path, tag="bridge"))
        elif visited is None and reached:
            search = search_breadth_first(view, vertex, MAX_BRIDGE_EDGES, MAX_BRIDGE_POPS)
            back = next((path for path in search if path.vertices[-1] in reached), None)
            if back is not None:
                way = Path(back.vertices[::-1], back.edges[::-1], tag="bridge")
                bridges += price_paths(view, [way], relevance)
        if len(bridges) == MAX_BRIDGES:
            break
    return bridges


def _score_episodes(view: Walkable, paths: Sequence[Scored]) -> Floats:
    """(n,) the best score of a path through the episode or one of its theses."""
    scores = np.zeros(len(view.graph.alive), np.float32)
    for score, path in paths:
        rows = view.episodes_of(path.vertices)
        np.maximum.at(scores, rows[rows >= 0], score)
    return scores
