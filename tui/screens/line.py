"""One line of text, asked for: a name, a path."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from daemon.terminal import display_safe
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain


class LineScreen(Dialog[str | None]):
    """Asks for a line, which begins as `value`; None if the person thought better of it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, heading: str, value: str, hint: str, max_length: int = 120) -> None:
        super().__init__()
        self._heading = heading
        self._value = value
        self._hint = hint
        self._max_length = max_length

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(self._heading, classes="dialog-title")
            yield Input(display_safe(self._value, line=True), max_length=self._max_length, compact=True)
            yield Plain(self._hint, classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(display_safe(event.value, line=True).strip() or None)
