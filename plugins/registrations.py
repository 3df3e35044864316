"""What plugins register by each hook, and what is known of a plugin of somebody else's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plugins.exporters.contract import Exporter
from plugins.llms import Family
from plugins.readers import Reader
from plugins.traversers.contract import Registered

Registrations = dict[str, list[Any]]
"""Hook -> what was registered by it, in order: the one argument, or name and function."""


def _is_named(name: Any, make: Any, section: Any = "") -> bool:
    return isinstance(name, str) and callable(make) and isinstance(section, str)


HOOKS: dict[str, tuple[str, Callable[..., bool]]] = {  # what each takes, and whether that was given
    "register_readers": ("a plugins.readers.Reader", lambda one: isinstance(one, Reader)),
    "register_embedders": ("a name, a function that makes it and perhaps a section of config.toml", _is_named),
    "register_llms": (
        "a plugins.llms.Family with a plain prefix",
        lambda one: isinstance(one, Family) and one.prefix.isidentifier(),
    ),
    "register_traversers": (
        "what plugins.traversers.contract declares",
        lambda one: isinstance(one, Registered) and bool(one.name) and "+" not in one.name,
    ),
    "register_rankers": ("a name and a function that makes it", _is_named),
    "register_rerankers": ("a name, a function that makes it and perhaps a section of config.toml", _is_named),
    "register_exporters": ("a plugins.exporters.contract.Exporter", lambda one: isinstance(one, Exporter)),
}


NAMES: dict[str, tuple[str, Callable[[Any], str]]] = {  # hook -> what it adds, and what that is called
    "register_readers": ("readers", lambda reader: reader.name),
    "register_embedders": ("embedders", lambda named: named[0]),
    "register_llms": ("models", lambda family: f"{family.prefix}:"),
    "register_traversers": ("strategies", lambda registered: registered.name),
    "register_rankers": ("rankers", lambda named: named[0]),
    "register_rerankers": ("rerankers", lambda named: named[0]),
    "register_exporters": ("formats", lambda exporter: exporter.name),
}


INSIDE = ("register_traversers", "register_rankers")  # hooks of what works on the graph, where that is


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of a plugin before it is loaded: the `problem` for which it must not be; what stands for all that
    it has, but for what runs `inside`, of which there are the names, by kind. With `registered` None it is imported
    here."""

    problem: str = ""
    registered: Registrations | None = None
    inside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin that is installed: its name, the package that brought it with its version, and what it `adds`: kind
    ("readers") -> names. `problem` says why it was left out; then it adds nothing. `outside` says what of it was left
    out because nobody has let it in, and what lets it in."""

    name: str
    package: str
    adds: Mapping[str, tuple[str, ...]]
    problem: str = ""
    outside: str = ""


def name_all(found: Registrations) -> dict[str, tuple[str, ...]]:
    """What was registered: kind -> names."""
    named = {kind: tuple(map(name, found[hook])) for hook, (kind, name) in NAMES.items()}
    return {kind: names for kind, names in named.items() if names}


def tell_outside(inside: Mapping[str, tuple[str, ...]], names: Iterable[str]) -> str:
    """What of a plugin was not let in, and what lets it in, beside those that are."""
    what = "; ".join(f"{kind} {', '.join(named)}" for kind, named in inside.items())
    return (
        f"{what}: they run in the daemon itself, which they can end. To let them in: pal config set plugins.inside"
        f" '{json.dumps([*names])}', then pal daemon restart"
    )
