"""A line of words with one selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message

from tui.widgets.plain import Plain

_GAP = 3
_MANY = 10_000  # from here on thousands are enough


class Choices(Plain):
    """Words in a line, the selected one highlighted; a click selects. `choices`: name -> word."""

    @dataclass
    class Selected(Message):
        """A person selected another one."""

        choices: Choices
        name: str

    def __init__(
        self, choices: Mapping[str, str], *, id: str | None = None, number_style: str = "bold $text-warning"
    ) -> None:
        super().__init__(id=id, classes="choices")
        self._number_style = number_style
        self._choices = dict(choices)
        self._numbers: dict[str, int] = {}
        self._targets: list[tuple[range, str]] = []
        self.chosen = next(iter(self._choices))
        self._show()

    def choose(self, name: str) -> None:
        """Selects one without a message."""
        self.chosen = name
        self._show()

    def choose_next(self, step: int = 1) -> None:
        """Selects the next one; after the last comes the first."""
        names = list(self._choices)
        self.choose(names[(names.index(self.chosen) + step) % len(names)])
        self.post_message(self.Selected(self, self.chosen))

    def set_number(self, name: str, number: int) -> None:
        self._numbers[name] = number
        self._show()

    def _show(self) -> None:
        text, self._targets = Content(), []
        for name, word in self._choices.items():
            style = "bold $accent underline" if name == self.chosen else "$foreground-muted"
            words = Content.styled(word, style)
            if number := self._numbers.get(name):
                words += Content.styled(f" {_shorten(number)}", self._number_style)
            self._targets.append((range(len(text), len(text) + len(words)), name))
            text += words + " " * _GAP
        self.update(text)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for span, name in self._targets:
            if offset is not None and offset.x in span and name != self.chosen:
                self.choose(name)
                self.post_message(self.Selected(self, name))


def _shorten(number: int) -> str:
    return f"{number:,}" if number < _MANY else f"{number // 1000:,}k"
