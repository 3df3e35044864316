"""Mails in single files, and mailboxes (mbox), in which each mail is a source called by its subject and time.

A mail has its sender and recipients first, then the body as sent with quotes and signature, then attached texts and
mails. A mailbox is never loaded whole. Text that a reply quotes at its end is dropped if the quoted mail comes earlier
in the same file. Parsed with the email package's classic policy: the modern one took 140 s for a Content-Type of 50,000
semicolons."""

from __future__ import annotations

import email
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from memory.nouns import ENTRY_VERSIONS, NOT_READ, Document
from memory.time.dates import parse_date
from plugins.readers import MIB, Part, Unread, Unreadable, sign
from plugins.readers.common import calendars as ics
from plugins.readers.common import html
from plugins.readers.common.decode import declared_in_markup, decode_bytes, is_binary, text_of, tidy

SHOWN = ("From", "To", "Cc", "Subject", "Date")
MAX_MAIL = 25 * MIB
MAX_PARTS = 200  # parts of a mail looked at
MAX_HEADER = 10_000  # characters of a header
_TEXTS = ("text/plain", "text/html", "text/markdown", "text/csv", "text/enriched", "text/x-markdown")
_CALENDARS = ("text/calendar", "application/ics")
_ANY = "application/octet-stream"
_KINDS = {  # of an attachment whose mail program did not know it
    ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".org": "text/plain", ".html": "text/html",
    ".htm": "text/html", ".ics": "text/calendar",
}  # fmt: skip
_ANSWERS = ("REPLY", "COUNTER", "DECLINECOUNTER", "REFRESH")  # methods of replies to a known event
_WORDLESS = ("image/", "audio/", "video/", "application/pgp-", "application/pkcs7-", "application/x-pkcs7-")
MAX_LINE = MIB  # bytes
MAX_SUBJECT_CHARS = 120
_UNWANTED = re.compile(r"(?:^|,)\s*\"?(?:Spam|Trash|Junk)\"?\s*(?:,|$)", re.IGNORECASE)  # labels in Google's export

_FROM = re.compile(rb"From \S+.*\d{2}:\d{2}")
_ESCAPED = re.compile(rb">+From ")
_REPLY = re.compile(r"^(?:(?:re|aw|sv|vs|antw|fwd?|wg|rif|tr|res|enc)(?:\[\d+\])?:\s*)+", re.IGNORECASE)
_REPLIED = re.compile(r"<[^<>\s]{1,300}>")
_INTRODUCTION = re.compile(
    r"(?!>)[^\n]{0,200}\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|napisał\w?)\b"
    r"[^>\n]{0,120}:\s*$"
    r"|-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Forwarded message)"
    r".{0,40}$",
    re.IGNORECASE,
)
_MAX_HEAD = 64 * 1024  # bytes
_FIELD = re.compile(rb"^([!-9;-~]+):", re.MULTILINE)
_HEAD = re.compile(rb"(?:>?From [^\n]*\n)?[!-9;-~]+:[^\n]*(?:\n(?:[!-9;-~]+:|[ \t])[^\n]*)*")
_BY_PROGRAMS = frozenset((b"message-id", b"received", b"return-path", b"mime-version"))
_NO_NAME = str.maketrans({"#": None, "/": "-", "\\": "-"})


def is_mail(data: bytes) -> bool:
    """Whether a file of any name is a mail: it has a head with a field that programs write."""
    head, _, _ = data[:_MAX_HEAD].replace(b"\r\n", b"\n").partition(b"\n\n")
    names = {match[1].lower() for match in _FIELD.finditer(head)}
    return _HEAD.fullmatch(head) is not None and names >= {b"from", b"date"} and not names.isdisjoint(_BY_PROGRAMS)


def read(path: Path, data: bytes) -> list[Document]:
    if is_binary(data):
        raise Unreadable("binary file")
    data = data.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n")
    return [_convert(email.message_from_bytes(data), data)]


def stream(path: Path, file: BinaryIO) -> Iterator[Part]:
    """Yields the mails in a mailbox, without duplicates, spam and trash. Raises Unreadable."""
    ids: set[int] = set()  # hashes: some MB for a hundred thousand mails
    names: Counter[str] = Counter()
    for number, data in enumerate(_split_mails(file), 1):
        if data is None:
            yield Unread(f"message {number}", f"a mail of more than {MAX_MAIL // MIB} MiB")
            continue
        data = data.replace(b"\r\n", b"\n")
        mail = email.message_from_bytes(data)
        own_id = _read_header(mail, "Message-ID")
        if hash(own_id) in ids or _UNWANTED.search(_read_header(mail, "X-Gmail-Labels")):
            continue
        ids |= {hash(own_id)} if own_id else set()
        try:
            document = _convert(mail, data)
        except Unreadable as error:
            yield Unread(f"message {number}", error.reason)
            continue
        replied = _REPLIED.findall(f"{_read_header(mail, 'In-Reply-To')} {_read_header(mail, 'References')}")
        if any(hash(id) in ids for id in replied):
            document = leave_quoted(document)
        subject = " ".join((document.title or "No subject").split())
        minute = f", {document.at.astimezone():%Y-%m-%d %H:%M}" if document.at else ""
        name = f"{subject[:MAX_SUBJECT_CHARS]}{minute}".translate(_NO_NAME)
        names[name] += 1  # the same subject in the same minute
        uri = name if names[name] == 1 else f"{name} ({names[name]})"
        thread = _REPLY.sub("", subject, count=1) or subject
        yield sign(replace(document, uri=uri, properties={**document.properties, "thread": thread}))


def _split_mails(file: BinaryIO) -> Iterator[bytes | None]:
    """Yields each mail without its "From " line; None for a mail that is too large. Raises Unreadable."""
    line = file.readline(MAX_LINE)
    while line and not line.strip():
        line = file.readline(MAX_LINE)
    if not line.startswith(b"From "):
        raise Unreadable('not a mailbox: it does not begin with a line "From "')
    lines: list[bytes] = []
    size, is_blank = 0, False
    while line := file.readline(MAX_LINE):
        if is_blank and line.startswith(b"From ") and _FROM.match(line):
            yield b"".join(lines) if size <= MAX_MAIL else None
            lines, size = [], 0
        elif size <= MAX_MAIL:
            lines.append(line[1:] if line.startswith(b">") and _ESCAPED.match(line) else line)
            size += len(line)
        else:
            lines = []
        is_blank = not line.strip()
    yield b"".join(lines) if size <= MAX_MAIL else None


def leave_quoted(document: Document) -> Document:
    """Returns a mail without the quotation at its end, unless it has no other text."""
    lines = document.text.split("\n")
    end = _find_quoted(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    head = next((place for place, line in enumerate(lines) if not line.strip()), 0)
    if end == len(lines) or end <= head:
        return document
    return replace(document, text="\n".join(lines[:end]), lines=(document.lines or ())[:end])


def _find_quoted(lines: Sequence[str]) -> int:
    """Returns the index of the first line of the quotation at the end, including the line that introduces it;
    len(lines) without a quotation."""
    for place, line in enumerate(lines):
        if line.startswith("--") and _INTRODUCTION.match(line):
            return place
    end = len(lines)
    while end and (lines[end - 1].startswith(">") or not lines[end - 1].strip()):
        end -= 1
    if not any(line.startswith(">") for line in lines[end:]):
        return len(lines)
    for begun in (end - 1, end - 2):  # the introduction takes one or two lines
        if begun > 0 and _INTRODUCTION.match(" ".join(lines[begun:end])) and re.search(r"\d|@", lines[begun]):
            return begun
    return end


def _convert(mail: Message, data: bytes) -> Document:
    """Returns the document of a mail parsed from `data`. Raises Unreadable."""
    headers = _list_headers(mail)
    if not headers:
        raise Unreadable("not a mail: it has no From, To, Subject or Date")
    text = _Text(data)
    text.add_headers(headers)
    text.add_body(mail)
    sender = next(iter(getaddresses([headers.get("From", "")])), ("", ""))
    properties: dict[str, Any] = {name.lower(): value for name, value in headers.items()}
    if text.attachments:
        properties["attachments"] = text.attachments
    if text.unread:
        properties[NOT_READ] = "; ".join(text.unread)
    if text.versions:
        properties[ENTRY_VERSIONS] = text.versions
    at = parse_date(headers.get("Date", ""))
    return Document(
        uri="",
        text="\n".join(text.lines),
        title=headers.get("Subject"),
        at=at,
        speaker=sender[0] or sender[1] or None,
        properties=properties,
        lines=tuple(text.numbers),
        parts=tuple((line, at) for line in (1, *text.events)) if text.events else (),
    )


class _Text:
    """The lines of a mail with their numbers in the file, and the names of attachments and unread parts. Walks the
    parts without recursion."""

    def __init__(self, data: bytes) -> None:
        self.lines: list[str] = []
        self.numbers: list[int] = []
        self.attachments: list[str] = []
        self.unread: list[str] = []
        self.events: list[int] = []  # the first lines of invitations
        self.versions: list[list[Any]] = []
        self._data = data
        self._after = 0  # a lower bound for the start of the next part

    def add_headers(self, headers: Mapping[str, str]) -> None:
        end = self._data.find(b"\n\n", self._after)
        head = self._data[self._after : end if end >= 0 else None].decode("ascii", "surrogateescape")
        first = self._data.count(b"\n", 0, self._after)
        shown = sorted((first + _find_header_line(head, name), f"{name}: {value}") for name, value in headers.items())
        self._put([line for _, line in shown], [number for number, _ in shown])
        self._after = max(self._after, end)

    def add_body(self, mail: Message) -> None:
        waiting, count = [mail], 0
        while waiting and count < MAX_PARTS:
            part = waiting.pop()
            count += 1
            kind = part.get_content_type()
            inner = [sub for sub in part.get_payload() or () if isinstance(sub, Message)] if part.is_multipart() else []
            if name := _file_name(part):
                self.attachments.append(name)
            if kind == _ANY:
                kind = _KINDS.get(PurePosixPath(name).suffix.lower(), kind)
            if kind == "multipart/alternative" and inner:
                waiting += [*(sub for sub in reversed(inner) if sub.get_content_type() in _CALENDARS), _choose(inner)]
            elif kind == "message/rfc822" and inner:
                self._begin_attached(inner[0])
                waiting.append(inner[0])
            elif inner:
                waiting += reversed(inner)
            elif kind in _TEXTS:
                self._add_text(part, kind)
            elif kind in _CALENDARS:
                self._add_invitation(part, name or kind)
            elif not kind.startswith(_WORDLESS):
                self.unread.append(f"{name or kind} was not read")
        if waiting:
            self.unread.append(f"only the first {MAX_PARTS} parts were read")

    def _begin_attached(self, mail: Message) -> None:
        raw = next((f"{key}: {value}" for key, value in mail.raw_items()), "").partition("\n")[0]
        self._after = max(self._after, self._data.find(raw.encode("ascii", "replace"), self._after))
        self._put([""], [self._data.count(b"\n", 0, self._after) + 1])
        self.add_headers(_list_headers(mail))

    def _add_text(self, part: Message, kind: str) -> None:
        places, self._after = _find_places(part, self._data, self._after)
        try:
            text = _decode(part)
        except Unreadable as error:
            self.unread.append(f"{_file_name(part) or kind} was not read: {error.reason}")
            return
        inside: Sequence[int]
        if kind == "text/html":
            page = html.convert(text)
            text, inside = page.text, page.lines or ()
        else:
            text = text.rstrip()
            inside = range(1, text.count("\n") + 2)
        if text.strip():
            numbers = [places[min(line, len(places)) - 1] for line in inside]
            above = max(self.numbers[-1], numbers[0] - 1)
            name = _file_name(part)
            self._put(["", f"({name})"] if name else [""], [above] * (2 if name else 1))
            self._put(text.split("\n"), numbers)

    def _add_invitation(self, part: Message, name: str) -> None:
        """Adds the events of a calendar once, even if the mail contains it twice; replies to an invitation are
        skipped."""
        places, self._after = _find_places(part, self._data, self._after)
        try:
            calendar = None if part.get_param("method", "") in _ANSWERS else ics.convert(_decode(part))
        except Unreadable as error:
            self.unread.append(f"{name} was not read: {error.reason}")
            return
        versions = calendar.properties.get(ENTRY_VERSIONS, []) if calendar else []
        if calendar is None or (
            versions and {tuple(keys) for _, *keys in versions} <= {tuple(keys) for _, *keys in self.versions}
        ):
            return
        self.events += [len(self.lines) + 1 + line for line, _ in calendar.parts]
        numbers = [places[min(line, len(places)) - 1] for line in calendar.lines or ()]
        self._put(["", *calendar.text.split("\n")], [numbers[0], *numbers])
        self.versions += [[places[min(line, len(places)) - 1], *keys] for line, *keys in versions]

    def _put(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        self.lines += lines
        self.numbers += numbers


def _list_headers(mail: Message) -> dict[str, str]:
    return {name: value for name in SHOWN if (value := _read_header(mail, name))}


def _choose(versions: Sequence[Message]) -> Message:
    """Returns the first of several versions of a text, unless a later one has twice as many words: the first is often a
    hint or a footer."""
    best, most = versions[0], -1
    for version in versions:
        texts = [part for part in islice(version.walk(), MAX_PARTS) if part.get_content_type() in _TEXTS]
        words = sum(_count_words(part) for part in texts)
        if words > 2 * most:
            best, most = version, words
    return best


def _count_words(part: Message) -> int:
    try:
        text = _decode(part)
    except Unreadable:
        return 0
    return len((html.convert(text).text if part.get_content_type() == "text/html" else text).split())


def _read_header(mail: Message, name: str) -> str:
    """Returns a header as one line with decoded words."""
    value = next((str(raw) for key, raw in mail.raw_items() if key.lower() == name.lower()), "")[:MAX_HEADER]
    data = value.encode("ascii", "surrogateescape")
    try:
        return _decode_words(decode_bytes(data))
    except Unreadable:
        return _decode_words(data.decode("ascii", "replace"))


def _decode_words(text: str) -> str:
    text = " ".join(text.split())
    with suppress(Exception):  # broken encoded words raise many kinds; they stay encoded
        text = str(make_header(decode_header(text)))
    return " ".join(tidy(text).split())


def _find_header_line(raw: str, name: str) -> int:
    match = re.search(rf"^{name}:", raw, re.IGNORECASE | re.MULTILINE)
    return raw.count("\n", 0, match.start()) + 1 if match else 1


def _decode(part: Message) -> str:
    """Returns the text of a part in its declared encoding, or that of its page. Raises Unreadable."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return text_of(data, part.get_content_charset() or declared_in_markup(data))


def _find_places(part: Message, data: bytes, after: int) -> tuple[list[int], int]:
    """Returns (line in the file for each line of the decoded part, end of the part); the part begins at or after
    `after`."""
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    encoded = encoding in ("quoted-printable", "base64")
    payload = part.get_payload() if encoded else part.get_payload(decode=True)  # as sent in either case
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
    """Returns the name of an attachment, or "" for a text of the mail."""
    try:
        name = part.get_filename() or ""
        attached = part.get_content_disposition() == "attachment"
    except Exception:
        return "unnamed"
    if not name and (attached or part.get_content_type() == "message/rfc822"):
        name = "unnamed"
    return _decode_words(name)
