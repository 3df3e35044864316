"""Text that is shown as it is."""

from __future__ import annotations

from typing import Self

from textual.content import Content
from textual.style import Style
from textual.visual import VisualType
from textual.widgets import Static

from daemon.terminal import display_safe


class Plain(Static):
    """Any text of the chat but the answers: nothing in it is markup, and no terminal obeys it."""

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_safe(text), id=id, classes=classes, markup=False)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        safe = _safe(content)
        if not _is_same(safe, self.content):  # else the whole screen would be laid out for nothing
            super().update(safe, layout=layout)

    def hide(self) -> Self:
        """The same, not on the screen until `display` is set."""
        self.display = False
        return self

    @property
    def text(self) -> str:
        """What it says."""
        return str(self.content)


def link_text(text: str, link: str | None) -> Content:
    """Text that leads to an address of ours when it is clicked with the key that the terminal wants for it."""
    return Content.styled(text, Style(link=link)) if link else Content(text)


def _is_same(one: VisualType, other: VisualType) -> bool:
    if isinstance(one, Content) and isinstance(other, Content):
        return one.is_same(other)
    return isinstance(one, str) and isinstance(other, str) and one == other


def _safe(text: VisualType) -> VisualType:
    if isinstance(text, Content):
        return Content(display_safe(text.plain), list(text.spans)) if text.plain != display_safe(text.plain) else text
    return display_safe(text) if isinstance(text, str) else text
