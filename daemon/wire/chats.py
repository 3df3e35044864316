"""Chat sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.events import Citation


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat session. GET /conversations lists the newest first."""

    id: int
    title: str
    created: datetime
    updated: datetime
    messages: int = 0


@dataclass(frozen=True, slots=True)
class ConversationsReply:
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat session. `state`: complete | partial (the stream broke off); `verdict`: good | bad, what the
    person said of the answer."""

    id: int
    role: str  # "user" | "memory"
    text: str
    at: datetime
    state: str = "complete"
    citations: tuple[Citation, ...] = ()
    no_answer: bool = False
    trace_id: int | None = None
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """GET /conversations/{id}"""

    conversation: Conversation
    messages: tuple[Message, ...]
