"""Messages of the daemon for the chat's screen. Posted by `Link` from its threads."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from daemon import wire


@dataclass
class Disconnected(Message, bubble=False):
    """The daemon is down; `reason` is a sentence."""

    reason: str


@dataclass
class StatusChanged(Message, bubble=False):
    """The current state of the memory; with `connected` the first one after connecting."""

    status: wire.Status
    connected: bool = False


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
class StreamEvent(Message, bubble=False):
    """One event of a question's stream, or of an ingestion's; the last one is an Answered, an Added or a Failed."""

    ticket: int
    event: wire.Event
