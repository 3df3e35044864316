"""What a sentence is read with: its line, what stands above it, its table's head."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answering.places import MAX_UNIT_WORDS, Place, find_places, find_units, show_unit
from memory.text.sentences import sentences

NOTE = """# Boiler house

Sunday 25 June 2023

| what | value | note |
|---|---|---|
| pumps | P1 and P2 | P2 whines |

## Keys
Kept in the office:
- master = 1. There are three of them
  - spare in the [drawer](drawer.md)

See [contractors](contractors.md), [[keys]]

## Chimney sweep
When: 2024-09-09 08:30 to 09:30 UTC
Where: Roof

Get the paper. Then ring Rudge.
"""


def units(text: str) -> dict[str, Place]:
    """What is shown of each sentence's unit, and its place."""
    return {show_unit(text[start:end], place): place for (start, end), place in find_units(text, sentences(text))}


def test_a_row_is_shown_with_the_head_of_its_table() -> None:
    assert "what: pumps; value: P1 and P2; note: P2 whines" in units(NOTE)


def test_an_item_is_read_whole_under_what_stands_above_it() -> None:
    there = units(NOTE)
    assert there["master = 1. There are three of them"].above == ("Boiler house", "Keys", "Kept in the office")
    assert there["spare in the drawer"].above[-1] == "master = 1. There are three of them"
    assert there["spare in the drawer"].is_item


def test_an_event_is_one_unit_with_its_title_and_time() -> None:
    shown = "Chimney sweep; When: 2024-09-09 08:30 to 09:30 UTC; Where: Roof; Get the paper. Then ring Rudge."
    assert units(NOTE)[shown].kind == "event"


def test_a_task_of_an_outline_is_one_unit_with_when_it_is_planned() -> None:
    shown = units("# TODO Prune the apple tree\nDEADLINE: <2027-02-15 Mon> SCHEDULED: <2027-02-01 10:00>\nOr in March.")
    task, body = shown
    assert task == "TODO Prune the apple tree; DEADLINE: 2027-02-15 SCHEDULED: 2027-02-01 10:00"
    assert (shown[task].kind, body, shown[body].above) == ("task", "Or in March.", ("TODO Prune the apple tree",))
    assert units("# What to do\nDEADLINE: <2027-02-15 Mon>")["What to do"].kind == "heading"


@pytest.mark.parametrize("line", ["Sunday 25 June 2023", "See contractors, keys"])
def test_a_date_and_links_only_file_what_stands_around_them(line: str) -> None:
    assert units(NOTE)[line].kind == "filing"


def test_a_turn_has_its_speaker() -> None:
    text = "Ana: Where is it? On Monday I looked.\nassistant: In Lisbon.\nThe line below a field is not its."
    assert [place.speaker for place in find_places(text)] == ["Ana", "assistant", ""]


def test_what_may_not_be_shown_joins_no_unit() -> None:
    text = "Ana has the key. Bo had it. It is on the hook."
    spans = [span for span in sentences(text) if not text[span[0] :].startswith("Bo")]
    assert [text[start:end] for (start, end), _ in find_units(text, spans)] == [
        "Ana has the key.",
        "It is on the hook.",
    ]


@given(st.text(alphabet=st.sampled_from("ab1 .\n#|-[]():*>\t"), max_size=200))
def test_a_unit_is_an_exact_slice_that_holds_its_sentence(text: str) -> None:
    spans = sentences(text)
    for (first, last), ((start, end), place) in zip(spans, find_units(text, spans), strict=True):
        assert start <= first < last <= end <= len(text)
        assert (start, end) == (first, last) or place.kind == "event" or len(text[start:end].split()) <= MAX_UNIT_WORDS


def test_the_head_of_a_table_is_a_heading_and_a_record_in_a_line_is_reported() -> None:
    table = "| part | wood |\n|---|---|\n| keel | oak |\n\ntitle: Piranesi; rating: 5\n\ntitle: Journal\n\n"
    table += "#boat #home/yard\n\n#3 is red\n"
    kinds = [(table[one.start : one.end], one.kind) for one in find_places(table)]
    assert kinds == [
        ("| part | wood |", "heading"),
        ("| keel | oak |", "row"),
        ("title: Piranesi; rating: 5", "text"),
        ("title: Journal", "filing"),
        ("#boat #home/yard", "filing"),
        ("#3 is red", "text"),
    ]


def test_an_event_is_shown_without_the_rule_and_the_days_by_which_it_comes_again() -> None:
    days = ", ".join(f"2026-{month:02}-01" for month in range(2, 13))
    lines = ["Rent is due", "When: 2026-01-01", "Repeats: FREQ=MONTHLY", f"Also on: {days}", "Who: Ana Lund"]
    text = "## " + "\n".join(lines)
    starts = [text.index(line) for line in lines]
    units = find_units(text, [(start, start + len(line)) for start, line in zip(starts, lines, strict=True)])
    assert [place.kind for _, place in units] == ["event"] * 5
    (start, end), place = units[1]
    assert show_unit(text[start:end], place) == "Rent is due; When: 2026-01-01; Who: Ana Lund"


def test_a_greeting_is_no_text() -> None:
    text = "Liebe Frau Seidel,\n\nthe flat,\nas I said on Monday, is free,\nand cheap.\n\nBest wishes,\nIna Falk\n"
    kinds = {text[one.start : one.end]: one.kind for one in find_places(text)}
    assert [line for line, kind in kinds.items() if kind == "filing"] == ["Liebe Frau Seidel,", "Best wishes,"]
