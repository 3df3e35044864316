"""Notes, files, watched folders, forgetting, agents; tags and secrets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.events import Event
from memory.views import Forgotten, ListedSource, RetiredText, Skipped

SET_ASIDE = "set aside after"  # how the reason of a skipped file begins that was tried too often
RULES_TOO_LONG = "nothing in this folder is read until it is shorter"  # in the reason of a file of rules


@dataclass(frozen=True, slots=True)
class Added(Event):
    """The end of an ingestion."""

    sources: int
    episodes: int
    unchanged: int
    skipped: int
    removed: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """`done` of `total` documents; `label`: the one just read. `total` may still grow while a folder is walked. Or of
    passages that get vectors of the embedder `label`."""

    done: int
    total: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class SkippedReply:
    """The files, newest first; `total` counts all."""

    files: tuple[Skipped, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceChanged(Event):
    """A source was added | changed | moved | removed."""

    uri: str
    change: str
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class SourcesReply:
    sources: tuple[ListedSource, ...]
    total: int


@dataclass(frozen=True, slots=True)
class RetiredReply:
    """Sources with retired text, which is stored but no longer found by questions, last retired first; `total` counts
    all."""

    sources: tuple[RetiredText, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A watched folder. `state`: watching | scanning | missing | polling, with the reason in `detail`. `policy` of
    new files in it: local | any. `gone`: the number of missing files that a person must decide about. Its files get
    `tags`."""

    path: str
    state: str
    sources: int = 0
    detail: str = ""
    policy: str = "local"
    gone: int = 0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoneReply:
    """Missing files of a watched folder that a person must decide about; `total` counts all."""

    path: str
    files: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of files in a folder that would be read, and their size. `complete` is false if counting was stopped
    after some seconds. `lacking`: how many of them need a library that is not installed."""

    files: int
    bytes: int
    complete: bool
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, and the number of sources with it."""

    name: str
    sources: int


@dataclass(frozen=True, slots=True)
class KeptNote:
    """The note's uri; `known`: the agent had written the same before, so nothing was written."""

    source: str
    known: bool = False


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its number of notes, the newest `last`, and its number of verdicts on answers."""

    name: str
    notes: int = 0
    last: datetime | None = None
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class AgentUndone:
    """The forgotten notes of an agent, and the number of its removed verdicts."""

    forgotten: Forgotten
    notes: int = 0
    verdicts: int = 0
