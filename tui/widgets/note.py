"""Questions, and messages of the chat itself."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from daemon.terminal import display_safe
from tui.inquiry import Inquiry
from tui.widgets.plain import Plain


class Question(Plain):
    """A question as typed, with its attachments and limits below."""

    def __init__(self, question: str | Inquiry) -> None:
        inquiry = question if isinstance(question, Inquiry) else Inquiry(question)
        below = f"\n{display_safe(inquiry.below, line=True)}" if inquiry.below else ""
        super().__init__(Content.assemble(display_safe(inquiry.words), (below, "not bold $foreground-muted")))


Level = Literal["info", "warning", "error"]
LEAST_COLUMNS = 20  # for the text after an indent


class Note(Plain):
    """A few lines in the transcript: the result of a command. It is not stored in the session. Wrapped lines keep the
    indent."""

    def __init__(self, text: str, level: Level = "info") -> None:
        super().__init__(text, classes=f"-{level}")
        self._said = Content(self.text)
        self._columns = 0

    @property
    def text(self) -> str:
        return str(self._said) if hasattr(self, "_said") else super().text

    def say(self, text: str, level: Level = "info") -> None:
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
    """Returns the text with its indented lines wrapped to the same indent."""
    lines: list[Content] = []
    for line in text.split("\n"):
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        if indent and line.cell_length > columns:
            wrapped = line[indent:].wrap(max(LEAST_COLUMNS, columns - indent))
            lines += [Content(" " * indent) + wrapped_line.rstrip() for wrapped_line in wrapped]
        else:
            lines.append(line)
    return Content("\n").join(lines)
