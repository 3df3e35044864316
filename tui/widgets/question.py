"""A question in the transcript."""

from __future__ import annotations

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
