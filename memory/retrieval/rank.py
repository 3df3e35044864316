"""Rank: one order for what all stages found, from named features.

Discovery and ranking are apart: a traverser says how near an episode is, this module says what counts.
"""

from __future__ import annotations

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ints
from memory.retrieval.text_search import TextScores
from memory.retrieval.traversers import Walk
from memory.settings import RecallSettings

MASS_POWER = 0.7  # below 1: what lies further off loses less, so that the second of two things asked about is not lost


def final_scores(text: TextScores, walk: Walk | None, links: Floats, graph: Graph, settings: RecallSettings) -> Floats:
    """(n,) in [0, 1]: `g * mass^0.7 + (1 - g) * fused text`, and where there are links `(that + l * links) / (1 + l)`.

    Passages that need several steps are found by the walk; the text's share keeps it from drowning the plain ones. In a
    chat the words of a turn tell more, and what it mentions less, than in a note: there the graph's share g is smaller.
    """
    if walk is None or not walk.episodes.any():
        return text.fused
    share = np.where(graph.is_chat, np.float32(settings.chat_graph_weight), np.float32(settings.graph_weight))
    scores: Floats = (1 - share) * text.fused
    reached = np.flatnonzero(walk.episodes)
    scores[reached] += share[reached] * (walk.episodes[reached] / walk.episodes.max()) ** MASS_POWER
    if links.any():
        scores += np.float32(settings.link_weight) * links
        scores /= np.float32(1 + settings.link_weight)
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
