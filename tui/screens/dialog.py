"""The base of the windows over the chat."""

from __future__ import annotations

from typing import ClassVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget


class Hasty(Screen[ScreenResultType]):
    """A screen that survives early input: keys typed before its widgets are mounted only close it, and clicks on a
    removed widget are ignored; Textual would end the app."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (self.is_mounted or action == "dismiss") and super().check_action(action, parameters)

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        widget, offset = super().get_widget_and_offset_at(x, y)
        return (widget, offset) if widget is None or widget.is_attached else (None, None)


class Window(ModalScreen[ScreenResultType], Hasty[ScreenResultType]):
    """A window over a page, which closes once: a second key or click before it is closed would also close the page
    below."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if not self.is_mounted:
            self.call_later(self._close, result)
        elif self.is_active:
            return super().dismiss(result)
        return AwaitComplete()

    def _close(self, result: ScreenResultType | None) -> None:
        self.dismiss(result)


class Dialog(Window[ScreenResultType]):
    """A window over the chat. Ctrl+C leaves the chat from here too, where the app's own keys do not reach."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False)]

    def __init__(self) -> None:
        super().__init__()
        use_styles(self)


def use_styles(screen: Screen[ScreenResultType]) -> None:
    """Reuses the parsed styles for a new screen. Textual would parse all of them again, 30 ms."""
    screen._css_update_count = screen.app._css_update_count
