"""What is read and forgotten: notes, files, watched folders, what agents write; tags and secrets in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.events import Event
from memory.views import Forgotten, ListedSource, RetiredText, SecretPlace, Skipped


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
    """`done` of `total` documents; `label` is the one just read. `total` may still grow while a folder is walked."""

    done: int
    total: int
    label: str = ""


SET_ASIDE = "set aside after"  # how the reason of a skipped file begins that was tried too often
RULES_TOO_LONG = "nothing in this folder is read until it is shorter"  # in the reason of a file of rules


@dataclass(frozen=True, slots=True)
class SkippedReply:
    """The files, the newest first; `total` is how many there are."""

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
    """Sources with retired text, which is kept but no longer found by questions, the last retired first; `total`: how
    many."""

    sources: tuple[RetiredText, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A watched folder. `state`: watching | scanning | missing | polling, with the reason in `detail`. `policy` of new
    files in it: local | any. `gone` is the number of missing files that a person must decide about. Its files get
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
    """Some of the missing files of a watched folder that a person must decide about; `total` is how many."""

    path: str
    files: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Counted:
    """How many files in a folder would be read, and their size. Where they are too many to be counted soon, `complete`
    is false and there are more. `lacking`: how many of them need a library that is not installed."""

    files: int
    bytes: int
    complete: bool
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, with how many sources carry it."""

    name: str
    sources: int


@dataclass(frozen=True, slots=True)
class SecretPlacesReply:
    """Secrets that were masked when they were read, and those that the memory contains in plain text."""

    masked: tuple[SecretPlace, ...]
    unmasked: tuple[SecretPlace, ...]


@dataclass(frozen=True, slots=True)
class KeptNote:
    """The note's uri; `known`: the agent had written the same before, so nothing was written."""

    source: str
    known: bool = False


@dataclass(frozen=True, slots=True)
class Agent:
    """What an agent has written: how many notes, the newest `last`, and of how many answers it said something."""

    name: str
    notes: int = 0
    last: datetime | None = None
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class AgentUndone:
    """The forgotten notes of an agent, and how many of its verdicts were removed."""

    forgotten: Forgotten
    notes: int = 0
    verdicts: int = 0
