"""Reading with a language model, in the background: facts from episodes, and the effect of new facts on old ones.

    unread episode -> job "extract" -> learnt -> job "decide" for what no rule can judge -> decided

One thread, one call at a time. A job can fail in three ways:

    it could not be tried (no model, nobody listens any more)   it waits, and the try does not count
    the server failed (down, slow, 429, 500)                     later again, at ever longer intervals; then dead
    the answer cannot be used                                    one episode at a time; then dead, with the reason

Without a model that can read there are no jobs at all. No request to a model on another machine has text of a local
source: such episodes have separate jobs, and wait for a model on this machine.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from daemon import wire
from daemon.config.settings import EnrichmentSettings
from daemon.failures import log_unexpected
from daemon.jobs.extraction import DECIDE, EXTRACT, KINDS, ExtractionWorker, WaitError, make_batches
from daemon.jobs.models import Models
from daemon.jobs.schedule import on_battery
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelCancelledError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    NotFoundError,
    OverBudgetError,
    PalimpsestError,
)
from memory.nouns import Episode
from memory.services.activity import Job
from memory.time.timestamps import now_ms
from plugins.llms import READING
from plugins.llms.guard import Guarded

log = logging.getLogger(__name__)

WAVE = 8  # jobs that are made at once: text that arrives meanwhile goes into the next ones
UNREAD, MOST_UNREAD = 128, 16_384  # episodes that are looked at for those that may be read
LOOK_SECONDS = 5.0  # between two looks whether there is something new
AGAIN_SECONDS = 60.0  # between two checks for a model and for obstacles
FIRST_REST, LONGEST_REST = 30.0, 3600.0  # seconds of peace for a server that failed
PERSON_SECONDS = 2.0  # after a question that went first
FAILED_SHOWN = 100


@dataclass
class Enrichment:
    """Extracts facts in a separate thread, from `start` to `close`."""

    memory: Memory
    models: Models
    writer: Writer
    settings: EnrichmentSettings
    battery: Callable[[], bool | None] = on_battery

    def __post_init__(self) -> None:
        self._worker = ExtractionWorker(
            self.memory, self.models, self.writer, self._is_stopped,
            lambda model: self._say("reading", self._trouble, model),
        )  # fmt: skip
        self._enabled = self.settings.enabled
        self._boot = uuid.uuid4().hex
        self._closing = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="enrichment", daemon=True)
        self._state = wire.Enrichment("idle" if self._enabled else "off")
        self._trouble = ""  # with the server
        self._obstacle = ""  # why a job could not be tried
        self._failures = 0  # in a row
        self._resting = self._planning = 0.0  # until then, on the clock of `time.monotonic`
        self._nothing_new: int | None = None  # the generation of the store in which all was read
        self._counted: tuple[int, tuple[int, int]] | None = None

    def start(self) -> None:
        """Starts the thread; leases of other processes must have been freed."""
        self._thread.start()

    def close(self, timeout: float) -> bool:
        """Interrupts the running call; its job stays. Returns False after `timeout`."""
        self._closing.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def enable(self, enabled: bool) -> wire.Enrichment:
        """Turns reading by models on or off; interrupts a running call."""
        self._enabled = enabled
        self._say("idle" if enabled else "off")
        self.wake()
        return self.state()

    def wake(self) -> None:
        """Wakes the thread because a model or setting changed."""
        self._resting = self._planning = 0.0
        self._nothing_new = None
        self._woken.set()

    def retry(self, id: int | None = None) -> int:
        """Requeues dead jobs, or one, also after models changed; returns their number. NotFoundError if that one is not
        dead."""
        count = self.writer.write(partial(self.memory.jobs.retry, KINDS, id))
        if id is not None and not count:
            raise NotFoundError(f"No failed job has the number {id}. See: pal status --failed")
        self.models.unread.clear()
        self.wake()
        return count

    def state(self) -> wire.Enrichment:
        memory = self.memory
        generation = memory.store.generation
        with memory.store.reading():
            if self._counted is None or self._counted[0] != generation:
                self._counted = generation, memory.knowledge.count_read()
            counts = memory.jobs.count(KINDS)
            dead = memory.jobs.given_up(KINDS, FAILED_SHOWN)
            first = [job.payload["episodes"][0] for job in dead if job.kind == EXTRACT]
            titles = {episode.id: episode for episode in memory.sources.episodes(first)}
        tokens, minutes = sum_spent(memory)
        read, total = self._counted[1]
        return replace(
            self._state,
            read=read,
            total=total,
            jobs=counts.get("queued", 0) + counts.get("leased", 0),
            failed=tuple(wire.FailedJob(job.id, job.kind, _name(job, titles), job.last_error or "") for job in dead),
            failed_total=counts.get("dead", 0),
            tokens=tokens,
            daily_minutes=self.settings.daily_minutes,
            minutes=round(minutes, 1),
            unable=self.models.unable,
        )

    # One step after the other -----------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                pause = self._step()
            except CancelledError:
                return  # the daemon is stopping
            except Exception as error:
                if self._closing.is_set():
                    return
                log_unexpected(log, "reading", error=error)
                pause = AGAIN_SECONDS
            if pause:
                self._woken.wait(pause)
            self._woken.clear()

    def _step(self) -> float:
        """Runs the next job; returns the seconds until the next step."""
        if not self._enabled:
            return LONGEST_REST
        if problem := why_not_now(self.memory, self.settings, self.battery):
            self._say("waiting", problem)
            return AGAIN_SECONDS
        seconds = self._resting - time.monotonic()
        if seconds > 0:
            self._say("waiting", self._trouble)
            return seconds
        if not self.models.could("extract"):
            self._say("no_model")
            return AGAIN_SECONDS
        job = self._claim()
        if job is not None:
            self._attempt(job)
            return 0.0
        return 0.0 if self._plan() else LOOK_SECONDS

    def _say(self, state: str, detail: str = "", model: str = "") -> None:
        self._state = wire.Enrichment(state, detail, model)

    def _is_stopped(self) -> bool:
        return not self._enabled or self._closing.is_set()

    def _claim(self) -> Job | None:
        due = self.memory.jobs.next_at(KINDS)
        if due is None or due > now_ms():  # looking costs no commit
            return None
        return self.writer.write_later(partial(self.memory.jobs.claim, KINDS, self._boot))

    def _plan(self) -> bool:
        """Queues jobs for episodes that a model may read; returns False if there are no such episodes."""
        generation = self.memory.store.generation
        if self._nothing_new == generation or time.monotonic() < self._planning:
            return False
        limit = UNREAD
        unread = self.memory.knowledge.unread_episodes(limit)
        if not unread:
            self._nothing_new = generation
            reason = self._trouble or self._obstacle
            is_waiting = reason and self.memory.jobs.next_at(KINDS) is not None
            self._say("waiting" if is_waiting else "idle", reason)
            return False
        here, away = self._worker.choose_model(local_only=True), self._worker.choose_model(local_only=False)
        if here is None and away is None:
            self._planning = time.monotonic() + AGAIN_SECONDS
            spent = self.models.day_is_spent
            why = f"{spent}: models.daily_tokens" if spent else self.models.unable
            self._say("waiting", why) if why else self._say("no_model")
            return False
        while True:
            allowed = [episode for episode in unread if (here if episode.source.policy == "local" else away)]
            if allowed or len(unread) < limit or limit >= MOST_UNREAD:
                break
            limit *= 8
            unread = self.memory.knowledge.unread_episodes(limit)
        if not allowed:
            self._planning = time.monotonic() + AGAIN_SECONDS
            self._say("waiting", "The rest may only be read on this machine, and no model here can: pal models")
            return False
        batches = make_batches(allowed, self._choose_batch(here), self._choose_batch(away))[:WAVE]
        self.writer.write_later(partial(self._enqueue, batches))
        return True

    def _choose_batch(self, model: Guarded | None) -> int:
        """Returns the number of episodes per request; 1 for an ungraded model."""
        grades = self.models.grades_of(model.name) if model else None
        return grades.batch if grades else 1

    def _enqueue(self, batches: Sequence[Sequence[int]]) -> None:
        self.memory.jobs.prune(KINDS)  # the memory itself knows what was read
        self.memory.jobs.enqueue(Job(EXTRACT, " ".join(map(str, batch)), {"episodes": [*batch]}) for batch in batches)

    # One job ----------------------------------------------------------------------------------------------

    def _attempt(self, job: Job) -> None:
        """Runs a job and handles its failures."""
        try:
            self._worker.run(job)
            self._trouble, self._obstacle, self._failures = "", "", 0
        except WaitError as reason:
            self._obstacle = str(reason)
            self._give_back(job, AGAIN_SECONDS)
        except ModelCancelledError:
            self._give_back(job, 0 if self._closing.is_set() else PERSON_SECONDS)
        except ModelUnavailableError as error:
            self._wait_for_server(job, error, error.retry_after, lasting=error.lasting)
        except ModelTimeoutError as error:
            if len(job.payload.get("episodes", ())) > 1:
                self._answer_failed(job, error)  # it may be no more than slow
            else:
                self._wait_for_server(job, error)
        except (LocalOnlyError, OverBudgetError) as error:
            if isinstance(error, OverBudgetError) and not self.models.day_is_spent:
                self._answer_failed(job, error)  # it is too long for the model
            else:
                self._give_back(job, AGAIN_SECONDS)
        except (MalformedOutputError, ModelRefusedError) as error:
            self._answer_failed(job, error)
        except CancelledError:
            raise
        except Exception as error:
            log_unexpected(log, "job %d", job.id, error=error)
            why = str(error) if isinstance(error, PalimpsestError) else f"internal error: {type(error).__name__}"
            self.writer.write_later(partial(self.memory.jobs.fail, job.id, why))

    # What becomes of a job --------------------------------------------------------------------------------

    def _wait_for_server(
        self, job: Job, error: PalimpsestError, retry_after: float | None = None, *, lasting: bool = False
    ) -> None:
        """Pauses all jobs. The attempt does not count if a person must act first."""
        rest = LONGEST_REST if lasting else min(FIRST_REST * 2**self._failures, LONGEST_REST)
        self._failures += 1
        self._trouble = str(error)
        self._resting = time.monotonic() + max(rest, retry_after or 0.0)
        if lasting:
            self._give_back(job, 0)
        else:
            self.writer.write_later(partial(self.memory.jobs.fail, job.id, self._trouble))

    def _answer_failed(self, job: Job, error: PalimpsestError) -> None:
        many = job.payload.get("episodes", ())
        log.warning("job %d: %s", job.id, type(error).__name__)
        if len(many) > 1:
            self._worker.split(job, [[id] for id in many])
        else:
            if job.kind == EXTRACT:
                self._worker.mark_unable(self._state.model)
            why = f"{self._state.model}: {error}"
            self.writer.write_later(partial(self.memory.jobs.give_up, job.id, why))

    def _give_back(self, job: Job, seconds: float) -> None:
        self.writer.write_later(partial(self.memory.jobs.release, job.id, seconds))


def _name(job: Job, titles: dict[int, Episode]) -> str:
    if job.kind == DECIDE:
        return f"what {len(job.payload['pairs'])} new facts do to old ones"
    episode = titles.get(job.payload["episodes"][0])
    return f"{episode.source.uri}: {episode.title}" if episode else "a passage that is gone"


def sum_spent(memory: Memory) -> tuple[int, float]:
    """Returns the tokens and minutes that models have spent on reading today, in local time."""
    uses = [use for use in memory.jobs.uses(date.today().isoformat()) if use.purpose in READING]
    return sum(use.usage.total for use in uses), sum(use.ms for use in uses) / 60_000


def why_not_now(memory: Memory, most: EnrichmentSettings, battery: Callable[[], bool | None]) -> str:
    """Returns why models may not read now, with a remedy; "" if they may."""
    _, minutes = sum_spent(memory)
    if most.daily_minutes and minutes >= most.daily_minutes:
        return f"Models read for {minutes:,.0f} minutes today, the daily limit: enrichment.daily_minutes"
    if not most.on_battery and battery():
        return "This machine runs on battery. Reading continues on mains power: enrichment.on_battery"
    return ""
