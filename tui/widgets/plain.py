"""Plain text, and Textual's lists with fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


_GAP = 3
_MANY = 10_000  # from here on thousands are enough


class Choices(Parts):
    """Words in a line, the selected one highlighted; a click selects. `choices`: name -> word. `changed` is called when
    a person selects another one."""

    def __init__(
        self, choices: Mapping[str, str], changed: Callable[[], object], number_style: str = "bold $text-warning"
    ) -> None:
        super().__init__(classes="choices")
        self._changed, self._number_style = changed, number_style
        self._choices = dict(choices)
        self._numbers: dict[str, int] = {}
        self.chosen = next(iter(self._choices))
        self._show()

    def choose(self, name: str) -> None:
        """Selects a word without a message."""
        self.chosen = name
        self._show()

    def choose_next(self, step: int = 1) -> None:
        """Selects the next word; after the last comes the first."""
        names = list(self._choices)
        self.choose(names[(names.index(self.chosen) + step) % len(names)])
        self._changed()

    def set_number(self, name: str, number: int) -> None:
        self._numbers[name] = number
        self._show()

    def _show(self) -> None:
        self.show_parts(((self._word(name, word), name) for name, word in self._choices.items()), " " * _GAP)

    def _word(self, name: str, word: str) -> Content:
        words = Content.styled(word, "bold $accent underline" if name == self.chosen else "$foreground-muted")
        number = self._numbers.get(name)
        return words + Content.styled(f" {_shorten(number)}", self._number_style) if number else words

    async def choose_part(self, name: str) -> None:
        if name != self.chosen:
            self.choose(name)
            self._changed()


def _shorten(number: int) -> str:
    return f"{number:,}" if number < _MANY else f"{number // 1000:,}k"
