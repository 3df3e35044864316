"""The values of a diagnosis: how well the graph serves questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

FailureName = Literal["coverage", "connectivity", "provenance", "queryability"]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Questions that failed for one reason, and the repair.

    `name`: coverage (the question named no known object, or was refused with an unknown name), connectivity (cited
    evidence is more than three hops from its objects), provenance (five or more passages were shown, none cited),
    queryability (it took too long). `example` is one of the questions, `trace_id` its trace; `unanswered` counts those
    without an answer. `repair` is a sentence or two, then a command per line."""

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
    """Two objects that may be one: `similarity` of their names in [0, 1]; `facts` of one that replaced or repeated
    those of the other."""

    one: str
    other: str
    similarity: float
    facts: int = 0


@dataclass(frozen=True, slots=True)
class Period:
    """The questions from a time to the next period, and their figures by name, if defined; see
    `memory.insight.trend`."""

    since: datetime
    questions: int
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How well the graph serves questions; `memory.insight.diagnose` defines the figures. Rates are in [0, 1]; None and
    an empty `reachability` mean no data. `figures`: those of `memory.insight.trend` for the same questions and the
    current state, `trend` the same over time, oldest first. `advice`: sentences with a command each."""

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
    """The results of consolidation. `joined`: facts merged into another; `stale`: deleted rows of edge memory;
    `questions` and `episodes` that got a missing vector; `recentred`: the center of questions was recomputed;
    `suspects`: names that may be one, most similar first. `stopped`: it was interrupted; completed work stays."""

    joined: int = 0
    stale: int = 0
    questions: int = 0
    episodes: int = 0
    recentred: bool = False
    suspects: tuple[AliasSuspect, ...] = ()
    stopped: bool = False
