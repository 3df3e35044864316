"""The entries of a passage: what is a list, a table, a task or an event, and what it stands under."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.answering import entries
from memory.answering.entries import Entry
from memory.nouns import Episode, Source


def read_entries(text: str) -> list[Entry]:
    return entries.read_entries(Episode(1, Source(1, "a.md", "file", "a", "markdown"), 0, "a", text))


def shown(text: str) -> list[str]:
    return [one.text for one in read_entries(text)]


def test_items_stand_under_their_headings_and_the_line_above() -> None:
    first, *_, last = read_entries(
        "# Soup\n\n## Ingredients\n\n- 2 carrots\n- 1 onion,\n  the red one\n\nTools:\n* a pot"
    )
    assert (first.text, first.heads) == ("2 carrots", ("Soup", "Ingredients"))
    assert (last.text, last.heads) == ("a pot", ("Soup", "Ingredients", "Tools"))
    assert shown("- 1 onion,\n  the red one\n- salt") == ["1 onion, the red one", "salt"]


def test_what_is_indented_is_one_level_in() -> None:
    assert [(one.text, one.level, one.heads) for one in read_entries("- camp\n  - tent\n- food")] == [
        ("camp", 0, ()),
        ("tent", 1, ("camp",)),
        ("food", 0, ()),
    ]


def test_rows_know_their_columns() -> None:
    rows = read_entries("## Read\n| Title | Rating |\n|---|---|\n| Salt Roads | 5 |\n| A Quiet Ferry | 3 |")
    assert [(one.text, one.heads[-1], one.kind) for one in rows] == [
        ("Salt Roads | 5", "Title | Rating", "row"),
        ("A Quiet Ferry | 3", "Title | Rating", "row"),
    ]
    assert [one.heads for one in read_entries("item: Headset; count: 9\nitem: Webcam; count: 3")] == 2 * [
        ("item | count",)
    ]


def states(text: str) -> dict[str, str]:
    return {one.text: one.state for one in read_entries(text)}


def test_tasks_have_a_state_in_every_notation() -> None:
    assert states("- [ ] order\n- [x] choose\n- [-] drop\n- plain") == {
        "order": "open", "choose": "done", "drop": "cancelled", "plain": "",
    }  # fmt: skip
    assert states("# TODO Prune\nSCHEDULED: <2026-11-28 Sat>\n# DONE Plant\n# WAITING Compost") == {
        "Prune": "open", "Plant": "done", "Compost": "open",
    }  # fmt: skip
    assert states("TODO call the roofer\nDONE open the account") == {
        "call the roofer": "open",
        "open the account": "done",
    }


def test_a_calendar_entry_is_its_whole_section() -> None:
    text = "## Dentist\nWhen: 2026-11-27 09:30\nWhere: Mill Lane 4\n\n## Passport\nDue: 2026-12-11\nStatus: COMPLETED"
    event, task = read_entries(text)
    assert (event.text, event.kind, event.state) == ("Dentist", "event", "")
    assert text[event.start : event.end].endswith("Mill Lane 4")
    assert (task.text, task.kind, task.state) == ("Passport", "task", "done")


_LINES = st.sampled_from(
    ["", "# A", "## TODO b", "- c", "  - [x] d", "1. e", "| f | g |", "|---|---|", "h: i; j: k", "l: m, n, o",
     "When: 2026-01-02", "TODO p", "words", "Some words end here.", "\t", "SCHEDULED: <2026-01-02>", "  goes on"]
)  # fmt: skip


@given(st.lists(_LINES | st.text(max_size=20), max_size=14))
def test_every_entry_is_a_quote_and_they_are_in_order(lines: list[str]) -> None:
    text = "\n".join(lines)
    found: list[Entry] = read_entries(text)
    assert [one.start for one in found] == sorted(one.start for one in found)
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start : one.end].strip()
        assert one.text


def test_the_lines_of_a_todo_txt_are_tasks() -> None:
    text = "(A) 2026-11-18 Pay the deposit due:2026-11-30 @bank\nx 2026-11-19 2026-11-01 Order the cake +party\nPost it"
    assert [(one.text, one.kind, one.state) for one in read_entries(text)] == [
        ("Pay the deposit due:2026-11-30", "task", "open"),
        ("Order the cake", "task", "done"),
    ]
