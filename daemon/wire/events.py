"""What comes in streams, and how a line of one is written and read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, get_args

from daemon.wire.codec import decode, encode
from daemon.wire.facts import FactRevision


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a question has ended."""

    name: str
    ms: float
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Visited:
    """A vertex that a question touched. `kind`: episode | thesis | object."""

    node_id: int
    kind: str
    label: str
    score: float
    stage: str
    status: str = "selected"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The next piece of the answer's Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """The proof under a line: `label` stands after [n], `passage` is the whole episode, `quote` the exact words."""

    n: int
    label: str
    uri: str
    title: str
    quote: str
    passage: str
    episode_id: int
    line: int | None = None
    end_line: int | None = None
    at: str | None = None
    speaker: str | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The end of a question. `model` wrote the text; "" if it is the lines of memory themselves. `note` is a sentence
    for the person: why no model did, or what it did not get to see."""

    text: str
    citations: tuple[Cited, ...] = ()
    no_answer: bool = False
    missing: tuple[str, ...] = ()
    confidence: float = 0.0
    trace_id: int | None = None
    conversation: int | None = None
    ms: float = 0.0
    model: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` documents; `label` is the one just read. `total` may still grow while a folder is walked."""

    done: int
    total: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that could not be read, and why."""

    uri: str
    reason: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class SourceChanged:
    """A source was added | changed | moved | removed."""

    uri: str
    change: str
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class FactChanged:
    """A fact was replaced, or somebody settled or undid that."""

    revision: FactRevision


@dataclass(frozen=True, slots=True)
class Embedding:
    """`done` of `total` episodes have a vector of the embedder that will answer from now on."""

    done: int
    total: int
    embedder: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know. `level`: info | warning | error."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Added:
    """The end of an ingestion."""

    sources: int
    episodes: int
    unchanged: int
    skipped: int
    removed: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The end of a rebuild: of `what`, how many `edges` remember something now, and how many `passages` are in the full
    text; 0 for what was not asked for."""

    what: tuple[str, ...]
    edges: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Learnt:
    """The end of learning from earlier questions: how many there were, with so many labels; of so many a model was
    asked, and why of no more. `trained` on some, `measured` on the newest: `before` and `after` are the percent of what
    they needed that is found, `margin` half the 95 % interval of the difference; `near`: what could be found at all;
    `shadow`: what an earlier scorer that is not used finds in the questions since it was made. `promoted`: it is used
    from now on, with `dry_run` it would be. `scorer` is what learnt, compact or full; `instead`: why not the other one
    that was wanted."""

    questions: int
    labels: int
    calls: int
    calls_ended: str
    trained: int
    measured: int
    before: float | None
    after: float | None
    margin: float | None
    near: float | None
    shadow: float | None
    promoted: bool
    reason: str
    dry_run: bool = False
    seconds: float = 0.0
    scorer: str = "compact"
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Graded:
    """The end of a probe. The first four grades are shares in [0, 1]; `context` is in tokens; `good_for` are roles."""

    name: str
    at: str
    schema: float
    tools: float
    cite: float
    refuse: float
    tokens_per_s: float
    first_s: float
    context: int
    good_for: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """A request that could not be answered; also the body of every HTTP error reply.

    `code` is stable, `remedy` says what to do. Codes: bad_input (422), too_large (413), not_found (404),
    conflict (409), not_available (501), forbidden (403), busy and stopping (503), store (500: the memory file),
    internal (500).
    """

    code: str
    message: str
    remedy: str = ""


Event = (
    Stage
    | Visited
    | Chunk
    | Cited
    | Answered
    | Progress
    | Skipped
    | SourceChanged
    | FactChanged
    | Embedding
    | Notice
    | Added
    | Rebuilt
    | Learnt
    | Graded
    | Failed
)

EVENTS: dict[str, type[Event]] = {event.__name__: event for event in get_args(Event)}


def event_line(event: Event) -> bytes:
    """An event -> its line in a stream, with the line feed. ASCII: a broken file name cannot break the stream."""
    return json.dumps({"type": type(event).__name__, **encode(event)}).encode("ascii") + b"\n"


def parse_event(line: bytes | str) -> Event:
    """A line of a stream -> its event. Raises ValueError if it is none."""
    data = json.loads(line)
    name = data.pop("type", None) if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in EVENTS:
        raise ValueError(f"no event of this protocol: {name!r}")
    return decode(EVENTS[name], data)
