"""Limits of the next questions, and attachments of the next one."""

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
    """A limit or attachment; a click removes it."""

    def __init__(self, index: int, label: str, kind: str) -> None:
        text = display_safe(label, line=True)
        text = text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"
        super().__init__(f"{text} {REMOVE}", classes=f"chip -{kind}")
        self._index = index

    def on_click(self) -> None:
        self.post_message(Chips.Removed(self._index))


class Chips(Horizontal):
    """The line above the prompt, if there are any."""

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
