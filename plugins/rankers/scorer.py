"""The edge scorer: which edges near a question it needs, learnt from the questions that were answered before
(after ReG's triple retriever).

A network of 33 inputs, 32 hidden units and one output, in numpy. It begins as sigma: one hidden unit passes the
relevance on and the others add little, so that what it comes to differs from sigma only as far as the questions held
back show a gain. Each question is one step: a softmax over its labelled edges, in which wrong ones count by the weight
of their label. The same examples and seed give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import Walkable
from memory.retrieval.traversers import Lookup, Seeds, relevance_of
from plugins.rankers.features import MEMORY, SIGMA, WIDTH, Asked, Surroundings, features
from plugins.traversers.edge_embeddings import embed_edges
from plugins.traversers.nearby import Nearby

HIDDEN = 32
EPOCHS, PATIENCE = 60, 10
RATE, DECAY = 1e-3, 1e-4  # of Adam; L2
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # of Adam
MASKED = 0.5  # share of the questions in which memory is hidden, so that the scorer does not lean on it
PASSED_ON = 8.0  # what sigma counts at the beginning
RANK = 50

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """The labelled edges of one question: `features` of l of them, `wanted` (l,) > 0 for those that are needed, else 0,
    `weights` (l,) what each counts among all."""

    features: Floats
    wanted: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class Case:
    """All edges near one question, to measure by: their `features`, `sigma` (e,), `needed` (e,), and how many are
    needed in all, with those that are not near."""

    features: Floats
    sigma: Floats
    needed: Bools
    total: int


@dataclass(frozen=True, slots=True)
class Scorer:
    """A trained network. `scale` (WIDTH,) by which features are multiplied, `into` (WIDTH, HIDDEN), `bias` (HIDDEN,),
    `out` (HIDDEN,)."""

    scale: Doubles
    into: Doubles
    bias: Doubles
    out: Doubles

    def score_facts(
        self, lookup: Lookup, graph: Graph, seeds: Seeds, allowed: Bools, facts: Sequence[int]
    ) -> Floats | None:
        """(n,) the share of the edges near the question, and of these facts, that it finds less needed than each."""
        around = Surroundings.gather(lookup, graph, seeds, allowed, facts)
        if not len(around.near.edges):
            return None
        scores = self.score(features(*around))
        place = {edge: number for number, edge in enumerate(around.near.edges.tolist())}
        rows = np.array([place.get(one, -1) for one in facts], np.int64)
        below = np.searchsorted(np.sort(scores), scores[rows]) / len(scores)
        return np.where(rows >= 0, below, 0.0).astype(np.float32)

    def score_near(self, near: Nearby, walk: Walkable, seeds: Seeds, begin: Sequence[int]) -> Floats:
        """(e,) in (0, 1): how likely the question needs each of these edges."""
        words = embed_edges(seeds.guidance.lookup) if seeds.guidance.lookup is not None else None
        asked = Asked(tuple(begin), relevance_of(walk, seeds), words, seeds.guidance.activation, seeds.guidance.at_ms)
        return self.score(features(near, walk, asked))

    def logits(self, features: Floats) -> Doubles:
        """(e, WIDTH) -> (e,), the higher the more likely the edge is needed."""
        found: Doubles = np.maximum((features * self.scale) @ self.into + self.bias, 0) @ self.out
        return found

    def score(self, features: Floats) -> Floats:
        """(e, WIDTH) -> (e,) in (0, 1)."""
        return sigmoid(self.logits(features))

    def pack(self) -> bytes:
        """Its numbers, in float32."""
        parts = [part.ravel() for part in (self.scale, self.into, self.bias, self.out)]
        return np.concatenate(parts).astype("<f4").tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> Scorer | None:
        """The network of these numbers; None if they are those of another version."""
        sizes = [WIDTH, WIDTH * HIDDEN, HIDDEN, HIDDEN]
        if len(data) != 4 * sum(sizes):
            return None
        scale, into, bias, out = np.split(np.frombuffer(data, "<f4").astype(np.float64), np.cumsum(sizes)[:-1])
        return cls(scale, into.reshape(WIDTH, HIDDEN), bias, out)


@dataclass(frozen=True, slots=True)
class Fit:
    """A trained network, after how many epochs it was best (0: as it began), and its recall on what was held back."""

    scorer: Scorer
    epoch: int
    recall: float


@dataclass(frozen=True, slots=True)
class Gain:
    """Recall at RANK of sigma and of a scorer on the same questions, in [0, 1], their number, and the standard error
    of the mean difference, question by question."""

    sigma: float
    scorer: float
    questions: int
    error: float

    @property
    def points(self) -> float:
        """What the scorer gains, in percentage points."""
        return 100 * (self.scorer - self.sigma)


def train(
    examples: Sequence[Example],
    held: Sequence[Case],
    seed: int = 42,
    epochs: int = EPOCHS,
    rank: int = RANK,
    tick: Callable[[int], None] = lambda epoch: None,
) -> Fit:
    """Learns from examples, a step for each in an order by lot, until the recall on `held` has not risen for PATIENCE
    epochs; of equally good epochs the earlier. `tick` is called before each epoch and may raise, to break off."""
    draw = np.random.default_rng(seed)
    begin = _beginning(examples, draw)
    adam = _Adam([begin.into.copy(), begin.bias.copy(), begin.out.copy()])
    best, left = Fit(begin, 0, _mean_recall(begin, held, rank)), PATIENCE
    for epoch in range(1, epochs + 1):
        tick(epoch)
        for number in draw.permutation(len(examples)).tolist():
            adam.descend(_gradients(begin.scale, adam.values, examples[number], hide_memory=draw.random() < MASKED))
        scorer = Scorer(begin.scale, *(value.copy() for value in adam.values))
        found = _mean_recall(scorer, held, rank)
        if found > best.recall:
            best, left = Fit(scorer, epoch, found), PATIENCE
        else:
            left -= 1
            if not left:
                break
    return best


def sigmoid(logits: Doubles | Floats) -> Floats:
    """(e,) -> (e,) in (0, 1)."""
    found: Floats = (1 / (1 + np.exp(np.clip(np.negative(logits), -30, 30)))).astype(np.float32)
    return found


def compare(scorer: Scorer, cases: Sequence[Case], rank: int = RANK) -> Gain:
    """How well a scorer and sigma find the needed edges of these questions."""
    ours = [recall(case, scorer.logits(case.features), rank) for case in cases]
    plain = [recall(case, case.sigma, rank) for case in cases]
    differences = [one - other for one, other in zip(ours, plain, strict=True)]
    n = len(cases)
    spread = float(np.std(differences, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return Gain(fmean(plain) if plain else 0.0, fmean(ours) if ours else 0.0, n, spread)


def recall(case: Case, scores: Floats | Doubles, rank: int = RANK) -> float:
    """The share of the needed edges among the first `rank` by these scores (e,); of equals the earlier edge first."""
    first = np.argsort(np.negative(scores), kind="stable")[:rank]
    return float(case.needed[first].sum()) / case.total


def _mean_recall(scorer: Scorer, cases: Sequence[Case], rank: int) -> float:
    return fmean(recall(case, scorer.logits(case.features), rank) for case in cases) if cases else 0.0


def _beginning(examples: Sequence[Example], draw: np.random.Generator) -> Scorer:
    """A network that ranks as sigma does."""
    every = np.concatenate([example.features for example in examples]).astype(np.float64)
    spread = every.std(0)
    scale = np.divide(1, spread, out=np.ones(WIDTH), where=spread > 1e-6)
    into = draw.normal(0, math.sqrt(2 / WIDTH), (WIDTH, HIDDEN))
    into[:, 0] = 0
    into[SIGMA, 0] = 1 / scale[SIGMA]
    out = np.zeros(HIDDEN)
    out[0] = PASSED_ON
    return Scorer(scale, into, np.zeros(HIDDEN), out)


def _gradients(scale: Doubles, values: list[Doubles], example: Example, hide_memory: bool) -> Iterator[Doubles]:
    """Of the loss `- sum_i p_i ln softmax(s)_i` with respect to `into`, `bias`, `out`; p is what is wanted, and in the
    softmax each edge counts by its weight."""
    into, bias, out = values
    x = example.features * scale
    if hide_memory:
        x[:, MEMORY] = 0
    before = x @ into + bias
    hidden = np.maximum(before, 0)
    logits = hidden @ out
    chances = example.weights * np.exp(logits - logits.max())
    of_logits = chances / chances.sum() - example.wanted / example.wanted.sum()
    of_hidden = np.outer(of_logits, out) * (before > 0)
    yield x.T @ of_hidden
    yield of_hidden.sum(0)
    yield of_logits @ hidden


class _Adam:
    """Adam with L2 (Kingma and Ba 2015)."""

    def __init__(self, values: list[Doubles]) -> None:
        self.values = values
        self._first = [np.zeros_like(value) for value in values]
        self._second = [np.zeros_like(value) for value in values]
        self._steps = 0

    def descend(self, gradients: Iterator[Doubles]) -> None:
        """One step against these gradients."""
        self._steps += 1
        rate = RATE * math.sqrt(1 - SECOND**self._steps) / (1 - FIRST**self._steps)
        for place, gradient in enumerate(list(gradients)):
            gradient = gradient + DECAY * self.values[place]
            self._first[place] += (1 - FIRST) * (gradient - self._first[place])
            self._second[place] += (1 - SECOND) * (gradient**2 - self._second[place])
            self.values[place] -= rate * self._first[place] / (np.sqrt(self._second[place]) + TINY)
