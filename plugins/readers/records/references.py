"""What a person collected of texts of others: works in lists of references, as Zotero exports them (BibTeX, RIS);
bookmarks in the HTML that every browser exports; Kindle's "My Clippings.txt".

Highlights and abstracts are quotations; notes are the owner's words."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memory.nouns import Document
from memory.time.dates import full_dates, parse_date
from plugins.readers import Part, Unread, Unreadable, sign
from plugins.readers.common import html, import_library
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import LaidOut

MAX_AUTHORS = 20

_SPELLINGS = {  # field -> its names in each format
    "title": "title TI T1",
    "author": "author AU A1",
    "editor": "editor ED",
    "published": "date year PY Y1 DA",
    "in": "journal journaltitle booktitle JO JF T2",
    "publisher": "publisher PB",
    "doi": "doi DOI DO",
    "url": "url URL UR",
    "keywords": "keywords keyword KW",
    "abstract": "abstract AB N2",
    "note": "note annote annotation N1",
}
_NAMES = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_LISTED = frozenset(("author", "editor", "keywords"))
_RIS = re.compile(r"(?P<tag>[A-Z][A-Z0-9])  - ?(?P<value>.*)")
_HIGHLIGHT = re.compile(r"[“\"«](?P<words>.{3,2000}?)[”\"»]\s*\((?P<place>[^()\n]{1,160})\)\s*(?P<own>.*)", re.DOTALL)
_MARKUP = re.compile(r"<(?:p|div|h\d|ul|ol|li|br|span|strong|em|blockquote)\b[^<>]{0,200}>", re.IGNORECASE)


@dataclass
class _Work:
    """One work; `fields` maps a name to its (line, text) values."""

    key: str
    line: int
    fields: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def add(self, name: str, line: int, text: str) -> None:
        field_name = _NAMES.get(name) or _NAMES.get(name.lower())
        if field_name is not None and text.strip():
            self.fields.setdefault(field_name, []).append((line, text.strip()))

    def get(self, name: str) -> str:
        values = [" ".join(text.split()) for _, text in self.fields.get(name, ())]
        if name in _LISTED:
            return ", ".join(dict.fromkeys(values[:MAX_AUTHORS]))
        return values[0] if values else ""


def stream_bibtex(path: Path, file: BinaryIO) -> Iterator[Part]:
    """Yields the works, and an Unread for each damaged entry. Raises Unreadable."""
    text = text_of(file.read())
    parser = import_library("bibtexparser", "bibtexparser")
    middlewares = import_library("bibtexparser.middlewares", "bibtexparser")
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL + 1)  # damaged entries are reported below
    library = parser.parse_string(text, append_middleware=[middlewares.LatexDecodingMiddleware()])
    for entry in library.entries:
        work = _Work(entry.key, entry.start_line + 1)
        for item in entry.fields:
            value = str(item.value)
            if item.key.lower() in ("author", "editor"):
                for person in re.split(r"\s+and\s+", value):
                    work.add(item.key, item.start_line + 1, _reorder_name(person))
            elif item.key.lower() in ("keywords", "keyword"):
                for word in re.split(r"[,;]", value):
                    work.add("keywords", item.start_line + 1, word)
            else:
                work.add(item.key, item.start_line + 1, value)
        yield sign(_lay_out(work))
    for block in library.failed_blocks:
        yield Unread(f"line {block.start_line + 1}", "a damaged entry of BibTeX")
    if not library.entries and not library.failed_blocks:
        raise Unreadable("no BibTeX entry in it")


def read_ris(path: Path, data: bytes) -> list[Document]:
    works: list[_Work] = []
    tag = ""
    for number, line in enumerate(text_of(data).split("\n"), 1):
        match = _RIS.match(line.lstrip("\ufeff"))
        if match is None:
            if works and line.strip() and tag in ("AB", "N1", "N2"):
                name = _NAMES[tag]
                begun, text = works[-1].fields.get(name, [(number, "")])[-1]
                works[-1].fields[name] = [*works[-1].fields.get(name, [])[:-1], (begun, f"{text}\n{line.strip()}")]
            continue
        tag, value = match["tag"], match["value"].strip()
        if tag == "TY":
            works.append(_Work("", number))
        elif works and tag == "ID":
            works[-1].key = value
        elif works:
            works[-1].add(tag, number, _reorder_name(value) if tag in ("AU", "A1", "ED") else value.rstrip("/"))
    if not works:
        raise Unreadable("no RIS reference in it")
    return [_lay_out(work) for work in works]


def _lay_out(work: _Work) -> Document:
    out = LaidOut()
    lines: list[tuple[int, str]] = []
    for name in ("author", "editor", "published", "in", "publisher", "doi", "url", "keywords"):
        if words := work.get(name):
            lines.append(
                (work.fields[name][0][0], f"{name.upper() if name in ('doi', 'url') else name.capitalize()}: {words}")
            )
    title = work.get("title")
    line = work.fields["title"][0][0] if title else work.line
    for number, words in sorted([(line, f"**{title}**"), *lines] if title else lines):
        out.add(words, number, apart=False)
        line = number
    out.add("", line)
    for number, words in work.fields.get("abstract", ()):
        line = max(line, number)
        out.add("> " + _strip_markup(words).replace("\n", "\n> "), line)
    for number, words in work.fields.get("note", ()):
        for offset, part in enumerate(_strip_markup(words).split("\n")):
            line = max(line, number + (offset if "\n" in words else 0))
            out.add(_mark_quotation(part), line, apart=not part)
        out.add("", line)
    kept = {name: work.get(name) for name in ("author", "published", "in", "publisher")}
    published = work.get("published")
    document = out.close(title or work.key, parse_date(published) if len(published) > 7 else None, kept)
    tags = tuple(" ".join(text.split()).replace(" ", "-") for _, text in work.fields.get("keywords", ()))
    return replace(document, uri=work.key, tags=tags)


def _strip_markup(text: str) -> str:
    """Returns the text of a note, which may be HTML."""
    return html.convert(text).text if _MARKUP.search(text) else "\n".join(line.strip() for line in text.split("\n"))


def _mark_quotation(line: str) -> str:
    """Returns a line of a note; a highlight becomes a quotation with its place."""
    match = _HIGHLIGHT.match(line)
    if match is None:
        return line
    quoted = f"> {match['words']} ({match['place']})"
    return f"{quoted}\n\n{match['own'].strip()}" if match["own"].strip() else quoted


def _reorder_name(person: str) -> str:
    """Returns "Holm, Ada" as Ada Holm."""
    last, _, first = person.strip(" {}").partition(",")
    return f"{first.strip()} {last.strip()}".strip()


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
