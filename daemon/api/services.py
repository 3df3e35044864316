"""Creates and connects the parts of the daemon, and the threads that serve the API."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from daemon import wire
from daemon.api.statements import StatementStore
from daemon.config.file import describe_exposure
from daemon.config.settings import Settings, load, new_folder_policy
from daemon.jobs.activity import Activity, News
from daemon.jobs.disk import Disk, release_ballast
from daemon.jobs.embedder import CATCH_UP_SECONDS, OWN, EmbedderJob, open_memory, prepare
from daemon.jobs.enrichment import Enrichment
from daemon.jobs.erasure import Erasure
from daemon.jobs.models import Models
from daemon.jobs.night import NightlyJob
from daemon.jobs.replication import Replication
from daemon.jobs.schedule import LOOK_SECONDS, RateLimit, Schedule
from daemon.jobs.syncing import SyncJob
from daemon.jobs.upkeep import BackupJob
from daemon.jobs.workers import Tasks, Writer
from daemon.lock import give_back
from daemon.paths import Paths
from daemon.reading.process import Readers
from daemon.watch.add_jobs import AddJobs
from daemon.watch.attempts import SAFE_MODE, Attempts
from daemon.watch.ingest import Ingest
from daemon.watch.watcher import SCAN_SECONDS, Watcher
from memory import Memory
from memory.errors import PalimpsestError
from memory.nouns import Policy
from plugins import manager

log = logging.getLogger(__name__)

T = TypeVar("T")

AT_ONCE = 4  # questions that are answered at the same time
REST_SECONDS = 60.0  # between two looks whether questions have ended
QUIET_SECONDS = 2.0  # after the last answer: who has asked asks on


class Services:
    """All parts of the daemon, created and connected; `stop` and `give_up` end it."""

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        open_page: Callable[[int | None], Awaitable[wire.PageLink]],
        close_page: Callable[[], Awaitable[bool]],
        stop: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        plugins = manager.load(settings)
        for problem in filter(None, (*plugins.problems, describe_exposure(paths.config))):
            log.warning("%s", problem)
        release_ballast(paths)
        Memory.discard_copies(paths.memory)
        self.paths, self.settings, self.plugins = paths, settings, plugins
        self.open_page, self.close_page, self.stop = open_page, close_page, stop
        self.own, self.backups = paths.all(), paths.backups  # what is the daemon's own, and never read
        self.policy: Callable[[], Policy] = partial(new_folder_policy, paths.config)  # of new folders, as of now
        self.began = time.monotonic()
        self.safe_mode = ""  # why the daemon reads nothing by itself
        self.memory = memory = open_memory(paths.memory, settings, plugins, wait_s=settings.disk.wait_s)
        # Their models load now, not with the first question, and not during the opening, which yields the interpreter
        # at every row that it reads: with 100,000 passages that took 2.3 s instead of 1.7.
        for model in {plugins.embedder(OWN), memory.embedder}:
            threading.Thread(target=prepare, args=[model], name="embedder", daemon=True).start()
        if number := memory.maintenance.discard_unfinished(paths.backups):
            log.info("removed what was left of %d unfinished copies", number)
        # Each has its own threads, so that questions do not wait for a check or a backup, nor a status for questions.
        self.questions = QuestionPool(AT_ONCE)
        self.workers = ThreadPoolExecutor(4, "worker")
        limit_notes = partial(RateLimit, settings.mcp.notes_per_minute)
        self.note_limits: defaultdict[str, RateLimit] = defaultdict(limit_notes)  # by agent
        self.cache = Cache(memory)
        self.activity = Activity()
        self.schedule = Schedule()
        run_later = self.schedule.run_later
        publish = self.activity.publish
        self.writer = writer = Writer(News(memory, publish).publish_new)
        self.tasks = tasks = Tasks(publish)
        chunk, rules = settings.memory.chunk, settings.memory.rules
        self.readers = Readers(chunk, rules, memory.state.masker, plugins.left_out)
        self.attempts = Attempts(memory, writer, paths.reading)
        ingest = Ingest(memory, plugins, writer, tasks, publish, settings.watch, self.own, self.readers, self.attempts)
        self.watcher = Watcher(ingest, run_later)
        self.add_jobs = AddJobs(ingest, self.watcher.keep_named)
        self.erasure = Erasure(memory, writer, tasks, run_later)
        self.embedder = EmbedderJob(memory, plugins, writer, tasks, settings.embedder.name, publish, run_later)
        self.models = Models(memory, plugins, writer, settings, partial(load, paths.config))
        self.enrichment = Enrichment(memory, self.models, writer, settings.enrichment)
        self.models.changed = self.enrichment.retry
        self.nightly = NightlyJob(memory, writer, settings.night, settings.retention, lambda: self.questions.busy)
        self.upkeep = BackupJob(memory, writer, settings.upkeep, paths.backups, publish)
        self.disk = Disk(memory, writer, paths, settings.disk, publish, give_up, self._go_on)
        self.sync = SyncJob(memory, writer, paths.sync)
        self.replication = Replication(memory, paths)
        memory.forgetting.around_wipe = self.replication.pause
        self.statements = StatementStore(memory, writer, paths.config)
        self._fill_schedule(self.schedule)
        writer.start()
        tasks.start()

    def _fill_schedule(self, schedule: Schedule) -> None:
        """Adds all periodic jobs."""
        watch, after_s = self.settings.watch, self.settings.night.after_start_s
        schedule.add("disk", self.disk.check, self.settings.disk.check_s or 30)
        schedule.add("scan", self.watcher.scan_all, SCAN_SECONDS, jitter_s=SCAN_SECONDS / 4)
        schedule.add("folders", self.watcher.check_roots, watch.root_check_s or 30)
        schedule.add("embedder", self.embedder.catch_up, CATCH_UP_SECONDS)
        schedule.add("replica", self.replication.check, watch.root_check_s or 30)
        schedule.add("rest", self._rest, REST_SECONDS)
        schedule.add("night", self.nightly.run_if_due, LOOK_SECONDS, after_s)
        schedule.add("backup", self.upkeep.back_up, LOOK_SECONDS, after_s)
        schedule.add("trial", self.upkeep.try_restoring, LOOK_SECONDS, after_s)
        schedule.add("check", self.upkeep.check, LOOK_SECONDS, after_s)

    def _rest(self) -> None:
        """Returns memory to the system once no question runs."""
        if self.questions.begin_rest():
            self.memory.release_caches()
            gc.collect()
            give_back()

    def _go_on(self, was_full: bool) -> None:
        """Resumes work after a full disk."""
        self.add_jobs.go_on()
        if was_full:
            self.watcher.scan_all()
            self.embedder.resume()

    def begin(self, wait: Callable[[float], bool]) -> None:
        """Starts the background work and resumes that of an earlier daemon. `wait` returns early, and true, if the
        daemon stops."""
        with suppress(PalimpsestError):  # readers report the error
            self.attempts.recover()
        if self.attempts.pause:
            log.error("%s", SAFE_MODE)
            self.safe_mode = SAFE_MODE
            if wait(self.attempts.pause):
                return
            self.safe_mode = ""
        self.schedule.start()
        self.disk.check()
        self.add_jobs.go_on()
        self.erasure.resume()
        self.watcher.start()
        self.embedder.resume()
        self.replication.check()
        self.sync.start()
        self.enrichment.start()  # after `add_jobs.go_on`, which frees the leases of an earlier daemon

    def drain(self, seconds: float) -> None:
        """Stops accepting work, finishes the current write, ends the streams; each part within `seconds`."""
        self.schedule.close()
        self.sync.close()
        self.watcher.close()
        self.nightly.close(seconds)
        self.enrichment.close(seconds)
        self.models.close()
        self.readers.close()
        self.tasks.close(seconds)
        self.attempts.close()
        self.activity.close()
        self.writer.submit(self.memory.jobs.put_back, urgent=True)
        self.writer.close(seconds)

    async def read(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.questions, call)

    async def work(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.workers, call)

    async def write(self, unit: Callable[[], T]) -> T:
        """Runs a unit in the writer's thread, before background units."""
        return await asyncio.wrap_future(self.writer.submit(unit, urgent=True))

    def close(self) -> None:
        """Drops queued work and closes the memory."""
        for pool in (self.questions, self.workers):
            pool.shutdown(wait=False, cancel_futures=True)
        self.replication.close()
        self.memory.close()


class Cache:
    """Results that stay valid until the next write. A chat often asks for counts, which take 10 us an episode."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._made: tuple[int, dict[object, Any]] = -1, {}

    def get(self, key: object, make: Callable[[], T]) -> T:
        """Returns the cached result of `make` for this key."""
        generation = self._memory.store.generation
        if self._made[0] != generation:
            self._made = generation, {}
        _, made = self._made
        if key not in made:
            made[key] = make()
        value: T = made[key]
        return value


class QuestionPool(ThreadPoolExecutor):
    """Threads that answer requests for which a person waits. Background work checks `busy`."""

    def __init__(self, most: int) -> None:
        super().__init__(most, "reader")
        self._counting = threading.Lock()
        self._open = 0
        self._last = self._rested = -QUIET_SECONDS

    @property
    def busy(self) -> bool:
        """Whether a question runs, or has just ended."""
        return self._open > 0 or time.monotonic() - self._last < QUIET_SECONDS

    def begin_rest(self) -> bool:
        """Whether it is idle and has answered something since this was last true."""
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
