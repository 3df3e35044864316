"""The OpenAPI description, generated from the calls and wire types on request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from daemon import wire
from daemon.api.routing import Endpoint
from daemon.calls.declaration import Call
from daemon.wire.codec import SENT_TOO
from plugins.installing import read_version

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
            sent = dict.fromkeys(SENT_TOO.get(name, ()), str)
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
