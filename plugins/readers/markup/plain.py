"""reStructuredText and AsciiDoc as Markdown, line by line: headings, tables, code, lists, links and names.

Every line keeps its number. Comments and raw output are left out; includes are not followed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of

RST = (".rst", ".rest")
ADOC = (".adoc", ".asciidoc")

_RULE = re.compile(r"([!-/:-@[-`{-~])\1*\s*$")
_FIELD = re.compile(r"\s*:(?P<key>[^:\s][^:\n]{0,60}):(?:\s+(?P<value>.*))?$")
_EXPLICIT = re.compile(
    r"\s*\.\.(?:\s+(?:\|(?P<name>[^|\n]{1,80})\|\s+)?(?:(?P<kind>[\w:-]+)::(?:\s+(?P<text>.*))?"
    r"|_`?(?P<target>[^`\n]{1,120}?)`?:\s*(?P<url>\S*)|(?P<note>\[[^\]\n]{1,60}\]\s+.*)|.*))?$"
)
_CODE = frozenset("code code-block sourcecode parsed-literal math doctest ipython prompt mermaid graphviz".split())
_LEFT_OUT = frozenset(  # about other files, layout or no text
    "include literalinclude raw contents meta role default-role highlight index sectnum target-notes".split()
)
_NAMELESS = frozenset("only ifconfig container class compound tabularcolumns currentmodule list-table".split())
_TITLED = frozenset("admonition topic sidebar rubric function method attribute data option module exception".split())
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_COLUMNS = re.compile(r"\s*=+(?:\s+=+)+\s*$")
_REFERENCE = re.compile(r"`(?P<quoted>[^`\n]{1,120})`__?|(?<![\w`])(?P<word>[^\W_][\w.-]{0,60}?)_(?![\w`])")

_ATTRIBUTE = re.compile(r":(?P<key>\w[\w-]{0,60}):[ \t]+(?P<value>.*)$")
_LAYOUT_KEY = re.compile(r"(?:toc|sect|icons|source-|images|doctype|experimental|stem|idprefix|idsep|pdf|css|style)")
_AUTHOR = re.compile(r"(?P<name>[^\W\d_][^<>:=\n]{1,80}?)(?:[ \t]+<[^<>\s]{1,120}>)?[ \t]*$")
_REVISION = re.compile(r"(?:v?(?P<version>[\d.]+)(?:,[ \t]*|$))?(?P<date>\d[\w -]{5,30})?(?::.*)?$")
_BLOCK_MARK = re.compile(r"\[(?P<style>[^\[\]\n]{0,200})\][ \t]*$")
_BLOCK = re.compile(r"(?:-{4,}|\.{4,}|`{3}\w*|\+{4,}|/{4,}|_{4,})[ \t]*$")
_WIDTH = re.compile(r"cols=(?:\"([^\"]{1,200})\"|(\d+))")
_CELL = re.compile(r"(?:(?<=\s)|^)(?:\d{1,3}(?:\.\d{1,3})?[+*])?[<^>.]{0,3}[a-z]?(?<!\\)\|")
_NOTHING = re.compile(
    r"//(?!/)|(?:include|ifdef|ifndef|ifeval|endif|toc)::|(?:'''|<<<|\+|={4,}|\*{4,}|--|\+{4,}|/{4,}|[-.`_]{4,})[ \t]*$"
    r"|:!?\w[\w-]{0,60}!?:[ \t]*$"
)
_BOX = {"x": "[x] ", "*": "[x] ", " ": "[ ] "}
_ITEM = re.compile(r"[ \t]*(?P<marks>\*{1,5}|\.{1,5}|-)[ \t]+(?:\[(?P<box>[ x*])\][ \t]+)?(?=\S)")
_ADOC_LINES = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)", r"**\1:** "),
        (r"\.([^\s.].*)$", r"**\1**"),
        (r"([^\s:|][^:|\n]{0,80}?)(?::{2,4}|;;)(?=[ \t]|$)", r"\1:"),
        (r"<\.?(\d{0,2})>[ \t]+(?=\S)", r"\1. "),
    )
)
_ADOC_WORDS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
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
)
_RST_WORDS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"`([^`<>\n]{1,200}?)\s*<([^`<>\s]{1,400})>`__?", r"[\1](\2)"),
        (r":[\w:+.-]{1,40}:`[~!]?([^`<>\n]{1,200}?)(?:\s*<[^`<>\n]{1,200}>)?`", r"\1"),
        (r"(?<!`)`([^`\n]{1,120})`__?", r"\1"),
        (r"``([^`\n]{1,400})``", r"`\1`"),
        (r"^(\s*):([^:\s`][^:\n`]{0,60}):(?=\s|$)", r"\1\2:"),
        (r"^(\s*)#\.(?=\s)", r"\g<1>1."),
        (r"^\| (?!.*\|$)", ""),
    )
)


def read(path: Path, data: bytes) -> list[Document]:
    lines = text_of(data).split("\n")
    page = _Rst(lines) if path.suffix.lower() in RST else _Adoc(lines)
    return [page.read()]


class _Page:
    """The lines of a page and the rewritten lines so far; a place is the index of a line. `names`: texts by name."""

    words: Sequence[tuple[re.Pattern[str], str]] = ()
    name = re.compile("")

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.kept: list[str] = []
        self.numbers: list[int] = []
        self.properties: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.title: str | None = None

    def read(self) -> Document:
        place = 0
        while place < len(self.lines):
            place = self.take(place)
        return Document(
            uri="",
            text="\n".join(self.kept),
            title=self.title,
            at=date_of(self.properties),
            properties=self.properties,
            tags=frontmatter.tags(self.properties),
            lines=tuple(self.numbers),
        )

    def take(self, place: int) -> int:
        """Rewrites the block at one place; returns the place after it."""
        raise NotImplementedError

    def put(self, line: str, place: int) -> None:
        self.kept.append(line)
        self.numbers.append(min(place, len(self.lines) - 1) + 1)

    def put_heading(self, words: str, level: int, place: int) -> None:
        words = self.show(words).strip()
        self.title = self.title or words
        self.put(f"{'#' * min(6, level)} {words}", place)

    def put_row(self, cells: Iterable[str], place: int) -> None:
        self.put(f"| {' | '.join(self.show(cell.strip()) for cell in cells)} |", place)

    def put_code(self, begin: int, end: int, language: str = "") -> None:
        """Adds the lines between two places as code, without their common indent."""
        code = self.lines[begin:end]
        while code and not code[-1].strip():
            code.pop()
        while code and not code[0].strip():
            code, begin = code[1:], begin + 1
        left = min((_count_indent(line) for line in code if line.strip()), default=0)
        mark = "````" if any("```" in line for line in code) else "```"
        if code:
            self.put(f"{mark}{language if language.isalnum() else ''}", begin)
            for number, line in enumerate(code, begin):
                self.put(line[left:], number)
            self.put(mark, begin + len(code) - 1)

    def show(self, text: str) -> str:
        """A text with the marks of Markdown, and the texts that its names mean."""
        text = self.name.sub(lambda match: self.names.get(match[1], match[0]), text) if self.names else text
        for pattern, shown in self.words:
            text = pattern.sub(shown, text)
        return text.rstrip()


class _Rst(_Page):
    words = _RST_WORDS
    name = re.compile(r"\|([^|\n]{1,80})\|")

    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines)
        self._levels: list[tuple[str, bool]] = []  # (rule, has one above) by level
        explicit = [match for line in lines if ".. " in line and (match := _EXPLICIT.match(line))]
        self.names = {match["name"]: match["text"] or "" for match in explicit if match["kind"] == "replace"}
        self._urls = {match["target"].casefold(): match["url"] for match in explicit if match["target"]}

    def take(self, place: int) -> int:
        line = self.lines[place]
        if (heading := self._find_heading(place)) is not None:
            return heading
        if (explicit := _EXPLICIT.match(line)) is not None:
            return self._put_explicit(place, explicit)
        if _GRID.match(line) or _COLUMNS.match(line):
            return self._put_table(place)
        if _RULE.match(line) and len(line.strip()) > 3:  # a transition
            return place + 1
        if len(self.kept) < 20 and (field := _FIELD.match(line)) is not None and not line[:1].isspace():
            self.properties.setdefault(field["key"].lower(), self.show(field["value"] or "").strip())
        has_code = line.rstrip().endswith("::")
        end = self._find_end(place + 1, _count_indent(line)) if has_code else place + 1
        self.put(self.show(line.rstrip()[:-1] if has_code and line.strip() != "::" else line), place)
        if has_code:
            self.put_code(place + 1, end)
        return end

    def show(self, text: str) -> str:
        return super().show(_REFERENCE.sub(self._show_link, text) if self._urls else text)

    def _show_link(self, match: re.Match[str]) -> str:
        name = match["quoted"] or match["word"]
        url = self._urls.get(name.casefold())
        return f"[{name}]({url})" if url else match[0] if url is None else name

    def _find_heading(self, place: int) -> int | None:
        """Adds the heading that begins at a place; returns the place after it, or None without a heading."""
        above = _RULE.match(self.lines[place])
        title_at = place + 1 if above else place
        if title_at + 1 >= len(self.lines):
            return None
        title, below = self.lines[title_at], _RULE.match(self.lines[title_at + 1])
        if below is None or not title.strip() or (not above and title[0].isspace()) or _RULE.match(title):
            return None
        if len(below[0].rstrip()) < min(4, len(title.strip())) or (above and above[0].rstrip() != below[0].rstrip()):
            return None
        style = below[1], above is not None
        if style not in self._levels:
            self._levels.append(style)
        self.put_heading(title, self._levels.index(style) + 1, title_at)
        return title_at + 2

    def _put_explicit(self, place: int, explicit: re.Match[str]) -> int:
        """A directive, whose body follows as lines of the page, or a footnote; targets and comments are left out."""
        end = self._find_end(place + 1, _count_indent(self.lines[place]))
        kind = (explicit["kind"] or "").lower().rpartition(":")[2]
        if explicit["note"]:
            self.put(self.show(explicit["note"]), place)
        elif not kind and end > place + 1 and self.lines[place].strip() == "..":
            return place + 1  # an empty comment ends a block
        if not kind or kind in _LEFT_OUT or explicit["name"]:
            return place + 1 if explicit["note"] else end
        argument, body, shown = self.show(explicit["text"] or "").strip(), place + 1, ""
        while body < end and (option := _FIELD.match(self.lines[body])) is not None:
            shown = option["value"] or "" if option["key"] == "alt" else shown
            body += 1
        if kind in _CODE:
            self.put_code(body, end, argument)
            return end
        if kind in ("image", "figure"):
            self.put(f"![{self.show(shown)}]({argument})", place)
        elif kind in _TITLED and argument:
            self.put(f"**{argument}**", place)
        elif kind not in _NAMELESS:
            self.put(f"**{kind.capitalize()}:** {argument}" if argument else f"**{kind.capitalize()}**", place)
        left = min((_count_indent(line) for line in self.lines[body:end] if line.strip()), default=0)
        self.lines[body:end] = (line[left:] for line in self.lines[body:end])
        return body

    def _find_end(self, place: int, indent: int) -> int:
        """The place of the next line that is indented by no more than `indent`."""
        rest = range(place, len(self.lines))
        outside = (n for n in rest if self.lines[n].strip() and _count_indent(self.lines[n]) <= indent)
        return next(outside, len(self.lines))

    def _put_table(self, place: int) -> int:
        """Adds a table with borders, or one whose columns are marked by rules."""
        rule, first = self.lines[place], place
        starts = [match.start() for match in re.finditer(r"=+", rule)]
        while place < len(self.lines) and (line := self.lines[place]).strip():
            if _GRID.match(line) or _COLUMNS.match(line):
                if place > first and "=" in line and place + 1 < len(self.lines) and self.lines[place + 1].strip():
                    self.put("|" + "---|" * max(line.count("+") - 1, len(starts) if "+" not in line else 0), place)
            elif line.strip()[0] == "|":
                self.put(self.show(line.strip()), place)
            elif "+" in rule:
                return place
            else:
                self.put_row((line[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)), place)
            place += 1
        return place


class _Adoc(_Page):
    words = _ADOC_WORDS
    name = re.compile(r"\{([a-z][\w-]{0,60})\}")
    _style = ""  # attributes of the next block

    def take(self, place: int) -> int:
        line = self.lines[place]
        style, self._style = self._style, ""
        mark = "```" if line.startswith("```") else line.rstrip()
        ends = (n for n in range(place + 1, len(self.lines)) if self.lines[n].rstrip() == mark)
        if line[:1] in "|,:!" and line.rstrip()[1:] == "===":
            end = next(ends, len(self.lines))
            self._put_table(place, end, style)
            return end + 1
        if _BLOCK.match(line) and (end := next(ends, -1)) > 0:
            if line[0] == "_":
                self.lines[place + 1 : end] = (f"> {inner}" for inner in self.lines[place + 1 : end])
                self.lines[end] = "//"
                return place + 1
            if line[0] not in "+/":
                parts = [*style.split(","), ""]
                self.put_code(place + 1, end, parts[1].strip() if parts[0].strip() in ("source", "") else "")
            return end + 1
        if (block := _BLOCK_MARK.match(line)) is not None:
            self._style = block["style"]
            kind, *names = (part.strip(' "') for part in block["style"].split(","))
            if kind in ("quote", "verse") and names:
                self.put(", ".join(names), place)
            elif kind.isupper() and kind.isalpha():
                self.put(f"**{kind}**", place)
        elif not _NOTHING.match(line):
            self._put_line(line, place)
        return place + 1

    def _put_line(self, line: str, place: int) -> None:
        if (heading := re.match(r"(={1,6}|#{1,6})[ \t]+(\S.*)", line)) is not None:
            self.put_heading(heading[2], len(heading[1]), place)
        elif (attribute := _ATTRIBUTE.match(line)) is not None:
            key, value = attribute["key"], attribute["value"].strip()
            self.names[key] = value
            if not _LAYOUT_KEY.match(key):
                self.properties[{"revdate": "date", "revnumber": "version"}.get(key, key)] = value
                self.put(f"{key}: {self.show(value)}", place)
        elif (item := _ITEM.match(line)) is not None:
            mark = "1." if item["marks"][0] == "." else "-"
            text = f"{_BOX.get(item['box'] or '', '')}{self.show(line[item.end() :])}"
            self.put(f"{'  ' * (len(item['marks']) - 1)}{mark} {text}", place)
        else:
            if len(self.kept) in (1, 2) and self.title is not None and all(self.kept):
                self._take_head(line)
            for pattern, shown in _ADOC_LINES:
                line = pattern.sub(shown, line, count=1) if pattern.match(line) else line
            self.put(self.show(line), place)

    def _take_head(self, line: str) -> None:
        """The author, or the version and date, in a line below the title."""
        if "author" not in self.properties and (author := _AUTHOR.match(line)) is not None:
            self.properties["author"] = author["name"]
        elif (revision := _REVISION.match(line)) is not None:
            stated = {key: (revision[key] or "").strip() for key in ("version", "date")}
            self.properties |= {
                key: text for key, text in stated.items() if text and (key == "version" or parse_date(text))
            }

    def _put_table(self, place: int, end: int, style: str) -> None:
        """Adds the rows of a table; each cell begins with a bar."""
        columns = _WIDTH.search(style)
        width = (int(columns[2]) if columns[2] else columns[1].count(",") + 1) if columns else 0
        cells: list[tuple[int, str]] = []
        has_head = "header" in style
        for number in range(place + 1, end):
            line = self.lines[number]
            has_head = has_head or (not line.strip() and 0 < len(cells) <= (width or len(cells)))
            before, *others = _CELL.split(line)
            if before.strip() and cells:
                cells[-1] = cells[-1][0], f"{cells[-1][1]} {before.strip()}"
            cells += [(number, cell) for cell in others]
            width = width or len(cells)
        for first in range(0, len(cells), max(1, width)):
            self.put_row((cell for _, cell in cells[first : first + width]), cells[first][0])
            if not first and has_head:
                self.put("|" + "---|" * width, cells[first][0])


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())
