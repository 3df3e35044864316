"""Work in the background: a durable queue, and what models were used for while they did it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memory.llm import Grades
from memory.store import jobs, models
from memory.store.jobs import Job as Job
from memory.store.jobs import JobState as JobState
from memory.store.models import Use as Use
from memory.store.store import Store
from memory.time.timestamps import now_ms

FOREVER_MS = 10**15  # one process holds the file, so no lease needs to run out


class NewJob(NamedTuple):
    """A job to be queued, once: of one `kind` and `key` there is one that waits or runs. What has more priority goes
    first."""

    kind: str
    key: str
    payload: Mapping[str, Any]
    priority: int = 0


class Jobs:
    """The queue. A job is on the disk when it is queued, is handed out again after a crash, and is done at least once.
    `process` is a name of the process that works."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def enqueue(self, wanted: Iterable[NewJob]) -> list[int]:
        """Queues jobs; their ids, in order, of those that are there already as well."""
        with self._store.writing() as conn:
            return [jobs.enqueue(conn, *one[:3], now_ms(), priority=one.priority) for one in wanted]

    def begin(self, wanted: NewJob, process: str) -> int:
        """Queues a job and leases the next of its kind; the id of that."""
        with self._store.writing() as conn:
            jobs.enqueue(conn, *wanted[:3], now_ms(), priority=wanted.priority)
            job = jobs.claim(conn, now_ms(), process, [wanted.kind], FOREVER_MS)
            return job.id if job else 0

    def begin_only(self, wanted: NewJob, process: str) -> int:
        """Queues a job; the others of its kind are over."""
        with self._store.writing() as conn:
            id = jobs.enqueue(conn, *wanted[:3], now_ms(), priority=wanted.priority)
            while other := jobs.claim(conn, now_ms(), process, [wanted.kind], FOREVER_MS):
                if other.id != id:
                    jobs.finish(conn, other.id)
        return id

    def claim(self, kinds: Sequence[str], process: str) -> Job | None:
        """The next job that is due, leased; its attempt counts from here."""
        with self._store.writing() as conn:
            return jobs.claim(conn, now_ms(), process, kinds, FOREVER_MS)

    def resume(self, kind: str, process: str, keep_ms: int) -> list[Job]:
        """Frees what dead processes had leased, forgets jobs that were done `keep_ms` ago, and leases all of a kind."""
        with self._store.writing() as conn:
            jobs.requeue(conn, process)
            jobs.prune(conn, now_ms() - keep_ms)
            return list(iter(lambda: jobs.claim(conn, now_ms(), process, [kind], FOREVER_MS), None))

    def finish(self, id: int, then: Iterable[NewJob] = ()) -> None:
        """Done, and others follow it, in one transaction."""
        with self._store.writing() as conn:
            jobs.finish(conn, id)
            for one in then:
                jobs.enqueue(conn, *one[:3], now_ms(), priority=one.priority)

    def fail(self, id: int, error: str) -> None:
        """The attempt failed: later again, and given up after too many."""
        with self._store.writing() as conn:
            jobs.fail(conn, id, error, now_ms())

    def give_up(self, id: int, error: str, then: Iterable[NewJob] = ()) -> None:
        """There is no use in trying again; others follow it all the same."""
        with self._store.writing() as conn:
            jobs.bury(conn, id, error)
            for one in then:
                jobs.enqueue(conn, *one[:3], now_ms(), priority=one.priority)

    def release(self, id: int, seconds: float) -> None:
        """It could not be tried, through no fault of its own: the attempt does not count."""
        with self._store.writing() as conn:
            jobs.release(conn, id, now_ms() + int(seconds * 1000))

    def retry(self, kinds: Sequence[str], id: int | None = None) -> int:
        """Queues anew what was given up, or one job of it; how many."""
        with self._store.writing() as conn:
            return jobs.retry(conn, kinds, now_ms(), id)

    def prune(self, kinds: Sequence[str]) -> None:
        """Forgets done jobs of these kinds."""
        with self._store.writing() as conn:
            jobs.prune(conn, now_ms(), kinds)

    def count(self, kinds: Sequence[str]) -> dict[JobState, int]:
        """How many there are in each state that has any."""
        with self._store.reading() as conn:
            return jobs.count(conn, kinds)

    def given_up(self, kinds: Sequence[str], limit: int) -> list[Job]:
        """The newest first, with the reason."""
        with self._store.reading() as conn:
            return jobs.list_jobs(conn, "dead", limit, kinds=kinds)


class ModelUse:
    """What probes found of language models, and what these were used for, by the day."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep_grades(self, grades: Grades) -> None:
        """Replaces what an earlier probe found of that model."""
        with self._store.writing() as conn:
            models.keep(conn, grades)

    def grades(self) -> dict[str, Grades]:
        """What is known of each model that was probed, by its name."""
        with self._store.reading() as conn:
            return models.grades(conn)

    def count(self, use: Use) -> None:
        """Adds to what the model was used for on that day."""
        with self._store.writing() as conn:
            models.count(conn, use)

    def uses(self, since: str) -> list[Use]:
        """What models were used for from that day on, the newest first."""
        with self._store.reading() as conn:
            return models.uses(conn, since)
