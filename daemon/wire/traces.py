"""Traces of questions, with their verdicts and the training on them; and chat sessions."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event
from memory.trace import Asked, Opinion
from memory.views import ChatMessage, Conversation


@dataclass(frozen=True, slots=True)
class Judged:
    """`before` is the earlier verdict; the answer cites `passages` of them, and if that is 0 nothing is learnt."""

    asked: Asked
    before: Opinion | None
    passages: int


@dataclass(frozen=True, slots=True)
class TracesReply:
    """The questions, the newest first; `total` is how many there are."""

    traces: tuple[Asked, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Rebuilt(Event):
    """The end of a rebuild: how many `edges` remember something now, how many `passages` are in the full
    text, how many have `vectors`, and how many `rows` a backup gave; 0 for what was not asked for."""

    edges: int = 0
    passages: int = 0
    vectors: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """A chat session and its messages."""

    conversation: Conversation
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True, slots=True)
class TrainingUndone:
    """Whether the training was undone, and whether the scorer before it is used again."""

    undone: bool
    earlier: bool
