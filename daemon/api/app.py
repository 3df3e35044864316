"""The HTTP API: the calls of `daemon.calls` over a socket. Every error is a Failed.

Each question runs in a thread; writes go through the writer. Both run outside the event loop, which only moves bytes.
All requests pass `Gate` first, which limits who may connect and how many requests run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from types import ModuleType
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from daemon import wire
from daemon.api import facts, process, questions, sources
from daemon.api.routing import Endpoint, fail
from daemon.api.services import Services
from daemon.calls import DaemonCalls
from daemon.calls.declaration import Calls, list_calls
from daemon.failures import failure
from memory.errors import PalimpsestError

TOPICS = (facts, process, questions, sources)


def build(services: Services, calls: type[Calls] = DaemonCalls, topics: tuple[ModuleType, ...] = TOPICS) -> Starlette:
    """Builds the application without its gate. `topics` contain the functions of the calls."""
    endpoints = [Endpoint(call, find_function(call.name, topics), services) for call in list_calls(calls)]

    async def describe_calls(request: Request) -> Response:
        from daemon.api.description import describe

        return JSONResponse(describe(endpoints))

    kinds = (PalimpsestError, CancelledError, OverflowError, Exception)
    handlers: dict[Any, Any] = dict.fromkeys(kinds, _explain) | {HTTPException: _refuse}
    routes = [*(endpoint.route() for endpoint in endpoints), Route("/openapi.json", describe_calls)]
    return Starlette(routes=routes, exception_handlers=handlers)


def find_function(name: str, topics: tuple[ModuleType, ...] = TOPICS) -> Callable[..., Any]:
    """Returns the function that implements a call, by its name. LookupError if there is no function or several."""
    known = [(topic, vars(topic).get(name)) for topic in topics]
    functions: list[Any] = [value for topic, value in known if getattr(value, "__module__", "") == topic.__name__]
    if len(functions) != 1:
        raise LookupError(f"{len(functions)} functions are called {name}, where one should be")
    function: Callable[..., Any] = functions[0]
    return function


async def _explain(request: Request, error: Exception) -> Response:
    return fail(failure(error))


async def _refuse(request: Request, error: HTTPException) -> Response:
    match error.status_code:
        case 404:
            return fail(wire.Failed("not_found", f"There is no {request.url.path}.", "See /openapi.json."))
        case 405:
            return fail(wire.Failed("not_allowed", f"{request.method} is not for {request.url.path}."))
        case _:
            return fail(wire.Failed("bad_input", str(error.detail)))
