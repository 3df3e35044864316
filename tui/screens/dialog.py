"""What the windows over the chat have in common."""

from __future__ import annotations

from typing import ClassVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget


class Clickable(Screen[ScreenResultType]):
    """A screen on which a widget may be clicked that was taken away a moment ago and still stands on the terminal.
    Textual 8.2 would end the app for it."""

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        widget, offset = super().get_widget_and_offset_at(x, y)
        return (widget, offset) if widget is None or widget.is_attached else (None, None)


class Window(ModalScreen[ScreenResultType], Clickable[ScreenResultType]):
    """A window over a page, which is closed once: a second key or click that came before the first had closed it would
    take what lies below it away, Textual's last page included."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if self.is_active:
            return super().dismiss(result)
        return AwaitComplete()


class Dialog(Window[ScreenResultType]):
    """A window over the chat. Ctrl+C leaves the chat from here too, where the app's own keys do not reach."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False)]

    def __init__(self) -> None:
        super().__init__()
        use_styles(self)


def use_styles(screen: Screen[ScreenResultType]) -> None:
    """Takes the styles as they are for a new screen. Textual would parse all of them anew when it is shown, 30 ms."""
    screen._css_update_count = screen.app._css_update_count
