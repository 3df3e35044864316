"""Facts for a question: the relevance of each, and chains of them (after ReG).

How much a question needs a fact is

    fact_relevance + ACTIVATION_WEIGHT * m      without a trained scorer
    fact_relevance + SCORER_WEIGHT * p          with one, which knows m

`m` is the activation of the edge, `p` the share of all edges near the question that the scorer finds less needed. The
scorer alone would be worse: it learns from cited passages, so it knows which way leads to a passage, not which of a
hundred facts about one person is asked for (benchmarks/README.md, answers).

A chain is a sequence of facts in which each begins where the previous one ends (ReG's Algorithm 1). Here a fact is a
statement, which joins all its objects in any direction; chains to the same end over different statements are all kept;
statements of the question's objects may continue a chain. A prefix of another chain is dropped, and chains that differ
only in their last object are merged.
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
MAX_STEPS = 5000  # steps tried before merging; a clique of statements has millions
ABOUT_WEIGHT = 0.8
RARITY_WEIGHT = 0.6


class Statement(NamedTuple):
    """The objects joined by a thesis: those its passage is `about` (its page or note), and those in its own text. Its
    `id` is positive and no object's."""

    id: int
    about: tuple[int, ...]
    objects: tuple[int, ...]
    score: float


class Chain(NamedTuple):
    """A sequence of statements. `vertices` are the objects on the path from the root, without the last; `ends` are the
    last ones: an object, or the statement itself if it has a single object. `steps` are the ids of the statements,
    negative towards a lower number; `score` is the mean score of the steps to the best end."""

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
    """The chains of at most `length` statements from the question's objects, the `roots`, with no object twice: those
    through most roots first, then by score. Of chains with the same root, steps and end only the best."""
    onward = _join_objects(statements, rarity)
    best: dict[tuple[int, tuple[int, ...], int], Chain] = {}
    queue = deque(Chain((), (), (root,), 0.0) for root in sorted(roots))  # growing: one end, and a sum as score
    n_steps = 0
    while queue and n_steps < MAX_STEPS:
        chain = queue.popleft()
        if len(chain.steps) == length:
            continue
        vertices, used = (*chain.vertices, *chain.ends), chain.facts
        for step, end, score in onward.get(vertices[-1], ()):
            n_steps += 1
            if end in vertices or abs(step) in used:
                continue
            longer = Chain(vertices, (*chain.steps, step), (end,), chain.score + score)
            key = (vertices[0], longer.steps, end)
            if key not in best or longer.score > best[key].score:
                best[key] = longer
                queue.append(longer)
    beginnings = {(path.vertices[: n + 1], path.steps[:n]) for path in best.values() for n in range(1, len(path.steps))}
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Chain]] = defaultdict(list)
    for path in best.values():
        if ((*path.vertices, *path.ends), path.steps) not in beginnings:
            alike[path.vertices, path.steps].append(path)
    merged = [
        Chain(
            *same, tuple(sorted(path.ends[0] for path in ends)), max(path.score for path in ends) / len(ends[0].steps)
        )
        for same, ends in alike.items()
    ]
    root_counts = {path: len({*path.vertices, *path.ends} & set(roots)) for path in merged}
    return sorted(
        merged, key=lambda path: (-root_counts[path], -path.score, path.vertices, [-step for step in path.steps])
    )


def _join_objects(
    statements: Iterable[Statement], rarity: Mapping[int, float]
) -> dict[int, list[tuple[int, int, float]]]:
    """Object -> its steps: statement, as in a chain, target object, and score. A statement joins every two of its
    objects; a statement with a single object joins it with itself.

    A step's score: `statement's + ABOUT_WEIGHT if the passage is about one of the two + RARITY_WEIGHT * mean rarity of
    the two`. What a page says about its subject leads further than what it says in passing, and rare objects further
    than common ones. `rarity`: object -> [0, 1].
    """
    steps_of: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for statement in statements:
        joined = sorted({*statement.about, *statement.objects})
        pairs = list(combinations(joined, 2)) or [(only, statement.id) for only in joined]
        for a, b in pairs:
            score = statement.score + ABOUT_WEIGHT * (a in statement.about or b in statement.about)
            score += RARITY_WEIGHT * (rarity.get(a, 0.0) + rarity.get(b, 0.0)) / 2
            steps_of[a].append((statement.id, b, score))
            steps_of[b].append((-statement.id, a, score))
    return {object: sorted(steps) for object, steps in steps_of.items()}


class Candidate(NamedTuple):
    """A fact between two objects: its edge id, its words and those of its predicate, its sentence, the shares of the
    question's words that are in its words, and in its words or sentence, the score of its best passage relative to the
    best one, and whether the question names its subject."""

    id: int
    words: str
    predicate: str
    sentence: str
    shared: float
    shared_by_all: float
    rank: float
    is_named: bool


def score_facts(conn: Connection, result: RetrievalResult, facts: Sequence[Candidate], embedder: Embedder) -> Floats:
    """(n,) how likely the question needs each of these facts. `conn` must see the snapshot of the retrieval."""
    plain = fact_relevance(facts, result.question.text, embedder)
    start = result.seeds
    trained = None
    if start.guidance.scorer is not None and len(facts):
        lookup = Lookup(conn, result.snapshot, result.embedder, result.question.text)
        ids = [fact.id for fact in facts]
        trained = start.guidance.scorer.score_facts(lookup, result.graph, start, result.allowed, ids)
    if trained is not None:
        return plain + np.float32(SCORER_WEIGHT) * trained
    memory = np.array([start.guidance.activation.get(fact.id, 0.0) for fact in facts], np.float32)
    return plain + np.float32(ACTIVATION_WEIGHT) * memory


def fact_relevance(facts: Sequence[Candidate], question: str, embedder: Embedder) -> Floats:
    """(n,) in [-1, 1]: how well each fits the question, without training. In two invented lives the right fact is among
    the ten best for 87 of 100 questions; by the first cosine alone for 77, by shared words for 81."""
    texts = [text for fact in facts for text in (fact.words, fact.predicate, fact.sentence)]
    if not texts:
        return np.zeros(0, np.float32)
    cosines = (embedder.embed_documents(texts) @ embedder.embed_query(question)).reshape(-1, 3)
    features = np.array([(fact.shared, fact.shared_by_all, fact.rank, fact.is_named) for fact in facts], np.float32)
    parts = np.array(_RELEVANCE_WEIGHTS, np.float32) / sum(_RELEVANCE_WEIGHTS)
    relevance: Floats = np.concatenate([cosines, features], 1) @ parts
    return relevance.astype(np.float32)
