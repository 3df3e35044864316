"""The worker for enrichment jobs: asks a model, and stores the facts in its reply.

The model works outside of the writer; the result is written in one unit, and only then is the job done, so a daemon
that was killed repeats it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from daemon.jobs.models import MAX_UNREAD, Models
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import MalformedOutputError
from memory.facts import decisions, llm_requests
from memory.facts.extraction import OWNER, Extraction
from memory.facts.json_replies import complete_json
from memory.facts.llm_requests import MAX_EPISODE_CHARS
from memory.llm import LlmRequest
from memory.nouns import Episode, Fact
from memory.revisions import Decision
from memory.services.activity import Job
from memory.text.quotes import Quotable
from memory.time.timestamps import now_ms
from plugins.llms.guard import Guarded

log = logging.getLogger(__name__)

EXTRACT, DECIDE = "extract", "decide"
KINDS = (DECIDE, EXTRACT)
AFTER_READING = -1  # the priority of decisions: one call decides for the notes of several jobs
Pair = tuple[Fact, Fact]
BATCH_CHARS = 2_400  # of one episode, of all in a batch on average
LEAST_CHARS = 900  # as which a short episode counts: at most eight of them go into a batch of three
GATHER_PAIRS, GATHER_SECONDS = 40, 3600.0  # that are decided in one call; after which fewer are


class WaitError(Exception):
    """A job cannot be tried now; the message is the reason."""


@dataclass
class ExtractionWorker:
    """Runs jobs, one at a time. Raises the model's errors, and WaitError if no model may be asked. `stopped` is polled
    while a model works; `begun` receives the name of each model asked."""

    memory: Memory
    models: Models
    writer: Writer
    stopped: Callable[[], bool]
    begun: Callable[[str], None]

    def mark_unable(self, model: str) -> None:
        """Records that the model twice gave an unusable reply for a single note."""
        self.models.unread[model] += 1
        if self.models.unread[model] == MAX_UNREAD:
            log.warning(self.models.unable)

    def run(self, job: Job) -> None:
        """Runs a job; afterwards it is done, dead, or replaced by others."""
        if job.kind == EXTRACT:
            self._extract(job)
        else:
            self._decide(job)

    def choose_model(self, *, local_only: bool) -> Guarded | None:
        """Returns the available model for reading, or None."""
        model = self.models.for_role("extract", local_only=local_only)
        if model is None or self.models.unread[model.name] >= MAX_UNREAD:
            return None
        return None if not model.is_local and self.models.day_is_spent else model

    def _learn_of(self, job: Job, episodes: Sequence[Episode], owner: Sequence[str], reply: Any, model: str) -> None:
        """Stores the facts of the model's reply about the episodes of the request."""
        extractions, dropped = llm_requests.parse_extractions(reply, episodes, owner)
        bad: dict[int, str] = {}
        for episode in episodes:
            if episode.id not in extractions:
                bad[episode.id] = "the answer leaves it out"
            elif why := llm_requests.rejection_reason(
                extractions[episode.id], (item for item in dropped if item.episode_id == episode.id)
            ):
                bad[episode.id] = why
        log.info("job %d: %d of %d episodes read, %d items dropped", job.id, len(episodes) - len(bad), len(episodes),
                 len(dropped))  # fmt: skip
        self.writer.write_later(
            partial(self._learn, job, {id: extractions[id] for id in extractions if id not in bad}, bad, model)
        )

    def _read_episodes(self, job: Job) -> tuple[list[Episode], list[int], tuple[str, ...]]:
        """Returns a job's existing episodes, the ids of those that must stay on this machine, and the owner's names."""
        with self.memory.store.reading():
            episodes = self.memory.sources.episodes(job.payload["episodes"], live=True)
            here = [episode.id for episode in episodes if episode.source.policy == "local"]
            # mails that tell the name may be local themselves
            return episodes, here, self.memory.knowledge.owner_names(of_mails=len(here) == len(episodes))

    def _extract(self, job: Job) -> None:
        episodes, here, owner = self._read_episodes(job)
        if not episodes:  # retired meanwhile
            self.writer.write_later(partial(self.memory.jobs.finish, job.id))
        elif 0 < len(here) < len(episodes):  # where text may go has changed since
            self.split(job, [here, [episode.id for episode in episodes if episode.id not in here]])
        else:
            request = llm_requests.extraction_request(episodes, owner)
            model = self._choose_model(request)
            self._learn_of(job, episodes, owner, self._ask(model, request), model.name)

    def _learn(self, job: Job, extractions: dict[int, Extraction], bad: dict[int, str], model: str) -> None:
        """Stores extractions in the writer's thread; skips deleted episodes."""
        there = {episode.id for episode in self.memory.sources.episodes([*extractions], live=True)}
        alive = {id: extractions[id] for id in extractions if id in there}
        undecided = self.memory.knowledge.assert_facts(alive, model).undecided if alive else ()
        unfinished = self.memory.jobs.list_unfinished((DECIDE,)) if undecided else []
        waiting = [
            row
            for row in unfinished
            if row.state == "queued" and not row.attempts and len(row.payload["pairs"]) < decisions.MAX_PAIRS
        ]
        pairs = [*(pair for row in waiting for pair in row.payload["pairs"]), *map(list, undecided)]
        parts = [pairs[start : start + decisions.MAX_PAIRS] for start in range(0, len(pairs), decisions.MAX_PAIRS)]
        latest = min((row.not_before for row in waiting), default=now_ms() + int(1000 * GATHER_SECONDS))
        then = [_make_job(DECIDE, part, AFTER_READING, latest if len(part) < GATHER_PAIRS else 0) for part in parts]
        if extractions:
            self.models.unread[model] = 0
        if len(bad) == len(job.payload["episodes"]) == 1:
            self.mark_unable(model)
            self.memory.jobs.give_up(job.id, f"{model}: {next(iter(bad.values()))}.", then)
        else:
            self.memory.jobs.finish(job.id, then + [_make_job(EXTRACT, [id], job.priority) for id in bad])
        for row in waiting:  # the new jobs have its pairs
            self.memory.jobs.finish(row.id)

    def _decide(self, job: Job) -> None:
        pairs = self.memory.knowledge.pairs(job.payload["pairs"])
        free = self._select_free(pairs)
        bound = [pair for pair in pairs if pair not in free]
        if not pairs:
            self.writer.write_later(partial(self.memory.jobs.finish, job.id))
        elif free and bound:
            self.split(job, [[[old.id, new.id] for old, new in part] for part in (free, bound)])
        else:
            request = decisions.decision_request(pairs, local_only=bool(bound))
            model = self._choose_model(request)
            reply = self._ask(model, request)
            verdicts = decisions.parse_decisions(reply, pairs)
            if not verdicts and not decisions.is_empty(reply):
                raise MalformedOutputError("The model decided none of the pairs it was asked about.")
            self.writer.write_later(partial(self._apply_verdicts, job, verdicts, model.name))

    def _apply_verdicts(self, job: Job, verdicts: list[Decision], model: str) -> None:
        revisions = self.memory.knowledge.apply_decisions(verdicts, model)
        log.info("job %d: %d decisions, %d revisions", job.id, len(verdicts), len(revisions))
        self.memory.jobs.finish(job.id)

    def _select_free(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Returns the pairs that may leave this machine: neither fact, nor the day on which another fact replaced one,
        comes from a source whose text stays here."""
        shown = {fact.id: fact for pair in pairs for fact in pair}
        after = {fact.superseded_by for fact in shown.values() if fact.superseded_by is not None} - {*shown}
        with self.memory.store.reading():
            known = [*shown.values(), *self.memory.knowledge.facts_by_id(sorted(after))]
            free = self._select_free_facts(known)
        return [
            pair
            for pair in pairs
            if all(fact.id in free and (fact.superseded_by is None or fact.superseded_by in free) for fact in pair)
        ]

    def _select_free_facts(self, known: Sequence[Fact]) -> set[int]:
        """Returns the facts that may leave this machine: neither their text nor the name of an object comes from a
        source whose text stays here."""
        there = self.memory.sources.episodes(list(dict.fromkeys(fact.episode_id for fact in known)))
        texts = {
            episode.id: Quotable.from_text(f"{episode.title}\n{episode.text}\n{episode.speaker or ''}")
            for episode in there
            if episode.source.policy == "any"
        }

        def may_leave(fact: Fact) -> bool:
            text = texts.get(fact.episode_id)
            return text is not None and all(name == OWNER or text.names(name) for name in fact.objects)

        return {fact.id for fact in known if may_leave(fact)}

    def _choose_model(self, request: LlmRequest) -> Guarded:
        model = self.choose_model(local_only=request.local_only)
        if model is None:
            if not request.local_only and (spent := self.models.day_is_spent):
                raise WaitError(f"{spent}: models.daily_tokens")
            if self.models.unable:
                raise WaitError(self.models.unable)
            where = "on this machine " if request.local_only else ""
            raise WaitError(f"No model {where}can read now: pal models")
        return model

    def _ask(self, model: Guarded, request: LlmRequest) -> Any:
        is_local = model.is_local

        def cancelled() -> bool:
            busy = is_local and self.models.is_answering(model.name)  # a person waits, and it does one thing at a time
            return busy or self.stopped()

        self.begun(model.name)
        return complete_json(model, replace(request, cancelled=cancelled))

    def split(self, job: Job, parts: Sequence[Sequence[Any]]) -> None:
        """Replaces a job by one job per part."""
        then = [_make_job(job.kind, part, job.priority) for part in parts]
        self.writer.write_later(partial(self.memory.jobs.finish, job.id, then))


def _make_job(kind: str, parts: Sequence[Any], priority: int, not_before: int = 0) -> Job:
    """Makes a job for these episodes, or pairs of facts, to be done at a time (ms UTC) or at once."""
    key = " ".join(":".join(map(str, part)) if isinstance(part, list) else str(part) for part in parts)
    return Job(kind, key, {"episodes" if kind == EXTRACT else "pairs": [*parts]}, priority, not_before=not_before)


def make_batches(unread: Sequence[Episode], here: int, away: int) -> list[list[int]]:
    """Groups episode ids into requests: `here` per request if their text must stay on this machine, else `away`; never
    mixed; more if they are short. A source that fits is read in one request; small ones share one."""
    sources: dict[int, list[Episode]] = {}
    for episode in unread:
        sources.setdefault(episode.source.id, []).append(episode)
    open_batches: dict[str, list[Episode]] = {}
    batches: list[list[Episode]] = []
    for episodes in sources.values():
        policy = episodes[0].source.policy
        size = here if policy == "local" else away
        for part in _cut(episodes, size):
            batch = open_batches.get(policy, [])
            if not batch or not _fits([*batch, *part], size):
                batch = open_batches[policy] = []
                batches.append(batch)
            batch += part
    return [[episode.id for episode in batch] for batch in batches]


def _cut(episodes: Sequence[Episode], size: int) -> list[list[Episode]]:
    parts: list[list[Episode]] = []
    for episode in episodes:
        if not parts or not _fits([*parts[-1], episode], size):
            parts.append([])
        parts[-1].append(episode)
    return parts


def _fits(episodes: Sequence[Episode], size: int) -> bool:
    chars = sum(max(LEAST_CHARS, min(len(episode.text), MAX_EPISODE_CHARS)) for episode in episodes)
    return len(episodes) == 1 or (size > 1 and chars <= size * BATCH_CHARS)
