"""Text channel: full text (BM25) and vectors, each over all episodes, and the two fused (SPEC 7.4 S3a).

Scores are min-max fused, not by rank: spread starts from them, and it matters there how much better one
passage is than the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory.graph import Bools, Floats

DIGITS = 6  # of a scaled score: what lies behind them depends on where in a matrix a vector stands


@dataclass(frozen=True, slots=True)
class TextScores:
    """Per episode row (n,): `lexical` BM25 >= 0, `vector` cosine, `fused` in [0, 1]; 0 where not allowed.

    `best_cosine` and `best_lexical` are the channels' raw maxima, which fusion takes away and NoAnswer needs.
    """

    lexical: Floats
    vector: Floats
    fused: Floats
    best_lexical: float
    best_cosine: float


def fuse(lexical: Floats, vector: Floats, allowed: Bools, lexical_weight: float) -> TextScores:
    """Both channels scaled to [0, 1] over the allowed episodes and mixed; a channel that says nothing is left out."""
    lexical = np.where(allowed, lexical, 0).astype(np.float32)
    vector = np.where(allowed, vector, 0).astype(np.float32)
    weight = lexical_weight
    if not lexical.any():
        weight = 0.0
    elif not vector.any():
        weight = 1.0
    fused = np.zeros(len(lexical), np.float32)
    fused[allowed] = weight * _scaled(lexical[allowed]) + (1 - weight) * _scaled(vector[allowed])
    return TextScores(lexical, vector, fused, float(lexical.max(initial=0.0)), float(vector.max(initial=0.0)))


def _scaled(values: Floats) -> Floats:
    """To [0, 1], from the least value or 0, whichever is lower, to the greatest: what is found alone is found, and
    rounding does not decide between two passages that say the same."""
    low, high = min(0.0, float(values.min(initial=0.0))), float(values.max(initial=0.0))
    if high <= low:
        return np.zeros_like(values)
    scaled: Floats = np.round((values - low) / (high - low), DIGITS).astype(np.float32)
    return scaled
