"""Third-party plug-ins in this process: whatever they raise becomes an error that callers handle.

Readers run in the reading process; rerankers and rankers are called within a `try` of the library.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from memory.errors import (
    InvalidInputError,
    ModelError,
    ModelUnavailableError,
    NotAvailableError,
    NotFoundError,
    StoreError,
)
from plugins.registrations import Registrations


def guard(plugin: str, registrations: Registrations) -> Registrations:
    """A plug-in's registrations, with guards around the factories of its embedders, models and traversers and around
    each call of these."""

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
    """Proxy of a plug-in's object. With `makes`, the result of calling it is guarded, too."""

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
    """Turns the plug-in's errors, except `expected` ones, into a ModelError without any text of notes."""
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
