"""Where one types what to look for."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tui.actions import Where, bindings_of


class SearchField(Input):
    """One line that searches while typing."""

    PLACE: ClassVar[Where] = "finding"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(PLACE)

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False, id="search")
        self.cursor_blink = False
