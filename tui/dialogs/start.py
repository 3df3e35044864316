"""The question before anything is read: who the owner is."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from daemon.setup import QUESTIONS, read_answer
from tui.dialogs.dialog import Dialog
from tui.widgets.plain import Plain


class IntroductionScreen(Dialog[dict[str, str] | None]):
    """Asks all questions; returns the statements, key to value, or None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]
    AUTO_FOCUS = "Input"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("About you", classes="dialog-title")
            for question in QUESTIONS:
                yield Plain(question.text)
                yield Input(placeholder=question.hint, compact=True, id=question.key)
            yield Plain("Enter goes on, and saves at the end · empty fields are skipped · Esc", classes="dialog-hint")

    @on(Input.Submitted)
    def _go_on(self, message: Input.Submitted) -> None:
        message.stop()
        if message.input.id != QUESTIONS[-1].key:
            self.focus_next()
            return
        statements: dict[str, str] = {}
        for field in self.query(Input):
            statements |= read_answer(str(field.id), field.value)
        self.dismiss(statements)
