"""AsciiDoc, rewritten as Markdown line by line; every line keeps its number. Includes are not followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import Reader
from plugins.readers.markup.rewriting import RewrittenPage

_HEADING = re.compile(r"(?P<marks>={1,6}|#{1,6})[ \t]+(?P<text>\S.*)")
_ATTRIBUTE = re.compile(r":(?P<off>!?)(?P<key>[\w][\w-]{0,60})!?:(?:[ \t]+(?P<value>.*))?$")
_AUTHOR = re.compile(r"(?P<name>[^\W\d_][^<>:=\n]{1,80}?)(?:[ \t]+<(?P<mail>[^<>\s]{1,120})>)?[ \t]*$")
_REVISION = re.compile(r"(?:v?(?P<version>[\d.]+)(?:,[ \t]*|$))?(?P<date>\d[\w -]{5,30})?(?::.*)?$")
_BLOCK_MARK = re.compile(r"\[(?P<style>[^\[\],\n#.%]{0,40})(?P<rest>[^\n]*)\][ \t]*$")
_COLUMNS = re.compile(r"cols=(?:\"(?P<quoted>[^\"]{1,200})\"|(?P<bare>\d+))")
_FENCE = re.compile(r"(?:-{4,}|\.{4,}|```\w*)[ \t]*$")
_DELIMITER = re.compile(r"(?:={4,}|\*{4,}|--)[ \t]*$")
_QUOTE = re.compile(r"_{4,}[ \t]*$")
_OMITTED = re.compile(r"(?:\+{4,}|/{4,})[ \t]*$")  # passthrough and comment blocks
_TABLE = re.compile(r"[|,:!]={3,}[ \t]*$")
_NOTHING = re.compile(r"(?://(?!/)|(?:include|ifdef|ifndef|ifeval|endif|toc)::|'''[ \t]*$|<<<[ \t]*$|\+[ \t]*$)")
_TITLE = re.compile(r"\.(?P<text>[^\s.].*)")
_ADMONITION = re.compile(r"(?P<kind>NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)")
_KINDS = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_ITEM = re.compile(r"[ \t]*(?P<marks>\*{1,5}|\.{1,5}|-)[ \t]+(?:\[(?P<box>[ x*])\][ \t]+)?(?P<text>\S.*)")
_TERM = re.compile(r"(?P<term>[^\s:|][^:|\n]{0,80}?)(?:::{1,3}|;;)(?:[ \t]+(?P<text>.*))?$")
_CALLOUT = re.compile(r"<(?P<number>\d{1,2}|\.)>[ \t]+(?=\S)")
_IMAGE = re.compile(r"image::?(?P<file>[^\s\[\]:][^\s\[\]]{0,200})\[(?P<alt>[^\],\n]{0,200})[^\]\n]{0,200}\]")
_LINK = re.compile(r"(?:link:|xref:|(?=https?://))(?P<url>[^\s\[\]]{1,400})\[(?P<text>[^\[\]\n]{0,200})\]")
_CROSS = re.compile(r"<<(?P<id>[^<>,\n]{1,120})(?:,[ \t]*(?P<text>[^<>\n]{1,200}))?>>")
_MACRO = re.compile(r"(?:kbd|btn|menu|footnote|pass):\w{0,20}\[(?P<text>[^\[\]\n]{0,300})\]")
_BOLD = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*(?![\w*])")
_ANCHOR = re.compile(r"\[\[[^\[\]\n]{1,120}\]\]|\(\(\([^()\n]{1,120}\)\)\)")
_REFERENCE = re.compile(r"\{(?P<name>[a-z][\w-]{0,60})\}")
_LAYOUT_KEY = re.compile(
    r"(?:toc|sect|icons|source-|images|doctype|experimental|stem|idprefix|idseparator|pdf|css|style)"
)


class _Page(RewrittenPage):
    """Rewrites the lines of a page, one after the other."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(lines)
        self._attributes: dict[str, str] = {}
        self._style, self._columns = "", 0  # attributes of the next block

    def convert(self) -> None:
        place = self._read_head()
        while place < len(self.lines):
            place = self._take(place)

    def _read_head(self) -> int:
        """Reads title, author, revision and attributes; returns the place after them."""
        place = next((place for place, line in enumerate(self.lines) if line.strip()), 0)
        heading = _HEADING.match(self.lines[place])
        is_titled = heading is not None and len(heading["marks"]) == 1
        if not is_titled and _ATTRIBUTE.match(self.lines[place]) is None:
            return 0
        head_lines = 0 if is_titled else 2
        while place < len(self.lines) and self.lines[place].strip():
            line = self.lines[place]
            if (heading := _HEADING.match(line)) is not None:
                self.title = self._show(heading["text"])
                self.put(f"# {self.title}", place)
            elif (attribute := _ATTRIBUTE.match(line)) is not None:
                self._take_attribute(attribute, place)
            elif not line.startswith("//"):
                head_lines = self._take_author_or_revision(line, place, head_lines)
            place += 1
        return place

    def _take_author_or_revision(self, line: str, place: int, head_lines: int) -> int:
        author, revision = _AUTHOR.match(line), _REVISION.match(line)
        if head_lines == 0 and author is not None:
            self.properties["author"] = author["name"]
        elif head_lines <= 1 and revision is not None and (revision["version"] or revision["date"]):
            if revision["version"]:
                self.properties["version"] = revision["version"]
            if revision["date"] and parse_date(revision["date"].strip()):
                self.properties["date"] = revision["date"].strip()
        self.put(self._show(line), place)
        return head_lines + 1

    def _take_attribute(self, attribute: re.Match[str], place: int) -> None:
        key, value = attribute["key"], (attribute["value"] or "").strip()
        if attribute["off"] or not value:
            return
        self._attributes[key] = value
        if not _LAYOUT_KEY.match(key):
            self.properties[{"revdate": "date", "revnumber": "version"}.get(key, key)] = value
            self.put(f"{key}: {self._show(value)}", place)

    def _take(self, place: int) -> int:
        """Rewrites the block at one place; returns the place after it."""
        line = self.lines[place]
        if not line.strip():
            self.put("", place)
        elif (_OMITTED.match(line) or _FENCE.match(line)) and (end := self._find_end(place)) < len(self.lines):
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
        elif any(pattern.match(line) for pattern in (_DELIMITER, _NOTHING, _OMITTED, _FENCE)):
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
        if self._style.startswith(("quote,", "verse,")):
            self.put(", ".join(part.strip(' "') for part in self._style.split(",")[1:]), place)
        if mark["style"].strip() in _KINDS:
            self.put(f"**{mark['style'].strip().capitalize()}**", place)

    def _find_end(self, place: int) -> int:
        """The place of the delimiter that closes the block opened at this place, or the end of the page."""
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
        """Writes the rows of a table; each cell begins with a bar."""
        end = self._find_end(place)
        cells: list[tuple[int, str]] = []
        width, has_blank_after_first = self._columns, False
        for number in range(place + 1, end):
            line = self.lines[number]
            if not line.strip():
                has_blank_after_first = has_blank_after_first or 0 < len(cells) <= (width or len(cells))
                continue
            cell_texts = re.split(r"(?:(?<=\s)|^)(?:\d{1,3}(?:\.\d{1,3})?[+*])?[<^>.]{0,3}[a-z]?(?<!\\)\|", line)
            if cell_texts[0].strip() and cells:
                cells[-1] = cells[-1][0], f"{cells[-1][1]} {cell_texts[0].strip()}"
            cells += [(number, self._show(cell.strip())) for cell in cell_texts[1:]]
            width = width or len(cells)
        has_head = "header" in self._style or has_blank_after_first
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
            words = self._show(heading["text"]).strip()
            self.title = self.title or words
            return f"{'#' * len(heading['marks'])} {words}"
        if (admonition := _ADMONITION.match(line)) is not None:
            return f"**{admonition['kind'].capitalize()}:** {self._show(line[admonition.end() :])}"
        if (title := _TITLE.match(line)) is not None:
            return f"**{self._show(title['text'])}**"
        if (item := _ITEM.match(line)) is not None:
            indent = "  " * (len(item["marks"]) - 1)
            box = f"[{'x' if item['box'] in 'x*' else ' '}] " if item["box"] else ""
            return f"{indent}{'1.' if item['marks'][0] == '.' else '-'} {box}{self._show(item['text'])}"
        if (term := _TERM.match(line)) is not None:
            return f"{self._show(term['term'])}: {self._show(term['text'] or '')}".rstrip()
        if (callout := _CALLOUT.match(line)) is not None:
            return f"{callout['number'].replace('.', '1')}. {self._show(line[callout.end() :])}"
        return self._show(line)

    def _show(self, text: str) -> str:
        """A text with AsciiDoc marks replaced by those of Markdown."""
        text = text.rstrip()
        if "{" in text:
            text = _REFERENCE.sub(lambda match: self._attributes.get(match["name"], match[0]), text)
        if "[" in text:
            text = _IMAGE.sub(r"![\g<alt>](\g<file>)", _ANCHOR.sub("", text))
            text = _LINK.sub(
                _show_link, _MACRO.sub(lambda match: f" ({match[1]})" if match[0][0] == "f" else match[1], text)
            )
        if "<<" in text:
            text = _CROSS.sub(lambda match: match["text"] or match["id"].lstrip("_").replace("_", " "), text)
        return _BOLD.sub(r"**\1**", text).removesuffix(" +") if "*" in text else text.removesuffix(" +")


def _show_link(match: re.Match[str]) -> str:
    label = match["text"].partition(",")[0].rstrip("^").strip('"')
    return f"[{label}]({match['url']})" if label else match["url"]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("asciidoc", (".adoc", ".asciidoc"), "AsciiDoc", _Page.read, dates_parts=True))
