"""Mails: who wrote to whom at the top of the text, then the body as it was sent, quotes and signature included.

Parsed with the email package's classic policy: the modern one took 140 s for a Content-Type of 50,000 semicolons.
"""

import email
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable, html
from plugins.readers.decode import decode_bytes, is_binary, text_of, tidy

SHOWN = ("From", "To", "Cc", "Subject", "Date")
MAX_MAIL = 25 * MIB
MAX_PARTS = 200  # parts of a mail that are looked at
MAX_HEADER = 10_000  # characters of a header


def read(path: Path, data: bytes) -> list[Document]:
    if is_binary(data):
        raise Unreadable("binary file")
    data = data.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n")
    return [convert(email.message_from_bytes(data), data)]


def convert(mail: Message, data: bytes) -> Document:
    """The document of a mail that was parsed from `data`. Raises Unreadable."""
    raw = data.decode("ascii", "surrogateescape")  # what the parser saw: offsets in it are offsets in the file
    headers = {name: value for name in SHOWN if (value := header_of(mail, name))}
    if not headers:
        raise Unreadable("not a mail: it has no From, To, Subject or Date")
    parts = list(_parts(mail))
    body, numbers = _body(parts, data)
    shown = sorted((_header_line(raw, name), f"{name}: {value}") for name, value in headers.items())
    if body:
        blank = data.count(b"\n", 0, max(0, data.find(b"\n\n"))) + 2
        shown.append((max(shown[-1][0], min(blank, numbers[0])), ""))
    sender = next(iter(getaddresses([headers.get("From", "")])), ("", ""))
    properties: dict[str, Any] = {name.lower(): value for name, value in headers.items()}
    attachments = [name for part in parts if (name := _file_name(part))]
    if attachments:
        properties["attachments"] = attachments
    if len(parts) == MAX_PARTS:
        properties["note"] = f"only the first {MAX_PARTS} parts were read"
    return Document(
        uri="",
        text="\n".join([*(line for _, line in shown), *body]),
        title=headers.get("Subject"),
        at=parse_date(headers.get("Date", "")),
        speaker=sender[0] or sender[1] or None,
        properties=properties,
        lines=(*(number for number, _ in shown), *numbers),
    )


def _parts(mail: Message) -> Iterator[Message]:
    """The parts in order, without recursion and without opening attached mails."""
    waiting = [mail]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        part = waiting.pop()
        yield part
        if part.get_content_maintype() == "multipart":
            inner = part.get_payload()
            waiting += [one for one in reversed(inner) if isinstance(one, Message)] if isinstance(inner, list) else []


def header_of(mail: Message, name: str) -> str:
    """A header as one line, with its encoded words decoded as far as they can be."""
    value = next((str(held) for key, held in mail.raw_items() if key.lower() == name.lower()), "")[:MAX_HEADER]
    return _words(decode_bytes(value.encode("ascii", "surrogateescape")))


def _words(text: str) -> str:
    text = " ".join(text.split())
    with suppress(Exception):  # many kinds, for many kinds of broken encoded words; then they stay as they are
        text = str(make_header(decode_header(text)))
    return " ".join(tidy(text).split())


def _header_line(raw: str, name: str) -> int:
    match = re.search(rf"^{name}:", raw, re.IGNORECASE | re.MULTILINE)
    return raw.count("\n", 0, match.start()) + 1 if match else 1


def _body(parts: list[Message], data: bytes) -> tuple[list[str], list[int]]:
    """The lines of the plain text, or else of the HTML, and where they stand in the file."""
    readable = [part for part in parts if not _file_name(part)]
    for kind in ("text/plain", "text/html"):
        lines: list[str] = []
        numbers: list[int] = []
        cursor = max(0, data.find(b"\n\n"))
        for part in readable:
            if part.get_content_type() != kind:
                continue
            places, cursor = _places(part, data, cursor)
            text = _text(part)
            inside: Sequence[int]
            if kind == "text/html":
                page = html.convert(text)
                text, inside = page.text, page.lines or ()
            else:
                text = text.rstrip()
                inside = range(1, text.count("\n") + 2)
            if not text.strip():
                continue
            if lines:
                lines.append("")
                numbers.append(numbers[-1])
            lines += text.split("\n")
            numbers += [places[min(line, len(places)) - 1] for line in inside]
        if lines:
            return lines, numbers
    return [], []


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    try:
        return tidy(data.decode(charset)) if charset else text_of(data)
    except (LookupError, UnicodeDecodeError, ValueError):
        return text_of(data)


def _places(part: Message, data: bytes, after: int) -> tuple[list[int], int]:
    """For each line of the decoded part its line in the file, and where the part ends; it begins behind `after`."""
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    encoded = encoding in ("quoted-printable", "base64")
    payload = part.get_payload() if encoded else part.get_payload(decode=True)  # as it was sent, in either case
    sent = payload.encode("ascii", "replace") if isinstance(payload, str) else payload
    if not isinstance(sent, bytes):
        sent = b""
    start = max(after, data.find(sent, after))
    first = data.count(b"\n", 0, start) + 1
    if encoding == "base64":
        return [first], start + len(sent)
    places = []
    joined = False
    for offset, line in enumerate(sent.split(b"\n")):
        if not joined:
            places.append(first + offset)
        joined = encoded and line.rstrip().endswith(b"=")
    return places, start + len(sent)


def _file_name(part: Message) -> str:
    """The name of an attachment, or "" for a part that is text of the mail."""
    try:
        name = part.get_filename() or ""
        attached = part.get_content_disposition() == "attachment"
    except Exception:
        return "unnamed"
    if not name and (attached or part.get_content_type() == "message/rfc822"):
        name = "unnamed"
    return _words(name)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("eml", (".eml",), "Single mails, in files of their own or in a Maildir", read, MAX_MAIL))
