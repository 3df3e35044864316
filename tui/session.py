"""What the chat knows of the session on screen. Plain values, no widgets."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from daemon import wire
from tui.inquiry import Inquiry, Limit

WINDOW = 20  # messages mounted when a session is resumed, and more of them with each scroll to the top
KEPT = 60  # messages that stay mounted while the newest is in view


@dataclass
class Session:
    """A session: its conversation (None until the daemon keeps it), its messages, and the questions that wait.

    `messages` are the settled ones, oldest first; those before `shown_from` have no widgets. `asked` are the questions
    for the arrow keys, oldest first. `limits` are those of the questions to come. `model` wrote an answer
    last; `calls` and `tokens` are what models took since the session is on screen.
    """

    conversation: wire.Conversation | None = None
    messages: list[wire.ChatMessage] = field(default_factory=list)
    shown_from: int = 0
    asked: list[str] = field(default_factory=list)
    waiting: deque[Inquiry] = field(default_factory=deque)
    limits: tuple[Limit, ...] = ()
    model: str = ""
    calls: int = 0
    tokens: int = 0

    @classmethod
    def from_messages(cls, reply: wire.MessagesReply) -> Session:
        """A session as the daemon kept it; its last messages are to be shown."""
        return cls(
            conversation=reply.conversation,
            messages=list(reply.messages),
            shown_from=max(0, len(reply.messages) - WINDOW),
            asked=[message.text for message in reply.messages if message.role == "user"],
        )

    @property
    def title(self) -> str:
        return self.conversation.title if self.conversation else ""

    @property
    def shown(self) -> list[wire.ChatMessage]:
        """The messages that are to have widgets."""
        return self.messages[self.shown_from :]

    def show_earlier(self) -> list[wire.ChatMessage]:
        """Moves the window up; the messages that came into it, oldest first."""
        until = self.shown_from
        self.shown_from = max(0, until - WINDOW)
        return self.messages[self.shown_from : until]

    def note_taken(self, model: str, calls: int, tokens: int) -> None:
        """What one more answer took of models."""
        self.model = model or self.model
        self.calls += calls
        self.tokens += tokens

    def judge(self, trace_id: int, verdict: Literal["good", "bad"] | None) -> None:
        """What a person says of an answer, which may be shown again later."""
        self.messages = [replace(one, verdict=verdict) if one.trace_id == trace_id else one for one in self.messages]

    def settle(
        self, question: str, answered: wire.Answered, at: datetime, state: Literal["complete", "partial"] = "complete"
    ) -> None:
        """Adds a question and its answer, as the daemon keeps them too."""
        self.messages += [
            wire.ChatMessage(0, "user", question, at),
            wire.ChatMessage(
                0,
                "memory",
                answered.text,
                at,
                state,
                answered.citations,
                answered.no_answer,
                answered.trace_id,
            ),
        ]
