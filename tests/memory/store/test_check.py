from __future__ import annotations

import numpy as np
import pytest

from memory.store import check, graph, relations, revisions
from memory.store.store import Store
from tests.memory.store.building import remember

DAMAGE = {
    "DELETE FROM vec WHERE item_id = {a}": ["has no vector"],
    "UPDATE vec SET data = x'0000' WHERE item_id = {a}": ["wrong length"],
    "UPDATE sentence_vec SET data = x'' WHERE vec_id = (SELECT id FROM vec WHERE item_id = {a})": ["not as many"],
    "UPDATE vec SET item_id = 99999 WHERE item_id = {a}": ["which is not live"],
    "DELETE FROM episode_text WHERE rowid = {a}": ["missing from the full text"],
    "UPDATE episode SET text = 'Other words.' WHERE node_id = {a}": ["full text of episode texts is damaged"],
    "UPDATE node SET t_expired = 5 WHERE id = {a}": ["ends at a node that is not live", "but its episode is not"],
    "UPDATE edge SET dst = 99999 WHERE id = (SELECT min(id) FROM edge)": ["ends at a node that is not live"],
    "UPDATE episode SET seq = 0 WHERE node_id = {b}": ["s has two episodes in place 0"],
    "UPDATE source SET t_deleted = 5": ["but its source s has gone"],
    "DELETE FROM object WHERE node_id = (SELECT min(node_id) FROM object)": ["has no object row"],
    "INSERT INTO edge_memory SELECT id, 0, 1, x'00', 0.5, 0, 0, 1 FROM edge LIMIT 1;UPDATE edge SET t_expired = 5": [
        "still remembers questions"
    ],
    "PRAGMA foreign_keys = OFF; DELETE FROM source": ["of episode belongs to a row of source"],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_each_kind_of_damage_is_reported(store: Store, damage: str) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "Ana met Bo.", "They sang.")
    assert not check.check(store).problems
    with store.quiet() as conn:
        for statement in damage.format(a=a, b=b).split(";"):
            conn.execute(statement)
    found = check.check(store)
    for sentence in DAMAGE[damage]:
        assert any(sentence in problem for problem in found.problems), found.problems
    assert found.problems


def test_many_of_a_kind_are_counted(store: Store) -> None:
    with store.writing() as conn:
        remember(conn, "s", *[f"Episode {n}." for n in range(9)])
        conn.execute("DELETE FROM vec")
    problems = check.check(store).problems
    assert sum("has no vector" in problem for problem in problems) == 5
    assert "And 4 more like it." in problems


def test_it_says_what_it_looked_at(store: Store) -> None:
    assert check.check(store).checked == (
        "file", "full text", "vectors", "checksums", "graph", "sources", "facts", "revisions",
    )  # fmt: skip


FACTS_DAMAGED = {
    "UPDATE edge SET valid_to = valid_from - 1 WHERE id = {new}": "Fact {new} ends before it begins.",
    "DELETE FROM provenance WHERE item_id = {new}": "Fact {new} has no passage.",
    "UPDATE edge SET pred_id = 77 WHERE id = {new}": "Fact {new} has predicate 77, which is not there.",
    "UPDATE edge SET superseded_by = 77 WHERE id = {old}": "Fact {old} is replaced by fact 77, which is not there.",
    "DELETE FROM edge WHERE id = {old}": "Revision 1 is about fact {old}, which is not there.",
    "DELETE FROM edge WHERE id = {new}": "Revision 1 is about fact {new}, which is not there.",
    "DELETE FROM revision": "belongs to revision 1, which is not there.",
    "UPDATE revision SET state = 'undone'": "Revision 1 is undone, but what it changed is not.",
    "DELETE FROM journal": "Fact {old} is replaced by fact {new} without a revision.",
}


@pytest.mark.parametrize("damage", FACTS_DAMAGED)
def test_damage_to_facts_is_reported(store: Store, damage: str) -> None:
    with store.writing() as conn:
        (episode,) = remember(conn, "s", "Ana lives in Bonn, then Riga.")
        ana, bonn, riga = graph.allocate(conn, "node", 3) + np.arange(3)
        graph.insert_objects(conn, [(int(id), "x", None) for id in (ana, bonn, riga)], 1)
        _, canon = relations.ensure_predicate(conn, "lives in", "lives in")
        old, new = (
            relations.insert(conn, int(ana), canon, int(to), "asserted", 1.0, at, None, 1)
            for to, at in ((bonn, 100), (riga, 200))
        )
        for id in (old, new):
            relations.add_evidence(conn, id, episode, 0, 5, "rule")
        revision = revisions.add(conn, "supersedes", old, new, "", "rule", 1.0, 1)
        revisions.change(conn, revision, old, "valid_to", 200, 1)
        revisions.change(conn, revision, old, "superseded_by", new, 1)
    assert check.check(store).problems == ()
    with store.quiet() as conn:
        conn.execute(damage.format(old=old, new=new))
    assert any(FACTS_DAMAGED[damage].format(old=old, new=new) in one for one in check.check(store).problems)
