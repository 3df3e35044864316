"""Loads the built-in and third-party plug-ins into this process, through the same hooks.

Loading imports no model and no numpy: readers are functions, and embedders are made on demand. A third-party plug-in
that fails is skipped, and `Plugins.others` has the reason."""

from __future__ import annotations

import importlib
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from memory.errors import NotFoundError, PalimpsestError
from memory.views import Plugin
from plugins import hookspecs
from plugins.embedders import AUTO, BEST
from plugins.installing import read_version
from plugins.llms import Family
from plugins.readers import MIB, Reader, Unreadable
from plugins.registrations import HOOKS, Registrations, guard, name_all
from plugins.settings import PluginSettings, TrainedSettings, TraverserSettings
from plugins.traversers.contract import Traversal, make_strategy, parse_strategy

if TYPE_CHECKING:
    from memory.protocols import Embedder
    from memory.retrieval.state import EdgeRanker
    from memory.retrieval.traversers import FindStrategy, Strategy

log = logging.getLogger(__name__)

GROUP = hookspecs.PROJECT  # of the entry points
CHOSEN = "PALIMPSEST_EMBEDDER"  # what `auto` is, whatever is installed
MAILDIR = ("cur", "new")  # its folders
_MAIL = re.compile(r"\d{9,11}\.[\w=-]+\.[^/]+$")  # a file there: time, id, host, flags
BUILT_IN = (
    "plugins.embedders",
    "plugins.llms.registry",
    "plugins.traversers",
)
BUILT_IN_READERS = (
    "plugins.readers.registry"  # imported with the first file: readers know dates and marks in many forms
)


class Plugins:
    """The registered plug-ins. `readers` and `embedders`: names; `versions`: those of the readers; `families`: of
    language models; `others`: the third-party plug-ins."""

    def __init__(
        self,
        registered: Registrations,
        readers: Callable[[], Iterable[Reader]] = tuple,
        others: Iterable[Plugin] = (),
        settings: object = None,
    ) -> None:
        """`readers` is called when a file is first read. Of several readers for a suffix the last one is used."""
        self._registered = registered
        self._find_readers = readers
        embedders = registered["register_embedders"]
        self._make = {name: partial(_make, make, settings, *section) for name, make, *section in embedders}
        self._made: dict[str, Embedder] = {}
        self._traversers: dict[str, Traversal] = {entry.name: entry for entry in registered["register_traversers"]}
        self._lock = threading.Lock()
        self.embedders = tuple(sorted(self._make))
        self.others = tuple(others)
        self.families: dict[str, Family] = {family.prefix: family for family in registered["register_llms"]}

    @property
    def problems(self) -> tuple[str, ...]:
        """Returns a sentence per plug-in that could not be loaded."""
        return tuple(
            f"The plugin {plugin.name!r} ({plugin.package}) was left out: {plugin.problem}"
            for plugin in self.others
            if plugin.problem
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Returns the names of installed plug-ins that were not loaded."""
        return tuple(plugin.name for plugin in self.others if plugin.problem or plugin.is_off)

    def built_in(self) -> Plugin:
        """Returns what the built-in plug-ins register, without what third-party plug-ins replaced."""
        own = {}
        for kind, names in (name_all(self._registered) | {"readers": self.readers}).items():
            added = {name for plugin in self.others for name in plugin.adds.get(kind, ())}
            own[kind] = tuple(sorted({*names} - added))
        return Plugin("built in", f"palimpsest {read_version()}", own)

    def check_strategy(self, name: str) -> None:
        """Raises InvalidInputError for an unknown or unavailable strategy; imports no walk code."""
        parse_strategy(name, self._traversers)

    def strategies(self, settings: TraverserSettings | None = None) -> FindStrategy:
        """Returns the function by which `Memory.open` finds strategies."""

        def find(name: str) -> Strategy:
            self.check_strategy(name)
            return make_strategy(name, self._traversers, settings or TraverserSettings())

        return find

    def ranker(self, settings: TrainedSettings | None = None) -> EdgeRanker:
        """Returns the ranker of `pal train`."""
        from plugins.rankers import TrainedRanker  # most processes train nothing

        return TrainedRanker(settings)

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

    @cached_property
    def versions(self) -> dict[str, int]:
        return {name: reader.version for name, reader in self._readers.items()}

    def reads(self, path: Path) -> bool:
        """Whether a reader handles files of this name; a hidden file needs a known suffix."""
        suffix = suffix_of(path)
        return suffix in self._by_suffix and bool(suffix or not path.name.startswith("."))

    def lacks_library(self, path: Path) -> bool:
        """Whether the reader for files of this name needs a library that is not installed."""
        library = self._by_suffix[suffix_of(path)].library
        return bool(library) and find_spec(library) is None

    def reader(self, name: str) -> Reader | None:
        return self._readers.get(name)

    def reader_for(self, path: Path, size: int) -> Reader:
        """Returns the reader for a file of that name and size in bytes; raises Unreadable. Call it before reading the
        file."""
        if not self.reads(path):
            raise Unreadable(f"no reader for {path.suffix.lower()}" if path.suffix else "no reader for hidden files")
        reader = self._by_suffix[suffix_of(path)]
        if size == 0:
            raise Unreadable("empty file")
        if size > reader.max_bytes:
            limit = reader.max_bytes // MIB
            raise Unreadable(f"too large: {size / MIB:,.1f} MiB, the {reader.name} reader takes {limit} MiB")
        return reader

    def resolve_embedder(self, name: str, best: Sequence[str] = BEST) -> str:
        """Returns the name itself; for "auto" the first of `best` that is installed, or the last one. Loads no
        model."""
        if name != AUTO:
            return name
        if chosen := os.environ.get(CHOSEN):
            return chosen
        for candidate in best:
            try:
                self.embedder(candidate)
            except PalimpsestError:
                continue
            return candidate
        return best[-1]

    def check_embedder(self, name: str) -> None:
        """Raises NotFoundError for an unknown embedder, listing the known names; loads no model."""
        if name != AUTO:
            _find_maker(self._make, name)

    def embedder(self, name: str) -> Embedder:
        """Returns the named embedder, made on first use; "auto" is the best installed one. NotFoundError lists the
        known names; NotAvailableError names the missing library."""
        name = self.resolve_embedder(name)
        make = _find_maker(self._make, name)
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            return self._made[name]

    def embedder_of(self, identity: str) -> Embedder | None:
        """Returns the installed embedder whose vectors are stored under `identity` (its `Embedder.name`), or None."""
        third_party = {
            name for plugin in self.others for name in plugin.adds.get("embedders", ())
        }  # may be slow to make
        names = sorted(self.embedders, key=lambda name: name in third_party)
        for name in (*(name for name in names if not name.endswith(":")), identity):
            try:
                embedder = self.embedder(name)
                if embedder.name == identity:
                    return embedder
            except Exception:  # not installed, or broken
                continue
        return None


def suffix_of(path: Path) -> str:
    """Returns the suffix that selects a file's reader, in lower case; ".eml" for a file in a Maildir."""
    is_mail = path.parent.name in MAILDIR and _MAIL.match(path.name) is not None
    return ".eml" if is_mail else path.suffix.lower().rstrip(".")


def find_names() -> list[str]:
    """Lists installed third-party plug-ins without importing them."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load(settings: object = None, left_out: Iterable[str] = ()) -> Plugins:
    """Loads the built-in plug-ins, then each entry point of the group "palimpsest" that is neither in `left_out` nor
    turned off. `settings` has the sections of config.toml as attributes."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    off = {*getattr(settings, "plugins", PluginSettings()).disabled, *left_out}
    everything: Registrations = {hook: [] for hook in HOOKS}
    others: list[Plugin] = []

    def add(registrations: Registrations) -> Registrations:
        for hook, registered in registrations.items():
            everything[hook] += registered
        return registrations

    def readers() -> list[Reader]:
        built_in = _register(manager, importlib.import_module(BUILT_IN_READERS), BUILT_IN_READERS)
        return [*built_in["register_readers"], *everything["register_readers"]]

    for name in BUILT_IN:
        add(_register(manager, importlib.import_module(name), name))
    for entry in entry_points(group=GROUP):
        adds: dict[str, tuple[str, ...]] = {}
        problem = ""
        if entry.name not in off:
            log.info("the plug-in %s is loaded", entry.name)
            try:
                adds = name_all(add(guard(entry.name, _register(manager, entry.load(), entry.name))))
            except (Exception, SystemExit) as error:  # whatever one plugin raises, the others still work
                problem = f"{type(error).__name__}: {error}"
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
        others.append(Plugin(entry.name, package, adds, problem, entry.name in off))
    return Plugins(everything, readers, others, settings)


def _make(make: Callable[..., Any], settings: object, section: str = "", *, rest: str | None = None) -> Any:
    """Calls a registered factory with the text after the family's name and its section of the settings."""
    args: list[Any] = [] if rest is None else [rest]
    return make(*args, getattr(settings, section, None)) if section else make(*args)


def _find_maker(makers: Mapping[str, Callable[..., Any]], name: str) -> Callable[[], Any]:
    """Returns the factory of an embedder's name, which may belong to a family. NotFoundError lists the known names."""
    family, _, rest = name.partition(":")
    key = name if name in makers else f"{family}:"
    if key not in makers or name.endswith(":"):
        known = (f"{maker}..." if maker.endswith(":") else maker for maker in sorted(makers))
        raise NotFoundError(f"There is no embedder called {name!r}. Known: {', '.join(known)}.")
    return partial(makers[key], rest=rest if key.endswith(":") else None)


def _register(manager: pluggy.PluginManager, plugin: object, name: str) -> Registrations:
    """Returns what one plug-in registers, or nothing if it raises."""
    registrations: Registrations = {hook: [] for hook in HOOKS}

    def take(hook: str, *args: Any) -> None:
        if not HOOKS[hook].fits(*args):
            raise TypeError(f"{hook} takes {HOOKS[hook].takes}, not {', '.join(map(repr, args))}")
        registrations[hook].append(args if len(args) > 1 else args[0])

    earlier = manager.get_plugins()
    manager.register(plugin, name)
    for hook in HOOKS:
        manager.subset_hook_caller(hook, earlier)(register=partial(take, hook))
    return registrations
