"""The line of a text that says what a property of its source says."""

from __future__ import annotations

import pytest

from memory.text.predicates import find_property

NOTE = "---\ntags: [goat]\nlast_sounded: 9 March\nphone:\n  - 0161 496 07\n---\n# Bosun\n\nphone: none\n\n- born: 3\n"


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("tags", "goat", "tags: [goat]"),
        ("last sounded", "9 March", "last_sounded: 9 March"),
        ("last sounded", "2026-03-09", "last_sounded: 9 March"),
        ("Phone", "0161 496 07", "phone:"),
        ("phone", "none", "phone: none"),
        ("born", "3", None),
    ],
)
def test_the_line_of_a_property(key: str, value: str, line: str | None) -> None:
    found = find_property(NOTE, key, value)
    assert (NOTE[slice(*found)] if found else None) == line
