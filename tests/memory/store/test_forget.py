from __future__ import annotations

from hashlib import sha256

import pytest

from memory.errors import NotFoundError
from memory.nouns import Answer, Citation, Scope, Trace, Visit
from memory.store import browse, check, conversations, episodes, forget, graph, jobs, sources, text, traces
from memory.store.store import Store
from memory.trace import Plan
from memory.views import Forgotten
from tests.memory.store.building import HashEmbedder, about, remember

SECRET = "Qqqzwickl whispered xylofrantz to Jjjvandrake."
WORDS = ["qqqzwickl", "xylofrantz", "jjjvandrake", "wwwtitle"]


def residue(store: Store, *words: str) -> list[str]:
    """Which of these words still stand anywhere in the files, in upper or lower case."""
    files = [file.read_bytes().lower() for file in store.path.parent.iterdir()]
    return [word for word in words if any(word.lower().encode() in content for content in files)]


def tell(store: Store) -> int:
    """A secret among other sources, asked about, answered and quoted; the id of the conversation."""
    with store.writing() as conn:
        for n in range(20):
            remember(conn, f"note {n}", f"Ana wrote letter {n} about qqqx and xyloz.", now=1000)
        (id,) = remember(conn, "Yyysecret.md", SECRET, title="Wwwtitle")
        remember(conn, "last", "Bo closed the book.")
        ana = graph.objects_by_norm(conn, ["qqqzwickl"])["qqqzwickl"][0]
        citation = Citation(1, id, "Yyysecret.md", "Wwwtitle", "whispered xylofrantz", passage=SECRET)
        answer = Answer(f"{SECRET} [1]", (citation,))
        visits = (Visit(id, "episode", "Wwwtitle", 1.0, "text"), Visit(ana, "object", "Qqqzwickl", 1.0, "seed"))
        trace = traces.store(conn, Trace("What was whispered?", (), visits), answer, 2000)
        traces.store(conn, Trace("And then?"), Answer("", no_answer=True), 2000, Plan(within=Scope(("Yyysecret.md",))))
        chat = conversations.create(conn, "Chat", 2000)
        conversations.append(conn, chat, "user", "What was whispered?", 2000)
        conversations.append(conn, chat, "memory", answer.text, 2000, citations=answer.citations, trace_id=trace)
        jobs.enqueue(conn, jobs.Job("enrich", "1", {"uri": "Yyysecret.md"}), 2000)
        sources.skip(conn, "Yyysecret.md", "Yyysecret was empty once", 500)
        conn.execute(
            "INSERT INTO journal(t, item_kind, item_id, field, old) VALUES (1, 'node', ?, 'text', 'xylofrantz')",
            (id,),
        )
    store.checkpoint()
    return chat


def test_a_forgotten_source_is_gone_from_the_disk(store: Store) -> None:
    chat = tell(store)
    vector = HashEmbedder().embed_query(SECRET).tobytes()
    assert residue(store, *WORDS, "yyysecret") == [*WORDS, "yyysecret"]
    assert vector in store.path.read_bytes()
    with store.writing() as conn:
        assert forget.source(conn, "Yyysecret.md", 3000) == Forgotten(1, 1, 2, 1)
    store.checkpoint()
    assert residue(store, *WORDS, "yyysecret") == []
    assert vector not in store.path.read_bytes()
    assert check.check(store).problems == ()
    with store.reading() as conn:
        assert browse.search_sources(conn, "", 0)[1] == 21
        assert text.search(conn, ["whispered"], 5)[0].tolist() == []
        assert traces.list_traces(conn) == []
        assert jobs.count(conn, ["enrich"]) == {}
        assert sources.list_skipped(conn) == []
        messages = conversations.get(conn, chat)[1]
        assert [(one.text, one.citations, one.trace_id) for one in messages] == [
            ("What was whispered?", (), None), ("[forgotten]", (), None)
        ]  # fmt: skip
        assert len(text.search(conn, ["letter"], 50)[0]) == 20


def test_its_earlier_versions_and_retired_sources_go_too(store: Store) -> None:
    with store.writing() as conn:
        (old,) = remember(conn, "a.md", SECRET)
        remember(conn, "a.md", "Ana met Bo.")
        episodes.retire_many(conn, [old], 2000)
        remember(conn, "b.md", SECRET)
        episodes.retire_source(conn, sources.get(conn, "b.md").id, 2000)
    with store.writing() as conn:
        for uri, episodes_gone in (("a.md", 2), ("b.md", 1)):
            gone = forget.source(conn, uri, 3000)
            assert (gone.sources, gone.episodes) == (1, episodes_gone)
    store.checkpoint()
    assert residue(store, *WORDS, "Ana") == []
    assert check.check(store).problems == ()


def test_of_a_forgotten_file_only_a_keyed_hash_stays(store: Store) -> None:
    digest = sha256(SECRET.encode()).hexdigest()
    with store.writing() as conn:
        remember(conn, "a.md", SECRET)
        conn.execute("UPDATE source SET sha256 = ?", (digest,))
        assert not forget.is_marked(conn, digest)
        forget.source(conn, "a.md", 3000)
        assert forget.is_marked(conn, digest) and not forget.is_marked(conn, digest[::-1])
    store.checkpoint()
    assert residue(store, digest) == []
    store.write(forget.unmark, [digest])
    assert not store.read(forget.is_marked, digest)


def test_a_forgotten_episode_leaves_its_source_and_what_others_mention(store: Store) -> None:
    with store.writing() as conn:
        a, b, c = remember(conn, "s", "Ana met Bo.", "Bo met Cleo. Cleo left.", "Ana slept.")
        assert forget.episode(conn, b, 3000) == Forgotten(episodes=1, objects=1, facts=2)
        assert [row.id for row in episodes.list_by_source(conn, sources.get(conn, "s").id)] == [a, c]
        assert list(graph.objects_by_norm(conn, ["ana", "bo", "cleo"])) == ["ana", "bo"]
        assert episodes.get_many(conn, [b]) == []
    store.checkpoint()
    assert residue(store, "cleo") == []
    assert check.check(store).problems == ()


def test_an_object_that_only_the_past_mentions_is_no_longer_live(store: Store) -> None:
    with store.writing() as conn:
        (old,) = remember(conn, "old", "Bo sang.")
        (new,) = remember(conn, "new", "Bo danced.")
        episodes.retire_many(conn, [old], 2000)
        assert forget.episode(conn, new, 3000).objects == 0
        assert graph.objects_by_norm(conn, ["bo"]) == {}
        assert about(conn, "bo", 1500) is not None
    assert check.check(store).problems == ()


def test_a_forgotten_object_takes_its_facts_but_not_the_passages(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "s", "Ana met Bo. Bo left. Ana slept.")
        edge = graph.allocate(conn, "edge", 1)
        ana, bo = (graph.objects_by_norm(conn, [name])[name][0] for name in ("ana", "bo"))
        graph.insert_edges(conn, [graph.EdgeRow(edge, "rel", ana, bo)], 1000)
        conn.execute("INSERT INTO provenance(item_kind, item_id, episode_id) VALUES ('edge', ?, ?)", (edge, id))
        assert forget.object(conn, "bo", 3000) == Forgotten(objects=1, facts=3)
        assert about(conn, "bo", 4000, history=True) is None
        assert [fact.text.strip() for fact in about(conn, "ana", 4000) or []] == ["Ana slept."]
        assert episodes.get_many(conn, [id])[0].text == "Ana met Bo. Bo left. Ana slept."
    assert check.check(store).problems == ()


def test_a_forgotten_fact_leaves_the_passage(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "s", "Ana met Bo. Cleo left.")
        thesis = episodes.theses_of(conn, [id])[1].id
        own, edge = graph.allocate(conn, "node", 1), graph.allocate(conn, "edge", 1)
        graph.insert_theses(conn, [graph.Thesis(own, id, None, None, "Zzzspecial words.", "model")], 1000)
        graph.insert_edges(conn, [graph.EdgeRow(edge, "rel", own, id)], 1000)
        assert forget.fact(conn, own, 3000).facts == 1
        assert forget.fact(conn, thesis, 3000) == Forgotten(facts=1)
        assert [one.text for one in episodes.theses_of(conn, [id])] == ["Ana met Bo."]
        assert graph.objects_by_norm(conn, ["cleo"]), "the passage still mentions her"
    store.checkpoint()
    assert residue(store, "zzzspecial") == []
    assert check.check(store).problems == ()


def test_a_relation_is_forgotten_by_its_id_and_with_its_last_episode(store: Store) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "Ana met Bo.", "Bo met Ana.")
        ana, bo = (graph.objects_by_norm(conn, [name])[name][0] for name in ("ana", "bo"))
        edge = graph.allocate(conn, "edge", 2)
        graph.insert_edges(conn, [graph.EdgeRow(edge + n, "rel", ana, bo, pred_id=n) for n in range(2)], 1000)
        rows = [("edge", edge, a), ("edge", edge, b), ("edge", edge + 1, a)]
        conn.executemany("INSERT INTO provenance(item_kind, item_id, episode_id) VALUES (?, ?, ?)", rows)
        assert forget.episode(conn, a, 3000).facts == 2, "its thesis and the relation nobody else tells"
        assert [row.id for row in graph.edges_from(conn, [ana], "rel")] == [edge]
        assert forget.fact(conn, edge, 3000) == Forgotten(facts=1)
        assert graph.edges_from(conn, [ana], "rel") == []
    assert check.check(store).problems == ()


def test_what_replaced_it_stays(store: Store) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "Ana met Bo.", "Ana met Cleo.")
        old, new = (one.id for one in episodes.theses_of(conn, [a, b]))
        conn.execute("UPDATE thesis SET superseded_by = ? WHERE node_id = ?", (new, old))
        conn.execute(
            "INSERT INTO revision(relation, old_kind, old_id, new_kind, new_id, author, t)"
            " VALUES ('replaces', 'thesis', ?, 'thesis', ?, 'rule', 1)",
            (old, new),
        )
        forget.fact(conn, new, 3000)
        (fact,) = [one for one in about(conn, "ana", 4000, history=True) or [] if one.id == old]
        assert fact.superseded_by is None
        assert conn.execute("SELECT count(*) FROM revision").fetchone() == (0,)


@pytest.mark.parametrize(
    ("verb", "what"), [("source", "nowhere"), ("episode", 9), ("object", "nobody"), ("fact", 9), ("fact", 1 << 31)]
)
def test_what_is_not_there_is_reported(store: Store, verb: str, what: str | int) -> None:
    with store.writing() as conn, pytest.raises(NotFoundError):
        getattr(forget, verb)(conn, what, 1)
