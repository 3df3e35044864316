"""Jobs that read files and folders once, on request.

A job is stored before anything is read, so a restarted daemon continues it. It is idempotent, because sources are
identified by their content."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.failures import failure
from daemon.jobs.workers import ADD, Task
from daemon.watch.attempts import KIND as FILE_KIND
from daemon.watch.files import uri_of
from daemon.watch.ingest import Ingest
from daemon.watch.scan import Scan, ScanTarget
from memory.errors import StoreFullError
from memory.nouns import Policy
from memory.services.activity import Job

log = logging.getLogger(__name__)

KIND = "add"
MOST_STARTS = 10  # starts of the daemon that a job may survive; files that kill the daemon are set aside earlier
KEPT = 7 * 24 * 3600 * 1000  # ms for which a done job is kept


class AddJobs:
    """The jobs of `pal add`. `keep_named` gets the paths that a person names, which may lie in watched folders."""

    def __init__(self, ingest: Ingest, keep_named: Callable[[Iterable[Path]], None]) -> None:
        self._ingest = ingest
        self._keep_named = keep_named
        self._memory = ingest.memory
        self._writer = ingest.writer
        self._boot = uuid.uuid4().hex
        self._has_resumed = False
        self._held_up: list[Callable[[], None]] = []  # until the disk has room

    def resume(self) -> int:
        """Continues the jobs of an earlier daemon; returns their number. On a full disk `go_on` continues them."""
        try:
            begun = self._writer.write(partial(self._memory.jobs.resume, KIND, self._boot, KEPT))
        except StoreFullError:
            return 0
        self._has_resumed = True
        for job in begun:
            if job.attempts > MOST_STARTS:
                reason = f"the daemon ended {job.attempts - 1} times while it read this"
                self._writer.write(partial(self._memory.jobs.give_up, job.id, reason))
                continue
            paths = {Path(path): job.payload.get("policies", {}).get(path, "local") for path in job.payload["paths"]}
            self._submit(job.id, paths, lambda event: None, job.payload.get("again", False))
        return len(begun)

    def go_on(self) -> None:
        """Continues the jobs that a full disk interrupted or delayed."""
        if not self._has_resumed:
            self.resume()
        held_up, self._held_up = self._held_up, []
        for submit in held_up:
            submit()

    def retry(self, id: int | None = None) -> int:
        """Retries failed jobs and files set aside, or the one with this number; returns their number."""
        jobs = self._writer.write(partial(self._memory.jobs.retry, [KIND], id))
        if jobs:
            self.resume()
        paths = self._ingest.attempts.retry(id)
        for path in paths:
            self.add([path], lambda event: None)
        return jobs + len(paths)

    def list_failed(self, most: int) -> tuple[Sequence[wire.FailedJob], int]:
        """Returns (the newest `most` failed jobs and files set aside, total)."""
        kinds, jobs = [KIND, FILE_KIND], self._memory.jobs
        failed = [
            wire.FailedJob(job.id, job.kind, _name(job), job.last_error or "") for job in jobs.given_up(kinds, most)
        ]
        return failed, jobs.count(kinds).get("dead", 0)

    def add(
        self,
        paths: Iterable[Path],
        tell: Callable[[wire.Event], None],
        policy: Policy | None = None,
        default: Policy = "local",
        again: bool = False,
    ) -> None:
        """Reads files and folders. `tell` receives the events; the last is an Added or a Failed. `policy` applies to
        old and new sources; without it, new sources get the policy of their watched folder, otherwise the `default`.
        `again`: also reads forgotten files. The job is stored when this returns."""
        sources = self._memory.sources
        policies = {path: policy or sources.folder_policy(str(path)) or default for path in sorted(set(paths))}
        named = {str(path): chosen for path, chosen in policies.items()}

        def enqueue() -> int:
            if policy:
                sources.set_policy({uri_of(path): chosen for path, chosen in policies.items()})
            key = "\n".join([*named, *(["again"] if again else [])])
            job = Job(KIND, key, {"paths": [*named], "policies": named, "again": again})
            return self._memory.jobs.begin(job, self._boot)

        self._keep_named(policies)
        self._submit(self._writer.write(enqueue), policies, tell, again)

    def _submit(self, job: int, paths: Mapping[Path, Policy], tell: Callable[[wire.Event], None], again: bool) -> None:
        targets = []
        for path, policy in paths.items():
            root = path if path.is_dir() else path.parent
            targets.append(ScanTarget(path, self._ingest.ignore_rules(root), path, policy))
        name = f"Reading {targets[0].path.name}" if len(targets) == 1 else f"Reading {len(targets)} files and folders"
        task = Task(name, tell=tell)
        task.ended = partial(self._finish, job, task, partial(self._submit, job, paths, lambda event: None, again))
        task.steps = self._ingest.take(targets, task, disk=Scan(again=again))
        self._ingest.tasks.submit(ADD, task)

    def _finish(self, job: int, task: Task, again: Callable[[], None], error: BaseException | None) -> None:
        if isinstance(error, CancelledError):
            task.tell(wire.Failed("stopping", "The daemon is stopping.", "It goes on with this when it starts again."))
            return

        if isinstance(error, StoreFullError):  # the job stays leased, so that the next daemon continues it, too
            self._held_up.append(again)
            task.tell(replace(failure(error), remedy="It goes on by itself when there is room."))
            return
        jobs = self._memory.jobs
        note = partial(jobs.finish, job) if error is None else partial(jobs.fail, job, failure(error).message)
        try:
            self._writer.write(note)
        except (Exception, CancelledError) as trouble:  # it will be repeated, which changes nothing
            log.warning("job %d could not be marked: %s", job, type(trouble).__name__)
        task.tell(task.result() if error is None else failure(error))


def _name(job: Job) -> str:
    """Returns the file that was set aside, or the first path of a job."""
    if job.kind == FILE_KIND:
        return job.key
    first, *others = job.payload["paths"]
    return f"{first} and {len(others):,} more" if others else str(first)
