"""What limits the next questions, and what goes with the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from daemon.terminal import display_safe
from tui.widgets.plain import Plain

MAX_LABEL = 32  # characters
REMOVE = "×"


class Chip(Plain):
    """One of them; a click removes it."""

    def __init__(self, index: int, label: str, kind: str) -> None:
        shown = display_safe(label, line=True)
        shown = shown if len(shown) <= MAX_LABEL else shown[: MAX_LABEL - 1] + "…"
        super().__init__(f"{shown} {REMOVE}", classes=f"chip -{kind}")
        self._index = index

    def on_click(self) -> None:
        self.post_message(Chips.Removed(self._index))


class Chips(Horizontal):
    """Above the prompt, while there are any."""

    @dataclass
    class Removed(Message):
        """A person removed the one at this place."""

        index: int

    def __init__(self) -> None:
        super().__init__(id="chips")
        self.display = False
        self._shown: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        for index, (label, kind) in enumerate(self._shown):
            yield Chip(index, label, kind)

    def show(self, chips: Sequence[tuple[str, str]]) -> None:
        """Shows them, each with its label and its kind."""
        self._shown = list(chips)
        self.display = bool(chips)
        self.refresh(recompose=True)

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self._shown]
