"""The graph in memory: what writes add to it is what loading the file gives, edge for edge."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memory import Memory
from memory.graph.arrays import Graph
from memory.graph.snapshot import Snapshot, load_graph, with_vectors
from memory.graph.walk import index
from memory.nouns import Document, Turn
from memory.settings import MemorySettings, RecallSettings
from memory.store import graph as stored
from memory.store.graph import EdgeRow
from tests.examples import examples
from tests.memory.graph.dense import row_of
from tests.memory.retrieval.walking import everything
from tests.memory.store.building import HashEmbedder

PLACES = ("Lake Kivu", "Mount Meru", "Ana Silva", "Tomas", "Porto")
sentence = st.builds(
    "{} {} {}.".format, st.sampled_from(PLACES), st.sampled_from(["met", "saw", "left"]), st.sampled_from(PLACES)
)
paragraph = st.lists(sentence, min_size=1, max_size=3).map(" ".join)
note = st.builds(
    Document,
    uri=st.sampled_from(["a.md", "b.md", "c.md"]),
    text=st.lists(paragraph, min_size=1, max_size=4).map("\n\n".join),
    at=st.sampled_from([None, datetime(2025, 5, 3, tzinfo=UTC)]),
    tags=st.sampled_from([(), ("travel",)]),
)
chat = st.builds(
    Document,
    uri=st.sampled_from(["chat"]),
    kind=st.just("chat"),
    turns=st.lists(st.builds(Turn, st.sampled_from(["Ana", "Bo"]), paragraph), min_size=1, max_size=5).map(tuple),
)
step = st.one_of(
    st.tuples(st.just("write"), st.lists(st.one_of(note, chat), min_size=1, max_size=2)),
    st.tuples(st.sampled_from(["retire", "forget"]), st.sampled_from(["a.md", "b.md", "chat"])),
)


def grown(memory: Memory) -> Snapshot:
    """What the memory answers from."""
    return memory.state.serving.snapshot


def loaded(memory: Memory) -> Snapshot:
    """What it would answer from if it were opened anew."""
    with memory.store.reading() as conn:
        return with_vectors(conn, load_graph(conn), memory.state.serving.embedder_id, memory.embedder.dimension, 1000)


def living(graph: Graph) -> dict[int, tuple[object, ...]]:
    """Every living episode with what spread needs of it."""
    return {
        node: (
            int(graph.source_ids[row]),
            int(graph.seqs[row]),
            int(graph.event_from[row]),
            bool(graph.is_chat[row]),
            int(graph.words[row]),
            *(
                {int(graph.object_ids[column]): float(value) for column, value in row_of(part, row).items()}
                for part in (graph.counts, graph.titled)
            ),
        )
        for node, row in graph.row_of.items()
    }


def taken(memory: Memory, steps: list[tuple[str, object]]) -> Iterator[None]:
    """Takes the steps, and stops after each that changed something."""
    for what, given_ in steps:
        try:
            if what == "write":
                memory.ingest.remember_many(given_)
            else:
                memory.ingest.retire(given_) if what == "retire" else memory.forgetting.forget(source=given_)
        except LookupError:
            continue
        yield


@examples(1 / 2, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(step, min_size=1, max_size=6))
def test_grown_by_any_writes_it_is_what_the_file_holds(steps: list[tuple[str, object]]) -> None:
    with Memory.open(":memory:", embedder=HashEmbedder()) as memory:
        for _ in taken(memory, steps):
            old, fresh = grown(memory), loaded(memory)
            assert living(old.graph) == living(fresh.graph)
            assert everything(old.graph) == everything(fresh.graph)
            seen = [*everything(fresh.graph)]
            assert np.array_equal(index(old.graph).penalties[seen], index(fresh.graph).penalties[seen])
            for node, row in fresh.graph.row_of.items():
                assert np.array_equal(old.vectors[old.graph.row_of[node]], fresh.vectors[row])


@examples(1 / 4, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(step, min_size=1, max_size=4), st.integers(0, 6))
def test_many_vectors_are_known_by_their_signs(steps: list[tuple[str, object]], limit: int) -> None:
    chosen = MemorySettings(recall=RecallSettings(vectors_in_memory=limit))
    with Memory.open(":memory:", embedder=HashEmbedder(), settings=chosen) as memory:
        for _ in taken(memory, steps):
            old, exact = grown(memory), loaded(memory)
            assert (old.vectors is None) == (len(old.graph.episode_ids) > limit) == (old.quantized is not None)
            for node, row in exact.graph.row_of.items():
                place = np.array([old.graph.row_of[node]])
                assert np.allclose(old.read_vectors(place)[0], exact.vectors[row], atol=0.01)


def test_links_are_loaded_with_their_times_and_who_tells_of_them(fresh: Memory) -> None:
    episode = fresh.ingest.remember("Ana Silva met Bo Chen.", source="a").episode_ids[0]
    with fresh.store.writing() as conn:
        ana, bo = (stored.objects_by_norm(conn, [name])[name][0] for name in ("ana silva", "bo chen"))
        first = stored.allocate(conn, "edge", 2)
        relation = EdgeRow(first, "rel", ana, bo, valid_from=5, valid_to=9)
        stored.insert_edges(conn, [relation, EdgeRow(first + 1, "rel", bo, ana)], 1000)
        conn.execute("INSERT INTO provenance(item_kind, item_id, episode_id) VALUES ('edge', ?, ?)", (first, episode))
    links = loaded(fresh).graph.links
    assert links.ids.tolist() == [first, first + 1]
    assert (links.valid_from[0], links.valid_to[0]) == (5, 9)
    assert links.evidence.tolist() == [[first, episode]]
