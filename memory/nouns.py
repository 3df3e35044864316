"""The nouns of Palimpsest, as values: input, output, and the records of a question.

Everything here is frozen and imports the standard library only. All times are timezone-aware datetimes; a naive one is
rejected as input."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from memory.events import Answer as Answer
from memory.events import AnswerLine as AnswerLine
from memory.events import AskEvent as AskEvent
from memory.events import Citation as Citation
from memory.events import Preview as Preview
from memory.events import Scope as Scope
from memory.events import Step as Step
from memory.events import Token as Token
from memory.events import Visit as Visit
from memory.events import Writing as Writing
from memory.events import counted_in as counted_in
from memory.events import file_of as file_of
from memory.events import name_place as name_place
from memory.events import name_position as name_position
from memory.events import split_lines as split_lines

SourceKind = Literal["file", "chat", "note", "import"]
Policy = Literal["local", "any"]
Effort = Literal["quick", "normal", "deep"]
"""How much a question may take: `memory.answering.options` says what each allows."""

TOLD = "told"
"""As a document's reader: its owner said it to this program itself, and means it as it stands."""

UNKNOWN = "unknown"  # as a speaker: not the owner, and the name is not known
SOURCE_CODE = "source code"  # a property of such a source, with its language: its words are about what it does
NOT_READ = "not read"  # a property of a document that was read in part: what its reader left out
ENTRY_VERSIONS = "entry versions"  # a property of calendars, by entry: line, id, occurrence, sequence, time stamps

# Why a file is skipped that is another version of one that is read.
SYNC_COPY = "a sync left another version of it, {}, which is read instead; to have both read, rename one"
# Why a file is skipped that a person had forgotten, and one with the content of such a file.
FORGOTTEN = "forgotten on request and not read again; to have it read all the same: pal add --again"
SAME_AS_FORGOTTEN = "its content was forgotten, so it is not read; to read it anyway: pal add --again"

_SUFFIX = re.compile(r"\.[^\W\d]\w*$")  # ".md", and no ".2" of "v1.2"

# How the uris of notes begin: of corrections by hand, then the number of the fact; of values that another computer
# stated at the same time (`memory.sync`).
BY_HAND = "note:corrected/"
DISPUTED = "note:disputed/"

# How the uris of notes begin that an agent wrote: they are its words, never the owner's.
AGENT_NOTES = "note:agent/"


def agent_of(uri: str) -> str:
    """Returns the agent that wrote a source; "" if none did."""
    return uri.removeprefix(AGENT_NOTES).partition("/")[0] if uri.startswith(AGENT_NOTES) else ""


# What goes in ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a chat. `ref` is the caller's own id of it."""

    speaker: str
    text: str
    at: datetime | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The `start` of a turn in an episode's text, in characters. `number`: of the message in its chat, from 1."""

    start: int
    number: int
    speaker: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The input from a reader: one source with its text, or with its turns if it is a chat. `uri` identifies the
    source: the same uri again is a newer version of it. `text` is Markdown or plain text. `lines`: for each line of
    `text`, its line number in the original (1-based) if the two differ. `ref` is the caller's own id, returned as
    `Episode.ref`. `parts`, if the text itself dates its parts: (line, time), from that line of `text` (1-based, the
    first is 1) to the next one. A part without a time has an unknown date, before all others; `at` applies to no part
    then."""

    uri: str
    text: str = ""
    turns: tuple[Turn, ...] = ()
    title: str | None = None
    kind: SourceKind = "note"
    reader: str = "text"
    at: datetime | None = None
    speaker: str | None = None
    ref: str | None = None
    conversation: str | None = None
    policy: Policy = "local"
    properties: Mapping[str, Any] = field(default_factory=dict)  # frontmatter, mail headers: key -> value
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    lines: tuple[int, ...] | None = None
    parts: tuple[tuple[int, datetime | None], ...] = ()
    sha256: str | None = None  # of the original bytes, where there are any
    size: int | None = None  # bytes
    mtime_ns: int | None = None
    location: str = ""  # of a file, its path below the folder that was added: the words of it can be searched for


STAMP_SECONDS = 1  # between a file's date and its time stamp, if the one was made of the other
MARKDOWN = frozenset(  # readers whose text is Markdown: as it was written, or as they lay a document out
    "canvas code contacts docx epub html ics image markdown notebook odf org pdf pptx".split()
)
_ZONE_SECONDS = 15 * 60  # the clocks of two time zones differ by a multiple of this
_DAY_SECONDS = 26 * 3600  # by which they differ at most

# What is kept ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a text."""

    id: int
    uri: str
    kind: SourceKind
    title: str
    reader: str
    conversation: str | None = None
    policy: Policy = "local"
    at: datetime | None = None
    sha256: str | None = None
    size: int | None = None
    mtime_ns: int | None = None
    location: str = ""  # as in Document

    @property
    def place(self) -> str:
        """The folders and the name of its file in words, without underscores and the suffix."""
        return _SUFFIX.sub("", self.location).replace("_", " ")

    @property
    def by_agent(self) -> bool:
        """Whether an agent wrote it."""
        return bool(agent_of(self.uri))

    @property
    def is_markdown(self) -> bool:
        return self.reader in MARKDOWN


@dataclass(frozen=True, slots=True)
class MaskedSecret:
    """The secret of a placeholder; `line` is its first line in its source, if that has lines."""

    placeholder: str
    kind: str
    value: str = field(repr=False)
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """A passage in its original words; the episodic vertex. Lines are 1-based, in the source."""

    id: int
    source: Source
    seq: int
    title: str
    text: str
    at: datetime | None = None
    until: datetime | None = None
    speaker: str | None = None
    line: int | None = None
    end_line: int | None = None
    refs: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()  # of each line of `text`, where they do not run on from `line`
    turns: tuple[TurnStart, ...] = ()  # of a chat, in order

    @property
    def is_stamped(self) -> bool:
        """Whether its only known time is its file's time stamp, which a copy may have changed."""
        stamp_ns = self.source.mtime_ns
        if self.at is None or stamp_ns is None:
            return False
        apart = self.at.timestamp() - stamp_ns / 1e9
        off = abs(apart - _ZONE_SECONDS * round(apart / _ZONE_SECONDS))
        return abs(apart) <= _DAY_SECONDS and off < STAMP_SECONDS

    @property
    def content(self) -> tuple[str, str, str | None, datetime | None]:
        """The content that a copy of its file shares: title and words, speaker, and time, unless that is the file's
        stamp."""
        return self.title, self.text, self.speaker, None if self.is_stamped else self.at

    def line_at(self, offset: int) -> int | None:
        """Returns the source's line with the character `offset` of `text`; None if it has no lines."""
        return line_at(self.line, self.lines, self.text, offset)

    def turn_at(self, offset: int) -> TurnStart | None:
        """Returns the turn with the character `offset` of `text`; None outside of chats."""
        number = bisect_right(self.turns, offset, key=lambda turn: turn.start)
        return self.turns[number - 1] if number else None

    @property
    def ref(self) -> str | None:
        """The caller's own id of this passage (of its first turn, for a group of turns)."""
        return self.refs[0] if self.refs else None

    def to_passage(self) -> Passage:
        return Passage(
            self.id, self.source.uri, self.source.kind, self.title, self.text, self.at, self.speaker, self.line,
            self.end_line, self.refs, self.source.is_markdown,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """An episode as clients get it."""

    episode_id: int
    uri: str
    kind: str
    title: str
    text: str
    at: datetime | None = None
    speaker: str | None = None
    line: int | None = None
    end_line: int | None = None
    refs: tuple[str, ...] = ()
    is_markdown: bool = False

    @property
    def first_line(self) -> int | None:
        """The number of its first line in its file, if its lines are consecutive lines of the file."""
        if self.line is None or counted_in(self.uri) not in ("line", "message"):
            return None
        runs_on = (self.end_line or self.line) - self.line == self.text.count("\n")
        return self.line if runs_on else None


def line_at(first: int | None, lines: Sequence[int], text: str, offset: int) -> int | None:
    """Returns the source's line of the character `offset` of a text that begins in line `first`, or whose lines are
    `lines`."""
    if first is None:
        return None
    number = text.count("\n", 0, offset)
    return lines[number] if number < len(lines) else first + number


FactRelation = Literal["supersedes", "ends", "contradicts", "duplicates", "complements", "unrelated"]
Modality = Literal["asserted", "past", "negated", "plan", "hypothesis", "question"]
_REMARKS = {
    "past": "no longer", "negated": "not so", "plan": "planned", "hypothesis": "perhaps", "question": "a question"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """A thesis or a relation with its valid time. `episode_id`, `line`, `title` are its place, `quote` its words there.
    A relation's `objects` are its subject and its object, connected by `predicate`. `origin`: its extractor; a sentence
    is taken literally. `since` and `until`: the days of valid time as precisely as the notes name them: "2021",
    "2021-03", "2021-03-09"."""

    id: int
    kind: Literal["thesis", "relation"]
    text: str
    objects: tuple[str, ...]
    valid_from: datetime | None
    valid_to: datetime | None
    recorded: datetime
    retired: datetime | None
    superseded_by: int | None
    episode_id: int
    uri: str
    line: int | None
    modality: Modality = "asserted"
    origin: Literal["sentence", "rule", "model", "user"] = "sentence"
    predicate: str | None = None
    quote: str = ""
    title: str = ""
    since: str = ""
    until: str = ""

    @property
    def place(self) -> str:
        """Its place as people name it: `notes/fog.md:14`; for a note without lines its title, for an agent's text also
        its author."""
        if agent := agent_of(self.uri):
            return f"{self.title or self.uri}, by {agent} (agent)"
        is_named = self.line is None or self.uri.startswith("note:")
        return self.title or self.uri if is_named else name_place(self.uri, self.line or 0)

    @property
    def is_over(self) -> bool:
        """Whether another fact or a person replaced it."""
        return self.superseded_by is not None or self.retired is not None

    @property
    def holds(self) -> bool:
        """Whether it is valid now."""
        return not self.is_over and (self.valid_to is None or self.valid_to > datetime.now(UTC))

    @property
    def remark(self) -> str:
        """The modality in brackets; "" if it is simply asserted. Negations read by rules are "no longer"."""
        kind = "past" if (self.modality, self.origin) == ("negated", "rule") else self.modality
        return f" ({_REMARKS[kind]})" if kind in _REMARKS else ""

    @property
    def statement(self) -> str:
        """The fact in one line."""
        return f"{' '.join(self.text.split())}{self.remark}"

    @property
    def period(self) -> str:
        """The valid time, or when it was read."""
        if self.since and self.until and self.since != self.until:
            return f"{self.since} to {self.until}"
        if self.until:
            return f"until {self.until}"
        word = "from" if self.valid_from and self.valid_from > self.recorded else "since"
        return f"{word} {self.since}" if self.since else f"read {self.recorded.date().isoformat()}"


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """A known attribute of the owner, such as "phone": the current facts, and the former ones, newest first."""

    key: str
    facts: tuple[Fact, ...]
    before: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about the memory's owner. `named_by`: the origin of their `names`: "memory.owner_names" (a
    setting), "mails" (their mailbox), or the uri of a note about them."""

    names: tuple[str, ...]
    named_by: tuple[str, ...]
    entries: tuple[ProfileEntry, ...]


RevisionState = Literal["open", "kept", "undone", "settled"]
Verdict = Literal["keep", "both", "old", "open"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of one `remember`. `added + kept` are the source's current episodes, in order in `episode_ids`."""

    source_id: int
    episode_ids: tuple[int, ...]
    added: int = 0
    kept: int = 0
    removed: int = 0


# Questions and their results ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of one question. `id` is None until it is stored."""

    question: str
    steps: tuple[Step, ...] = ()
    visits: tuple[Visit, ...] = ()
    id: int | None = None

    @property
    def ms(self) -> float:
        return sum(step.ms for step in self.steps)


@dataclass(frozen=True, slots=True)
class Hit:
    """A found episode. `channels` holds the named scores the ranking was made from."""

    episode: Episode
    score: float
    channels: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall:
    hits: tuple[Hit, ...]
    trace: Trace
