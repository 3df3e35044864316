"""What the API serves, and the threads that serve it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from daemon import wire
from daemon.api.telling import Telling
from daemon.config.settings import McpSettings, Settings
from daemon.failures import ConflictError
from daemon.jobs.activity import Activity
from daemon.jobs.disk import Disk
from daemon.jobs.embedder import Embedding
from daemon.jobs.enrichment import Enrichment
from daemon.jobs.erasure import Erasure
from daemon.jobs.models import Models
from daemon.jobs.night import Learning, NightlyJob
from daemon.jobs.replication import Replication
from daemon.jobs.schedule import Schedule
from daemon.jobs.syncing import Syncing
from daemon.jobs.tasks import Tasks
from daemon.jobs.upkeep import Upkeep
from daemon.jobs.writer import Writer
from daemon.reading.process import Readers
from daemon.watch.adds import Adds
from daemon.watch.watcher import Watcher
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import Policy
from plugins.manager import Plugins

T = TypeVar("T")

AT_ONCE = 4  # questions that are answered at the same time
QUIET_SECONDS = 2.0  # after the last answer: who has asked asks on


class Page(Protocol):
    """The page in the browser, a layer above the API."""

    async def open(self, port: int | None) -> wire.PageLink: ...

    async def close(self) -> bool: ...


@dataclass
class Services:
    """What the API serves."""

    settings: Settings
    memory: Memory
    writer: Writer
    tasks: Tasks
    readers: Readers
    adds: Adds
    erasing: Erasure
    watcher: Watcher
    embedding: Embedding
    models: Models
    enrichment: Enrichment
    learning: Learning
    nightly: NightlyJob
    upkeep: Upkeep
    disk: Disk
    schedule: Schedule
    syncing: Syncing
    replication: Replication
    plugins: Plugins
    own: tuple[Path, ...]  # what is the daemon's own, and never read
    activity: Activity
    backups: Path
    page: Page
    policy: Callable[[], Policy]  # of new folders, as config.toml says now
    telling: Telling
    stop: Callable[[], None]
    began: float = field(default_factory=time.monotonic)
    safe_mode: str = ""  # why the daemon reads nothing by itself

    def __post_init__(self) -> None:
        # Each has its own, so that questions do not wait for a check or a backup, nor a status for questions.
        self.questions = QuestionPool(AT_ONCE)
        self.workers = ThreadPoolExecutor(4, "worker")
        self.limiter = WriteLimiter(self.settings.mcp)
        self.cache = Cache(self.memory)

    async def read(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.questions, call)

    async def work(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.workers, call)

    async def write(self, unit: Callable[[], T]) -> T:
        """In the writer's thread, before whatever nobody waits for."""
        return await asyncio.wrap_future(self.writer.submit(unit, urgent=True))

    def close(self) -> None:
        """What has not begun is dropped; nobody waits for it any more."""
        for pool in (self.questions, self.workers):
            pool.shutdown(wait=False, cancel_futures=True)


class Cache:
    """What was made of the memory, until something is written. A chat asks for its counts often, and they take 10 us an
    episode."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._made: tuple[int, dict[object, Any]] = -1, {}

    def get(self, key: object, make: Callable[[], T]) -> T:
        """What `make` returned for this key, or returns now."""
        generation = self._memory.store.generation
        if self._made[0] != generation:
            self._made = generation, {}
        _, made = self._made
        if key not in made:
            made[key] = make()
        value: T = made[key]
        return value


class WriteLimiter:
    """How much an agent may write: of a note, in a minute, within a day. What it wrote within a day the memory knows,
    so that neither a new daemon nor many processes of one agent change that."""

    def __init__(self, settings: McpSettings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._now = now
        self._lock = threading.Lock()
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def check_size(self, text: str) -> None:
        """InvalidInputError for a note that is too long."""
        kilobytes = self._settings.note_kb
        if len(text.encode("utf-8", "replace")) > 1000 * kilobytes:
            raise InvalidInputError(f"A note may have {kilobytes} kB. Write a shorter note.")

    def take(self, agent: str, today: int) -> None:
        """Counts a note of an agent that has already written `today` notes. ConflictError above a limit."""
        limits = self._settings
        if today >= limits.notes_per_day:
            raise ConflictError(f"{agent} has written {today} notes within 24 hours, which is all it may.")
        with self._lock:
            times, now = self._times[agent], self._now()
            while times and now - times[0] >= 60:
                times.popleft()
            if len(times) >= limits.notes_per_minute:
                wait = 60 - (now - times[0])
                raise ConflictError(f"{agent} may write {limits.notes_per_minute} notes a minute: wait {wait:.0f} s.")
            times.append(now)


class QuestionPool(ThreadPoolExecutor):
    """Threads that answer what a person waits for. What may wait looks at `busy`."""

    def __init__(self, most: int) -> None:
        super().__init__(most, "reader")
        self._counting = threading.Lock()
        self._open = 0
        self._last = self._rested = -QUIET_SECONDS

    @property
    def busy(self) -> bool:
        """Whether something is being answered, or has just been."""
        return self._open > 0 or time.monotonic() - self._last < QUIET_SECONDS

    def begin_rest(self) -> bool:
        """Whether it is quiet and has answered something since this was last true."""
        if self.busy or self._rested == self._last:
            return False
        self._rested = self._last
        return True

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with self._counting:
            self._open += 1
        try:
            future = super().submit(call, *args, **kwargs)
        except RuntimeError:  # it is closed
            self._finish()
            raise
        future.add_done_callback(self._finish)
        return future

    def _finish(self, future: object = None) -> None:
        with self._counting:
            self._open -= 1
            self._last = time.monotonic()
