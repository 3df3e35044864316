"""Bytes of many encodings become one kind of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.readers import Unreadable
from plugins.readers.decode import is_binary, text_of, tidy

TEXT = "Die Straße – naïve “quotes”"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_told_apart(encoding: str) -> None:
    assert text_of(TEXT.encode(encoding)) == TEXT


def test_utf_16_of_either_order_needs_its_mark() -> None:
    assert text_of(b"\xfe\xff" + "hé".encode("utf-16-be")) == "hé"
    with pytest.raises(Unreadable, match="binary file"):
        text_of("hé".encode("utf-16-be"))


def test_a_few_broken_bytes_do_not_spoil_utf_8() -> None:
    assert text_of("äöü äöü äöü ".encode() + b"\xff end") == "äöü äöü äöü \ufffd end"
    assert text_of("cut in the middle of ä, ö and ü".encode()[:-1]).startswith("cut in the middle of ä, ö and ")


def test_line_ends_become_one_kind() -> None:
    assert text_of(b"a\r\nb\rc\nd") == "a\nb\nc\nd"
    assert tidy("a\u2028b\x0cc\x85d\x00e") == "a b c de"


@given(st.text())
def test_tidy_text_has_as_many_lines_as_python_counts(text: str) -> None:
    tidied = tidy(text)
    assert len(tidied.splitlines()) == tidied.count("\n") + (tidied != "" and not tidied.endswith("\n"))
    assert tidy(tidied) == tidied


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1))
def test_utf_8_comes_back(text: str) -> None:
    assert text_of(text.encode()) == tidy(text.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n",
        b"GIF89a...",
        b"SQLite format 3\x00",
        b"\x7fELF\x02",
        b"text\x00more",
        bytes(range(1, 32)) * 3,
        b"{\\rtf1",
    ],
)
def test_binary_files_are_recognised(data: bytes) -> None:
    assert is_binary(data)


@pytest.mark.parametrize(
    "data", [b"plain", "汉字".encode(), b"\x1b[1mbold\x1b[0m", b"page\x0cpage", b"", b"MZ is a name"]
)
def test_text_is_not_called_binary(data: bytes) -> None:
    assert not is_binary(data)
