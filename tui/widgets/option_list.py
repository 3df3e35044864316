"""Textual's list of options."""

from __future__ import annotations

from textual.widgets import OptionList


class Options(OptionList):
    """A list whose Page keys do nothing without space, as before layout or on a terminal of few lines: Textual's list
    ends the app then."""

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]
