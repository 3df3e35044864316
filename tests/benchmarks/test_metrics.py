"""Measures on rankings made by hand, and what must hold for any ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import metrics

REFS = [f"d{i}" for i in range(12)]
golds = st.sets(st.sampled_from(REFS), min_size=1, max_size=5)
rankings = st.lists(st.lists(st.sampled_from(REFS), max_size=4), max_size=15)


def test_recall_counts_the_gold_in_the_first_episodes() -> None:
    ranking = [("d7",), ("d1",), ("d9",), ("d2",)]
    assert metrics.recall_at(["d1", "d2"], ranking, 1) == 0
    assert metrics.recall_at(["d1", "d2"], ranking, 2) == 0.5
    assert metrics.recall_at(["d1", "d2"], ranking, 4) == 1
    assert [metrics.all_at(["d1", "d2"], ranking, k) for k in (2, 3, 4)] == [0, 0, 1]


def test_an_episode_counts_for_all_its_turns() -> None:
    assert metrics.recall_at(["t1", "t2", "t8"], [("t1", "t2", "t3")], 1) == pytest.approx(2 / 3)


def test_a_document_in_two_episodes_takes_two_places() -> None:
    ranking = [("d1",), ("d1",), ("d2",)]
    assert metrics.recall_at(["d1", "d2"], ranking, 2) == 0.5
    assert metrics.recall_at(["d1", "d2"], ranking, 3) == 1


def test_recall_without_gold_is_not_defined() -> None:
    with pytest.raises(ZeroDivisionError):
        metrics.recall_at([], [("d1",)], 1)


@given(golds, rankings, st.integers(0, 20))
def test_recall_is_a_share_and_grows_with_k(gold: set[str], ranking: list[list[str]], k: int) -> None:
    here, next_ = metrics.recall_at(gold, ranking, k), metrics.recall_at(gold, ranking, k + 1)
    assert 0 <= here <= next_ <= 1
    assert metrics.all_at(gold, ranking, k) == (gold <= {ref for refs in ranking[:k] for ref in refs})


@given(golds, rankings)
def test_order_beyond_k_does_not_matter(gold: set[str], ranking: list[list[str]]) -> None:
    shuffled = ranking[:5][::-1] + ranking[5:][::-1]
    assert metrics.recall_at(gold, ranking, 5) == metrics.recall_at(gold, shuffled, 5)


def test_a_turn_counts_only_when_it_stands_whole_within_the_budget() -> None:
    returned = [(("t1", "t2"), "Ana: hello  there\nBo: fine, thanks"), (("t3",), "Ana: good")]
    gold = {"t1": "hello there", "t2": "fine, thanks", "t3": "good"}
    first, both = len("Ana: hello there"), len("Ana: hello there Bo: fine, thanks")
    assert metrics.covered_within(gold, returned, first - 1) == 0
    assert metrics.covered_within(gold, returned, first) == pytest.approx(1 / 3)
    assert metrics.covered_within(gold, returned, both) == pytest.approx(2 / 3)
    assert metrics.covered_within(gold, returned, both + len("Ana: good")) == 1


def test_words_in_an_episode_that_does_not_claim_the_turn_do_not_count() -> None:
    assert metrics.covered_within({"t1": "yes"}, [(("t9",), "Ana: yes")], 100) == 0


def test_a_turn_not_found_literally_needs_its_whole_episode() -> None:
    returned = [(("t1",), "first half of a long turn")]
    gold = {"t1": "first half of a long turn that goes on"}
    assert metrics.covered_within(gold, returned, 24) == 0
    assert metrics.covered_within(gold, returned, 25) == 1


@given(golds, st.lists(st.tuples(st.lists(st.sampled_from(REFS), max_size=3), st.text(max_size=30)), max_size=8))
def test_coverage_grows_with_the_budget_up_to_recall(gold: set[str], returned: list[tuple[list[str], str]]) -> None:
    words = dict.fromkeys(gold, "x")
    shares = [metrics.covered_within(words, returned, budget) for budget in range(0, 260, 20)]
    assert shares == sorted(shares)
    assert shares[-1] == metrics.recall_at(gold, [refs for refs, _ in returned], len(returned))


def test_summaries() -> None:
    assert metrics.percent([1, 0.5]) == 75
    assert metrics.percent([]) == 0
    assert metrics.margin([1, 0, 1, 0]) == pytest.approx(56.58, abs=0.01)  # 1.96 * 0.57735 / 2
    assert metrics.margin([1]) == 0
    assert metrics.percentile([1, 2, 3, 4, 5], 50) == 3
    assert metrics.percentile([], 95) == 0
    assert metrics.ratio([2, 3, 9], [1, 2, 3]) == 1.5
    assert metrics.ratio([1], []) == metrics.ratio([], [1]) == metrics.ratio([1], [0]) == 0


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_lie_within_the_values(values: list[float]) -> None:
    p50, p95 = metrics.percentile(values, 50), metrics.percentile(values, 95)
    assert min(values) - 0.001 <= p50 <= p95 <= max(values) + 0.001
