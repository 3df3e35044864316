"""Mails, calendars, contacts, tables, data and references."""

from __future__ import annotations

import csv
import json
import mailbox
import tempfile
from datetime import UTC, datetime
from email.message import EmailMessage
from io import StringIO
from pathlib import Path

from benchmarks.samples.words import Words

AT = datetime(2026, 3, 4, 10, 5, tzinfo=UTC)


def make_mail(words: Words, is_mbox: bool = False) -> bytes:
    """A short plain text before the real page, a text and a mail attached, and an invitation."""
    show, mail = words.show, EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = f"{show(2)} <a@example.org>", "b@example.org", show(2)
    mail["Date"] = AT
    mail.set_content("Sent from my phone")
    page = f"<style>{words.hide()}</style><p>{show(9)} <b>{show()}</b></p><table><tr><td>{show()}<td>{show()}</table>"
    mail.add_alternative(page, subtype="html")
    mail.add_attachment(show(3), subtype="markdown", filename="notes.md")
    mail.add_attachment(show(2).encode(), "application", "octet-stream", filename="list.TXT")
    mail.add_attachment(make_ics(words).decode(), subtype="calendar", filename="fair.ics")
    attached = EmailMessage()
    attached["From"], attached["Subject"], attached["Date"] = "c@example.org", show(2), AT
    attached.set_content(f"{show(2)} café", cte="quoted-printable", charset="windows-1252")
    mail.add_attachment(attached)
    mail.add_attachment(b"\x89PNG", "image", "png", filename=f"{show()}.png")
    words.shown.append("café")
    if not is_mbox:
        return mail.as_bytes()
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.mbox(Path(folder) / "a.mbox")
        box.add(mail.as_bytes())
        box.flush()
        box.close()
        return (Path(folder) / "a.mbox").read_bytes()


def make_ics(words: Words) -> bytes:
    import icalendar

    show, calendar = words.show, icalendar.Calendar()
    for kind in (icalendar.Event, icalendar.Todo, icalendar.Journal):
        entry = kind()
        entry.add("summary", show(2))
        entry.add("description", f"{show(8)}, {show(8)}; {show()}\n{show(2)}")
        entry.add("dtstart", AT)
        entry.add("categories", [show(), show()])
        entry.add("uid", f"{kind.__name__}@example.org")
        if kind is icalendar.Event:
            entry.add("location", show(2))
            entry.add("contact", show(2))
            entry.add("url", f"https://example.org/{show()}")
            person = icalendar.vCalAddress("mailto:d@example.org")
            person.params["cn"] = show(2)
            entry.add("attendee", person)
        calendar.add_component(entry)
    return bytes(calendar.to_ical())


def make_vcf(words: Words) -> bytes:
    import icalendar

    show, card = words.show, type("Card", (icalendar.Component,), {"name": "VCARD"})()
    for key in ("FN", "NICKNAME", "ORG", "TITLE", "NOTE", "ADR", "URL", "ROLE", "HOBBY", "X-SPOUSE"):
        card.add(key, icalendar.vText(show(2)))
    return bytes(card.to_ical())


def make_csv(words: Words, delimiter: str = ",") -> bytes:
    """Lower-case columns, a cell of two lines, quotes."""
    target = StringIO()
    rows = [[words.show() for _ in range(3)] for _ in range(4)]
    rows[2][1] += f' {words.show()} "{words.show()}"\n{words.show()}{delimiter} {words.show()}'
    csv.writer(target, delimiter=delimiter).writerows(rows)
    return target.getvalue().encode()


def make_json(words: Words) -> bytes:
    show = words.show
    rows = [{show(): show(), "list": [show(), show()]} for _ in range(2)]
    value = {show(): {"inner": show()}, "rows": rows, "text": f"{show()}\n{show()}"}
    return json.dumps(value, indent=1).encode()


def make_jsonl(words: Words) -> bytes:
    return "\n".join(json.dumps({"name": words.show(), "of": {"kind": words.show()}}) for _ in range(3)).encode()


def make_yaml(words: Words) -> bytes:
    import yaml

    show = words.show
    value = {"server": {show(): show()}, "list": [{"name": show(), "role": show()}], "text": f"{show()}\n{show()}\n"}
    return f"# {show(2)}\n{yaml.safe_dump(value)}".encode()


def make_toml(words: Words) -> bytes:
    show = words.show
    return f'# {show()}\ntitle = "{show(2)}"\n[{show()}]\nport = 1 # {show()}\nhosts = [\n"{show()}",\n]\n'.encode()


def make_bibtex(words: Words) -> bytes:
    show = words.show
    return (
        f"@book{{key, title={{{show(2)}}}, author={{{show()}, {show()}}}, year=2020, note={{{show(2)}}},"
        f" abstract={{{show(2)}}}, keywords={{{show()}, {show()}}}}}"
    ).encode()


def make_ris(words: Words) -> bytes:
    show = words.show
    return f"TY  - BOOK\nTI  - {show(2)}\nAU  - {show()}, {show()}\nKW  - {show()}\nN1  - {show(2)}\nER  - \n".encode()
