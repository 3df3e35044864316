"""What changed in the memory from one time to another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory.store import diff, episodes, predicates, relations, revisions, sources
from memory.store.connect import Connection
from memory.store.store import Store
from tests.memory.store.building import remember


@pytest.fixture
def conn() -> Iterator[Connection]:
    with Store.open(":memory:") as store, store.writing() as conn:
        yield conn


def tell(conn: Connection, episode: int, at: int) -> int:
    """A relation between the first two objects, told by a passage; known since a time."""
    one, other = (id for (id,) in conn.execute("SELECT id FROM node WHERE kind = 'O' ORDER BY id LIMIT 2"))
    predicate, _ = predicates.ensure(conn, "knows", "knows")
    fact = relations.insert(conn, one, predicate, other, "asserted", 1.0, at, None, at)
    relations.add_evidence(conn, fact, episode, 0, 3, "rule")
    return fact


def replace(conn: Connection, relation: str, old: int, new: int, at: int) -> int:
    return revisions.add(conn, relation, old, new, "", "rule", 1.0, at)  # type: ignore[arg-type]


def test_facts_that_began_were_replaced_and_ended_are_told_apart(conn: Connection) -> None:
    (note,) = remember(conn, "a.md", "Ana met Bo.", now=100)
    old, over, untouched = tell(conn, note, 100), tell(conn, note, 110), tell(conn, note, 120)
    new, begun = tell(conn, note, 200), tell(conn, note, 210)
    first, second = replace(conn, "supersedes", old, new, 200), replace(conn, "negates", over, begun, 220)
    assert diff.list_begun(conn, 150, 300) == [begun]
    assert [row.id for row in diff.list_revisions_between(conn, "supersedes", 150, 300)] == [first]
    assert [row.id for row in diff.list_revisions_between(conn, "negates", 150, 300)] == [second]
    assert diff.list_begun(conn, 0, 150) == [untouched, over, old], "as it was then"
    assert diff.list_begun(conn, 210, 300) == [] == diff.list_revisions_between(conn, "supersedes", 200, 300)
    revisions.settle(conn, first, "undone", 300)
    assert diff.list_begun(conn, 150, 300) == [begun, new], "what was taken back took no place"


def test_what_no_note_says_any_more_is_told_unless_something_took_its_place(conn: Connection) -> None:
    (first,) = remember(conn, "a.md", "Ana met Bo.", now=100)
    (second,) = remember(conn, "b.md", "Ana met Bo.", now=100)
    alone, by_both, replaced = tell(conn, first, 100), tell(conn, first, 101), tell(conn, first, 102)
    relations.add_evidence(conn, by_both, second, 0, 3, "rule")
    later = tell(conn, second, 150)
    replace(conn, "supersedes", replaced, later, 200)
    source = sources.get(conn, "a.md")
    assert source is not None
    episodes.retire_source(conn, source.id, 200)
    assert diff.list_untold(conn, 150, 300) == [alone]
    assert diff.list_untold(conn, 0, 150) == diff.list_untold(conn, 200, 300) == []
    assert diff.list_untold(conn, 50, 300) == [], "it began and ended in that time"
    assert diff.list_begun(conn, 50, 300) == [by_both], "the other one took a place"


def test_sources_were_added_edited_and_deleted(conn: Connection) -> None:
    remember(conn, "old.md", "Ana sang.", now=100)
    _, gone = remember(conn, "edited.md", "Bo sang.", "Cy sang.", now=100)
    remember(conn, "deleted.md", "Di sang.", now=100)
    episodes.retire_many(conn, [gone], 200, "source_changed")
    remember(conn, "edited.md", "Ed sang.", "Flo sang.", now=200)
    remember(conn, "new.md", "Gil sang.", now=210)
    remember(conn, "brief.md", "Hal sang.", now=220)
    for uri, at in (("deleted.md", 230), ("brief.md", 240)):
        episodes.retire_source(conn, sources.get(conn, uri).id, at)  # type: ignore[union-attr]
    assert [row[:1] + row[2:] for row in diff.list_changed_sources(conn, 150, 300)] == [
        ("deleted.md", "deleted", 0, 1, 230),
        ("new.md", "added", 1, 0, 210),
        ("edited.md", "edited", 2, 1, 200),
    ]
    assert [row.uri for row in diff.list_changed_sources(conn, 0, 150)] == ["deleted.md", "edited.md", "old.md"]
    assert {row.change for row in diff.list_changed_sources(conn, 0, 150)} == {"added"}
    assert [row.change for row in diff.list_changed_sources(conn, 215, 225)] == ["added"], "as far as was known then"
    assert diff.list_changed_sources(conn, 240, 300) == []


def test_the_first_row_after_a_time_is_found_by_its_id(conn: Connection) -> None:
    assert diff.find_first_after(conn, "node", 0) == 1
    for at in (100, 200, 200, 300):
        remember(conn, f"{at}.md", "Ana sang.", now=at)
    rows = conn.execute("SELECT id, t_created FROM node ORDER BY id").fetchall()
    for since in (0, 99, 100, 199, 200, 300):
        after = [id for id, made in rows if made > since]
        assert diff.find_first_after(conn, "node", since) == (after[0] if after else rows[-1][0] + 1)
