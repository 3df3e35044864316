"""Measures over rankings, as pure functions.

A ranking holds, for each returned episode and best first, the caller's own ids (`refs`) of what stands
in it. An episode counts for all its refs; a document that became two episodes takes two places, and
is found with the first of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

Ranking = Sequence[Collection[str]]


def recall_at(gold: Collection[str], ranking: Ranking, k: int) -> float:
    """Recall@k of one question: the share of `gold` that the first `k` episodes hold, 0 to 1.

    Raises ZeroDivisionError without gold: the measure is not defined then.
    """
    wanted = set(gold)
    found = wanted.intersection(ref for refs in ranking[:k] for ref in refs)
    return len(found) / len(wanted)


def all_at(gold: Collection[str], ranking: Ranking, k: int) -> float:
    """All@k of one question: 1.0 if the first `k` episodes hold all of `gold`, else 0.0."""
    return float(recall_at(gold, ranking, k) == 1.0)


def squeeze(text: str) -> str:
    """`text` with every run of white space as one blank: what the text budget counts."""
    return " ".join(text.split())


def covered_within(gold: Mapping[str, str], returned: Sequence[tuple[Collection[str], str]], budget: int) -> float:
    """Share of the gold turns that stand whole in the first `budget` characters returned, 0 to 1.

    `gold` maps a turn's id to its words, `returned` is (refs, text) of each episode, best first. The texts
    are put one after the other, white space squeezed. A turn whose words are not found literally in an
    episode that claims it counts only if that whole episode fits.
    """
    covered: set[str] = set()
    used = 0
    for refs, text in returned:
        if used >= budget:
            break
        shown = squeeze(text)
        for ref in gold.keys() & set(refs):
            words = squeeze(gold[ref])
            at = shown.find(words)
            end = at + len(words) if at >= 0 else len(shown)
            if used + end <= budget:
                covered.add(ref)
        used += len(shown)
    return len(covered) / len(gold)


def percent(shares: Sequence[float]) -> float:
    """The mean of `shares` (0 to 1) in percent, two decimals; 0 for none."""
    return round(100 * fmean(shares), 2) if shares else 0.0


def margin(shares: Sequence[float]) -> float:
    """Half the width of the 95 % interval of the mean (normal approximation), in percent points."""
    return round(196 * stdev(shares) / math.sqrt(len(shares)), 2) if len(shares) > 1 else 0.0


def percentile(values: Sequence[float], q: float) -> float:
    """The `q`-th percentile (0 to 100, linear between neighbours), three decimals; 0 for no values."""
    return round(float(np.percentile(values, q)), 3) if len(values) else 0.0


def ratio(values: Sequence[float], of: Sequence[float]) -> float:
    """The median of `values` over the median of `of`, two decimals; 0 where that is not defined."""
    below = float(np.median(of)) if len(of) else 0.0
    return round(float(np.median(values)) / below, 2) if len(values) and below else 0.0
