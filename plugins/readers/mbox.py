"""Mailboxes in one file (mbox): each mail is a source of its own, known by its subject and time.

Mails are taken one after the other, so that a mailbox of years is never held. What a reply quotes at its end is left
out where the mail that it answers stands above in the same file.
"""

from __future__ import annotations

import email
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Part, Reader, Unread, Unreadable, sign
from plugins.readers.eml import MAX_MAIL, convert, header_of

MAX_MAILBOX = 4096 * MIB
MAX_SECONDS = 1800  # of the processor, for one of that size
MAX_LINE = MIB  # bytes
MAX_SUBJECT_CHARS = 120
_UNWANTED = re.compile(r"(?:^|,)\s*\"?(?:Spam|Trash|Junk)\"?\s*(?:,|$)", re.IGNORECASE)  # labels of Google's export

_FROM = re.compile(rb"From \S+.*\d{2}:\d{2}")
_ESCAPED = re.compile(rb">+From ")
_REPLY = re.compile(r"(?:(?:re|aw|sv|vs|antw|fwd?|wg|rif|tr|res|enc)(?:\[\d+\])?:\s*)+", re.IGNORECASE)
_REPLIED = re.compile(r"<[^<>\s]{1,300}>")
_SAID_BY = re.compile(
    r"(?!>)[^\n]{0,200}\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|napisał\w?)\b"
    r"[^>\n]{0,120}:\s*$"
    r"|-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Forwarded message)"
    r".{0,40}$",
    re.IGNORECASE,
)
_NO_NAME = str.maketrans({"#": None, "/": "-", "\\": "-"})


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
    """Each mail without the line above it; None for one that is too large. Raises Unreadable."""
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
    """What was seen of a mailbox so far."""

    def __init__(self) -> None:
        self._ids: set[int] = set()  # hashes: of a hundred thousand mails they take some MB
        self._names: dict[str, int] = {}

    def read(self, number: int, data: bytes) -> Part | None:
        """The document of a mail; None for one that was seen already, or thrown away."""
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
        if any(hash(one) in self._ids for one in replied):
            document = leave_quoted(document)
        subject = " ".join((document.title or "No subject").split())
        thread = _REPLY.sub("", subject) or subject
        name = self._make_name(subject, document)
        return sign(replace(document, uri=name, properties={**document.properties, "thread": thread}))

    def _make_name(self, subject: str, document: Document) -> str:
        """What a mail is known by: several with one subject in one minute are counted."""
        minute = f", {document.at.astimezone():%Y-%m-%d %H:%M}" if document.at else ""
        name = f"{subject[:MAX_SUBJECT_CHARS]}{minute}".translate(_NO_NAME)
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name} ({count})"


def leave_quoted(document: Document) -> Document:
    """A mail without what it quotes at its end, if it says something above that."""
    lines = document.text.split("\n")
    end = _find_quoted(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    head = next((place for place, line in enumerate(lines) if not line.strip()), 0)
    if end == len(lines) or end <= head:
        return document
    return replace(document, text="\n".join(lines[:end]), lines=(document.lines or ())[:end])


def _find_quoted(lines: Sequence[str]) -> int:
    """The place of the first line of what is quoted at the end, with who said it; behind the last one if nothing is."""
    for place, line in enumerate(lines):
        if line.startswith("--") and _SAID_BY.match(line):
            return place
    end = len(lines)
    while end and (lines[end - 1].startswith(">") or not lines[end - 1].strip()):
        end -= 1
    if not any(line.startswith(">") for line in lines[end:]):
        return len(lines)
    for begun in (end - 1, end - 2):  # who said it and when, in a line or two
        if begun > 0 and _SAID_BY.match(" ".join(lines[begun:end])) and re.search(r"\d|@", lines[begun]):
            return begun
    return end


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    told = "Mailboxes in one file, each mail by its subject and time"
    register(
        Reader(
            "mbox", (".mbox", ".mbx"), told, max_bytes=MAX_MAILBOX, version=3, max_seconds=MAX_SECONDS, stream=stream
        )
    )
