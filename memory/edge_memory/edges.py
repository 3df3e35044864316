"""The algebra of edge memory: what an edge keeps of the questions it helped to answer.

After ReMindRAG (Hu et al. 2025), which gives each edge one vector, adds the direction of a question that the edge
helped with (equation 1) and follows an edge again where the next question points the same way (equation 2). Here an
edge has several slots, because one vector serves one intent only; questions are compared without what all of them have
in common; and a penalty takes a fixed share, because equation 1 takes nothing at all from a saturated edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from memory.store.edge_memory import FORGOTTEN, Slots

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
TINY = 1e-6  # a key shorter than this has no direction


def delta(norm: float) -> float:
    """`2/pi cos(pi/2 x)`, with x held in [0, 1], where equation 1 of ReMindRAG means something."""
    return 2 / math.pi * math.cos(math.pi / 2 * min(max(norm, 0.0), 1.0))


def key(query: NDArray[np.floating], center: NDArray[np.floating]) -> Vector | None:
    """What a question is remembered by: `unit(unit(query) - center)`, both (d,); None if it has no direction.

    `center` is the mean of the unit vectors of questions, so that what all of them have in common does not count.
    """
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


def _lengths(vectors: Vector) -> Vector:
    """(n,) of (n, d): one after the other, because the sums of many at once are rounded otherwise."""
    return np.sqrt([vector @ vector for vector in vectors])


def activation(slots: Slots, key: Vector) -> float:
    """m(k, e) in [0, 1]: how strongly an edge fires, `max(0, max_i v_i k)`."""
    if not len(slots.vectors):
        return 0.0
    return max(0.0, float((slots.vectors.astype(np.float64) @ key).max()))


def reinforce(slots: Slots, key: Vector, most: int = SLOTS, now: int = 0) -> Slots:
    """What an edge remembers after it helped with a question; never less of that question, unless a slot had to go.

    The slot that points the same way (cosine >= 0.5) grows by `delta(|v|) k`; without one a new slot begins, in place
    of the shortest if there are `most` already. The same question once, twice, three times: .63662, .980587, .999997.
    """
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
    what fires goes, `v - rho (v k) k`, and a slot of norm 0.15 or less is given up. Never more of that question.
    """
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
    evidence stay below, within [0.40, 0.75]. None if there are fewer than 200 such pairs.

    `keys` (n, d) unit vectors; `evidence` (n,) the episodes that answered each.
    """
    known = [place for place, episodes in enumerate(evidence) if episodes]
    column = {episode: place for place, episode in enumerate(sorted(frozenset().union(*evidence)))}
    columns = [column[episode] for place in known for episode in sorted(evidence[place])]
    ends = np.cumsum([0, *(len(evidence[place]) for place in known)])
    shared = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(known), len(column)))
    apart = (shared @ shared.T).toarray() == 0
    alike = keys[known].astype(np.float64) @ keys[known].T if known else np.empty((0, 0))
    pairs = alike[np.tril(apart, -1)]
    if len(pairs) < PAIRS:
        return None
    return float(np.clip(np.quantile(pairs, QUANTILE), LEAST_LAMBDA, MOST_LAMBDA))
