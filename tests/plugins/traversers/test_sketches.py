from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from memory import Memory
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Path
from memory.nouns import Document
from memory.retrieval.traversers import Guidance, Seeds
from memory.settings import MemorySettings, RecallSettings
from plugins.manager import Plugins
from plugins.settings import TraverserSettings
from plugins.traversers.reg import BEAM, MAX_STEPS, ground_sketches
from plugins.traversers.walking import begin_walk
from tests.memory.retrieval.walking import fits, related_graph
from tests.plugins.lookup import Triples, stored_triples

SETTINGS = TraverserSettings()
WORDS = ("directed by", "born in", "acted in", "married to")


def test_no_path_leads_through_a_passage_that_may_only_be_its_end() -> None:
    both = EpisodeVertex(100, 1, 0, None, False, 50, {1: 1, 2: 1}, frozenset(), {1: 1001, 2: 1002})
    graph = Graph.empty().with_episodes([both], [(1, False), (2, False)])
    begin = {graph.column_of[1]: 1.0, graph.column_of[2]: 1.0}
    ways = {}
    for enter in ("EO", "eO"):
        seeds = Seeds(np.zeros(1, np.float32), begin, Guidance(fits({}, 0.5), vertices=enter))
        ways[enter] = {path.vertices for path in ground(graph, seeds)}
    assert (1, 100, 2) in ways["EO"] and ways["eO"] == {(1, 100), (2, 100)}


def ground(graph: Graph, seeds: Seeds) -> list[Path]:
    walk, begin, relevance = begin_walk(graph, seeds, graph.alive, SETTINGS.walk)
    return ground_sketches(walk, begin, relevance, seeds)


def walked(triples: Triples, question: str, outlines: Sequence[Sequence[str]] = ()) -> list[Path]:
    with stored_triples(triples, question, WORDS) as (graph, lookup):
        seeds = replace(_seeds(graph), guidance=Guidance(fits(), lookup=lookup, outline=outlines, vertices="O"))
        return ground(graph, seeds)


def _seeds(graph: Graph) -> Seeds:
    return Seeds(np.ones(1, np.float32), {graph.column_of[1]: 1.0}, Guidance(fits()))


FILMS = {
    1: (1, "directed by", 2), 2: (2, "born in", 3), 3: (1, "acted in", 4), 4: (4, "born in", 5),
    5: (2, "married to", 6), 6: (7, "directed by", 2),
}  # fmt: skip


def test_a_sketch_is_followed_step_by_step() -> None:
    found = walked(FILMS, "?", [["directed by", "born in"]])
    assert found[0].edges == (1,)
    assert found[1].edges == (1, 2), "both steps fit"
    assert max(len(path.edges) for path in found) == 2, "a sketch says how long a path is"


def test_an_edge_may_be_walked_against_its_direction() -> None:
    found = walked(FILMS, "?", [["directed by", "directed by"]])
    assert (1, 6) in [path.edges for path in found[:2]]


def test_without_a_model_the_question_is_compared_with_every_step() -> None:
    found = walked(FILMS, "Where was it born in, whoever it was directed by?")
    best = [path.edges for path in found[:3]]
    assert (1, 2) in best and (3,) not in best
    assert max(len(path.edges) for path in found) <= MAX_STEPS


def test_a_path_costs_the_mean_of_its_steps() -> None:
    paths = walked(FILMS, "?", [["directed by", "married to"], ["acted in", "born in"]])
    assert max(len(path.edges) for path in paths) == 2
    assert [path.cost for path in paths] == pytest.approx([sum(path.costs) / len(path.costs) for path in paths])


def test_of_several_sketches_the_best_path_counts() -> None:
    found = walked(FILMS, "?", [["married to"], ["acted in", "born in"]])
    assert [path.edges for path in found[:2]] == [(3,), (3, 4)]


def test_a_beam_keeps_few() -> None:
    edges = {n: (1, "directed by", n) for n in range(2, 60)}
    found = walked(edges, "?", [["directed by"]])
    assert len(found) == BEAM and [path.edges[0] for path in found] == list(range(2, 2 + BEAM))


def test_without_words_relevance_leads() -> None:
    graph = related_graph({1: (1, 5), 2: (1, 6)})
    found = ground(graph, _seeds(graph))
    assert found[0].edges == (1,)


def test_it_finds_passages_where_nobody_read_out_relations(plugins: Plugins) -> None:
    settings = MemorySettings(recall=RecallSettings(strategy="sketches"))
    with Memory.open(
        ":memory:", embedder=plugins.embedder("static"), settings=settings, find_strategy=plugins.strategies()
    ) as memory:
        memory.ingest.remember_many(
            [
                Document("a", "Night Train is a film that was directed by Vera Brandt.", title="Night Train"),
                Document("b", "Vera Brandt was born in the city of Trieste.", title="Vera Brandt"),
                Document("c", "Soup is made of water, salt and what the garden gives.", title="Soup"),
            ]
        )
        found = memory.questions.retrieve("Where was the director of Night Train born?").recall
        assert {hit.episode.title for hit in found.hits[:2]} == {"Night Train", "Vera Brandt"}
        assert found.hits[1].channels["graph"] > 0
