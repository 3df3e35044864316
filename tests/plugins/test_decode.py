"""Bytes of many encodings become one kind of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.readers import Unreadable
from plugins.readers.common.decode import is_binary, text_of, tidy
from tests.plugins.conftest import Read

TEXT = "Die Straße – naïve “quotes”"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_distinguished(encoding: str) -> None:
    assert text_of(TEXT.encode(encoding)) == TEXT


SENTENCES = {
    "utf-16-le": "Под лестницей стоит лодка.",
    "utf-16-be": "The boat is under the stairs.",
    "cp1250": "Pod schodami stoi łódź, a klucz wisi na ścianie.",
    "cp1251": "Под лестницей стоит лодка.",
    "koi8-r": "Под лестницей стоит лодка.",
    "mac-roman": "Le bateau est caché derrière la fenêtre à côté.",
    "cp932": "船は階段の下にあります。",
    "gb18030": "船停在楼梯下面。",
    "cp949": "배는 계단 아래에 있습니다.",
    "cp1253": "Η βάρκα είναι κάτω από τη σκάλα.",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_an_encoding_that_is_not_declared_is_detected(encoding: str) -> None:
    assert text_of(SENTENCES[encoding].encode(encoding)) == SENTENCES[encoding]


@pytest.mark.parametrize(
    "data",
    [
        "Atslēga ir zem puķu poda, pie durvīm.".encode("cp1257"),
        "Под лестницей стоит лодка, а ключ висит на стене.".encode("iso8859-5"),
        "Pod schodami stoi łódź, a klucz wisi na ścianie.".encode("iso8859-2"),
        b"x \xe9",
    ],
)
def test_an_encoding_that_is_not_certain_is_not_guessed(data: bytes) -> None:
    with pytest.raises(Unreadable, match="encoding of its text is unclear"):
        text_of(data)


@pytest.mark.parametrize(
    ("declared", "data", "text"),
    [
        ("iso-8859-1", "“3 €”".encode("cp1252"), "“3 €”"),
        ("us-ascii", "naïve".encode("cp1252"), "naïve"),
        ("iso-8859-1", "naïve".encode(), "naïve"),
        ("iso-2022-jp", "船".encode("iso-2022-jp"), "船"),
        ("x-sjis", "船は階段".encode("cp932"), "船は階段"),
        ("gb2312", "联通".encode("gb18030"), "联通"),
        ("iso-8859-13", "Atslēga".encode("iso-8859-13"), "Atslēga"),
        ("utf-16", b"<p>plain", "<p>plain"),
        ("no-such-charset", "naïve, voilà, déjà vu".encode("cp1252"), "naïve, voilà, déjà vu"),
    ],
)
def test_a_declared_encoding_is_used_as_browsers_do(declared: str, data: bytes, text: str) -> None:
    assert text_of(data, declared) == text


def test_pages_cards_and_code_declare_their_encoding(read: Read) -> None:
    page = '<html><head><meta charset="Shift_JIS"></head><body><p>船は階段の下</body></html>'
    assert read("a.html", page.encode("cp932"))[0].text == "船は階段の下"
    page = '<?xml version="1.0" encoding="windows-1257"?><html><body><p>puķu</body></html>'
    assert read("a.xhtml", page.encode("cp1257"))[0].text == "puķu"
    card = "BEGIN:VCARD\nFN;CHARSET=windows-1257:Ēriks\nEND:VCARD\n"
    assert read("a.vcf", card.encode("cp1257"))[0].title == "Ēriks"
    card = "BEGIN:VCARD\nFN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=F6rg\nEND:VCARD\n"
    assert read("a.vcf", card.encode())[0].title == "Jörg"
    code = "#!/usr/bin/python\n# coding: cp1257\n# puķu pods\nx = 1\n"
    assert "puķu pods" in read("a.py", code.encode("cp1257"))[0].text


def test_bytes_with_nul_need_to_be_wide_text() -> None:
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
