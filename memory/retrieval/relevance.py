"""Relevance: how well a vertex fits the question, in [0, 1] (sigma of SPEC 7.4). It leads the traversers.

A passage that answers need not look like the question: what makes it relevant is often that it is about an object that
a similar passage mentions. So all relevance is guessed from the text scores along the graph.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from memory.graph.adjacency import EPISODE, OBJECT, THESIS, index
from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.top_k import top_k

GUESSED_FROM = 50  # best episodes, from which it is guessed how relevant an object is


class Guess:
    """Relevance from the episodes' scores (n,) alone. Of an object: the best score of the GUESSED_FROM best episodes
    that mention it. Of an episode: its score, or that of an object that titles it, the rarer the more (without this
    beam's recall at 5 falls from 88 to 83 on hotpotqa). Of a thesis: its episode's."""

    def __init__(self, graph: Graph, scores: Floats, allowed: Bools) -> None:
        self._graph = graph
        self._scores = scores
        self._allowed = allowed

    @cached_property
    def _known(self) -> tuple[Floats, Floats]:
        """(n,) of the episodes and (m,) of the objects."""
        own = np.where(self._allowed, np.clip(self._scores, 0, 1), 0).astype(np.float32)
        rows = top_k(own, self._allowed, GUESSED_FROM)
        mentions = self._graph.counts[rows]
        objects = np.zeros(len(self._graph.object_ids), np.float32)
        np.maximum.at(objects, mentions.indices, np.repeat(own[rows], np.diff(mentions.indptr)))
        episodes = np.where(self._allowed, np.maximum(own, self._of_titles(objects)), 0).astype(np.float32)
        return episodes, objects

    def _of_titles(self, objects: Floats) -> Floats:
        """(n,) the best relevance times rarity of the objects that give an episode its title."""
        titled = self._graph.titled
        worth = objects * self._graph.idf / max(1e-6, float(self._graph.idf.max(initial=0.0)))
        found = np.zeros(titled.shape[0], np.float32)
        np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(titled.indptr)), worth[titled.indices])
        return found

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v,)."""
        places = index(self._graph)
        kinds, rows = places.kinds[vertices], places.rows[vertices]
        episodes, objects = self._known
        found = np.zeros(len(vertices), np.float32)
        for kind, scores in ((EPISODE, episodes), (OBJECT, objects)):
            found[kinds == kind] = scores[rows[kinds == kind]]
        found[kinds == THESIS] = episodes[self._graph.theses.rows[rows[kinds == THESIS]]]
        return found
