from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.edge_memory import rebuild, reinforce
from memory.edge_memory.edges import Activation, EdgeMemory
from memory.edge_memory.reinforce import Credit
from memory.edge_memory.replay import (
    ReplayResult,
    agrees,
    answered_before,
    find_similar_questions,
    most_alike,
    replay_earlier,
    replay_walk,
)
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link, ThesisVertex
from memory.graph.walk import ANY_TIME, Moment, Walkable
from memory.nouns import Answer, Citation, Trace
from memory.store import episodes, queries, revisions, traces, vectors
from memory.store.connect import FIRST_EDGE
from memory.store.graph import EDGE_KINDS
from memory.store.queries import Geometry
from memory.store.store import Store
from tests.memory.retrieval.walking import everything, rng_graph
from tests.memory.store.building import DIMENSION, HashEmbedder, remember

ANA, BO, CY, DAN = 1, 2, 3, 4
NOTE, OTHER, LETTER = 100, 101, 102
ANA_NOTE, BO_NOTE, BO_OTHER, CY_OTHER, ANA_CY, NEXT, ASSERTS, SAYS_DAN, DAN_LETTER = range(FIRST_EDGE, FIRST_EDGE + 9)
THESIS = 200
OPEN = {NOTE: FIRST_EDGE + 50, OTHER: FIRST_EDGE + 51, LETTER: FIRST_EDGE + 52}
ENDS = {
    ANA_NOTE: (NOTE, ANA), BO_NOTE: (NOTE, BO), BO_OTHER: (OTHER, BO), CY_OTHER: (OTHER, CY), ANA_CY: (ANA, CY),
    NEXT: (OTHER, LETTER), ASSERTS: (NOTE, THESIS), SAYS_DAN: (THESIS, DAN), DAN_LETTER: (LETTER, DAN),
}  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Ana - NOTE - Bo - OTHER - Cy; Ana -rel- Cy from 1000 to 2000, told by OTHER; NOTE asserts something of Dan."""
    rows = [
        EpisodeVertex(NOTE, 1, 0, None, False, 50, {ANA: 1, BO: 1}, frozenset(), {ANA: ANA_NOTE, BO: BO_NOTE}),
        EpisodeVertex(OTHER, 2, 0, None, False, 50, {BO: 1, CY: 1}, frozenset(), {BO: BO_OTHER, CY: CY_OTHER}),
        EpisodeVertex(LETTER, 2, 1, None, False, 50, {DAN: 1}, frozenset(), {DAN: DAN_LETTER}),
    ]
    theses = [ThesisVertex(THESIS, NOTE, ASSERTS, {DAN: SAYS_DAN})]
    links = [Link(ANA_CY, "rel", ANA, CY, 1000, 2000, (OTHER,)), Link(NEXT, "next", OTHER, LETTER)]
    return Graph.empty().with_episodes(rows, [(node, False) for node in (ANA, BO, CY, DAN)], theses, links)


def firing(strengths: Mapping[int, float], ends: Mapping[int, tuple[int, int]] = ENDS) -> Activation:
    """Edges that fire as strongly as said; those in OPEN lead from an episode to itself."""
    episode_of = {edge: episode for episode, edge in OPEN.items()}
    edges = sorted(strengths)
    where = [ends.get(edge) or (episode_of[edge], episode_of[edge]) for edge in edges]
    kinds = [EDGE_KINDS.index("open" if one == other else "mention") for one, other in where]
    src, dst = np.array(where, np.int32).reshape(-1, 2).T
    values = np.array([strengths[edge] for edge in edges], np.float32)
    return Activation(np.array(edges, np.int32), np.array(kinds, np.int8), src, dst, values)


def seen(graph: Graph, *hidden: int, when: int | None = 1500) -> Walkable:
    allowed = ~np.isin(graph.episode_ids, hidden)
    return Walkable(graph, allowed, "ETO", Moment(when, when) if when is not None else Moment(5000, 5000))


def reached(found: ReplayResult) -> list[int]:
    return list(found.weights)


def test_the_strongest_edge_goes_first_and_only_what_helped_to_read_is_evidence(graph: Graph) -> None:
    activation = firing({ANA_NOTE: 0.6, ANA_CY: 0.9, BO_NOTE: 0.8, CY_OTHER: 0.7, OPEN[OTHER]: 0.9, OPEN[LETTER]: 1.0})
    found = replay_walk(seen(graph), [ANA], activation)
    assert reached(found) == [CY, OTHER, NOTE, BO]
    assert found.weights[CY] == pytest.approx(0.9 * 0.9)
    assert found.evidence == (OTHER,), "nobody came to LETTER, and NOTE never helped"
    assert found.followed.keys() == {ANA_NOTE, ANA_CY, BO_NOTE, CY_OTHER, OPEN[OTHER]}


def test_a_start_counts_if_reading_it_helped(graph: Graph) -> None:
    found = replay_walk(seen(graph), [NOTE, OTHER], firing({OPEN[NOTE]: 0.7}))
    assert (found.evidence, reached(found), found.read) == ((NOTE,), [], {NOTE: pytest.approx(0.7)})
    assert replay_walk(seen(graph), [NOTE], firing({})) == ReplayResult()


def test_it_stops_at_its_budget(graph: Graph) -> None:
    activation = firing(dict.fromkeys(ENDS, 0.9))
    assert len(reached(replay_walk(seen(graph), [ANA], activation, nodes=3))) == 3
    assert {NOTE, CY} == set(reached(replay_walk(seen(graph), [ANA], activation, depth=1)))
    everywhere = replay_walk(seen(graph), [ANA], activation)
    assert {BO, CY, DAN, NOTE, OTHER, LETTER, THESIS} == set(reached(everywhere))


def test_a_way_that_may_not_be_walked_is_tried_so_often_and_no_more(graph: Graph) -> None:
    edges = {FIRST_EDGE + 1000 + n: (ANA, 1000 + n) for n in range(2000)}
    activation = firing({**dict.fromkeys(edges, 0.99), ANA_NOTE: 0.6}, {**ENDS, **edges})
    assert reached(replay_walk(seen(graph), [ANA], activation, nodes=300)) == [NOTE]
    assert reached(replay_walk(seen(graph), [ANA], activation, nodes=3)) == []


def test_it_walks_only_where_the_question_may(graph: Graph) -> None:
    activation = firing({**dict.fromkeys(ENDS, 0.9), **dict.fromkeys(OPEN.values(), 0.9)})
    assert OTHER not in reached(replay_walk(seen(graph, OTHER), [ANA], activation))
    hidden = replay_walk(seen(graph, OTHER), [ANA], activation)
    assert CY not in reached(hidden), "only a hidden passage speaks of Cy and tells how Ana is related"
    assert not {ANA_CY, CY_OTHER, NEXT} & hidden.followed.keys()
    later = replay_walk(seen(graph, when=None), [ANA], firing({ANA_CY: 0.9}))
    assert reached(later) == [], "the relation has ended"
    assert THESIS not in reached(replay_walk(seen(graph, NOTE), [ANA, DAN], activation))
    assert {*reached(replay_walk(seen(graph, NOTE), [ANA, 4711, NOTE], activation))} <= {CY, BO, DAN, OTHER, LETTER}


def test_of_equals_the_smaller_id_goes_first(graph: Graph) -> None:
    assert reached(replay_walk(seen(graph), [ANA], firing({ANA_NOTE: 0.8, ANA_CY: 0.8}))) == [CY, NOTE]


@given(st.integers(0, 300), st.integers(0, 5))
def test_it_never_leaves_what_can_be_walked_whatever_fires(seed: int, hide: int) -> None:
    graph, _ = rng_graph(seed)
    whole = everything(graph)
    ends = {edge: (node, other) for node, around in whole.items() for edge, _, other in around}
    rng = np.random.default_rng(seed)
    activation = firing({edge: float(rng.uniform(0.5, 1)) for edge in sorted(ends) if rng.random() < 0.7}, ends)
    walk = Walkable(graph, graph.alive & (np.arange(len(graph.alive)) != hide))
    starts = [node for node in whole if rng.random() < 0.3]
    limited = replay_walk(walk, starts, activation, nodes=7, depth=3)
    near = {vertex for vertex in starts if walk.visible(vertex)}
    for _ in range(3):
        near |= {after for vertex in near for after in walk.neighbours(vertex).vertices.tolist()}
    assert near >= limited.weights.keys() and len(limited.weights) <= 7
    for edge, strength in limited.followed.items():
        assert strength > 0.49 and walk.follows(edge, *ends[edge])
    other, _ = rng_graph(seed, order=seed + 1)
    again = Walkable(other, other.alive & ~np.isin(other.episode_ids, graph.episode_ids[hide : hide + 1]))
    assert replay_walk(again, starts[::-1], activation, nodes=7, depth=3) == limited, (
        "in whatever order it was put together"
    )


@given(st.integers(0, 300))
def test_an_edge_may_be_followed_if_it_is_among_the_neighbours(seed: int) -> None:
    graph, _ = rng_graph(seed)
    whole = everything(graph)
    walk = Walkable(graph, graph.alive & (np.arange(len(graph.alive)) % 3 != seed % 3))
    for node, around in whole.items():
        mine = (
            set(zip(*(column.tolist() for column in walk.neighbours(node)[::2]), strict=True))
            if walk.visible(node)
            else set()
        )
        for edge, _, other in around:
            assert walk.follows(edge, node, other) == ((edge, other) in mine)
            assert not walk.follows(edge + 5000, node, other)


class Asked:
    """A memory of which one question was answered, from its first two episodes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.embedder = HashEmbedder()
        with store.writing() as conn:
            self.ids = remember(conn, "a.md", "Ana lives in Oslo.", "Ana met Bo.", "Bo is well.")
            self.embedder_id = vectors.register(conn, self.embedder)
            cited = tuple(Citation(n, id, "a.md", "A title", "Ana") for n, id in enumerate(self.ids[:2], 1))
            answer = Answer("Oslo.", cited)
            self.trace = traces.store(conn, Trace("Where does Ana live?"), answer, 2000)
            credit = Credit(True, {}, tuple(self.ids[:2]), (), {}, {}, (), ())
            query = self.embedder.embed_query("Where does Ana live?")
            nothing = EdgeMemory.empty(DIMENSION)
            self.remembered = reinforce.reinforce_edges(
                conn, nothing, self.embedder_id, self.trace, query, credit, 2000
            )

    def found(self, question: str = "Where does Ana live?", as_of: int | None = None, hidden: int = 0) -> list[int]:
        key = self.remembered.key(self.embedder.embed_query(question))
        assert key is not None
        with self.store.reading() as conn:
            asked = find_similar_questions(conn, self.remembered, key, as_of, lambda episode: episode != hidden)
        return [episode for past in answered_before(asked)[:1] for episode in past.cited]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(Store.open(tmp_path / "memory.db"))


def test_the_same_question_again_is_offered_what_answered_it(asked: Asked) -> None:
    assert asked.found() == asked.ids[:2]
    assert asked.found("Where does Bo live?") == []
    assert asked.found(as_of=1500) == [], "then it was another answer"
    assert asked.found(hidden=asked.ids[1]) == []


def test_what_was_never_replayed_before_is_replayed_the_first_time(asked: Asked) -> None:
    rows = [EpisodeVertex(id, 1, id, None, False, 50, {}, frozenset(), {}) for id in asked.ids]
    graph = Graph.empty().with_episodes(rows, [])
    question = "Where does Ana live?"
    query = asked.embedder.embed_query(question)
    with asked.store.reading() as conn:
        found = replay_earlier(conn, graph, asked.remembered, query, [], graph.alive, ANY_TIME, None, question)
    assert found.earlier is not None and found.earlier.trace_id == asked.trace
    assert found.evidence == tuple(asked.ids[:2])


def test_not_if_what_answered_it_is_gone(asked: Asked) -> None:
    with asked.store.writing() as conn:
        episodes.retire_many(conn, asked.ids[1:2], 3000)
    assert asked.found() == []


def test_not_if_a_fact_of_it_has_been_replaced_since(asked: Asked) -> None:
    with asked.store.writing() as conn:
        facts = dict(conn.execute("SELECT episode_id, node_id FROM thesis ORDER BY node_id DESC").fetchall())
        old, elsewhere = facts[asked.ids[0]], facts[asked.ids[2]]
        revision = revisions.add(conn, "contradicts", elsewhere, elsewhere, "", "rule", 1.0, 3000)
    assert asked.found() == asked.ids[:2], "that has nothing to do with it"
    with asked.store.writing() as conn:
        conn.execute("UPDATE revision SET old_id = ?, t = 1000 WHERE id = ?", (old, revision))
    assert asked.found() == asked.ids[:2], "that was so when it was asked"
    with asked.store.writing() as conn:
        revisions.settle(conn, revision, "kept", 3000)
    assert asked.found() == [], "somebody has decided it since"


def test_not_if_a_person_said_that_it_was_wrong(asked: Asked) -> None:
    with asked.store.writing() as conn:
        rebuild.apply_verdict(conn, asked.embedder_id, DIMENSION, asked.trace, -1)
    assert asked.found() == []
    with asked.store.writing() as conn:
        rebuild.apply_verdict(conn, asked.embedder_id, DIMENSION, asked.trace, 1)
    assert asked.found() == asked.ids[:2]


DIRECTIONS = np.eye(DIMENSION)[:3]


def like(
    asked: Asked, cosines: list[float], cited: list[list[int]], threshold: float = 0.4, question: str = "What is it?"
) -> list[int]:
    """The episodes of the question that stands out, if the key is so much like each of some answered questions."""
    known = EdgeMemory.empty(DIMENSION, Geometry(None, 0, threshold))
    key = DIRECTIONS[0]
    with asked.store.writing() as conn:
        for cosine, episodes_cited in zip(cosines, cited, strict=True):
            citations = tuple(Citation(1, id, "a.md", "A title", "Ana") for id in episodes_cited)
            trace = traces.store(conn, Trace("What is it?"), Answer("It.", citations), 2000)
            known = known.with_answer(trace, cosine * DIRECTIONS[0] + (1 - cosine**2) ** 0.5 * DIRECTIONS[1])
    with asked.store.reading() as conn:
        found = most_alike(find_similar_questions(conn, known, key, None, lambda episode: True), question)
    return [] if found is None else list(found.cited)


def test_a_question_with_other_names_or_numbers_is_another(asked: Asked) -> None:
    assert like(asked, [0.9], [asked.ids[:1]], question="What is this Yale?") == []
    assert like(asked, [0.9], [asked.ids[:1]], question="What is number 5?") == []


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("Montreal [1].", "He was born in Montreal [2].", True),
        ("Montreal [1].", "Quebec [1].", False),
        ("In 1987 [1].", "In 1988 [1].", False),
        ("Montreal [1].", "Montreal, the harbour of Quebec [2].", True),
        ("He was born in Montreal, Canada [1].", "Montreal, in Quebec [3].", True),
        ("Yes [1].", "No [1].", False),
    ],
)
def test_an_answer_agrees_with_another_by_what_it_adds_to_the_question(before: str, now: str, same: bool) -> None:
    past = queries.PastQuestion(1, None, (), True, "Where was he born?", before)
    assert agrees(now, past, "In which town was he born?") == same


def test_a_question_counts_as_another_in_other_words_only_if_that_one_stands_out(asked: Asked) -> None:
    one, two, three = asked.ids
    assert like(asked, [0.7], [[one]]) == [one]
    assert like(asked, [0.7, 0.45], [[one], [two]]) == [one]
    assert like(asked, [0.7, 0.6], [[one], [two]]) == [], "many are as much alike here"
    assert like(asked, [0.7, 0.6, 0.45], [[one, two], [two], [three]]) == [one, two], "the second needs the same"
    assert like(asked, [0.7, 0.45], [[one], [two]], threshold=0.75) == [], "as alike as questions are that are not it"
