"""What is wished of one answer: who may be asked for it, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memory.nouns import Effort
from memory.protocols import LLM, ChooseLLM
from memory.trace import PLAIN, Plan


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Who may be asked: a model that writes the answer, and one that may drive the tools of memory. Without the first
    the lines themselves are the answer."""

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
class Wish:
    """What is asked beside what was searched for: the `question` as the person put it, where that is another, `now`,
    `as_of`, the questions it may follow, whether it still matters, how much it may take, whether it is to use what is
    remembered, and `plan`, as its trace will tell it."""

    now: datetime | None = None
    as_of: datetime | None = None
    before: tuple[str, ...] = ()
    cancelled: Callable[[], bool] | None = None
    question: str = ""
    effort: Effort = "normal"
    replay: bool = True
    plan: Plan = PLAIN
