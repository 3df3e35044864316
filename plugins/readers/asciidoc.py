"""AsciiDoc, rewritten as Markdown line by line, so that every line keeps its number. No file is included."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import Reader
from plugins.readers.decode import text_of
from plugins.readers.rewriting import RewrittenPage

_HEADING = re.compile(r"(?P<marks>={1,6}|#{1,6})[ \t]+(?P<said>\S.*)")
_ATTRIBUTE = re.compile(r":(?P<off>!?)(?P<key>[\w][\w-]{0,60})!?:(?:[ \t]+(?P<value>.*))?$")
_AUTHOR = re.compile(r"(?P<name>[^\W\d_][^<>:=\n]{1,80}?)(?:[ \t]+<(?P<mail>[^<>\s]{1,120})>)?[ \t]*$")
_REVISION = re.compile(r"(?:v?(?P<version>[\d.]+)(?:,[ \t]*|$))?(?P<date>\d[\w -]{5,30})?(?::.*)?$")
_BLOCK_MARK = re.compile(r"\[(?P<style>[^\[\],\n#.%]{0,40})(?P<rest>[^\n]*)\][ \t]*$")
_COLUMNS = re.compile(r"cols=(?:\"(?P<quoted>[^\"]{1,200})\"|(?P<bare>\d+))")
_FENCE = re.compile(r"(?:-{4,}|\.{4,}|```\w*)[ \t]*$")
_DELIMITER = re.compile(r"(?:={4,}|\*{4,}|--)[ \t]*$")
_QUOTE = re.compile(r"_{4,}[ \t]*$")
_LEFT_OUT = re.compile(r"(?:\+{4,}|/{4,})[ \t]*$")  # passed on as it is, and commented out
_TABLE = re.compile(r"[|,:!]={3,}[ \t]*$")
_NOTHING = re.compile(r"(?://(?!/)|(?:include|ifdef|ifndef|ifeval|endif|toc)::|'''[ \t]*$|<<<[ \t]*$|\+[ \t]*$)")
_TITLE = re.compile(r"\.(?P<said>[^\s.].*)")
_ADMONITION = re.compile(r"(?P<kind>NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)")
_KINDS = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_ITEM = re.compile(r"[ \t]*(?P<marks>\*{1,5}|\.{1,5}|-)[ \t]+(?:\[(?P<box>[ x*])\][ \t]+)?(?P<said>\S.*)")
_TERM = re.compile(r"(?P<term>[^\s:|][^:|\n]{0,80}?)(?:::{1,3}|;;)(?:[ \t]+(?P<said>.*))?$")
_CALLOUT = re.compile(r"<(?P<number>\d{1,2}|\.)>[ \t]+(?=\S)")
_IMAGE = re.compile(r"image::?(?P<file>[^\s\[\]:][^\s\[\]]{0,200})\[(?P<alt>[^\],\n]{0,200})[^\]\n]{0,200}\]")
_LINK = re.compile(r"(?:link:|xref:|(?=https?://))(?P<url>[^\s\[\]]{1,400})\[(?P<said>[^\[\]\n]{0,200})\]")
_CROSS = re.compile(r"<<(?P<id>[^<>,\n]{1,120})(?:,[ \t]*(?P<said>[^<>\n]{1,200}))?>>")
_MACRO = re.compile(r"(?:kbd|btn|menu|footnote|pass):\w{0,20}\[(?P<said>[^\[\]\n]{0,300})\]")
_BOLD = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*(?![\w*])")
_ANCHOR = re.compile(r"\[\[[^\[\]\n]{1,120}\]\]|\(\(\([^()\n]{1,120}\)\)\)")
_REFERENCE = re.compile(r"\{(?P<name>[a-z][\w-]{0,60})\}")
_OF_THE_LOOK = re.compile(
    r"(?:toc|sect|icons|source-|images|doctype|experimental|stem|idprefix|idseparator|pdf|css|style)"
)


def read(path: Path, data: bytes) -> list[Document]:
    page = _Page(text_of(data).split("\n"))
    page.convert()
    return [page.close()]


class _Page(RewrittenPage):
    """The lines of a page, taken one after the other."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(lines)
        self._attributes: dict[str, str] = {}
        self._style, self._columns = "", 0  # what the line above a block says of it

    def convert(self) -> None:
        place = self._read_head()
        while place < len(self.lines):
            place = self._take(place)

    def _read_head(self) -> int:
        """The place behind the title with its author, revision and attributes."""
        place = next((place for place, line in enumerate(self.lines) if line.strip()), 0)
        heading = _HEADING.match(self.lines[place])
        is_titled = heading is not None and len(heading["marks"]) == 1
        if not is_titled and _ATTRIBUTE.match(self.lines[place]) is None:
            return 0
        told = 0 if is_titled else 2
        while place < len(self.lines) and self.lines[place].strip():
            line = self.lines[place]
            if (heading := _HEADING.match(line)) is not None:
                self.title = self._show(heading["said"])
                self.put(f"# {self.title}", place)
            elif (attribute := _ATTRIBUTE.match(line)) is not None:
                self._take_attribute(attribute, place)
            elif not line.startswith("//"):
                told = self._take_author_or_revision(line, place, told)
            place += 1
        return place

    def _take_author_or_revision(self, line: str, place: int, told: int) -> int:
        author, revision = _AUTHOR.match(line), _REVISION.match(line)
        if told == 0 and author is not None:
            self.properties["author"] = author["name"]
        elif told <= 1 and revision is not None and (revision["version"] or revision["date"]):
            if revision["version"]:
                self.properties["version"] = revision["version"]
            if revision["date"] and parse_date(revision["date"].strip()):
                self.properties["date"] = revision["date"].strip()
        self.put(self._show(line), place)
        return told + 1

    def _take_attribute(self, found: re.Match[str], place: int) -> None:
        key, value = found["key"], (found["value"] or "").strip()
        if found["off"] or not value:
            return
        self._attributes[key] = value
        if not _OF_THE_LOOK.match(key):
            self.properties[{"revdate": "date", "revnumber": "version"}.get(key, key)] = value
            self.put(f"{key}: {self._show(value)}", place)

    def _take(self, place: int) -> int:
        """Keeps what is said from one place on; the place behind it."""
        line = self.lines[place]
        if not line.strip():
            self.put("", place)
        elif (_LEFT_OUT.match(line) or _FENCE.match(line)) and (end := self._find_end(place)) < len(self.lines):
            return self._put_fence(place, end) if _FENCE.match(line) else end + 1
        elif _TABLE.match(line):
            return self._put_table(place)
        elif _QUOTE.match(line):
            end = self._find_end(place)
            for number in range(place + 1, end):
                self.put(f"> {self._show(self.lines[number])}", number)
            return end + 1
        elif (mark := _BLOCK_MARK.match(line)) is not None:
            self._take_mark(mark, place)
            return place + 1
        elif any(pattern.match(line) for pattern in (_DELIMITER, _NOTHING, _LEFT_OUT, _FENCE)):
            return place + 1
        elif (attribute := _ATTRIBUTE.match(line)) is not None:
            self._take_attribute(attribute, place)
        else:
            self.put(self._rewrite(line), place)
        self._style, self._columns = "", 0
        return place + 1

    def _take_mark(self, mark: re.Match[str], place: int) -> None:
        self._style = f"{mark['style']}{mark['rest']}"
        columns = _COLUMNS.search(mark["rest"]) or _COLUMNS.search(mark["style"])
        if columns is not None:
            self._columns = int(columns["bare"]) if columns["bare"] else columns["quoted"].count(",") + 1
        if mark["style"].strip() in _KINDS:
            self.put(f"**{mark['style'].strip().capitalize()}**", place)

    def _find_end(self, place: int) -> int:
        """The place of the delimiter that ends the block that the one at this place begins, or the end of the page."""
        mark = self.lines[place].rstrip()
        mark = "```" if mark.startswith("```") else mark
        ends = (number for number in range(place + 1, len(self.lines)) if self.lines[number].rstrip() == mark)
        return next(ends, len(self.lines))

    def _put_fence(self, place: int, end: int) -> int:
        style = self._style.split(",")
        language = style[1].strip() if len(style) > 1 and style[0].strip() in ("source", "") else ""
        self.put_code(self.lines[place + 1 : end], place + 1, language)
        self._style = ""
        return end + 1

    def _put_table(self, place: int) -> int:
        """The rows of a table, each cell of which begins with a bar."""
        end = self._find_end(place)
        cells: list[tuple[int, str]] = []
        width, blank_behind_first = self._columns, False
        for number in range(place + 1, end):
            line = self.lines[number]
            if not line.strip():
                blank_behind_first = blank_behind_first or 0 < len(cells) <= (width or len(cells))
                continue
            found = re.split(r"(?:(?<=\s)|^)(?:\d{1,3}(?:\.\d{1,3})?[+*])?[<^>.]{0,3}[a-z]?(?<!\\)\|", line)
            if found[0].strip() and cells:
                cells[-1] = cells[-1][0], f"{cells[-1][1]} {found[0].strip()}"
            cells += [(number, self._show(cell.strip())) for cell in found[1:]]
            width = width or len(cells)
        has_head = "header" in self._style or blank_behind_first
        for row, first in enumerate(range(0, len(cells), max(1, width))):
            part = cells[first : first + width]
            self.put(f"| {' | '.join(cell for _, cell in part)} |", part[0][0])
            if row == 0 and has_head:
                self.put("|" + "---|" * width, part[0][0])
        self._style, self._columns = "", 0
        return end + 1

    def _rewrite(self, line: str) -> str:
        """A line of text as Markdown."""
        if (heading := _HEADING.match(line)) is not None:
            words = self._show(heading["said"]).strip()
            self.title = self.title or words
            return f"{'#' * len(heading['marks'])} {words}"
        if (admonition := _ADMONITION.match(line)) is not None:
            return f"**{admonition['kind'].capitalize()}:** {self._show(line[admonition.end() :])}"
        if (title := _TITLE.match(line)) is not None:
            return f"**{self._show(title['said'])}**"
        if (item := _ITEM.match(line)) is not None:
            indent = "  " * (len(item["marks"]) - 1)
            box = f"[{'x' if item['box'] in 'x*' else ' '}] " if item["box"] else ""
            return f"{indent}{'1.' if item['marks'][0] == '.' else '-'} {box}{self._show(item['said'])}"
        if (term := _TERM.match(line)) is not None:
            return f"{self._show(term['term'])}: {self._show(term['said'] or '')}".rstrip()
        if (callout := _CALLOUT.match(line)) is not None:
            return f"{callout['number'].replace('.', '1')}. {self._show(line[callout.end() :])}"
        return self._show(line)

    def _show(self, said: str) -> str:
        """Words with the marks of Markdown in place of those of AsciiDoc."""
        said = said.rstrip()
        if "{" in said:
            said = _REFERENCE.sub(lambda found: self._attributes.get(found["name"], found[0]), said)
        if "[" in said:
            said = _IMAGE.sub(r"![\g<alt>](\g<file>)", _ANCHOR.sub("", said))
            said = _LINK.sub(
                _show_link, _MACRO.sub(lambda found: f" ({found[1]})" if found[0][0] == "f" else found[1], said)
            )
        if "<<" in said:
            said = _CROSS.sub(lambda found: found["said"] or found["id"].lstrip("_").replace("_", " "), said)
        return _BOLD.sub(r"**\1**", said).removesuffix(" +") if "*" in said else said.removesuffix(" +")


def _show_link(found: re.Match[str]) -> str:
    said = found["said"].partition(",")[0].rstrip("^").strip('"')
    return f"[{said}]({found['url']})" if said else found["url"]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("asciidoc", (".adoc", ".asciidoc"), "AsciiDoc", read, dates_parts=True))
