from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.terminal import count, display_safe, escape_unsafe, size

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]52;c;cm0gLXJm\x07", "]52;c;cm0gLXJm"),  # writes the clipboard
        ("\x9b2Jcleared", "2Jcleared"),  # C1: a control sequence without ESC
        ("safe\rover", "safeover"),
        ("a\b\b\bb\x7f", "ab"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("half \ud83d", "half "),
        ("kept: \ttab, line\nnext, é, 漢, 👩‍🚀, [b]", "kept: \ttab, line\nnext, é, 漢, 👩‍🚀, [b]"),
    ],
)
def test_a_terminal_gets_nothing_to_obey(hostile: str, shown: str) -> None:
    assert display_safe(hostile) == shown


@given(st.text(st.characters()))
def test_no_control_character_passes(text: str) -> None:
    shown = display_safe(text)
    left = {char for char in shown if unicodedata.category(char) in ("Cc", "Cs") or char in BIDI}
    assert left <= {"\t", "\n"}
    assert display_safe(shown) == shown


@given(st.text(st.characters()))
def test_a_line_is_one_line(text: str) -> None:
    shown = display_safe(text, line=True)
    assert "\t" not in shown
    assert len(shown.splitlines()) <= 1


@given(st.text(st.characters(exclude_categories=[])))
def test_json_loses_nothing_and_hides_nothing(text: str) -> None:
    document = escape_unsafe(json.dumps(text, ensure_ascii=False))
    assert json.loads(document) == text
    assert display_safe(document) == document


def test_counts_and_sizes_read_well() -> None:
    assert [count(0, "source"), count(1, "source"), count(1204, "source")] == ["0 sources", "1 source", "1,204 sources"]
    assert [size(1), size(999), size(1000), size(3_240_000), size(12_000_000_000)] == [
        "1 byte", "999 bytes", "1.0 kB", "3.2 MB", "12.0 GB",
    ]  # fmt: skip
