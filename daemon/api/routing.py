"""Declared calls as routes: what a URL and a body say, checked; the call's function; and the reply. And the gate before
them: who may come in, how many, how large a request may be, and the reply to an unexpected error.

A request counts once it has arrived completely: a partial one keeps nobody out. `daemon.process.server` sets a time
limit for the rest of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from inspect import iscoroutinefunction
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daemon import wire
from daemon.api.services import Services
from daemon.calls import Call
from daemon.client.connection import Lines
from daemon.failures import CODES, failure, log_unexpected
from daemon.jobs.activity import Channel
from daemon.wire.codec import decode_fields, parse_path, parse_time
from memory.errors import InvalidInputError

log = logging.getLogger(__name__)

MOST_ROWS = 1000  # of any list
KINDS = {int: "a whole number", bool: "true or false", Path: "an absolute path"}
IN_FLIGHT = 16  # open requests; a client above this number tries again
BODY_BYTES = 2 << 20
HEADERS_BYTES = 16 << 10
LISTENERS = 32  # to the daemon's activity: a chat is one while it is open
SECRETS = "/secrets"  # and what is below it: never over a port
ALWAYS = ("/hello", "/stop")  # however many others there are: neither takes any time
TOO_LARGE = wire.Failed(
    "too_large", "The request is larger than 2 MiB.", "Save the text as a file and add that: pal add FILE."
)
TOO_LARGE_A_HEAD = wire.Failed("too_large", "The head of the request is larger than 16 KiB.")
NO_JSON = wire.Failed("bad_input", "The request is not JSON.", "Say that it is: Content-Type: application/json")
BUSY = wire.Failed("busy", "Too many requests at the same time.", "Try again in a moment.")
TOO_MANY_LISTENERS = wire.Failed("busy", f"{LISTENERS} programs listen to the memory already.", "Close a chat.")


@dataclass
class Endpoint:
    """The route of a call. Its types are resolved with the first request, to start quickly. The function takes `memory`
    or `services`, whichever it names first, then the call's parameters. It returns the result, an iterator of pieces
    for a call that returns Lines, or a Response."""

    call: Call
    function: Callable[..., Any]
    services: Services

    @cached_property
    def required(self) -> set[str]:
        """Returns the parameters without a default."""
        return {*self.call.parameters} - self.call.defaults.keys()

    @cached_property
    def body(self) -> dict[str, Any]:
        """Returns the parameters in the body, with their types."""
        return {name: kind for name, kind in self._kinds if self.call.has_body and not self.call.in_path(name)}

    @cached_property
    def url(self) -> dict[str, Any]:
        """Returns the parameters in the URL, with their types."""
        return {name: kind for name, kind in self._kinds if name not in self.body}

    @property
    def _kinds(self) -> list[tuple[str, Any]]:
        return [(name, kind) for name, kind in self.call.types.items() if name != "return"]

    def route(self) -> Route:
        return Route(self.call.path, self.answer, methods=[self.call.method])

    async def answer(self, request: Request) -> Response:
        """Calls the function. Raises its errors, and InvalidInputError for an invalid request."""
        given = {**request.query_params, **request.path_params}
        if unknown := sorted(given.keys() - self.url):
            raise InvalidInputError(f"There is no parameter {unknown[0][:40]!r}.")
        if missing := sorted(self.required.intersection(self.url) - given.keys()):
            raise InvalidInputError(f"{missing[0]} is missing.")
        values = {name: _parse(kind, name, given[name]) for name, kind in self.url.items() if name in given}
        body = await request.body()
        if self.body or body:
            values |= parse_body(self.body, self.required.intersection(self.body), body)
        for name, bounds in self.call.bounds.items():
            if name in values and values[name] not in bounds:
                raise InvalidInputError(f"{name} is {values[name]}; ask for {bounds[0]} to {bounds[-1]}.")
        result = await self._run(self.call.defaults | values)
        if isinstance(result, Response):
            return result
        if self.call.types["return"] is Lines:
            return StreamingResponse(_read_in_thread(result), media_type="application/x-ndjson")
        return reply({self.call.field: result} if self.call.field else {} if result is None else result)

    async def _run(self, values: dict[str, Any]) -> Any:
        subject = self.services if self.function.__code__.co_varnames[0] == "services" else self.services.memory
        if iscoroutinefunction(self.function):
            return await self.function(subject, **values)
        run = getattr(self.services, self.call.thread)
        return await run(partial(self.function, subject, **values))


async def _read_in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Reads all of an iterator in one thread: a snapshot belongs to the thread that reads it."""
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "export")
    try:
        while piece := await loop.run_in_executor(thread, next, pieces, b""):
            yield piece
    except Exception as error:
        log.error("an export failed: %s", type(error).__name__)
        yield wire.event_line(failure(error))
    finally:
        thread.submit(pieces.close)  # type: ignore[attr-defined]  # it is a generator: its snapshot ends
        thread.shutdown(wait=False)


def parse_body(kinds: Mapping[str, Any], required: Collection[str], body: bytes) -> dict[str, Any]:
    """Returns the fields of a body. InvalidInputError, which quotes nothing of the body except an invalid time."""
    try:
        data = json.loads(body, object_pairs_hook=_once, parse_constant=_refuse)
        return decode_fields(kinds, data, sorted(required), strict=True)
    except InvalidInputError:  # which says it all
        raise
    except RecursionError as error:
        raise InvalidInputError("The request is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"The request is not JSON: {error.msg}.") from error
    except ValueError as error:  # also what is not UTF-8
        raise InvalidInputError(f"The request cannot be understood: {error}.") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Rejects duplicate fields: choosing one value would be a guess."""
    if len(fields := dict(pairs)) < len(pairs):
        raise ValueError("it has a field twice")
    return fields


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def reply(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(wire.encode(value)).encode("ascii"), status, media_type="application/json")


def stream(events: AsyncIterator[wire.Event]) -> Response:
    """Streams events, one per line."""

    async def lines() -> AsyncIterator[bytes]:
        async for event in events:
            yield wire.event_line(event)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


def follow(services: Services, work: Callable[[Channel], wire.Event], name: str) -> Response:
    """Streams the events of long work, at last its result or error. The work continues without a listener unless it
    checks that, because a half-finished one is useless."""
    channel = Channel()

    def run() -> None:
        try:
            channel.put(work(channel))
        except (Exception, CancelledError) as error:
            log.error("%s failed: %s", name, type(error).__name__)
            channel.put(failure(error))
        finally:
            channel.end()

    services.workers.submit(run)
    return stream(channel.events())


def _parse(kind: Any, name: str, text: str) -> Any:
    """Parses a value in a URL."""
    if get_origin(kind) is Sequence:
        return tuple(filter(None, text.split(",")))
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise InvalidInputError(f"{name} must be one of {', '.join(get_args(kind))}.")
        return text
    [plain] = {*(get_args(kind) or [kind])} - {NoneType}
    if plain is datetime:
        return parse_time(text, name)
    try:
        if plain is bool:
            return {"true": True, "false": False}[text.lower()]
        return parse_path(text, name) if plain is Path else plain(text)
    except (ValueError, KeyError) as error:
        raise InvalidInputError(f"{name} must be {KINDS.get(plain, 'text')}.") from error


def fail(problem: wire.Failed) -> Response:
    response = reply(problem, CODES[problem.code][0])
    if problem is BUSY or problem.code == "stopping":  # the store has waited for its own lock already
        response.headers["Retry-After"] = "1"
    return response


class Gate:
    """Admits requests: `most` at a time, none while the daemon stops."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = {"listeners": LISTENERS, "requests": most}
        self._open: Counter[str] = Counter()
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if problem := self._check_head(scope):
            await fail(problem)(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return  # its client has gone
        kind = "listeners" if scope["path"] == "/activity" else "requests"
        if problem := _check_body(body, scope) or self._check_limit(kind, scope["path"]):
            await fail(problem)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        started = False

        async def bring() -> Message:
            return messages.pop() if messages else await receive()

        async def note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        counted = scope["path"] not in ALWAYS
        self._open[kind] += counted
        try:
            await self._app(scope, bring, note)
        except (Exception, SystemExit) as error:  # which a plug-in may raise, and which would end the daemon
            log_unexpected(log, "%s %s", scope["method"], scope["path"], error=error)
            if not started:
                await fail(failure(error))(scope, receive, send)
        finally:
            self._open[kind] -= counted

    def _check_head(self, scope: Scope) -> wire.Failed | None:
        if scope["path"].startswith(SECRETS) and scope.get("client") is not None:  # a socket has no address
            return wire.Failed("forbidden", "Secrets are shown on the daemon's own socket only, never over a port.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS_BYTES:
            return TOO_LARGE_A_HEAD
        declared = dict(scope["headers"]).get(b"content-length", b"0")  # a number: the server has looked
        return TOO_LARGE if int(declared) > BODY_BYTES else None

    def _check_limit(self, kind: str, path: str) -> wire.Failed | None:
        if self.stopping:
            return failure(CancelledError())
        is_full = path not in ALWAYS and self._open[kind] >= self._most[kind]
        return (TOO_MANY_LISTENERS if kind == "listeners" else BUSY) if is_full else None


def _check_body(body: bytes, scope: Scope) -> wire.Failed | None:
    """Requires JSON: a web page may send a form or plain text to any address without permission, but not JSON."""
    if len(body) > BODY_BYTES:
        return TOO_LARGE
    kind = dict(scope["headers"]).get(b"content-type", b"").partition(b";")[0].strip().lower()
    return NO_JSON if body and kind != b"application/json" else None


async def read_body(receive: Receive, most: int = BODY_BYTES) -> bytes | None:
    """Returns the body, or as much of it as shows that it is too large; None if the client disconnects."""
    body = b""
    more = True
    while more and len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
