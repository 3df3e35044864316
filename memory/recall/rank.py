"""Rank: one order for what all stages found, from named features.

Discovery and ranking are apart: a traverser says how near an episode is, this module says what counts.
"""

from __future__ import annotations

import numpy as np

from memory.graph import Bools, Floats, Ints
from memory.recall.text import TextScores
from memory.recall.traversers import Walk

MASS_POWER = 0.8  # below 1: what lies further off loses less, so that the second of two things asked about is not lost


def final_scores(text: TextScores, walk: Walk | None, graph_weight: float) -> Floats:
    """(n,) the walk's mass, scaled so that its largest is 1, mixed with the fused text score, both in [0, 1].

    Passages that need several steps are found by the walk; the text's share keeps it from drowning the plain ones.
    """
    if walk is None or not walk.episodes.any():
        return text.fused
    reached = np.flatnonzero(walk.episodes)
    scores: Floats = (1 - graph_weight) * text.fused
    scores[reached] += graph_weight * (walk.episodes[reached] / walk.episodes.max()) ** MASS_POWER
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
