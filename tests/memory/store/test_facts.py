from __future__ import annotations

from datetime import UTC, datetime

from memory.nouns import Fact
from memory.store import episodes, graph, past, relations
from memory.store.store import Store
from memory.time.timestamps import from_ms
from tests.memory.store.building import about, remember, row_at


def texts(found: list[Fact] | None) -> list[str]:
    return [fact.text.strip() for fact in found or []]


def test_facts_about_an_object_are_its_theses_with_their_place(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "n.md", "Ana met Bo.\nBo left. Nobody\nsaw Ana.", now=1000)
        episodes.restate_many(conn, [row_at(id, 0, line_from=10, line_to=12)])
        found = about(conn, "ana", 2000)
    assert [(fact.text, fact.line, fact.objects) for fact in found or []] == [
        ("Ana met Bo.", 10, ("Ana", "Bo")),
        ("Nobody saw Ana.", 11, ("Ana", "Nobody")),
    ]
    first = (found or [])[0]
    assert (first.kind, first.uri, first.episode_id, first.recorded, first.retired) == (
        "thesis", "n.md", id, from_ms(1000), None
    )  # fmt: skip


def test_a_line_is_only_counted_where_lines_are_those_of_the_source(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "page.html", "Bo sat.\nAna ran.")
        episodes.restate_many(conn, [row_at(id, 0, line_from=10, line_to=99)])
        assert [fact.line for fact in about(conn, "ana", 2000) or []] == [10]


def test_nothing_is_known_of_a_name_that_nothing_has(store: Store) -> None:
    with store.writing() as conn:
        remember(conn, "n.md", "Ana met Bo.")
        assert about(conn, "cleo", 2000) is None


def test_a_fact_holds_from_one_day_to_another(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "n.md", "Ana lives.", now=50)
        ana = graph.objects_by_norm(conn, ["ana"])["ana"][0]
        thesis = graph.allocate(conn, "node", 2)
        rows = [
            graph.Thesis(thesis, id, None, None, "Ana lives in Oslo.", "model", valid_from=100, valid_to=200),
            graph.Thesis(thesis + 1, id, None, None, "Ana lives in Rome.", "model", valid_from=200),
        ]
        graph.insert_theses(conn, rows, 60)
        edge = graph.allocate(conn, "edge", 2)
        graph.insert_edges(conn, [graph.EdgeRow(edge + n, "member", thesis + n, ana) for n in range(2)], 60)
        conn.execute("UPDATE thesis SET superseded_by = ? WHERE node_id = ?", (thesis + 1, thesis))

        def held(at: int) -> list[str]:
            return texts(about(conn, "ana", 5000, from_ms(at)))

        assert [held(at) for at in (99, 150, 199, 200)] == [
            ["Ana lives."],
            ["Ana lives in Oslo.", "Ana lives."],
            ["Ana lives in Oslo.", "Ana lives."],
            ["Ana lives in Rome.", "Ana lives."],
        ]
        assert texts(about(conn, "ana", 5000)) == ["Ana lives in Rome.", "Ana lives."], "now"
        history = about(conn, "ana", 5000, history=True) or []
        assert texts(history) == ["Ana lives in Rome.", "Ana lives in Oslo.", "Ana lives."]
        assert (history[1].valid_to, history[1].superseded_by) == (from_ms(200), thesis + 1)
        assert texts(about(conn, "ana", 55, from_ms(150))) == ["Ana lives."], "not yet known then"


def test_retired_facts_are_history(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "n.md", "Ana lives in Oslo.", now=1000)
        episodes.retire_many(conn, [id], 2000)
        assert about(conn, "ana", 3000) == []
        assert texts(about(conn, "ana", 1500)) == ["Ana lives in Oslo."], "as it was known before"
        (fact,) = about(conn, "ana", 3000, history=True) or []
        assert (fact.retired, fact.objects) == (datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), ("Ana", "Oslo"))


def test_a_relation_is_a_fact_of_both_its_ends(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "n.md", "Ana. Oslo.")
        ana, oslo = (graph.objects_by_norm(conn, ["ana", "oslo"])[name][0] for name in ("ana", "oslo"))
        conn.execute("INSERT INTO predicate(id, label) VALUES (1, 'lives in')")
        edge = graph.allocate(conn, "edge", 1)
        graph.insert_edges(conn, [graph.EdgeRow(edge, "rel", ana, oslo, pred_id=1, valid_from=1500)], 1000)
        conn.execute("INSERT INTO provenance(item_kind, item_id, episode_id) VALUES ('edge', ?, ?)", (edge, id))
        for name in ("ana", "oslo"):
            fact = (about(conn, name, 2000) or [])[0]
            assert (fact.id, fact.kind, fact.text, fact.objects) == (
                edge,
                "relation",
                "Ana lives in Oslo",
                ("Ana", "Oslo"),
            )
        assert "relation" not in [fact.kind for fact in about(conn, "ana", 2000, from_ms(1400)) or []]


def test_the_evidence_of_some_passages_is_found_without_looking_at_all_evidence(store: Store) -> None:
    asked: list[str] = []
    with store.reading() as conn:
        conn.set_trace_callback(asked.append)
        relations.list_by_episodes(conn, [1, 2])
        relations.list_without_evidence(conn, [1, 2])
        relations.quotes(conn, [1], [2])
        past.edited_pairs(conn, 1, 0)
        past.edited_sentences(conn, [(1, 2)])
        relations.list_by_properties(conn, 1, "rule")
        past.restored_evidence(conn, 1)
        relations.find_overlapping(conn, [1])
        conn.set_trace_callback(None)
        for query in asked:
            plan = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {query}")]
            assert not [step for step in plan if step.endswith("(item_kind=?)")], query
