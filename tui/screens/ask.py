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

HINT = "Enter saves · Esc cancels"
MAX_LENGTH = 200  # characters
MAX_NAME = 120  # of a session
MAX_PATH = 1000


class AskScreen(Dialog[str | None]):
    """Asks for one line, which begins as `value` and may be empty; None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(
        self, question: str, more: str = "", value: str = "", hint: str = HINT, max_length: int = MAX_LENGTH
    ) -> None:
        super().__init__()
        self._question, self._more, self._value, self._hint = question, more, value, hint
        self._max_length = max_length

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(self._question, classes="dialog-title")
            if self._more:
                yield Plain(self._more, classes="dialog-more")
            yield Input(display_safe(self._value, line=True), max_length=self._max_length, compact=True)
            yield Plain(self._hint, classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(display_safe(event.value, line=True).strip())
