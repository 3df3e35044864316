"""Links: what a page that is named leads to, on graphs whose answer can be worked out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.retrieval.pipeline import link_scores
from memory.settings import RecallSettings

SETTINGS = RecallSettings()
FILM, OTHER_FILM, DIRECTOR, OTHER_DIRECTOR, ACTOR, YEAR = range(1, 7)


def graph_of(*episodes: tuple[set[int], set[int]]) -> Graph:
    """(mentioned, titles) of each episode; YEAR is a date."""
    rows = [
        EpisodeVertex(100 + place, 1, place, None, False, 50, dict.fromkeys(mentioned | titles, 1), frozenset(titles))
        for place, (mentioned, titles) in enumerate(episodes)
    ]
    nodes = sorted({node for mentioned, titles in episodes for node in mentioned | titles})
    return Graph.empty().with_episodes(rows, [(node, node == YEAR) for node in nodes])


FILMS = graph_of(
    ({DIRECTOR, ACTOR, YEAR}, {FILM}),
    ({OTHER_DIRECTOR, YEAR}, {OTHER_FILM}),
    (set(), {DIRECTOR}),
    (set(), {OTHER_DIRECTOR}),
    ({ACTOR}, set()),
    (set(), {YEAR}),
)
NO_TEXT = np.zeros(6, np.float32)
EVERYTHING = np.ones(6, np.bool_)


def found(objects: dict[int, float], fused: np.ndarray = NO_TEXT, allowed: np.ndarray = EVERYTHING) -> list[float]:
    columns = {FILMS.column_of[node]: weight for node, weight in objects.items()}
    return link_scores(FILMS, columns, fused, allowed, SETTINGS).round(4).tolist()


def test_every_page_that_is_named_leads_on_alike() -> None:
    both = found({FILM: 1, OTHER_FILM: 1}, np.array([1, 0.01, 0, 0, 0, 0], np.float32))
    assert both[2] == both[3] == pytest.approx(math.log(6 / 2) / math.log(6), abs=1e-3)
    assert both[4] == both[5] == 0, "no page of the actor, and a date leads nowhere"


def test_a_page_does_not_lead_to_itself() -> None:
    assert found({FILM: 1})[:3] == [0, 0, pytest.approx(math.log(6 / 2) / math.log(6), abs=1e-3)]


def test_the_best_passages_lead_on_by_their_score() -> None:
    said = found({FILM: 1}, np.array([1, 0.5, 0, 0, 0, 0], np.float32))
    assert said[3] == pytest.approx(said[2] / 4, abs=1e-3)


def test_without_a_page_that_is_named_nothing_leads_on() -> None:
    fused = np.array([1, 0.5, 0, 0, 0, 0], np.float32)
    assert not any(found({ACTOR: 1}, fused))
    assert not any(found({YEAR: 1}, fused))
    assert not any(found({FILM: 0.5}, fused)), "a word that merely could be a name"


def test_a_name_of_many_pages_leads_less_surely_to_each() -> None:
    graph = graph_of(({DIRECTOR, ACTOR}, {FILM}), (set(), {DIRECTOR}), (set(), {ACTOR}), (set(), {ACTOR}))
    said = link_scores(graph, {graph.column_of[FILM]: 1.0}, np.zeros(4, np.float32), np.ones(4, np.bool_), SETTINGS)
    assert said[2] == said[3] < said[1]


@given(
    st.lists(st.floats(0, 1, width=32), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.dictionaries(st.sampled_from((FILM, OTHER_FILM, DIRECTOR, ACTOR, YEAR)), st.sampled_from((0.5, 1.0))),
)
def test_nothing_leads_to_what_may_not_be_seen(texts: list[float], seen: list[bool], objects: dict[int, float]) -> None:
    allowed = np.array(seen)
    said = np.array(found(objects, np.array(texts, np.float32) * allowed, allowed))
    assert ((said >= 0) & (said <= 1)).all()
    assert not said[~allowed].any()
