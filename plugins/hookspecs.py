"""What a plugin can add. A plugin is a module, or an entry point of the group "palimpsest", with any of these hooks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from plugins.llms import Family
    from plugins.readers import Reader
    from plugins.traversers.contract import Registered

PROJECT = "palimpsest"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


def import_late(module: str, name: str) -> Callable[..., Any]:
    """A function or class of a module that is imported when it is called."""
    return lambda *given: getattr(import_module(module), name)(*given)


@hookspec
def register_readers(register: Callable[[Reader], None]) -> None:
    """Call `register(reader)` for each kind of file that the plugin can read."""


@hookspec
def register_embedders(register: Callable[..., None]) -> None:
    """Call `register(name, make)` for each embedder; `make()` is called when the embedder is first needed. A name that
    ends with a colon is a family: `make(rest)` gets the text after the colon. With `register(name, make, section)` it
    also gets that section of config.toml, as an object; None without the section."""


@hookspec
def register_llms(register: Callable[[Family], None]) -> None:
    """Call `register(family)` for each kind of language models; the name of one is `prefix:model`."""


@hookspec
def register_traversers(register: Callable[[Registered], None]) -> None:
    """Call `register(...)` for each traverser, reranking and preset; a question names them as its strategy."""


@hookspec
def register_rerankers(register: Callable[..., None]) -> None:
    """Call `register(name, make)` for each reranker, as for embedders; the setting reranker.name names the one that
    reads the first passages of chats again."""
