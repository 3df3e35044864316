"""Loads the plugins, ours and other people's, through the same hooks.

Loading imports no model and no numpy: a reader is a function, an embedder is a name until it is asked for.
A plugin of somebody else that breaks is left out whole and named in `Plugins.problems`.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from memory.errors import NotFoundError
from plugins import hookspecs
from plugins.llms.contract import Family
from plugins.readers.contract import Reader

if TYPE_CHECKING:
    from memory.protocols import Embedder

TRACE = "PALIMPSEST_TRACE_PLUGINS"
BUILT_IN = ("plugins.embedders", "plugins.llms.families")
BUILT_IN_READERS = (  # imported with the first file: they know dates and marks in many forms
    "plugins.readers.chat",
    "plugins.readers.csv",
    "plugins.readers.eml",
    "plugins.readers.html",
    "plugins.readers.ics",
    "plugins.readers.markdown",
    "plugins.readers.org",
    "plugins.readers.text",
)


class Plugins:
    """What is registered. `readers` and `embedders` are names, `versions` those of the readers, `families` are kinds of
    language models; `problems` says which plugins were left out and why."""

    def __init__(
        self,
        readers: Callable[[], Iterable[Reader]],
        embedders: Mapping[str, Callable[..., Embedder]],
        problems: Iterable[str] = (),
        families: Iterable[Family] = (),
    ) -> None:
        """`readers` is called when a file is first asked for. A later reader takes over the suffixes it shares with an
        earlier one."""
        self._find_readers = readers
        self._make = dict(embedders)
        self._made: dict[str, Embedder] = {}
        self._lock = threading.Lock()
        self.embedders = tuple(sorted(self._make))
        self.problems = tuple(problems)
        self.families = {family.prefix: family for family in families}

    @cached_property
    def _readers(self) -> dict[str, Reader]:
        with self._lock:
            return {reader.name: reader for reader in self._find_readers()}

    @cached_property
    def _by_suffix(self) -> dict[str, Reader]:
        return {suffix: reader for reader in self._readers.values() for suffix in reader.suffixes}

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(sorted(self._readers))

    @property
    def versions(self) -> dict[str, int]:
        return {name: reader.version for name, reader in self._readers.items()}

    def reader_for(self, path: Path) -> Reader | None:
        """The reader for a file of this name, or None. Hidden files have none unless their suffix has one."""
        suffix = path.suffix.lower()
        if not suffix and path.name.startswith("."):
            return None
        return self._by_suffix.get(suffix)

    def embedder(self, name: str) -> Embedder:
        """The embedder of that name, made when first asked for.

        NotFoundError lists the known names; NotAvailableError says what is not installed.
        """
        family, _, rest = name.partition(":")
        key = name if name in self._make else f"{family}:"
        if key not in self._make or name.endswith(":"):
            known = (f"{one}..." if one.endswith(":") else one for one in self.embedders)
            raise NotFoundError(f"There is no embedder called {name!r}. Known: {', '.join(known)}.")
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make[key](rest) if key.endswith(":") else self._make[key]()
            return self._made[name]

    def embedder_of(self, identity: str) -> Embedder | None:
        """The embedder whose vectors are stored under `identity` (its `Embedder.name`), if it is installed."""
        for name in (*(name for name in self.embedders if not name.endswith(":")), identity):
            try:
                found = self.embedder(name)
                if found.name == identity:
                    return found
            except Exception:  # not installed, broken, somebody else's: it is not this one
                continue
        return None


def load() -> Plugins:
    """The built-in plugins, then every entry point of the group "palimpsest"."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if os.environ.get(TRACE, "") not in ("", "0"):
        manager.add_hookcall_monitoring(_before, _after)
    added: list[Reader] = []
    embedders: dict[str, Callable[..., Embedder]] = {}
    families: list[Family] = []
    problems: list[str] = []

    def readers() -> list[Reader]:
        built_in = [_register(manager, importlib.import_module(name), name)[0] for name in BUILT_IN_READERS]
        return [*itertools.chain.from_iterable(built_in), *added]

    for name in BUILT_IN:
        ours = _register(manager, importlib.import_module(name), name)
        embedders |= ours[1]
        families += ours[2]
    for entry in entry_points(group=hookspecs.PROJECT):
        try:
            theirs = _register(manager, entry.load(), entry.name)
        except (Exception, SystemExit) as error:  # whatever somebody else's module does, the others still work
            problems.append(f"The plugin {entry.name!r} ({entry.value}) was left out: {type(error).__name__}: {error}")
            continue
        added += theirs[0]
        embedders |= theirs[1]
        families += theirs[2]
    return Plugins(readers, embedders, problems, families)


def _register(
    manager: pluggy.PluginManager, plugin: object, name: str
) -> tuple[list[Reader], dict[str, Callable[..., Embedder]], list[Family]]:
    """What one plugin registers; anything it raises passes through, and then nothing of it is kept."""
    readers: list[Reader] = []
    embedders: dict[str, Callable[..., Embedder]] = {}
    families: list[Family] = []

    def add_reader(reader: Reader) -> None:
        if not isinstance(reader, Reader):
            raise TypeError(f"register_readers takes a plugins.readers.contract.Reader, not {reader!r}")
        readers.append(reader)

    def add_embedder(name: str, make: Callable[..., Embedder]) -> None:
        if not isinstance(name, str) or not callable(make):
            raise TypeError(f"register_embedders takes a name and a function that makes it, not {name!r}, {make!r}")
        embedders[name] = make

    def add_family(family: Family) -> None:
        if not isinstance(family, Family) or not family.prefix.isidentifier():
            raise TypeError(f"register_llms takes a plugins.llms.contract.Family with a plain prefix, not {family!r}")
        families.append(family)

    others = manager.get_plugins()
    manager.register(plugin, name)
    manager.subset_hook_caller("register_readers", others)(register=add_reader)
    manager.subset_hook_caller("register_embedders", others)(register=add_embedder)
    manager.subset_hook_caller("register_llms", others)(register=add_family)
    return readers, embedders, families


def _before(hook: str, implementations: Iterable[Any], arguments: Mapping[str, Any]) -> None:
    names = ", ".join(implementation.plugin_name for implementation in implementations)
    print(f"plugins: {hook}({', '.join(arguments)}) -> {names or 'nobody'}", file=sys.stderr)


def _after(outcome: Any, hook: str, implementations: Iterable[Any], arguments: Mapping[str, Any]) -> None:
    if outcome.exception is not None:
        print(f"plugins: {hook} raised {outcome.exception!r}", file=sys.stderr)
