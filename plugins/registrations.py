"""What plugins register by each hook, and the description of a third-party plugin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    "register_readers": ("a plugins.readers.Reader", lambda item: isinstance(item, Reader)),
    "register_embedders": ("a name, a function that makes it and perhaps a section of config.toml", _is_named),
    "register_llms": (
        "a plugins.llms.Family with a plain prefix",
        lambda item: isinstance(item, Family) and item.prefix.isidentifier(),
    ),
    "register_traversers": (
        "what plugins.traversers.contract declares",
        lambda item: isinstance(item, Registered) and bool(item.name) and not {*"+@"} & {*item.name},
    ),
    "register_rankers": ("a name and a function that makes it", _is_named),
    "register_rerankers": ("a name, a function that makes it and perhaps a section of config.toml", _is_named),
    "register_exporters": ("a plugins.exporters.contract.Exporter", lambda item: isinstance(item, Exporter)),
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


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin that is installed: its name, the package that brought it with its version, and what it `adds`: kind
    ("readers") -> names. `problem` says why it was left out; then it adds nothing, nor if a person has turned it off
    (`is_off`)."""

    name: str
    package: str
    adds: Mapping[str, tuple[str, ...]]
    problem: str = ""
    is_off: bool = False


def name_all(registrations: Registrations) -> dict[str, tuple[str, ...]]:
    """All registered names: kind -> names."""
    named = {kind: tuple(map(name, registrations[hook])) for hook, (kind, name) in NAMES.items()}
    return {kind: names for kind, names in named.items() if names}
