"""One fact with the lines around it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from daemon.terminal import display_safe
from tui.passages import mark_quote
from tui.widgets.plain import Plain

PARTS = ("heading", "statement", "place", "before", "quoted", "after")
AROUND = 4  # lines shown before the quoted ones, and after them


class FactView(VerticalScroll):
    """A fact's heading, text, source and date; below it the lines around its words, which are highlighted."""

    def __init__(self, side: str) -> None:
        super().__init__(id=side, classes="side")

    def compose(self) -> ComposeResult:
        for part in PARTS:
            yield Plain(classes=part)

    def show(self, heading: str, statement: Content, place: str, quote: str, passage: str | None) -> None:
        """Shows a fact; `passage` is None while unknown or if deleted."""
        # Made safe before it is searched: removed characters would shift the marks.
        marked = mark_quote(display_safe(passage or quote), display_safe(quote))
        if not marked.lines and passage:
            marked = mark_quote(display_safe(quote), display_safe(quote))
        quoted = Content(marked.lines).stylize("bold", marked.start, marked.end)
        before = "\n".join(marked.before.splitlines()[-AROUND:])
        after = "\n".join(marked.after.splitlines()[:AROUND])
        texts: tuple[str | Content, ...] = (heading, statement, place, before, quoted, after)
        for part, text in zip(PARTS, texts, strict=True):
            plain = self.query_one(f".{part}", Plain)
            plain.update(text)
            plain.display = bool(text)
        self.scroll_home(animate=False)
