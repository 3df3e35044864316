"""Spread: where mass goes on small graphs whose answer can be worked out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import InvalidInputError
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.retrieval import traversers
from memory.retrieval.traversers import LEAST, Seeds, find_core_strategy, spread
from memory.settings import RecallSettings
from tests.examples import examples
from tests.memory.graph.dense import write_out

SETTINGS = RecallSettings()


def graph_of(
    *episodes: tuple[dict[int, int], set[int]], dates: frozenset[int] = frozenset(), edges: bool = False
) -> Graph:
    nodes = sorted({node for mentions, _ in episodes for node in mentions})
    rows = [
        EpisodeVertex(100 + i, 1, i, None, False, 50, m, frozenset(t), {o: 1000 * i + o for o in m} if edges else {})
        for i, (m, t) in enumerate(episodes)
    ]
    return Graph.empty().with_episodes(rows, [(node, node in dates) for node in nodes])


def walked(
    graph: Graph, scores: list[float], objects: dict[int, float] | None = None, allowed: list[bool] | None = None
):
    mask = np.array(allowed if allowed is not None else [True] * len(scores))
    seeds = Seeds(np.array(scores, np.float32), {graph.column_of[o]: w for o, w in (objects or {}).items()})
    return spread(graph, seeds, mask, SETTINGS)


def test_a_passage_is_found_through_a_shared_object() -> None:
    graph = graph_of(({1: 1, 2: 1}, set()), ({2: 1, 3: 1}, set()), ({4: 1}, set()), ({5: 1}, set()))
    mass = walked(graph, [1.0, 0.0, 0.0, 0.0]).episodes
    assert mass[1] > 0
    assert mass[2] == mass[3] == 0


def test_an_object_gives_more_to_the_passage_it_titles() -> None:
    graph = graph_of(({1: 1}, {1}), ({1: 1}, set()), ({1: 1, 2: 1}, set()), ({3: 1}, set()))
    mass = walked(graph, [0, 0, 0, 0], {1: 1.0}).episodes
    assert mass[0] > mass[1] > 0


def test_what_would_get_next_to_nothing_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = [({1: 1, 10 + i: 1}, set()) for i in range(30)]  # 1 is too common, so mass goes on by 2 alone
    graph = graph_of(({2: 1, 3: 1}, {2}), ({2: 1}, set()), *everybody)
    seeds, mask = Seeds(np.array([1.0] + [0.0] * 31, np.float32), {}), np.ones(32, np.bool_)
    assert spread(graph, seeds, mask, SETTINGS).episodes[1] > 0
    monkeypatch.setattr(traversers, "LEAST", 0.5)
    assert spread(graph, seeds, mask, SETTINGS).episodes[1] == 0


def test_dates_do_not_spread() -> None:
    graph = graph_of(({1: 1, 9: 1}, set()), ({2: 1, 9: 1}, set()), ({3: 1}, set()), dates=frozenset({9}))
    assert walked(graph, [1.0, 0.0, 0.0]).episodes[1] == 0


def test_nothing_enters_what_is_not_allowed() -> None:
    graph = graph_of(({1: 1, 2: 1}, set()), ({2: 1, 3: 1}, set()), ({3: 1}, set()), ({4: 1}, set()))
    mass = walked(graph, [1.0, 0.0, 0.0, 0.0], {2: 1.0}, [True, False, True, True]).episodes
    assert mass[1] == 0
    assert mass[2] == 0  # only reached through the one that is not allowed


def test_without_a_start_nothing_moves() -> None:
    graph = graph_of(({1: 1}, set()), ({2: 1}, set()))
    walk = walked(graph, [0.0, 0.0])
    assert not walk.episodes.any()
    assert not walk.objects.any()


def test_an_empty_graph_is_walked() -> None:
    walk = spread(Graph.empty(), Seeds(np.empty(0, np.float32), {}), np.empty(0, np.bool_), SETTINGS)
    assert len(walk.episodes) == 0


def test_an_unknown_strategy_names_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="spread, none"):
        find_core_strategy("levitate")


def everywhere(graph: Graph, seeds: Seeds, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same walk over all episodes and objects, as power iteration writes it."""
    counts, titled = write_out(graph.counts), write_out(graph.titled)
    idf = np.where((graph.document_frequency > 20) | graph.leads_nowhere, 0, graph.idf)
    weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf * graph.alive[:, None]
    titles = titled * graph.alive[:, None]
    titles = titles / np.maximum(titles.sum(axis=0), 1)
    start = np.zeros(len(allowed))
    rows = [row for row in np.lexsort((np.arange(len(allowed)), -seeds.episode_scores)) if allowed[row]]
    rows = [row for row in rows if seeds.episode_scores[row] > 0][: SETTINGS.reset_episodes]
    start[rows] = np.exp((seeds.episode_scores[rows] - seeds.episode_scores[rows].max(initial=0)) * 25)
    start /= max(start.sum(), 1e-9)
    begin = np.zeros(len(idf))
    for column, weight in seeds.objects.items():
        begin[column] = weight * (idf[column] > 0)
    share = SETTINGS.seed_weight if begin.sum() else 0
    start, begin = start * (1 - share), begin * share / max(begin.sum(), 1e-9)
    by_row = weights / np.where(weights.sum(axis=1) > 0, weights.sum(axis=1), 1)[:, None]
    by_column = weights / np.where(weights.sum(axis=0) > 0, weights.sum(axis=0), 1)
    to_titles = SETTINGS.title_weight * (titles.sum(axis=0) > 0)
    episodes, objects, d = start, begin, SETTINGS.damping
    for _ in range(SETTINGS.iterations):
        arriving = episodes @ by_row
        leaving = by_column @ (objects * (1 - to_titles)) + titles @ (objects * to_titles)
        episodes, objects = (1 - d) * start + d * leaving * allowed, (1 - d) * begin + d * arriving
    return episodes, objects


mentions = st.dictionaries(st.integers(0, 10), st.integers(1, 4), max_size=6)


@examples(1)
@given(st.lists(st.tuples(mentions, st.sets(st.integers(0, 10), max_size=2)), min_size=1, max_size=12), st.data())
def test_mass_is_never_made(episodes: list[tuple[dict[int, int], set[int]]], data: st.DataObject) -> None:
    given_titles = [(m | {t: m.get(t, 1) for t in titles}, titles) for m, titles in episodes]
    graph = graph_of(*given_titles)
    scores = data.draw(st.lists(st.floats(0, 1), min_size=len(episodes), max_size=len(episodes)))
    seeds = data.draw(st.dictionaries(st.sampled_from([*graph.column_of] or [0]), st.floats(0.1, 1), max_size=3))
    walk = walked(graph, scores, seeds if graph.column_of else {})
    assert (walk.episodes >= 0).all()
    assert (walk.objects >= 0).all()
    assert walk.episodes.sum() + walk.objects.sum() <= 2 + 1e-3  # the two layers pass the same mass to and fro
    start = Seeds(
        np.array(scores, np.float32), {graph.column_of[o]: w for o, w in seeds.items() if o in graph.column_of}
    )
    exact = everywhere(graph, start, graph.alive)
    assert np.allclose(walk.episodes, exact[0], atol=SETTINGS.iterations * 12 * LEAST)
    assert np.allclose(walk.objects, exact[1], atol=SETTINGS.iterations * 12 * LEAST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traversers, "LEAST", 0)
        whole = spread(graph, start, graph.alive, SETTINGS)
    assert np.allclose(whole.episodes, exact[0], atol=1e-6)
    assert np.allclose(whole.objects, exact[1], atol=1e-6)
    again = walked(graph, scores, seeds if graph.column_of else {})
    assert np.array_equal(walk.episodes, again.episodes)
