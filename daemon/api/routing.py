"""Routes to coroutines over the types of `daemon.wire`: what a URL and a body say, checked, and the reply."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from daemon import wire
from daemon.wire.codec import decode_fields, parse_path, parse_time
from memory.errors import InvalidInputError

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])

MOST_ROWS = 1000  # of any list
KINDS = {int: "a whole number", bool: "true or false", Path: "an absolute path"}


class Api:
    """Takes handlers by decorator. A handler's parameters stand in the URL; of POST and PUT those that are not in its
    path are the fields of the body. It returns a value of the wire, nothing, or a Response.
    """

    def __init__(self) -> None:
        self.endpoints: list[Endpoint] = []

    def get(self, path: str) -> Callable[[Handler], Handler]:
        return self._adder("GET", path)

    def post(self, path: str) -> Callable[[Handler], Handler]:
        return self._adder("POST", path)

    def put(self, path: str) -> Callable[[Handler], Handler]:
        return self._adder("PUT", path)

    def delete(self, path: str) -> Callable[[Handler], Handler]:
        return self._adder("DELETE", path)

    def routes(self) -> list[Route]:
        return [Route(one.path, one.answer, methods=[one.method]) for one in self.endpoints]

    def _adder(self, method: str, path: str) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            self.endpoints.append(Endpoint(method, path, handler))
            return handler

        return add


@dataclass
class Endpoint:
    """One route. Its types are looked up with the first request: a daemon's start should not make them all."""

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]

    @cached_property
    def types(self) -> dict[str, Any]:
        """The type of each parameter, and of what it returns."""
        return get_type_hints(self.handler)

    @cached_property
    def required(self) -> set[str]:
        """The parameters without a default."""
        return {name for name, one in signature(self.handler).parameters.items() if one.default is Parameter.empty}

    def in_path(self, name: str) -> bool:
        return f"{{{name}}}" in self.path

    @cached_property
    def body(self) -> dict[str, Any]:
        """The parameters that are fields of the body, with their types."""
        if self.method not in ("POST", "PUT"):
            return {}
        return {name: kind for name, kind in self.types.items() if name != "return" and not self.in_path(name)}

    @cached_property
    def url(self) -> dict[str, Any]:
        """The parameters that stand in the URL, with their types."""
        return {name: kind for name, kind in self.types.items() if name != "return" and name not in self.body}

    async def answer(self, request: Request) -> Response:
        """Raises what the handler raises, and InvalidInputError for a request that is not what it takes."""
        given = {**request.query_params, **request.path_params}
        if unknown := sorted(given.keys() - self.url):
            raise InvalidInputError(f"There is no parameter {unknown[0][:40]!r}.")
        if missing := sorted(self.required.intersection(self.url) - given.keys()):
            raise InvalidInputError(f"{missing[0]} is missing.")
        values = {name: _parse(kind, name, given[name]) for name, kind in self.url.items() if name in given}
        body = await request.body()
        if self.body or body:
            values |= parse_body(self.body, self.required.intersection(self.body), body)
        result = await self.handler(**values)
        return result if isinstance(result, Response) else reply({} if result is None else result)


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
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a field stands in it twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def reply(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(wire.encode(value)).encode("ascii"), status, media_type="application/json")


def stream(events: AsyncIterator[wire.Event]) -> Response:
    """Events as they come, each on a line of its own."""

    async def lines() -> AsyncIterator[bytes]:
        async for event in events:
            yield wire.event_line(event)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


def _parse(kind: Any, name: str, text: str) -> Any:
    """A value out of a URL."""
    [plain] = {*(get_args(kind) or [kind])} - {NoneType}
    if plain is datetime:
        return parse_time(text, name)
    try:
        if plain is bool:
            return {"true": True, "false": False}[text.lower()]
        return parse_path(text, name) if plain is Path else plain(text)
    except (ValueError, KeyError) as error:
        raise InvalidInputError(f"{name} must be {KINDS.get(plain, 'text')}.") from error
