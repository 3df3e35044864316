"""Facts for a question: the relevance of each, and chains of them (after ReG).

How much a question needs a fact is

    fact_relevance + ACTIVATION_WEIGHT * m      as long as nothing was learnt
    fact_relevance + SCORER_WEIGHT * p          with a scorer in use, which knows m

`m` is how strongly the edge's memory fires, `p` the share of all edges near the question that the scorer finds less
needed. The scorer alone would be worse: it learns from passages that were cited, so it knows which way leads to a
passage and not which of a hundred facts about one person is asked for (benchmarks/README.md, answers).

A chain is facts put in order, so that each begins where the one before it ends (ReG's Algorithm 1).
Unlike there, a fact is followed in both directions, backwards under an inverse label; two chains to the same end over
different relations are both kept; facts of the question's objects may continue a chain. What only begins another chain
is left out, and chains that differ in their last object only are one.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
MAX_LENGTH = 3  # facts of a chain; more for a question that needs more steps
MAX_CHAINS = 40
MAX_STEPS = 5000  # chains that are looked at before merging; a clique of facts has millions
ABOUT_WEIGHT = 0.8
RARITY_WEIGHT = 0.6


class Statement(NamedTuple):
    """What a thesis joins: the objects its passage is `about`, as their page or note, and those it speaks of itself.
    No `id` is that of an object."""

    id: int
    about: tuple[int, ...]
    objects: tuple[int, ...]
    score: float


class Triple(NamedTuple):
    """A fact between two objects: `relation` is its label, `fact` the id of the relation or thesis. A thesis of several
    objects is a triple for each two of them, with itself as the label."""

    head: int
    relation: str
    tail: int
    score: float
    fact: int


@dataclass(frozen=True, slots=True)
class Chain:
    """From `root` over `relations`: `vertices` are the objects on the way, the root first, without the last; `ends` are
    the last ones. `facts` the ids of what joins the objects on the way, `last` that of each end; `score` the best mean
    score."""

    root: int
    relations: tuple[str, ...]
    vertices: tuple[int, ...]
    ends: tuple[int, ...]
    facts: tuple[int, ...]
    last: tuple[int, ...]
    score: float


class _GrowingChain(NamedTuple):
    """A chain that is still growing: one more vertex than relations, facts and scores."""

    vertices: tuple[int, ...]
    relations: tuple[str, ...]
    facts: tuple[int, ...]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores)


def find_chains(
    triples: Iterable[Triple], roots: Collection[int], length: int = MAX_LENGTH, most: int = MAX_CHAINS
) -> list[Chain]:
    """The triples as chains from the question's objects, the `roots`: those through most of these first, then the
    best."""
    merged = _merged(_without_beginnings(_grown(sorted(set(triples)), roots, length)))
    on = {chain: len({*chain.vertices, *chain.ends} & set(roots)) for chain in merged}
    merged.sort(key=lambda chain: (-on[chain], -chain.score, chain.root, chain.relations, chain.vertices, chain.ends))
    return merged[:most]


def _grown(triples: Sequence[Triple], roots: Collection[int], length: int) -> list[_GrowingChain]:
    """Every chain of at most `length` facts from a root, without a vertex twice; of those with the same root, relations
    and end the best."""
    onward: dict[int, list[tuple[str, int, float, int]]] = defaultdict(list)
    for one in triples:
        onward[one.head].append((one.relation, one.tail, one.score, one.fact))
        onward[one.tail].append((f"^{one.relation}", one.head, one.score, one.fact))
    for steps in onward.values():
        steps.sort()
    best: dict[tuple[int, tuple[str, ...], int], _GrowingChain] = {}
    queue = deque(_GrowingChain((root,), (), (), ()) for root in sorted(roots))
    looked = 0
    while queue and looked < MAX_STEPS:
        path = queue.popleft()
        if len(path.relations) == length:
            continue
        for relation, vertex, score, fact in onward[path.vertices[-1]]:
            looked += 1
            if vertex in path.vertices or fact in path.facts:
                continue
            longer = _GrowingChain(
                (*path.vertices, vertex), (*path.relations, relation), (*path.facts, fact), (*path.scores, score)
            )
            key = (path.vertices[0], longer.relations, vertex)
            if key not in best or longer.score > best[key].score:
                best[key] = longer
                queue.append(longer)
    return list(best.values())


def _without_beginnings(grown: Sequence[_GrowingChain]) -> list[_GrowingChain]:
    """The chains that are not the beginning of another."""
    beginnings = {(one.vertices[: n + 1], one.relations[:n]) for one in grown for n in range(1, len(one.relations))}
    return [one for one in grown if (one.vertices, one.relations) not in beginnings]


def _merged(grown: Iterable[_GrowingChain]) -> list[Chain]:
    """One chain for all that differ in their end only."""
    alike: dict[tuple[tuple[str, ...], tuple[int, ...]], dict[int, _GrowingChain]] = defaultdict(dict)
    for one in grown:
        alike[one.relations, one.vertices[:-1]][one.vertices[-1]] = one
    found = []
    for (relations, vertices), by_end in alike.items():
        ends = sorted(by_end)
        facts = by_end[ends[0]].facts[:-1]
        last = tuple(by_end[end].facts[-1] for end in ends)
        score = max(one.score for one in by_end.values())
        found.append(Chain(vertices[0], relations, vertices, tuple(ends), facts, last, score))
    return found


def join_objects(statements: Iterable[Statement], rarity: Mapping[int, float]) -> list[Triple]:
    """Statements as facts that can be put in order: each joins every two of the objects that it speaks of; one that
    speaks of a single object joins it with itself. Its `id` is its label, T12, as well as the triple's `fact`.

    A triple's score: `statement's + ABOUT_WEIGHT if the passage is about one of the two + RARITY_WEIGHT * mean
    rarity of the two`.
    What a page tells of its subject leads further than what it says in passing, and what is rare further than what is
    common. `rarity`: object -> [0, 1].
    """
    found = []
    for one in statements:
        speaks_of = sorted({*one.about, *one.objects})
        pairs = list(combinations(speaks_of, 2)) or [(only, one.id) for only in speaks_of]
        for a, b in pairs:
            score = one.score + ABOUT_WEIGHT * (a in one.about or b in one.about)
            score += RARITY_WEIGHT * (rarity.get(a, 0.0) + rarity.get(b, 0.0)) / 2
            found.append(Triple(a, f"T{one.id}", b, score, one.id))
    return found


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
