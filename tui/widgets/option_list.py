"""Textual's list of options."""

from __future__ import annotations

from textual.widgets import OptionList


class Options(OptionList):
    """A list whose Page keys do nothing while it has no room, as before it is laid out or on a terminal of few lines:
    Textual's has no line to go to then, and ends the app."""

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]
