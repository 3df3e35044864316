from __future__ import annotations

import numpy as np
import pytest

from memory import Memory
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link
from memory.graph.snapshot import Snapshot
from memory.graph.walk import Walkable
from memory.retrieval.traversers import Lookup
from memory.store.connect import FIRST_EDGE
from memory.store.graph import EDGE_KINDS
from plugins.manager import load
from plugins.rankers.features import NAMES, SIGMA, WIDTH, Surroundings, encode_distances, features
from plugins.traversers import subgraph
from plugins.traversers.subgraph import GraphEmbeddings, Subgraph, direct_edges, extract_subgraph
from tests.memory.retrieval.walking import A, B, X, fits, related, rng_graph
from tests.plugins.lookup import stored_triples

EDGE = FIRST_EDGE
PLACE = {name: number for number, name in enumerate(NAMES)}


def chain() -> tuple[Walkable, Subgraph]:
    """1 -> 2 -> 3, and 4 -> 2, by relations."""
    walk = related({EDGE + 101: (1, 2), EDGE + 102: (2, 3), EDGE + 103: (4, 2)})
    return walk, extract_subgraph(walk, [1, 3, 4], fits())


def column(found: np.ndarray, name: str) -> list[float]:
    return [round(float(value), 4) for value in found[:, PLACE[name]]]


def test_there_are_29_and_each_has_a_name() -> None:
    assert WIDTH == 28 == len(set(NAMES))


def test_words_of_only_so_many_vertices_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgraph, "MAX_EMBEDDED", 1)
    with stored_triples({1: (A, "knows", X)}, "?", ("bread",), {A: "bread", X: "bread"}) as (_, lookup):
        vectors = GraphEmbeddings(lookup).vertices(np.array([A, X], np.int32))
    assert vectors.any(axis=1).tolist() == [True, False]


def test_distances_are_means_and_flags_with_and_against_the_edges() -> None:
    _, near = chain()
    assert near.vertices.tolist() == [1, 2, 3, 4]
    found = encode_distances(near, [1])
    assert found.shape == (4, 9)
    assert found[:, 0].tolist() == [1, 0, 0, 0], "the start"
    assert found[:, 1].tolist() == [0, 0.5, 0, 0], "of the two that point to 2 one is the start"
    assert found[:, 2].tolist() == [0, 0, 0.5, 0], "two steps on"
    assert found[:, 3].tolist() == [0, 0, 0, 0] == found[:, 4].tolist(), "nothing leads back to it"
    assert found[:, 5].tolist() == [0, 1, 0, 0] and found[:, 6].tolist() == [0, 0, 1, 0], "whether, not how much"
    against = encode_distances(near, [3])
    assert against[:, 3].tolist() == [0, 1, 0, 0] and against[:, 4].tolist() == [1, 0, 0, 1]


def test_of_a_hub_the_mean_is_next_to_nothing_and_the_flag_is_not() -> None:
    walk = related({EDGE + 100 + n: (n, 1) for n in range(2, 502)})
    near = direct_edges(walk, {EDGE + 100 + n: (n, 1) for n in range(2, 502)})
    hub = encode_distances(near, [2])[0]
    assert (round(float(hub[1]), 4), float(hub[5])) == (0.002, 1.0)


def test_sigma_is_the_mean_of_both_ends() -> None:
    _, near = chain()
    found = near.mean_of_ends(fits({1: 0.8, 2: 0.4}, other=0.0)(near.vertices))
    assert found.tolist() == pytest.approx([0.6, 0.2, 0.2])


def test_features_tell_what_is_known_of_an_edge() -> None:
    triples = {EDGE + 101: (1, "likes", 2), EDGE + 102: (2, "paints", 3), EDGE + 103: (4, "hates", 2)}
    names, question = {1: "one", 2: "other", 3: "other", 4: "other"}, "What likes one, and what does one paint?"
    with stored_triples(triples, question, ("likes", "paint", "hates", "one"), names) as (graph, lookup):
        walk = Walkable(graph, graph.alive, "O")
        near = extract_subgraph(walk, [1, 3, 4], fits())
        around = Surroundings(near, walk, [1], fits(), GraphEmbeddings(lookup))
        found = features(around)
    assert found.shape == (3, WIDTH)
    assert column(found, "cos text") == [0.8165, 0.5774, 0], "a triple: its subject, its predicate and its object"
    assert column(found, "cos predicate") == [0.5774, 0.5774, 0]
    assert column(found, "cos head") == [0.5774, 0, 0] and column(found, "cos tail") == [0, 0, 0]
    assert column(found, "head start") == [1, 0, 0] and column(found, "tail mean 1") == [0.5, 0, 0.5]
    assert column(found, "degree head") == [round(float(np.log(2)), 4), round(float(np.log(4)), 4), 0.6931]
    assert column(found, "is relation") == [1, 1, 1] and column(found, "is mention") == [0, 0, 0]


def test_without_words_nothing_is_compared() -> None:
    episode = EpisodeVertex(100, 1, 0, None, False, 50, {1: 4, 2: 1}, frozenset(), {1: EDGE, 2: EDGE + 1})
    graph = Graph.empty().with_episodes([episode], [(1, False), (2, False)], (), [Link(EDGE + 2, "rel", 1, 2)])
    walk = Walkable(graph, graph.alive)
    near = extract_subgraph(walk, [1], fits())
    assert [EDGE_KINDS[kind] for kind in near.kinds] == ["mention", "mention", "rel"]
    assert not features(Surroundings(near, walk, [1], fits(), None))[:, range(4)].any()


def test_a_mention_in_a_sentence_is_compared_by_the_sentence() -> None:
    embedder, question = load().embedder("static"), "Who paints boats?"
    with Memory.open(":memory:", embedder=embedder) as memory:
        memory.ingest.remember("Ana Silva paints boats in the harbour of Porto.", title="boats")
        graph = memory.questions.retrieve(question, 1).graph
        walk = Walkable(graph, graph.alive)
        near = extract_subgraph(walk, graph.object_ids.tolist(), fits())
        with memory.store.reading() as conn:
            words = GraphEmbeddings(Lookup(conn, Snapshot(graph, None, 0), embedder, question))
            found = features(Surroundings(near, walk, [], fits(), words))
    member = near.kinds == EDGE_KINDS.index("member")
    assert member.any() and column(found[member], "cos text") == column(found[member], "cos head")
    assert column(found[member], "cos text") != column(found[member], "cos tail")


def test_nothing_near_has_no_features() -> None:
    walk = related({1: (A, X)})
    assert features(Surroundings(extract_subgraph(walk, [], fits()), walk, [], fits(), None)).shape == (0, WIDTH)


@pytest.mark.parametrize("seed", range(8))
def test_the_order_in_which_things_were_written_changes_nothing(seed: int) -> None:
    found = []
    for order in (None, 1, 2):
        graph, seeds = rng_graph(seed, order)
        walk = Walkable(graph, graph.alive)
        starts = sorted(int(graph.object_ids[c]) for c in seeds.objects)
        near = extract_subgraph(walk, starts, fits())
        found.append((near.edges.tolist(), features(Surroundings(near, walk, starts, fits(), None)).tolist()))
    assert found[0] == found[1] == found[2]


def test_parallel_relations_are_all_near_and_keep_their_direction() -> None:
    walk = related({1: (A, X), 2: (A, X), 3: (X, A), 4: (X, B)})
    near = extract_subgraph(walk, [A], fits())
    assert near.edges.tolist() == [1, 2, 3, 4]
    assert list(zip(near.src.tolist(), near.dst.tolist(), strict=True)) == [(A, X), (A, X), (X, A), (X, B)]
    assert near.best_of_vertices(np.array([0.1, 0.9, 0.2, 0.4], np.float32)).tolist() == pytest.approx([0.9, 0.4, 0.9])
    assert (near.vertices.tolist(), SIGMA) == ([A, B, X], NAMES.index("sigma"))
