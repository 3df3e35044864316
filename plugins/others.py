"""Plug-ins of others in this process: whatever they raise is an error that everybody who asks survives.

Readers work in the reading process and exporters in that of `pal export`, rerankers and rankers are called within a
`try` of the library.
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
from plugins.traversers.contract import Preset


def guard(plugin: str, found: Registrations) -> Registrations:
    """What a plug-in registers, with a `try` around what makes its embedders, models and traversers, and around each
    call of these."""

    def guarded(make: Any) -> _Guarded:
        return _Guarded(make, plugin, makes=True)

    return found | {
        "register_embedders": [(name, guarded(make), *rest) for name, make, *rest in found["register_embedders"]],
        "register_llms": [replace(family, open=guarded(family.open)) for family in found["register_llms"]],
        "register_traversers": [
            one if isinstance(one, Preset) else replace(one, make=guarded(one.make))
            for one in found["register_traversers"]
        ],
    }


class _Guarded:
    """Something of a plug-in, with all that it has. What it `makes` when it is called is guarded, too."""

    def __init__(self, inner: Any, plugin: str, makes: bool = False) -> None:
        self._inner, self._plugin, self._makes = inner, plugin, makes

    def __getattr__(self, name: str) -> Any:
        with _explained(self._plugin, AttributeError):
            value = getattr(self._inner, name)
        return _Guarded(value, self._plugin) if callable(value) else value

    def __call__(self, *given: Any) -> Any:
        with _explained(self._plugin):
            made = self._inner(*given)
        return _Guarded(made, self._plugin) if self._makes else made


@contextmanager
def _explained(plugin: str, *expected: type[Exception]) -> Iterator[None]:
    """What the plug-in raises, but for what is `expected`, as a ModelError without a word that may be of a note."""
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
