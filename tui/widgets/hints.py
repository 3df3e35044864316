"""The line at the bottom: a few keys that do something here."""

from __future__ import annotations

from textual import events
from textual.content import Content

from tui.actions import Where, actions_of
from tui.keys import short_key
from tui.widgets.plain import Plain

_GAP = 2
WHERE_TEXT_IS_TYPED = ("prompt", "finding")  # a letter does nothing there but stand in the text


class Hints(Plain):
    """The actions that have a footer word, those of the focused place first; a click does them.

    In place of Textual's Footer, which makes a widget of every key and makes them anew with every change of the focus.
    """

    def __init__(self, page: Where) -> None:
        super().__init__(id="hints")
        self._page = page
        self._targets: list[tuple[range, str]] = []
        self.show_for(None)

    def show_for(self, focused: Where | None) -> None:
        """Shows what can be done with the focus in a place; None is anywhere else."""
        places: tuple[Where, ...] = (*([focused] if focused else []), self._page, "app")
        text, self._targets = Content(), []
        for place in places:
            for action in actions_of(place):
                if action.footer and not (action.is_typed and focused in WHERE_TEXT_IS_TYPED):
                    hint = Content.assemble((short_key(action.key), "bold $accent"), f" {action.footer}")
                    prefix = {"app": "app.", self._page: "screen."}.get(place, "focused.")
                    self._targets.append((range(len(text), len(text) + len(hint)), prefix + action.handler))
                    text += hint + " " * _GAP
        self.update(text)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for span, action in self._targets:
            if offset is not None and offset.x in span:
                await self.run_action(action)
