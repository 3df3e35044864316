"""How a question is asked: the models that may answer it, its options, and the earlier question that it follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.nouns import Effort
from memory.protocols import LLM, ChooseLLM
from memory.text.mentions import is_date, mentions
from memory.trace import PLAIN, Plan


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Who may be asked: a model that writes the answer, and one that may drive the tools of memory. Without the first
    the extractive answer is the answer."""

    writer: ChooseLLM | None = None
    driver: ChooseLLM | None = None

    def to_drive(self) -> LLM | None:
        """The one that may drive tools, on this machine if there is one; None if there is none that can be reached."""
        if self.driver is None:
            return None
        try:
            return self.driver(True) or self.driver(False)
        except Exception:  # whatever is wrong with it, the question goes on without
            return None


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The `question` as the person put it, where what is searched for is another, `now`, `as_of`, the questions it may
    follow, whether it still matters, how much it may take, whether it is to use what is remembered, and `plan`, as its
    trace will tell it."""

    now: datetime | None = None
    as_of: datetime | None = None
    before: tuple[str, ...] = ()
    cancelled: Callable[[], bool] | None = None
    question: str = ""
    effort: Effort = "normal"
    replay: bool = True
    plan: Plan = PLAIN


MAX_FOLLOWUP_WORDS = 8  # words of a question that may need the one before it
MAX_EARLIER_CHARS = 500  # characters of the one before
MAX_EARLIER_QUESTIONS = 3  # questions that are looked at, the newest
# What stands for something that was named before, and how a question goes on from another.
_REFERS = re.compile(
    r"\b(?:he|she|it|they|him|her|his|its|them|their|theirs|hers|that|this|those|these|there|then|one|ones|same)\b"
    r"|^(?:and|or|but|so|what about|how about|since when|until when|why|when|where|who|which)\b[^?]{0,12}\??$"
    r"|^(?:and|but|or|what about|how about)\b",
    re.IGNORECASE,
)


_GOES_ON = re.compile(r"(?:and|but|or|what about|how about)\b", re.IGNORECASE)


def resolve_followup(question: str, before: Sequence[str]) -> str:
    """The text to search for: the question, with the newest one before it that names something if it needs one."""
    text = question.strip()
    if not before or len(text.split()) > MAX_FOLLOWUP_WORDS or not _REFERS.search(text):
        return question
    if not _GOES_ON.match(text) and _names(text):
        return question
    named = next((one for one in reversed(before) if _names(one) or not _REFERS.search(one.strip())), before[-1])
    return f"{named.strip()[:MAX_EARLIER_CHARS]} {text}"


def _names(text: str) -> bool:
    return any(not is_date(mention.norm) for mention in mentions(text))
