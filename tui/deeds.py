"""What a person did to the memory from this window, and how each of it is taken back and done again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from daemon.client import Client

Step = Callable[[Client], object]


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that was done, in `words`: "Ozzie Penhale, phone: 12 is now 13"."""

    words: str
    do: Step
    undo: Step


@dataclass
class Deeds:
    """Those that were done, the last at the end; and those that were taken back. What is done anew ends the latter."""

    done: list[Deed] = field(default_factory=list)
    undone: list[Deed] = field(default_factory=list)

    def add(self, deed: Deed) -> None:
        """It was done just now."""
        self.done.append(deed)
        self.undone.clear()

    def take_back(self) -> None:
        """The last one was taken back just now."""
        self.undone.append(self.done.pop())

    def repeat(self) -> None:
        """The last one that was taken back was done again just now."""
        self.done.append(self.undone.pop())
