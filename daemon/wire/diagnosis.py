"""How well the graph serves questions."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Questions that failed for one reason, and what mends it. `name`: coverage | connectivity | provenance |
    queryability; `example` is one of them, `trace_id` its trace; `unanswered` counts those without an answer."""

    name: str
    questions: int
    unanswered: int
    example: str
    trace_id: int
    repair: str


@dataclass(frozen=True, slots=True)
class Hub:
    label: str
    passages: int


@dataclass(frozen=True, slots=True)
class AliasSuspect:
    """Two names that may be one; `similarity` in [0, 1]."""

    one: str
    other: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Period:
    """The questions from a time on until the next period begins, and their figures, as far as they say anything."""

    since: str
    questions: int
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How well the graph served the newest `questions`. `memory.insight.diagnose` defines the figures. None, and an
    empty `reachability` (within 1, 2, 3 hops), stand where no question says anything about it. `memory.insight.trend`
    defines `figures`, and those of each period of the `trend`, the oldest first. `advice`: what there is to do."""

    questions: int
    no_answer_rate: float | None
    seed_hit_rate: float | None
    reachability: tuple[float, ...]
    cited_per_call: float | None
    cited_per_1k_tokens: float | None
    neighbourhood_noise: float | None
    backfill_reliance: float | None
    evidence_redundancy: float | None
    episodes: int
    orphans: int
    stale_memory: int
    dead_jobs: int
    hubs: tuple[Hub, ...] = ()
    alias_suspects: tuple[AliasSuspect, ...] = ()
    failures: tuple[FailureClass, ...] = ()
    figures: dict[str, float] = field(default_factory=dict)
    trend: tuple[Period, ...] = ()
    advice: tuple[str, ...] = ()
