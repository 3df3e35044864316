"""The graph in memory: what a write adds is what loading the file gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.graph.arrays import TITLE_BONUS, Graph
from memory.graph.change import LINK_KINDS, EpisodeVertex, Link
from memory.graph.snapshot import load_graph
from memory.graph.walk import Walkable
from memory.protocols import Embedder
from memory.store import graph as stored
from memory.store.graph import EDGE_KINDS
from memory.store.store import Store
from tests.examples import examples
from tests.memory.graph.dense import write_out


def row(node: int, mentions: dict[int, int], titles: frozenset[int] = frozenset(), source: int = 1) -> EpisodeVertex:
    return EpisodeVertex(node, source, node, None, False, 50, mentions, titles)


def test_a_title_counts_more() -> None:
    graph = Graph.empty().with_episodes([row(1, {10: 2, 11: 1}, frozenset({10}))], [(10, False), (11, True)])
    assert write_out(graph.counts).tolist() == [[2 + TITLE_BONUS, 1]]
    assert write_out(graph.titled).tolist() == [[1, 0]]
    assert graph.leads_nowhere.tolist() == [False, True]


def test_an_older_graph_stays_as_it_was() -> None:
    old = Graph.empty().with_episodes([row(1, {10: 1})], [(10, False)])
    new = old.with_episodes([row(2, {10: 1, 11: 1})], [(11, False)]).without_episodes([1])
    assert old.alive.tolist() == [True]
    assert old.counts.shape == (1, 1)
    assert new.alive.tolist() == [False, True]
    assert new.document_frequency.tolist() == [1, 1]


def test_what_nothing_mentions_has_no_weight() -> None:
    graph = (
        Graph.empty()
        .with_episodes([row(1, {10: 1}), row(2, {11: 1})], [(10, False), (11, False)])
        .without_episodes([1])
    )
    assert graph.idf.tolist() == [0.0, 0.0]  # ln(1/1) for the one that is left


@examples(1)
@given(st.lists(st.lists(st.dictionaries(st.integers(0, 8), st.integers(1, 5), max_size=5), max_size=4), max_size=5))
def test_written_in_any_portions_it_is_the_same_graph(batches: list[list[dict[int, int]]]) -> None:
    grown = Graph.empty()
    all_rows: list[EpisodeVertex] = []
    met: list[int] = []
    for batch in batches:
        rows = [row(100 + len(all_rows) + i, mentions) for i, mentions in enumerate(batch)]
        new = [node for node in dict.fromkeys(n for r in rows for n in sorted(r.mentions)) if node not in met]
        met += new
        all_rows += rows
        grown = grown.with_episodes(rows, [(node, False) for node in new])
    at_once = Graph.empty().with_episodes(all_rows, [(node, False) for node in met])
    assert np.array_equal(write_out(grown.counts), write_out(at_once.counts))
    assert grown.episode_ids.tolist() == at_once.episode_ids.tolist()
    assert grown.document_frequency.tolist() == at_once.document_frequency.tolist()


def test_a_kind_of_edge_has_one_number_everywhere() -> None:
    """In the graph, around a vertex, and in what edges remember; whatever the number is, the file has the name."""
    assert set(LINK_KINDS) < set(EDGE_KINDS) and len(set(EDGE_KINDS)) == len(EDGE_KINDS)
    with Store.open(":memory:") as store, store.reading() as conn:
        (check,) = conn.execute("SELECT sql FROM sqlite_master WHERE name = 'edge'").fetchone()
        assert all(f"'{kind}'" in check for kind in EDGE_KINDS)
    links = tuple(Link(30 + n, kind, 1, 2) for n, kind in enumerate(LINK_KINDS))
    graph = Graph.empty().with_episodes([row(7, {1: 1, 2: 1})], [(1, False), (2, False)], (), links)
    assert [EDGE_KINDS[kind] for kind in graph.links.kinds] == list(LINK_KINDS)
    near = Walkable(graph, graph.alive).neighbours(1)
    kinds = dict(zip(near.edges.tolist(), (EDGE_KINDS[kind] for kind in near.kinds), strict=True))
    assert {kinds[link.id] for link in links} == set(LINK_KINDS)


def test_a_state_of_tasks_leads_nowhere(tmp_path: Path, static: Embedder) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        memory.ingest.remember("- [ ] Order the tray\n\nWe like Mooring.", source="/a.md", title="A note")
        with memory.store.reading() as conn:
            nodes = stored.objects_by_norm(conn, ["open", "order the tray", "mooring"])
            known, read = memory.questions.retrieve("Mooring", 1).graph, load_graph(conn)
        for graph in (known, read):
            nowhere = {name: bool(graph.leads_nowhere[graph.column_of[node]]) for name, (node,) in nodes.items()}
            assert nowhere == {"open": True, "order the tray": False, "mooring": False}
