"""State shared by the pages of one window."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from daemon import wire
from daemon.client.client import Client
from tui.keys import Keymap
from tui.link import Link
from tui.memory.rows import Target
from tui.preferences import Preferences

Step = Callable[[Client], object]
TYPING_SECONDS = 0.5  # after a key, in which the next one is to be expected


class Done(NamedTuple):
    """An action that can be undone: the call that undoes it, the message, and the update of the screen after that."""

    undo: Step
    message: str
    show: Callable[[], object]


class Statement:
    """A statement of the owner about themselves. Undoing it restores their former statement, or else the values of
    notes."""

    def __init__(self, key: str, value: str) -> None:
        self.key, self._value = key, value
        self.former = ""  # what had been said by hand, as far as is known
        self._replaced: tuple[int, ...] = ()  # revisions

    def say(self, client: Client) -> wire.ProfileReply:
        """Stores the statement. DaemonError, DaemonDownError."""
        uri = f"note:me/{' '.join(self.key.casefold().split())}"
        entries = client.profile().profile.entries
        self.former = next((fact.objects[-1] for entry in entries for fact in entry.facts if fact.uri == uri), "")
        reply = client.set_profile(self.key, self._value)
        self._replaced = tuple(fact.id for fact in reply.revisions)
        return reply

    def take_back(self, client: Client) -> None:
        """Undoes the statement. DaemonError, DaemonDownError."""
        if self.former:
            client.set_profile(self.key, self.former)
            return
        for id in self._replaced:
            client.settle(id, "undo")
        client.remove_from_profile(self.key)


@dataclass
class Shared:
    """The connection to the daemon, the time, and the daemon's state.

    `status` is the last known state of the memory; None while the daemon is down.
    """

    link: Link
    now: Callable[[], datetime]
    preferences: Preferences
    keymap: Keymap
    status: wire.Status | None = None
    down: str = ""  # why the daemon does not answer; empty while it does, or before it was asked
    done: list[Done] = field(default_factory=list)  # from all pages, in order
    review_at: wire.Revision | None = None  # what the page Review is to show when it is opened next
    look_at: Target | None = None  # the same of the page Memory
    wants_tab: str = ""  # of the page Folders, which it is to show when it is opened next
    typed_at: float | None = None  # when a person typed last, on the monotonic clock; None: nothing is half typed
    news: dict[int, wire.Revision] = field(default_factory=dict)  # unread changes of facts, by id

    def note_done(self, undo: Step, said: str, show: Callable[[], object] = lambda: None) -> Done:
        """Records an action that `undo` reverts; then `said` is shown and `show` called."""
        self.done.append(Done(undo, said, show))
        return self.done[-1]

    def note_change(self, revision: wire.Revision) -> None:
        """Announces that a fact has changed or was decided."""
        if revision.state == "open" and revision.relation != "duplicates":
            self.news[revision.id] = revision
        else:
            self.news.pop(revision.id, None)

    @property
    def is_typing(self) -> bool:
        """Whether a person is typing a question."""
        return self.typed_at is not None and time.monotonic() - self.typed_at < TYPING_SECONDS

    @property
    def folders(self) -> tuple[str, ...]:
        """Returns the watched folders, for shortening paths."""
        return tuple(folder.path for folder in self.status.files.folders) if self.status else ()
