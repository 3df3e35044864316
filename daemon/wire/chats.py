"""Chat sessions."""

from __future__ import annotations

from dataclasses import dataclass

from memory.nouns import Conversation, Message


@dataclass(frozen=True, slots=True)
class ConversationsReply:
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """GET /conversations/{id}"""

    conversation: Conversation
    messages: tuple[Message, ...]
