"""reStructuredText, rewritten as Markdown line by line; every line keeps its number. Includes are not followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from plugins.hookspecs import hookimpl
from plugins.readers import Reader
from plugins.readers.markup.rewriting import RewrittenPage

_RULE = re.compile(r"([!-/:-@[-`{-~])\1*\s*$")
_FIELD = re.compile(r"(?P<indent>\s*):(?P<key>[^:\s][^:\n]{0,60}):(?:\s+(?P<value>.*))?$")
_DIRECTIVE = re.compile(
    r"(?P<indent>\s*)\.\.\s+(?:\|(?P<name>[^|\n]{1,80})\|\s+)?(?P<kind>[\w:-]+)::(?:\s+(?P<text>.*))?$"
)
_EXPLICIT = re.compile(r"(?P<indent>\s*)\.\.(?:\s+(?P<text>.*))?$")
_TARGET = re.compile(r"_`?(?P<name>[^`\n]{1,120}?)`?:(?:\s+(?P<url>\S+))?$")
_FOOTNOTE = re.compile(r"\[(?P<name>[^\]\n]{1,60})\]\s+(?P<text>.*)")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_COLUMNS = re.compile(r"\s*=+(?:\s+=+)+\s*$")
_LINK = re.compile(r"`(?P<text>[^`<>\n]{1,200}?)\s*<(?P<url>[^`<>\s]{1,400})>`__?")
_ROLE = re.compile(r":[\w:+.-]{1,40}:`(?P<text>[^`<>\n]{1,200}?)(?:\s*<[^`<>\n]{1,200}>)?`")
_NAMED = re.compile(r"`(?P<quoted>[^`\n]{1,120})`__?|(?<![\w`])(?P<word>[^\W_][\w.-]{0,60}?)_(?![\w`])")
_MARK = re.compile(r"^(\s*)(?::([^:\s`][^:\n`]{0,60}):|#\.)(?=\s|$)")  # of a field, of a numbered item
_LITERAL = re.compile(r"``([^`\n]{1,400})``")
_SUBSTITUTE = re.compile(r"\|(?P<name>[^|\s][^|\n]{0,80})\|_?")

_ADMONITIONS = frozenset(
    "note warning tip important caution danger hint attention error seealso admonition topic sidebar todo"
    " versionadded versionchanged deprecated rubric".split()
)
_CODE = frozenset("code code-block sourcecode parsed-literal math doctest ipython prompt mermaid graphviz".split())
_OMITTED = frozenset(  # about other files, layout or no text
    "include literalinclude raw contents meta role default-role highlight index sectnum target-notes".split()
)
_NAMELESS = frozenset(  # the argument is for the program, the body is text
    "only ifconfig container class rst-class compound tabularcolumns currentmodule list-table".split()
)
_PICTURES = frozenset(("image", "figure"))


class _Page(RewrittenPage):
    """Rewrites the lines of a page, one after the other."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(lines)
        self._levels: list[tuple[str, bool]] = []  # (rule, has one above) by level
        self._urls, self._substitutes = _find_names(lines)

    def convert(self) -> None:
        place, is_head = 0, True
        while place < len(self.lines):
            line = self.lines[place]
            if (heading := self._put_heading(place)) is not None:
                place = heading
                continue
            if is_head and (field := _FIELD.match(line)) is not None and not field["indent"]:
                self.properties.setdefault(field["key"].lower(), self._show(field["value"] or "").strip())
            elif line.strip() and self.title is not None and not _EXPLICIT.match(line):
                is_head = False
            place = self._take(place, line)

    def _take(self, place: int, line: str) -> int:
        """Rewrites the block at one place; returns the place after it."""
        if (directive := _DIRECTIVE.match(line)) is not None:
            return self._put_directive(place, directive)
        if (explicit := _EXPLICIT.match(line)) is not None:
            return self._put_explicit(place, explicit)
        if _GRID.match(line):
            return self._put_grid(place)
        if _COLUMNS.match(line):
            return self._put_columns(place)
        if line.startswith(">>>"):
            end = place
            while end < len(self.lines) and self.lines[end].strip():
                end += 1
            return self._put_fence(place, end)
        if _RULE.match(line) and len(line.strip()) > 3:  # a transition
            return place + 1
        text = self._show(line)
        if line.rstrip().endswith("::"):
            self.put(text.rstrip()[:-1] if text.rstrip() != "::" else "", place)
            end = self._find_end(place + 1, _count_indent(line))
            return self._put_fence(place + 1, end) if end > place + 1 else end
        self.put(text, place)
        return place + 1

    def _put_heading(self, place: int) -> int | None:
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
        words = self._show(title.strip())
        self.title = self.title or words
        self.put(f"{'#' * min(6, self._levels.index(style) + 1)} {words}", title_at)
        return title_at + 2

    def _put_directive(self, place: int, directive: re.Match[str]) -> int:
        kind, argument = directive["kind"].lower().rpartition(":")[2], self._show(directive["text"] or "").strip()
        indent = len(directive["indent"])
        end = self._find_end(place + 1, indent)
        body = place + 1
        options: dict[str, str] = {}
        while body < end and (option := _FIELD.match(self.lines[body])) is not None:
            options[option["key"].lower()] = option["value"] or ""
            body += 1
        if kind in _OMITTED or directive["name"]:
            return end
        if kind in _CODE:
            return self._put_fence(body, end, argument)
        if kind in _PICTURES:
            self.put(f"![{self._show(options.get('alt', ''))}]({argument})", place)
        elif kind == "toctree":
            for number in range(body, end):
                entry = self.lines[number].strip()
                if entry:
                    self.put(f"- [[{entry.partition('<')[2].rstrip('>') or entry}]]", number)
            return end
        elif kind in _ADMONITIONS:
            has_title = kind in ("admonition", "topic", "sidebar", "rubric")
            name = argument if has_title and argument else kind.capitalize()
            self.put(f"**{name}:** {argument}" if argument and not has_title else f"**{name}**", place)
        elif argument and kind not in _NAMELESS:
            self.put(f"**{argument}**", place)
        self._put_inner(body, end)
        return end

    def _put_inner(self, begin: int, end: int) -> None:
        """Adds the body of a directive without its indent."""
        inner = self.lines[begin:end]
        left = min((_count_indent(line) for line in inner if line.strip()), default=0)
        part = _Page([line[left:] for line in inner])
        part._urls, part._substitutes, part._levels = self._urls, self._substitutes, self._levels
        part.title, part.properties = self.title or "", {}
        part.convert()
        self.kept += part.kept
        self.numbers += [number + begin for number in part.numbers]

    def _put_explicit(self, place: int, explicit: re.Match[str]) -> int:
        """Adds a footnote; targets and comments are dropped."""
        end = self._find_end(place + 1, len(explicit["indent"]))
        footnote = _FOOTNOTE.match(explicit["text"] or "")
        if footnote is not None:
            self.put(f"[{footnote['name'].lstrip('#')}] {self._show(footnote['text'])}", place)
            self._put_inner(place + 1, end)
        elif not explicit["text"] and self._is_blank(place + 1):  # an empty comment has no body
            return place + 1
        return end

    def _is_blank(self, place: int) -> bool:
        return place >= len(self.lines) or not self.lines[place].strip()

    def _find_end(self, place: int, indent: int) -> int:
        """The place after the deeper indented lines, without trailing blank ones."""
        end = place
        while place < len(self.lines) and (not self.lines[place].strip() or _count_indent(self.lines[place]) > indent):
            place += 1
            if self.lines[place - 1].strip():
                end = place
        return end

    def _put_fence(self, begin: int, end: int, language: str = "") -> int:
        inner = self.lines[begin:end]
        first = next((number for number, line in enumerate(inner) if line.strip()), len(inner))
        if first == len(inner):
            return end
        left = min(_count_indent(line) for line in inner if line.strip())
        self.put_code([line[left:] for line in inner[first:]], begin + first, language.split(" ")[0])
        return end

    def _put_grid(self, place: int) -> int:
        """Adds a table with borders."""
        begun = False
        while place < len(self.lines) and self.lines[place].strip()[:1] in ("+", "|"):
            line = self.lines[place].strip()
            if line.startswith("|"):
                self.put(self._show(line), place)
                begun = True
            elif begun and "=" in line:
                self.put("|" + "---|" * (line.count("+") - 1), place)
            place += 1
        return place

    def _put_columns(self, place: int) -> int:
        """Adds a table whose columns are marked by rules."""
        rule = self.lines[place]
        starts = [match.start() for match in re.finditer(r"=+", rule)]
        rules = 1
        place += 1
        while place < len(self.lines) and rules < 3:
            line = self.lines[place]
            if _COLUMNS.match(line):
                rules += 1
                if self._is_blank(place + 1) or rules == 3:
                    return place + 1
                self.put("|" + "---|" * len(starts), place)
            elif line.strip() and not re.fullmatch(r"[\s-]+", line):
                cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
                self.put(f"| {' | '.join(self._show(cell) for cell in cells)} |", place)
            place += 1
        return place

    def _show(self, line: str) -> str:
        """A line with reStructuredText marks replaced by those of Markdown."""
        if line.startswith("| "):
            line = line if line.rstrip().endswith("|") else line[2:]
        if "|" in line and self._substitutes:
            line = _SUBSTITUTE.sub(lambda match: self._substitutes.get(match["name"], match[0]), line)
        if "`" in line or "_" in line:
            line = _LINK.sub(r"[\g<text>](\g<url>)", line)
            line = _ROLE.sub(lambda match: match["text"].lstrip("~!"), line)
            pieces = re.split(r"(``[^`\n]{1,400}``)", line)
            line = "".join(
                part if place % 2 else _NAMED.sub(self._show_link, part) for place, part in enumerate(pieces)
            )
            line = _LITERAL.sub(r"`\1`", line)
        return _MARK.sub(lambda match: f"{match[1]}{match[2]}:" if match[2] else f"{match[1]}1.", line)

    def _show_link(self, match: re.Match[str]) -> str:
        name = match["quoted"] or match["word"]
        url = self._urls.get(name.lower())
        if url:
            return f"[{name}]({url})"
        return name if match["quoted"] or url == "" else match[0]


def _find_names(lines: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """(target name -> url, "" inside the page; substitution name -> text)."""
    urls: dict[str, str] = {}
    substitutes: dict[str, str] = {}
    for line in lines:
        if not line.lstrip().startswith(".. "):
            continue
        if (directive := _DIRECTIVE.match(line)) is not None:
            if directive["name"] and directive["kind"] == "replace":
                substitutes[directive["name"]] = directive["text"] or ""
        elif (target := _TARGET.match(line.lstrip()[3:])) is not None:
            urls[target["name"].lower()] = target["url"] or ""
    return urls, substitutes


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("rst", (".rst", ".rest"), "reStructuredText", _Page.read, dates_parts=True))
