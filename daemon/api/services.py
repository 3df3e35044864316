"""What the API serves, and the threads that serve it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from daemon import wire
from daemon.api.telling import Telling
from daemon.jobs.activity import Activity
from daemon.jobs.disk import Disk
from daemon.jobs.embedder import Embedding
from daemon.jobs.enrichment import Enrichment
from daemon.jobs.erasure import Erasure
from daemon.jobs.models import Models
from daemon.jobs.night import NightlyJob
from daemon.jobs.schedule import Schedule
from daemon.jobs.tasks import Tasks
from daemon.jobs.training import Learning
from daemon.jobs.upkeep import Upkeep
from daemon.jobs.writer import Writer
from daemon.reading.process import Readers
from daemon.settings import Settings
from daemon.watch.adds import Adds
from daemon.watch.watcher import Watcher
from memory import Memory
from memory.nouns import Policy, Stats
from plugins.manager import Plugins

T = TypeVar("T")

QUIET_SECONDS = 2.0  # after the last answer: who has asked asks on


class Page(Protocol):
    """The page in the browser, which stands above the API."""

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
    _counted: tuple[int, Stats] | None = None

    def __post_init__(self) -> None:
        # Each has its own, so that questions do not wait for a check or a backup, nor a status for questions.
        self.questions = QuestionPool(self.settings.daemon.readers or 1)
        self.workers = ThreadPoolExecutor(4, "worker")

    async def read(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.questions, call)

    async def work(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.workers, call)

    async def write(self, unit: Callable[[], T]) -> T:
        """In the writer's thread, before whatever nobody waits for."""
        return await asyncio.wrap_future(self.writer.submit(unit, urgent=True))

    def retry(self, id: int | None = None) -> int:
        """Does again what was given up, all of it or one job; how many. NotFoundError if that one was not."""
        count = self.adds.retry(id)
        return count if count and id is not None else count + self.enrichment.retry(id)

    def stats(self) -> Stats:
        """Counted again only when something was written: a chat asks often, and it takes 10 us an episode."""
        generation = self.memory.generation
        if self._counted is None or self._counted[0] != generation:
            self._counted = generation, self.memory.stats()
        return self._counted[1]

    def close(self) -> None:
        """What has not begun is dropped; nobody waits for it any more."""
        for pool in (self.questions, self.workers):
            pool.shutdown(wait=False, cancel_futures=True)


class QuestionPool(ThreadPoolExecutor):
    """Threads that answer what a person waits for. What may wait looks at `busy`."""

    def __init__(self, most: int) -> None:
        super().__init__(most, "reader")
        self._counting = threading.Lock()
        self._open = 0
        self._last = -QUIET_SECONDS

    @property
    def busy(self) -> bool:
        """Whether something is being answered, or has just been."""
        return self._open > 0 or time.monotonic() - self._last < QUIET_SECONDS

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with self._counting:
            self._open += 1
        try:
            future = super().submit(call, *args, **kwargs)
        except RuntimeError:  # it is closed
            self._ended()
            raise
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: object = None) -> None:
        with self._counting:
            self._open -= 1
            self._last = time.monotonic()
