"""The full head: an edge scorer as SubgraphRAG prints it, over the vectors themselves (SPEC 3.1b and 3.2; ReG@Triple).

    z = [q ; head, dde of head ; relation ; tail, dde of tail]   4 d + 20 numbers
    logit = relu(z W1 + b) w2                                    d hidden units

It is trained with PyTorch, which comes with the extra `local`, and evaluated in numpy: what was learnt is used where
PyTorch is not. The labels, the loss, the end of training and what it is measured by are those of the compact head. It
sees neither relevance nor memory and begins as nothing, so of few questions it learns little.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.adjacency import EDGE_KINDS, Walkable
from memory.graph.arrays import Floats, Ints
from memory.graph.subgraph import Nearby
from memory.ranker import scorer
from memory.ranker.scorer import EPOCHS, RANK, Case, Example, Fit, fitted, sigmoid
from memory.retrieval.edge_features import Asked, HeadName, are_starts, sigma, walked

ENCODED = 10  # numbers that tell how far an end is from the starts
MARK = b"full edge scorer"  # before its numbers: those of the compact head have none


def width(dimension: int) -> int:
    """How many numbers it reads of an edge, of an embedder with so many."""
    return 4 * dimension + 2 * ENCODED


class Shelf:
    """Vectors (d,) that several questions look at, each kept once and in half precision: those of 2,000 questions with
    1,000 vertices each would be 2 GB."""

    def __init__(self, dimension: int) -> None:
        self._rows: dict[Hashable, int] = {}
        self._vectors: NDArray[np.float16] = np.zeros((256, dimension), np.float16)

    def put(self, names: Sequence[Hashable], vectors: Floats) -> Ints:
        """(n,) names and (n, d) what they stand for -> (n,) where that is; what is there already stays."""
        for name, vector in zip(names, vectors, strict=True):
            if name not in self._rows:
                row = self._rows[name] = len(self._rows)
                if row == len(self._vectors):
                    self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
                self._vectors[row] = vector
        return np.array([self._rows[name] for name in names], np.int64)

    def __getitem__(self, rows: Ints) -> Floats:
        """(n,) -> (n, d)."""
        return self._vectors[rows].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Triples:
    """e edges as this head reads them: the question `query` (d,); `ends` (v,) and `relations` (r,) rows of the shelf,
    `encoded` (v, ENCODED); of each edge `heads`, `tails` (e,) places among the ends and `said` (e,) of its relation."""

    shelf: Shelf
    query: Floats
    ends: Ints
    encoded: Floats
    relations: Ints
    heads: Ints
    tails: Ints
    said: Ints

    def __getitem__(self, rows: Sequence[int]) -> Triples:
        """Some of the edges, with the ends that they have."""
        places, where = np.unique(np.stack([self.heads[rows], self.tails[rows]]), return_inverse=True)
        heads, tails = where.reshape(2, -1)
        return replace(
            self, ends=self.ends[places], encoded=self.encoded[places], heads=heads, tails=tails, said=self.said[rows]
        )

    def dense(self) -> Floats:
        """(e, 4 d + 20)."""
        asked = np.broadcast_to(self.query, (len(self.heads), len(self.query)))
        ends = np.hstack([self.shelf[self.ends], self.encoded])
        return np.hstack([asked, ends[self.heads], self.shelf[self.relations][self.said], ends[self.tails]])


def triples(near: Nearby, asked: Asked, shelf: Shelf | None = None) -> Triples | None:
    """What this head reads of the edges near a question, with their vectors on `shelf`; None if nobody knows what they
    say. Of a relation it reads the predicate, of any other edge the name of its kind."""
    words = asked.wording
    if words is None:
        return None
    shelf = shelf or Shelf(words.dimension)
    told = {edge: one.predicate for edge, one in words.told(near).items()}
    kinds = [EDGE_KINDS[kind] for kind in near.kinds.tolist()]
    said = [told.get(edge, kind) for edge, kind in zip(near.edges.tolist(), kinds, strict=True)]
    different = sorted(set(said))
    place = {text: number for number, text in enumerate(different)}
    return Triples(
        shelf,
        words.query.astype(np.float32),
        shelf.put(near.vertices.tolist(), words.vertices(near.vertices)),
        encoding(near, asked.starts),
        shelf.put(different, words.texts(different)),
        near.heads,
        near.tails,
        np.array([place[text] for text in said], np.int64),
    )


def encoding(near: Nearby, starts: Sequence[int]) -> Floats:
    """(v, ENCODED) the directional distance encoding: whether a vertex is a start or is none, and the mean of both that
    arrives after one and two rounds with the edges and after one and two against them."""
    start = are_starts(near, starts)
    begin = np.stack([start, 1 - start], 1)
    return np.hstack([begin, *walked(near, begin)])


@dataclass(frozen=True, slots=True)
class FullScorer:
    """A network. `into` (4 d + 20, d), `bias` (d,), `out` (d,), in float32."""

    into: Floats
    bias: Floats
    out: Floats

    @property
    def head(self) -> HeadName:
        return "full"

    def near(self, near: Nearby, walk: Walkable, asked: Asked) -> Floats:
        """(e,) in (0, 1); relevance where nobody knows what the edges say."""
        seen = triples(near, asked)
        return sigma(near, asked.relevance) if seen is None else sigmoid(self.logits(seen))

    def logits(self, features: Triples) -> Floats:
        """(e,), the higher the more likely the edge is needed. What an end adds is worked out once for all its edges:
        the same as `features.dense()` through the network, in a tenth of the time."""
        d = len(self.out)
        asked, head, relation, tail = np.split(self.into, [d, 2 * d + ENCODED, 3 * d + ENCODED])
        ends = np.hstack([features.shelf[features.ends], features.encoded])
        hidden = (ends @ head)[features.heads] + (ends @ tail)[features.tails]
        hidden += (features.shelf[features.relations] @ relation)[features.said] + (features.query @ asked + self.bias)
        found: Floats = np.maximum(hidden, 0) @ self.out
        return found

    def packed(self) -> bytes:
        """Its numbers, in float32, behind MARK."""
        return MARK + np.concatenate([self.into.ravel(), self.bias, self.out]).astype("<f4").tobytes()

    @classmethod
    def unpacked(cls, data: bytes, dimension: int) -> FullScorer | None:
        """The network of these numbers; None if they are those of another head, or of other vectors."""
        sizes = [width(dimension) * dimension, dimension, dimension]
        if not data.startswith(MARK) or len(data) != len(MARK) + 4 * sum(sizes):
            return None
        numbers = np.frombuffer(data, "<f4", offset=len(MARK)).astype(np.float32)
        into, bias, out = np.split(numbers, np.cumsum(sizes)[:-1])
        return cls(into.reshape(width(dimension), dimension), bias, out)


def can_train() -> bool:
    """Whether PyTorch is there. Loads it, which takes a second or more."""
    try:
        importlib.import_module("torch")
    except (ImportError, OSError):  # not installed, or its libraries are not for this machine
        return False
    return True


def train_full(
    examples: Sequence[Example[Triples]],
    held: Sequence[Case[Triples]],
    seed: int = 42,
    epochs: int = EPOCHS,
    rank: int = RANK,
    tick: Callable[[int], None] = lambda epoch: None,
) -> Fit[FullScorer]:
    """As `scorer.train`. Raises ImportError without PyTorch: see `can_train`."""
    import torch

    draw = np.random.default_rng(seed)
    begin = _beginning(len(examples[0].features.query), draw)
    values: list[Any] = [torch.tensor(one, requires_grad=True) for one in (begin.into, begin.bias, begin.out)]
    adam = torch.optim.Adam(
        values, scorer.RATE, (scorer.FIRST, scorer.SECOND), scorer.TINY, weight_decay=scorer.DECAY, fused=True
    )

    def step(example: Example[Triples]) -> None:
        logits = torch_logits(values, example.features)
        chances = torch.log_softmax(logits + torch.from_numpy(np.log(example.weights)), 0)
        adam.zero_grad()
        (-(torch.from_numpy(example.wanted / example.wanted.sum()) * chances).sum()).backward()
        adam.step()

    def now() -> FullScorer:
        return FullScorer(*(value.detach().numpy().copy() for value in values))

    threads = torch.get_num_threads()
    torch.set_num_threads(
        1
    )  # a step is so short that several wait for each other: ten times the time on a busy machine
    try:
        return fitted(begin, step, now, examples, held, draw, epochs, rank, tick)
    finally:
        torch.set_num_threads(threads)


def torch_logits(values: Sequence[Any], features: Triples) -> Any:
    """(e,) by PyTorch, from tensors as `into`, `bias` and `out`; what `FullScorer.logits` has to equal."""
    import torch

    into, bias, out = values
    return torch.relu(torch.from_numpy(features.dense()) @ into + bias) @ out


def _beginning(dimension: int, draw: np.random.Generator) -> FullScorer:
    into = draw.normal(0, math.sqrt(2 / width(dimension)), (width(dimension), dimension))
    out = draw.normal(0, math.sqrt(1 / dimension), dimension)
    return FullScorer(into.astype(np.float32), np.zeros(dimension, np.float32), out.astype(np.float32))
