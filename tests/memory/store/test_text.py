from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.store import check, text
from memory.store.store import Store
from tests.examples import examples
from tests.memory.store.building import remember


@pytest.fixture
def ids(store: Store) -> list[int]:
    with store.writing() as conn:
        return [
            remember(conn, "a", "The cafés of Oslo are closing early.", title="Evenings")[0],
            remember(conn, "b", "Ana runs every evening, mostly in the rain.", title="Sport")[0],
            remember(conn, "c", "The train to Oslo was late. The train was full.", title="Travel")[0],
        ]


def find(store: Store, *terms: str, **options) -> list[int]:
    with store.reading() as conn:
        found, scores = text.search(conn, terms, 10, **options)
    assert sorted(scores.tolist(), reverse=True) == scores.tolist(), "best first"
    return found.tolist()


def test_words_are_found_by_stem_and_without_accents(store: Store, ids: list[int]) -> None:
    assert find(store, "cafe") == find(store, "CAFÉS") == find(store, "closed", "cafe") == [ids[0]]
    assert find(store, "running") == [ids[1]]


def test_more_and_rarer_words_rank_higher(store: Store, ids: list[int]) -> None:
    assert find(store, "oslo", "train")[0] == ids[2]
    assert sorted(find(store, "oslo", "train")) == [ids[0], ids[2]]


def test_titles_are_searched_too(store: Store, ids: list[int]) -> None:
    assert sorted(find(store, "evening")) == ids[:2]
    assert find(store, "sport") == [ids[1]]


def test_a_term_of_two_words_is_a_phrase(store: Store, ids: list[int]) -> None:
    assert find(store, "train to oslo") == [ids[2]]
    assert find(store, "oslo train") == []


def test_within_limits_the_search(store: Store, ids: list[int]) -> None:
    assert find(store, "oslo", within=ids[:2]) == [ids[0]]
    assert find(store, "oslo", within=[]) == []


def large(store: Store, monkeypatch: pytest.MonkeyPatch, budget: int = 3) -> None:
    """Thirty episodes, which count as many: "all" in each, "half" in every second, "n5" in the fifth alone."""
    monkeypatch.setattr(text, "FEW", 10)
    monkeypatch.setattr(text, "BUDGET", budget)
    with store.writing() as conn:
        for n in range(30):
            remember(conn, f"s{n}", f"all {'half' if n % 2 else 'whole'} n{n} {'tail ' * (n % 3)}")


def affordably(store: Store, terms: list[str], known: dict[str, int] | None = None) -> list[int]:
    with store.reading() as conn:
        return text.search_affordably(conn, terms, 10, 30, {} if known is None else known)[0].tolist()


def test_a_large_memory_is_searched_for_the_rarest_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    large(store, monkeypatch)
    known: dict[str, int] = {}
    assert affordably(store, ["all", "n5", "half", "n7"], known) == affordably(store, ["n7", "n5"])
    assert known == {"all": 4, "n5": 1, "half": 4, "n7": 1}, "counted no further than it matters"


def test_frequent_words_alone_find_what_has_them_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    large(store, monkeypatch)
    both = affordably(store, ["all", "half"])
    assert len(both) == 3
    with store.reading() as conn:
        assert set(both) <= set(text.search(conn, ["half"], 30)[0].tolist())
    assert len(affordably(store, ["half", "whole"])) == 3, "nothing has both, so one of them has to do"
    assert affordably(store, []) == []


words = st.lists(st.sampled_from(["all", "half", "whole", "tail", "n1", "n2", "zebra", "all half"]), max_size=5)


@given(words)
@examples(1, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_a_small_memory_nothing_is_saved(store: Store, terms: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not find(store, "all"):
            large(store, patch)
        patch.setattr(text, "BUDGET", 1)
        with store.reading() as conn:
            plain, scores = text.search(conn, terms, 10)
            assert text.affordable(conn, terms, text.FEW, {}) == list(dict.fromkeys(terms))
            found, values = text.search_affordably(conn, terms, 10, text.FEW, {})
    if len(set(terms)) == len(terms):
        assert (found.tolist(), values.tolist()) == (plain.tolist(), scores.tolist())


@given(words, st.integers(1, 40))
@examples(1, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_afforded_stays_within_the_budget(store: Store, terms: list[str], budget: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not find(store, "all"):
            large(store, patch)
        patch.setattr(text, "FEW", 10)
        patch.setattr(text, "BUDGET", budget)
        with store.reading() as conn:
            chosen = text.affordable(conn, terms, 30, {})
            frequent = text.document_frequencies(conn, terms)
            found = text.search_affordably(conn, terms, 10, 30, {})[0]
    assert sum(frequent[term] for term in chosen) <= budget
    left = [count for term, count in frequent.items() if term not in chosen and count]
    assert all(sum(frequent[term] for term in chosen) + rare > budget for rare in left)
    assert len(found) > 0 or not any(frequent.values())


def test_k_is_the_most(store: Store, ids: list[int]) -> None:
    with store.reading() as conn:
        assert len(text.search(conn, ["the", "oslo", "ana"], 2)[0]) == 2


@given(st.lists(st.text(), max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_nothing_that_is_typed_is_syntax(store: Store, terms: list[str]) -> None:
    with store.reading() as conn:
        found, scores = text.search(conn, terms, 5)
        assert len(found) == len(scores) == 0
        assert set(text.document_frequencies(conn, terms).values()) <= {0}


@pytest.mark.parametrize(
    "term", ['"', '""', "AND", "oslo AND", "NEAR(", "title:", "*", "-", "^oslo*", "a\0b", "", "()", "\ud800"]
)
def test_operators_are_words(store: Store, ids: list[int], term: str) -> None:
    assert find(store, term) in ([], [ids[0], ids[2]], [ids[2], ids[0]])


def test_frequencies_count_documents_after_stemming(store: Store, ids: list[int]) -> None:
    with store.reading() as conn:
        assert text.document_frequencies(conn, ["oslo", "evening", "Runs", "train", "zebra"]) == {
            "oslo": 2, "evening": 2, "Runs": 1, "train": 1, "zebra": 0,
        }  # fmt: skip


def test_removing_and_adding_twice_does_no_harm(store: Store, ids: list[int]) -> None:
    with store.writing() as conn:
        for _ in range(2):
            text.add(conn, ids)
    assert check.check(store).problems == ()
    assert len(find(store, "oslo")) == 2
    with store.writing() as conn:
        for _ in range(2):
            text.remove(conn, ids[:1])
    assert find(store, "oslo") == [ids[2]]


def test_a_rebuild_finds_what_was_lost(store: Store, ids: list[int]) -> None:
    before = find(store, "oslo", "evening")
    with store.writing() as conn:
        conn.execute("INSERT INTO episode_text(episode_text) VALUES ('delete-all')")
    assert find(store, "oslo") == []
    assert any("full text" in problem for problem in check.check(store).problems)
    with store.writing() as conn:
        text.rebuild(conn)
    assert find(store, "oslo", "evening") == before
    assert check.check(store).problems == ()
