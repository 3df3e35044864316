from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Document, Source
from memory.store import browse, check, episodes, sources
from memory.store.connect import Connection
from memory.store.store import Store
from tests.memory.store.building import remember

LETTER = Document(
    uri="/mail/1.eml", kind="file", reader="mail", at=datetime(2024, 5, 3, tzinfo=UTC), conversation="c1", policy="any",
    properties={"from": "Ana", "when": datetime(2024, 5, 3, tzinfo=UTC)}, tags=("home", "home", "oslo"), sha256="ab",
    size=12, mtime_ns=1714694400123456789, ref="r",
)  # fmt: skip


def tags_of(conn: Connection, id: int) -> tuple[str, ...]:
    return tuple(tag for (tag,) in conn.execute("SELECT tag FROM source_tag WHERE source_id = ? ORDER BY tag", (id,)))


def test_a_source_comes_back_as_it_was_read(store: Store) -> None:
    with store.writing() as conn:
        id = sources.upsert(conn, LETTER, "A letter", 1000)
        assert sources.get(conn, LETTER.uri) == Source(
            id, "/mail/1.eml", "file", "A letter", "mail", "c1", "any", LETTER.at, "ab", 12, 1714694400123456789
        )  # fmt: skip
        assert tags_of(conn, id) == ("home", "oslo")


def test_the_same_uri_is_the_same_source(store: Store) -> None:
    with store.writing() as conn:
        first = sources.upsert(conn, LETTER, "A letter", 1000)
        again = sources.upsert(conn, replace(LETTER, sha256="cd", tags=("work",)), "Another title", 2000)
        assert again == first
        source = sources.get(conn, LETTER.uri)
        assert (source.title, source.sha256, tags_of(conn, first)) == ("Another title", "cd", ("work",))
        sources.stamp(conn, [(source, 13, 5)])
        source = sources.get(conn, LETTER.uri)
        assert (source.size, source.mtime_ns) == (13, 5)


def test_what_is_not_there_is_reported(store: Store) -> None:
    with store.reading() as conn:
        assert sources.get(conn, "nowhere") is None
    with store.writing() as conn, pytest.raises(NotFoundError, match="nowhere"):
        sources.rename(conn, "nowhere", "here")


def test_a_moved_source_keeps_its_episodes(store: Store) -> None:
    with store.writing() as conn:
        ids = remember(conn, "a.md", "Ana came.")
        remember(conn, "b.md", "Bo came.")
        id = sources.rename(conn, "a.md", "c.md")
        assert [row.id for row in episodes.list_by_source(conn, id)] == ids
        with pytest.raises(InvalidInputError, match="is a source already"):
            sources.rename(conn, "c.md", "b.md")
    assert check.check(store).problems == ()


def test_a_retired_source_is_no_longer_seen_and_comes_back_as_itself(store: Store) -> None:
    with store.writing() as conn:
        (episode,) = remember(conn, "a.md", "Ana came.")
        id = sources.get(conn, "a.md").id
        gone = episodes.retire_source(conn, id, 2000)
        assert episode in gone
        assert sources.get(conn, "a.md") is None
        assert browse.search_sources(conn, "", 9) == ([], 0)
        assert episodes.list_by_source(conn, id) == []
        assert episodes.retire_source(conn, id, 3000) == ()
    with store.writing() as conn:
        assert sources.upsert(conn, Document("a.md"), "a", 4000) == id
        assert sources.get(conn, "a.md").id == id
    assert check.check(store).problems == ()


def test_a_live_source_may_take_the_name_of_one_that_has_gone(store: Store) -> None:
    with store.writing() as conn:
        remember(conn, "a.md", "Ana came.")
        episodes.retire_source(conn, sources.get(conn, "a.md").id, 2000)
        remember(conn, "b.md", "Bo came.")
        moved = sources.rename(conn, "b.md", "a.md")
        assert sources.upsert(conn, Document("a.md"), "a", 3000) == moved, "the live one, not the one that has gone"


def test_the_list_is_newest_first_searchable_and_limited(store: Store) -> None:
    with store.writing() as conn:
        remember(conn, "notes/100%.md", "One.", "Two.", now=1000, title="Shopping", tags=("x",))
        remember(conn, "notes/1000.md", "Three.", now=2000, title="Trip")
        remember(conn, "mail/a_b.eml", now=3000, title="SHOPPING again")
        listed = [(row.uri, row.episodes) for row in browse.search_sources(conn, "", 9)[0]]
        assert listed == [("mail/a_b.eml", 0), ("notes/1000.md", 1), ("notes/100%.md", 2)]
        for query, found in [("shopping", 2), ("100%", 1), ("a_b", 1), ("_", 1), ("NOTES/", 2), ("zebra", 0)]:
            rows, total = browse.search_sources(conn, query, 9)
            assert (total, len(rows)) == (found, found), query
        remember(conn, "notes/100%.md#old", now=4000)
        assert [row.uri for row in browse.search_sources(conn, "notes/100%.md", 1)[0]] == ["notes/100%.md"]
        episodes.retire_source(conn, sources.get(conn, "notes/100%.md#old").id, 5000)
        assert [row.uri for row in browse.search_sources(conn, "", 2)[0]] == ["mail/a_b.eml", "notes/1000.md"]


def test_under_a_folder_is_by_the_letter(store: Store) -> None:
    with store.writing() as conn:
        for uri in ("/n/a", "/n/Ä", "/n/a/b", "/N/a", "/na", "/n/_"):
            remember(conn, uri, "Words.")
        assert [source.uri for source in sources.list_under(conn, "/n/")] == ["/n/_", "/n/a", "/n/a/b", "/n/Ä"]
        assert [source.uri for source in sources.list_under(conn, "/n/_")] == ["/n/_"]


def test_a_policy_is_set_for_a_folder_and_for_one_file(store: Store) -> None:
    with store.writing() as conn:
        for uri in ("/n/a", "/n/a/b.md", "/n/a/c.json#1", "/n/a.md", "/n/c#d.md"):
            sources.upsert(conn, replace(LETTER, uri=uri, policy="local"), "x", 1000)
        assert sources.set_policy(conn, "/n/a", "any") == 3
        assert sources.set_policy(conn, "/n/a", "any") == 0
        assert sources.set_policy(conn, "/n/a/c.json", "local") == 1
        assert sources.set_policy(conn, "/nowhere", "any") == 0
        of = {
            uri: sources.get(conn, uri).policy for uri in ("/n/a", "/n/a/b.md", "/n/a/c.json#1", "/n/a.md", "/n/c#d.md")
        }
    assert of == {"/n/a": "any", "/n/a/b.md": "any", "/n/a/c.json#1": "local", "/n/a.md": "local", "/n/c#d.md": "local"}
