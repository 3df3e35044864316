"""How a question is asked: its options, the models that may answer it, and what it may take of models (calls, tokens,
seconds). Whatever a model does, none of that is exceeded.

All stages of a question ask through one `Metered` model, so what guided expansion took is not there for the answer any
more, and nobody has to count.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from memory.errors import ModelCancelledError, ModelError, ModelTimeoutError, OverBudgetError
from memory.llm import NOTHING, Allowance, LlmRequest, Reply, Usage, about_tokens, length
from memory.nouns import Effort
from memory.protocols import LLM, ChooseLLM
from memory.trace import PLAIN, Plan


class ModelChoice(NamedTuple):
    """Who may be asked: a model that writes the answer, and one that may drive the tools of memory. Without the first
    the extractive answer is the answer."""

    writer: ChooseLLM | None = None
    driver: ChooseLLM | None = None


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The `question` as the person put it, where what is searched for is another, `now`, `as_of`, the questions it may
    follow, whether it still matters, how much it may take, whether it is to use what is remembered, the `strategy` that
    retrieves ("" for that of the settings), the `agent` that asks, and `plan`, as its trace will tell it."""

    now: datetime | None = None
    as_of: datetime | None = None
    before: tuple[str, ...] = ()
    cancelled: Callable[[], bool] | None = None
    question: str = ""
    effort: Effort = "normal"
    replay: bool = True
    strategy: str = ""
    agent: str = ""
    plan: Plan = PLAIN

    @property
    def today(self) -> datetime:
        """When it is asked, as far as the person says so."""
        return self.now or self.as_of or datetime.now(UTC)


LEAST_REPLY_TOKENS = 32  # tokens of a reply for which a call is worth making


ALLOWANCES: dict[Effort, Allowance] = {  # the seconds are shares of those in the settings
    "quick": Allowance(1, 6_000, 0.5),
    "normal": Allowance(4, 12_000, 1),
    "deep": Allowance(12, 20_000, 3),
}
MAX_GUIDED_CALLS = 6  # in which a model picks where to look
AGENT_ALLOWANCE = Allowance(12, 50_000, 300)  # what an agent may take on top
NOTHING_RESERVED = Allowance(0, 0, 0)


class Meter:
    """What a question has taken of its allowance, whichever models it asked."""

    def __init__(self, allowance: Allowance, cancelled: Callable[[], bool] | None = None) -> None:
        """`cancelled`: whether the person does not wait any more."""
        self._allowance = allowance
        self._cancelled = cancelled
        self._began: float | None = None
        self.calls = 0
        self.usage = NOTHING

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
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
        """Allows more than before."""
        self._allowance = self._allowance.plus(more)

    def allow_seconds(self, seconds: float) -> None:
        """Allows so much time at least."""
        self._allowance = replace(self._allowance, seconds=max(seconds, self._allowance.seconds))

    def begin(self) -> None:
        """Counts a call that begins now."""
        self._began = time.monotonic() if self._began is None else self._began
        self.calls += 1

    def should_stop(self) -> bool:
        return self.is_late or self.is_cancelled


class Metered:
    """A model as one question may use it (a `memory.protocols.LLM`). Raises OverBudgetError instead of making a call
    that would go beyond what the meter allows, and ModelTimeoutError for one that is not over when the time is. `keep`
    calls and tokens are left for what comes later."""

    def __init__(self, llm: LLM, meter: Meter, keep: Allowance = NOTHING_RESERVED) -> None:
        self._llm = llm
        self._meter = meter
        self._keep = keep

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
        admitted = self._admitted(request)
        reply: Reply | None = None
        try:
            reply = self._llm.complete(admitted)
            return reply
        except ModelCancelledError:
            raise self._stopped() from None
        finally:
            self._meter.usage += reply.usage if reply is not None else Usage(length(admitted))

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        admitted = self._admitted(request)
        reply: Reply | None = None
        said = 0
        pieces = self._llm.stream(admitted)
        try:
            for piece in pieces:
                if isinstance(piece, Reply):
                    reply = piece
                else:
                    said += about_tokens(piece)
                    if self._meter.is_late:
                        raise self._too_late()
                yield piece
        except ModelCancelledError:
            raise self._stopped() from None
        finally:
            if hasattr(pieces, "close"):
                pieces.close()
            self._meter.usage += reply.usage if reply is not None else Usage(length(admitted), said)

    def _admitted(self, request: LlmRequest) -> LlmRequest:
        """The request as it may be made; counts it."""
        if self._meter.is_late:
            raise self._too_late()
        if self._meter.calls_left <= self._keep.calls:
            raise OverBudgetError(f"{self.name} may not be asked more often for one question.")
        room = self._meter.tokens_left - self._keep.tokens - length(request)
        if room < LEAST_REPLY_TOKENS:
            raise OverBudgetError(f"{self.name} has read all that it may read for one question.")
        self._meter.begin()
        return replace(request, max_tokens=min(request.max_tokens, room), cancelled=self._meter.should_stop)

    def _stopped(self) -> ModelError:
        """What to raise for a call that was cancelled: for the person's sake, or because the time was over."""
        if self._meter.is_late and not self._meter.is_cancelled:
            return self._too_late()
        return ModelCancelledError(f"{self.name} was stopped.")

    def _too_late(self) -> ModelTimeoutError:
        return ModelTimeoutError(f"{self.name} took longer than a question may take.")
