"""Rank: one order for what all stages found, from named features.

Discovery and ranking are apart: a traverser says how near an episode is, this module says what counts.
"""

from __future__ import annotations

import numpy as np

from memory.graph import Bools, Floats, Ints
from memory.recall.text import TextScores
from memory.recall.traversers import Walk

TEXT_TIE = 1e-3  # text decides between episodes that the walk did not tell apart, or never reached


def final_scores(text: TextScores, walk: Walk | None) -> Floats:
    """(n,) the walk's mass, scaled so that its largest is 1, and the fused text score as the tie-breaker."""
    if walk is None or not walk.episodes.any():
        return text.fused
    scores: Floats = walk.episodes / walk.episodes.max() + TEXT_TIE * text.fused
    return scores


def best(scores: Floats, allowed: Bools, k: int) -> Ints:
    """Rows of the `k` best allowed episodes that scored at all, best first; ties by row."""
    candidates = np.flatnonzero(allowed & (scores > 0))
    if len(candidates) > 4 * k:
        top = np.argpartition(-scores[candidates], 4 * k)[: 4 * k]
        floor = scores[candidates[top]].min()
        candidates = candidates[scores[candidates] >= floor]
    order = np.lexsort((candidates, -scores[candidates]))
    rows: Ints = candidates[order[:k]]
    return rows
