"""What the chat itself has to say."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from tui.widgets.plain import Plain

Level = Literal["info", "warning", "error"]
LEAST_COLUMNS = 20  # for what stands behind an indent


class Note(Plain):
    """A line or a few in the transcript: what a command did. It is not kept in the session. What goes on below a line
    that is indented is indented as far."""

    def __init__(self, text: str, level: Level = "info") -> None:
        super().__init__(text, classes=f"-{level}")
        self._said = Content(self.text)
        self._columns = 0

    @property
    def text(self) -> str:
        return str(self._said) if hasattr(self, "_said") else super().text

    def say(self, text: str, level: Level = "info") -> None:
        """Says something else instead."""
        self.set_classes(f"-{level}")
        self.update(text)
        self._said = Content(super().text)
        self._hang()

    def on_resize(self) -> None:
        if self.content_size.width != self._columns:
            self._columns = self.content_size.width
            self._hang()

    def _hang(self) -> None:
        hung = hang_lines(self._said, self._columns) if self._columns else self._said
        if str(hung) != super().text:
            self.update(hung)


def hang_lines(text: Content, columns: int) -> Content:
    """The text with its indented lines wrapped, what goes on below them indented as far."""
    lines: list[Content] = []
    for line in text.split("\n"):
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        if indent and line.cell_length > columns:
            wrapped = line[indent:].wrap(max(LEAST_COLUMNS, columns - indent))
            lines += [Content(" " * indent) + one.rstrip() for one in wrapped]
        else:
            lines.append(line)
    return Content("\n").join(lines)
