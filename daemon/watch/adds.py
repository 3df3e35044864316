"""Files and folders that are read once, because somebody asked for it: durable jobs.

The job is on the disk before anything is read, so that a daemon that was killed goes on with it when it starts again.
Doing it twice changes nothing: what was read is known by its content.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.failures import failed
from daemon.jobs.tasks import ADD, Tally, Task, Tasks
from daemon.jobs.writer import Writer
from daemon.settings import WatchSettings
from daemon.views import now
from daemon.watch.files import Ignore, uri_of
from daemon.watch.ingest import Ingest, Look
from memory import Memory
from memory.nouns import Policy
from memory.store import folders, jobs, sources

log = logging.getLogger(__name__)

KIND = "add"
KEPT = 7 * 24 * 3600 * 1000  # ms a done job is remembered
FOREVER = 10**15  # ms: one process holds the lock, so no lease needs to run out


class Adds:
    """What `pal add` started."""

    def __init__(
        self, memory: Memory, writer: Writer, ingest: Ingest, tasks: Tasks, settings: WatchSettings, own: Iterable[Path]
    ) -> None:
        self._memory = memory
        self._writer = writer
        self._ingest = ingest
        self._tasks = tasks
        self._settings = settings
        self._own = tuple(own)
        self._boot = uuid.uuid4().hex

    def resume(self) -> int:
        """Goes on with what an earlier daemon had begun; returns how many jobs that are."""

        def claim_all() -> list[jobs.Job]:
            with self._memory.store.writing() as conn:
                jobs.requeue(conn, self._boot)
                jobs.prune(conn, now() - KEPT)
                return list(iter(lambda: jobs.claim(conn, now(), self._boot, [KIND], FOREVER), None))

        begun = self._writer.write(claim_all)
        for job in begun:
            paths = {Path(path): job.payload.get("policies", {}).get(path, "local") for path in job.payload["paths"]}
            self._submit(job.id, paths, lambda event: None)
        return len(begun)

    def add(
        self,
        paths: Iterable[Path],
        tell: Callable[[wire.Event], None],
        policy: Policy | None = None,
        default: Policy = "local",
    ) -> None:
        """Reads files and folders; `tell` gets the events, the last of which is an Added or a Failed.

        `policy` is for all that lies there, read before or now. Without one what is new gets that of the watched folder
        it lies in, or else the `default`. When this returns the job is on the disk.
        """
        with self._memory.store.reading() as conn:
            policies = {path: policy or folders.policy_of(conn, str(path)) or default for path in sorted(set(paths))}
        named = {str(path): chosen for path, chosen in policies.items()}

        def enqueue() -> int:
            with self._memory.store.writing() as conn:
                for path in policies if policy else ():
                    sources.set_policy(conn, uri_of(path), policies[path])
                jobs.enqueue(conn, KIND, "\n".join(named), {"paths": [*named], "policies": named}, now())
                job = jobs.claim(conn, now(), self._boot, [KIND], FOREVER)
                return job.id if job else 0

        self._submit(self._writer.write(enqueue), policies, tell)

    def _submit(self, job: int, paths: Mapping[Path, Policy], tell: Callable[[wire.Event], None]) -> None:
        looks = []
        for path, policy in paths.items():
            root = path if path.is_dir() else path.parent
            looks.append(Look(path, Ignore(root, self._settings.ignore, self._own), path, policy))
        tally = Tally(tell)
        few = self._settings.gone_files
        steps = self._ingest.take(looks, tally, trust=lambda root, gone: gone <= few, asked=True)
        name = f"Reading {looks[0].path.name}" if len(looks) == 1 else f"Reading {len(looks)} files and folders"
        self._tasks.submit(ADD, Task(name, tally, steps, partial(self._ended, job, tally)))

    def _ended(self, job: int, tally: Tally, error: BaseException | None) -> None:
        if isinstance(error, CancelledError):
            tally.tell(wire.Failed("stopping", "The daemon is stopping.", "It goes on with this when it starts again."))
            return

        def note() -> None:
            with self._memory.store.writing() as conn:
                if error is None:
                    jobs.finish(conn, job)
                else:
                    jobs.fail(conn, job, type(error).__name__, now())

        try:
            self._writer.write(note)
        except (Exception, CancelledError) as trouble:  # it will be done again, which changes nothing
            log.warning("job %d could not be marked: %s", job, type(trouble).__name__)
        tally.tell(tally.result() if error is None else failed(error))
