"""The questions that wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.inquiry import Inquiry
from tui.widgets.option_list import Options


class Waiting(Options):
    """Waiting questions above the prompt, in order."""

    PLACE: ClassVar[Where] = "queue"
    BINDINGS = bindings_of(PLACE)

    @dataclass
    class Removed(Message):
        """A person removes the question at this place from the queue; with `edit`, to change it."""

        index: int
        edit: bool

    def __init__(self) -> None:
        super().__init__(id="waiting", markup=False, compact=True)
        self.display = False

    def show(self, inquiries: Sequence[Inquiry]) -> None:
        """Shows them; the highlight stays where it was."""
        highlighted = self.highlighted or 0
        self.set_options(Option(_entry(number, inquiry)) for number, inquiry in enumerate(inquiries, 1))
        self.display = bool(inquiries)
        if inquiries:
            self.highlighted = min(highlighted, len(inquiries) - 1)

    def action_edit(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.Removed(self.highlighted, edit=True))

    def action_drop(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.Removed(self.highlighted, edit=False))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Removed(event.option_index, edit=True))


def _entry(number: int, inquiry: Inquiry) -> Content:
    words = display_safe(inquiry.words.partition("\n")[0], line=True)
    below = display_safe(inquiry.below, line=True)
    return Content.assemble(
        (f"{number} waiting  ", "$foreground-muted"), words, (f"  {below}" if below else "", "$foreground-muted")
    )
