"""reStructuredText and AsciiDoc as Markdown, line by line: headings, fields, tables, code, lists and links.

Every line keeps its number. Comments and raw output are left out; includes are not followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from memory.nouns import Document
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of

RST = (".rst", ".rest")
ADOC = (".adoc", ".asciidoc")

_RULE = re.compile(r"([!-/:-@[-`{-~])\1*\s*$")
_FIELD = re.compile(r":(?P<key>[^:\s][^:\n]{0,60}):\s+(?P<value>.*)$")
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|(?P<name>[^|\n]{1,80})\|\s+)?(?P<kind>[\w:-]+)::(?:\s+(?P<words>.*))?$")
_TARGET = re.compile(r"\s*\.\.\s+_?(?P<words>\[[^\]\n]{1,60}\]\s+.*|(?<=_)[^\n]{1,120}:\s+\S.*)$")
_OPTION = re.compile(r"\s*:\w[\w-]*:(?:\s|$)")
_CODE = frozenset("code code-block sourcecode parsed-literal math doctest ipython prompt mermaid graphviz".split())
_LEFT_OUT = frozenset(  # about other files, layout or no text
    "include literalinclude raw contents meta role default-role highlight index sectnum target-notes".split()
)
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_COLUMNS = re.compile(r"\s*=+(?:\s+=+)+\s*$")

_LAYOUT_KEY = re.compile(r"(?:toc|sect|icons|source-|images|doctype|experimental|stem|idprefix|idsep|pdf|css|style)")
_AUTHOR = re.compile(r"(?P<author>[^\W\d_][^<>:=\n]{1,80}?)[ \t]+<[^<>\s]{1,120}>[ \t]*$")  # below the title
_REVISION = re.compile(r"v?(?P<version>[\d.]+),[ \t]*(?P<date>\d[\w -]{5,30})(?::.*)?$")
_STYLE = re.compile(r"\[(?P<style>[^\[\]\n]{0,200})\][ \t]*$")
_BLOCK = re.compile(r"(?:-{4,}|\.{4,}|`{3}\w*|\+{4,}|/{4,}|_{4,})[ \t]*$")
_WIDTH = re.compile(r"cols=(?:\"([^\"]{1,200})\"|(\d+))")
_CELL = re.compile(r"(?:(?<=\s)|^)(?:\d{1,3}(?:\.\d{1,3})?[+*])?[<^>.]{0,3}[a-z]?(?<!\\)\|")
_NOTHING = re.compile(
    r"//(?!/)|(?:include|ifdef|ifndef|ifeval|endif|toc)::|(?:'''|<<<|\+|={4,}|\*{4,}|--|\+{4,}|/{4,}|[-.`_]{4,})[ \t]*$"
)

_RST_WORDS = (
    (r"`([^`<>\n]{1,200}?)\s*<([^`<>\s]{1,400})>`__?", r"[\1](\2)"),
    (r":[\w:+.-]{1,40}:`[~!]?([^`<>\n]{1,200}?)(?:\s*<[^`<>\n]{1,200}>)?`", r"\1"),
    (r"(?<!`)`([^`\n]{1,120})`__?", r"\1"),
    (r"``([^`\n]{1,400})``", r"`\1`"),
    (r"^(\s*):([^:\s`][^:\n`]{0,60}):(?=\s|$)", r"\1\2:"),
    (r"^(\s*)#\.(?=\s)", r"\g<1>1."),
    (r"^\| (?!.*\|$)", ""),
)
_ADOC_WORDS = (
    (r"^(?:={1,6}|#{1,6})[ \t]+(?=\S)", ""),  # of a heading
    (r"^[ \t]*\*{1,5}[ \t]+(?=\S)", "- "),
    (r"^[ \t]*\.{1,5}[ \t]+(?=\S)", "1. "),
    (r"^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)", r"**\1:** "),
    (r"^\.([^\s.].*)$", r"**\1**"),
    (r"^:(\w[\w-]{0,60}):[ \t]+", r"\1: "),
    (r"^([^\s:|][^:|\n]{0,80}?)(?::{2,4}|;;)(?=[ \t]|$)", r"\1:"),
    (r"\[\[[^\[\]\n]{1,120}\]\]|\(\(\([^()\n]{1,120}\)\)\)| \+$", ""),
    (r"image::?([^\s\[\]:][^\s\[\]]{0,200})\[([^\],\n]{0,200})[^\]\n]{0,200}\]", r"![\2](\1)"),
    (r"footnote:\w{0,20}\[([^\[\]\n]{0,300})\]", r" (\1)"),
    (r"(?:kbd|btn|menu|pass):\w{0,20}\[([^\[\]\n]{0,300})\]", r"\1"),
    (r"(?:link:|xref:|(?=https?://))([^\s\[\]]{1,400})\[\"?([^\[\]\n,^\"]{1,200})[^\[\]\n]{0,80}\]", r"[\2](\1)"),
    (r"(?:link:|xref:|(?=https?://))([^\s\[\]]{1,400})\[\]", r"\1"),
    (r"<<[^<>,\n]{1,120},[ \t]*([^<>\n]{1,200})>>", r"\1"),
    (r"<<_?([^<>,\n]{1,120})>>", r"\1"),
    (r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*(?![\w*])", r"**\1**"),
)


def read(path: Path, data: bytes) -> list[Document]:
    lines = text_of(data).split("\n")
    is_rst = path.suffix.lower() in RST
    page = _Page(lines, _RST_WORDS if is_rst else _ADOC_WORDS)
    take: Callable[[int], int] = _Rst(page).take if is_rst else _Adoc(page).take
    place = 0
    while place < len(lines):
        place = take(place)
    document = Document(uri="", text="\n".join(page.kept), title=page.title, properties=page.properties)
    at, tags = date_of(page.properties), frontmatter.tags(page.properties)
    return [replace(document, at=at, tags=tags, lines=tuple(page.numbers))]


class _Page:
    """The lines of a page and the rewritten lines so far; a place is the index of a line."""

    def __init__(self, lines: list[str], words: Sequence[tuple[str, str]]) -> None:
        self.lines = lines
        self.kept: list[str] = []
        self.numbers: list[int] = []
        self.properties: dict[str, str] = {}
        self.title: str | None = None
        self._words = [(re.compile(pattern), shown) for pattern, shown in words]

    def put(self, line: str, place: int) -> None:
        self.kept.append(line)
        self.numbers.append(min(place, len(self.lines) - 1) + 1)

    def put_heading(self, line: str, level: int, place: int) -> None:
        words = self.show(line).strip()
        self.title = self.title or words
        self.put(f"{'#' * min(6, level)} {words}", place)

    def put_rows(self, rows: Sequence[Sequence[tuple[int, str]]], has_head: bool) -> None:
        """Adds a table of (place, cell)."""
        for row in rows:
            self.put(f"| {' | '.join(self.show(cell.strip()) for _, cell in row)} |", row[0][0])
            if has_head and row is rows[0]:
                self.put("|" + "---|" * len(row), row[0][0])

    def put_code(self, begin: int, end: int, language: str = "") -> None:
        """Adds the lines between two places as code, without their common indent."""
        code = self.lines[begin:end]
        if any(map(str.strip, code)):
            left = min(_count_indent(line) for line in code if line.strip())
            mark = "````" if any("```" in line for line in code) else "```"
            self.put(f"{mark}{language if language.isalnum() else ''}", begin)
            for number, line in enumerate(code, begin):
                if line.strip():
                    self.put(line[left:], number)
            self.put(mark, end - 1)

    def show(self, text: str) -> str:
        """A text with the marks of Markdown."""
        for pattern, shown in self._words:
            text = pattern.sub(shown, text)
        return text.rstrip()


class _Rst:
    def __init__(self, page: _Page) -> None:
        self._page = page
        self._lines = page.lines
        self._levels: list[tuple[str, bool]] = []  # (rule, has one above) by level

    def take(self, place: int) -> int:
        """Rewrites the block at one place; returns the place after it."""
        line, page = self._lines[place], self._page
        if (heading := self._find_heading(place)) is not None:
            return heading
        if (target := _TARGET.match(line)) is not None:
            page.put(page.show(target["words"]), place)
        elif (directive := _DIRECTIVE.match(line)) is not None:
            return self._put_directive(place, directive)
        elif re.match(r"\s*\.\.(?:\s|$)", line):  # a comment
            return place + 1 if line.strip() == ".." else self._find_end(place)
        elif _COLUMNS.match(line):
            return self._put_columns(place)
        elif _GRID.match(line):
            if "=" in line:
                page.put("|" + "---|" * (line.count("+") - 1), place)
        elif not _RULE.match(line) or len(line.strip()) < 4:  # no transition
            if len(page.kept) < 20 and (field := _FIELD.match(line)) is not None:
                page.properties.setdefault(field["key"].lower(), page.show(field["value"]).strip())
            has_code = line.rstrip().endswith("::")
            page.put(page.show(line.rstrip()[:-1] if has_code and line.strip() != "::" else line), place)
            if has_code:
                page.put_code(place + 1, end := self._find_end(place))
                return end
        return place + 1

    def _find_heading(self, place: int) -> int | None:
        """Adds the heading that begins at a place; returns the place after it, or None without a heading."""
        above = _RULE.match(self._lines[place])
        title_at = place + 1 if above else place
        if title_at + 1 >= len(self._lines):
            return None
        title, below = self._lines[title_at], _RULE.match(self._lines[title_at + 1])
        if below is None or not title.strip() or (not above and title[0].isspace()) or _RULE.match(title):
            return None
        if len(below[0].rstrip()) < min(4, len(title.strip())) or (above and above[0].rstrip() != below[0].rstrip()):
            return None
        style = below[1], above is not None
        if style not in self._levels:
            self._levels.append(style)
        self._page.put_heading(title, self._levels.index(style) + 1, title_at)
        return title_at + 2

    def _put_directive(self, place: int, directive: re.Match[str]) -> int:
        """Adds the line of a directive; its body follows as lines of the page, except code and what is left out."""
        end, body = self._find_end(place), place + 1
        kind, words = directive["kind"].lower().rpartition(":")[2], self._page.show(directive["words"] or "").strip()
        if kind in _LEFT_OUT:
            return end
        while body < end and _OPTION.match(self._lines[body]) is not None:
            words += self._lines[body].partition(":alt:")[2]
            body += 1
        if kind in _CODE:
            self._page.put_code(body, end, words)
            return end
        self._page.put(f"**{directive['name'] or kind.capitalize()}:** {words}".rstrip(), place)
        left = min((_count_indent(line) for line in self._lines[body:end] if line.strip()), default=0)
        self._lines[body:end] = (line[left:] for line in self._lines[body:end])
        return body

    def _find_end(self, place: int) -> int:
        """The place of the next line that is indented by no more than the one at `place`."""
        indent = _count_indent(self._lines[place])
        below = range(place + 1, len(self._lines))
        outside = (n for n in below if self._lines[n].strip() and _count_indent(self._lines[n]) <= indent)
        return next(outside, len(self._lines))

    def _put_columns(self, place: int) -> int:
        """Adds a table whose columns are marked by rules."""
        starts = [match.start() for match in re.finditer(r"=+", self._lines[place])]
        rows, rules = [], 0
        while place < len(self._lines) and (line := self._lines[place]).strip():
            if _COLUMNS.match(line):
                rules += 1
            else:
                rows.append([(place, line[a:b]) for a, b in zip(starts, [*starts[1:], None], strict=True)])
            place += 1
        self._page.put_rows(rows, has_head=rules > 2)
        return place


class _Adoc:
    def __init__(self, page: _Page) -> None:
        self._page = page
        self._lines = page.lines
        self._style = ""  # attributes of the next block

    def take(self, place: int) -> int:
        """Rewrites the block at one place; returns the place after it."""
        line, page = self._lines[place], self._page
        style, self._style = self._style, ""
        mark = "```" if line.startswith("```") else line.rstrip()
        ends = (n for n in range(place + 1, len(self._lines)) if self._lines[n].rstrip() == mark)
        if line[:1] in "|,:!" and line.rstrip()[1:] == "===":
            end = next(ends, len(self._lines))
            self._put_table(place, end, style)
            return end + 1
        if _BLOCK.match(line) and (end := next(ends, -1)) > 0:
            if line[0] == "_":
                for number in range(place + 1, end):
                    page.put(f"> {page.show(self._lines[number])}", number)
            elif line[0] not in "+/":
                kind, _, language = style.partition(",")
                page.put_code(place + 1, end, language.strip() if kind.strip() == "source" else "")
            return end + 1
        if (block := _STYLE.match(line)) is not None:
            self._style = block["style"]
            kind, *names = (part.strip(' "') for part in self._style.split(","))
            if kind in ("quote", "verse") and names:
                page.put(", ".join(names), place)
            elif kind.isupper() and kind.isalpha():
                page.put(f"**{kind}**", place)
        elif (heading := re.match(r"(={1,6}|#{1,6})[ \t]+\S", line)) is not None:
            page.put_heading(line, len(heading[1]), place)
        elif page.title and place < 3 and (head := _AUTHOR.match(line) or _REVISION.match(line)) is not None:
            page.put(line, place)
            page.properties |= head.groupdict()
        elif not _NOTHING.match(line):
            field = _FIELD.match(line)
            if field is None or not _LAYOUT_KEY.match(field["key"]):
                page.put(page.show(line), place)
                if field is not None:
                    key = {"revdate": "date", "revnumber": "version"}.get(field["key"], field["key"])
                    page.properties[key] = field["value"].strip()
        return place + 1

    def _put_table(self, place: int, end: int, style: str) -> None:
        """Adds the rows of a table; each cell begins with a bar."""
        columns = _WIDTH.search(style)
        width = (int(columns[2]) if columns[2] else columns[1].count(",") + 1) if columns else 0
        cells: list[tuple[int, str]] = []
        has_head = "header" in style
        for number in range(place + 1, end):
            has_head = has_head or (not self._lines[number].strip() and 0 < len(cells) <= width)
            before, *others = _CELL.split(self._lines[number])
            if before.strip() and cells:
                cells[-1] = cells[-1][0], f"{cells[-1][1]} {before.strip()}"
            cells += [(number, cell) for cell in others]
            width = width or len(cells)
        rows = [cells[first : first + width] for first in range(0, len(cells), max(1, width))]
        self._page.put_rows(rows, has_head)


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())
