"""What was asked."""

from __future__ import annotations

from tui.widgets.plain import Plain


class Question(Plain):
    """A question, as it was typed."""
