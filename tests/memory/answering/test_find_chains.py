"""Chains: facts in order, none lost that says something else, and none said twice."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from memory.answering.chains import MAX_STEPS, Chain, Statement, find_chains
from tests.examples import examples
from tests.memory.retrieval.walking import BOOK, EDGES, PUB, A, B, P, W

LABELS = ("works_at", "founded", "located_in", "hq_in", "employs", "knows", "advises", "wrote", "published")
SAYS = {label: 100 + edge for edge, label in zip(EDGES, LABELS, strict=True)}
STATEMENTS = [Statement(100 + edge, (), ends, 0.5) for edge, ends in EDGES.items()]
S, G = 20, 21


def chains_of(statements: list[Statement], roots: set[int], length: int = 3) -> list[Chain]:
    return find_chains(statements, {}, roots, length)


def said(*labels: str) -> tuple[int, ...]:
    return tuple(SAYS[label] for label in labels)


def test_two_ways_to_the_same_end_are_both_kept() -> None:
    found = {chain.facts for chain in chains_of(STATEMENTS, {A})}
    assert any(facts[:2] == said("founded", "hq_in") for facts in found)
    assert any(facts[:2] == said("works_at", "located_in") for facts in found)


def test_statements_of_another_object_of_the_question_continue_a_chain() -> None:
    found = chains_of(STATEMENTS, {A, B})
    assert any(
        one.vertices[0] == A and one.facts == said("works_at", "employs", "knows") and one.ends == (W,) for one in found
    )
    assert {A, B} <= set(found[0].vertices) | set(found[0].ends), "those through both come first"


def test_statements_are_followed_from_either_end_and_beginnings_left_out() -> None:
    [chain] = chains_of(STATEMENTS, {P})
    assert (chain.facts, chain.vertices, chain.ends) == (said("wrote", "published"), (P, BOOK), (PUB,))
    assert chain.score == 0.5


def test_chains_that_differ_in_their_end_are_one() -> None:
    won = Statement(40, (G,), (30, 31, 32), 0.8)
    chains = chains_of([Statement(39, (), (S, G), 0.9), won], {S})
    assert [(chain.facts, chain.ends) for chain in chains] == [((39, 40), (30, 31, 32))]


def test_no_chain_has_the_statements_of_another_in_any_order() -> None:
    there_and_back = chains_of([Statement(39, (), (S, G), 0.9), Statement(40, (), (G, 30), 0.8)], {S, 30})
    assert [(chain.vertices[0], set(chain.facts)) for chain in there_and_back] == [(S, {39, 40})]
    two_ways = [Statement(50, (), (S, G, 30), 0.9), Statement(51, (), (G, 30, 31), 0.8)]
    found = chains_of(two_ways, {S}, length=2)
    assert sorted(map(sorted, (chain.facts for chain in found))) == [[50, 51]], "over either of two objects in both"


def test_a_clique_of_statements_ends() -> None:
    clique = [Statement(1000 + 100 * a + b, (), (a, b), 0.5) for a in range(40) for b in range(a)]
    assert 0 < len(chains_of(clique, {0}, length=6)) <= MAX_STEPS
    assert len(clique) ** 2 > MAX_STEPS


statement = st.builds(
    Statement, st.integers(10, 10**9), st.just(()), st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.sampled_from([0.25, 0.5, 1.0]),
)  # fmt: skip


@examples(1)
@given(
    st.lists(statement, max_size=10, unique_by=lambda one: one.id),
    st.sets(st.integers(1, 6), max_size=3),
    st.integers(),
)
def test_the_order_of_statements_does_not_matter(statements: list[Statement], roots: set[int], seed: int) -> None:
    shuffled = list(statements)
    random.Random(seed).shuffle(shuffled)
    found = chains_of(statements, roots)
    assert chains_of(shuffled, roots) == found
    by_id = {one.id: one for one in statements}
    for chain in found:
        assert len({*chain.vertices}) == len(chain.vertices) <= 3
        for end in chain.ends:
            way = [*chain.vertices, end]
            assert len(chain.facts) == len(way) - 1 == len({*chain.facts})
            for here, there, fact in zip(way, way[1:], chain.facts, strict=False):
                assert {here, there} == {*by_id[fact].objects} or (there == fact and {here} == {*by_id[fact].objects})


def test_a_statement_joins_every_two_of_its_objects() -> None:
    page, passing, alone = (
        Statement(90, (A,), (B, W), 0.5), Statement(91, (), (B, W), 0.5), Statement(92, (P,), (P,), 0.25)
    )  # fmt: skip
    rarity = {A: 1.0, B: 0.5, W: 0.0}

    def score(statement: Statement, one: int, other: int) -> float:
        only = statement._replace(objects=(one, other))
        [chain] = find_chains([only._replace(about=tuple({*only.about} & {one, other}))], rarity, {one}, 1)
        assert chain.ends == (other,)
        return chain.score

    assert {chain.ends for chain in find_chains([page], rarity, {A}, 1)} == {(B, W)}
    assert {chain.ends for chain in find_chains([page, passing, alone], rarity, {P}, 2)} == {(92,)}, "itself alone"
    assert score(page, A, B) > score(page, A, W), "what is rare leads further"
    assert score(page, A, W) > score(passing, B, W), "and what the passage is about"
    assert {chain.ends for chain in find_chains([page, passing, alone], rarity, {A}, 3)} >= {(W,)}
