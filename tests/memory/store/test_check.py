from __future__ import annotations

import pytest

from memory.store import check
from memory.store.store import Store
from tests.memory.store.building import remember

DAMAGE = {
    "DELETE FROM vec WHERE item_id = {a}": ["has no vector", "index and the vectors differ"],
    "UPDATE vec SET data = x'0000' WHERE item_id = {a}": ["wrong length"],
    "UPDATE vec SET item_id = 99999 WHERE item_id = {a}": ["which is not live"],
    "DELETE FROM vec_episode_1 WHERE id = {a}": ["index and the vectors differ"],
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
def test_each_kind_of_damage_is_told(store: Store, damage: str) -> None:
    with store.writing() as conn:
        a, b = remember(conn, "s", "Ana met Bo.", "They sang.")
    assert check.check(store).ok
    with store.quiet() as conn:
        for statement in damage.format(a=a, b=b).split(";"):
            conn.execute(statement)
    found = check.check(store)
    for sentence in DAMAGE[damage]:
        assert any(sentence in problem for problem in found.problems), found.problems
    assert not found.ok


def test_many_of_a_kind_are_counted(store: Store) -> None:
    with store.writing() as conn:
        remember(conn, "s", *[f"Episode {n}." for n in range(9)])
        conn.execute("DELETE FROM vec")
    problems = check.check(store).problems
    assert sum("has no vector" in problem for problem in problems) == 5
    assert "And 4 more like it." in problems


def test_it_says_what_it_looked_at(store: Store) -> None:
    assert check.check(store).checked == ("file", "full text", "vectors", "graph", "sources")
