"""Fusion, context and the final order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Walk, top_k
from memory.protocols import Embedder
from memory.retrieval import text_search
from memory.retrieval.pipeline import (
    LEAST_GRAPH_SHARE,
    MOST_GRAPH_SHARE,
    final_scores,
    graph_share,
    smooth_chat_scores,
)
from memory.retrieval.state import LEXICAL_WEIGHT
from memory.retrieval.text_search import fuse
from memory.settings import MemorySettings, RecallSettings

ALL = np.ones(3, np.bool_)


def scores(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_both_channels_count() -> None:
    fused = fuse(scores(2, 1, 0), scores(0.1, 0.5, 0.0), ALL, 0.5).fused
    assert fused[1] > fused[0] > fused[2] == 0


def test_a_silent_channel_is_left_out() -> None:
    fused = fuse(scores(0, 0, 0), scores(0.2, 0.5, 0.1), ALL, 0.9).fused
    assert fused.max() == 1.0
    assert fuse(scores(3, 1, 0), scores(0, 0, 0), ALL, 0.1).fused.max() == 1.0


def test_the_only_passage_is_as_good_as_the_best() -> None:
    only = np.array([False, True, False])
    assert fuse(scores(2, 1, 0), scores(0.1, 0.5, 0.0), only, 0.5).fused.tolist() == [0, 1, 0]


def test_what_is_not_allowed_scores_nothing_and_shifts_nothing() -> None:
    mask = np.array([True, True, False])
    with_it = fuse(scores(2, 1, 9), scores(0.1, 0.5, 0.9), mask, 0.5)
    without = fuse(scores(2, 1), scores(0.1, 0.5), ALL[:2], 0.5)
    assert with_it.fused[2] == 0
    assert np.allclose(with_it.fused[:2], without.fused)
    assert with_it.best_lexical == 2


def test_an_embedder_says_how_much_its_vectors_count(static: Embedder) -> None:
    class Trusted:
        name, dimension, batch, query_prefix, document_prefix = "trusted", static.dimension, 8, "", ""
        lexical_weight = 0.25
        embed_documents, embed_query = staticmethod(static.embed_documents), staticmethod(static.embed_query)

    def score(embedder: Embedder, settings: RecallSettings) -> float:
        with Memory.open(":memory:", embedder=embedder, settings=MemorySettings(recall=settings)) as memory:
            memory.ingest.remember("The lighthouse keeper.", source="/a.md")
            memory.ingest.remember("Zzz qqq lighthouse.", source="/b.md")
            hits = memory.questions.retrieve("lighthouse keeper").recall.hits
            return next(hit.channels["text"] for hit in hits if hit.episode.source.uri == "/b.md")

    plain, trusted = score(static, RecallSettings()), score(Trusted(), RecallSettings())
    assert plain == score(static, RecallSettings(lexical_weight=LEXICAL_WEIGHT))
    assert trusted == score(static, RecallSettings(lexical_weight=0.25)) != plain
    assert score(Trusted(), RecallSettings(lexical_weight=LEXICAL_WEIGHT)) == plain, "the setting goes before"


def chat(*sources: int, words: int = 12) -> Graph:
    rows = [EpisodeVertex(i, source, i, None, True, words, {}, frozenset()) for i, source in enumerate(sources)]
    return Graph.empty().with_episodes(rows, [])


def test_a_turn_is_lifted_by_its_better_neighbour_in_the_same_chat() -> None:
    lifted = smooth_chat_scores(chat(1, 1, 2), scores(1.0, 0.0, 0.0), 0.5)
    assert lifted.tolist() == [1.0, 0.5, 0.0]
    for sources in ((1, 1, 2), (1, 2, 2)):
        lifted = smooth_chat_scores(chat(*sources), scores(0.0, 1.0, 0.0), 0.5)
        assert lifted.tolist() == [0.5 * (sources[0] == 1 == sources[1]), 1.0, 0.5 * (sources[1] == 2)]


def test_better_passages_outside_of_a_large_scope_leave_room_for_those_inside(
    static: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "MAX_LISTED_EPISODES", 0)
    with Memory.open(
        ":memory:", embedder=static, settings=MemorySettings(recall=RecallSettings(candidates=10))
    ) as memory:
        for number in range(12):
            text = "The lighthouse keeper." if number else "A lighthouse keeper was seen from the pier, far away."
            at = datetime(2024, 1, 1 + number, tzinfo=UTC)
            memory.ingest.remember(f"{text} Day {number}.", source=f"/{number}.md", at=at)
        [hit] = memory.questions.retrieve("lighthouse keeper", as_of=datetime(2024, 1, 1, 12, tzinfo=UTC)).recall.hits
        assert hit.channels["lexical"] > 0


def test_long_turns_hold_their_context_themselves() -> None:
    assert smooth_chat_scores(chat(1, 1, words=240), scores(1.0, 0.0), 0.5).tolist() == [1.0, 0.0]


def test_notes_are_not_lifted() -> None:
    rows = [EpisodeVertex(i, 1, i, None, False, 50, {}, frozenset()) for i in range(2)]
    assert smooth_chat_scores(Graph.empty().with_episodes(rows, []), scores(1.0, 0.0), 0.5).tolist() == [1.0, 0.0]


def test_ties_go_to_the_earlier_row() -> None:
    assert top_k(scores(0.5, 0.7, 0.5), ALL, 3).tolist() == [1, 0, 2]


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=60), st.integers(1, 9))
def test_best_is_a_prefix_of_the_whole_order(values: list[float], k: int) -> None:
    array = np.array(values, np.float32)
    mask = np.ones(len(values), np.bool_)
    expected = sorted((i for i, v in enumerate(values) if v > 0), key=lambda i: (-values[i], i))
    assert top_k(array, mask, k).tolist() == expected[:k]


def test_links_order_and_keep_scores_within_one() -> None:
    rows = [EpisodeVertex(i, 1, i, None, False, 50, {}, frozenset()) for i in range(3)]
    graph = Graph.empty().with_episodes(rows, [])
    text = fuse(scores(3, 2, 1), scores(0.3, 0.2, 0.1), ALL, 0.7)
    walk = Walk(scores(0.4, 0.2, 0.2), scores())
    settings = RecallSettings(graph_weight=0.8)
    plain = final_scores(text, walk, scores(0, 0, 0), graph, settings)
    linked = final_scores(text, walk, scores(1, 0, 1), graph, settings)
    assert plain[0] == linked[0] == 1
    assert plain[1] > plain[2] and linked[2] > linked[1]


def test_the_walk_counts_more_among_pages_that_name_each_other() -> None:
    def share(mentions: Sequence[dict[int, int]], settings: RecallSettings = RecallSettings()) -> float:  # noqa: B008
        objects = [(100 + place, False) for place in range(len(mentions))]
        rows = [
            EpisodeVertex(place, 1, place, None, False, 50, {100 + place: 1, **others}, frozenset({100 + place}))
            for place, others in enumerate(mentions)
        ]
        return graph_share(Graph.empty().with_episodes(rows, objects), settings)

    notes, wiki = share([{}, {}, {}, {}]), share([{101: 1}, {102: 1}, {103: 1}, {100: 1}])
    assert notes == LEAST_GRAPH_SHARE < share([{101: 1}, {}, {}, {}]) < wiki == MOST_GRAPH_SHARE
    assert share([{}, {}], RecallSettings(graph_weight=0.6)) == 0.6
