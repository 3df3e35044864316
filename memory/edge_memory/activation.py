"""What all edges remember, in arrays: what fires for a question is found in one multiplication.

Like the snapshot that questions are answered from, a `EdgeMemory` never changes; what is learnt makes a new one, which
shares what stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory.edge_memory.edges import LAMBDA, SAME_INTENT, Vector, key, keys
from memory.graph.arrays import Bools, Floats, Ids, Ints
from memory.protocols import Vectors
from memory.store import edge_memory, queries
from memory.store.append_only import append_rows
from memory.store.connect import Connection
from memory.store.edge_memory import Ends, Slots
from memory.store.graph import EDGE_KINDS
from memory.store.queries import Geometry

SAME = 0.97  # cosine from which on a question counts as one that was asked before
SPARE = 1000  # slots that are no longer in use and may be carried along, or as many as are in use
OPEN = EDGE_KINDS.index("open")
UNKNOWN = Geometry()


@dataclass(frozen=True)
class Activation:
    """The edges that fire for a question, by id. `edges`, `kinds` (index of store.graph.EDGE_KINDS), `src`, `dst` (node
    ids) and `strengths`, all (f,)."""

    edges: Ids
    kinds: NDArray[np.int8]
    src: Ids
    dst: Ids
    strengths: Floats

    @cached_property
    def activation_of(self) -> Mapping[int, float]:
        """Edge -> how strongly it fires."""
        return dict(zip(self.edges.tolist(), self.strengths.tolist(), strict=True))

    @cached_property
    def openings(self) -> Mapping[int, int]:
        """Episode -> its `open` edge: reading it helped with such a question."""
        chosen = self.kinds == OPEN
        return dict(zip(self.src[chosen].tolist(), self.edges[chosen].tolist(), strict=True))

    @cached_property
    def around(self) -> Mapping[int, list[tuple[int, int]]]:
        """Vertex -> (edge, vertex at the other end) by edge id, without the `open` ones."""
        found: dict[int, list[tuple[int, int]]] = {}
        ways = self.kinds != OPEN
        for edge, one, other in zip(
            *(column[ways].tolist() for column in (self.edges, self.src, self.dst)), strict=True
        ):
            found.setdefault(one, []).append((edge, other))
            if one != other:
                found.setdefault(other, []).append((edge, one))
        return found


@dataclass(frozen=True)
class EdgeMemory:
    """What edges remember for one embedder.

    p versions of edges, of which those `alive` count: `edges`, `kinds`, `src`, `dst` (p,), `starts` (p,) where the
    slots of each begin; `vectors` (s, d). a answered questions: `traces` (a,) ids, `keys` (a, d) unit vectors; and b
    whose answer a person called bad: `bad` (b,), `bad_keys` (b, d). `geometry`: how questions are compared.
    """

    dimension: int
    geometry: Geometry
    edges: Ids
    kinds: NDArray[np.int8]
    src: Ids
    dst: Ids
    starts: Ints
    alive: Bools
    vectors: Floats
    traces: Ints
    keys: Floats
    bad: Ints
    bad_keys: Floats

    @classmethod
    def empty(cls, dimension: int, geometry: Geometry = UNKNOWN) -> EdgeMemory:
        """Nothing was learnt yet."""
        ids, ints, rows = np.empty(0, np.int32), np.empty(0, np.int64), np.empty((0, dimension), np.float32)
        kinds, alive = np.empty(0, np.int8), np.empty(0, np.bool_)
        return cls(dimension, geometry, ids, kinds, ids, ids, ints, alive, rows, ints, rows, ints, rows)

    @property
    def threshold(self) -> float:
        """How strongly an edge must fire to be followed."""
        return LAMBDA if self.geometry.threshold is None else self.geometry.threshold

    @property
    def center(self) -> Vector:
        """(d,) what all questions have in common."""
        return np.zeros(self.dimension) if self.geometry.center is None else self.geometry.center

    def key(self, query: Vectors) -> Vector | None:
        """What a question's vector (d,) is remembered by; None if it has no direction."""
        return key(queries.round_vector(query), self.center)

    def activate(self, key: Vector, threshold: float | None = None) -> Activation:
        """The edges that fire for a key more strongly than `threshold` (default: the calibrated one)."""
        least = self.threshold if threshold is None else threshold
        if not len(self.starts):
            return Activation(self.edges, self.kinds, self.src, self.dst, np.empty(0, np.float32))
        strongest = np.maximum.reduceat(self.vectors @ key.astype(np.float32), self.starts)
        chosen = np.flatnonzero((strongest > least) & self.alive)
        chosen = chosen[np.argsort(self.edges[chosen], kind="stable")]
        strengths: Floats = np.minimum(strongest[chosen], 1)
        return Activation(self.edges[chosen], self.kinds[chosen], self.src[chosen], self.dst[chosen], strengths)

    def nearest(self, key: Vector, least: float) -> list[tuple[int, float]]:
        """(trace, cosine) of the answered questions that are at least so much alike, the most alike first, of equals
        the newest."""
        alike = self.keys @ key.astype(np.float32)
        rows = np.flatnonzero(alike >= least)
        rows = rows[np.lexsort((-self.traces[rows], -alike[rows]))]
        return list(zip(self.traces[rows].tolist(), alike[rows].tolist(), strict=True))

    def rejected_traces(self, key: Vector) -> list[int]:
        """The traces of the questions with the same intent whose answer a person called bad."""
        found: list[int] = self.bad[self.bad_keys @ key.astype(np.float32) >= SAME_INTENT].tolist()
        return found

    def with_changes(self, changed: Mapping[int, Slots], ends: Mapping[int, Ends]) -> EdgeMemory:
        """The same where these edges remember something else now; one without slots remembers nothing. `ends` of
        each; one without them is no longer there."""
        if not changed:
            return self
        alive = self.alive & ~np.isin(self.edges, np.fromiter(changed, np.int32))
        kept = [(edge, held) for edge, held in sorted(changed.items()) if len(held.vectors) and edge in ends]
        sizes = [len(held.vectors) for _, held in kept]
        new = replace(
            self,
            edges=append_rows(self.edges, [edge for edge, _ in kept]),
            kinds=append_rows(self.kinds, [ends[edge].kind for edge, _ in kept]),
            src=append_rows(self.src, [ends[edge].src for edge, _ in kept]),
            dst=append_rows(self.dst, [ends[edge].dst for edge, _ in kept]),
            starts=append_rows(self.starts, len(self.vectors) + np.cumsum([0, *sizes])[:-1]),
            alive=np.concatenate([alive, np.ones(len(kept), np.bool_)]),
            vectors=append_rows(self.vectors, np.concatenate([held.vectors for _, held in kept]) if kept else []),
        )
        return new._compact()

    def with_answered(self, trace: int, key: Vector) -> EdgeMemory:
        """The same and one more question that was answered well."""
        return replace(
            self, traces=append_rows(self.traces, [trace]), keys=append_rows(self.keys, key.astype(np.float32)[None])
        )

    def _compact(self) -> EdgeMemory:
        """Without the slots of earlier versions, once they are many."""
        sizes = np.diff(self.starts, append=len(self.vectors))
        used = int(sizes[self.alive].sum())
        if len(self.vectors) - used <= max(SPARE, used):
            return self
        return replace(
            self,
            edges=self.edges[self.alive],
            kinds=self.kinds[self.alive],
            src=self.src[self.alive],
            dst=self.dst[self.alive],
            starts=np.cumsum(sizes[self.alive]) - sizes[self.alive],
            alive=np.ones(int(self.alive.sum()), np.bool_),
            vectors=self.vectors[np.repeat(self.alive, sizes)],
        )


def load(conn: Connection, embedder_id: int, dimension: int) -> EdgeMemory:
    """What is stored."""
    rows = edge_memory.load(conn, embedder_id, dimension)
    nothing = EdgeMemory.empty(dimension, queries.geometry(conn, embedder_id))
    traces, answered = _known(nothing, *queries.load_answered(conn, embedder_id, dimension))
    bad, bad_keys = _known(nothing, *queries.load_rejected(conn, embedder_id, dimension))
    return replace(
        nothing,
        edges=rows.edges,
        kinds=rows.kinds,
        src=rows.src,
        dst=rows.dst,
        starts=rows.starts,
        alive=np.ones(len(rows.edges), np.bool_),
        vectors=rows.vectors.astype(np.float32),
        traces=traces,
        keys=answered,
        bad=bad,
        bad_keys=bad_keys,
    )


def _known(compared: EdgeMemory, traces: NDArray[np.int64], vectors: Vectors) -> tuple[Ints, Floats]:
    """The questions that have a direction: trace ids (k,) and keys (k, d)."""
    found, known = keys(vectors, compared.center, np.float32)
    return traces[known], found[known]
