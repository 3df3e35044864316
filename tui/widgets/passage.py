"""The passage a citation was taken from."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.passages import mark_quote
from tui.widgets.plain import Plain


class Passage(VerticalScroll, can_focus=False):
    """The whole passage, its quoted lines marked with a bar; above it a remark, if there is something to say."""

    def __init__(self) -> None:
        super().__init__(id="passage")

    def compose(self) -> ComposeResult:
        for part in ("remark", "before", "quoted", "after"):
            yield Plain(classes=part).hide()

    def show(self, cited: wire.Citation | None, remark: str = "") -> None:
        """Shows a citation's passage, or nothing. The quoted lines are scrolled into view."""
        passage, quote = (cited.passage or cited.quote, cited.quote) if cited else ("", "")
        # Made safe before it is searched: what is removed would shift the marks.
        marked = mark_quote(display_safe(passage), display_safe(quote))
        quoted = Content(marked.lines).stylize("bold", marked.start, marked.end)
        for part, text in (("remark", remark), ("before", marked.before), ("quoted", quoted), ("after", marked.after)):
            plain = self.query_one(f".{part}", Plain)
            plain.update(text)
            plain.display = bool(text)
        self.call_after_refresh(self._reveal)

    def _reveal(self) -> None:
        if self.query_one(".remark").display:
            self.scroll_home(animate=False)
        else:
            quoted = self.query_one(".quoted")
            self.scroll_to_widget(quoted, animate=False, top=quoted.region.height >= self.container_size.height)
