"""Opening a memory with what config.toml names of plug-ins; where one of them was left out or fails, without it."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon.config.settings import Settings
from memory import Memory
from memory.errors import InvalidInputError, ModelError, NotFoundError, PalimpsestError
from memory.settings import MemorySettings, RecallSettings
from plugins.embedders import AUTO
from plugins.manager import Plugins

if TYPE_CHECKING:
    from memory.protocols import Embedder

log = logging.getLogger(__name__)

OWN = "static"  # the embedder that is always there


def open_memory(path: Path, settings: Settings, plugins: Plugins, **options: Any) -> Memory:
    """The memory at `path`, with the other `options` of `Memory.open`. NotAvailableError where its embedder is not
    installed; StoreError."""
    return Memory.open(
        path,
        embedder=first(path, plugins, settings.embedder.name, options.get("read_only", False)),
        settings=_choose_strategy(settings, plugins),
        quick=plugins.embedder(OWN),
        find_strategy=plugins.strategies(settings.traversers),
        ranker=plugins.ranker(settings.ranker),
        **options,
    )


def first(path: Path, plugins: Plugins, name: str, read_only: bool = False) -> Embedder:
    """The embedder to open the memory at `path` with: the one whose vectors it has, if installed, so that questions
    have vectors from the beginning; else the one called `name`. The built-in one is used until later for "auto", if a
    plug-in was left out, or if a server would have to be asked, which may take minutes. NotFoundError,
    NotAvailableError."""
    identity = Memory.embedder_of(path, read_only)
    if identity and (stored := plugins.embedder_of(identity)):
        return stored
    if name == AUTO:
        return plugins.embedder(OWN)
    lacking = (NotFoundError,) if plugins.left_out else ()
    with contextlib.suppress(ModelError, *lacking):  # of a plug-in; `Embedding` reports it
        named = plugins.embedder(name)
        if not getattr(named, "is_served", False) and named.name and named.dimension:
            return named
    return plugins.embedder(OWN)


def _choose_strategy(settings: Settings, plugins: Plugins) -> MemorySettings:
    """The settings of the memory, with a strategy that works. InvalidInputError where every plug-in is there, and none
    has the one that is named."""
    memory = settings.memory
    try:
        plugins.strategies(settings.traversers)(memory.recall.strategy)
        return memory
    except (Exception, SystemExit) as error:  # of a plug-in
        if isinstance(error, InvalidInputError) and not plugins.left_out:
            raise
        usual = RecallSettings().strategy
        reason = error if isinstance(error, PalimpsestError) else type(error).__name__
        log.warning("questions are answered with the strategy %s: %s", usual, reason)
        return replace(memory, recall=replace(memory.recall, strategy=usual))
