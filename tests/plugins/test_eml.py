"""Mails, with the lines they stand on."""

from __future__ import annotations

from base64 import b64encode
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
    message.add_attachment("also read", filename="notes.txt")
    data = message.as_bytes()
    (mail,) = read("a.eml", data)
    assert mail.properties["attachments"] == ["größe.pdf", "notes.txt"]
    assert mail.properties["not read"] == "größe.pdf was not read"
    assert "never shown" not in mail.text
    body = f"first line\nsecond line{accent}\n{'long ' * 30}\nlast line"
    assert mail.text.endswith(f"{body}\n\n(notes.txt)\nalso read")
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
    assert mail.lines == (1, 4, 5, 5, 6)


def test_a_thousand_parts_are_cut_with_a_note(read: Read) -> None:
    parts = "".join(f"--B\nContent-Type: text/plain\n\npart {number}.\n" for number in range(1000))
    (mail,) = read("a.eml", f"From: a@b.example\nContent-Type: multipart/mixed; boundary=B\n\n{parts}--B--\n")
    assert "part 0." in mail.text and "part 150." in mail.text and "part 500." not in mail.text
    assert mail.properties["not read"] == "only the first 200 parts were read"
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


def make_parts(kind: str, *parts: str) -> str:
    inner = "".join(f"--B\n{part}\n" for part in parts)
    return f"From: a@b.example\nContent-Type: multipart/{kind}; boundary=B\n\n{inner}--B--\n"


FOOTER = "Content-Type: text/plain\n\n--\nclub list"
PAGE = "Content-Type: text/html\n\n<p>The gate code changed: ask Orla at the pier.</p>"


def test_a_plain_footer_does_not_hide_the_body(read: Read) -> None:
    (mail,) = read("a.eml", make_parts("mixed", PAGE, FOOTER))
    assert mail.text == "From: a@b.example\n\nThe gate code changed: ask Orla at the pier.\n\n--\nclub list"
    (mail,) = read("a.eml", make_parts("alternative", FOOTER, PAGE))
    assert mail.text == "From: a@b.example\n\nThe gate code changed: ask Orla at the pier."


def test_of_two_versions_the_plain_one_is_read(read: Read) -> None:
    plain = "Content-Type: text/plain\n\nThe gate code changed, ask Orla."
    assert read("a.eml", make_parts("alternative", plain, PAGE))[0].text.endswith("changed, ask Orla.")


def test_an_attached_mail_is_read_with_its_head(read: Read) -> None:
    inner = f"From: Orla <o@p.example>\nSubject: Gate\n{make_parts('mixed', PAGE).partition(chr(10))[2]}"
    data = make_parts("mixed", "Content-Type: text/plain\n\nSee below.", f"Content-Type: message/rfc822\n\n{inner}")
    (mail,) = read("a.eml", data.replace("boundary=B", "boundary=A", 1).replace("--B", "--A", 2) + "--A--\n")
    assert mail.text == (
        "From: a@b.example\n\nSee below.\n\n"
        "From: Orla <o@p.example>\nSubject: Gate\n\nThe gate code changed: ask Orla at the pier."
    )
    lines = data.split("\n")
    for text in ("See below", "From: Orla", "Subject: Gate"):
        assert lines[line_of(mail, text) - 1].startswith(text)
    assert mail.title is None or mail.title == "a"


def test_windows_quotes_in_a_part_declared_as_latin(read: Read) -> None:
    head = "From: a@b.example\nContent-Type: text/plain; charset=iso-8859-1\n\n"
    assert read("a.eml", head.encode() + "“5 €”".encode("cp1252"))[0].text.endswith("“5 €”")


@pytest.mark.parametrize("name", ["17", "1.", "mail.txt", "20:2,"])
def test_a_mail_in_a_file_of_any_name(read: Read, name: str) -> None:
    data = f"Message-ID: <1@b.example>\n{PLAIN}".encode()
    assert read(name, data)[0].speaker == "Gerlinde Kessler"
    assert "From: " in read(name, b"Note of a call\n\n" + data)[0].text


INVITATION = """BEGIN:VCALENDAR
METHOD:{method}
BEGIN:VEVENT
UID:boat-1
SEQUENCE:{sequence}
SUMMARY:Boat trip
DTSTART:20261212T100000
LOCATION:Pier 3
END:VEVENT
END:VCALENDAR
"""


def invitation(method: str = "REQUEST", sequence: int = 0, encode: bool = False, attach: bool = False) -> str:
    text = INVITATION.format(method=method, sequence=sequence)
    sent = f"Content-Transfer-Encoding: base64\n\n{b64encode(text.encode()).decode()}\n" if encode else f"\n{text}"
    again = f"--B\nContent-Type: application/ics; name=invite.ics\n\n{text}" if attach else ""
    return (
        "From: Per <per@example.org>\nTo: me@example.org\nSubject: Boat\nDate: Thu, 07 Nov 2019 10:00:00 +0100\n"
        'Content-Type: multipart/alternative; boundary="B"\n\n--B\nContent-Type: text/plain\n\nYou are invited.\n'
        f"--B\nContent-Type: text/calendar; charset=utf-8; method={method}\n{sent}{again}--B--\n"
    )


@pytest.mark.parametrize(("encode", "attach"), [(False, False), (True, False), (False, True)])
def test_the_event_of_an_invitation_is_read_once(read: Read, encode: bool, attach: bool) -> None:
    (mail,) = read("a.eml", invitation(encode=encode, attach=attach))
    assert mail.text.endswith("You are invited.\n\n## Boat trip\nWhen: 2026-12-12 10:00\nWhere: Pier 3")
    assert mail.text.count("Boat trip") == 1 and len(mail.lines or ()) == mail.text.count("\n") + 1
    assert [at for _, at in mail.parts] == [mail.at, mail.at]


def test_a_cancelled_invitation_is_shown_as_one_and_an_answer_not_at_all(read: Read) -> None:
    assert "Status: CANCELLED" in read("a.eml", invitation("CANCEL", 1))[0].text
    assert "Boat trip" not in read("a.eml", invitation("REPLY"))[0].text
