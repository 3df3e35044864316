"""The keys and commands."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size

from tui.actions import PLACES, Where, commands
from tui.dialogs.dialog import Dialog
from tui.keys import Keymap, key_names
from tui.widgets.plain import Plain

INTRODUCTION = (
    "Type a question and press Enter: the answer quotes your notes, and F2 shows where. /add reads a file or folder."
    " Ctrl+P lists what can be done here. Esc goes one step back, Ctrl+Z takes back what you did last."
)
GAP = 3
LEFT = 26  # columns at most for the keys


class HelpScreen(Dialog[None]):
    """F1: every key by its place, those `here` first, and every command."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,enter", "dismiss(None)", "Close")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012

    def __init__(self, keymap: Keymap, places: Sequence[Where] = ()) -> None:
        super().__init__()
        self._keymap = keymap
        self._here = places

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -full"):
            yield Plain("Help · ↑ and ↓ scroll · Esc closes", classes="dialog-title")
            yield Plain(INTRODUCTION, classes="dialog-more")
            with Container(id="help"):
                with Vertical():
                    for place in (*self._here, *(place for place in PLACES if place not in self._here)):
                        yield from self._list_keys(place)
                with Vertical():
                    yield Plain("Commands, typed in the prompt", classes="heading")
                    yield KeyTable([(action.usage, action.sentence) for action in commands()])

    def _list_keys(self, place: Where) -> Iterator[Plain]:
        actions = self._keymap.actions_of(place)
        palette = key_names(self._keymap.keys_of("command_palette"))
        rows = [(key_names(action.key), action.sentence) for action in actions if action.key]
        rows += [
            (palette, f"{action.name}: {action.sentence}") for action in actions if not (action.key or action.slash)
        ]
        if rows:
            yield Plain(PLACES[place], classes="heading")
            yield KeyTable(rows)


class KeyTable(Plain):
    """Keys or commands on the left, their effect on the right, wrapped within its own column."""

    def __init__(self, rows: list[tuple[str, str]]) -> None:
        super().__init__()
        self._rows = rows
        self._left = max((len(left) for left, _ in rows if len(left) <= LEFT), default=0)

    @property
    def text(self) -> str:
        return self.render().plain

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._table(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._table(self.content_size.width)

    def _table(self, width: int) -> Content:
        lines = []
        for left, right in self._rows:
            first, *continued = textwrap.wrap(right, max(20, width - self._left - GAP)) or [""]
            if len(left) > self._left:  # it gets a separate line
                lines.append(Content.styled(left, "bold $accent"))
                left = ""
            lines.append(Content.assemble((f"{left:<{self._left + GAP}}", "bold $accent"), first))
            lines += [Content(" " * (self._left + GAP) + line) for line in continued]
        return Content("\n").join(lines)
