"""The notes of the stages of a question in its trace: a type for each, stored as JSON.

A stage writes `step(Note(...), ms)`; readers of a trace select the notes of a stage by their type. The constants below
are names that SQL reads in stored traces."""

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
        """Returns the note as `Step.detail`."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        return {name: _to_plain(value) for name, value in values.items() if value is not None}

    @classmethod
    def from_detail(cls, detail: Mapping[str, Any]) -> Self:
        """Returns the note in `Step.detail`, without unknown names: an older version may have noted more."""
        known = {item.name for item in fields(cls)}  # type: ignore[arg-type]
        values = {name: value for name, value in detail.items() if name in known}
        if isinstance(values.get("time"), Mapping):
            values["time"] = TimeNote.from_detail(values["time"])
        return cls(**values)

    @classmethod
    def from_step(cls, step: Step) -> Self | None:
        """Returns the note of a stage; None if it belongs to another kind."""
        return cls.from_detail(step.detail) if step.name == cls.stage else None


def step(note: Note, ms: float) -> Step:
    """Returns the step of a stage that took `ms`."""
    return Step(note.stage, round(ms, 3), note.to_detail())


def notes(kind: type[N], steps: Iterable[Step]) -> Iterator[N]:
    """Yields the notes of a stage, one per run."""
    return (note for step in steps if (note := kind.from_step(step)) is not None)


def last_note(kind: type[N], steps: Iterable[Step]) -> N | None:
    """Returns the note of a stage's last run, or None."""
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


@dataclass(frozen=True, slots=True)
class ScopeNote(Note, stage="scope"):
    """The number of episodes that a question may see."""

    episodes: int = 0


@dataclass(frozen=True, slots=True)
class TextNote(Note, stage="text"):
    """The best scores of full text and of vectors; `any_time`: no result was from the requested time."""

    lexical: float = 0.0
    cosine: float = 0.0
    any_time: bool | None = None


@dataclass(frozen=True, slots=True)
class SeedNote(Note, stage="seed"):
    """The objects that a question names."""

    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayNote(Note, stage="replay"):
    """The numbers of activated and followed edges, the episodes reached, those whose facts were read, and the earlier
    question (by its trace) that was the same, or most alike."""

    fires: int = 0
    followed: int = 0
    episodes: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    earlier: int | None = None
    like: int | None = None


@dataclass(frozen=True, slots=True)
class GraphNote(Note, stage="graph"):
    """The strategy of the walk."""

    strategy: str = ""


@dataclass(frozen=True, slots=True)
class LinksNote(Note, stage="links"):
    """The number of episodes linked from the pages that a question names."""

    episodes: int = 0


@dataclass(frozen=True, slots=True)
class RankNote(Note, stage="rank"):
    """The number of ranked episodes, those found by text alone, and the scores by channel of each."""

    episodes: int = 0
    text_only: tuple[int, ...] = ()
    channels: Mapping[str, Mapping[str, float]] | None = None


@dataclass(frozen=True, slots=True)
class RouteNote(Note, stage="route"):
    """The tier of a question; the `unknown` names in it; or the `reason` for going on to that tier; for a replay
    whether the earlier evidence is `enough` to answer."""

    tier: str = "R2"
    unknown: tuple[str, ...] | None = None
    enough: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerNote(Note, stage="answer"):
    """The number of lines of an answer, and each chain among them that is shown whole."""

    lines: int = 0
    chain: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ComposeNote(Note, stage="compose"):
    """The evidence of a model's answer: calls and tokens, the episodes and the number of pieces of each kind it was
    shown, whether they were `local`, how many were `left_out`, the sentences that are `not_proved`."""

    model: str = ""
    calls: int = 0
    tokens: int = 0
    episodes: tuple[int, ...] = ()
    lines: int = 0
    passages: int = 0
    local: bool = False
    left_out: int = 0
    not_proved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GuidedNote(Note, stage="guided"):
    """A guided step: the number of the model `call`, 0 without one, the number of options, and what the model `said`:
    numbers, done, nothing of use, or the name of its error; the episodes `taken` and the edges to them; for the last
    call why it ended."""

    call: int = 0
    options: int | None = None
    tokens: int | None = None
    said: str | None = None
    taken: tuple[int, ...] | None = None
    edges: tuple[int, ...] | None = None
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class AgentNote(Note, stage="agent"):
    """A turn of an agent: the calls of each tool, how many of them `failed`, or whether the turn was `invalid`; the
    `calls` of models that it took, and the episodes that it `collected`. `stopped`: the error that ended the search."""

    tools: Mapping[str, int] | None = None
    failed: int | None = None
    invalid: bool | None = None
    stopped: str | None = None
    turn: int | None = None
    calls: int | None = None
    collected: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class SketchNote(Note, stage="sketch"):
    """A model's outlines of the path to an answer, with their tokens; or the name of its error."""

    tokens: int | None = None
    sketches: tuple[Sequence[str], ...] | None = None
    said: str | None = None


KINDS = {kind.stage: kind for kind in Note.__subclasses__() if hasattr(kind, "stage")}


def describe_step(step: Step) -> str:
    """Describes a stage, in a few words: `searched 1,204 passages`; "" for internal work."""
    kind = KINDS.get(step.name)
    return describe(kind.from_detail(step.detail)) if kind is not None else ""


def describe(note: Note) -> str:
    """Describes a stage by its note, in a few words for a person; "" for internal work."""
    match note:
        case AnalysisNote(time=TimeNote(words=words)) if words:
            return f"asked about {words}"
        case ScopeNote(episodes=number) if number:
            return f"searched {_count(number, 'passage')}"
        case TextNote(any_time=True):
            return "found nothing of that time"
        case SeedNote(objects=objects) if objects:
            return f"found {_count(len(objects), 'thing')} you named"
        case ReplayNote(followed=number) if number:
            return f"followed {_count(number, 'link')} of earlier answers"
        case GraphNote():
            return "followed links"
        case LinksNote(episodes=number) if number:
            return f"{_count(number, 'passage')} linked from what you named"
        case RankNote(episodes=number) if number:
            return f"kept {number:,}"
        case RouteNote(reason=reason, unknown=unknown):
            return reason or " ".join(f"Nothing is known by the name {name!r}." for name in unknown or ())
        case AnswerNote(lines=number) if number:
            return f"found {_count(number, 'line')}"
        case ComposeNote(model=model, calls=calls, episodes=episodes) if calls and model:
            return f"{model} read {_count(len(episodes), 'passage')}"
        case GuidedNote(taken=episodes) | AgentNote(collected=episodes) if episodes:
            return f"fetched {len(episodes):,} more"
        case SketchNote(sketches=sketches) if sketches:
            return f"a model wrote {_count(len(sketches), 'outline')}"
    return ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"
