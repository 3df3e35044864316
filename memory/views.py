"""The views for screens: objects with their mentions, parts of the graph, chats, lists, counts. Clients get them
unchanged.

Standard library only; times are timezone-aware datetimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Literal

from memory.events import AnswerLine, Citation, Event, Scope, split_lines
from memory.nouns import Fact, Passage, Policy, SourceKind
from memory.revisions import FactTimeline, Revision


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A person, place or thing, with the number of `facts` about it and of `notes` that mention it. `kind` is the type
    of thing, "" if unknown."""

    name: str
    kind: str = ""
    facts: int = 0
    notes: int = 0


@dataclass(frozen=True, slots=True)
class MentionedIn:
    """A note that mentions an object in this number of `passages`; `quote` is the line of the first."""

    uri: str
    title: str
    line: int | None
    quote: str
    passages: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour of an object: by a `relation`, which leads to the neighbour if `forward`; without one, both occur in
    this number of `passages`."""

    name: str
    relation: str = ""
    forward: bool = True
    passages: int = 0


@dataclass(frozen=True, slots=True)
class FactsReply:
    """The facts. `disputes`: the open revisions of kind "contradicts" between two of them."""

    about: str
    facts: tuple[Fact, ...]
    disputes: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryReply:
    """The timelines of an object, last changed first."""

    about: str
    timelines: tuple[FactTimeline, ...]


@dataclass(frozen=True, slots=True)
class ObjectReply:
    """An object: its valid facts, their changes, the newest notes that mention it (`notes_total` in all), and its
    neighbours."""

    name: str
    names: tuple[str, ...]
    facts: tuple[Fact, ...]
    timelines: tuple[FactTimeline, ...]
    notes: tuple[MentionedIn, ...]
    notes_total: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A vertex of the graph: a person, place or thing, or a note, which has a `uri`. `kind` as in FoundObject, or
    "note"; `at`: of a note; `degree`: how many edges it has in the whole memory."""

    id: int
    name: str
    kind: str = ""
    uri: str = ""
    at: datetime | None = None
    degree: int = 0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge of the graph, by the ids of its ends: a `relation`, or, without one, a mention of a thing in a note, or
    the number of `passages` that mention both things. It is valid from `since` until `until`."""

    id: int
    source: int
    target: int
    relation: str = ""
    since: datetime | None = None
    until: datetime | None = None
    passages: int = 0


@dataclass(frozen=True, slots=True)
class GraphReply:
    """A part of the graph; `center`: the ids of the requested object."""

    center: tuple[int, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed plug-in, its package and version, and what it `adds`: kind ("readers") to names. `problem`: why it
    was not loaded; `is_off`: a person turned it off, so it adds nothing."""

    name: str
    package: str
    adds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problem: str = ""
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """The place of a secret: a source, with its line if it has lines, or a question ("trace 12")."""

    uri: str
    line: int | None
    kind: str
    is_masked: bool = False


@dataclass(frozen=True, slots=True)
class Skipped(Event):
    """A file that could not be read, and why."""

    uri: str
    reason: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ContextLine:
    """A passage's sentences about a task; `n` is the number of its source."""

    text: str
    n: int


@dataclass(frozen=True, slots=True)
class ContextSource:
    """The place of a task context's lines from one passage; `line` is the first of them."""

    n: int
    uri: str
    title: str
    episode_id: int
    line: int | None = None
    at: datetime | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class TaskContext:
    """The memory's evidence for a task, also as a `text` of about `tokens` tokens
    (`memory.llm.about_tokens`, which rather overestimates)."""

    task: str
    text: str
    tokens: int
    lines: tuple[ContextLine, ...] = ()
    sources: tuple[ContextSource, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat session, with the number of its messages."""

    id: int
    title: str
    created: datetime
    updated: datetime
    messages: int = 0


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A turn of a chat session. "partial": the stream was interrupted; `verdict`: the person's verdict on the answer.
    If its trace is stored: its scope and `as_of`, the `model` that wrote it, "" if it is extractive, and the calls of
    models and their tokens, read and written."""

    id: int
    role: Literal["user", "memory"]
    text: str
    at: datetime
    state: Literal["complete", "partial"] = "complete"
    citations: tuple[Citation, ...] = ()
    no_answer: bool = False
    trace_id: int | None = None
    verdict: Literal["good", "bad"] | None = None
    within: Scope | None = None
    as_of: datetime | None = None
    model: str = ""
    calls: int = 0
    tokens: int = 0

    @property
    def lines(self) -> tuple[AnswerLine, ...]:
        """The text as lines with their kinds."""
        return tuple(split_lines(self.text, self.citations))


@dataclass(frozen=True, slots=True)
class ConversationMatch:
    """A chat session that contains the words searched for: in this number of `messages`, with a `quote` of the newest;
    only in its title if 0. `role` is the author of that message."""

    conversation: Conversation
    messages: int = 0
    message_id: int | None = None
    role: Literal["user", "memory"] | None = None
    quote: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A source as a list shows it, with the number of its episodes."""

    uri: str
    kind: SourceKind
    title: str
    episodes: int
    at: datetime | None = None
    policy: Policy = "local"


@dataclass(frozen=True, slots=True)
class NoteReply:
    """A source: when it was read, the `models` that extracted facts from it, these `facts`, and its first `passages` of
    `episodes`."""

    source: ListedSource
    read: datetime | None
    tags: tuple[str, ...]
    models: tuple[str, ...]
    passages: tuple[Passage, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """A task or an entry of a calendar, list or table that names a `day` ("2026-04-24"), with its `time` ("14:00",
    "14:00 to 15:00") or "". `due`: it is an open task, overdue after its day."""

    day: str
    time: str
    text: str
    due: bool
    uri: str
    title: str
    line: int | None
    episode_id: int

    def name_day(self, today: date) -> str:
        """Returns `today`, `tomorrow`, `Wednesday`, `20 Nov`."""
        day = date.fromisoformat(self.day)
        days = (day - today).days
        if 0 <= days < 7:
            return ("today", "tomorrow")[days] if days < 2 else f"{day:%A}"
        return f"{day.day} {day:%b}"

    @property
    def day_name(self) -> str:
        return self.name_day(date.today())

    @property
    def is_past(self) -> bool:
        return self.day < date.today().isoformat()


@dataclass(frozen=True, slots=True)
class RetiredText:
    """Stored text of a source that questions no longer find: the source was `deleted`, or these `passages` were in
    earlier versions of it. `at`: when the last of it was retired."""

    uri: str
    title: str
    deleted: bool
    passages: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what is live, and the file's size."""

    path: str
    sources: int
    episodes: int
    theses: int
    objects: int
    edges: int
    skipped: int
    bytes: int
    embedder: str
    generation: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the memory: a backup, or a file kept by an upgrade."""

    path: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The numbers of forgotten items. `copies` still contain them, or are unreadable: the person must delete them.
    `pending`: why the words are not off the disk yet, "" if they are. `also_in`: other known sources with the same
    text."""

    sources: int = 0
    episodes: int = 0
    objects: int = 0
    facts: int = 0
    copies: tuple[Copy, ...] = ()
    pending: str = ""
    also_in: tuple[str, ...] = ()

    def __add__(self, other: Forgotten) -> Forgotten:
        return Forgotten(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))


@dataclass(frozen=True, slots=True)
class Check:
    """The result of `check()`; `problems` is empty when all is well."""

    problems: tuple[str, ...]
    checked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AliasSuspect:
    """Two objects that may be one: `facts` of one that replaced or repeated those of the other."""

    one: str
    other: str
    facts: int = 0


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """The results of consolidation. `joined`: facts merged into another; `stale`: deleted rows of edge memory;
    `questions` and `episodes` that got a missing vector; `recentred`: the center of questions was recomputed;
    `stopped`: it was interrupted; completed work stays."""

    joined: int = 0
    stale: int = 0
    questions: int = 0
    episodes: int = 0
    recentred: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class SyncComputer:
    """A computer of the shared folder; `at` is when it last wrote something. `has_forgotten`: its files may still have
    text that was forgotten since."""

    name: str
    at: datetime
    has_forgotten: bool = False


@dataclass(frozen=True, slots=True)
class SyncState:
    """The memory on several computers: the shared `folder`, this computer's name in it, and all `computers`. `waiting`:
    the number of items about missing notes; `skipped`: unreadable files with the reason; `at`: the last
    synchronisation; `problem`: why it fails now. Text of `allowed` folders goes to the others."""

    folder: str
    machine: str
    computers: tuple[SyncComputer, ...] = ()
    waiting: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    at: datetime | None = None
    problem: str = ""
    allowed: tuple[str, ...] = ()
