"""BeamSearch of PersonalAI, with the visited memory of TGS-RAG's Algorithm 1.

At every depth each path grows by its best neighbours, and the cheapest `width` of all are kept; a path costs `sum /
length^0.75`. PersonalAI grows a beam from each start (`apart`) and compares triples with the question
(`triples`); TGS-RAG compares the new vertex (`rank = "last"`). A dropped vertex stays in the visited memory with its
cheapest path, so that synergy can use it.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.walk import Path, Relevance, Walk, Walkable
from memory.retrieval.traversers import Seeds
from plugins.settings import BeamSettings, TraverserSettings
from plugins.traversers.subgraph import GraphEmbeddings, direct_edges
from plugins.traversers.walking import begin_walk, costs, end_walk

Steps = Mapping[int, list[tuple[int, int, float]]]
"""Vertex -> the steps from it: edge, vertex and cost, the best first."""
EdgeRelevance = Callable[[Ids, Ids, Ids], Floats]
"""Edge ids (e,), the vertices that they are followed from and to (e,) -> how well each fits the question (e,)."""


def beam(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns a score for all that a beam visits."""
    walk, begin, by_vertex = begin_walk(graph, seeds, allowed, settings.walk)
    by_triple = triple_relevance(walk, seeds) if settings.beam.triples else None
    _, visit = search(walk, begin, by_vertex, settings.beam, by_triple)
    return end_walk(walk, worth_of(visit, begin))


def worth_of(visit: Mapping[int, Path], begin: Mapping[int, float]) -> dict[int, float]:
    """Returns exp(-cost) of the cheapest path to each vertex, of a start its weight."""
    return {vertex: begin.get(vertex, float(np.exp(-path.cost))) for vertex, path in visit.items()}


def triple_relevance(walk: Walkable, seeds: Seeds) -> EdgeRelevance | None:
    """Returns the cosine of the question and an edge's text (PersonalAI); None without vectors."""
    if seeds.guidance.lookup is None:
        return None
    embeddings = GraphEmbeddings(seeds.guidance.lookup)

    def relevance(edges: Ids, sources: Ids, targets: Ids) -> Floats:
        ends = zip(sources.tolist(), targets.tolist(), strict=True)
        near = direct_edges(walk, dict(zip(edges.tolist(), ends, strict=True)))
        heads = embeddings.vertices(near.vertices)[near.heads]  # of an edge without a relation: passage or thesis
        cosines: Floats = embeddings.triples(near, heads) @ embeddings.question
        return cosines[np.searchsorted(near.edges, edges)]

    return relevance


def search(
    walk: Walkable,
    begin: Iterable[int],
    relevance: Relevance,
    settings: BeamSettings,
    by_triple: EdgeRelevance | None = None,
) -> tuple[tuple[Path, ...], dict[int, Path]]:
    """Returns the best paths of every depth, `paths` at most, and the cheapest path to each visited vertex; with
    `apart`, that many paths for each start."""
    visit = {vertex: Path((vertex,)) for vertex in sorted(begin)}
    steps: dict[int, list[tuple[int, int, float]]] = {}
    chosen: list[Path] = []
    for together in [[vertex] for vertex in visit] if settings.apart else [[*visit]]:
        survivors: list[Path] = []
        tips = [visit[vertex] for vertex in together]
        for _ in range(settings.depth):
            new = dict.fromkeys(path.vertices[-1] for path in tips if path.vertices[-1] not in steps)
            steps |= _order_steps(walk, [*new], relevance, by_triple)
            candidates = [longer for path in tips for longer in _grow(path, steps, settings)]
            for path in candidates:
                _remember(visit, path, settings)
            tips = _select(candidates, settings)
            survivors += tips
        chosen += sorted(dict.fromkeys(survivors), key=lambda path: (path.cost, path.edges))[: settings.paths]
    return tuple(chosen), visit


def _order_steps(walk: Walkable, vertices: list[int], relevance: Relevance, by_triple: EdgeRelevance | None) -> Steps:
    """Returns the steps from these vertices, the most relevant first."""
    around = [walk.neighbours(vertex) for vertex in vertices]
    if not around:
        return {}
    edges = np.concatenate([near.edges for near in around])
    targets = np.concatenate([near.vertices for near in around])
    sources = np.repeat(np.array(vertices, np.int32), [len(near.edges) for near in around])
    fits = by_triple(edges, sources, targets) if by_triple else relevance(targets)
    cost = costs(fits, walk.penalties(targets))
    order = np.lexsort((edges, -fits, sources))
    steps: dict[int, list[tuple[int, int, float]]] = {vertex: [] for vertex in vertices}
    columns = (column[order].tolist() for column in (sources, edges, targets, cost))
    for vertex, *step in zip(*columns, strict=True):
        steps[vertex].append((step[0], step[1], step[2]))
    return steps


def _grow(path: Path, steps: Steps, settings: BeamSettings) -> Iterable[Path]:
    """The path extended by each of its tip's best neighbours; no vertex twice."""
    onward = (step for step in steps[path.vertices[-1]] if step[1] not in path.vertices)
    return (path.extend(*step) for step in islice(onward, settings.neighbours))


def _remember(visit: dict[int, Path], path: Path, settings: BeamSettings) -> None:
    """Stores a path by its end in the visited memory; a cheaper path replaces a dearer one, except that a start stays.
    What the beam drops stays, too."""
    earlier = visit.setdefault(path.vertices[-1], path)
    if earlier.edges and _rank(path, settings) < _rank(earlier, settings):
        visit[path.vertices[-1]] = path


def _select(candidates: list[Path], settings: BeamSettings) -> list[Path]:
    """Returns the cheapest; without `share_vertices` no two of them end in one vertex, without `share_edges` none with
    one edge: each path is compared with all that are kept before it, whatever their order was."""
    ends: set[int] = set()
    edges: set[int] = set()
    kept: list[Path] = []
    for path in sorted(candidates, key=lambda path: (_rank(path, settings), path.edges)):
        end, edge = path.vertices[-1], path.edges[-1]
        if (settings.share_vertices or end not in ends) and (settings.share_edges or edge not in edges):
            kept.append(path)
            ends.add(end)
            edges.add(edge)
    return kept[: settings.width]


def _rank(path: Path, settings: BeamSettings) -> float:
    return path.costs[-1] if settings.rank == "last" else path.cost
