"""A memory reads with a model, as the daemon lets it: extraction, learning, decisions. What that costs is counted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from daemon.jobs.extraction import GATHER_PAIRS, make_batches
from memory import Memory
from memory.errors import ModelError
from memory.facts import decisions, json_replies, llm_requests
from memory.facts.extraction import Extraction
from memory.llm import LlmRequest, Reply, Usage
from memory.nouns import Episode, Fact
from memory.protocols import LLM


@dataclass(slots=True)
class Counted:
    """A model that counts its calls, their tokens and the seconds they take."""

    inner: LLM
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the thread that asks

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def context_tokens(self) -> int:
        return self.inner.context_tokens

    @property
    def is_local(self) -> bool:
        return self.inner.is_local

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        """Not counted: nobody reads so."""
        return self.inner.stream(request)

    def complete(self, request: LlmRequest) -> Reply:
        started, cpu_started = time.perf_counter(), time.thread_time()
        self.calls += 1
        try:
            reply = self.inner.complete(request)
        finally:
            self.seconds += time.perf_counter() - started
            self.cpu_seconds += time.thread_time() - cpu_started
        self.usage += reply.usage
        return reply


@dataclass(slots=True)
class Enriched:
    """What reading with a model brought.

    `extractions` are what was learnt of each episode, `proposed` the pairs of facts that were looked at with what was
    decided, `waiting` pairs that are not decided yet, `own_ms` our own part of the time of each episode, `own_cpu_ms`
    that of the processor; `failed` says what could not be used, `known` are the facts that were asked about, by how
    they are shown.
    """

    extractions: dict[int, Extraction] = field(default_factory=dict)
    proposed: dict[tuple[int, int], str] = field(default_factory=dict)
    waiting: dict[tuple[int, int], None] = field(default_factory=dict)
    own_ms: list[float] = field(default_factory=list)
    own_cpu_ms: list[float] = field(default_factory=list)
    dropped: int = 0
    failed: list[str] = field(default_factory=list)
    known: dict[str, Fact] = field(default_factory=dict)


def enrich(
    memory: Memory, model: Counted, episodes: Sequence[Episode], into: Enriched, batch: int, *, gather: bool = False
) -> None:
    """Let `model` read episodes as the daemon does, `batch` a call, and then decide what no rule can; with `gather`
    only if there is as much of it as the daemon waits for."""
    started, cpu_started = time.perf_counter() - model.seconds, time.thread_time() - model.cpu_seconds
    known = {one.id: one for one in episodes}
    for ids in make_batches(episodes, batch, batch):
        some = [known[id] for id in ids]
        try:
            into.waiting |= dict.fromkeys(_read(memory, model, some, into))
        except ModelError as error:  # the passages stay as they are, and so does all that is known
            into.failed.append(f"{some[0].source.uri}: {error}")
    pairs: Sequence[tuple[Fact, Fact]] = ()
    if not gather or len(into.waiting) >= GATHER_PAIRS:
        pairs, into.waiting = memory.knowledge.pairs([*into.waiting]), {}
    for start in range(0, len(pairs), decisions.MAX_PAIRS):
        try:
            _decide(memory, model, pairs[start : start + decisions.MAX_PAIRS], into)
        except ModelError as error:
            into.failed.append(f"decisions: {error}")
    count = max(1, len(episodes))
    into.own_ms += [1000 * (time.perf_counter() - model.seconds - started) / count] * count
    into.own_cpu_ms += [1000 * (time.thread_time() - model.cpu_seconds - cpu_started) / count] * count


def _read(memory: Memory, model: Counted, some: Sequence[Episode], into: Enriched) -> Sequence[tuple[int, int]]:
    """The pairs of facts that are to be decided."""
    names = memory.state.settings.owner_names
    said = json_replies.complete_json(model, llm_requests.extraction_request(some, names))
    extractions, dropped = llm_requests.parse_extractions(said, some, names)
    into.dropped += len(dropped)
    uris = {one.id: one.source.uri for one in some}
    for id, extraction in extractions.items():
        if reason := llm_requests.rejection_reason(extraction, [one for one in dropped if one.episode_id == id]):
            into.failed.append(f"{uris[id]}: {reason}")
    into.extractions |= extractions
    return memory.knowledge.assert_facts(extractions, model.name).undecided


def _decide(memory: Memory, model: Counted, pairs: Sequence[tuple[Fact, Fact]], into: Enriched) -> None:
    into.proposed |= {(old.id, new.id): "nothing" for old, new in pairs}
    into.known |= {shown(fact): fact for pair in pairs for fact in pair}
    request = decisions.decision_request(pairs, local_only=False)  # the data is invented
    said = json_replies.complete_json(model, request)
    found = decisions.parse_decisions(said, pairs)
    into.proposed |= {(one.old, one.new): one.relation for one in found}
    memory.knowledge.apply_decisions(found, model.name)


def shown(fact: Fact) -> str:
    """How a fact that a model is asked about begins, under its heading."""
    return f"{decisions.slot_of(fact)}\n{decisions.shown_value(fact)}"
