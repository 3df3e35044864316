"""Labels: which edges a question needed, by what its answer cited (after ReG's weak supervision).

ReG's pool of candidate paths (4.1, appendix D.2) has three sources: all shortest paths from the question's objects to
the answer, the edges at these objects, and the edges at the answer. It is merged twice: one answer stands for all, and
one path for all over the same relations.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memory.graph.walk import EPISODE, OBJECT, Path, Relevance, Walkable
from memory.store.queries import Lesson
from plugins.traversers.paths import shortest_paths
from plugins.traversers.subgraph import Subgraph

CITED, SAID_RIGHT, SHOWN, RANDOM = 1.5, 3.0, 0.5, 0.2  # what a label counts
NEGATIVES = 64  # random edges of a question that count as not needed
MAX_CANDIDATES = 15
LENGTH, POPS = 4, 200  # edges of a path, vertices opened to find it


class Label(NamedTuple):
    """Whether a question needed an edge (`y` 1 or 0), with weight and origin: citation, feedback, shown or random."""

    edge: int
    y: float
    weight: float
    origin: str


Predicates = Callable[[Sequence[int]], Mapping[int, str]]
"""Edge ids -> the predicate of each that is a relation."""


def label_from_trace(lesson: Lesson, near: Subgraph) -> list[Label]:
    """Labels from the trace alone. Needed: edges that led to a citation, with a higher weight if a person called the
    answer right. Not needed: edges shown with them, and a random sample of other near edges, the same each time."""
    by_person = lesson.feedback == 1
    weight, origin = (SAID_RIGHT, "feedback") if by_person else (CITED, "citation")
    labels_found = [Label(edge, 1.0, weight, origin) for edge in lesson.needed]
    labels_found += [Label(edge, 0.0, SHOWN, "shown") for edge in lesson.shown]
    unused = near.edges[~np.isin(near.edges, [*lesson.needed, *lesson.shown])]
    draw = np.random.default_rng(lesson.trace_id)
    sample = np.sort(draw.permutation(unused)[:NEGATIVES]).tolist()
    return labels_found + [Label(edge, 0.0, RANDOM, "random") for edge in sample]


def collect_candidates(
    walk: Walkable, starts: Iterable[int], answers: Iterable[int], relevance: Relevance, predicates: Predicates
) -> list[Path]:
    """Returns the candidates of a question: first those that connect it with the answer, then the most relevant.
    `starts`: the objects that it names; `answers`: the vertices that answer it; the first one represents all."""
    begin = [vertex for vertex in dict.fromkeys(starts) if walk.visible(vertex)]
    answer = next((vertex for vertex in answers if walk.visible(vertex) and vertex not in begin), None)
    if answer is None:
        return []
    paths = [path for vertex in begin for path in shortest_paths(walk, vertex, answer, LENGTH, POPS)]
    connecting = {path.edges for path in paths}
    paths += [path for vertex in (*begin, answer) for path in _list_edges(walk, vertex)]
    fits = _measure(paths, relevance)
    names = predicates(sorted({edge for path in paths for edge in path.edges}))
    best: dict[tuple[object, ...], Path] = {}
    for path in sorted(paths, key=lambda path: (path.edges not in connecting, -fits(path), path.edges)):
        steps = zip(path.edges, pairwise(path.vertices), strict=True)
        best.setdefault(tuple(_find_relation(walk, names, edge, *ends) for edge, ends in steps), path)
    return list(best.values())[:MAX_CANDIDATES]


def _list_edges(walk: Walkable, vertex: int) -> list[Path]:
    near = walk.neighbours(vertex)
    ends = zip(near.edges.tolist(), near.vertices.tolist(), strict=True)
    return [Path((vertex, end), (edge,)) for edge, end in ends]


def _measure(paths: Sequence[Path], relevance: Relevance) -> Callable[[Path], float]:
    """Returns the mean relevance of the vertices of each of these paths."""
    vertices = np.array(sorted({vertex for path in paths for vertex in path.vertices}), np.int32)
    fits = dict(zip(vertices.tolist(), relevance(vertices).tolist(), strict=True))
    return lambda path: sum(fits[vertex] for vertex in path.vertices) / len(path.vertices)


def _find_relation(walk: Walkable, names: Mapping[int, str], edge: int, here: int, there: int) -> object:
    """Returns the predicate of a step, and whether it is taken backwards; of an edge without one the thesis or passage
    that it belongs to."""
    if edge in names:
        return names[edge], walk.graph.links.ends(edge) != (here, there)
    kinds = dict(zip((here, there), walk.kinds([here, there]).tolist(), strict=True))
    return min(kinds, key=lambda vertex: (kinds[vertex] == OBJECT, kinds[vertex] == EPISODE, vertex))
