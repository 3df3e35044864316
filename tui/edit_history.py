"""What a person did to the memory from this window, and how each of it is taken back and done again."""

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
    """Something that the owner says of themselves. Taken back, what they had said before by hand is said again; if that
    was nothing, what notes say of it stands as before."""

    def __init__(self, key: str, value: str) -> None:
        self.key, self._value = key, value
        self.former = ""  # what had been said by hand, as far as is known
        self._replaced: tuple[int, ...] = ()  # revisions

    def say(self, client: Client) -> wire.ProfileReply:
        """DaemonError, DaemonDownError."""
        uri = f"note:me/{' '.join(self.key.casefold().split())}"
        entries = client.profile().profile.entries
        self.former = next((one.objects[-1] for entry in entries for one in entry.facts if one.uri == uri), "")
        reply = client.set_profile(self.key, self._value)
        self._replaced = tuple(one.id for one in reply.revisions)
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
    """Those that were done, the last at the end; and those that were taken back. What is done anew ends the latter."""

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
