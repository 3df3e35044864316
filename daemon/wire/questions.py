"""The end of a question; what `pal ask` needs, without the nouns of the library."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Answer


@dataclass(frozen=True, slots=True)
class Answered(Answer):
    """The end of a question: the answer, with the chat session it is kept in."""

    conversation: int | None = None
    ms: float = 0.0
