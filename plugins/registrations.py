"""What plug-ins register by each hook, and guards around third-party objects: any exception becomes an error that
callers handle.

Readers run in the parser process; rankers are called within a `try` of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from memory.errors import (
    InvalidInputError,
    ModelError,
    ModelUnavailableError,
    NotAvailableError,
    NotFoundError,
    StoreError,
)
from plugins.llms import Family
from plugins.readers import Reader
from plugins.traversers.contract import Traversal

Registrations = dict[str, list[Any]]
"""Hook -> what was registered by it, in order: the one argument, or name and function."""


def _is_named(name: Any, make: Any, section: Any = "") -> bool:
    return isinstance(name, str) and callable(make) and isinstance(section, str)


class Hook(NamedTuple):
    """A hook: what it `takes` in words, a check of that, the kind ("readers") and the name of what it adds."""

    takes: str
    fits: Callable[..., bool]
    kind: str
    name: Callable[[Any], str]


HOOKS = {
    "register_readers": Hook(
        "a plugins.readers.Reader", lambda item: isinstance(item, Reader), "readers", attrgetter("name")
    ),
    "register_embedders": Hook(
        "a name, a function that makes it and perhaps a section of config.toml", _is_named, "embedders", itemgetter(0)
    ),
    "register_llms": Hook(
        "a plugins.llms.Family with a plain prefix",
        lambda item: isinstance(item, Family) and item.prefix.isidentifier(),
        "models",
        lambda family: f"{family.prefix}:",
    ),
    "register_traversers": Hook(
        "what plugins.traversers.contract declares",
        lambda item: isinstance(item, Traversal) and bool(item.name) and not {*"+@"} & {*item.name},
        "strategies",
        attrgetter("name"),
    ),
}


def name_all(registrations: Registrations) -> dict[str, tuple[str, ...]]:
    """Returns all registered names by kind."""
    named = {hook.kind: tuple(map(hook.name, registrations[key])) for key, hook in HOOKS.items()}
    return {kind: names for kind, names in named.items() if names}


def guard(plugin: str, registrations: Registrations) -> Registrations:
    """Wraps a plug-in's factories of embedders, models and traversers, and each call of what they make."""

    def guarded(make: Any) -> _Guarded:
        return _Guarded(make, plugin, makes=True)

    return registrations | {
        "register_embedders": [
            (name, guarded(make), *rest) for name, make, *rest in registrations["register_embedders"]
        ],
        "register_llms": [replace(family, open=guarded(family.open)) for family in registrations["register_llms"]],
        "register_traversers": [
            replace(traverser, make=guarded(traverser.make)) for traverser in registrations["register_traversers"]
        ],
    }


class _Guarded:
    """Proxy of a plug-in's object. `makes`: the result of calling it is guarded, too."""

    def __init__(self, inner: Any, plugin: str, makes: bool = False) -> None:
        self._inner, self._plugin, self._makes = inner, plugin, makes

    def __getattr__(self, name: str) -> Any:
        with _explain_errors(self._plugin, AttributeError):
            value = getattr(self._inner, name)
        return _Guarded(value, self._plugin) if callable(value) else value

    def __call__(self, *args: Any) -> Any:
        with _explain_errors(self._plugin):
            result = self._inner(*args)
        return _Guarded(result, self._plugin) if self._makes else result


@contextmanager
def _explain_errors(plugin: str, *expected: type[Exception]) -> Iterator[None]:
    """Converts the plug-in's errors, except `expected` ones, to a ModelError without text of notes."""
    try:
        yield
    except (ModelError, StoreError):
        raise
    except expected:
        raise
    except (InvalidInputError, NotAvailableError, NotFoundError) as error:  # which say what to do
        raise ModelUnavailableError(str(error), lasting=True) from error
    except (Exception, SystemExit) as error:
        raise ModelUnavailableError(f"The plug-in {plugin} failed with {type(error).__name__}.") from error
