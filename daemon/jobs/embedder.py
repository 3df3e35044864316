"""Opens a memory with the configured plug-ins, without those turned off or broken; chooses the embedder for questions,
and changes it in the background.

config.toml names the wanted embedder; the memory file records the embedder of its vectors. While they differ, the
episodes are embedded in batches, and questions use the old vectors. A restarted daemon continues.

"auto" is the best installed embedder. A new memory starts with the static table, with which a first folder is read at
once, and changes after some passages or minutes. If the model of the best embedder cannot be loaded, the static table
is used."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from daemon import wire
from daemon.config.settings import Settings
from daemon.jobs.workers import EMBED, Task, Tasks, Writer
from memory import Memory
from memory.errors import InvalidInputError, ModelError, NotAvailableError, NotFoundError, PalimpsestError
from memory.protocols import Embedder
from memory.settings import MemorySettings, RecallSettings
from memory.time.timestamps import now_ms
from plugins.embedders import AUTO
from plugins.installing import install_command
from plugins.manager import Plugins

log = logging.getLogger(__name__)

OWN = "static"  # the embedder that is always there


def open_memory(path: Path, settings: Settings, plugins: Plugins, **options: Any) -> Memory:
    """Opens the memory at `path`, with the other `options` of `Memory.open`. NotAvailableError if its embedder is not
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
    """Returns the embedder to open the memory at `path` with: the one whose vectors it has, if installed, so that
    questions have vectors from the beginning; else the one called `name`. The built-in one is used until later for
    "auto", if a plug-in was left out, or if a server would have to be asked, which may take minutes. NotFoundError,
    NotAvailableError."""
    identity = Memory.embedder_of(path, read_only)
    if identity and (stored := plugins.embedder_of(identity)):
        return stored
    if name == AUTO:
        return plugins.embedder(OWN)
    lacking = (NotFoundError,) if plugins.left_out else ()
    with contextlib.suppress(ModelError, *lacking):  # of a plug-in; `EmbedderJob` reports it
        named = plugins.embedder(name)
        if not getattr(named, "is_served", False) and named.name and named.dimension:
            return named
    return plugins.embedder(OWN)


def _choose_strategy(settings: Settings, plugins: Plugins) -> MemorySettings:
    """Returns the memory's settings with an available strategy. InvalidInputError if all plug-ins are loaded and the
    named strategy is unknown."""
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


CATCH_UP_SECONDS = 60.0  # between two looks at what has no vector because a server was away
TELL_SECONDS = 0.2  # between two events about how far it is
LOOK_SECONDS = 5.0  # between two looks whether a new memory has passages enough by now
ENOUGH_PASSAGES = 100  # for "auto" to change over: more than the examples and a person's profile
NEW_MS = 10 * 60 * 1000  # after its first note a memory is new no more, however few passages it has


def prepare(embedder: Embedder) -> None:
    """Loads an embedder's model. An unreachable server or a failing model is reported on first use."""
    with contextlib.suppress(ModelError, NotAvailableError):
        embedder.embed_documents(["ready"])


@dataclass
class EmbedderJob:
    """The embedder of this `choice`, and the memory's progress towards it. `run_later` is that of the schedule."""

    memory: Memory
    plugins: Plugins
    writer: Writer
    tasks: Tasks
    choice: str
    publish: Callable[[wire.Event], None]
    run_later: Callable[..., object]
    _problem: str = ""
    _is_broken_off: bool = False  # by a server that may come back
    _made_up_for: int = 0  # failures of the embedder in use, whose passages have their vectors since
    _is_waiting: bool = False  # for the first folder

    def __post_init__(self) -> None:
        # done and total, in episodes; None where it has the one that is wanted
        is_complete = self.memory.maintenance.is_complete(self.memory.embedder)
        self._progress: tuple[int, int] | None = None if is_complete else (0, 0)

    def resume(self) -> None:
        """Starts or continues the change to the wanted embedder."""
        if self.choice == AUTO and self._is_new():
            self._progress = None
            if not self._is_waiting:
                self._is_waiting = True
                self.run_later(LOOK_SECONDS, self._look_again)
            return
        self._begin(self.choice)

    def _look_again(self) -> None:
        self._is_waiting = False
        self.resume()

    def _is_new(self) -> bool:
        """Whether the first folder has probably not been read yet, and all vectors are static."""
        if not self.memory.maintenance.is_complete(self.plugins.embedder(OWN)):
            return False
        first = self.memory.maintenance.first_read()
        is_young = first is None or now_ms() - first < NEW_MS
        return is_young and self.memory.browsing.stats().episodes < ENOUGH_PASSAGES

    def change(self, name: str) -> wire.EmbedderReply:
        """Sets another wanted embedder and loads its model; NotFoundError, NotAvailableError and InvalidInputError if
        that fails, and then nothing changes."""
        self.plugins.embedder(name).embed_documents(["ready"])
        if name != self.choice or self._problem:
            self._begin(name)
        return self.state()

    def state(self) -> wire.EmbedderReply:
        progress = self._progress
        n_done, total = progress or (0, 0)
        return wire.EmbedderReply(
            name=self.choice,
            used=self.memory.embedder.name,
            building=progress is not None,
            done=n_done,
            total=total,
            problem=self._problem or getattr(self.memory.embedder, "problem", ""),
            known=(AUTO, *self.plugins.embedders),
            chosen=self._read_choice() if self.choice == AUTO else "",
        )

    def describe(self) -> str:
        """Describes the progress of the embedder that "auto" prepares; "" if there is no change."""
        n_done, total = self._progress or (0, 0)
        if self.choice != AUTO or n_done >= total or self._read_choice() == OWN:
            return ""
        is_own = self.memory.embedder.name == self.plugins.embedder(OWN).name
        now = "the static table" if is_own else "the previous embedder"
        return f"Better search is being prepared: {n_done:,} of {total:,} passages. Until then {now} answers."

    def _read_choice(self) -> str:
        """Returns the embedder that "auto" stands for."""
        return OWN if self._problem else self.plugins.resolve_embedder(AUTO)

    def catch_up(self) -> None:
        """Resumes the interrupted change after an outage of the embedder's server, and embeds the passages written
        meanwhile."""
        if self._is_broken_off or (self._progress is None and self._count_failures() != self._made_up_for):
            self._begin(self.choice)

    def _count_failures(self) -> int:
        """Returns the failed embeddings of the embedder in use."""
        return int(getattr(self.memory.embedder, "failures", 0))

    def _begin(self, name: str) -> None:
        self.choice, self._progress, self._problem = name, (0, 0), ""
        self._is_broken_off = False
        task = Task(f"Embedding with {self.plugins.resolve_embedder(name)}", ended=partial(self._finish, name))
        task.steps = self._run_steps(name, task)
        self.tasks.submit(EMBED, task)

    def _load(self, name: str) -> Embedder:
        """Returns the embedder of that name. For "auto" loads its model; on failure sets `_problem` and returns the
        built-in embedder."""
        embedder = self.plugins.embedder(name)
        if name == AUTO:
            try:
                embedder.embed_documents(["ready"])
            except NotAvailableError as error:
                log.warning("%s", error)
                self._problem = (
                    f"Better search cannot be loaded ({type(error.__cause__ or error).__name__}), so the static table"
                    f" answers. Reinstall it: {install_command('onnx', again=True)}"
                )
                return self.plugins.embedder(OWN)
        return embedder

    def _run_steps(self, name: str, task: Task) -> Iterator[None]:
        """Embeds one batch at each `next`; stops when another embedder is wanted."""
        embedder = self._load(name)
        label = self._read_choice() if name == AUTO else name
        if self.memory.maintenance.is_complete(embedder):
            failures = self._count_failures()
            while self.memory.maintenance.fill_vectors(self.writer.write_later):
                yield
            if self._count_failures() == failures:
                self._made_up_for = failures
            self._progress = None
            return
        published_at = 0.0
        for n_done, total in self.memory.maintenance.switch_embedder(embedder, write=self.writer.write_later):
            if self.choice != name:
                break
            self._progress = n_done, total
            task.name = f"Embedding with {label}, {n_done:,} of {total:,} episodes"
            if n_done >= total or time.monotonic() - published_at > TELL_SECONDS:
                published_at = time.monotonic()
                self.publish(wire.Progress(n_done, total, label))
            yield
        if self.choice == name:
            self._progress = None
            log.info("questions use the embedder %s", embedder.name)
            self.publish(wire.Notice("info", f"Questions now use the embedder {label}."))

    def _finish(self, name: str, error: BaseException | None) -> None:
        if error is None or isinstance(error, CancelledError) or self.choice != name:
            return
        self._progress = None
        self._is_broken_off = isinstance(error, ModelError)
        self._problem = str(error) if isinstance(error, PalimpsestError) else f"internal error: {type(error).__name__}"
