"""Filter: which facts a question needs, the most needed first (SPEC 7.4 S7).

    sigma + MEMORY * m            as long as nothing was learnt
    sigma + LEARNT * p            with a scorer in use, which knows m

`m` is how strongly an edge fires, `p` the share of all edges near the question that the scorer finds less needed. The
scorer alone would be worse: it learns from passages that were cited, so it knows which way leads to a passage and not
which of a hundred facts about one person is asked for (benchmarks/README.md, answers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Floats
from memory.graph.subgraph import DEPTH, MOST, directed
from memory.protocols import Embedder
from memory.retrieval.circles import draw
from memory.retrieval.edge_embeddings import wording
from memory.retrieval.edge_features import Asked, EdgeScorer
from memory.retrieval.result import RetrievalResult
from memory.retrieval.walking import relevance_of, starts, walkable
from memory.store.connect import Connection

LEAST = 0.1  # score of a fact that has to do with the question: three of four near one have less
MEMORY = 0.2
LEARNT = 0.1  # with 0.2 it finds less where the scorer never saw a fact cited
_PARTS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.25)  # of sigma, as they stand there


class Candidate(NamedTuple):
    """A fact between two objects: its edge id, its words and those of its predicate, the sentence that tells it, which
    shares of the question's words stand in its words and in these and the sentence, the score of the best passage that
    tells it, as a share of the best one's, and whether the question names its subject."""

    id: int
    words: str
    predicate: str
    sentence: str
    shared: float
    shared_by_all: float
    rank: float
    is_named: bool


class Worths(NamedTuple):
    """(n,) what facts are worth. `shadow` (n,): what they would be with a scorer that is not used, if there is one."""

    used: Floats
    shadow: Floats | None = None


def worths(
    conn: Connection,
    found: RetrievalResult,
    facts: Sequence[Candidate],
    embedder: Embedder,
    shadow: EdgeScorer | None = None,
) -> Worths:
    """How likely the question needs each of these facts. `embedder` compares words; `conn` must see what the recall
    saw."""
    plain = sigma(facts, found.question.text, embedder)
    memory = np.array([found.start.memory.get(one.id, 0.0) for one in facts], np.float32)
    scorers = [found.start.scorer, shadow]
    by_scorer = [None, None] if not len(facts) or scorers == [None, None] else _learnt(conn, found, facts, scorers)
    used, other = (plain + LEARNT * one if one is not None else None for one in by_scorer)
    return Worths(plain + MEMORY * memory if used is None else used, other)


def sigma(facts: Sequence[Candidate], question: str, embedder: Embedder) -> Floats:
    """(n,) in [-1, 1]: how well each fits the question, without any training. Of two invented lives the fact that
    answers is among the ten best for 87 of 100 questions; by the first cosine alone for 77, by shared words for 81."""
    texts = [text for one in facts for text in (one.words, one.predicate, one.sentence)]
    if not texts:
        return np.zeros(0, np.float32)
    cosines = (embedder.embed_documents(texts) @ embedder.embed_query(question)).reshape(-1, 3)
    beside = np.array([(one.shared, one.shared_by_all, one.rank, one.is_named) for one in facts], np.float32)
    parts = np.array(_PARTS, np.float32) / sum(_PARTS)
    found: Floats = np.concatenate([cosines, beside], 1) @ parts
    return found.astype(np.float32)


def _learnt(
    conn: Connection, found: RetrievalResult, facts: Sequence[Candidate], scorers: Sequence[EdgeScorer | None]
) -> list[Floats | None]:
    """Of each scorer (n,) in [0, 1]: the share of the edges near the question, and of these facts, that it finds less
    needed than each; 0 for a fact that the graph does not know yet."""
    walk = walkable(found.graph, found.start, found.allowed, found.settings)
    begin = starts(walk, found.start, found.settings)
    relevance = relevance_of(walk, found.start)
    ends = draw(walk, begin, relevance, DEPTH, MOST).edges
    known = {one.id: pair for one in facts if (pair := found.graph.links.ends(one.id)) is not None}
    near = directed(walk, {**ends, **known})
    words = wording(conn, found.snapshot, found.embedder, found.question.text)
    asked = Asked(tuple(begin), relevance, words, found.start.memory, found.start.at)
    place = {edge: number for number, edge in enumerate(near.edges.tolist())}
    rows = np.array([place.get(one.id, -1) for one in facts], np.int64)
    shares: list[Floats | None] = []
    for scorer in scorers:
        if scorer is None or not len(near.edges):
            shares.append(None)
            continue
        scores = scorer.near(near, walk, asked)
        below = np.searchsorted(np.sort(scores), scores[rows]) / len(scores)
        shares.append(np.where(rows >= 0, below, 0.0).astype(np.float32))
    return shares
