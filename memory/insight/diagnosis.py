"""How well the graph serves the questions that were asked, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

FailureName = Literal["coverage", "connectivity", "provenance", "queryability"]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Questions that failed for one reason, and what mends it.

    `name`: coverage (the question named no object that is known, or was refused and named one that is not),
    connectivity (it did, but something that was cited is not within three hops of one), provenance (five or more
    passages were shown and none was cited), queryability (it took more than a question may).
    `example` is one of the questions, `trace_id` its trace; `unanswered` counts those
    that got no answer either. `repair` is a sentence or two, and a command in each line after it.
    """

    name: FailureName
    questions: int
    unanswered: int
    example: str
    trace_id: int
    repair: str


@dataclass(frozen=True, slots=True)
class Hub:
    """An object that very many passages mention."""

    label: str
    passages: int


@dataclass(frozen=True, slots=True)
class AliasSuspect:
    """Two objects that may be one: `similarity` of their names in [0, 1]; `facts` of one that took the place of the
    other's, or were told again of it."""

    one: str
    other: str
    similarity: float
    facts: int = 0


@dataclass(frozen=True, slots=True)
class Period:
    """The questions from a time on until the next period begins, and their figures by name, as far as they say anything
    about it; `memory.insight.trend` defines them."""

    since: datetime
    questions: int
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How well the graph serves the questions that were asked; `memory.insight.diagnose` defines every figure. Rates
    lie in [0, 1]. None, and an empty `reachability`, stand where no question says anything about it. `figures`: what
    `memory.insight.trend` tells of the same questions and of how things stand, `trend` the same over time, the oldest
    first. `advice`: what there is to do, a sentence with its command each."""

    questions: int
    no_answer_rate: float | None
    seed_hit_rate: float | None
    reachability: tuple[float, ...]  # within 1, 2, 3 hops
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
    figures: Mapping[str, float] = field(default_factory=dict)
    trend: tuple[Period, ...] = ()
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What consolidation did. `joined`: facts that another one stands for now; `stale`: rows of edge memory that are
    gone; `questions` and `episodes` that got the vector they lacked; `recentred`: what all questions have in common was
    computed anew; `suspects`: names that may be one, the most alike first. `stopped`: it was broken off; what is done
    stays."""

    joined: int = 0
    stale: int = 0
    questions: int = 0
    episodes: int = 0
    recentred: bool = False
    suspects: tuple[AliasSuspect, ...] = ()
    stopped: bool = False
