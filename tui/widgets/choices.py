"""A line of words with one selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from tui.widgets.plain import Parts

_GAP = 3
_MANY = 10_000  # from here on thousands are enough


class Choices(Parts):
    """Words in a line, the selected one highlighted; a click selects. `choices`: name -> word."""

    @dataclass
    class Selected(Message):
        """A person selected another word."""

        choices: Choices
        name: str

    def __init__(
        self, choices: Mapping[str, str], *, id: str | None = None, number_style: str = "bold $text-warning"
    ) -> None:
        super().__init__(id=id, classes="choices")
        self._number_style = number_style
        self._choices = dict(choices)
        self._numbers: dict[str, int] = {}
        self.chosen = next(iter(self._choices))
        self._show()

    def choose(self, name: str) -> None:
        """Selects a word without a message."""
        self.chosen = name
        self._show()

    def choose_next(self, step: int = 1) -> None:
        """Selects the next word; after the last comes the first."""
        names = list(self._choices)
        self.choose(names[(names.index(self.chosen) + step) % len(names)])
        self.post_message(self.Selected(self, self.chosen))

    def set_number(self, name: str, number: int) -> None:
        self._numbers[name] = number
        self._show()

    def _show(self) -> None:
        self.show_parts(((self._word(name, word), name) for name, word in self._choices.items()), " " * _GAP)

    def _word(self, name: str, word: str) -> Content:
        words = Content.styled(word, "bold $accent underline" if name == self.chosen else "$foreground-muted")
        number = self._numbers.get(name)
        return words + Content.styled(f" {_shorten(number)}", self._number_style) if number else words

    async def choose_part(self, name: str) -> None:
        if name != self.chosen:
            self.choose(name)
            self.post_message(self.Selected(self, name))


def _shorten(number: int) -> str:
    return f"{number:,}" if number < _MANY else f"{number // 1000:,}k"
