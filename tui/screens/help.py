"""The keys and the commands, from the registry."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.actions import PLACES, actions_of, commands
from tui.keys import key_names
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain


class HelpScreen(Dialog[None]):
    """F1: every command, and every key by the place where it works."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss(None)", "Close")]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Plain("Help", classes="dialog-title")
            yield Plain(_table([(action.usage, action.sentence) for action in commands()]))
            for place, heading in PLACES.items():
                yield Plain(heading, classes="heading")
                rows = [(key_names(action.key), action.sentence) for action in actions_of(place) if action.key]
                yield Plain(_table(rows))
            yield Plain("Esc closes this.", classes="dialog-hint")


def _table(rows: list[tuple[str, str]]) -> Content:
    width = max(len(left) for left, _ in rows)
    return Content("\n").join(
        Content.assemble((f"{left:<{width}}", "bold $accent"), "   ", right) for left, right in rows
    )
