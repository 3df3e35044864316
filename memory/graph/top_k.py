"""Top-k selection over scores of rows."""

from __future__ import annotations

import numpy as np

from memory.graph.arrays import Bools, Floats, Ints


def top_k(scores: Floats, allowed: Bools, k: int) -> Ints:
    """Rows of the `k` best allowed episodes that scored at all, best first; ties by row."""
    candidates = np.flatnonzero(allowed & (scores > 0))
    if len(candidates) > 4 * k:
        top = np.argpartition(-scores[candidates], 4 * k)[: 4 * k]
        floor = scores[candidates[top]].min()
        candidates = candidates[scores[candidates] >= floor]
    order = np.lexsort((candidates, -scores[candidates]))
    rows: Ints = candidates[order[:k]]
    return rows
