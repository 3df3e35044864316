"""Saved web pages: headings, lists, tables and paragraphs as Markdown, each line with its line in the file."""

import re
from datetime import datetime
from html import unescape
from html.parser import HTMLParser

from memory.nouns import Document
from memory.time.dates import parse_date

_SKIPPED = set("head script style nav template noscript svg iframe object select button dialog".split())
_BLOCKS = set(
    "address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table tbody td tfoot th thead tr "
    "ul".split()
)
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_SPACED = _BLOCKS - set("br li td th tr tbody thead tfoot caption dd dt html body".split())  # surrounded by blank lines
_VOID = set("area base br col embed hr img input link meta param source track wbr".split())
_DATE_META = re.compile(r"clipp|saved|publish|pubdate|(?:^|[.:_-])(?:date|created|modified|updated)", re.IGNORECASE)
_CLIPPED = re.compile(r"clipp|saved", re.IGNORECASE)
_PROPERTY_META = {"author": "author", "description": "description", "og:url": "url", "og:site_name": "site"}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_MAX_INDENT = 8  # deeper lists get no more indent
_CELL_CHARS = 400  # a longer cell belongs to a layout table
_REPAIRS = 20  # broken tags taken as text before parsing stops


class _Page(HTMLParser):
    """Collects lines and their numbers without a tree: depth costs nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.numbers: list[int] = []
        self.title: list[str] = []
        self.heading: str | None = None
        self.dates: list[tuple[bool, datetime]] = []
        self.properties: dict[str, str] = {}
        self._parts: list[str] = []  # of the current line
        self._number = 0  # the first file line of the current line
        self._prefix = ""  # Markdown mark of the next line: a heading or a list item
        self._in_title = self._in_heading = self._in_pre = False
        self._skip: str | None = None
        self._skip_depth = 0
        self._row: list[list[str]] = []  # the cells of the open table row, each in pieces
        self._lists: list[int] = []  # per open list: the next number, or 0 for bullets

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs} if tag in ("meta", "time") else {}
        if tag == "time" and self._skip is None:  # publication dates in microdata, microformats and HTML
            is_published = "pubdate" in given or "publish" in given.get("class", "")
            name = given.get("itemprop", "published" if is_published else "")
            self._take_meta({"name": name, "content": given.get("datetime", "")})
        if tag == "meta":
            self._take_meta(given)
        elif tag == "title" and self._skip in (None, "head"):
            self._in_title = True
        elif self._skip is not None:
            self._skip_depth += tag == self._skip
            if tag == "body" and self._skip == "head":
                self._skip = None
        elif tag in _SKIPPED or (tag not in _VOID and _is_hidden(attrs)):
            self._skip, self._skip_depth = tag, 1
        elif tag == "img":
            self.handle_data(next((value for name, value in attrs if name == "alt" and value), ""))
        elif tag in _BLOCKS:
            self._open(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._skip is not None:
            self._skip_depth -= tag == self._skip
            if self._skip_depth == 0:
                self._skip = None
        elif tag in _BLOCKS:
            self._close(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif self._skip is None:
            number = self.getpos()[0]
            for offset, piece in enumerate(data.split("\n")):
                if offset:
                    self._break_line(number + offset - 1)
                self._add(piece, number + offset)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Skips the <![if ...]> of office programs; the base class raises on unknown ones."""
        end = self.rawdata.find(">", i)
        return end + 1 if end >= 0 else -1

    def read(self, text: str) -> None:
        """Parses all of `text`. Avoids `close()`, which takes quadratic time at the end of a broken page."""
        self.feed(text)
        for _ in range(_REPAIRS):
            rest = self.rawdata
            cut = rest.find(">") + 1
            if not cut or self.cdata_elem is not None:
                break
            self.rawdata = ""
            self._take(rest[:cut])
            self.feed(rest[cut:])
        if self.cdata_elem is None:
            self._take(self.rawdata)
        self._end_row()
        self._end_line()

    def _take(self, broken: str) -> None:
        """Takes markup that cannot be parsed as text."""
        self.handle_data(unescape(re.sub(r"<[^<>]*>?", " ", broken)))
        self.lineno += broken.count("\n")

    def _open(self, tag: str) -> None:
        if tag in ("td", "th"):
            if not self._row:
                self._end_line()
                self._number = self.getpos()[0]
            self._row.append([])
            return
        if tag in ("tr", "table"):
            self._end_row()
        elif self._row:
            self._row[-1].append(" ")  # other blocks stay on the line of the row
            return
        self._end_line()
        if tag in _SPACED:
            self._push_blank()
        if tag in ("ul", "ol"):
            self._lists.append(int(tag == "ol"))
        elif tag == "li":
            self._prefix = self._make_bullet()
        elif tag == "pre" and not self._in_pre:
            self._push("```", self.getpos()[0])
            self._in_pre = True
        elif tag in _HEADINGS:
            self._in_heading = True
            self._prefix = "#" * int(tag[1]) + " "

    def _close(self, tag: str) -> None:
        if tag in ("tr", "table"):
            self._end_row()
        elif self._row:
            return
        self._end_line()
        if tag in _HEADINGS:
            self._in_heading = False
            if tag == "h1" and self.heading is None and self.lines:
                self.heading = self.lines[-1].removeprefix("# ")
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "pre" and self._in_pre:
            self._push("```", self.getpos()[0])
            self._in_pre = False
        self._prefix = ""
        if tag in _SPACED:
            self._push_blank()

    def _make_bullet(self) -> str:
        indent = "  " * min(_MAX_INDENT, max(0, len(self._lists) - 1))
        if not self._lists or not self._lists[-1]:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1] - 1}. "

    def _add(self, text: str, number: int) -> None:
        if self._row:
            self._row[-1].append(text)
        elif text and (self._in_pre or self._parts or not text.isspace()):
            if not self._parts:
                self._number = number
            self._parts.append(text)

    def _break_line(self, number: int) -> None:
        """Ends the line at a line end of the file, except in a heading and in a table row."""
        if self._row or self._in_heading:
            self._add(" ", number)
        elif self._in_pre:
            self._push("".join(self._parts), number)
            self._parts = []
        else:
            self._end_line()

    def _end_line(self) -> None:
        line = "".join(self._parts)
        line = line.rstrip() if self._in_pre else _SPACE.sub(" ", line).strip()
        self._parts = []
        if line:
            self._push(self._prefix + line, self._number)
            self._prefix = ""

    def _end_row(self) -> None:
        cells = [_SPACE.sub(" ", "".join(cell)).strip() for cell in self._row]
        self._row = []
        if sum(map(bool, cells)) > 1 and max(map(len, cells)) <= _CELL_CHARS:
            self._push(f"| {' | '.join(cells)} |", self._number)
        else:  # a layout table
            for cell in filter(None, cells):
                self._push(cell, self._number)
                self._push_blank()

    def _push(self, line: str, number: int) -> None:
        self.lines.append(line)
        self.numbers.append(number)

    def _push_blank(self) -> None:
        if self.lines and self.lines[-1] and not self._in_pre:
            self._push("", self.getpos()[0])

    def _take_meta(self, attributes: dict[str, str]) -> None:
        name = (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").lower()
        content = attributes.get("content", "").strip()
        if _DATE_META.search(name) and (at := parse_date(content)) is not None:
            self.dates.append((_CLIPPED.search(name) is None, at))
        if name in _PROPERTY_META and content:
            self.properties.setdefault(_PROPERTY_META[name], content)


def convert(text: str) -> Document:
    """Returns the text, title, properties and lines of a page."""
    page = _Page()
    page.read(text)
    while page.lines and not page.lines[-1]:
        del page.lines[-1], page.numbers[-1]
    return Document(
        uri="",
        text="\n".join(page.lines),
        title=_SPACE.sub(" ", "".join(page.title)).strip() or page.heading,
        at=min(page.dates, key=lambda dated: dated[0])[1] if page.dates else None,  # the clipping date, if stated
        properties=page.properties,
        lines=tuple(page.numbers),
    )


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    return any(
        name == "hidden"
        or (name == "aria-hidden" and value == "true")
        or (name == "style" and value and _HIDDEN_STYLE.search(value))
        for name, value in attrs
    )
