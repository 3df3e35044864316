"""What plugins register by each hook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from plugins.llms import Family
from plugins.readers import Reader
from plugins.traversers.contract import Registered

Registrations = dict[str, list[Any]]
"""Hook -> what was registered by it, in order: the one argument, or name and function."""


def _is_named(name: Any, make: Any, section: Any = "") -> bool:
    return isinstance(name, str) and callable(make) and isinstance(section, str)


class Hook(NamedTuple):
    """What a hook `takes` in words, whether that was given, the kind ("readers") of what it adds and its name."""

    takes: str
    fits: Callable[..., bool]
    kind: str
    name: Callable[[Any], str]


def _name(registered: Any) -> str:
    return str(registered.name)


def _first(registered: Any) -> str:
    return str(registered[0])


HOOKS = {
    "register_readers": Hook("a plugins.readers.Reader", lambda item: isinstance(item, Reader), "readers", _name),
    "register_embedders": Hook(
        "a name, a function that makes it and perhaps a section of config.toml", _is_named, "embedders", _first
    ),
    "register_llms": Hook(
        "a plugins.llms.Family with a plain prefix",
        lambda item: isinstance(item, Family) and item.prefix.isidentifier(),
        "models",
        lambda family: f"{family.prefix}:",
    ),
    "register_traversers": Hook(
        "what plugins.traversers.contract declares",
        lambda item: isinstance(item, Registered) and bool(item.name) and not {*"+@"} & {*item.name},
        "strategies",
        _name,
    ),
    "register_rankers": Hook("a name and a function that makes it", _is_named, "rankers", _first),
    "register_rerankers": Hook(
        "a name, a function that makes it and perhaps a section of config.toml", _is_named, "rerankers", _first
    ),
}


def name_all(registrations: Registrations) -> dict[str, tuple[str, ...]]:
    """All registered names: kind -> names."""
    named = {hook.kind: tuple(map(hook.name, registrations[key])) for key, hook in HOOKS.items()}
    return {kind: names for kind, names in named.items() if names}
