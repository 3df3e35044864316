"""A question that is answered with one line."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from daemon.terminal import display_safe
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain

HINT = "Enter keeps it · Esc leaves all as it is"


class AskScreen(Dialog[str | None]):
    """Asks for one line, which begins as `value` and may be empty; None if the person thought better of it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, question: str, more: str = "", value: str = "", hint: str = HINT) -> None:
        super().__init__()
        self._question, self._more, self._value, self._hint = question, more, value, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(self._question, classes="dialog-title")
            if self._more:
                yield Plain(self._more, classes="dialog-more")
            yield Input(display_safe(self._value, line=True), max_length=200, compact=True)
            yield Plain(self._hint, classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(display_safe(event.value, line=True).strip())
