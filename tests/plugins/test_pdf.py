"""PDF: pages, headings of the outline, and what bad ones get."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest

from plugins.installing import install_command
from plugins.readers import Unreadable
from plugins.readers.office.pdf import NO_TEXT, parse_pdf_date
from tests.plugins.conftest import Read
from tests.plugins.pdfs import make_pdf
from tests.plugins.places import find_place

REPORT = make_pdf(
    [
        ["Harbour report", "The harbour is dredged every second", "spring by the own-", "ers of the boats."],
        ["Budget", "The slipway cost 4,200 euros (net)."],
        ["The crane was sold to Casa Nova."],
    ],
    [("Harbour report", 1), ("Budget", 2), ("What is left", 3)],
    "/Title (Harbour 2026) /Author (Ada) /CreationDate (D:20260302101500+01'00')",
)


def test_a_report_has_pages_headings_title_and_date(read: Read) -> None:
    found = read("report.pdf", REPORT)
    (report,) = found
    assert report.title == "Harbour report" and report.properties == {"author": "Ada"}
    assert report.at is not None and report.at.isoformat() == "2026-03-02T10:15:00+01:00"
    assert "# Harbour report\n\nThe harbour is dredged every second\nspring by the owners of the boats." in report.text
    assert "# What is left\n\nThe crane" in report.text  # a heading that the page itself does not show
    assert find_place(found, "owners of the boats") == "report.pdf, page 1"
    assert find_place(found, "4,200 euros (net)") == "report.pdf, page 2"
    assert find_place(found, "Casa Nova") == "report.pdf, page 3"


def test_a_report_that_says_only_when_it_was_changed(read: Read) -> None:
    (report,) = read("report.pdf", make_pdf([["Plums."]], info="/ModDate (D:20190305101500Z)"))
    assert report.at is not None and report.at.date().isoformat() == "2019-03-05"


def test_a_letter_without_outline_and_metadata(read: Read) -> None:
    pages = [["Dear Ada,", "the rent is 690 euros from May on."], [], ["Yours, Bram"]]
    found = read("2026-04-01 letter.pdf", make_pdf(pages))
    assert found[0].title == "2026-04-01 letter" and found[0].at.date().isoformat() == "2026-04-01"
    assert find_place(found, "690 euros") == "2026-04-01 letter.pdf, page 1"
    assert find_place(found, "Yours, Bram") == "2026-04-01 letter.pdf, page 3"
    assert found[0].properties["not read"] == "pages without text, perhaps pictures: 1"


LOCKED = REPORT.replace(  # its password is not the empty one
    b"trailer\n<<",
    b"trailer\n<< /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>"
    % (b"11" * 32, b"22" * 32),
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_pdf([[], []]), NO_TEXT),
        (REPORT[:300], "a damaged PDF"),
        (b"%PDF-1.4 and nothing else", "a damaged PDF"),
        (LOCKED, "encrypted; save it without its password"),
    ],
    ids=["pictures", "cut", "empty", "locked"],
)
def test_bad_pdfs_are_skipped_with_their_reason(read: Read, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read("a.pdf", data)
    assert caught.value.reason.startswith(reason)


def test_without_the_library_the_reason_names_the_command(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(Unreadable) as caught:
        read("a.pdf", REPORT)
    assert caught.value.reason == f"pypdfium2 is not installed: {install_command('readers')}"


def test_dates_of_pdf() -> None:
    assert parse_pdf_date("D:20260302") == datetime(2026, 3, 2).astimezone()
    assert parse_pdf_date("D:20260302101500Z") == datetime(2026, 3, 2, 10, 15, tzinfo=UTC)
    assert parse_pdf_date("D:20260302101500-05'30'") == datetime(2026, 3, 2, 15, 45, tzinfo=UTC)
    assert parse_pdf_date("D:20261399") is None and parse_pdf_date("yesterday") is None


def test_text_of_a_font_without_an_encoding_is_repaired(read: Read) -> None:
    text = "房东姓李，电话是号码。钥匙在花盆下面。"
    (page,) = read("a.pdf", make_pdf([[text.encode("gbk").decode("latin-1")]]))
    assert page.text == text
    assert read("a.pdf", make_pdf([["Préféré à Noël", "…—…—… café"]]))[0].text == "Préféré à Noël\n…—…—… café"
