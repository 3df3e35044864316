"""Markdown notes and their frontmatter."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.plugins.conftest import Read

NOTE = """---
title: Ana's flat
date: 2024-05-01
tags: [home, "#rent"]
aliases:
  - the flat
  - Harbour Street
rent: 0690
open: yes
seen: 12:30
up: [[Home]]
owner: "[[Ana]]"
nested: {floor: 3}
---

# The flat

Rent is **690**, see [[Lumen]] #money.
"""


def test_frontmatter_becomes_properties_and_stays_in_the_text(read: Read) -> None:
    (note,) = read("flat.md", NOTE)
    assert note.title == "Ana's flat"
    assert note.at == datetime(2024, 5, 1).astimezone()
    assert note.tags == ("home", "rent")
    assert note.aliases == ("the flat", "Harbour Street")
    assert note.properties["rent"] == "0690" and note.properties["open"] == "yes" and note.properties["seen"] == "12:30"
    assert note.properties["up"] == "[[Home]]" and note.properties["owner"] == "[[Ana]]"
    assert note.properties["nested"] == {"floor": "3"}
    assert (note.text, note.lines) == (NOTE, None)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n# Two", "One"),
        ("# Boat #\n", "Boat"),
        ("[[Home]] #boats\n\n# Boat\n", "Boat"),
        ("text\n\n# Later\n", "name"),
        ("```\n# no heading\n```\n# Late", "name"),
        ("Set apart\n=========\n", "Set apart"),
        ("#tag is no heading\n## nor is this", "name"),
        ("", "name"),
        ("# C#\n", "C#"),
        ("---\ntitle: ''\n---\n# From the heading", "From the heading"),
    ],
)
def test_the_title(read: Read, text: str, title: str) -> None:
    assert read("name.md", text + "\n.")[0].title == title


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("tags: [a, b/c, a]", ("a", "b/c")),
        ("tags: 'a b #c'", ("a", "b", "c")),
        ("tags: one thing, another", ("one thing", "another")),
        ("Tags:\n  - a\n  - b", ("a", "b")),
        ("keywords: a, b\ntag: c", ("a", "b", "c")),
        ("tags:", ()),
        ("tags: [[a, [b]], {c: d}]", ()),
        ("tags: {a: b}", ()),
    ],
)
def test_tags_in_every_spelling(read: Read, tags: str, expected: tuple[str, ...]) -> None:
    assert read("a.md", f"---\n{tags}\n---\nbody")[0].tags == expected


@pytest.mark.parametrize(
    ("properties", "day"),
    [
        ("created: 5 March 2024", "2024-03-05"),
        ("updated: 2024-03-06\ncreated: 2024-03-05", "2024-03-06"),
        ("created: 2019-03-05", "2020-02-03"),  # begun then, and written when its file was
        ("date: someday\nmodified: 2024-03-05", "2024-03-05"),
        ("last_updated: 2024-03-05", "2024-03-05"),
        ("dateModified: 2024-03-05", "2024-03-05"),
        ("Date: 2024-03-05T23:30", "2024-03-05"),
    ],
)
def test_the_date_in_the_properties(read: Read, properties: str, day: str) -> None:
    at = read("a.md", f"---\n{properties}\n---\nbody")[0].at
    assert at and at.date().isoformat() == day


def test_yaml_that_does_not_parse_is_read_line_by_line(read: Read) -> None:
    (note,) = read("a.md", "---\ntitle: Re: rent\ndate: 2024-13-45\ntags: [a\n\tbad: tab\n---\nbody")
    assert note.title == "Re: rent" and note.properties["date"] == "2024-13-45" and note.text.endswith("body")


def test_a_card_without_a_body_keeps_its_lines_as_text(read: Read) -> None:
    (card,) = read("ana.md", "---\nphone: 555 0100\nborn: 1986-08-03\n---\n\n")
    assert "phone: 555 0100\nborn: 1986-08-03" in card.text


@pytest.mark.parametrize("text", ["---\nno yaml here\n---\nbody", "---\nopen: end\nbody", "a\n---\nb: c\n---\n"])
def test_what_is_no_frontmatter_stays_text(read: Read, text: str) -> None:
    (note,) = read("a.md", text)
    assert note.text == text and note.properties == {} and note.lines is None


def test_windows_line_ends_keep_the_numbers(read: Read) -> None:
    (note,) = read("a.md", b"---\r\ntitle: x\r\n---\r\n\r\nhello\r\n")
    assert (note.title, note.text, note.lines) == ("x", "---\ntitle: x\n---\n\nhello\n", None)


def test_a_date_of_something_else_does_not_date_the_note(read: Read) -> None:
    (dated,) = read("2024-03-05.md", "---\nborn: 1986-08-03\n---\nbody")
    assert dated.at and dated.at.date().isoformat() == "2024-03-05"
    (card,) = read("felix.md", "---\nbirthday: 1991-05-17\n---\n# Felix\n\nPlays the bassoon.")
    assert card.at and card.at.year > 1991, "the day that the file was written, for want of a better one"
