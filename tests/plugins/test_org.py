"""Org outlines come out as Markdown, line by line."""

from __future__ import annotations

from datetime import datetime

from tests.plugins.conftest import Read

OUTLINE = """#+TITLE: Languages
#+DATE: <2023-03-18 Sat>
#+FILETAGS: :study:home:
:PROPERTIES:
:ID: 42
:Category: learning
:END:

* Polish :course:
** TODO ask [[https://school.example][the school]] about [[Ewa]]
   SCHEDULED: <2023-06-01 Thu>
   :LOGBOOK:
   - moved from May
   - State "TODO"       from "WAITING"    [2023-05-02 Tue 10:12]
   CLOCK: [2023-05-02 Tue 10:12]--[2023-05-02 Tue 11:00] =>  0:48
   :END:
******** very deep
#+BEGIN_SRC python
* not a headline
#+END_SRC
#+BEGIN_QUOTE
kept
#+END_QUOTE
| a | b |
|---+---|
*bold* text
"""


def test_an_outline(read: Read) -> None:
    (outline,) = read("taal.org", OUTLINE)
    assert outline.title == "Languages"
    assert outline.at == datetime(2023, 3, 18).astimezone()
    assert outline.tags == ("study", "home")
    assert outline.properties == {"id": "42", "category": "learning"}, "title and date are the document's own"
    assert outline.lines is not None
    assert dict(zip(outline.lines, outline.text.split("\n"), strict=True)) == {
        8: "",
        9: "# Polish #course",
        10: "## TODO ask [the school](https://school.example) about [[Ewa]]",
        11: "SCHEDULED: <2023-06-01 Thu>",
        13: "- moved from May",
        17: "###### very deep",
        18: "```python",
        19: "* not a headline",
        20: "```",
        22: "kept",
        24: "| a | b |",
        25: "|---|---|",
        26: "*bold* text",
        27: "",
    }


def test_an_outline_without_a_head(read: Read) -> None:
    (outline,) = read("plain.org", "* One\ntext\n")
    assert (outline.title, outline.text, outline.lines) == ("plain", "# One\ntext\n", (1, 2, 3))


def test_text_that_is_indented_under_its_headline_is_text_and_its_items_have_their_days(read: Read) -> None:
    salary = "* Salary\n  [2019-01-21 Mon] Gross 4,300 euros.\n  [2019-06-03 Mon] Gross 4,650 euros.\n"
    text = f"{salary}* List\n    - a\n      - b\n"
    (outline,) = read("work.org", text)
    assert outline.text.split("\n")[1] == "[2019-01-21 Mon] Gross 4,300 euros."
    assert outline.text.split("\n")[4:6] == ["- a", "  - b"]
    assert [(line, at and at.date().isoformat()) for line, at in outline.parts] == [
        (1, "2019-01-21"), (3, "2019-06-03"), (4, None)
    ]  # fmt: skip


def test_the_states_of_a_file_are_open_or_done(read: Read) -> None:
    text = "#+TODO: HOLD(h) ASK(a@/!) | SENT(s)\n* HOLD Letter\n* SENT Parcel\n* Other"
    (document,) = read("post.org", text)
    assert document.text == "# TODO Letter\n# DONE Parcel\n# Other"
