"""Plain text, and Textual's lists with fixes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Self

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.style import Style
from textual.visual import VisualType
from textual.widgets import OptionList, Static

from daemon.terminal import display_safe
from tui.actions import bindings_of


class Plain(Static):
    """All text of the chat except answers: without markup or control characters."""

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_escape(text), id=id, classes=classes, markup=False)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        safe = _escape(content)
        if not _is_same(safe, self.content):  # else the whole screen would be laid out for nothing
            super().update(safe, layout=layout)

    def hide(self) -> Self:
        """Hides it until `display` is set."""
        self.display = False
        return self

    @property
    def text(self) -> str:
        return str(self.content)


class Parts(Plain):
    """A line of parts; a click on one calls `choose_part` with its name, if it has one."""

    _parts: tuple[tuple[range, str], ...] = ()

    def show_parts(self, parts: Iterable[tuple[Content, str]], gap: str) -> None:
        """Shows parts, each with its name, with a gap between them."""
        text, places = Content(), []
        for part, name in parts:
            text += gap * bool(text)
            places.append((range(len(text), len(text) + len(part)), name))
            text += part
        self._parts = tuple(places)
        self.update(text)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for span, name in self._parts:
            if name and offset is not None and offset.x in span:
                await self.choose_part(name)

    async def choose_part(self, name: str) -> None:
        raise NotImplementedError


def link_text(text: str, link: str | None) -> Content:
    """Returns text with a trusted link, opened with the terminal's modifier and a click."""
    return Content.styled(text, Style(link=link)) if link else Content(text)


def _is_same(first: VisualType, second: VisualType) -> bool:
    if isinstance(first, Content) and isinstance(second, Content):
        return first.is_same(second)
    return isinstance(first, str) and isinstance(second, str) and first == second


def _escape(text: VisualType) -> VisualType:
    if isinstance(text, Content):
        return Content(display_safe(text.plain), list(text.spans)) if text.plain != display_safe(text.plain) else text
    return display_safe(text) if isinstance(text, str) else text


class Options(OptionList, inherit_bindings=False):
    """A list whose Page keys do nothing without space, as before layout or on a terminal of few lines: Textual's list
    ends the app then."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("list"), Binding("enter", "select", show=False)]

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]
