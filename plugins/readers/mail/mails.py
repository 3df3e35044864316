"""Mails in single files, and mailboxes (mbox), in which each mail is a source called by its subject and time.

A mailbox is never loaded whole. Text that a reply quotes at its end is dropped if the quoted mail comes earlier in the
same file."""

from __future__ import annotations

import email
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Part, Unread, Unreadable, sign
from plugins.readers.common.decode import is_binary
from plugins.readers.mail.message import MAX_MAIL, convert, header_of

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
    return [convert(email.message_from_bytes(data), data)]


def stream(path: Path, file: BinaryIO) -> Iterator[Part]:
    """The mails in a mailbox. Raises Unreadable."""
    mailbox = _Mailbox()
    for number, data in enumerate(_split_mails(file), 1):
        if data is None:
            yield Unread(f"message {number}", f"a mail of more than {MAX_MAIL // MIB} MiB")
        else:
            part = mailbox.read(number, data)
            if part is not None:
                yield part


def _split_mails(file: BinaryIO) -> Iterator[bytes | None]:
    """Each mail without its "From " line; None for a mail that is too large. Raises Unreadable."""
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


class _Mailbox:
    """Reads the mails of one mailbox and remembers their ids and names."""

    def __init__(self) -> None:
        self._ids: set[int] = set()  # hashes: some MB for a hundred thousand mails
        self._names: dict[str, int] = {}

    def read(self, number: int, data: bytes) -> Part | None:
        """The document of a mail; None for a duplicate, spam or trash."""
        data = data.replace(b"\r\n", b"\n")
        mail = email.message_from_bytes(data)
        if _UNWANTED.search(header_of(mail, "X-Gmail-Labels")):
            return None
        own_id = hash(header_of(mail, "Message-ID"))
        if header_of(mail, "Message-ID"):
            if own_id in self._ids:
                return None
            self._ids.add(own_id)
        try:
            document = convert(mail, data)
        except Unreadable as error:
            return Unread(f"message {number}", error.reason)
        replied = _REPLIED.findall(f"{header_of(mail, 'In-Reply-To')} {header_of(mail, 'References')}")
        if any(hash(id) in self._ids for id in replied):
            document = leave_quoted(document)
        subject = " ".join((document.title or "No subject").split())
        thread = _REPLY.sub("", subject, count=1) or subject
        name = self._make_name(subject, document)
        return sign(replace(document, uri=name, properties={**document.properties, "thread": thread}))

    def _make_name(self, subject: str, document: Document) -> str:
        """The unique name of a mail; a number is added for the same subject in the same minute."""
        minute = f", {document.at.astimezone():%Y-%m-%d %H:%M}" if document.at else ""
        name = f"{subject[:MAX_SUBJECT_CHARS]}{minute}".translate(_NO_NAME)
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name} ({count})"


def leave_quoted(document: Document) -> Document:
    """A mail without the quotation at its end, unless it has no other text."""
    lines = document.text.split("\n")
    end = _find_quoted(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    head = next((place for place, line in enumerate(lines) if not line.strip()), 0)
    if end == len(lines) or end <= head:
        return document
    return replace(document, text="\n".join(lines[:end]), lines=(document.lines or ())[:end])


def _find_quoted(lines: Sequence[str]) -> int:
    """The index of the first line of the quotation at the end, including the line that introduces it; len(lines)
    without a quotation."""
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
