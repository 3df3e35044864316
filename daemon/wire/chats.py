"""Chat sessions."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.nouns import ChatMessage, Conversation, ConversationMatch, ConversationState


@dataclass(frozen=True, slots=True)
class ConversationsReply:
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """GET /conversations/{id}: a chat session, and how it stands."""

    conversation: Conversation
    messages: tuple[ChatMessage, ...]
    state: ConversationState = field(default_factory=ConversationState)


@dataclass(frozen=True, slots=True)
class MatchesReply:
    """GET /messages?words=: the chat sessions that hold all the words in one message or in their title, last used
    first."""

    words: str
    matches: tuple[ConversationMatch, ...]
