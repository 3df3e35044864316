"""Routes to coroutines over the types of `daemon.wire`: what a URL and a body say, checked, and the reply."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from inspect import Parameter, signature
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from daemon import wire
from memory.errors import InvalidInputError

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])

KINDS = {int: "a whole number", bool: "true or false"}


class Api:
    """Takes handlers by decorator. A handler's parameter of a wire type is the body, every other one stands in the URL;
    it returns a value of the wire, or a Response.
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
    def parameters(self) -> list[Parameter]:
        return list(signature(self.handler).parameters.values())

    async def answer(self, request: Request) -> Response:
        """Raises what the handler raises, and InvalidInputError for a request that is not what it takes."""
        given = {**request.query_params, **request.path_params}
        values = {}
        for parameter in self.parameters:
            name, kind = parameter.name, self.types[parameter.name]
            if is_dataclass(kind):
                values[name] = parse_body(kind, await request.body())
            elif name in given:
                values[name] = _parse(kind, name, given[name])
            elif parameter.default is Parameter.empty:
                raise InvalidInputError(f"{name} is missing.")
        result = await self.handler(**values)
        return result if isinstance(result, Response) else reply(result)


def parse_body(kind: Any, body: bytes) -> Any:
    """A body as a `kind` of the wire. Raises InvalidInputError; nothing of the body is quoted back."""
    try:
        return wire.decode(kind, json.loads(body))
    except RecursionError as error:
        raise InvalidInputError("The request is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"The request is not JSON: {error.msg}.") from error
    except ValueError as error:  # also what is not UTF-8
        raise InvalidInputError(f"The request cannot be understood: {error}.") from error


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
    try:
        if plain is bool:
            return {"true": True, "false": False}[text.lower()]
        return plain(text)
    except (ValueError, KeyError) as error:
        raise InvalidInputError(f"{name} must be {KINDS.get(plain, 'text')}.") from error
