"""The edge scorer: which edges near a question it needs, learnt from earlier answered questions (after ReG's triple
retriever).

A network of 28 inputs, 32 hidden units and one output, in numpy. It is initialised as sigma: one hidden unit passes the
relevance on and the others add little, so it departs from sigma only where the validation questions show a gain. Each
question is one step: a softmax over its labelled edges, in which negatives are weighted by their labels. The same
examples and seed give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.graph.arrays import Bools, Floats
from memory.graph.walk import Walkable
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.rankers.features import SIGMA, WIDTH, Surroundings, features
from plugins.traversers.subgraph import GraphEmbeddings, Subgraph

HIDDEN = 32
SIZES = (WIDTH, WIDTH * HIDDEN, HIDDEN, HIDDEN)
EPOCHS, PATIENCE = 60, 10
RATE = 1e-3  # of Adam
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # of Adam
PASSED_ON = 8.0  # what sigma counts at the beginning
RANK = 50

Doubles = NDArray[np.float64]


class Example(NamedTuple):
    """The e edges near one question: their `features`; for training, `wanted` (e,) > 0 for needed edges with their
    shares, and `weights` (e,), 0 for edges without a label; for measuring, which are `needed` (e,), and the number of
    needed edges including those that are not near."""

    features: Floats
    wanted: Floats
    weights: Floats
    needed: Bools
    total: int


@dataclass(frozen=True, slots=True)
class Scorer:
    """A trained network, a `memory.retrieval.traversers.EdgeScorer`. `scale` (WIDTH,) by which features are multiplied,
    `into` (WIDTH, HIDDEN), `bias` (HIDDEN,), `out` (HIDDEN,)."""

    scale: Doubles
    into: Doubles
    bias: Doubles
    out: Doubles

    def score_edges(self, near: Subgraph, walk: Walkable, seeds: Seeds, begin: Mapping[int, float]) -> Floats:
        """(e,) in (0, 1): how likely the question needs each of these edges."""
        words = GraphEmbeddings(seeds.guidance.lookup) if seeds.guidance.lookup is not None else None
        return self.score(features(Surroundings(near, walk, tuple(begin), relevance_of(walk, seeds), words)))

    def logits(self, features: Floats) -> Doubles:
        """Returns (e, WIDTH) -> (e,), the higher the more likely the edge is needed."""
        return np.maximum((features * self.scale) @ self.into + self.bias, 0) @ self.out

    def score(self, features: Floats) -> Floats:
        """Returns (e, WIDTH) -> (e,) in (0, 1)."""
        return (1 / (1 + np.exp(np.clip(-self.logits(features), -30, 30)))).astype(np.float32)

    def pack(self) -> bytes:
        """Returns its numbers, in float32."""
        parts = [part.ravel() for part in (self.scale, self.into, self.bias, self.out)]
        return np.concatenate(parts).astype("<f4").tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> Scorer | None:
        """Returns the network of these numbers; None for numbers of another version."""
        if len(data) != 4 * sum(SIZES):
            return None
        return cls.from_numbers(np.frombuffer(data, "<f4").astype(np.float64))

    @classmethod
    def from_numbers(cls, numbers: Doubles) -> Scorer:
        """Returns (sum of SIZES,): the network whose parts are views of this array."""
        scale, into, bias, out = np.split(numbers, np.cumsum(SIZES)[:-1])
        return cls(scale, into.reshape(WIDTH, HIDDEN), bias, out)


class Gain(NamedTuple):
    """Recall at RANK of sigma and of a scorer on the same questions, in [0, 1], their number, and the standard error
    of the mean difference, question by question."""

    sigma: float
    scorer: float
    questions: int
    error: float

    @property
    def points(self) -> float:
        return 100 * (self.scorer - self.sigma)


def train(
    examples: Sequence[Example],
    validation: Sequence[Example],
    seed: int = 42,
    epochs: int = EPOCHS,
    rank: int = RANK,
    tick: Callable[[int], None] = lambda epoch: None,
) -> tuple[Scorer, int]:
    """Learns by Adam (Kingma and Ba 2015), one example per step in random order, until the recall on the `validation`
    set has not risen for PATIENCE epochs. Returns the scorer and its best epoch (0: initial), the earlier of equals.
    `tick` is called before each epoch and may raise to cancel."""
    draw = np.random.default_rng(seed)
    labelled = [_keep_labelled(example) for example in examples]
    numbers = _begin(labelled, draw)
    learnt = slice(WIDTH, None)  # the scale of features stays
    first, second = np.zeros_like(numbers[learnt]), np.zeros_like(numbers[learnt])
    best, best_epoch, steps = Scorer.from_numbers(numbers.copy()), 0, 0
    best_recall = _mean_recall(best, validation, rank)
    for epoch in range(1, epochs + 1):
        tick(epoch)
        for number in draw.permutation(len(labelled)).tolist():
            steps += 1
            gradient = _gradient(Scorer.from_numbers(numbers), labelled[number])
            first += (1 - FIRST) * (gradient - first)
            second += (1 - SECOND) * (gradient**2 - second)
            rate = RATE * math.sqrt(1 - SECOND**steps) / (1 - FIRST**steps)
            numbers[learnt] -= rate * first / (np.sqrt(second) + TINY)
        scorer = Scorer.from_numbers(numbers.copy())
        mean_recall = _mean_recall(scorer, validation, rank)
        if mean_recall > best_recall:
            best, best_epoch, best_recall = scorer, epoch, mean_recall
        elif epoch - best_epoch == PATIENCE:
            break
    return best, best_epoch


def compare(scorer: Scorer, examples: Sequence[Example], rank: int = RANK) -> Gain:
    """How well a scorer and sigma find the needed edges of these questions."""
    scored = [recall(example, scorer.logits(example.features), rank) for example in examples]
    by_sigma = [recall(example, example.features[:, SIGMA], rank) for example in examples]
    n = len(examples)
    error = float(np.std(np.subtract(scored, by_sigma), ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return Gain(fmean(by_sigma or [0.0]), fmean(scored or [0.0]), n, error)


def recall(example: Example, scores: Floats | Doubles, rank: int = RANK) -> float:
    """The share of the needed edges among the first `rank` by these scores (e,); of equals the earlier edge first."""
    first = np.argsort(np.negative(scores), kind="stable")[:rank]
    return float(example.needed[first].sum()) / example.total


def _mean_recall(scorer: Scorer, examples: Sequence[Example], rank: int) -> float:
    return fmean(recall(example, scorer.logits(example.features), rank) for example in examples) if examples else 0.0


def _keep_labelled(example: Example) -> Example:
    rows = example.weights > 0
    return example._replace(features=example.features[rows], wanted=example.wanted[rows], weights=example.weights[rows])


def _begin(examples: Sequence[Example], draw: np.random.Generator) -> Doubles:
    """Returns (sum of SIZES,) of a network that ranks as sigma does."""
    every = np.concatenate([example.features for example in examples]).astype(np.float64)
    spread = every.std(0)
    numbers = np.zeros(sum(SIZES))
    begin = Scorer.from_numbers(numbers)
    begin.scale[:] = np.divide(1, spread, out=np.ones(WIDTH), where=spread > 1e-6)
    begin.into[:] = draw.normal(0, math.sqrt(2 / WIDTH), (WIDTH, HIDDEN))
    begin.into[:, 0] = 0
    begin.into[SIGMA, 0] = 1 / begin.scale[SIGMA]
    begin.out[0] = PASSED_ON
    return numbers


def _gradient(scorer: Scorer, example: Example) -> Doubles:
    """Gradient of the loss `- sum_i p_i ln softmax(s)_i` with respect to all numbers except the scale; p is the wanted
    distribution, and each edge counts in the softmax by its weight."""
    x = example.features * scorer.scale
    before = x @ scorer.into + scorer.bias
    hidden = np.maximum(before, 0)
    logits = hidden @ scorer.out
    chances = example.weights * np.exp(logits - logits.max())
    of_logits = chances / chances.sum() - example.wanted / example.wanted.sum()
    of_hidden = np.outer(of_logits, scorer.out) * (before > 0)
    return np.concatenate([(x.T @ of_hidden).ravel(), of_hidden.sum(0), of_logits @ hidden])
