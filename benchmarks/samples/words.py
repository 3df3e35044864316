"""The unique words of a document."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Words:
    """Unique words: `shown` ones are visible in a document, `hidden` ones are not."""

    shown: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def show(self, count: int = 1) -> str:
        """New visible words, separated by spaces."""
        new = [_spell("v", len(self.shown) + number) for number in range(count)]
        self.shown += new
        return " ".join(new)

    def hide(self) -> str:
        """A new word that nobody sees."""
        self.hidden.append(_spell("h", len(self.hidden)))
        return self.hidden[-1]


def _spell(first: str, number: int) -> str:
    """A word of letters only: no format reads a meaning into it."""
    letters = "bcdfgklmnprstw"
    return first + "".join(
        letters[number // len(letters) ** place % len(letters)] + "aeiou"[number % 5] for place in range(3)
    )
