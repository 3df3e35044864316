"""The session on screen, as plain values."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Literal, NamedTuple

from daemon import wire
from daemon.terminal import count

LONG_LINES, LONG_CHARS = 5, 500  # longer pastes become attachments

_DAY = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?")


class Limit(NamedTuple):
    """A limit of a question: a note (its uri), a folder (its path), a tag, or a day for an answer as of then (as typed:
    2026, 2026-03 or 2026-03-09)."""

    kind: Literal["note", "folder", "tag", "day"]
    value: str
    name: str

    @property
    def label(self) -> str:
        """Returns its displayed text: `@Fog signal`, `#boat`, `as of 2026-03`."""
        return {"tag": "#", "day": "as of "}.get(self.kind, "@") + self.name


class Inquiry(NamedTuple):
    """A question with its attachments and limits."""

    words: str
    pasted: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()

    @property
    def text(self) -> str:
        """Returns the words, followed by the pasted texts."""
        return "\n\n".join((self.words, *self.pasted))

    @property
    def below(self) -> str:
        """Returns the limits and attachments in a line; "" without any."""
        return " · ".join([limit.label for limit in self.limits] + [pasted_label(text) for text in self.pasted])

    @property
    def within(self) -> wire.Scope | None:
        """Returns the part of the memory to search; None for all of it."""
        notes, folders, tags = (self._values(kind) for kind in ("note", "folder", "tag"))
        if not (notes or folders or tags):
            return None
        # a file may hold several sources, whose names begin with its own and "#"
        places = (*(f"{folder}/" for folder in folders), *(f"{note}#" for note in notes))
        return wire.Scope(sources=notes, folders=places, tags=tags)

    @property
    def as_of(self) -> datetime | None:
        """Returns the last moment of the day, month or year for an answer as of then."""
        days = self._values("day")
        return parse_day(days[-1]) if days else None

    def _values(self, kind: str) -> tuple[str, ...]:
        return tuple(limit.value for limit in self.limits if limit.kind == kind)


def list_limits(answer: wire.ChatMessage) -> tuple[Limit, ...]:
    """Returns the limits of an answer's question, as a person would have typed them."""
    within = answer.within or wire.Scope()
    # places of sources within a file end with "#", those of folders with "/": see `Inquiry.within`
    places = [place.rstrip("/") for place in within.folders if not place.endswith("#")]
    return (
        *(Limit("note", uri, PurePath(uri).name) for uri in within.sources),
        *(Limit("folder", place, f"{PurePath(place).name}/") for place in places),
        *(Limit("tag", tag, tag) for tag in within.tags),
        *([Limit("day", day, day)] if (day := _say_day(answer.as_of)) else []),
    )


def _say_day(moment: datetime | None) -> str:
    """Returns the year, month or day that ends at this moment."""
    if moment is None:
        return ""
    day = f"{moment.astimezone():%Y-%m-%d}"
    return next(form for form in (day[:4], day[:7], day) if day in (form, f"{parse_day(form):%Y-%m-%d}"))


def is_long(text: str) -> bool:
    """Whether a pasted text becomes an attachment."""
    return len(text) > LONG_CHARS or len(text.splitlines()) > LONG_LINES


def pasted_label(text: str) -> str:
    """`[pasted, 42 lines]`"""
    return f"[pasted, {count(len(text.splitlines()), 'line')}]"


def add_limit(limits: Iterable[Limit], limit: Limit) -> tuple[Limit, ...]:
    """Adds a limit; only one day at a time."""
    return (*(earlier for earlier in limits if earlier != limit and not earlier.kind == limit.kind == "day"), limit)


def parse_day(text: str) -> datetime | None:
    """Returns the last moment of a year, month or day, written 2026, 2026-03 or 2026-03-09, in local time; None for
    another form."""
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    try:
        begin = datetime(year, month or 1, day or 1)
        if day is not None:
            end = begin + timedelta(days=1)
        elif month is not None:
            end = datetime(year + month // 12, month % 12 + 1, 1)
        else:
            end = datetime(year + 1, 1, 1)
        return (end - timedelta(microseconds=1)).astimezone()
    except (ValueError, OverflowError):
        return None


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
