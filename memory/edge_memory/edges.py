"""What edges remember: the slots of one edge and how they are reinforced and penalised, and those of all in arrays, of
which the ones that a question activates are found in one multiplication.

After ReMindRAG (Hu et al. 2025), which gives each edge one vector, adds the direction of a question that the edge
helped with (equation 1) and follows an edge again where the next question points the same way (equation 2). Here an
edge has several slots, because one vector serves one intent only; questions are compared without what all of them have
in common; and a penalty takes a fixed share, because equation 1 takes nothing at all from a saturated edge.

Like the snapshot that questions are answered from, an `EdgeMemory` never changes; what is learnt makes a new one, which
shares what stays the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.arrays import Bools, Floats, Ids, Ints
from memory.protocols import Vectors
from memory.store import edge_memory, queries
from memory.store.append_only import append_rows
from memory.store.connect import Connection
from memory.store.edge_memory import FORGOTTEN, Ends, Slots
from memory.store.graph import EDGE_KINDS
from memory.store.queries import Geometry

Vector = NDArray[np.float64]

SLOTS, HUB_SLOTS = 4, 8  # of an edge; of one at a vertex with more than HUB_DEGREE edges
HUB_DEGREE = 200
SAME_INTENT = 0.5  # cosine from which on a question goes into a slot that is there
NOTICED = 0.2  # how strongly a slot must fire to be penalised
SHOWN, REPLAYED, REJECTED = 0.35, 0.20, 1.0  # rho: shown and useless; replayed, and no answer; a person said no
LAMBDA = 0.52  # how strongly an edge must fire to be followed, before it is calibrated
LEAST_LAMBDA, MOST_LAMBDA = 0.40, 0.75
PAIRS, QUANTILE = 200, 0.99  # of questions with different evidence, from which it is calibrated
ALPHA = 0.1  # share of the similarity of both ends in equation 2; replay knows none, and takes it for 0
BLOCK = 1024  # questions whose keys are made at once
SAME = 0.97  # cosine from which on a question counts as one that was asked before
SPARE = 1000  # slots that are no longer in use and may be carried along, or as many as are in use
OPEN = EDGE_KINDS.index("open")
UNKNOWN = Geometry()
ENOUGH = 50  # questions from which on it is known what all of them have in common
TINY = 1e-6  # a key shorter than this has no direction


def delta(norm: float) -> float:
    """`2/pi cos(pi/2 x)`, with x held in [0, 1], where equation 1 of ReMindRAG means something."""
    return 2 / math.pi * math.cos(math.pi / 2 * min(max(norm, 0.0), 1.0))


def key(query: NDArray[np.floating], center: NDArray[np.floating]) -> Vector | None:
    """What a question is remembered by: `unit(unit(query) - center)`, both (d,); None if it has no direction. `center`
    is the mean of the unit vectors of questions, so that what all of them have in common does not count."""
    [found], [known] = keys(query[None], center)
    return found if known else None


def keys(
    queries: NDArray[np.floating], center: NDArray[np.floating], dtype: type[np.floating] = np.float64
) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """The same of many, `queries` (n, d) -> (n, d), and which of them have a direction (n,). To the bit what each of
    them gives alone."""
    found, known = np.zeros(queries.shape, dtype), np.zeros(len(queries), np.bool_)
    for start in range(0, len(queries), BLOCK):
        piece = slice(start, start + BLOCK)
        wide = queries[piece].astype(np.float64)
        lengths = _lengths(wide)
        apart = wide / np.maximum(lengths, TINY)[:, None] - center
        left = _lengths(apart)
        known[piece] = (lengths >= TINY) & (left >= TINY)
        found[piece] = apart / np.maximum(left, TINY)[:, None]
    return found, known


def keys_of_traces(
    conn: Connection, embedder_id: int, dimension: int, traces: Sequence[int], center: NDArray[np.floating]
) -> dict[int, Vector]:
    """Trace -> what its question is remembered by, of those that are remembered."""
    ids, vectors = queries.of_traces(conn, embedder_id, dimension, traces)
    found, known = keys(vectors, center)
    return dict(zip(ids[known].tolist(), found[known], strict=True))


def _lengths(vectors: Vector) -> Vector:
    """(n,) of (n, d): one after the other, because the sums of many at once are rounded otherwise."""
    return np.sqrt([vector @ vector for vector in vectors])


def reinforce(slots: Slots, key: Vector, most: int = SLOTS, now: int = 0) -> Slots:
    """What an edge remembers after it helped with a question; never less of that question, unless a slot had to go. The
    slot that points the same way (cosine >= 0.5) grows by `delta(|v|) k`; without one a new slot begins, in place of
    the shortest if there are `most` already. The same question once, twice, three times: .63662, .980587, .999997."""
    vectors = slots.vectors.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    alike = vectors @ key / np.maximum(norms, 1e-9)
    place = int(np.argmax(alike)) if len(vectors) else -1
    if place < 0 or (most > 1 and alike[place] < SAME_INTENT):
        if len(vectors) < most:
            return slots.plus(delta(0) * key, now)
        weakest = int(np.argmin(norms))
        return slots.select(np.arange(len(norms)) != weakest).plus(delta(0) * key, now)
    grown = vectors[place] + delta(float(norms[place])) * key
    grown /= max(1.0, float(np.linalg.norm(grown)))
    return slots.with_slot(place, grown, int(slots.positives[place]) + 1, now)


def penalise(slots: Slots, key: Vector, rho: float = SHOWN, now: int = 0) -> Slots:
    """What an edge remembers after it did not help with a question: of every slot that fires (> 0.2) the share `rho` of
    what fires goes, `v - rho (v k) k`, and a slot of norm 0.15 or less is given up. Never more of that question."""
    vectors = slots.vectors.astype(np.float64)
    fires = vectors @ key
    hit = fires > NOTICED
    if not hit.any():
        return slots
    vectors[hit] -= rho * fires[hit, None] * key
    after = Slots(vectors, slots.positives, slots.negatives + hit, np.where(hit, now, slots.times))
    return after.select(np.linalg.norm(vectors, axis=1) > FORGOTTEN)


def to_float16(slots: Slots) -> Slots:
    """The same in float16, as it is stored: rounded towards zero, so that no norm grows beyond 1."""
    wide = slots.vectors.astype(np.float64)
    near = wide.astype(np.float16)
    beyond = np.abs(near.astype(np.float64)) > np.abs(wide)
    near[beyond] = np.nextafter(near[beyond], np.float16(0))
    return slots._replace(vectors=near)


def calibrate_threshold(keys: NDArray[np.floating], evidence: Sequence[frozenset[int]]) -> float | None:
    """The strength from which on an edge should be followed: what 99 % of the pairs of questions with different
    evidence stay below, within [0.40, 0.75]. None if there are fewer than 200 such pairs. `keys` (n, d) unit vectors;
    `evidence` (n,) the episodes that answered each."""
    known = [place for place, episodes in enumerate(evidence) if episodes]
    answered_by: dict[int, list[int]] = {}
    for number, place in enumerate(known):
        for episode in evidence[place]:
            answered_by.setdefault(episode, []).append(number)
    apart = np.ones((len(known), len(known)), np.bool_)
    for questions in answered_by.values():
        apart[np.ix_(questions, questions)] = False
    alike = keys[known].astype(np.float64) @ keys[known].T if known else np.empty((0, 0))
    pairs = alike[np.tril(apart, -1)]
    if len(pairs) < PAIRS:
        return None
    return float(np.clip(np.quantile(pairs, QUANTILE), LEAST_LAMBDA, MOST_LAMBDA))


def is_due(n: int, geometry: Geometry) -> bool:
    """Whether it is time to see anew what all questions have in common: at 50 questions, then whenever they doubled."""
    return n >= (2 * geometry.n if geometry.n >= ENOUGH else ENOUGH)


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
    """What edges remember for one embedder. p versions of edges, of which those `alive` count: `edges`, `kinds`, `src`,
    `dst` (p,), `starts` (p,) where the slots of each begin; `vectors` (s, d). a answered questions: `traces` (a,) ids,
    `keys` (a, d) unit vectors; and b whose answer a person called bad: `bad` (b,), `bad_keys` (b, d). `geometry`: how
    questions are compared."""

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
        strongest = np.empty(0, np.float32)
        if len(self.starts):
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
            kinds=append_rows(self.kinds, [ends[edge][0] for edge, _ in kept]),
            src=append_rows(self.src, [ends[edge][1] for edge, _ in kept]),
            dst=append_rows(self.dst, [ends[edge][2] for edge, _ in kept]),
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
        here: dict[str, Any] = {name: getattr(self, name)[self.alive] for name in ("edges", "kinds", "src", "dst")}
        starts, alive = np.cumsum(sizes[self.alive]) - sizes[self.alive], np.ones(int(self.alive.sum()), np.bool_)
        return replace(self, **here, starts=starts, alive=alive, vectors=self.vectors[np.repeat(self.alive, sizes)])


def load_edge_memory(conn: Connection, embedder_id: int, dimension: int) -> EdgeMemory:
    """What is stored."""
    nothing = EdgeMemory.empty(dimension, queries.geometry(conn, embedder_id))
    answered = _known(nothing, *queries.load_answered(conn, embedder_id, dimension))
    rejected = _known(nothing, *queries.load_rejected(conn, embedder_id, dimension))
    edges, kinds, src, dst, starts, vectors = edge_memory.load(conn, embedder_id, dimension)
    alive, slots = np.ones(len(edges), np.bool_), vectors.astype(np.float32)
    return EdgeMemory(dimension, nothing.geometry, edges, kinds, src, dst, starts, alive, slots, *answered, *rejected)


def _known(compared: EdgeMemory, traces: NDArray[np.int64], vectors: Vectors) -> tuple[Ints, Floats]:
    """The questions that have a direction: trace ids (k,) and keys (k, d)."""
    found, known = keys(vectors, compared.center, np.float32)
    return traces[known], found[known]
