"""An answer's Markdown.

Importing this takes 60 ms of CPU, so it is imported with the first answer and not when the chat opens.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise, zip_longest

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from daemon.terminal import display_safe

CITE = "cite:"
WRAPPED = 60  # columns, which the longest line of wrapped prose has at least
_FENCE = re.compile(r"```|~~~")
_ROWS = re.compile(r"(?:^[ \t]*\|.*\|[ \t]*(?:\n|\Z))+", re.MULTILINE)
_CELL_END = re.compile(r"(?<!\\)\|")
_RULER = re.compile(r"[\s|:-]+")
_MARK = re.compile(r"\[(\d{1,3})\](?![(:\[])")
_WIKI = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")


class Prose(Markdown):
    """Markdown in which `[1]` links to the first citation, and `[[Note|words]]` shows the words. HTML is text, and no
    link opens by itself."""

    def __init__(self, *, cites: bool = True, classes: str | None = None) -> None:
        """With `cites` a number in brackets is a citation: in an answer, not in a note."""
        super().__init__(classes=classes, parser_factory=partial(_parser, cites), open_links=False)

    def stress(self, words: str) -> None:
        """Shows words in bold, if one paragraph, heading or item has all of them."""
        pattern = re.compile(r"\s+".join(map(re.escape, words.split())))
        for block in self.query(MarkdownBlock):
            content = block._content
            if words and (match := pattern.search(content.plain)):
                block.set_content(content.stylize("bold", *match.span()))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Copies a link of a note, never opens it; a citation goes to its answer."""
        if not event.href.startswith(CITE):
            event.stop()
            self.app.copy_to_clipboard(display_safe(event.href))
            self.notify(f"Link copied: {display_safe(event.href, line=True)}", markup=False)

    async def extend(self, text: str) -> None:
        if self.is_attached:  # else the chat is being left
            await self.append(text)

    async def complete(self, text: str) -> None:
        """Shows the whole text. Text that was streamed stays, unless it contains code: a fence that arrives in pieces
        breaks."""
        if not self.is_attached:
            return
        written = self.source
        if not written or _FENCE.search(text) or not (text.startswith(written) or text.rstrip() == written.rstrip()):
            await self.update(text)
        elif remainder := text[len(written) :]:
            await self.append(remainder)


def fit_tables(text: str, width: int) -> str:
    """Markdown whose tables have a head and fit in `width`: a wider one is a list of its rows, each cell after its
    column's name. What lays out a document writes rows alone, and a passage may begin in the middle of a table."""

    def fit(match: re.Match[str]) -> str:
        rows = match[0].splitlines()
        is_headed = len(rows) > 1 and _RULER.fullmatch(rows[1]) is not None
        cells = [[cell.strip() for cell in _CELL_END.split(row.strip())[1:-1]] for row in rows]
        columns = list(zip_longest(*cells, fillvalue=""))
        if sum(max(map(len, column)) + 3 for column in columns) >= width:
            head, body = (cells[0], cells[2:]) if is_headed else ([], cells)
            named = (zip_longest(head, row, fillvalue="") for row in body)
            return "".join(
                f"- {'; '.join(': '.join(filter(None, pair)) for pair in row if pair[1])}\n" for row in named
            )
        if is_headed:
            return match[0]
        missing = len(columns) - len(cells[0])
        return "\n".join([rows[0].rstrip() + " |" * missing, "|" + "---|" * len(columns), *rows[1:], ""])

    return _ROWS.sub(fit, text)


def _parser(cites: bool) -> MarkdownIt:
    parser = MarkdownIt("gfm-like", {"html": False})
    if cites:
        parser.inline.ruler.before("link", "cite", _cite)
    else:
        parser.core.ruler.push("breaks", _keep_lines)
    parser.inline.ruler.before("link", "wiki", _wiki)
    return parser


def _keep_lines(state: StateCore) -> None:
    """Keeps the line breaks of a note, except in hard-wrapped prose, where the next word did not fit."""
    for token in state.tokens:
        lines = token.content.split("\n")
        width = max(map(len, lines))
        ends = [len(line) + len(after.split(" ", 1)[0]) < width for line, after in pairwise(lines)]
        breaks = [child for child in token.children or () if child.type in ("softbreak", "hardbreak")]
        for child, is_end in zip(breaks, ends, strict=False):
            if child.type == "softbreak" and (is_end or width < WRAPPED):
                child.type = "hardbreak"


def _cite(state: StateInline, silent: bool) -> bool:
    mark = _MARK.match(state.src, state.pos)
    if mark is None:
        return False
    if not silent:
        state.push("link_open", "a", 1).attrs = {"href": CITE + mark[1]}
        state.push("text", "", 0).content = mark[0]
        state.push("link_close", "a", -1)
    state.pos = mark.end()
    return True


def _wiki(state: StateInline, silent: bool) -> bool:
    """Renders a wiki link without a target."""
    link = _WIKI.match(state.src, state.pos)
    if link is None:
        return False
    if not silent:
        state.push("em_open", "em", 1)
        state.push("text", "", 0).content = link[1]
        state.push("em_close", "em", -1)
    state.pos = link.end()
    return True
