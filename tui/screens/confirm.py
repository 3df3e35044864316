"""A question before something is lost."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button

from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain


class ConfirmScreen(Dialog[bool]):
    """Yes or no; no has the focus, and Esc means no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes"),
        Binding("n,escape", "dismiss(False)", "No"),
    ]
    AUTO_FOCUS = "#no"

    def __init__(self, question: str, comfort: str = "", yes: str = "Yes, delete") -> None:
        super().__init__()
        self._yes = yes
        self._question = question
        self._comfort = comfort
        self._yes = yes

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(self._question, classes="dialog-title")
            yield Plain(self._comfort, classes="dialog-hint")
            with Horizontal(classes="buttons"):
                yield Button("No", id="no", compact=True)
                yes = Button(id="yes", variant="error", compact=True)
                yes.label = Content(self._yes)
                yield yes

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")
