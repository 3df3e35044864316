"""What each stage of a question notes in its trace: a value for each, as JSON in the trace and back.

A stage writes `step(Note(...), ms)`; whoever reads a trace takes the notes of a stage by their type. The names that SQL
reads out of stored traces are the constants below.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeVar

from memory.events import Step

Tier = Literal["R0", "R2", "R3", "R4"]  # how far a question went: replay, search, guided, agent

# Paths into a step's JSON, as SQL asks for them; tests hold that the notes have these fields.
TEXT_ONLY = "$.text_only"  # of RankNote
UNKNOWN = "$.unknown"  # of RouteNote

N = TypeVar("N", bound="Note")


class Note:
    """A stage's entry in the trace. A None field is left out."""

    __slots__ = ()
    stage: ClassVar[str]

    def __init_subclass__(cls, stage: str = "") -> None:
        if stage:  # a class with slots is made a second time, without it
            cls.stage = stage

    def to_detail(self) -> dict[str, Any]:
        """As `Step.detail` has it."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        return {name: _to_plain(value) for name, value in values.items() if value is not None}

    @classmethod
    def from_detail(cls, detail: Mapping[str, Any]) -> Self:
        """Returns names that it does not know are left out: an older version may have noted more."""
        known = {item.name for item in fields(cls)}  # type: ignore[arg-type]
        values = {name: value for name, value in detail.items() if name in known}
        if isinstance(values.get("time"), Mapping):
            values["time"] = TimeNote.from_detail(values["time"])
        return cls(**values)

    @classmethod
    def from_step(cls, step: Step) -> Self | None:
        """What a stage noted, if it is a stage that makes notes of this kind."""
        return cls.from_detail(step.detail) if step.name == cls.stage else None

    def describe(self) -> str:
        """Describes the stage, in a few words for a person; "" for internal work."""
        return ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def step(note: Note, ms: float) -> Step:
    """Returns the step of a stage that took so long."""
    return Step(note.stage, round(ms, 3), note.to_detail())


def notes(kind: type[N], steps: Iterable[Step]) -> Iterator[N]:
    """What a stage noted, each time it was run."""
    return (note for step in steps if (note := kind.from_step(step)) is not None)


def last_note(kind: type[N], steps: Iterable[Step]) -> N | None:
    """What a stage noted when it was run last; None if it was not."""
    return next(iter([*notes(kind, steps)][::-1]), None)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Note):
        return value.to_detail()
    return [_to_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class TimeNote(Note):
    """The time a question names: ISO 8601, from `since` and before `until`."""

    kind: str
    words: str = ""
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class AnalysisNote(Note, stage="analyse"):
    """The content words of a question, and the time it names."""

    terms: tuple[str, ...] = ()
    time: TimeNote | None = None

    def describe(self) -> str:
        return f"asked about {self.time.words}" if self.time and self.time.words else ""


@dataclass(frozen=True, slots=True)
class ScopeNote(Note, stage="scope"):
    """How many episodes a question may look at."""

    episodes: int = 0

    def describe(self) -> str:
        return f"searched {_count(self.episodes, 'passage')}" if self.episodes else ""


@dataclass(frozen=True, slots=True)
class TextNote(Note, stage="text"):
    """The best scores of full text and of vectors; `any_time`: nothing of the time that was asked of was found."""

    lexical: float = 0.0
    cosine: float = 0.0
    any_time: bool | None = None

    def describe(self) -> str:
        return "found nothing of that time" if self.any_time else ""


@dataclass(frozen=True, slots=True)
class SeedNote(Note, stage="seed"):
    """The objects that a question names."""

    objects: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"found {_count(len(self.objects), 'thing')} you named" if self.objects else ""


@dataclass(frozen=True, slots=True)
class ReplayNote(Note, stage="replay"):
    """How many edges fired and were followed, the episodes they led to, those whose facts were read, and the earlier
    question (by its trace) that was the same, or most alike."""

    fires: int = 0
    followed: int = 0
    episodes: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    earlier: int | None = None
    like: int | None = None

    def describe(self) -> str:
        return f"followed {_count(self.followed, 'link')} of earlier answers" if self.followed else ""


@dataclass(frozen=True, slots=True)
class GraphNote(Note, stage="graph"):
    """The strategy of the walk."""

    strategy: str = ""

    def describe(self) -> str:
        return "followed links"


@dataclass(frozen=True, slots=True)
class LinksNote(Note, stage="links"):
    """How many episodes the pages that a question names lead to."""

    episodes: int = 0

    def describe(self) -> str:
        return f"{_count(self.episodes, 'passage')} linked from what you named" if self.episodes else ""


@dataclass(frozen=True, slots=True)
class ContextNote(Note, stage="context"):
    """Scores were combined."""


@dataclass(frozen=True, slots=True)
class RerankNote(Note, stage="rerank"):
    """How many episodes were read again, those that were put first, and why none were."""

    episodes: int = 0
    first: tuple[int, ...] = ()
    problem: str | None = None

    def describe(self) -> str:
        return self.problem or f"read {_count(self.episodes, 'passage')} again"


@dataclass(frozen=True, slots=True)
class RankNote(Note, stage="rank"):
    """How many episodes were ranked, those that text alone found, and the scores by channel of each."""

    episodes: int = 0
    text_only: tuple[int, ...] = ()
    channels: Mapping[str, Mapping[str, float]] | None = None

    def describe(self) -> str:
        return f"kept {self.episodes:,}" if self.episodes else ""


@dataclass(frozen=True, slots=True)
class RouteNote(Note, stage="route"):
    """Which tier a question is on; the `unknown` names in it; or the `reason` why it goes on to that tier; of a replay
    whether what helped before is `enough` to answer from."""

    tier: str = "R2"
    unknown: tuple[str, ...] | None = None
    enough: bool | None = None
    reason: str | None = None

    def describe(self) -> str:
        return self.reason or " ".join(f"Nothing is known by the name {name!r}." for name in self.unknown or ())


@dataclass(frozen=True, slots=True)
class AnswerNote(Note, stage="answer"):
    """How many lines an answer shows; each chain among them that is shown whole; `parts`: the same of each part of the
    question."""

    lines: int = 0
    chain: tuple[str, ...] | None = None
    parts: tuple[Mapping[str, Any], ...] | None = None

    def describe(self) -> str:
        return f"found {_count(self.lines, 'line')}" if self.lines else ""


@dataclass(frozen=True, slots=True)
class ComposeNote(Note, stage="compose"):
    """What a model wrote the answer from: calls and tokens it took, the episodes and how many pieces of each kind it
    was shown, whether they were `local`, how many were `left_out`, the sentences that are `not_proved`."""

    model: str = ""
    calls: int = 0
    tokens: int = 0
    episodes: tuple[int, ...] = ()
    facts: int = 0
    lines: int = 0
    passages: int = 0
    local: bool = False
    left_out: int = 0
    not_proved: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"{self.model} read {_count(len(self.episodes), 'passage')}" if self.calls and self.model else ""


@dataclass(frozen=True, slots=True)
class GuidedNote(Note, stage="guided"):
    """Which `call` of a model it was, 0 if there was none, of how many options, and what it `said`: numbers, done,
    nothing of use, or the name of its error; the episodes that were `taken` and the edges that led there; of the last
    call why there were no more."""

    call: int = 0
    options: int | None = None
    tokens: int | None = None
    said: str | None = None
    taken: tuple[int, ...] | None = None
    edges: tuple[int, ...] | None = None
    stopped: str | None = None

    def describe(self) -> str:
        return f"fetched {len(self.taken):,} more" if self.taken else ""


@dataclass(frozen=True, slots=True)
class AgentNote(Note, stage="agent"):
    """One turn of an agent: how often it called each tool, how many of these calls `failed`, or whether the turn was
    `invalid`; the `calls` of models that it took, and the episodes that it `collected`. `stopped`: the error that ended
    all."""

    tools: Mapping[str, int] | None = None
    failed: int | None = None
    invalid: bool | None = None
    stopped: str | None = None
    turn: int | None = None
    calls: int | None = None
    collected: tuple[int, ...] | None = None

    def describe(self) -> str:
        return f"fetched {len(self.collected):,} more" if self.collected else ""


@dataclass(frozen=True, slots=True)
class SketchNote(Note, stage="sketch"):
    """The outlines that a model wrote of what leads to an answer, with the tokens that took; or the name of its
    error."""

    tokens: int | None = None
    sketches: tuple[Sequence[str], ...] | None = None
    said: str | None = None

    def describe(self) -> str:
        return f"a model wrote {_count(len(self.sketches), 'outline')}" if self.sketches else ""


KINDS = {kind.stage: kind for kind in Note.__subclasses__() if hasattr(kind, "stage")}


def describe_step(step: Step) -> str:
    """Describes a stage, in a few words: `searched 1,204 passages`; "" for internal work."""
    kind = KINDS.get(step.name)
    return kind.from_detail(step.detail).describe() if kind is not None else ""
