"""Edge memory: the slots of one edge, how they are reinforced and penalised, and all edges in arrays, where one
multiplication finds those that a question activates.

After ReMindRAG (Hu et al. 2025), which gives each edge one vector, adds the direction of a question that the edge
helped with (equation 1) and follows the edge if a later question has a similar direction (equation 2). Here an edge has
several slots, because one vector serves one intent only; the center of all questions is subtracted; and a penalty takes
a fixed share, because equation 1 cannot reduce a saturated edge.

An `EdgeMemory` is immutable, like the snapshot; learning makes a new one that shares unchanged arrays."""

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
from memory.store.arrays import append_rows
from memory.store.connect import Connection
from memory.store.edge_memory import FORGOTTEN, Ends, Slots
from memory.store.graph import EDGE_KINDS
from memory.store.queries import Geometry

Vector = NDArray[np.float64]

SLOTS, HUB_SLOTS = 4, 8  # of an edge; of an edge at a vertex with more than HUB_DEGREE edges
HUB_DEGREE = 200
SAME_INTENT = 0.5  # cosine from which a question goes into an existing slot
NOTICED = 0.2  # activation from which a slot is penalised
SHOWN, REPLAYED, REJECTED = 0.35, 0.20, 1.0  # rho: shown and useless; replayed without an answer; rejected by a person
LAMBDA = 0.52  # activation from which an edge is followed before calibration
LEAST_LAMBDA, MOST_LAMBDA = 0.40, 0.75
PAIRS, QUANTILE = 200, 0.99  # pairs of questions with different evidence for the calibration
ALPHA = 0.1  # weight of the similarity of both ends in equation 2; replay does not know it and takes it as 0
BLOCK = 1024  # questions whose keys are computed at once
SAME = 0.97  # cosine from which a question counts as asked before
SPARE = 1000  # unused slots to keep, or as many as are in use
OPEN = EDGE_KINDS.index("open")
UNKNOWN = Geometry()
ENOUGH = 50  # questions from which the center is known
TINY = 1e-6  # a shorter key has no direction


def delta(norm: float) -> float:
    """`2/pi cos(pi/2 x)` with x clipped to [0, 1], the domain of equation 1 of ReMindRAG."""
    return 2 / math.pi * math.cos(math.pi / 2 * min(max(norm, 0.0), 1.0))


def key(query: NDArray[np.floating], center: NDArray[np.floating]) -> Vector | None:
    """Returns the key of a question, `unit(unit(query) - center)`, both (d,); None without direction. `center` is the
    mean of the unit vectors of questions, so that their common part does not count."""
    [vector], [has_direction] = keys(query[None], center)
    return vector if has_direction else None


def keys(
    queries: NDArray[np.floating], center: NDArray[np.floating], dtype: type[np.floating] = np.float64
) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """Returns (keys (n, d), whether each has a direction (n,)) of `queries` (n, d); bit-identical to `key` of each."""
    vectors, has_direction = np.zeros(queries.shape, dtype), np.zeros(len(queries), np.bool_)
    for start in range(0, len(queries), BLOCK):
        piece = slice(start, start + BLOCK)
        wide = queries[piece].astype(np.float64)
        lengths = _find_lengths(wide)
        apart = wide / np.maximum(lengths, TINY)[:, None] - center
        centered_lengths = _find_lengths(apart)
        has_direction[piece] = (lengths >= TINY) & (centered_lengths >= TINY)
        vectors[piece] = apart / np.maximum(centered_lengths, TINY)[:, None]
    return vectors, has_direction


def keys_of_traces(
    conn: Connection, embedder_id: int, dimension: int, traces: Sequence[int], center: NDArray[np.floating]
) -> dict[int, Vector]:
    """Returns {trace: key of its question} of those with a vector."""
    ids, vectors = queries.load_vectors(conn, embedder_id, dimension, traces)
    vectors_of, has_direction = keys(vectors, center)
    return dict(zip(ids[has_direction].tolist(), vectors_of[has_direction], strict=True))


def _find_lengths(vectors: Vector) -> Vector:
    """(n,) of (n, d), one by one: sums over the matrix are rounded differently."""
    return np.sqrt([vector @ vector for vector in vectors])


def reinforce(slots: Slots, key: Vector, most: int = SLOTS, now: int = 0) -> Slots:
    """Returns the slots after the edge helped with a question. The slot with a similar direction (cosine >= 0.5) grows
    by `delta(|v|) k`; otherwise a new slot begins, replacing the shortest of `most`. The same question once, twice,
    three times: .63662, .980587, .999997."""
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
    """Returns the slots after the edge did not help with a question: every slot with activation > 0.2 loses the share
    `rho` of it, `v - rho (v k) k`; slots of norm 0.15 or less are dropped."""
    vectors = slots.vectors.astype(np.float64)
    fires = vectors @ key
    hit = fires > NOTICED
    if not hit.any():
        return slots
    vectors[hit] -= rho * fires[hit, None] * key
    after = Slots(vectors, slots.positives, slots.negatives + hit, np.where(hit, now, slots.times))
    return after.select(np.linalg.norm(vectors, axis=1) > FORGOTTEN)


def to_float16(slots: Slots) -> Slots:
    """Returns the slots in float16 for storage, rounded towards zero, so that no norm exceeds 1."""
    wide = slots.vectors.astype(np.float64)
    near = wide.astype(np.float16)
    beyond = np.abs(near.astype(np.float64)) > np.abs(wide)
    near[beyond] = np.nextafter(near[beyond], np.float16(0))
    return slots._replace(vectors=near)


def calibrate_threshold(keys: NDArray[np.floating], evidence: Sequence[frozenset[int]]) -> float | None:
    """Returns the activation from which an edge is followed: the 99 % quantile of the similarities of questions with
    different evidence, clipped to [0.40, 0.75]. None for fewer than 200 such pairs. `keys` (n, d) unit vectors;
    `evidence` (n,) the episodes that answered each."""
    places = [place for place, episodes in enumerate(evidence) if episodes]
    answered_by: dict[int, list[int]] = {}
    for number, place in enumerate(places):
        for episode in evidence[place]:
            answered_by.setdefault(episode, []).append(number)
    apart = np.ones((len(places), len(places)), np.bool_)
    for questions in answered_by.values():
        apart[np.ix_(questions, questions)] = False
    alike = keys[places].astype(np.float64) @ keys[places].T if places else np.empty((0, 0))
    pairs = alike[np.tril(apart, -1)]
    if len(pairs) < PAIRS:
        return None
    return float(np.clip(np.quantile(pairs, QUANTILE), LEAST_LAMBDA, MOST_LAMBDA))


def is_due(n: int, geometry: Geometry) -> bool:
    """Whether to recompute the center: at 50 questions, then whenever their number doubled."""
    return n >= (2 * geometry.n if geometry.n >= ENOUGH else ENOUGH)


@dataclass(frozen=True)
class Activation:
    """The edges activated by a question, by id. `edges`, `kinds` (index of store.graph.EDGE_KINDS), `src`, `dst` (node
    ids) and `strengths`, all (f,)."""

    edges: Ids
    kinds: NDArray[np.int8]
    src: Ids
    dst: Ids
    strengths: Floats

    @cached_property
    def activation_of(self) -> Mapping[int, float]:
        """{edge: activation}."""
        return dict(zip(self.edges.tolist(), self.strengths.tolist(), strict=True))

    @cached_property
    def openings(self) -> Mapping[int, int]:
        """{episode: its `open` edge}: reading the episode helped with such a question."""
        chosen = self.kinds == OPEN
        return dict(zip(self.src[chosen].tolist(), self.edges[chosen].tolist(), strict=True))

    @cached_property
    def around(self) -> Mapping[int, list[tuple[int, int]]]:
        """{vertex: [(edge, vertex at the other end)]} by edge id, without `open` edges."""
        edges_at: dict[int, list[tuple[int, int]]] = {}
        ways = self.kinds != OPEN
        for edge, start, other in zip(
            *(column[ways].tolist() for column in (self.edges, self.src, self.dst)), strict=True
        ):
            edges_at.setdefault(start, []).append((edge, other))
            if start != other:
                edges_at.setdefault(other, []).append((edge, start))
        return edges_at


@dataclass(frozen=True)
class EdgeMemory:
    """The edge memory of one embedder. p versions of edges; only those `alive` count. `edges`, `kinds`, `src`, `dst`
    (p,), `starts` (p,) of the slots of each; `vectors` (s, d). a answered questions: `traces` (a,) ids, `keys` (a, d)
    unit vectors; b with a bad verdict: `bad` (b,), `bad_keys` (b, d); c asked in vain: `vain_keys` (c, d).
    `geometry`: center and threshold."""

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
    vain_keys: Floats

    @classmethod
    def empty(cls, dimension: int, geometry: Geometry = UNKNOWN) -> EdgeMemory:
        """Empty edge memory."""
        ids, ints, rows = np.empty(0, np.int32), np.empty(0, np.int64), np.empty((0, dimension), np.float32)
        kinds, alive = np.empty(0, np.int8), np.empty(0, np.bool_)
        return cls(dimension, geometry, ids, kinds, ids, ids, ints, alive, rows, ints, rows, ints, rows, rows)

    @property
    def threshold(self) -> float:
        """The activation from which an edge is followed."""
        return LAMBDA if self.geometry.threshold is None else self.geometry.threshold

    @property
    def center(self) -> Vector:
        """(d,) the mean of all questions."""
        return np.zeros(self.dimension) if self.geometry.center is None else self.geometry.center

    def key(self, query: Vectors) -> Vector | None:
        """Returns the key of a question's vector (d,), or None without direction."""
        return key(queries.round_vector(query), self.center)

    def activate(self, key: Vector, threshold: float | None = None) -> Activation:
        """Returns the edges with an activation by a key above `threshold` (default: the calibrated one)."""
        least = self.threshold if threshold is None else threshold
        strongest = np.empty(0, np.float32)
        if len(self.starts):
            strongest = np.maximum.reduceat(self.vectors @ key.astype(np.float32), self.starts)
        chosen = np.flatnonzero((strongest > least) & self.alive)
        chosen = chosen[np.argsort(self.edges[chosen], kind="stable")]
        return Activation(self.edges[chosen], self.kinds[chosen], self.src[chosen], self.dst[chosen], strongest[chosen])

    def nearest(self, key: Vector, least: float) -> list[tuple[int, float]]:
        """Returns (trace, cosine) of the answered questions with a cosine of `least` or more, most similar first, on
        ties the newest."""
        alike = self.keys @ key.astype(np.float32)
        rows = np.flatnonzero(alike >= least)
        rows = rows[np.lexsort((-self.traces[rows], -alike[rows]))]
        return list(zip(self.traces[rows].tolist(), alike[rows].tolist(), strict=True))

    def rejected_traces(self, key: Vector) -> list[int]:
        """Returns the traces of the questions with the same intent whose answers were judged bad."""
        rejected: list[int] = self.bad[self.bad_keys @ key.astype(np.float32) >= SAME_INTENT].tolist()
        return rejected

    def was_in_vain(self, key: Vector) -> bool:
        """Whether such a question got no answer, an unproved one, or one that was judged bad."""
        return bool((self.vain_keys @ key.astype(np.float32) >= self.threshold).any())

    def with_changes(self, changed: Mapping[int, Slots], ends: Mapping[int, Ends]) -> EdgeMemory:
        """Returns the edge memory with other slots for these edges; removes edges without slots or `ends`."""
        if not changed:
            return self
        alive = self.alive & ~np.isin(self.edges, np.fromiter(changed, np.int32))
        rows = [(edge, slots) for edge, slots in sorted(changed.items()) if len(slots.vectors) and edge in ends]
        sizes = [len(slots.vectors) for _, slots in rows]
        new = replace(
            self,
            edges=append_rows(self.edges, [edge for edge, _ in rows]),
            kinds=append_rows(self.kinds, [ends[edge][0] for edge, _ in rows]),
            src=append_rows(self.src, [ends[edge][1] for edge, _ in rows]),
            dst=append_rows(self.dst, [ends[edge][2] for edge, _ in rows]),
            starts=append_rows(self.starts, len(self.vectors) + np.cumsum([0, *sizes])[:-1]),
            alive=np.concatenate([alive, np.ones(len(rows), np.bool_)]),
            vectors=append_rows(self.vectors, np.concatenate([slots.vectors for _, slots in rows]) if rows else []),
        )
        return new._compact()

    def with_answer(self, trace: int, key: Vector) -> EdgeMemory:
        """Returns the edge memory with one more well-answered question."""
        return replace(
            self, traces=append_rows(self.traces, [trace]), keys=append_rows(self.keys, key.astype(np.float32)[None])
        )

    def add_unanswered(self, key: Vector) -> EdgeMemory:
        """Returns the edge memory with one more question that was asked in vain."""
        return replace(self, vain_keys=append_rows(self.vain_keys, key.astype(np.float32)[None]))

    def _compact(self) -> EdgeMemory:
        """Removes the slots of earlier versions once they are many."""
        sizes = np.diff(self.starts, append=len(self.vectors))
        used = int(sizes[self.alive].sum())
        if len(self.vectors) - used <= max(SPARE, used):
            return self
        columns: dict[str, Any] = {name: getattr(self, name)[self.alive] for name in ("edges", "kinds", "src", "dst")}
        starts, alive = np.cumsum(sizes[self.alive]) - sizes[self.alive], np.ones(int(self.alive.sum()), np.bool_)
        return replace(self, **columns, starts=starts, alive=alive, vectors=self.vectors[np.repeat(self.alive, sizes)])


def load_edge_memory(conn: Connection, embedder_id: int, dimension: int) -> EdgeMemory:
    """Returns the stored edge memory."""
    nothing = EdgeMemory.empty(dimension, queries.geometry(conn, embedder_id))
    answered = _make_keys(nothing, *queries.load_judged(conn, embedder_id, dimension, "answered"))
    rejected = _make_keys(nothing, *queries.load_judged(conn, embedder_id, dimension, "rejected"))
    _, in_vain = _make_keys(nothing, *queries.load_judged(conn, embedder_id, dimension, "in vain"))
    edges, kinds, src, dst, starts, vectors = edge_memory.load(conn, embedder_id, dimension)
    alive, slots = np.ones(len(edges), np.bool_), vectors.astype(np.float32)
    return EdgeMemory(
        dimension, nothing.geometry, edges, kinds, src, dst, starts, alive, slots, *answered, *rejected, in_vain
    )


def _make_keys(compared: EdgeMemory, traces: NDArray[np.int64], vectors: Vectors) -> tuple[Ints, Floats]:
    """Returns (trace ids (k,), keys (k, d)) of the questions with a direction."""
    vectors_of, has_direction = keys(vectors, compared.center, np.float32)
    return traces[has_direction], vectors_of[has_direction]
