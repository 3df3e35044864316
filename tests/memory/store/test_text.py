from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.store import check, episodes, text
from memory.store.store import Store
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


def test_a_title_counts_as_much_as_one_says(store: Store, ids: list[int]) -> None:
    assert find(store, "evening", title_weight=20.0)[0] == ids[0]
    assert find(store, "evening", title_weight=0.0)[0] == ids[1]


def test_a_term_of_two_words_is_a_phrase(store: Store, ids: list[int]) -> None:
    assert find(store, "train to oslo") == [ids[2]]
    assert find(store, "oslo train") == []


def test_within_limits_the_search(store: Store, ids: list[int]) -> None:
    assert find(store, "oslo", within=ids[:2]) == [ids[0]]
    assert find(store, "oslo", within=[]) == []


def test_theses_have_their_own_text(store: Store, ids: list[int]) -> None:
    with store.reading() as conn:
        late, full = (one.id for one in episodes.theses_of(conn, [ids[2]]))
    assert find(store, "full", kind="thesis") == [full]
    assert find(store, "late", kind="thesis") == [late]


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
        theses = [one.id for one in episodes.theses_of(conn, ids)]
        for _ in range(2):
            text.add_episodes(conn, ids)
            text.add_theses(conn, theses)
    assert check.check(store).problems == ()
    assert len(find(store, "oslo")) == 2
    with store.writing() as conn:
        for _ in range(2):
            text.remove(conn, ids[:1], theses)
    assert find(store, "oslo") == [ids[2]]
    assert find(store, "train", kind="thesis") == []


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
