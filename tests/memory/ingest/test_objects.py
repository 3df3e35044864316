"""Objects: what the notes name becomes one, and what only looks like a name does not."""

from collections.abc import Sequence

import pytest

from memory import Memory
from memory.nouns import Document
from memory.store import browse


def find_objects(memory: Memory) -> list[str]:
    with memory.store.reading() as conn:
        found, _ = browse.find_objects(conn, "", 100, 0)
    return sorted(one.name for one in found)


def read_types(memory: Memory) -> dict[str, str | None]:
    with memory.store.reading() as conn:
        return dict(conn.execute("SELECT n.label, o.type FROM object o JOIN node n ON n.id = o.node_id").fetchall())


def count_mentions(memory: Memory, name: str) -> int:
    query = "SELECT count(*) FROM edge e JOIN node n ON n.id = e.dst WHERE e.kind = 'mention' AND n.label = ?"
    with memory.store.reading() as conn:
        (count,) = conn.execute(query, (name,)).fetchone()
    return int(count)


@pytest.mark.parametrize("texts", [["Closed today. Petra called.", "We met Petra there."], ["We met Petra."]])
def test_a_word_that_begins_lines_is_no_object_but_a_mention_of_one_that_is_known(
    fresh: Memory, texts: Sequence[str]
) -> None:
    fresh.ingest.remember_many([Document(f"/{number}.md", text) for number, text in enumerate(texts)])
    fresh.ingest.remember_many([Document("/late.md", "Petra sang. Best of all.")])
    assert find_objects(fresh) == ["Petra"]
    assert count_mentions(fresh, "Petra") == len(texts) + 1


def test_another_name_of_a_note_is_the_same_object(fresh: Memory) -> None:
    note = Document("/Juno Abara.md", "She runs the shop.", title="Juno Abara", aliases=("Juno",))
    fresh.ingest.remember_many([note, Document("/day.md", "We saw Juno in the shop.")])
    assert find_objects(fresh) == ["Juno Abara"]
    assert count_mentions(fresh, "Juno Abara") == 2


def test_tasks_states_and_values_have_types_and_are_not_listed_as_things(fresh: Memory) -> None:
    boat = "# Heron\n\nkeel: 12 m\nowner: Ana Ruiz\nhull: larch\ncrew: Bo, Rui\n\n- [ ] Paint it again\n"
    fresh.ingest.remember_many([Document("/Heron.md", boat, title="Heron")])
    types = read_types(fresh)
    assert [types[name] for name in ("Paint it again", "open", "12 m", "larch")] == ["task", "state", "value", "value"]
    assert types["Bo, Rui"] == "value"
    assert find_objects(fresh) == ["Ana Ruiz", "Heron", "Rui"]
    fresh.ingest.remember_many([Document("/wood.md", "We like [[larch]].")])
    assert find_objects(fresh) == ["Ana Ruiz", "Heron", "Rui", "larch"], "now it is named"
