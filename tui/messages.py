"""What the daemon has to say, as messages on the chat's screen. Posted by `Link` from its threads."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from daemon import wire


@dataclass
class Connected(Message, bubble=False):
    """The daemon answers; `status` is how it stands."""

    status: wire.Status


@dataclass
class Disconnected(Message, bubble=False):
    """The daemon is not there; `reason` is a sentence."""

    reason: str


@dataclass
class StatusChanged(Message, bubble=False):
    """The memory's state, freshly asked for."""

    status: wire.Status


@dataclass
class Activity(Message, bubble=False):
    """One event of the daemon's activity stream."""

    event: wire.Event


@dataclass
class SessionStarted(Message, bubble=False):
    """The daemon keeps a new session, for the question `ticket`."""

    ticket: int
    conversation: wire.Conversation


@dataclass
class AskEvent(Message, bubble=False):
    """One event of a question's stream; the last one is an Answered or a Failed."""

    ticket: int
    event: wire.Event


@dataclass
class AddEvent(Message, bubble=False):
    """One event of an ingestion's stream; the last one is an Added or a Failed."""

    ticket: int
    event: wire.Event
