"""Asking a model where in memory to look next: numbered options in, numbers or a word out."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any

from memory.errors import ModelCancelledError, OverBudgetError
from memory.exploring.explorer import Explorer, Option
from memory.llm import LlmRequest, Message, about_tokens
from memory.nouns import Step
from memory.protocols import LLM
from memory.text.quotes import one_line

PURPOSE = "guide"
OPTIONS, FOUND = 12, 6  # lines shown of each, at most
PROMPT = 890  # tokens of a request, about
SHARE = 0.7  # of the room for lines that options may take
QUESTION, MISSING = 160, 60  # tokens of each, at most
LEAST = 12  # tokens of which a line is never cut
REPLY = 64  # tokens
DONE = "DONE"

_NUMBER = re.compile(r"(?<![\w.,:/-])\d{1,4}(?![\w/:-]|[.,]\d)", re.ASCII)
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


class StoppedError(Exception):
    """No more calls; says why."""


class Asker:
    """Asks the model for one question, as often as it may, and keeps what came of each call."""

    def __init__(
        self,
        llm: LLM,
        explorer: Explorer,
        question: str,
        missing: Sequence[str],
        most: int,
        now: datetime | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.explorer = explorer
        self.calls = 0
        self._llm = llm
        self._question = _first(one_line(question, 3 * QUESTION), QUESTION)
        self._missing = _first(one_line("; ".join(missing), 3 * MISSING), MISSING)
        self._most = most
        self._now = now
        self._cancelled = cancelled
        self._steps: list[tuple[float, dict[str, Any]]] = []

    def choose(self, system: str, labels: Sequence[str], most: int) -> tuple[tuple[int, ...], bool]:
        """Which of the labels the model takes, at most so many: their places; and whether it says that it is done. The
        first if it says neither."""
        said = self.ask(system, labels)
        numbers, done = chosen(said, len(labels), most)
        self._steps[-1][1]["said"] = "done" if done else "numbers" if numbers else "nothing of use"
        return numbers or (0,), done

    def take(self, options: Sequence[Option]) -> bool:
        """Takes these; whether anything of it is new."""
        new = [option for option in options if self.explorer.take(option)]
        detail = self._steps[-1][1]
        detail["taken"] = [option.episode for option in new]
        detail["edges"] = list(dict.fromkeys(edge for option in new for edge in option.edges))
        return bool(new)

    def ask(self, system: str, labels: Sequence[str] = ()) -> str:
        """What the model says to what was found, and to the labels. StoppedError if it says nothing, or may not be
        asked any more."""
        if self.calls >= self._most:
            raise StoppedError("calls")
        self.calls += 1
        begun = perf_counter()
        request = self._request(system, labels)
        detail: dict[str, Any] = {"call": self.calls, "options": len(labels)}
        try:
            reply = self._llm.complete(request)
            detail["tokens"] = reply.usage.total
            return reply.text
        except Exception as error:  # a model of somebody else's may raise anything
            detail["said"] = type(error).__name__
            detail["broke"] = not isinstance(error, OverBudgetError)
            if isinstance(error, ModelCancelledError) and self._cancelled is not None and self._cancelled():
                raise
            raise StoppedError(type(error).__name__) from error
        finally:
            self._steps.append(((perf_counter() - begun) * 1000, detail))

    def ended(self, stopped: str) -> tuple[Step, ...]:
        """The steps, of which the last one says why it ended."""
        steps = self._steps or [(0.0, {"call": 0})]
        steps[-1][1]["stopped"] = stopped
        return tuple(Step("guided", ms, detail) for ms, detail in steps)

    def _request(self, system: str, labels: Sequence[str]) -> LlmRequest:
        fence = secrets.token_hex(8)
        parts = [f"Today is {self._now.date().isoformat()}."] if self._now else []
        parts.append(f"The question:\n{fence}\n{self._question}\n{fence}")
        if self._missing:
            parts.append(f"Still missing: {self._missing}")
        room = PROMPT - about_tokens(system) - sum(map(about_tokens, parts)) - 50
        options = [f"[{number}] {label}" for number, label in enumerate(labels, 1)]
        options = cut(options, room * SHARE)
        room -= sum(map(about_tokens, options))
        found = cut([f"- {line}" for line in self.explorer.evidence(FOUND)], room)
        for head, lines in (("What was found:", found or ["- nothing"]), ("Where to look next:", options)):
            if lines:
                parts.append("\n".join([head, fence, *lines, fence]))
        return LlmRequest(
            system=system,
            messages=(Message("user", "\n\n".join(parts)),),
            max_tokens=REPLY,
            local_only=not self.explorer.only_open,
            purpose=PURPOSE,
            cancelled=self._cancelled,
        )


def cut(lines: Sequence[str], tokens: float) -> list[str]:
    """The lines, the longest of them cut so that all together have about so many tokens; none is left out."""
    sizes = sorted(map(about_tokens, lines))
    most, left = 0, tokens
    for place, size in enumerate(sizes):
        most = max(LEAST, int(left / (len(sizes) - place)))
        if size > most:
            break
        left -= size
        most = size
    return [_first(line, most) for line in lines]


def _first(line: str, tokens: int) -> str:
    """As much of a line as has about so many tokens."""
    if about_tokens(line) <= tokens:
        return line
    return f"{line.encode()[: 3 * tokens - 6].decode(errors='ignore').rstrip()}…"


def chosen(said: str, n: int, most: int) -> tuple[tuple[int, ...], bool]:
    """Places of what a reply chooses of `n` options, at most so many; and whether it says that it is done. Of a longer
    reply the first line that holds a number of an option counts."""
    text = THOUGHT.sub("", said).strip()
    if re.match(rf"\W*{DONE}\b", text, re.IGNORECASE):
        return (), True
    for line in text.splitlines():
        numbers = dict.fromkeys(int(found) - 1 for found in _NUMBER.findall(line) if 1 <= int(found) <= n)
        if numbers:
            return tuple(numbers)[:most], False
    return (), bool(re.search(rf"\b{DONE}\b", text))
