"""Chat sessions."""

from __future__ import annotations

from dataclasses import dataclass

from memory.nouns import ChatMessage, Conversation


@dataclass(frozen=True, slots=True)
class ConversationsReply:
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """GET /conversations/{id}"""

    conversation: Conversation
    messages: tuple[ChatMessage, ...]
