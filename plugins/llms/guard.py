"""What stands around every model, ours and other people's. The invariant: text of a request with `local_only` reaches
a backend only if that backend's model runs on this machine; this module is the one place where that is decided, and
nobody gets a backend except through it.

It also holds a model to its deadlines, asks again where its server was busy, leaves a broken server alone for a
while, and checks what was said. The state of one call:

    admitted -> asked -> [wait -> asked]* -> checked -> told to the meter
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import LlmRequest, Reply, Usage, about_tokens, length
from plugins.llms.call import Call
from plugins.llms.contract import Backend, Facts
from plugins.llms.structured import check_calls, parse_json

TRIES = 3
FIRST_PAUSE = 0.5  # seconds; each further one is twice as long
PATIENCE = 30.0  # seconds that a server may ask us to wait; if it wants more, the caller is told
MOST_CHARS = 1 << 20  # of a reply
FAILURES, WITHIN, LEFT_ALONE = 5, 60.0, 300.0  # so many failures within so many seconds: so many seconds of peace


class Meter(Protocol):
    """Hears of every call before and after it."""

    def check_budget(self, name: str, is_local: bool, request: LlmRequest) -> None:
        """OverBudgetError if it must not be made."""
        ...

    def record(
        self, name: str, is_local: bool, request: LlmRequest, usage: Usage, ms: float, error: ModelError | None
    ) -> None:
        """It was made. Where it failed the tokens are an estimate."""
        ...


class Guarded:
    """A `memory.protocols.LLM` around a backend."""

    def __init__(
        self,
        name: str,
        backend: Backend,
        meter: Meter | None = None,
        *,
        pause: float = FIRST_PAUSE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._backend = backend
        self._meter = meter
        self._pause = pause
        self._clock = clock
        self._failures: deque[float] = deque(maxlen=FAILURES)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._calls: set[Call] = set()

    @property
    def facts(self) -> Facts:
        """What its server says of it. ModelUnavailableError."""
        return self._backend.facts()

    @property
    def context_tokens(self) -> int:
        return self.facts.context_tokens

    @property
    def is_local(self) -> bool:
        return self._backend.is_local()

    def complete(self, request: LlmRequest) -> Reply:
        """See `memory.protocols.LLM`."""
        *_, reply = self._talk(request, deliver=False)
        assert isinstance(reply, Reply)  # it is the last item, or an error was raised
        return reply

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        """See `memory.protocols.LLM`."""
        return self._talk(request, deliver=True)

    def close(self) -> None:
        """Breaks off what is being asked; everything after is a ModelCancelledError."""
        self._closed.set()
        with self._lock:
            calls = list(self._calls)
        for call in calls:  # before its connections are closed: a socket that is closed wakes nobody who reads from it
            call.cancel()
        self._backend.close()

    def _talk(self, request: LlmRequest, deliver: bool) -> Iterator[str | Reply]:
        """With `deliver` the text is passed on as it comes, and then nothing can be asked a second time."""
        began = time.monotonic()
        heard = _Heard()
        failure: ModelError | None = ModelCancelledError("Nobody waited for the end of the answer.")
        is_local = self._admitted(request)
        try:
            with Call(self._backend.limits, lambda: self._cancelled(request)) as call, self._under_way(call):
                yield from self._asked(request, call, heard, deliver)
                reply = heard.check_reply(request)
                failure = None
            with self._lock:
                self._failures.clear()
            yield replace(reply, first_s=heard.first_s, ms=round((time.monotonic() - began) * 1000, 1))
        except ModelError as error:
            failure = error
            if isinstance(error, ModelTimeoutError) or (isinstance(error, ModelUnavailableError) and not error.lasting):
                with self._lock:
                    self._failures.append(self._clock())
            raise
        finally:
            if self._meter:
                ms = round((time.monotonic() - began) * 1000, 1)
                self._meter.record(self.name, is_local, request, heard.usage(request), ms, failure)

    @contextlib.contextmanager
    def _under_way(self, call: Call) -> Iterator[None]:
        with self._lock:
            self._calls.add(call)
        try:
            yield
        finally:
            with self._lock:
                self._calls.discard(call)

    def _admitted(self, request: LlmRequest) -> bool:
        """Raises if the request must not be made; nothing of it has been sent. Returns whether it stays here."""
        if self._cancelled(request):
            raise ModelCancelledError("The question to the model was cancelled.")
        with self._lock:
            if len(self._failures) == FAILURES and self._failures[-1] - self._failures[0] <= WITHIN:
                left = self._failures[-1] + LEFT_ALONE - self._clock()
                if left > 0:
                    raise ModelUnavailableError(
                        f"{self.name} failed {FAILURES} times in a row and is left alone for {left:.0f} s.",
                        retry_after=left,
                    )
        is_local = self._backend.is_local()
        if request.local_only and not is_local:
            raise LocalOnlyError(
                f"{self.name} is not on this machine, and the text must stay here. Use a local model, or allow the"
                " folder to be read by others."
            )
        facts = self._backend.facts()
        needed = length(request) + min(request.max_tokens, facts.context_tokens // 4)
        if needed > facts.context_tokens:
            raise OverBudgetError(
                f"The question to {self.name} is too long: about {needed:,} tokens of {facts.context_tokens:,}."
            )
        if self._meter:
            self._meter.check_budget(self.name, is_local, request)
        return is_local

    def _asked(self, request: LlmRequest, call: Call, heard: _Heard, deliver: bool) -> Iterator[str]:
        """Asks until there is a reply in `heard`."""
        for attempt in range(1, TRIES + 1):
            heard.begin()
            try:
                for item in self._backend.stream(request, call):
                    call.check()
                    if heard.take(item) and deliver:
                        assert isinstance(item, str)
                        yield item
                if heard.reply is None:
                    raise ModelUnavailableError(f"{self.name} broke off in the middle of its answer. Try again.")
                return
            except Exception as error:  # a vendor's library raises all sorts of things
                if call.reason is not None:
                    raise call.reason from error
                trouble = self._understood(error)
                pause = self._waits(trouble, attempt)
                if pause is None or (deliver and heard.text):
                    raise trouble from error
            call.wait(pause)

    def _understood(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        return ModelUnavailableError(f"{self.name} did not answer as it should ({type(error).__name__}). Try again.")

    def _waits(self, trouble: ModelError, attempt: int) -> float | None:
        """Seconds until it is asked again; None if it is not."""
        if not isinstance(trouble, ModelUnavailableError) or trouble.lasting or attempt == TRIES:
            return None
        pause = self._pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.0)
        wanted = pause if trouble.retry_after is None else max(0.0, trouble.retry_after)
        return wanted if wanted <= PATIENCE else None

    def _cancelled(self, request: LlmRequest) -> bool:
        return self._closed.is_set() or (request.cancelled is not None and request.cancelled())


class _Heard:
    """What has been heard of one reply."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._spent = ""  # of attempts that broke off
        self.text = ""
        self.first_s = 0.0
        self.reply: Reply | None = None

    def begin(self) -> None:
        """Another attempt."""
        self._spent += self.text
        self.text, self.reply = "", None

    def take(self, item: str | Reply) -> bool:
        """True for a piece of text."""
        if not self.first_s:
            self.first_s = time.monotonic() - self._began
        if isinstance(item, Reply):
            self.reply = item
            return False
        self.text += item
        if len(self.text) > MOST_CHARS:
            raise MalformedOutputError("The model writes without end; it was stopped.", self.text[:10_000])
        return bool(item)

    def check_reply(self, request: LlmRequest) -> Reply:
        """The reply, if it is what was asked for."""
        reply = self.reply
        assert reply is not None
        if reply.stop == "length" and (request.schema or reply.calls):
            raise MalformedOutputError(
                f"The model had not ended after {request.max_tokens:,} tokens, so its JSON is cut off.", reply.text
            )
        if request.schema is not None:
            return replace(reply, data=parse_json(reply.text, request.schema))
        check_calls(reply.calls, request.tools, reply.text)
        if not reply.text.strip() and not reply.calls:
            raise MalformedOutputError("The model said nothing.")
        return reply

    def usage(self, request: LlmRequest) -> Usage:
        """As counted by the server, or an estimate if it did not come to that."""
        if self.reply is not None and self.reply.usage != Usage():
            return self.reply.usage
        written = about_tokens(self._spent + self.text) if self._spent or self.text else 0
        return Usage(length(request), written) if written else Usage()
