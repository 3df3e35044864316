"""Options: how a question is asked, the models that may answer it, and its budget of model calls, tokens and seconds,
which no model can exceed.

All stages of a question use one `Metered` model, so the answer gets what guided expansion has left.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memory.errors import ModelCancelledError, ModelError, ModelTimeoutError, OverBudgetError
from memory.llm import NOTHING, Allowance, LlmRequest, Reply, Usage, about_tokens, length
from memory.nouns import Effort
from memory.protocols import LLM, ChooseLLM, choose_none


@dataclass(frozen=True, slots=True)
class AskOptions:
    """`question`: as the person asked it, if another text is searched; `now`; `as_of`; `before`: the questions it may
    follow; `cancelled`: whether the person stopped waiting; `effort`: its budget; `replay`: whether replay may be used;
    `strategy`: for retrieval, "" for the configured one; `agent`: that asks; `writer`, `driver`: choose the models that
    write the answer and that drive the tools of memory. Without a writer the answer is extractive."""

    now: datetime | None = None
    as_of: datetime | None = None
    before: tuple[str, ...] = ()
    cancelled: Callable[[], bool] | None = None
    question: str = ""
    effort: Effort = "normal"
    replay: bool = True
    strategy: str = ""
    agent: str = ""
    writer: ChooseLLM = choose_none
    driver: ChooseLLM = choose_none

    @property
    def today(self) -> datetime:
        """The time of asking."""
        return self.now or self.as_of or datetime.now(UTC)


LEAST_REPLY_TOKENS = 32  # that a call must leave room for


ALLOWANCES: dict[Effort, Allowance] = {  # the seconds are shares of those in the settings
    "quick": Allowance(1, 6_000, 0.5),
    "normal": Allowance(4, 12_000, 1),
    "deep": Allowance(12, 20_000, 3),
}
MAX_GUIDED_CALLS = 6  # of guided expansion
AGENT_ALLOWANCE = Allowance(12, 50_000, 300)  # added for an agent


class Meter:
    """The use of a question's allowance by all its models."""

    def __init__(self, allowance: Allowance, cancelled: Callable[[], bool] | None = None) -> None:
        """`cancelled`: whether the person stopped waiting."""
        self._allowance = allowance
        self._cancelled = cancelled
        self._began: float | None = None
        self.calls = 0
        self.usage = NOTHING

    @property
    def is_late(self) -> bool:
        """Whether the time is used up."""
        return self._began is not None and time.monotonic() - self._began > self._allowance.seconds

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled is not None and self._cancelled()

    @property
    def calls_left(self) -> int:
        return 0 if self.is_late else max(0, self._allowance.calls - self.calls)

    @property
    def tokens_left(self) -> int:
        return max(0, self._allowance.tokens - self.usage.total)

    def allow(self, more: Allowance) -> None:
        """Adds to the allowance."""
        self._allowance = self._allowance.plus(more)

    def allow_seconds(self, seconds: float) -> None:
        """Allows at least these seconds."""
        self._allowance = replace(self._allowance, seconds=max(seconds, self._allowance.seconds))

    def begin(self) -> None:
        """Counts a call that begins now."""
        self._began = time.monotonic() if self._began is None else self._began
        self.calls += 1

    def should_stop(self) -> bool:
        return self.is_late or self.is_cancelled


class Metered:
    """A model within one question's budget (a `memory.protocols.LLM`). Raises OverBudgetError instead of a call that
    exceeds it, and ModelTimeoutError for a call that takes too long. `keep`: calls and tokens reserved for later."""

    def __init__(self, llm: LLM, meter: Meter, keep: Allowance | None = None) -> None:
        self._llm = llm
        self._meter = meter
        self._keep = keep or Allowance(0, 0, 0)

    @property
    def name(self) -> str:
        return self._llm.name

    @property
    def context_tokens(self) -> int:
        return self._llm.context_tokens

    @property
    def is_local(self) -> bool:
        return self._llm.is_local

    def complete(self, request: LlmRequest) -> Reply:
        admitted = self._admit(request)
        reply: Reply | None = None
        try:
            reply = self._llm.complete(admitted)
            return reply
        except ModelCancelledError:
            raise self._make_stop_error() from None
        finally:
            self._meter.usage += reply.usage if reply is not None else Usage(length(admitted))

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        admitted = self._admit(request)
        reply: Reply | None = None
        tokens = 0
        pieces = self._llm.stream(admitted)
        try:
            for piece in pieces:
                if isinstance(piece, Reply):
                    reply = piece
                else:
                    tokens += about_tokens(piece)
                    if self._meter.is_late:
                        raise self._make_timeout()
                yield piece
        except ModelCancelledError:
            raise self._make_stop_error() from None
        finally:
            if hasattr(pieces, "close"):
                pieces.close()
            self._meter.usage += reply.usage if reply is not None else Usage(length(admitted), tokens)

    def _admit(self, request: LlmRequest) -> LlmRequest:
        """Returns the request with its token limit; counts the call."""
        if self._meter.is_late:
            raise self._make_timeout()
        if self._meter.calls_left <= self._keep.calls:
            raise OverBudgetError(f"{self.name} has used all its calls for this question.")
        room = self._meter.tokens_left - self._keep.tokens - length(request)
        if room < LEAST_REPLY_TOKENS:
            raise OverBudgetError(f"{self.name} has used all its tokens for this question.")
        self._meter.begin()
        return replace(request, max_tokens=min(request.max_tokens, room), cancelled=self._meter.should_stop)

    def _make_stop_error(self) -> ModelError:
        """Returns the error for a cancelled call: a timeout, unless the person cancelled it."""
        if self._meter.is_late and not self._meter.is_cancelled:
            return self._make_timeout()
        return ModelCancelledError(f"{self.name} was stopped.")

    def _make_timeout(self) -> ModelTimeoutError:
        return ModelTimeoutError(f"{self.name} took too long for one question.")
