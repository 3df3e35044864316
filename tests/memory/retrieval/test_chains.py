"""Chains: facts in order, none lost that says something else, and none said twice."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval.chains import MAX_STEPS, Statement, Triple, find_chains, join_objects
from tests.examples import examples
from tests.memory.retrieval.walking import BOOK, EDGES, PUB, A, B, P, W

LABELS = ("works_at", "founded", "located_in", "hq_in", "employs", "knows", "advises", "wrote", "published")
TRIPLES = [Triple(a, label, b, 0.5, edge) for (edge, (a, b)), label in zip(EDGES.items(), LABELS, strict=True)]
S, G = 20, 21


def test_two_ways_to_the_same_end_are_both_kept() -> None:
    found = {chain.relations for chain in find_chains(TRIPLES, {A})}
    assert any(relations[:2] == ("founded", "hq_in") for relations in found)
    assert any(relations[:2] == ("works_at", "located_in") for relations in found)


def test_facts_of_another_object_of_the_question_continue_a_chain() -> None:
    found = find_chains(TRIPLES, {A, B})
    assert any(
        one.root == A and one.relations == ("works_at", "employs", "knows") and one.ends == (W,) for one in found
    )
    assert {A, B} <= set(found[0].vertices) | set(found[0].ends), "those through both come first"


def test_facts_are_followed_backwards_and_beginnings_left_out() -> None:
    [chain] = find_chains(TRIPLES, {P})
    assert (chain.relations, chain.vertices, chain.ends) == (("wrote", "^published"), (P, BOOK), (PUB,))
    assert (chain.facts, chain.last, chain.score) == ((8,), (9,), 0.5)


def test_chains_that_differ_in_their_end_are_one() -> None:
    won = [Triple(G, "won", 30 + n, 0.8, 40 + n) for n in range(3)]
    [chain] = find_chains([Triple(S, "mascot_of", G, 0.9, 39), *won], {S})
    assert chain.ends == (30, 31, 32)
    assert chain.last == (40, 41, 42)


def test_a_clique_of_facts_ends() -> None:
    clique = [Triple(a, f"r{a}", b, 0.5, 100 * a + b) for a in range(40) for b in range(a)]
    assert len(find_chains(clique, {0}, length=6)) == 40
    assert len(clique) ** 2 > MAX_STEPS


triple = st.builds(
    Triple, st.integers(1, 6), st.sampled_from("abc"), st.integers(1, 6), st.sampled_from([0.25, 0.5, 1.0]),
    st.integers(1, 10**9),
)  # fmt: skip


@examples(1)
@given(
    st.lists(triple, max_size=10, unique_by=lambda one: one.fact), st.sets(st.integers(1, 6), max_size=3), st.integers()
)
def test_the_order_of_facts_does_not_matter(triples: list[Triple], roots: set[int], seed: int) -> None:
    shuffled = list(triples)
    random.Random(seed).shuffle(shuffled)
    found = find_chains(triples, roots)
    assert find_chains(shuffled, roots) == found
    by_fact = {one.fact: one for one in triples}
    for chain in found:
        assert len({*chain.vertices}) == len(chain.vertices) <= 3
        for end, last in zip(chain.ends, chain.last, strict=True):
            way = [*chain.vertices, end]
            assert len(chain.facts) == len(way) - 2
            for here, there, fact in zip(way, way[1:], (*chain.facts, last), strict=False):
                assert {here, there} == {by_fact[fact].head, by_fact[fact].tail}


def test_a_statement_joins_every_two_of_its_objects() -> None:
    page, passing, alone = (
        Statement(90, (A,), (B, W), 0.5), Statement(91, (), (B, W), 0.5), Statement(92, (P,), (P,), 0.25)
    )  # fmt: skip
    found = join_objects([page, passing, alone], {A: 1.0, B: 0.5, W: 0.0})
    assert [(one.head, one.tail) for one in found if one.fact == 90] == [(A, B), (A, W), (B, W)]
    assert [(one.head, one.tail, one.relation) for one in found if one.fact == 92] == [(P, 92, "T92")]
    score = {(one.fact, one.head, one.tail): one.score for one in found}
    assert score[90, A, B] > score[90, A, W], "what is rare leads further"
    assert score[90, A, W] > score[90, B, W] == score[91, B, W], "and what the passage is about"
    assert {chain.ends for chain in find_chains(found, {A})} >= {(W,)}
