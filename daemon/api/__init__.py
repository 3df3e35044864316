"""The HTTP API: the calls of `daemon.calls` over a socket. Every error is a Failed.

Each question runs in a thread; writes go through the writer. Both run outside the event loop, which only moves bytes.
All requests pass `Gate` first, which limits who may connect and how many requests run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from inspect import cleandoc
from operator import attrgetter
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from daemon import wire
from daemon.api import facts, process, questions, sources
from daemon.api.routing import Endpoint, fail
from daemon.api.services import Services
from daemon.calls import Call, Calls, list_calls
from daemon.calls.process import DaemonCalls
from daemon.failures import failure
from daemon.wire.codec import SENT_TOO
from memory.errors import PalimpsestError
from plugins.installing import read_version

TOPICS = (facts, process, questions, sources)


def build(services: Services, calls: type[Calls] = DaemonCalls, topics: tuple[ModuleType, ...] = TOPICS) -> Starlette:
    """Builds the application without its gate. `topics` contain the functions of the calls."""
    endpoints = [Endpoint(call, find_function(call, topics), services) for call in list_calls(calls)]

    async def describe_calls(request: Request) -> Response:
        return JSONResponse(describe(endpoints))

    kinds = (PalimpsestError, CancelledError, OverflowError, Exception)
    handlers: dict[Any, Any] = dict.fromkeys(kinds, _explain) | {HTTPException: _refuse}
    routes = [*(endpoint.route() for endpoint in endpoints), Route("/openapi.json", describe_calls)]
    return Starlette(routes=routes, exception_handlers=handlers)


def find_function(call: Call, topics: tuple[ModuleType, ...] = TOPICS) -> Callable[..., Any]:
    """Returns the function that answers a call: it takes `services` or `memory`, then the arguments. LookupError if
    there is no function of its name, or several."""
    if call.to:
        return lambda services, **values: attrgetter(call.to)(services)(*map(values.get, call.parameters))
    known = [(topic, vars(topic).get(call.name)) for topic in topics]
    functions: list[Any] = [value for topic, value in known if getattr(value, "__module__", "") == topic.__name__]
    if len(functions) != 1:
        raise LookupError(f"{len(functions)} functions are called {call.name}, where one should be")
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


PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Returns the OpenAPI document as JSON. Each stream is described as JSON lines of any type."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    failed = {"description": "It could not be done.", "content": _describe_json(wire.Failed, schemas)}
    for endpoint in endpoints:
        call = endpoint.call
        done = {"description": "It is done.", "content": _make_reply(call, schemas)}
        operation: dict[str, Any] = {
            "operationId": call.name,
            "description": cleandoc(call.stub.__doc__ or ""),
            "responses": {"200": done, "default": failed},
        }
        if endpoint.body:
            body = _make_object(endpoint.body, endpoint.required, schemas)
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
        for name, kind in endpoint.url.items():
            operation.setdefault("parameters", []).append(
                {
                    "name": name,
                    "in": "path" if call.in_path(name) else "query",
                    "required": name in endpoint.required,
                    "schema": _make_schema(kind, schemas),
                }
            )
        paths.setdefault(call.path, {})[call.method.lower()] = operation
    info = {"title": "Palimpsest", "version": read_version()}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas}}


def _make_reply(call: Call, schemas: dict[str, Any]) -> dict[str, Any]:
    returned = call.types["return"]
    if call.is_stream:
        return {"application/x-ndjson": {}}
    if call.field:
        return {"application/json": {"schema": _make_object({call.field: returned}, [call.field], schemas)}}
    return _describe_json(dict if returned is NoneType else returned, schemas)  # nothing: an empty object


def _describe_json(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": _make_schema(kind, schemas)}}


def _make_object(kinds: Mapping[str, Any], required: Collection[str], schemas: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _make_schema(kind, schemas) for name, kind in kinds.items()}
    needed = [name for name in kinds if name in required]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _make_schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON schema of a type; a dataclass is described once, in `schemas`."""
    if is_dataclass(kind):
        name = kind.__name__  # type: ignore[union-attr]
        if name not in schemas:
            schemas[name] = {}  # it may hold itself
            sent = dict.fromkeys(SENT_TOO.get(name, ()), Any)
            required = [
                item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING
            ]
            schemas[name] = _make_object(get_type_hints(kind) | sent, required, schemas) | {"description": kind.__doc__}
        return {"$ref": f"#/components/schemas/{name}"}
    if get_origin(kind) in (tuple, Sequence):
        return {"type": "array", "items": _make_schema(get_args(kind)[0], schemas)}
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if kind is Path:
        return {"type": "string", "format": "path"}
    if kind is datetime:
        return {"type": "string", "format": "date-time"}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": [*get_args(kind)]}
    if get_origin(kind) in (dict, Mapping) or kind in (dict, Any):
        return {} if kind is Any else {"type": "object"}
    return {"anyOf": [_make_schema(option, schemas) for option in get_args(kind)]}
