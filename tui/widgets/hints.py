"""The line at the bottom: a few keys that do something here."""

from __future__ import annotations

from textual import events
from textual.content import Content

from tui.actions import Action, Where
from tui.keymap import Keymap
from tui.keys import short_key
from tui.widgets.plain import Plain

HELP = "show_help"  # what F1 does
_GAP = 2
WHERE_TEXT_IS_TYPED = ("prompt", "finding")  # a letter is text there


class Hints(Plain):
    """Actions with a footer word, those of the focused place first; a click runs them. Without space for all, the last
    ones are dropped, except the one for help.

    Replaces Textual's Footer, which makes a widget for every key, again with every change of the focus.
    """

    def __init__(self, page: Where, keymap: Keymap) -> None:
        super().__init__(id="hints")
        self._keymap = keymap
        self._page = page
        self._hints: list[tuple[Content, Action]] = []
        self._targets: list[tuple[range, str]] = []
        self.show_for(None)

    def show_for(self, focused: Where | None, has_row: bool = True) -> None:
        """Shows the actions for a focused place, None for any other; without a row, those that need none."""
        places: tuple[Where, ...] = (*([focused] if focused else []), self._page, "app")
        self._hints = [
            (Content.assemble((short_key(action.key), "bold $accent"), f" {action.footer}"), action)
            for place in places
            for action in self._keymap.actions_of(place)
            if action.footer
            and (has_row or not action.of_row)
            and not (action.is_typed and focused in WHERE_TEXT_IS_TYPED)
        ]
        self._show()

    def on_resize(self) -> None:
        self._show()

    def _show(self) -> None:
        visible = list(self._hints)
        while len(visible) > 1 and self.size.width and _width(visible) > self.content_size.width:
            spared = next((hint for hint in reversed(visible) if hint[1].handler != HELP), visible[-1])
            visible.remove(spared)
        text, self._targets = Content(), []
        for hint, action in visible:
            prefix = {"app": "app.", self._page: "screen."}.get(action.where, "focused.")
            self._targets.append((range(len(text), len(text) + len(hint)), prefix + action.handler))
            text += hint + " " * _GAP
        self.update(text)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for span, action in self._targets:
            if offset is not None and offset.x in span:
                await self.run_action(action)


def _width(hints: list[tuple[Content, Action]]) -> int:
    return sum(hint.cell_length + _GAP for hint, _ in hints) - _GAP
