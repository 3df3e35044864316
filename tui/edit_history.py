"""A person's edits of the memory from this window, with undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from daemon import wire
from daemon.client import Client

Step = Callable[[Client], object]


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that was done, in `words`: "Ozzie Penhale, phone: 12 is now 13"."""

    words: str
    do: Step
    undo: Step


class Statement:
    """A statement of the owner about themselves. Undoing it restores their former statement, or else the values of
    notes."""

    def __init__(self, key: str, value: str) -> None:
        self.key, self._value = key, value
        self.former = ""  # what had been said by hand, as far as is known
        self._replaced: tuple[int, ...] = ()  # revisions

    def say(self, client: Client) -> wire.ProfileReply:
        """DaemonError, DaemonDownError."""
        uri = f"note:me/{' '.join(self.key.casefold().split())}"
        entries = client.profile().profile.entries
        self.former = next((fact.objects[-1] for entry in entries for fact in entry.facts if fact.uri == uri), "")
        reply = client.set_profile(self.key, self._value)
        self._replaced = tuple(fact.id for fact in reply.revisions)
        return reply

    def take_back(self, client: Client) -> None:
        """DaemonError, DaemonDownError."""
        if self.former:
            client.set_profile(self.key, self.former)
            return
        for id in self._replaced:
            client.settle(id, "undo")
        client.remove_from_profile(self.key)


@dataclass
class EditHistory:
    """Done edits, the last at the end; and undone edits. A new edit clears the latter."""

    done: list[Edit] = field(default_factory=list)
    undone: list[Edit] = field(default_factory=list)

    def add(self, edit: Edit) -> None:
        """It was done just now."""
        self.done.append(edit)
        self.undone.clear()

    def take_back(self) -> None:
        """The last one was taken back just now."""
        self.undone.append(self.done.pop())

    def repeat(self) -> None:
        """The last one that was taken back was done again just now."""
        self.done.append(self.undone.pop())
