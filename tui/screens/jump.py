"""Go to any part of the page with one key."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.widget import Widget

from tui.pages import TABS
from tui.screens.dialog import Window
from tui.widgets.plain import Plain

LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class JumpScreen(Window[Widget | str | None]):
    """A letter on every focusable part: its key focuses it, a digit opens a page. Returns the widget or the page's
    name; None for any other key."""

    def __init__(self, targets: list[Widget]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        for letter, target in self._targets.items():
            label = Plain(f" {letter} ", classes="jump-label")
            label.absolute_offset = Offset(target.region.x, max(0, target.region.y))
            yield label
        pages = " · ".join(f"{place} {tab.title}" for place, tab in enumerate(TABS, 1))
        yield Plain(f"A letter goes there · {pages} · Esc stays", id="jump-hint")

    def on_key(self, event: events.Key) -> None:
        event.stop()
        key = event.character or ""
        if key.isdigit() and 0 < int(key) <= len(TABS):
            self.dismiss(TABS[int(key) - 1].name)
        else:
            self.dismiss(self._targets.get(key))
