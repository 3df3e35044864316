"""The stored record of a question, later explanations of its answer, and a diagnosis of many questions, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from memory.events import Event, Step, Visit
from memory.nouns import Answer, Citation, Effort, Fact, Passage, Scope
from memory.views import AliasSuspect

Opinion = Literal["good", "bad"]
OPINIONS: dict[str, int] = {"good": 1, "bad": -1}  # of an answer, in their stored form


def opinion(stored: int | None) -> Opinion | None:
    """Returns a person's opinion of an answer, from its stored form."""
    return next((name for name in get_args(Opinion) if OPINIONS[name] == stored), None)


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a question. `now`: the reference time of "last week" in it, None for the time of asking;
    `searched`: the query that replaced it, if it followed another question; `strategy`: the chosen one, if any;
    `agent`: who asked, if it was no person."""

    as_of: datetime | None = None
    within: Scope | None = None
    now: datetime | None = None
    effort: Effort = "normal"
    searched: str = ""
    strategy: str = ""
    agent: str = ""


PLAIN = Plan()


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A stored trace in a list. `no_answer` is None for a recall; `tier`: how far it went
    (`memory.answering.escalation`); `read` and `written`: tokens of all calls of models; `model` wrote the answer, ""
    without one; `verdict`: the person's opinion of it; `agent` asked it, if it was no person."""

    id: int
    at: datetime
    question: str
    no_answer: bool | None = None
    tier: str = "R2"
    calls: int = 0
    read: int = 0
    written: int = 0
    ms: float = 0.0
    model: str = ""
    verdict: Opinion | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A complete stored trace. `answer` is None for a recall."""

    asked: AskedQuestion
    plan: Plan = PLAIN
    steps: tuple[Step, ...] = ()
    visits: tuple[Visit, ...] = ()
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class TrainingReport(Event):
    """The end of a training. Recall in percent, of the needed edges among the first 50, on the newest questions.

    `questions` had labels; `reached`: the share of their needed edges near the question, in percent; `labels` by their
    origin. `sigma` and `scorer` are the recall before and after on `measured` questions, `margin` half the 95 %
    interval of the difference. `reason` says in a sentence why it was promoted or not; `stopped`: it was broken off.
    """

    questions: int = 0
    reached: float | None = None
    labels: dict[str, int] = field(default_factory=dict)
    trained: int = 0
    epoch: int = 0
    measured: int = 0
    sigma: float | None = None
    scorer: float | None = None
    margin: float | None = None
    promoted: bool = False
    model: int | None = None
    reason: str = ""
    seconds: float = 0.0
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """A vertex on the path from a question to a passage: an object by its name, or a passage by its title. `relation`:
    the words of the edge from the previous vertex, "" for a mention; `inverse`: it leads back to that one; `fact`
    contains its place in the text."""

    label: str
    kind: Literal["object", "episode"]
    relation: str = ""
    inverse: bool = False
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class UsedPassage:
    """The basis of one citation: the place of its passage among those shown (1 is the best, None if it was not), its
    score as a share of the best, the scores by channel, the facts extracted from the quoted words, and the path to it:
    from an object that the question names, or from a passage with its words. The path ends with the passage itself."""

    cited: Citation
    place: int | None = None
    score: float | None = None
    channels: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    path: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """The evidence of an answer. `chain`: the paths that join its lines, as `Ana - works at -> Nordlys [1]; Nordlys -
    led by -> Tobias Renn [2]`, without numbers if a model wrote it; `reasons`: why the question went further than a
    search, a sentence for each time; `gaps`: what spoke against the earlier results; `shown`: the number of episodes to
    answer from; the last three are its limits."""

    asked: AskedQuestion
    used: tuple[UsedPassage, ...] = ()
    chain: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    shown: int = 0
    effort: Effort = "normal"
    confidence: float = 0.0
    note: str = ""
    allowed_calls: int = 0
    allowed_tokens: int = 0
    allowed_seconds: float = 0.0


Cut = Literal[
    "used", "gone", "later", "scope", "time", "not_proposed", "ranked", "room", "replaced", "threshold", "lines",
    "model",
]  # fmt: skip
"""What became of a passage that holds the words asked about.

used: the answer cites it; gone: its source was removed, or no longer says so; later: it is new, or stands better, since
the question was asked; scope: outside the part of the memory that was asked; time: outside the time that the question
speaks of; not_proposed: neither full text nor vectors found it; ranked: found, but too many were better; room: there
was no room for it in what a model reads; replaced: a newer fact took its place; threshold: nothing that was found is
surely about the question; lines: other lines answered better; model: a model had it and did not use it.
"""


@dataclass(frozen=True, slots=True)
class MissedPassage:
    """A passage that contains the words, its best line for them, the stage that dropped it, and the reason in a
    sentence. `place` among the `of` ranked episodes, from 1; `by`: the newer fact that replaced it, `since` when."""

    passage: Passage
    quote: str
    line: int | None
    cut: Cut
    reason: str
    place: int | None = None
    of: int = 0
    score: float | None = None
    channels: Mapping[str, float] = field(default_factory=dict)
    by: Fact | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why an answer does not contain these words: the nearest passages that do, nearest first; `missing`: the words
    that are nowhere in the memory."""

    asked: AskedQuestion
    words: str
    lost: tuple[MissedPassage, ...] = ()
    missing: tuple[str, ...] = ()


FailureName = Literal["coverage", "connectivity", "provenance", "queryability"]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Questions that failed for one reason.

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
class Diagnosis:
    """How well the graph served questions; `memory.insight.diagnosis` defines the figures. Rates are in [0, 1]; None
    and an empty `reachability` mean no data."""

    questions: int
    no_answer_rate: float | None = None
    seed_hit_rate: float | None = None
    reachability: tuple[float, ...] = ()  # within 1, 2, 3 hops
    cited_per_call: float | None = None
    neighbourhood_noise: float | None = None
    backfill_reliance: float | None = None
    evidence_redundancy: float | None = None
    failures: tuple[FailureClass, ...] = ()
    alias_suspects: tuple[AliasSuspect, ...] = ()
