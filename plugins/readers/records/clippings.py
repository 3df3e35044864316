"""What a person collected of texts of others: bookmarks in the HTML that every browser exports, and Kindle's "My
Clippings.txt", whose highlights are quotations and whose notes are the owner's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import NamedTuple

from memory.nouns import Document
from memory.time.dates import full_dates
from plugins.readers.common.laid_out import LaidOut

MAX_TITLE_CHARS = 300
_SIGN = "<!doctype netscape-bookmark-file-1"
_LIST_END = re.compile(r"\s*</DL>", re.IGNORECASE)
_FOLDER = re.compile(r"<H3[^<>]*>(?P<name>[^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<A (?P<fields>[^<>]*)>(?P<title>[^<]*)", re.IGNORECASE)
_ABOUT = re.compile(r"\s*<DD>(?P<words>[^<]*)", re.IGNORECASE)
_FIELD = re.compile(r'(\w+)="([^"]*)"')
_NO_PAGE = ("javascript:", "data:", "place:")
_RULE = re.compile(r"={8,}\s*$")
_HEAD = re.compile(r"\s*[-–•]\s+\S.*")
_AUTHOR = re.compile(r"(?P<title>.+?)\s*\((?P<author>[^()]{1,120})\)\s*$")
_NOTE = re.compile(r"\b(?:note|notiz|nota|notitie|notatka|anotação|заметка|ノート|メモ)\b|笔记|筆記", re.IGNORECASE)
_BOOKMARK = re.compile(
    r"\b(?:bookmark|lesezeichen|marcador|signet|segnalibro|bladwijzer|zakładka|закладка)\b|书签|書籤|ブックマーク",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(?P<first>\d{1,7})(?:[-–](?P<last>\d{1,7}))?\s*$")


def is_bookmarks(text: str) -> bool:
    """Whether a page holds the bookmarks of a browser."""
    return text[:400].lstrip("\ufeff \n\t").lower().startswith(_SIGN)


def read_bookmarks(text: str) -> Document:
    """Returns the bookmarks by folder, each with its address and the day it was added. Such a file has an element per
    line: a heading for each folder, then a list of links, each perhaps with a description."""
    out = LaidOut()
    folders: list[str] = []
    shown, newest = "", None
    for number, line in enumerate(text.split("\n"), 1):
        if folder := _FOLDER.search(line):
            folders.append(_clean(folder["name"]))
        elif link := _LINK.search(line):
            fields = {key.lower(): unescape(value) for key, value in _FIELD.findall(link["fields"])}
            address = fields.get("href", "")
            if not address or address.startswith(_NO_PAGE):
                continue
            if shown != (folder_path := " › ".join(folders) or "Bookmarks"):
                shown = folder_path
                out.add("", number)
                out.add(shown, number, level=2)
            at = _parse_time(fields.get("add_date", ""))
            newest = max(filter(None, (newest, at)), default=None)
            added = f", added {at.astimezone():%Y-%m-%d}" if at else ""
            tags = "".join(f" #{tag.strip().replace(' ', '-')}" for tag in fields.get("tags", "").split(",") if tag)
            out.add(f"- [{_clean(link['title']) or address}]({address}){added}{tags}", number, apart=False)
        elif about := _ABOUT.match(line):
            out.add(f"  {_clean(about['words'])}", number, apart=False)
        elif _LIST_END.match(line) and folders:
            folders.pop()
    return out.close("Bookmarks", newest)


def _clean(words: str) -> str:
    return " ".join(unescape(words).split())[:MAX_TITLE_CHARS]


def _parse_time(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC) if int(seconds) > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


class _Clipping(NamedTuple):
    """A clipping of a `book`: its `text` begins at `line`; `place` is Kindle's text, `span` its numbers."""

    book: str
    line: int
    text: list[str]
    place: str
    span: tuple[int, int]
    at: datetime | None
    is_note: bool


def is_clippings(text: str) -> bool:
    """Whether a text is a list of clippings: book, place, words and a rule."""
    lines = text[:4000].lstrip("\ufeff").split("\n")
    return len(lines) > 3 and _HEAD.match(lines[1]) is not None and "|" in lines[1] and any(map(_RULE.match, lines))


def read_clippings(text: str) -> list[Document]:
    """Returns one document per book, in the order of the first clippings: the highlights as quotations, the notes as
    the owner's words."""
    books: dict[str, list[_Clipping]] = {}
    for clipping in _split_clippings(text.split("\n")):
        books.setdefault(clipping.book, []).append(clipping)
    return [_lay_out_book(book, _drop_shorter(clippings)) for book, clippings in books.items()]


def _split_clippings(lines: Sequence[str]) -> Iterator[_Clipping]:
    begin = 0
    for place, line in enumerate([*lines, "=========="]):
        if not _RULE.match(line):
            continue
        head, begin, first = lines[begin:place], place + 1, begin
        if len(head) < 3 or not _HEAD.match(head[1]) or _BOOKMARK.search(head[1]):
            continue
        parts = [part.strip(" -–•") for part in head[1].split("|")]
        at = next((moment for _, moment in full_dates(parts[-1])), None)
        where = parts[:-1] if at is not None and len(parts) > 1 else parts
        span = _PLACE.search(where[-1])
        words = [text.strip() for text in head[2:]]
        blank = next((number for number, text in enumerate(words) if text), None)
        if blank is None:
            continue
        numbers = (int(span["first"]), int(span["last"] or span["first"])) if span else (0, 0)
        is_note = _NOTE.search(where[0]) is not None
        book = " ".join(head[0].strip("\ufeff ").split())
        yield _Clipping(book, first + 3 + blank, words[blank:], ", ".join(where), numbers, at, is_note)


def _drop_shorter(clippings: list[_Clipping]) -> list[_Clipping]:
    """Keeps the later of two overlapping highlights: an extended highlight appears twice."""
    kept: list[_Clipping] = []
    for clipping in clippings:
        last = kept[-1] if kept else None
        if last is not None and last.is_note == clipping.is_note and last.span[0] <= clipping.span[1]:
            old, new = " ".join(last.text), " ".join(clipping.text)
            if clipping.span[0] <= last.span[1] and (old in new or new in old):
                kept.pop()
        kept.append(clipping)
    return kept


def _lay_out_book(book: str, clippings: Sequence[_Clipping]) -> Document:
    named = _AUTHOR.match(book)
    title, author = (named["title"], _reorder_authors(named["author"])) if named else (book, "")
    out = LaidOut()
    count = 0
    parts: list[tuple[int, datetime | None]] = []
    for clip in clippings:
        if not parts or (clip.at and (parts[-1][1] is None or clip.at.date() != parts[-1][1].date())):
            parts.append((count + 1, clip.at))
        lines = [(number, line) for number, line in enumerate(clip.text, clip.line) if line]
        for number, line in lines:
            out.add(line if clip.is_note else f"> {line}", number, apart=False)
        out.add(f"({clip.place})", lines[-1][0])
        count += len(lines) + 2
    document = out.close(title, max(filter(None, (clip.at for clip in clippings)), default=None), {"author": author})
    return replace(document, uri=book, parts=tuple(parts) if len(parts) > 1 else ())


def _reorder_authors(author: str) -> str:
    """Returns "Woolf, Virginia" as Virginia Woolf; semicolons separate several."""
    people = (name.strip().partition(",") for name in author.split(";"))
    return ", ".join(f"{first.strip()} {last}".strip() for last, _, first in people)
