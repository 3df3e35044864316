"""What the chat itself has to say."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from tui.widgets.plain import Plain

Level = Literal["info", "warning", "error"]


class Note(Plain):
    """A line or a few in the transcript: what a command did. It is not kept in the session."""

    def __init__(self, text: str | Content, level: Level = "info") -> None:
        super().__init__(text, classes=f"-{level}")

    def say(self, text: str, level: Level = "info") -> None:
        """Says something else instead."""
        self.set_classes(f"-{level}")
        self.update(text)
