"""The services that implement the calls of `Memory`, over one shared state."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from memory.store.connect import Connection
from memory.store.store import P, R, Store


def read_by(verb: Callable[Concatenate[Connection, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Makes a method of a service with a `_store` from a reading function of the store."""
    return _make_method(verb, Store.read)


def write_by(verb: Callable[Concatenate[Connection, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Makes a method of a service with a `_store` from a writing function of the store."""
    return _make_method(verb, Store.write)


def _make_method(
    verb: Callable[Concatenate[Connection, P], R], run: Callable[..., R]
) -> Callable[Concatenate[Any, P], R]:
    @wraps(verb)
    def method(service: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return run(service._store, verb, *args, **kwargs)

    return method
