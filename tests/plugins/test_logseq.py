"""Pages of Logseq: outline, properties, states, references; and what is no such page."""

from __future__ import annotations

import pytest

from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

JOURNAL = """- Met [[Ana]] at the pier
→- DOING [#A] Order the tray
→  SCHEDULED: <2026-03-20 Fri>
→  :LOGBOOK:
→  CLOCK: [2026-03-09 Mon 10:00:00]
→  :END:
→- DONE Pay the plumber
→  id:: 64a0f3c2-1111-4222-8333-0123456789ab
- See ((64a0f3c2-1111-4222-8333-0123456789ab)) and ((64a0f3c2-1111-4222-8333-0123456789ff))
- {{query (todo now)}}
- {{embed [[Roof]]}}
- TODO Call Bo
  collapsed:: true
- ```
  id:: stays, in code
  ```
""".replace("→", "\t")
PAGE = """type:: project
alias:: the roof, slates
tags:: [[house]], money

- ## Costs
	- Slates [cost:: 450 euros]
	- budget:: 4,200 euros
	- LATER ask for a second offer
"""


def test_a_journal(read: Read) -> None:
    (day,) = found = read("journals/2026_03_09.md", JOURNAL)
    assert day.title == "2026-03-09" and day.at is not None and day.at.date().isoformat() == "2026-03-09"
    assert [*zip(day.lines or (), day.text.split("\n"), strict=True)] == [
        (1, "- Met [[Ana]] at the pier"), (2, "\t- [/] Order the tray"), (3, "\t  SCHEDULED: <2026-03-20 Fri>"),
        (7, "\t- [x] Pay the plumber"), (9, "- See Pay the plumber and (a block of another page)"), (11, "- [[Roof]]"),
        (12, "- [ ] Call Bo"), (14, "- ```"), (15, "  id:: stays, in code"), (16, "  ```"), (17, ""),
    ]  # fmt: skip
    assert find_place(found, "Pay the plumber") == "2026_03_09.md:7"
    assert {
        ("Order the tray", "scheduled", "2026-03-20"), ("Pay the plumber", "status", "done"),
        ("Call Bo", "status", "open"),
    } <= find_facts(found)  # fmt: skip


@pytest.mark.parametrize(("key", "day"), [("date", "2019-03-05"), ("updated", "2019-03-05"), ("created", "2020-02-03")])
def test_the_day_of_a_page(read: Read, key: str, day: str) -> None:
    (page,) = read("pages/plums.md", f"{key}:: [[2019-03-05]]\n\n- DOING pick them")
    assert page.at is not None and page.at.date().isoformat() == day


def test_a_page_with_properties(read: Read) -> None:
    (page,) = found = read("pages/projects___roof.md", PAGE)
    assert (page.title, page.aliases, page.tags) == (
        "projects/roof",
        ("the roof", "slates", "roof"),
        ("house", "money"),
    )
    assert page.properties["type"] == "project"
    assert find_place(found, "450 euros") == "projects___roof.md:6"
    assert {("Slates", "cost", "450 euros"), ("ask for a second offer", "status", "open")} <= find_facts(found)


def test_a_page_with_headings_outside_of_its_outline(read: Read) -> None:
    text = "phase:: two\n## Rigging\nIt is of hemp.\n- LATER buy rope\n  id:: 64a0f3c2-1111-4222-8333-0123456789ab\n"
    (page,) = found = read("pages/Ship%3A Tern.md", text)
    assert (page.title, page.properties) == ("Ship: Tern", {"phase": "two"})
    assert page.text == "phase:: two\n## Rigging\nIt is of hemp.\n- [ ] buy rope\n"
    assert ("buy rope", "status", "open") in find_facts(found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "- a list\n- NOWHERE to go\n"),
        ("a.md", "Intro\n\n- DOING this\n"),
        ("journals/2026_03_09.md", "# A heading of a diary\n\nToday it rained.\n- DOING nothing\n"),
        ("pages/a.md", "- TODO without a mark of its own\n"),
        ("a.md", "- collapsed:: maybe\n"),
    ],
)
def test_what_is_no_page_of_logseq_stays_as_it_is(read: Read, name: str, text: str) -> None:
    (note,) = read(name, text)
    assert (note.text, note.lines) == (text, None)


def test_a_page_that_breaks_off(read: Read) -> None:
    (note,) = read("journals/2026_03_09.md", "- x\n  :LOGBOOK:\n  CLOCK: [2026\n- lost in the log\n")
    assert note.text == "- x"
