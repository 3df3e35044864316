"""Works in lists of references, as Zotero exports them (BibTeX, RIS), with notes and highlights.

Highlights and abstracts are quotations; notes are the owner's words."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from memory.nouns import Document
from memory.time.dates import parse_date
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
    """The works, and an Unread for each damaged entry. Raises Unreadable."""
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
    """ "Holm, Ada" as Ada Holm."""
    last, _, first = person.strip(" {}").partition(",")
    return f"{first.strip()} {last.strip()}".strip()
