"""Chains: facts put in order, so that each begins where the one before it ends (SPEC 7.4 S8; after ReG's Algorithm 1).

Unlike there, a fact is followed in both directions, with an inverse label backwards; two chains to the same end over
different relations are both kept; facts of the question's objects may continue a chain. What only begins another chain
is left out, and chains that differ in their last object only are one.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

LENGTH = 3  # facts of a chain; more for a question that needs more steps
MOST = 40  # chains
STEPS = 5000  # chains that are looked at before merging; a clique of facts has millions
ABOUT = 0.8
RARITY = 0.6


class Statement(NamedTuple):
    """What a thesis joins: the objects its passage is `about`, as their page or note, and those it speaks of itself.
    No `id` is that of an object."""

    id: int
    about: tuple[int, ...]
    objects: tuple[int, ...]
    score: float


class Triple(NamedTuple):
    """A fact between two objects: `relation` is its label, `inverse` how it reads backwards, `fact` the id of the
    relation or thesis. A thesis of several objects is a triple for each two of them, with itself as the label."""

    head: int
    relation: str
    tail: int
    score: float
    fact: int
    inverse: str | None = None


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

    def text(self, labels: Mapping[int, str]) -> str:
        """`A -> lives in -> B -> country -> C; D`."""
        parts = []
        for vertex, relation in zip(self.vertices, self.relations, strict=True):
            parts += [labels[vertex], relation]
        return " -> ".join([*parts, "; ".join(labels[vertex] for vertex in self.ends)])


class Common(NamedTuple):
    """Two objects of the question whose chains end in the same objects."""

    one: int
    other: int
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chains:
    """`chains`: those through most of the question's objects first, then the best; `common`: where two of its objects
    meet; `single`: facts that no chain holds."""

    chains: tuple[Chain, ...]
    common: tuple[Common, ...]
    single: tuple[Triple, ...]


class _Way(NamedTuple):
    """A chain that is still growing: one more vertex than relations, facts and scores."""

    vertices: tuple[int, ...]
    relations: tuple[str, ...]
    facts: tuple[int, ...]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores)


def chains(triples: Iterable[Triple], roots: Collection[int], length: int = LENGTH, most: int = MOST) -> Chains:
    """The triples as chains from the question's objects, the `roots`."""
    given = sorted(set(triples))
    ways = _without_beginnings(_grown(given, roots, length))
    merged = _merged(ways)
    on = {chain: len({*chain.vertices, *chain.ends} & set(roots)) for chain in merged}
    merged.sort(key=lambda chain: (-on[chain], -chain.score, chain.root, chain.relations, chain.vertices, chain.ends))
    common = {
        Common(one.root, other.root, ends)
        for one, other in combinations(sorted(merged, key=lambda chain: chain.root), 2)
        if one.root < other.root and (ends := tuple(sorted(set(one.ends) & set(other.ends))))
    }
    used = {fact for chain in merged for fact in (*chain.facts, *chain.last)}
    single = sorted((one for one in given if one.fact not in used), key=lambda one: (-one.score, one))
    return Chains(tuple(merged[:most]), tuple(sorted(common)), tuple(single))


def _grown(triples: Sequence[Triple], roots: Collection[int], length: int) -> list[_Way]:
    """Every chain of at most `length` facts from a root, without a vertex twice; of those with the same root, relations
    and end the best."""
    onward: dict[int, list[tuple[str, int, float, int]]] = defaultdict(list)
    for one in triples:
        onward[one.head].append((one.relation, one.tail, one.score, one.fact))
        onward[one.tail].append((one.inverse or f"^{one.relation}", one.head, one.score, one.fact))
    for steps in onward.values():
        steps.sort()
    best: dict[tuple[int, tuple[str, ...], int], _Way] = {}
    queue = deque(_Way((root,), (), (), ()) for root in sorted(roots))
    looked = 0
    while queue and looked < STEPS:
        way = queue.popleft()
        if len(way.relations) == length:
            continue
        for relation, vertex, score, fact in onward[way.vertices[-1]]:
            looked += 1
            if vertex in way.vertices or fact in way.facts:
                continue
            longer = _Way((*way.vertices, vertex), (*way.relations, relation), (*way.facts, fact), (*way.scores, score))
            key = (way.vertices[0], longer.relations, vertex)
            if key not in best or longer.score > best[key].score:
                best[key] = longer
                queue.append(longer)
    return list(best.values())


def _without_beginnings(ways: Sequence[_Way]) -> list[_Way]:
    """The chains that are not the beginning of another."""
    beginnings = {(way.vertices[: n + 1], way.relations[:n]) for way in ways for n in range(1, len(way.relations))}
    return [way for way in ways if (way.vertices, way.relations) not in beginnings]


def _merged(ways: Iterable[_Way]) -> list[Chain]:
    """One chain for all that differ in their end only."""
    alike: dict[tuple[tuple[str, ...], tuple[int, ...]], dict[int, _Way]] = defaultdict(dict)
    for way in ways:
        alike[way.relations, way.vertices[:-1]][way.vertices[-1]] = way
    found = []
    for (relations, vertices), by_end in alike.items():
        ends = sorted(by_end)
        facts = by_end[ends[0]].facts[:-1]
        last = tuple(by_end[end].facts[-1] for end in ends)
        score = max(way.score for way in by_end.values())
        found.append(Chain(vertices[0], relations, vertices, tuple(ends), facts, last, score))
    return found


def facts(statements: Iterable[Statement], rarity: Mapping[int, float]) -> list[Triple]:
    """Statements as facts that can be put in order: each joins every two of the objects that it speaks of; one that
    speaks of a single object joins it with itself. Its `id` is its label, T12, as well as the triple's `fact`.

    A triple's score: `statement's + ABOUT if the passage is about one of the two + RARITY * mean rarity of the two`.
    What a page tells of its subject leads further than what it says in passing, and what is rare further than what is
    common. `rarity`: object -> [0, 1].
    """
    found = []
    for one in statements:
        speaks_of = sorted({*one.about, *one.objects})
        pairs = list(combinations(speaks_of, 2)) or [(only, one.id) for only in speaks_of]
        for a, b in pairs:
            score = one.score + ABOUT * (a in one.about or b in one.about)
            score += RARITY * (rarity.get(a, 0.0) + rarity.get(b, 0.0)) / 2
            found.append(Triple(a, f"T{one.id}", b, score, one.id))
    return found
