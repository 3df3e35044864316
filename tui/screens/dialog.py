"""What the windows over the chat have in common."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """A window over the chat. Ctrl+C leaves the chat from here too, where the app's own keys do not reach."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False)]

    def __init__(self) -> None:
        super().__init__()
        use_styles(self)


def use_styles(screen: Screen[ScreenResultType]) -> None:
    """Takes the styles as they are for a new screen. Textual would parse all of them anew when it is shown, 30 ms."""
    screen._css_update_count = screen.app._css_update_count
