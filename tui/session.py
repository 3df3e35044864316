"""The session on screen, as plain values."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from daemon import wire
from tui.inquiry import Inquiry, Limit, list_limits

WINDOW = 20  # messages that have widgets while the newest is in view, and more of them with each scroll to the top


@dataclass
class Session:
    """A session: its conversation (None until the daemon stores it), its messages, and waiting questions.

    `messages` are the completed ones, oldest first; those before `shown_from` have no widgets, nor those from
    `shown_until` on if the session was opened at an early message. `asked` are the questions for the arrow keys, oldest
    first. `limits` apply to the next questions. `model` wrote the last answer; `calls` and `tokens` are the usage of
    models in this session.
    """

    conversation: wire.Conversation | None = None
    messages: list[wire.ChatMessage] = field(default_factory=list)
    shown_from: int = 0
    shown_until: int | None = None
    asked: list[str] = field(default_factory=list)
    waiting: deque[Inquiry] = field(default_factory=deque)
    limits: tuple[Limit, ...] = ()
    model: str = ""
    calls: int = 0
    tokens: int = 0

    @classmethod
    def from_messages(cls, reply: wire.MessagesReply, message_id: int | None = None) -> Session:
        """Opens a stored session. Shows its last messages, or, if `message_id` is earlier, that one and the
        following."""
        last = max(0, len(reply.messages) - WINDOW)
        answers = [message for message in reply.messages if message.trace_id is not None]
        start = next((place for place, message in enumerate(reply.messages) if message.id == message_id), last)
        begin = max(0, start - 1) if start < last else last  # with its question, if it is an answer
        return cls(
            conversation=reply.conversation,
            messages=list(reply.messages),
            shown_from=begin,
            shown_until=begin + WINDOW if begin + WINDOW < last else None,
            asked=[message.text for message in reply.messages if message.role == "user"],
            limits=list_limits(answers[-1]) if answers else (),
            model=next((answer.model for answer in reversed(answers) if answer.model), ""),
            calls=sum(answer.calls for answer in answers),
            tokens=sum(answer.tokens for answer in answers),
        )

    @property
    def title(self) -> str:
        return self.conversation.title if self.conversation else ""

    @property
    def shown(self) -> list[wire.ChatMessage]:
        """Returns the messages with widgets."""
        return self.messages[self.shown_from : self.shown_until]

    @property
    def later(self) -> int:
        """Returns the number of messages after those with widgets."""
        return 0 if self.shown_until is None else len(self.messages) - self.shown_until

    def show_earlier(self) -> list[wire.ChatMessage]:
        """Moves the window up; returns the messages that came into it, oldest first."""
        until = self.shown_from
        self.shown_from = max(0, until - WINDOW)
        return self.messages[self.shown_from : until]

    def show_later(self) -> list[wire.ChatMessage]:
        """Moves the window down; returns the messages that came into it, oldest first."""
        begin, end = self.shown_until or len(self.messages), len(self.messages)
        self.shown_until = begin + WINDOW if begin + WINDOW < end else None
        return self.messages[begin : self.shown_until]

    def show_end(self) -> None:
        """Moves the window to the last messages."""
        self.shown_from, self.shown_until = max(0, len(self.messages) - WINDOW), None

    def note_taken(self, model: str, calls: int, tokens: int) -> None:
        """Adds an answer's usage of models."""
        self.model = model or self.model
        self.calls += calls
        self.tokens += tokens

    def judge(self, trace_id: int, verdict: Literal["good", "bad"] | None) -> None:
        """Stores a verdict on an answer, which may be shown again later."""
        self.messages = [
            replace(message, verdict=verdict) if message.trace_id == trace_id else message for message in self.messages
        ]

    def settle(
        self,
        inquiry: Inquiry,
        answered: wire.Answered,
        now: datetime,
        state: Literal["complete", "partial"] = "complete",
    ) -> None:
        """Adds a question and its answer, as the daemon stores them."""
        self.messages += [
            wire.ChatMessage(0, "user", inquiry.text, now),
            wire.ChatMessage(
                0,
                "memory",
                answered.text,
                now,
                state,
                answered.citations,
                answered.no_answer,
                answered.trace_id,
                within=inquiry.within,
                as_of=inquiry.as_of,
                model=answered.model,
            ),
        ]
