"""Declared calls as routes: what a URL and a body say, checked; the call's function; and the reply."""

from __future__ import annotations

import asyncio
import json
import logging
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

from daemon import wire
from daemon.api.services import Services
from daemon.calls.declaration import Call
from daemon.client.connection import Lines
from daemon.failures import failure
from daemon.jobs.activity import Channel
from daemon.wire.codec import decode_fields, parse_path, parse_time
from memory.errors import InvalidInputError

log = logging.getLogger(__name__)

MOST_ROWS = 1000  # of any list
KINDS = {int: "a whole number", bool: "true or false", Path: "an absolute path"}


@dataclass
class Endpoint:
    """The route of a call. Its types are looked up with the first request: a daemon's start should not make them all.

    The call's function takes `memory` or `services`, whichever it names first, then the call's parameters. It returns
    the result, an iterator of pieces for a call that returns Lines, or a Response.
    """

    call: Call
    function: Callable[..., Any]
    services: Services

    @cached_property
    def required(self) -> set[str]:
        """The parameters without a default."""
        return {*self.call.parameters} - self.call.defaults.keys()

    @cached_property
    def body(self) -> dict[str, Any]:
        """The parameters that are fields of the body, with their types."""
        return {name: kind for name, kind in self._kinds if self.call.has_body and not self.call.in_path(name)}

    @cached_property
    def url(self) -> dict[str, Any]:
        """The parameters in the URL, with their types."""
        return {name: kind for name, kind in self._kinds if name not in self.body}

    @property
    def _kinds(self) -> list[tuple[str, Any]]:
        return [(name, kind) for name, kind in self.call.types.items() if name != "return"]

    def route(self) -> Route:
        return Route(self.call.path, self.answer, methods=[self.call.method])

    async def answer(self, request: Request) -> Response:
        """Raises what the function raises, and InvalidInputError for a request that the call does not take."""
        given = {**request.query_params, **request.path_params}
        if unknown := sorted(given.keys() - self.url):
            raise InvalidInputError(f"There is no parameter {unknown[0][:40]!r}.")
        if missing := sorted(self.required.intersection(self.url) - given.keys()):
            raise InvalidInputError(f"{missing[0]} is missing.")
        values = {name: _parse(kind, name, given[name]) for name, kind in self.url.items() if name in given}
        body = await request.body()
        if self.body or body:
            values |= parse_body(self.body, self.required.intersection(self.body), body)
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
    """What an iterator gives, all of it read in one thread: a snapshot belongs to the thread that reads it."""
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
    """The fields of a body. Raises InvalidInputError; nothing of the body but a bad time is quoted back."""
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
    """Two values for one field: which of them counts would be a guess."""
    if len(fields := dict(pairs)) < len(pairs):
        raise ValueError("it has a field twice")
    return fields


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def reply(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(wire.encode(value)).encode("ascii"), status, media_type="application/json")


def stream(events: AsyncIterator[wire.Event]) -> Response:
    """Events as they come, one a line."""

    async def lines() -> AsyncIterator[bytes]:
        async for event in events:
            yield wire.event_line(event)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


def follow(services: Services, work: Callable[[Channel], wire.Event], name: str) -> Response:
    """The events of long work as they come, at last the one that it returns, or its error. It goes on if nobody listens
    any more, unless it looks at that: half of it helps nobody."""
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
    """A value out of a URL."""
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
