"""Notes read in a batch: many requests sent at once to a model elsewhere, answered within a day and for half the price.

    job "extract", tried for the first time -> held, with others, behind one job "batch" -> learnt
                                                                                         -> an ordinary job again

The job "batch" holds the vendor's id of the batch and is on the disk with it, so that a daemon that starts again asks
for that and sends nothing twice. There is one batch at a time; what is new meanwhile waits for the next. What a batch
brings no usable answer for is read by an ordinary call.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial

from daemon.jobs.extraction import EXTRACT, Reading
from daemon.jobs.models import Models
from memory import Memory
from memory.errors import MalformedOutputError, ModelCancelledError, ModelError, NotFoundError
from memory.facts import llm_requests
from memory.facts.json_replies import parse_loosely
from memory.llm import LlmRequest, Reply, length
from memory.services.jobs import Job, NewJob
from plugins.llms.guard import Guarded

log = logging.getLogger(__name__)

BATCH = "batch"
MAX_JOBS = 100
POLL_SECONDS = 60.0
HELD_SECONDS = 29 * 86_400.0  # results are kept for as long; only the job "batch" ends it before that
LIKE = LlmRequest(
    messages=(), schema=llm_requests.EXTRACTION_SCHEMA, purpose=llm_requests.EXTRACTION_PURPOSE, local_only=False
)


class Batches:
    """Sends jobs in batches and takes what comes of them. For one thread, but for `describe`."""

    def __init__(
        self,
        memory: Memory,
        models: Models,
        reading: Reading,
        attempt: Callable[[Job, Callable[[], None]], None],
        tokens_left: Callable[[], float],
        process: str,
    ) -> None:
        """`attempt` does what a job needs and deals with whatever that raises. `process` leases jobs."""
        self._memory = memory
        self._models = models
        self._reading = reading
        self._attempt = attempt
        self._tokens_left = tokens_left
        self._process = process
        self._cancelled: set[str] = set()  # batches whose end was asked for

    def find_running(self) -> Job | None:
        """The job of the batch that is being read; None if there is none."""
        return next(iter(self._memory.jobs.list_unfinished([BATCH])), None)

    def describe(self) -> str:
        """A sentence on the batch that is being read; "" if there is none."""
        job = self.find_running()
        if job is None:
            return ""
        many, since = len(job.payload["jobs"]), datetime.fromtimestamp(job.payload["since"])
        notes = "1 note is" if many == 1 else f"{many:,} notes is"
        return f"A batch of {notes} being read by {job.payload['model']} since {since:%Y-%m-%d %H:%M}"

    def send(self, first: Job) -> bool:
        """Sends a job that was claimed, with all others that wait and may go with it, or lets it wait for the next
        batch. False if it is to be done by an ordinary call."""
        model = self._model_for(first)
        request = self._request(first, model) if model else None
        if model is None or request is None:
            return False
        if self.find_running():
            self._reading.write(partial(self._memory.jobs.release, first.id, POLL_SECONDS))
            return True
        self._attempt(first, partial(self._send, first, request, model))
        return True

    def _send(self, first: Job, request: LlmRequest, model: Guarded) -> None:
        chosen, others = {first.id: request}, list[int]()
        left = self._tokens_left() - _most_tokens(request)
        try:
            while left > 0 and len(chosen) + len(others) < MAX_JOBS:
                job = self._reading.write(partial(self._memory.jobs.claim, [EXTRACT], self._process))
                if job is None:
                    break
                more = self._request(job, model) if self._model_for(job) is model else None
                left -= _most_tokens(more) if more else 0
                if more and left >= 0:
                    chosen[job.id] = more
                else:
                    others.append(job.id)
            id = model.send_batch({str(job): one for job, one in chosen.items()})
        except BaseException:
            others += [job for job in chosen if job != first.id]
            raise
        else:
            payload = {"batch": id, "model": model.name, "jobs": [*chosen], "since": int(datetime.now().timestamp())}
            job_of_it = NewJob(BATCH, id, payload)
            self._reading.write(partial(self._memory.jobs.hold, [*chosen], HELD_SECONDS, job_of_it))
            log.info("batch %s: %d jobs sent to %s", id, len(chosen), model.name)
        finally:
            for other in others:
                self._reading.write(partial(self._memory.jobs.release, other, 0))

    def collect(self) -> bool:
        """Asks, once in a while, what has come of the batch, and takes it; whether it has ended."""
        if self.find_running() is None:  # looking costs no commit
            return False
        job = self._reading.write(partial(self._memory.jobs.claim, [BATCH], self._process))
        if job is None:
            return False
        try:
            model = self._models.open(job.payload["model"])
            if not model.has_batches:
                self.cancel()
            found = model.fetch_batch(job.payload["batch"], LIKE)
        except (ModelError, NotFoundError) as error:
            log.warning("batch %s: %s", job.payload["batch"], error)
            is_old = datetime.now().timestamp() - job.payload["since"] > HELD_SECONDS
            found = {} if is_old or isinstance(error, MalformedOutputError | NotFoundError) else None
        if found is None:
            self._reading.write(partial(self._memory.jobs.release, job.id, POLL_SECONDS))
            return False
        # What was forgotten meanwhile is not there, nor what a daemon had taken that died on the way.
        held = {one.id: one for one in self._memory.jobs.list_unfinished([EXTRACT])}
        log.info("batch %s: %d results for %d jobs", job.payload["batch"], len(found), len(job.payload["jobs"]))
        for id in job.payload["jobs"]:
            if id in held:
                self._take(held[id], found.get(str(id)), job.payload["model"])
        self._reading.write(partial(self._memory.jobs.finish, job.id))
        return True

    def cancel(self) -> bool:
        """Asks for the end of the batch; what is read by then is taken by `collect`. False if that must be tried
        again."""
        job = self.find_running()
        if job is None or job.payload["batch"] in self._cancelled:
            return True
        try:
            self._models.open(job.payload["model"]).cancel_batch(job.payload["batch"])
        except NotFoundError:
            return True  # such models are no longer known; `collect` deals with it
        except ModelError as error:
            log.warning("batch %s: %s", job.payload["batch"], error)
            return False
        self._cancelled.add(job.payload["batch"])
        return True

    def _take(self, job: Job, said: Reply | ModelError | None, model: str) -> None:
        data = said.data if isinstance(said, Reply) else None
        if isinstance(said, MalformedOutputError):
            data = parse_loosely(said.text, llm_requests.EXTRACTION_SCHEMA)
        if data is not None:
            self._attempt(job, partial(self._reading.learn_reply, job, data, model))
        elif isinstance(said, ModelCancelledError):  # somebody wanted that: it may be in the next one
            self._reading.write(partial(self._memory.jobs.release, job.id, 0))
        else:
            self._reading.write(partial(self._memory.jobs.requeue, [job.id]))

    def _model_for(self, job: Job) -> Guarded | None:
        """The model that reads this in a batch, if it is to be read so. What was tried before is not: the next try is
        an ordinary call. Nor are several notes at once: those that are still there when the answer comes would have
        other numbers."""
        if job.kind != EXTRACT or job.attempts > 1 or len(job.payload["episodes"]) > 1:
            return None
        model = self._reading.choose_model(local_only=False)
        return model if model and model.has_batches else None

    def _request(self, job: Job, model: Guarded) -> LlmRequest | None:
        """What the model is asked to read this; None where it must not, or need not, be asked."""
        request = self._reading.request_away(job)
        if request is None:
            return None
        try:
            model.check(request)
        except ModelError:
            return None
        return request


def _most_tokens(request: LlmRequest) -> int:
    return length(request) + request.max_tokens
