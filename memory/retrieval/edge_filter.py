"""Filter: which facts a question needs, the most needed first.

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
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import Lookup
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


def score_facts(conn: Connection, found: RetrievalResult, facts: Sequence[Candidate], embedder: Embedder) -> Floats:
    """(n,) how likely the question needs each of these facts. `embedder` compares words; `conn` must see what the
    recall saw."""
    plain = sigma(facts, found.question.text, embedder)
    start = found.seeds
    trained = None
    if start.scorer is not None and len(facts):
        lookup = Lookup(conn, found.snapshot, found.embedder, found.question.text)
        ids = [one.id for one in facts]
        trained = start.scorer.score_facts(lookup, found.graph, start, found.allowed, ids)
    if trained is not None:
        return plain + np.float32(LEARNT) * trained
    memory = np.array([start.activation.get(one.id, 0.0) for one in facts], np.float32)
    return plain + np.float32(MEMORY) * memory


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
