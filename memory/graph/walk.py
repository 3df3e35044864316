"""Paths and walks: the one path type of the graph, what a walk reached, and what all walks compute alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from memory.graph.adjacency import OBJECT, Walkable
from memory.graph.arrays import Bools, Floats, Ints

PATH_LENGTH_EXPONENT = 0.75  # of a path's length in its cost: below 1, so that of two equally good the shorter wins
MIN_RELEVANCE = 0.02  # relevance below which it makes no difference any more: a cost of 3.9

Status = Literal["seed", "selected", "pruned", "scanned"]


@dataclass(frozen=True, slots=True)
class Path:
    """A path in the graph: node ids, the ids of the edges between them, the cost of each edge, and who found it."""

    vertices: tuple[int, ...]
    edges: tuple[int, ...] = ()
    costs: tuple[float, ...] = ()
    tag: str = ""

    @property
    def cost(self) -> float:
        """`sum / length^0.75`, 0 for a path without edges."""
        return sum(self.costs) / len(self.costs) ** PATH_LENGTH_EXPONENT if self.costs else 0.0

    def extend(self, edge: int, vertex: int, cost: float) -> Path:
        """This path and one edge more."""
        return Path((*self.vertices, vertex), (*self.edges, edge), (*self.costs, cost), self.tag)


@dataclass(frozen=True, slots=True)
class Visited:
    """What a walk remembers of a vertex: the cheapest path there, the depth at which it was met first, and what became
    of it. Nothing that was visited is forgotten: what a beam dropped can still be brought back."""

    path: Path
    status: Status
    depth: int


@dataclass(frozen=True, slots=True)
class Walk:
    """What a traverser reached: a score for every episode (n,) and object (m,), 0 where it never came; the paths it
    chose, best first; all it saw, by node id; and the edges of what it chose, best first. `votes`: scores (n,) in
    [0, 1] by which the ranking is to be mixed, and their share of it."""

    episodes: Floats
    objects: Floats
    paths: tuple[Path, ...] = ()
    visit: Mapping[int, Visited] = field(default_factory=dict)
    edges: tuple[int, ...] = ()
    votes: tuple[Floats, float] | None = None


def vertex_scores(walk: Walkable, visit: Mapping[int, Visited], values: Mapping[int, float]) -> tuple[Floats, Floats]:
    """Scores of episodes (n,) and objects (m,): the best of the `values` of what was visited; a thesis counts for its
    episode."""
    graph = walk.graph
    episodes, objects = np.zeros(len(graph.alive), np.float32), np.zeros(len(graph.object_ids), np.float32)
    vertices = np.array(sorted(visit), np.int32)
    of_vertices = np.array([values[vertex] for vertex in vertices.tolist()], np.float32)
    rows, is_object = walk.episodes_of(vertices), walk.kinds(vertices) == OBJECT
    np.maximum.at(episodes, rows[~is_object], of_vertices[~is_object])
    np.maximum.at(objects, walk.rows(vertices[is_object]), of_vertices[is_object])
    return episodes, objects


def distinct(edges: Iterable[int]) -> tuple[int, ...]:
    """Each once, in the order in which they come."""
    return tuple(dict.fromkeys(edges))


def top_k(scores: Floats, allowed: Bools, k: int) -> Ints:
    """Top-k selection: rows of the `k` best allowed episodes that scored at all, best first; ties by row."""
    candidates = np.flatnonzero(allowed & (scores > 0))
    if len(candidates) > 4 * k:
        top = np.argpartition(-scores[candidates], 4 * k)[: 4 * k]
        floor = scores[candidates[top]].min()
        candidates = candidates[scores[candidates] >= floor]
    order = np.lexsort((candidates, -scores[candidates]))
    rows: Ints = candidates[order[:k]]
    return rows
