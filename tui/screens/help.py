"""The keys and the commands, from the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.actions import PLACES, Where, actions_of, commands
from tui.keys import key_names
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain


class HelpScreen(Dialog[None]):
    """F1: every key by the place where it works, those `here` first, and every command."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss(None)", "Close")]

    def __init__(self, here: Sequence[Where] = ()) -> None:
        super().__init__()
        self._here = here

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Plain("Help", classes="dialog-title")
            for place in self._here:
                yield from _keys(place)
            yield Plain("Commands, typed in the prompt", classes="heading")
            yield Plain(_table([(action.usage, action.sentence) for action in commands()]))
            for place in PLACES:
                if place not in self._here:
                    yield from _keys(place)
            yield Plain("Esc closes this.", classes="dialog-hint")


def _keys(place: Where) -> Iterator[Plain]:
    rows = [(key_names(action.key), action.sentence) for action in actions_of(place) if action.key]
    if rows:
        yield Plain(PLACES[place], classes="heading")
        yield Plain(_table(rows))


def _table(rows: list[tuple[str, str]]) -> Content:
    width = max(len(left) for left, _ in rows)
    return Content("\n").join(
        Content.assemble((f"{left:<{width}}", "bold $accent"), "   ", right) for left, right in rows
    )
