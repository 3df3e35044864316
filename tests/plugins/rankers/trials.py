"""Small worlds in which something, or nothing, is to be learnt about edges; each seed is another one."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from plugins.rankers.features import SIGMA, WIDTH
from plugins.rankers.scorer import Example, Gain, Scorer, compare, train
from plugins.rankers.training import decide_promotion

EDGES, RANK = 60, 6
OLDER, HELD, NEWEST, LATER = 48, 12, 15, 60  # questions
SIGNAL = 20  # the feature that tells something

Kind = Literal["noise", "signal", "was"]
KINDS: tuple[Kind, ...] = ("noise", "signal", "was")


class Trial(NamedTuple):
    """Whether the scorer was promoted on the newest questions, and what it gains on those that come later."""

    kind: Kind
    promoted: bool
    gate: Gain
    later: Gain


def trial(seed: int) -> Trial:
    """Trains on a world and decides, as a night does; the later questions are seen by nobody before."""
    draw, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    asked = [_question(draw, kind, number) for number in range(OLDER + HELD + NEWEST + LATER)]
    held, newest, later = np.split(np.arange(OLDER, len(asked)), [HELD, HELD + NEWEST])
    scorer, _ = train(asked[:OLDER], [asked[place] for place in held], seed, rank=RANK)
    gate = compare(scorer, [asked[place] for place in newest], RANK)
    promoted, _ = decide_promotion(gate, None)
    return Trial(kind, promoted, gate, compare(scorer, [asked[place] for place in later], RANK))


def scorer_of(seed: int) -> Scorer:
    """The scorer that a world teaches."""
    draw, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    asked = [_question(draw, kind, number) for number in range(OLDER + HELD)]
    return train(asked[:OLDER], asked[OLDER:], seed, rank=RANK)[0]


def _question(draw: np.random.Generator, kind: Kind, number: int) -> Example:
    """The edges of one question, of which three are needed: those that sigma and, by kind, something else tells. "was":
    until it stops to be true in the newest questions."""
    features = draw.random((EDGES, WIDTH)).astype(np.float32)
    told = features[:, SIGMA] + draw.normal(0, 0.3, EDGES)
    old = number < OLDER
    if kind == "signal" or (kind == "was" and old):
        told = told + 1.5 * features[:, SIGNAL]
    needed = np.zeros(EDGES, np.bool_)
    needed[np.argsort(-told)[:3]] = True
    weights = np.where(needed, 1.0, 0.2).astype(np.float32)
    return Example(features, 1.5 * needed.astype(np.float32), weights, needed, 3)
