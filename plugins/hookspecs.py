"""The hooks of a plug-in: a module or an entry point of the group "palimpsest" that implements any of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from plugins.llms import Family
    from plugins.readers import Reader
    from plugins.traversers.contract import Traversal

PROJECT = "palimpsest"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


def import_late(module: str, name: str) -> Callable[..., Any]:
    """Returns a function or class of a module that is imported on the first call."""
    return lambda *given: getattr(import_module(module), name)(*given)


@hookspec
def register_readers(register: Callable[[Reader], None]) -> None:
    """Call `register(reader)` for each file type that the plug-in reads."""


@hookspec
def register_embedders(register: Callable[..., None]) -> None:
    """Call `register(name, make)` for each embedder; `make()` is called on first use. A name that ends with a colon is
    a family: `make(rest)` gets the text after the colon. With `register(name, make, section)` it also gets that section
    of config.toml as an object, or None if it is missing."""


@hookspec
def register_llms(register: Callable[[Family], None]) -> None:
    """Call `register(family)` for each family of language models; a model's name is `prefix:model`."""


@hookspec
def register_traversers(register: Callable[[Traversal], None]) -> None:
    """Call `register(...)` for each traverser; a question selects one by its strategy."""
