"""Relevance: how well a vertex fits the question, in [0, 1] (sigma of SPEC 7.4). It leads the traversers.

A passage that answers need not look like the question: what makes it relevant is often that it is about an object that
a similar passage mentions. So all relevance is guessed from the text scores along the graph, and of sentences what they
mean can be looked at as well, up to a budget for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from memory.graph.adjacency import EPISODE, OBJECT, THESIS, Index, index
from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.top_k import top_k
from memory.protocols import Vectors

GUESSED_FROM = 50  # best episodes, from which it is guessed how relevant an object is
USUAL, BEST = 0.5, 0.999  # quantiles of the episodes' cosines that make relevance 0 and 1

Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""Node ids of theses and objects -> their words."""


class Guess:
    """Relevance from the episodes' scores (n,) alone. Of an object: the best score of the GUESSED_FROM best episodes
    that mention it. Of an episode: its score, or that of an object that titles it, the rarer the more (without this
    beam's recall at 5 falls from 88 to 83 on hotpotqa). Of a thesis: its episode's."""

    def __init__(self, graph: Graph, scores: Floats, allowed: Bools) -> None:
        self._graph = graph
        self._index = index(graph)
        own = np.where(allowed, np.clip(scores, 0, 1), 0).astype(np.float32)
        rows = top_k(own, allowed, GUESSED_FROM)
        mentions = graph.counts[rows]
        self._objects = np.zeros(len(graph.object_ids), np.float32)
        np.maximum.at(self._objects, mentions.indices, np.repeat(own[rows], np.diff(mentions.indptr)))
        self._episodes = np.where(allowed, np.maximum(own, self._of_titles()), 0).astype(np.float32)

    def _of_titles(self) -> Floats:
        """(n,) the best relevance times rarity of the objects that give an episode its title."""
        titled = self._graph.titled
        worth = self._objects * self._graph.idf / max(1e-6, float(self._graph.idf.max(initial=0.0)))
        found = np.zeros(titled.shape[0], np.float32)
        np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(titled.indptr)), worth[titled.indices])
        return found

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v,)."""
        kinds, rows = self._index.kinds[vertices], self._index.rows[vertices]
        found = np.zeros(len(vertices), np.float32)
        for kind, scores in ((EPISODE, self._episodes), (OBJECT, self._objects)):
            found[kinds == kind] = scores[rows[kinds == kind]]
        found[kinds == THESIS] = self._episodes[self._graph.theses.rows[rows[kinds == THESIS]]]
        return found


class Meaning:
    """Vectors of vertices: an episode's from the snapshot, of a thesis or object made when it is asked for, until
    `budget` of them were."""

    def __init__(
        self,
        graph: Graph,
        vectors: Vectors | None,
        dimension: int,
        embed: Callable[[Sequence[str]], Vectors],
        texts: Texts,
        budget: int,
    ) -> None:
        self._graph = graph
        self._episodes = vectors
        self._dimension = dimension
        self._embed = embed
        self._texts = texts
        self.budget = budget
        self._known: dict[int, Floats] = {}

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v, d) unit vectors, zeros where there is none or the budget is used up."""
        self.embed([vertex for vertex in vertices.tolist() if self._index.kinds[vertex] != EPISODE])
        found = np.zeros((len(vertices), self._dimension), np.float32)
        for place, vertex in enumerate(vertices.tolist()):
            if self._index.kinds[vertex] != EPISODE:
                found[place] = self._known.get(vertex, 0.0)
            elif self._episodes is not None:
                found[place] = self._episodes[self._index.rows[vertex]]
        return found

    @property
    def _index(self) -> Index:
        return index(self._graph)

    def embed(self, vertices: Sequence[int]) -> None:
        """Makes the vectors of the first of these theses and objects that have none yet, as far as the budget goes."""
        new = [vertex for vertex in dict.fromkeys(vertices) if vertex not in self._known][: self.budget]
        if new:
            words = self._texts(new)
            self.budget -= len(new)
            matrix = self._embed([words.get(vertex, "") for vertex in new])
            self._known.update(zip(new, matrix, strict=True))


class Relevance:
    """A question's relevance: guesses, and half of it, for as many theses as may be embedded, what they mean.

    `scores` (n,) in [0, 1] and `cosines` (n,) of the episodes with the question, of which the allowed ones say what is
    usual; `query` gives the question's vector. All is worked out when it is first asked for.
    """

    def __init__(
        self,
        graph: Graph,
        scores: Floats,
        cosines: Floats,
        allowed: Bools,
        query: Callable[[], Floats],
        meaning: Meaning,
    ) -> None:
        self._graph = graph
        self._scores = scores
        self._cosines = cosines
        self._allowed = allowed
        self._ask = query
        self._meaning = meaning
        self._meant: dict[int, float] = {}

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v,) in [0, 1]."""
        found = self._guess(vertices)
        if self._meaning.budget or self._meant:
            theses = np.flatnonzero(index(self._graph).kinds[vertices] == THESIS)
            self._look(vertices[theses], found[theses])
            for place, vertex in zip(theses.tolist(), vertices[theses].tolist(), strict=True):
                if vertex in self._meant:
                    found[place] = (found[place] + self._meant[vertex]) / 2
        return found

    def _look(self, theses: Ids, guesses: Floats) -> None:
        """Embeds the most promising of these that were not yet, as far as the budget goes."""
        new = np.array([vertex not in self._meant for vertex in theses.tolist()], np.bool_)
        order = np.lexsort((theses[new], -guesses[new]))[: self._meaning.budget]
        if len(order):
            chosen = theses[new][order]
            low, high = self._usual
            meant = np.clip((self._meaning(chosen) @ self._query - low) / (high - low), 0, 1)
            self._meant.update(zip(chosen.tolist(), meant.tolist(), strict=True))

    @cached_property
    def _guess(self) -> Guess:
        return Guess(self._graph, self._scores, self._allowed)

    @cached_property
    def _query(self) -> Floats:
        return self._ask()

    @cached_property
    def _usual(self) -> tuple[float, float]:
        """The cosines that make relevance 0 and 1."""
        seen = self._cosines[self._allowed]
        low, high = np.quantile(seen, (USUAL, BEST)) if len(seen) else (0.0, 1.0)
        return float(low), float(max(high, low + 1e-3))
