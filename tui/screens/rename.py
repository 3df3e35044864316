"""A new name."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from daemon.terminal import display_safe
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain


class RenameScreen(Dialog[str | None]):
    """Asks for a title; None if the person thought better of it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title_now = title

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain("Rename", classes="dialog-title")
            yield Input(display_safe(self._title_now, line=True), max_length=120, compact=True)
            yield Plain("Enter keeps the name · Esc leaves it", classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(display_safe(event.value, line=True).strip() or None)
