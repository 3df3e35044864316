"""How a call of the daemon is declared: once, as a method without a body.

The method's name, parameters, reply and docstring are the call's. From these follow the client's method
(`daemon.client.client`), the same without a daemon (`daemon.cli.offline`), the route and its checks
(`daemon.api.routing`), the description in OpenAPI, the tools of agents (`daemon.mcp.server`) and the list in the docs.
What the daemon does is the function of the call's name in `daemon.api`, or a method of one of its parts that the
declaration names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar, cast, get_type_hints
from urllib.parse import urlencode

from daemon import wire
from daemon.client.connection import Lines, Stream
from daemon.wire.codec import decode_fields

Stub = TypeVar("Stub", bound=Callable[..., Any])
Thread = Literal["read", "work", "write"]


@dataclass(frozen=True)
class Call:
    """A declared call.

    `to`: the method that answers it, as `memory.questions.trace`, from the daemon's parts (`daemon.api.services`);
    without it a function of its name does. `thread`: where that runs, unless it is a coroutine: "read" for what a
    person waits for, "write" for a unit of the writer, "work" for all else. `slow`: it may work through the whole
    memory. `ends`: the name of the last event, of a stream that ends. `field`: the reply on the wire is an object with
    the result in this field. `offline`: it only reads the memory, so that it can be made while the daemon cannot start.
    `tool`: the name of the tool by which agents make it (`daemon.mcp.server`), "" for none; with `writes` only agents
    that may write have it.
    """

    method: str
    path: str
    stub: Callable[..., Any]
    to: str = ""
    thread: Thread = "work"
    slow: bool = False
    ends: str = ""
    field: str = ""
    offline: bool = False
    tool: str = ""
    writes: bool = False

    @property
    def name(self) -> str:
        return self.stub.__name__

    @property
    def parameters(self) -> tuple[str, ...]:
        code = self.stub.__code__
        return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    @property
    def defaults(self) -> dict[str, Any]:
        code, values = self.stub.__code__, self.stub.__defaults__ or ()
        return dict(zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True)) | (
            self.stub.__kwdefaults__ or {}
        )

    @cached_property
    def types(self) -> dict[str, Any]:
        """Returns the type of each parameter, and of the result; resolved with the first call, because a client needs
        few. `Annotated[str, Literal[...]]` is a string for callers, checked to be one of these words."""
        return {name: int if isinstance(kind, range) else kind for name, kind in self._kinds.items()}

    @property
    def bounds(self) -> dict[str, range]:
        """Returns the values that the daemon takes for a number declared as `Annotated[int, range(...)]`."""
        return {name: kind for name, kind in self._kinds.items() if isinstance(kind, range)}

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        hints = get_type_hints(self.stub, include_extras=True)
        return {name: getattr(kind, "__metadata__", [kind])[0] for name, kind in hints.items()}

    @property
    def is_stream(self) -> bool:
        return self.types["return"] in (Stream, Lines)

    @property
    def has_body(self) -> bool:
        return self.method in ("POST", "PUT")

    def in_path(self, name: str) -> bool:
        return f"{{{name}}}" in self.path

    def name_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Returns the arguments by name, without None."""
        given = dict(zip(self.parameters[: len(args)], args, strict=True)) | kwargs
        return {name: value for name, value in given.items() if value is not None}

    def write_request(self, arguments: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """Returns the path with the query, and the fields of the body; None for no body."""
        path = self.path.format(**arguments)
        rest = {name: value for name, value in arguments.items() if not self.in_path(name)}
        if self.has_body:
            return path, rest if len(self.types) - 1 > path.count("{") else None
        if not rest:
            return path, None
        query = {
            name: ",".join(value) if isinstance(value, (tuple, list)) else wire.encode(value)
            for name, value in rest.items()
        }
        return f"{path}?{urlencode(query, errors='replace')}", None  # what a shell hands over need not be text

    def read_reply(self, data: Any) -> Any:
        """Decodes the result in a reply. ValueError for an invalid reply."""
        kind = self.types["return"]
        if self.field:
            return decode_fields({self.field: kind}, data, [self.field])[self.field]
        return None if kind is type(None) else wire.decode(kind, data)


class Calls(ABC):
    """The base of classes that declare calls."""

    @abstractmethod
    def make(self, call: Call, arguments: dict[str, Any]) -> Any:
        """Makes a call with these arguments; returns its result."""


def call(method: str, path: str, **how: Any) -> Callable[[Stub], Stub]:
    """Declares a method of `Calls` as a call; `how` are the other fields of `Call`."""

    def declare(stub: Stub) -> Stub:
        declared = Call(method, path, stub, **how)

        def make(self: Calls, *args: Any, **kwargs: Any) -> Any:
            return self.make(declared, declared.name_arguments(args, kwargs))

        make.__name__, make.__doc__ = stub.__name__, stub.__doc__
        vars(make)["call"] = declared
        return cast(Stub, make)

    return declare


def list_calls(kind: type[Calls]) -> Iterator[Call]:
    """Yields the calls that a class declares, after those of its bases."""
    for base in reversed(kind.__mro__):
        for value in vars(base).values():
            if isinstance(declaration := getattr(value, "call", None), Call):
                yield declaration
