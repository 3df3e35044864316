"""Background work: a durable job queue, and the use of models for it; and chat sessions."""

from collections.abc import Iterable, Sequence

from memory.nouns import Answer
from memory.services import read_by, write_by
from memory.services.state import State
from memory.store import conversations, episodes, jobs, traces
from memory.store.connect import Connection
from memory.store.conversations import MessageState as MessageState
from memory.store.forget import FORGOTTEN_ANSWER
from memory.store.jobs import Job as Job
from memory.store.jobs import Use as Use
from memory.store.store import Store
from memory.time.timestamps import now_ms
from memory.views import ChatMessage, Conversation


class Jobs:
    """The queue. A job is on the disk when it is queued, is leased again after a crash, and is done at least once.
    `process` is the name of the working process. Also the probe results of language models, and their use per day."""

    def __init__(self, store: Store) -> None:
        self._store = store

    count = read_by(jobs.count)
    next_at = read_by(jobs.next_at)
    drop = write_by(jobs.drop)
    put_back = write_by(jobs.put_back)
    grades = read_by(jobs.list_grades)
    uses = read_by(jobs.list_uses)
    keep_grades = write_by(jobs.keep_grades)
    count_use = write_by(jobs.count_use)

    def enqueue(self, new_jobs: Iterable[Job]) -> list[int]:
        """Queues jobs; returns their ids in order, including those already queued."""
        return self._store.write(_enqueue, new_jobs)

    def begin(self, new_job: Job, process: str) -> int:
        """Queues a job and leases the next of its kind; returns the id of the leased job."""
        with self._store.writing() as conn:
            _enqueue(conn, [new_job])
            job = jobs.claim(conn, now_ms(), process, [new_job.kind])
            return job.id if job else 0

    def claim(self, kinds: Sequence[str], process: str) -> Job | None:
        """Leases the next due job and counts an attempt."""
        return self._store.write(jobs.claim, now_ms(), process, kinds)

    def resume(self, kind: str, process: str, keep_ms: int) -> list[Job]:
        """Frees the leases of dead processes, prunes jobs that were done `keep_ms` ago, and leases all of a kind."""
        with self._store.writing() as conn:
            jobs.requeue(conn, process)
            jobs.prune(conn, now_ms() - keep_ms)
            return list(iter(lambda: jobs.claim(conn, now_ms(), process, [kind]), None))

    def finish(self, id: int, then: Iterable[Job] = ()) -> None:
        """Marks a job done and queues its successors, in one transaction."""
        with self._store.writing() as conn:
            jobs.finish(conn, id)
            _enqueue(conn, then)

    def fail(self, id: int, error: str) -> None:
        """Records a failed attempt: retried later, and dead after too many."""
        self._store.write(jobs.fail, id, error, now_ms())

    def count_attempt(self, new_job: Job, error: str, most: int) -> int:
        """Counts a failed attempt at an unclaimed job; returns the number of attempts. After `most` the job is dead."""
        return self._store.write(jobs.count_attempt, new_job, error, now_ms(), most)

    def give_up(self, id: int, error: str, then: Iterable[Job] = ()) -> None:
        """Marks a job dead, and queues its successors."""
        with self._store.writing() as conn:
            jobs.bury(conn, id, error)
            _enqueue(conn, then)

    def release(self, id: int, seconds: float) -> None:
        """Returns a job to the queue that could not be tried; the attempt does not count."""
        self._store.write(jobs.release, id, now_ms() + int(seconds * 1000))

    def list_unfinished(self, kinds: Sequence[str]) -> list[Job]:
        """Lists queued and leased jobs, newest first for each kind."""
        return [job for state in ("leased", "queued") for job in self._store.read(jobs.list_jobs, state, -1, kinds)]

    def retry(self, kinds: Sequence[str], id: int | None = None) -> int:
        """Requeues dead jobs, or one of them; returns their number."""
        return self._store.write(jobs.retry, kinds, now_ms(), id)

    def prune(self, kinds: Sequence[str]) -> None:
        """Deletes done jobs of these kinds."""
        self._store.write(jobs.prune, now_ms(), kinds)

    def given_up(self, kinds: Sequence[str], limit: int) -> list[Job]:
        """Lists dead jobs with the reason, newest first."""
        return self._store.read(jobs.list_jobs, "dead", limit, kinds)


def _enqueue(conn: Connection, new_jobs: Iterable[Job]) -> list[int]:
    return [jobs.enqueue(conn, job, now_ms()) for job in new_jobs]


class Conversations:
    """Chat sessions. All methods except `latest` and `search` raise NotFoundError for an unknown session. Secrets in a
    person's messages are masked."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    latest = read_by(conversations.list_conversations)
    search = read_by(conversations.search)
    check = read_by(conversations.check)
    delete = write_by(conversations.delete)

    def get(self, id: int) -> tuple[Conversation, tuple[ChatMessage, ...]]:
        """Returns a session with its messages in order."""
        self._state.pending.try_write()
        return self._store.read(conversations.get, id)

    def create(self, title: str) -> int:
        """Creates an empty session; returns its id."""
        return self._store.write(conversations.create, self._state.mask(title), now_ms())

    def rename(self, id: int, title: str) -> None:
        self._store.write(conversations.rename, id, self._state.mask(title))

    def add_question(self, id: int, text: str) -> None:
        self._store.write(conversations.append, id, "user", self._state.mask(text), now_ms())

    def add_answer(self, id: int, answer: Answer, state: MessageState = "complete") -> None:
        """Adds an answer, complete or "partial"; without its words if some of its evidence was forgotten since."""
        with self._store.writing() as conn:
            cited = sorted({citation.episode_id for citation in answer.citations})
            is_traced = answer.trace_id is None or traces.exists(conn, answer.trace_id)
            if not is_traced or len(episodes.get_many(conn, cited)) < len(cited):
                answer = Answer(FORGOTTEN_ANSWER)
            conversations.append(
                conn, id, "memory", answer.text, now_ms(), state=state, citations=answer.citations,
                no_answer=answer.no_answer, trace_id=answer.trace_id,
            )  # fmt: skip
