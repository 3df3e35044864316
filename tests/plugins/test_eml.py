"""Mails, with the lines they stand on."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from memory.nouns import Document
from tests.plugins.conftest import Read

PLAIN = """Received: by nobody
From: Gerlinde Kessler <g.kessler@post.example>
To: Jorine <jorine@words.example>,
 Tomek <tomek@words.example>
Date: Tue, 11 Jul 2023 18:22:10 +0200
Subject: =?utf-8?q?Eisenbahnstra=C3=9Fe?= - agreed
Content-Type: text/plain; charset="utf-8"

Dear Jorine,

rent is 690 euros.

> and the cat?
--\x20
Gerlinde
"""


def test_a_plain_mail(read: Read) -> None:
    (mail,) = read("2001-01-01.eml", PLAIN)
    assert mail.title == "Eisenbahnstraße - agreed"
    assert mail.speaker == "Gerlinde Kessler"
    assert mail.at == datetime(2023, 7, 11, 18, 22, 10, tzinfo=timezone(timedelta(hours=2)))
    assert mail.lines is not None
    assert list(zip(mail.lines, mail.text.split("\n"), strict=True)) == [
        (2, "From: Gerlinde Kessler <g.kessler@post.example>"),
        (3, "To: Jorine <jorine@words.example>, Tomek <tomek@words.example>"),
        (5, "Date: Tue, 11 Jul 2023 18:22:10 +0200"),
        (6, "Subject: Eisenbahnstraße - agreed"),
        (8, ""),
        (9, "Dear Jorine,"),
        (10, ""),
        (11, "rent is 690 euros."),
        (12, ""),
        (13, "> and the cat?"),
        (14, "-- "),
        (15, "Gerlinde"),
    ]
    assert mail.properties == {
        "from": "Gerlinde Kessler <g.kessler@post.example>",
        "to": "Jorine <jorine@words.example>, Tomek <tomek@words.example>",
        "date": "Tue, 11 Jul 2023 18:22:10 +0200",
        "subject": "Eisenbahnstraße - agreed",
    }


def line_of(mail: Document, text: str) -> int:
    assert mail.lines is not None
    return mail.lines[next(number for number, line in enumerate(mail.text.split("\n")) if text in line)]


@pytest.mark.parametrize("encoding", ["7bit", "8bit", "quoted-printable", "base64"])
def test_a_mail_with_parts_and_attachments(read: Read, encoding: str) -> None:
    message = EmailMessage(policy=SMTP)
    message["From"], message["Subject"] = "Ana <ana@lumen.example>", "plan"
    accent = "" if encoding == "7bit" else "é"
    message.set_content(f"first line\nsecond line{accent}\n{'long ' * 30}\nlast line\n", cte=encoding)
    message.add_alternative("<p>never shown</p>", subtype="html")
    message.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="größe.pdf")
    message.add_attachment("also not shown", filename="notes.txt")
    data = message.as_bytes()
    (mail,) = read("a.eml", data)
    assert mail.properties["attachments"] == ["größe.pdf", "notes.txt"]
    assert "shown" not in mail.text
    assert mail.text.endswith(f"first line\nsecond line{accent}\n{'long ' * 30}\nlast line")
    raw = data.decode("ascii", "replace").split("\r\n")
    if encoding != "base64":
        for text in ("first line", "second line", "long long", "last line"):
            assert raw[line_of(mail, text) - 1].startswith(text)
    else:
        assert line_of(mail, "last line") == line_of(mail, "first line")


def test_a_mail_that_has_only_html(read: Read) -> None:
    html = "<html><head><style>p {}</style></head>\n<body><h1>Offer</h1>\n<p>Two desks</p></body></html>"
    (mail,) = read("a.eml", f"From: a@b.example\nContent-Type: text/html\n\n{html}\n")
    assert mail.text == "From: a@b.example\n\n# Offer\n\nTwo desks"
    assert mail.lines == (1, 3, 5, 5, 6)


def test_a_thousand_parts_are_cut_with_a_note(read: Read) -> None:
    parts = "".join(f"--B\nContent-Type: text/plain\n\npart {number}.\n" for number in range(1000))
    (mail,) = read("a.eml", f"From: a@b.example\nContent-Type: multipart/mixed; boundary=B\n\n{parts}--B--\n")
    assert "part 0." in mail.text and "part 150." in mail.text and "part 500." not in mail.text
    assert mail.properties["note"] == "only the first 200 parts were read"
    assert line_of(mail, "part 2.") == 15


def test_broken_headers_are_taken_as_they_stand(read: Read) -> None:
    (mail,) = read(
        "a.eml",
        b"From: =?utf-8?b?////?= <x>\nSubject: =?nope?q?y?= caf\xc3\xa9\nDate: nonsense\n"
        b"Content-Type: text/plain; charset=nope\nContent-Transfer-Encoding: base64\n\n!!!\n",
    )
    assert mail.title == "=?nope?q?y?= café"
    assert mail.properties["date"] == "nonsense"


def test_a_mail_in_an_old_encoding(read: Read) -> None:
    head = b"Subject: x\nContent-Type: text/plain; charset=iso-8859-2\nContent-Transfer-Encoding: 8bit\n\n"
    assert read("a.eml", head + "Łódź".encode("iso-8859-2"))[0].text.endswith("Łódź")
