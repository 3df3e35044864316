"""Facts for a question: the relevance of each, and chains of them (after ReG).

How much a question needs a fact is

    fact_relevance + ACTIVATION_WEIGHT * m      as long as nothing was learnt
    fact_relevance + SCORER_WEIGHT * p          with a scorer in use, which knows m

`m` is how strongly the edge's memory fires, `p` the share of all edges near the question that the scorer finds less
needed. The scorer alone would be worse: it learns from passages that were cited, so it knows which way leads to a
passage and not which of a hundred facts about one person is asked for (benchmarks/README.md, answers).

A chain is facts put in order, so that each begins where the one before it ends (ReG's Algorithm 1). Here a fact is a
statement, which joins all objects that it speaks of and is followed from any to any other; two chains to the same end
over different statements are both kept; statements of the question's objects may continue a chain. What only begins
another chain is left out, and chains that differ in their last object only are one.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Floats
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import Lookup
from memory.store.connect import Connection

MIN_RELEVANCE = 0.1  # score of a fact that has to do with the question: three of four near one have less
ACTIVATION_WEIGHT = 0.2
SCORER_WEIGHT = 0.1  # with 0.2 it finds less where the scorer never saw a fact cited
_RELEVANCE_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.25)  # of three cosines and four features
MAX_STEPS = 5000  # chains that are looked at before merging; a clique of statements has millions
ABOUT_WEIGHT = 0.8
RARITY_WEIGHT = 0.6


class Statement(NamedTuple):
    """What a thesis joins: the objects its passage is `about`, as their page or note, and those it speaks of itself.
    Its `id` is greater than 0, and no object's."""

    id: int
    about: tuple[int, ...]
    objects: tuple[int, ...]
    score: float


class Chain(NamedTuple):
    """Statements in order. `vertices` are the objects on the way, the root first, without the last; `ends` are the last
    ones: an object, or the statement itself where it speaks of one object alone. `steps` are the ids of the statements,
    negative where one leads to what has a lower number; `score` is the mean of the steps' scores, of the best end."""

    vertices: tuple[int, ...]
    steps: tuple[int, ...]
    ends: tuple[int, ...]
    score: float

    @property
    def facts(self) -> tuple[int, ...]:
        """The ids of the statements."""
        return tuple(map(abs, self.steps))


def find_chains(
    statements: Iterable[Statement], rarity: Mapping[int, float], roots: Collection[int], length: int
) -> list[Chain]:
    """The chains of at most `length` statements, no object twice, from the question's objects, the `roots`: those
    through most of these first, then the best. Of those with the same root, steps and end the best."""
    onward = _join_objects(statements, rarity)
    best: dict[tuple[int, tuple[int, ...], int], Chain] = {}
    queue = deque(Chain((), (), (root,), 0.0) for root in sorted(roots))  # growing: one end, and a sum as score
    looked = 0
    while queue and looked < MAX_STEPS:
        chain = queue.popleft()
        if len(chain.steps) == length:
            continue
        vertices, taken = (*chain.vertices, *chain.ends), chain.facts
        for step, end, score in onward.get(vertices[-1], ()):
            looked += 1
            if end in vertices or abs(step) in taken:
                continue
            longer = Chain(vertices, (*chain.steps, step), (end,), chain.score + score)
            key = (vertices[0], longer.steps, end)
            if key not in best or longer.score > best[key].score:
                best[key] = longer
                queue.append(longer)
    beginnings = {(one.vertices[: n + 1], one.steps[:n]) for one in best.values() for n in range(1, len(one.steps))}
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Chain]] = defaultdict(list)
    for one in best.values():
        if ((*one.vertices, *one.ends), one.steps) not in beginnings:
            alike[one.vertices, one.steps].append(one)
    found = [
        Chain(*same, tuple(sorted(one.ends[0] for one in ends)), max(one.score for one in ends) / len(ends[0].steps))
        for same, ends in alike.items()
    ]
    on = {one: len({*one.vertices, *one.ends} & set(roots)) for one in found}
    return sorted(found, key=lambda one: (-on[one], -one.score, one.vertices, [-step for step in one.steps]))


def _join_objects(
    statements: Iterable[Statement], rarity: Mapping[int, float]
) -> dict[int, list[tuple[int, int, float]]]:
    """Object -> the steps from it: statement, as in a chain, the object that it leads to, and score. A statement joins
    every two of the objects that it speaks of; one that speaks of a single object joins it with itself.

    A step's score: `statement's + ABOUT_WEIGHT if the passage is about one of the two + RARITY_WEIGHT * mean
    rarity of the two`.
    What a page tells of its subject leads further than what it says in passing, and what is rare further than what is
    common. `rarity`: object -> [0, 1].
    """
    found: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for one in statements:
        speaks_of = sorted({*one.about, *one.objects})
        pairs = list(combinations(speaks_of, 2)) or [(only, one.id) for only in speaks_of]
        for a, b in pairs:
            score = one.score + ABOUT_WEIGHT * (a in one.about or b in one.about)
            score += RARITY_WEIGHT * (rarity.get(a, 0.0) + rarity.get(b, 0.0)) / 2
            found[a].append((one.id, b, score))
            found[b].append((-one.id, a, score))
    return {object: sorted(steps) for object, steps in found.items()}


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
    plain = fact_relevance(facts, found.question.text, embedder)
    start = found.seeds
    trained = None
    if start.guidance.scorer is not None and len(facts):
        lookup = Lookup(conn, found.snapshot, found.embedder, found.question.text)
        ids = [one.id for one in facts]
        trained = start.guidance.scorer.score_facts(lookup, found.graph, start, found.allowed, ids)
    if trained is not None:
        return plain + np.float32(SCORER_WEIGHT) * trained
    memory = np.array([start.guidance.activation.get(one.id, 0.0) for one in facts], np.float32)
    return plain + np.float32(ACTIVATION_WEIGHT) * memory


def fact_relevance(facts: Sequence[Candidate], question: str, embedder: Embedder) -> Floats:
    """(n,) in [-1, 1]: how well each fits the question, without any training. Of two invented lives the fact that
    answers is among the ten best for 87 of 100 questions; by the first cosine alone for 77, by shared words for 81."""
    texts = [text for one in facts for text in (one.words, one.predicate, one.sentence)]
    if not texts:
        return np.zeros(0, np.float32)
    cosines = (embedder.embed_documents(texts) @ embedder.embed_query(question)).reshape(-1, 3)
    beside = np.array([(one.shared, one.shared_by_all, one.rank, one.is_named) for one in facts], np.float32)
    parts = np.array(_RELEVANCE_WEIGHTS, np.float32) / sum(_RELEVANCE_WEIGHTS)
    found: Floats = np.concatenate([cosines, beside], 1) @ parts
    return found.astype(np.float32)
