"""The guard around every model, ours and those of other plugins. The invariant: text of a request with `local_only`
reaches a backend only if that backend's model runs on this machine. Only this module decides that, and a backend can
only be reached through it.

It also enforces deadlines, retries if the server was busy, and checks replies. A server that failed is tried again by
the next question: it may be back. The state of one call:

    admitted -> asked -> [wait -> asked]* -> checked -> recorded by the meter
"""

import json
import random
import re
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn, Protocol

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import LlmRequest, Reply, ToolCall, Usage, about_tokens, length
from plugins.llms import Backend, ModelInfo
from plugins.llms.call import Call, repeats

TRIES = 3
FIRST_PAUSE = 0.5  # seconds; each further one is twice as long
PATIENCE = 30.0  # seconds that a server may ask us to wait; if it wants more, the caller gets an error
LEAST_REPLY_TOKENS = 256  # that must fit after a prompt, if as many are wanted
TOKEN_CHARS, TOKEN_REPEATS = 20, 30  # of one token that comes again: Ollama then ends its stream without a last line
FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


class Meter(Protocol):
    """Accounts for every call. `check_budget` is called before it and `record` after it."""

    def check_budget(self, name: str, is_local: bool, request: LlmRequest) -> None:
        """OverBudgetError if the call is not allowed."""
        ...

    def record(
        self, name: str, is_local: bool, request: LlmRequest, usage: Usage, ms: float, error: ModelError | None
    ) -> None:
        """Records a call. After an error the tokens are estimated."""
        ...


class Guarded:
    """A backend as a `memory.protocols.LLM`."""

    def __init__(self, name: str, backend: Backend, meter: Meter | None = None, *, pause: float = FIRST_PAUSE) -> None:
        self.name = name
        self._backend = backend
        self._meter = meter
        self._pause = pause
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._calls: set[Call] = set()

    @property
    def info(self) -> ModelInfo:
        """Describes the model from its server. ModelUnavailableError."""
        return self._backend.info()

    @property
    def context_tokens(self) -> int:
        return self.info.context_tokens

    @property
    def is_local(self) -> bool:
        return self._backend.is_local()

    def complete(self, request: LlmRequest) -> Reply:
        *_, reply = self._talk(request, deliver=False)
        assert isinstance(reply, Reply)  # it is the last item, or an error was raised
        return reply

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        return self._talk(request, deliver=True)

    def close(self) -> None:
        """Interrupts running calls; later ones raise ModelCancelledError."""
        self._closed.set()
        with self._lock:
            calls = list(self._calls)
        for call in calls:  # before its connections are closed: closing a socket does not wake its reader
            call.cancel()
        self._backend.close()

    def _talk(self, request: LlmRequest, deliver: bool) -> Iterator[str | Reply]:
        """Makes the call. With `deliver` it yields the text as it arrives, and then cannot retry."""
        began = time.monotonic()
        failure: ModelError | None = ModelCancelledError("The client left before the end of the answer.")
        is_local, request = self._admit(request)
        call = Call(self._backend.limits, lambda: self._is_cancelled(request))
        with self._lock:
            self._calls.add(call)
        try:
            with call:
                reply = check_reply((yield from self._ask(request, call, deliver)), request)
                failure = None
            yield replace(reply, first_s=call.first_s, ms=_measure_ms(began))
        except ModelError as error:
            failure = error
            raise
        finally:
            with self._lock:
                self._calls.discard(call)
            if self._meter:
                self._meter.record(
                    self.name, is_local, request, _count_usage(call, request), _measure_ms(began), failure
                )

    def _admit(self, request: LlmRequest) -> tuple[bool, LlmRequest]:
        """Returns whether the request stays on this machine, and the request with its reply limited to the remaining
        context. Raises ModelError if the request is not allowed; nothing of it has been sent."""
        if self._is_cancelled(request):
            raise ModelCancelledError("The question to the model was cancelled.")
        is_local = self._backend.is_local()
        if request.local_only and not is_local:
            raise LocalOnlyError(
                f"{self.name} is not on this machine, and the text must stay here. Use a local model, or let it"
                " have the text of a folder: pal add FOLDER --policy any"
            )
        room, prompt = self.context_tokens, length(request)
        if room - prompt < min(request.max_tokens, LEAST_REPLY_TOKENS):
            raise OverBudgetError(f"The question to {self.name} is too long: about {prompt:,} tokens of {room:,}.")
        if self._meter:
            self._meter.check_budget(self.name, is_local, request)
        return is_local, replace(request, max_tokens=min(request.max_tokens, room - prompt))

    def _ask(self, request: LlmRequest, call: Call, deliver: bool) -> Generator[str, None, Reply]:
        """Retries until there is a reply."""
        attempt = 1
        while True:
            try:
                for item in self._backend.stream(request, call):
                    call.check()
                    call.hear(item)
                    if deliver and isinstance(item, str) and item:
                        yield item
                if call.reply is None and repeats(call.text, TOKEN_CHARS, TOKEN_REPEATS):
                    raise MalformedOutputError("The model repeats itself; its server stopped it.", call.text)
                if call.reply is None:
                    raise ModelUnavailableError(f"{self.name} broke off in the middle of its answer. Try again.")
                return call.reply
            except (Exception, SystemExit) as error:  # a vendor's library, or a plug-in, raises all sorts of things
                if call.reason is not None:
                    raise call.reason from error
                odd = f"The server of {self.name} broke off, or what it sent is no answer. Ask again, or see its log."
                trouble = error if isinstance(error, ModelError) else ModelUnavailableError(odd)
                trouble.add_note(type(error).__name__)  # for who reads a log
                pause = self._pause_before(attempt + 1, trouble)
                if pause is None or (deliver and call.text):
                    raise trouble from error
            call.begin_again()
            call.wait(pause)
            attempt += 1

    def _pause_before(self, attempt: int, trouble: ModelError) -> float | None:
        """Returns the seconds until the next attempt; None for no more attempts."""
        if not isinstance(trouble, ModelUnavailableError) or trouble.lasting or attempt > TRIES:
            return None
        pause = self._pause * 2 ** (attempt - 2) * random.uniform(0.75, 1.0)
        seconds = pause if trouble.retry_after is None else max(0.0, trouble.retry_after)
        return seconds if seconds <= PATIENCE else None

    def _is_cancelled(self, request: LlmRequest) -> bool:
        return self._closed.is_set() or (request.cancelled is not None and request.cancelled())


def _measure_ms(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)


def _count_usage(call: Call, request: LlmRequest) -> Usage:
    """Returns the server's token counts, or an estimate without them."""
    if call.reply is not None and call.reply.usage != Usage():
        return call.reply.usage
    written = call.spent + call.text
    return Usage(length(request), about_tokens(written)) if written else Usage()


# Replies: untrusted data, so nothing of them gets into an error's message -----------------------------------


def check_reply(reply: Reply, request: LlmRequest) -> Reply:
    """Returns the reply with its data if it is valid for the request. MalformedOutputError."""
    if reply.stop == "length" and (request.schema or reply.calls):
        raise MalformedOutputError(
            f"The model had not ended after {request.max_tokens:,} tokens, so its JSON is cut off.", reply.text
        )
    if request.schema is not None:
        return replace(reply, data=parse_json(reply.text, request.schema))
    troubles = [_find_trouble(call, request) for call in reply.calls]
    if troubles and all(troubles):  # of several calls each is judged by itself, where it is made
        raise MalformedOutputError(f"The model called {troubles[0]}.", reply.text)
    if not reply.text.strip() and not reply.calls:
        raise MalformedOutputError("The model wrote nothing.")
    return reply


def _find_trouble(call: ToolCall, request: LlmRequest) -> str:
    """Describes an invalid tool call; "" if it is valid."""
    tool = next((tool for tool in request.tools if tool.name == call.name), None)
    if tool is None:
        return "a tool that there is not"
    trouble = _find_violation(dict(call.arguments), tool.parameters)
    return f"{tool.name} with wrong arguments: {trouble}" if trouble else ""


def parse_json(text: str, schema: Mapping[str, Any]) -> Any:
    """Parses JSON that follows the schema. MalformedOutputError with the first violation."""
    if not text.strip():
        raise MalformedOutputError("The model wrote nothing instead of JSON.")
    fenced = FENCE.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text, parse_constant=_refuse_number)
    except (ValueError, RecursionError) as error:
        where = f"at character {error.pos}" if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise MalformedOutputError(f"The model's reply is not JSON ({where}).", text) from None
    if trouble := _find_violation(value, schema):
        raise MalformedOutputError(f"The model's JSON does not follow the schema: {trouble}.", text)
    return value


def _refuse_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _find_violation(value: Any, schema: Mapping[str, Any]) -> str:
    """Describes where a value first violates a schema, and which rule; "" if it is valid."""
    from jsonschema import Draft202012Validator

    try:
        error = next(Draft202012Validator(dict(schema)).iter_errors(value), None)
    except RecursionError:
        return "it is too deep"
    return f"{error.json_path[:200]}: {error.validator}" if error else ""
