from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.nouns import Document, Episode, Scope
from memory.store import arrays, check, episodes, graph, sources, text
from memory.store.episodes import EpisodeRow
from memory.store.store import Store
from memory.time.timestamps import to_ms
from tests.memory.store.building import HashEmbedder, nearest, remember, row_at, sha

MAY = datetime(2024, 5, 3, 9, tzinfo=UTC)
JUNE = datetime(2024, 6, 3, 9, tzinfo=UTC)


def test_an_episode_comes_back_as_it_was_written(store: Store) -> None:
    with store.writing() as conn:
        source = sources.upsert(conn, Document("chat"), "The chat", 1000)
        id = graph.allocate(conn, "node", 1)
        row = EpisodeRow(id, source, 3, "T", "Tëxt\n✓", "h", 2, "Ana", to_ms(MAY), to_ms(JUNE), 4, 5, ("m1", "m2"))
        episodes.insert_many(conn, [row], 1000)
        expected = Episode(id, sources.get(conn, "chat"), 3, "T", "Tëxt\n✓", MAY, JUNE, "Ana", 4, 5, ("m1", "m2"))
        assert episodes.get_many(conn, [id]) == [expected]
        assert expected.ref == "m1"


def test_by_ids_keeps_the_order_asked_and_leaves_out_the_unknown(store: Store) -> None:
    with store.writing() as conn:
        a, b, c = remember(conn, "s", "One.", "Two.", "Three.")
        assert [one.id for one in episodes.get_many(conn, [c, 99999, a, b, a])] == [c, a, b, a]
        assert episodes.get_many(conn, []) == []


def test_restated_episodes_take_their_new_places(store: Store) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "One.", "Two.")
        source = sources.get(conn, "s").id
        place = row_at(a, 1, line_from=7, line_to=8, refs=("r",))
        episodes.restate_many(conn, [place, row_at(b, 0, line_from=1, line_to=1)])
        found = episodes.list_by_source(conn, source)
        assert [row[:3] for row in found] == [(b, 0, sha("Two.")), (a, 1, sha("One."))]
        moved = episodes.get_many(conn, [a])[0]
        assert (moved.line, moved.end_line, moved.refs, moved.text) == (7, 8, ("r",), "One.")
        before = conn.total_changes
        episodes.restate_many(conn, [place])
        assert conn.total_changes == before, "nothing has changed, so nothing is written"


def test_neighbours_stand_beside_it_in_its_own_source_and_are_live(store: Store) -> None:
    with store.writing() as conn:
        a, b, c, d = remember(conn, "s", "One.", "Two.", "Three.", "Four.")
        (other,) = remember(conn, "t", "Else.")
        assert episodes.neighbours(conn, [a, c, other]) == {a: (None, b), c: (b, d), other: (None, None)}
        episodes.retire_many(conn, [b], 2000)
        assert episodes.neighbours(conn, [c]) == {c: (a, d)}


def test_theses_have_the_words_of_their_span_or_their_own(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "s", "Äna sings 🎵. Bo hums.")
        own = graph.allocate(conn, "node", 1)
        graph.insert_theses(conn, [graph.Thesis(own, id, None, None, "Bo is a musician.", "model")], 1000)
        found = episodes.theses_of(conn, [id])
        assert [(one.text, one.origin) for one in found] == [
            ("Bo is a musician.", "model"), ("Äna sings 🎵.", "sentence"), (" Bo hums.", "sentence")
        ]  # fmt: skip
        assert all(one.episode_id == id for one in found)


def test_a_retired_episode_takes_all_that_hangs_on_it_out_of_sight(store: Store) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "Ana met Bo. They sang.", "Ana slept.")
        names = graph.objects_by_norm(conn, ["ana", "bo", "they"])
        theses = [one.id for one in episodes.theses_of(conn, [a])]
        gone = episodes.retire_many(conn, [a], 2000)
        assert set(gone) == {a, *theses, *names["bo"], *names["they"]}
        assert graph.objects_by_norm(conn, ["ana", "bo", "they"]) == {"ana": names["ana"]}
        assert episodes.theses_of(conn, [a]) == []
        assert {node for edges in arrays.live_edges(conn).values() for node in edges.src.tolist()} == {
            b,
            episodes.theses_of(conn, [b])[0].id,
        }
        assert text.search(conn, ["sang", "bo"], 5)[0].tolist() == []
        assert nearest(conn, 1, HashEmbedder().embed_query("Ana met Bo. They sang."), 5)[0].tolist() == [b]
        assert episodes.get_many(conn, [a])[0].text == "Ana met Bo. They sang.", "the past keeps it"
        assert episodes.retire_many(conn, [a, 99999], 3000) == ()
    assert check.check(store).problems == ()


def test_an_object_that_old_and_new_mention_keeps_its_identity(store: Store) -> None:
    with store.writing() as conn:
        (old,) = remember(conn, "s", "Ana sings.")
        ana = graph.objects_by_norm(conn, ["ana"])
        remember(conn, "s", "Ana dances.")
        episodes.retire_many(conn, [old], 2000)
        assert graph.objects_by_norm(conn, ["ana"]) == ana
    assert check.check(store).problems == ()


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        (Scope(), "abcd"),
        (Scope(sources=("/n/a",)), "a"),
        (Scope(folders=("/n/",)), "ab"),
        (Scope(sources=("/m/d",), folders=("/n/a",)), "ad"),
        (Scope(folders=("/n_",)), ""),
        (Scope(tags=("red", "blue")), "ab"),
        (Scope(tags=("red",), folders=("/m",)), ""),
        (Scope(conversation="talk"), "c"),
        (Scope(conversation=" TALK "), "c"),
        (Scope(conversation="tal"), ""),
        (Scope(conversation="talk", tags=("red",)), ""),
        (Scope(since=MAY), "cd"),
        (Scope(until=JUNE), "c"),
        (Scope(since=JUNE, until=datetime(2024, 6, 4, tzinfo=UTC)), "d"),
    ],
)
def test_a_scope_is_all_of_its_limits(store: Store, scope: Scope, found: str) -> None:
    documents = [
        Document("/n/a", tags=("red",)),
        Document("/n/b", tags=("blue",)),
        Document("/m/c", conversation="talk", at=MAY),
        Document("/m/d", at=JUNE),
    ]
    with store.writing() as conn:
        for document in documents:
            remember(conn, document.uri, f"In {document.uri}.")
            sources.upsert(conn, document, "t", 1000)
        uris = [episode.source.uri[-1] for episode in episodes.get_many(conn, episodes.find_in_scope(conn, scope))]
    assert "".join(uris) == found


def test_live_lists_what_the_graph_is_built_from(store: Store) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "One.", "Two.")
        episodes.restate_many(conn, [row_at(b, 1, event_from=to_ms(MAY))])
        (c,) = remember(conn, "t", "Gone.")
        episodes.retire_many(conn, [c], 2000)
        found = arrays.live_episodes(conn)
        assert found["episode_ids"].tolist() == [a, b]
        assert found["seqs"].tolist() == [0, 1]
        assert found["event_from"].tolist() == [-(2**63), to_ms(MAY)]
        assert found["is_chat"].tolist() == [False, False]
