"""An answer's Markdown.

Importing this takes 60 ms of CPU, so it is imported with the first answer and not when the chat opens.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from textual.widgets import Markdown

CITE = "cite:"
_FENCE = re.compile(r"```|~~~")
_MARK = re.compile(r"\[(\d{1,3})\](?![(:\[])")
_WIKI = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")


class Prose(Markdown):
    """Markdown in which `[1]` links to the first citation, and `[[Note|words]]` shows the words. HTML is text, and no
    link opens by itself."""

    def __init__(self, markdown: str | None = None) -> None:
        super().__init__(markdown, parser_factory=_parser, open_links=False)

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


def _parser() -> MarkdownIt:
    parser = MarkdownIt("gfm-like", {"html": False})
    parser.inline.ruler.before("link", "cite", _cite)
    parser.inline.ruler.before("link", "wiki", _wiki)
    return parser


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
    """A wiki link: shown without a target."""
    link = _WIKI.match(state.src, state.pos)
    if link is None:
        return False
    if not silent:
        state.push("em_open", "em", 1)
        state.push("text", "", 0).content = link[1]
        state.push("em_close", "em", -1)
    state.pos = link.end()
    return True
