"""The list of completions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message

from daemon.terminal import display_safe
from tui.completion import Suggestion, Typing
from tui.widgets.plain import Plain

SHOWN = 8


class Suggestions(Plain):
    """The completions above the prompt; one is highlighted."""

    @dataclass
    class Selected(Message):
        """A person clicked on one."""

        suggestion: Suggestion

    class Toggled(Message):
        """The list was shown or hidden."""

    def __init__(self) -> None:
        super().__init__(id="suggestions")
        self.hide()
        self.typing: Typing | None = None
        self._suggestions: tuple[Suggestion, ...] = ()
        self._highlighted = 0
        self._first = 0
        self._is_declined = False  # a person dismissed them for the current text
        self.is_moved = False  # a person has highlighted one

    def show(self, typing: Typing | None, suggestions: Sequence[Suggestion]) -> None:
        """Shows suggestions, the first highlighted; hidden without any."""
        self._is_declined = self._is_declined and typing == self.typing
        self.typing, self._suggestions = typing, () if self._is_declined else tuple(suggestions)
        self._highlighted = self._first = 0
        self.is_moved = False
        self._draw()

    def close(self) -> None:
        """Hides them until something else is typed."""
        self._is_declined = True
        self.show(self.typing, ())

    def highlighted_for(self, typing: Typing | None) -> Suggestion | None:
        """Returns the highlighted suggestion, if it belongs to the current text and can be accepted."""
        if typing is None or typing != self.typing or not self._suggestions:
            return None
        highlighted = self._suggestions[self._highlighted]
        return highlighted if highlighted.can_be_taken else None

    def move(self, step: int) -> None:
        """Highlights the next one, or the previous one."""
        self.is_moved = True
        self._highlighted = (self._highlighted + step) % len(self._suggestions)
        self._first = min(max(self._first, self._highlighted - SHOWN + 1), self._highlighted)
        self._draw()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and self._first + offset.y < len(self._suggestions):
            self.post_message(self.Selected(self._suggestions[self._first + offset.y]))

    def _draw(self) -> None:
        visible = self._suggestions[self._first : self._first + SHOWN]
        width = max((len(suggestion.label) for suggestion in visible), default=0)
        lines = []
        for index, suggestion in enumerate(visible, self._first):
            is_highlighted = index == self._highlighted
            label = f"{'▸' if is_highlighted else ' '} {display_safe(suggestion.label, line=True):<{width}}"
            detail = f"   {display_safe(suggestion.detail, line=True)}" if suggestion.detail else ""
            lines.append(
                Content.assemble(
                    (label, "bold $accent" if is_highlighted else "$accent"), (detail, "$foreground-muted")
                )
            )
        if self.display != bool(lines):
            self.display = bool(lines)
            self.post_message(self.Toggled())
        self.update(Content("\n").join(lines))
