from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.edge_memory import edges
from memory.edge_memory.reinforce import MOST_EDGES, Credit, assign_credit
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link, ThesisVertex
from memory.graph.walk import Moment, Walkable
from memory.store.connect import FIRST_EDGE
from tests.memory.retrieval.walking import everything, rng_graph

EDGE = FIRST_EDGE


def mentioning(
    episodes: Mapping[int, Mapping[int, int]], links: Sequence[Link] = (), theses: Sequence[ThesisVertex] = ()
) -> Graph:
    """Episodes (100 and up) that mention objects: episode -> object -> edge."""
    rows = [
        EpisodeVertex(node, node, 0, None, False, 50, dict.fromkeys(objects, 1), frozenset(), objects)
        for node, objects in episodes.items()
    ]
    objects = sorted({node for mentions in episodes.values() for node in mentions})
    return Graph.empty().with_episodes(rows, [(node, False) for node in objects], theses, links)


def walk(graph: Graph) -> Walkable:
    return Walkable(graph, graph.alive, "ETO", Moment(0, 0))


def learnt(graph: Graph, *, grounded: bool = True, no_answer: bool = False, **used: object) -> Credit:
    return assign_credit(walk(graph), grounded=grounded, no_answer=no_answer, **used)  # type: ignore[arg-type]


def test_two_useful_branches_are_both_enhanced_and_the_useless_one_is_penalised() -> None:
    graph = mentioning({101: {1: EDGE}, 102: {1: EDGE + 1}, 103: {1: EDGE + 2}})
    found = learnt(graph, named=(1,), shown=(101, 102, 103), useful=(101, 102))
    assert found.cited == {EDGE: edges.SLOTS, EDGE + 1: edges.SLOTS}
    assert (found.read, found.unread) == ((101, 102), (103,))
    assert found.penalised == {EDGE + 2: edges.SHOWN}
    assert found.shown == (EDGE, EDGE + 1, EDGE + 2)


def test_every_edge_of_a_way_counts_and_so_does_every_seed_that_names_it() -> None:
    # Ana (1) - page 101 - Bo (2) - page 102 - Cy (3) - page 103; Dan (4) stands in 103 as well
    graph = mentioning({101: {1: EDGE, 2: EDGE + 1}, 102: {2: EDGE + 2, 3: EDGE + 3}, 103: {3: EDGE + 4, 4: EDGE + 5}})
    assert learnt(graph, named=(1,), useful=(102,)).cited.keys() == {EDGE, EDGE + 1, EDGE + 2}
    assert learnt(graph, named=(1,), useful=(103,)).cited == {}, "five edges are too far to know how it was found"
    assert learnt(graph, named=(1, 4), useful=(103,)).cited.keys() == {EDGE + 5}
    assert learnt(graph, named=(3, 4), useful=(103,)).cited.keys() == {EDGE + 4, EDGE + 5}


def test_what_is_cited_first_is_a_start_of_what_is_cited_next() -> None:
    # two starts of the text, 101 and 102; from 101 alone one gets to 103, over Bo (2)
    graph = mentioning({101: {1: EDGE, 2: EDGE + 1}, 102: {4: EDGE + 2}, 103: {2: EDGE + 3}})
    alone = learnt(graph, starts=(101, 102), useful=(103,)).cited
    assert alone.keys() == {EDGE + 1, EDGE + 3}
    assert learnt(graph, starts=(101, 102), useful=(101, 103)).cited == alone


def test_of_equal_ways_the_one_past_no_hub_counts() -> None:
    crowd = {1000 + n: {2: EDGE + 1000 + n} for n in range(100)}
    graph = mentioning({101: {1: EDGE, 2: EDGE + 1, 3: EDGE + 2}, 102: {2: EDGE + 3, 3: EDGE + 4}, **crowd})
    assert learnt(graph, named=(1,), useful=(102,)).cited.keys() == {EDGE, EDGE + 2, EDGE + 4}


def test_what_is_mentioned_everywhere_is_no_way_but_may_be_named() -> None:
    crowd = {1000 + n: {2: EDGE + 1000 + n} for n in range(MOST_EDGES)}
    graph = mentioning({101: {1: EDGE, 2: EDGE + 1}, 102: {2: EDGE + 3}, **crowd})
    assert learnt(graph, named=(1,), useful=(102,)).cited == {}
    assert learnt(graph, named=(2,), useful=(102,)).cited == {EDGE + 3: edges.HUB_SLOTS}, "it serves many questions"


def test_relations_are_ways_and_of_a_cited_fact_they_are_the_last_step() -> None:
    links = [Link(EDGE + 10, "rel", 1, 2, evidence=(101,)), Link(EDGE + 11, "rel", 2, 3, evidence=(101,)),
             Link(EDGE + 12, "rel", 1, 3, None, -5, evidence=(101,))]  # fmt: skip
    graph = mentioning({100: {1: EDGE}, 101: {2: EDGE + 1}, 102: {3: EDGE + 2}}, links)
    assert learnt(graph, named=(1,), useful=(101,)).cited.keys() == {EDGE + 10, EDGE + 1}
    assert learnt(graph, named=(1,), useful=(102,)).cited.keys() == {EDGE + 10, EDGE + 11, EDGE + 2}
    assert learnt(graph, named=(1,), facts=(EDGE + 10,)).cited.keys() == {EDGE + 10}
    assert learnt(graph, named=(1,), facts=(EDGE + 11,)).cited.keys() == {EDGE + 10, EDGE + 11}
    assert learnt(graph, named=(1,), facts=(EDGE + 12, EDGE + 99)).cited == {}, "it holds no more, and there is none"


def test_a_thesis_leads_to_the_passage_that_asserts_it() -> None:
    theses = [ThesisVertex(200, 101, EDGE + 5, {1: EDGE + 6})]
    graph = mentioning({101: {2: EDGE}, 102: {1: EDGE + 1}}, theses=theses)
    assert learnt(graph, named=(1,), useful=(101,)).cited.keys() == {EDGE + 5, EDGE + 6}
    assert learnt(graph, named=(1,), facts=(200, 201)).cited.keys() == {EDGE + 5, EDGE + 6}


def test_without_a_name_the_way_begins_where_the_text_did() -> None:
    graph = mentioning({101: {1: EDGE}, 102: {1: EDGE + 1}, 103: {2: EDGE + 2}})
    found = learnt(graph, starts=(101, 102), useful=(101, 102, 103))
    assert found.cited.keys() == {EDGE, EDGE + 1} and found.read == (101, 102, 103)
    assert learnt(graph, named=(2,), starts=(101,), useful=(102,)).cited.keys() == {EDGE, EDGE + 1}
    assert learnt(graph, starts=(101,), useful=(101,)).cited == {}


def test_an_edge_that_a_model_chose_is_penalised_if_it_led_nowhere() -> None:
    graph = mentioning({101: {1: EDGE}, 102: {2: EDGE + 1}})
    found = learnt(graph, named=(1,), useful=(101,), expanded=(EDGE, EDGE + 9))
    assert found.cited.keys() == {EDGE}
    assert found.penalised == {EDGE + 9: edges.SHOWN} and found.expanded == (EDGE, EDGE + 9)


def test_what_is_not_sure_enhances_nothing_and_a_wrong_replay_costs() -> None:
    graph = mentioning({101: {1: EDGE}, 102: {1: EDGE + 1}})
    brought = {EDGE: 0.7}
    unsure = learnt(graph, grounded=False, named=(1,), shown=(101, 102), useful=(101,), replayed=brought)
    assert not unsure.grounded and unsure.cited.keys() == {EDGE} and unsure.penalised == {}
    refused = learnt(graph, no_answer=True, named=(1,), shown=(101, 102), useful=(101,), replayed=brought)
    assert (refused.grounded, refused.cited, refused.read, refused.shown) == (False, {}, (), ())
    assert refused.penalised == {EDGE: edges.REPLAYED} and refused.replayed == {EDGE: 0.7}
    useless = learnt(graph, named=(1,), shown=(101, 102), useful=(102,), replayed=brought)
    assert useless.penalised == {EDGE: edges.SHOWN} and useless.cited.keys() == {EDGE + 1}


def test_nothing_that_the_question_may_not_see_is_touched() -> None:
    graph = mentioning({101: {1: EDGE, 2: EDGE + 1}, 102: {2: EDGE + 2}})
    hidden = Walkable(graph, graph.episode_ids != 101)
    found = assign_credit(hidden, grounded=True, named=(1, 2), shown=(101, 102), useful=(101, 102))
    assert found[1:5] == ({EDGE + 2: edges.SLOTS}, (102,), (), {})


@given(st.integers(0, 400))
def test_ways_are_ways_and_as_short_as_there_are(seed: int) -> None:
    graph, _ = rng_graph(seed)
    whole = everything(graph)
    rng = np.random.default_rng(seed)
    named = [node for node in sorted(whole) if node < 100 and rng.random() < 0.4]
    goal = int(rng.choice(graph.episode_ids))
    cited = assign_credit(walk(graph), grounded=True, named=named, useful=(goal,)).cited
    depth, frontier = {goal: 0}, [goal]
    for node in frontier:
        for _, _, other in whole[node]:
            if other not in depth:
                depth[other] = depth[node] + 1
                frontier.append(other)
    nearest = min((depth[node] for node in named if node in depth), default=99)
    if nearest > 3:
        assert cited == {}
    elif nearest == 1:
        assert cited.keys() == {edge for edge, _, other in whole[goal] if other in named}
    else:
        assert len(cited) == nearest
        ends = {edge: {node, other} for node, around in whole.items() for edge, _, other in around}
        at = {goal}
        for _ in range(nearest):
            [(edge, at_next)] = [(edge, ends[edge] - at) for edge in cited if ends[edge] & at and edge in cited][:1]
            cited = {one: slots for one, slots in cited.items() if one != edge}
            at = at_next
        assert at <= set(named)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_credit_does_not_depend_on_how_the_graph_was_put_together(order: int) -> None:
    for seed in range(40):
        graph, seeds = rng_graph(seed)
        named = tuple(sorted(int(graph.object_ids[column]) for column in seeds.objects))
        shown = graph.episode_ids.tolist()
        again, _ = rng_graph(seed, order=order)
        one = assign_credit(walk(graph), grounded=True, named=named, shown=shown, useful=shown[:2])
        other = assign_credit(walk(again), grounded=True, named=named[::-1], shown=shown[::-1], useful=shown[1::-1])
        assert one == other
