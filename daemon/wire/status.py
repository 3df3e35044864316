"""The state of the memory and the daemon, and of what models do in the background."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from daemon.wire.documents import Folder
from memory.events import Event
from memory.views import Skipped, Stats, SyncState


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that was given up: reading a passage or deciding about it by a model, a file that was set aside, a path
    that was to be read once. `label` is its subject, `reason` a sentence."""

    id: int
    kind: str  # "extract" | "decide" | "read" | "add"
    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Enrichment:
    """How far models are with reading. `state`: off | no_model | idle | reading | waiting, with a sentence in `detail`.

    `read` of `total` episodes were read by a model, `jobs` wait or run; `tokens` and `minutes` were spent today, of
    `daily_minutes` (0: no limit). `unable`: that a model could not read several notes in a row.
    """

    state: str
    detail: str = ""
    model: str = ""
    read: int = 0
    total: int = 0
    jobs: int = 0
    failed: tuple[FailedJob, ...] = ()
    failed_total: int = 0
    tokens: int = 0
    minutes: float = 0.0
    daily_minutes: int = 0
    unable: str = ""


@dataclass(frozen=True, slots=True)
class Night:
    """What is done once a day while nobody asks. `state`: off | idle | battery | working | failed; `hour` is when. `at`
    is when it was done last, None if never, `seconds` how long that took, and the rest what came of it: counts as in
    Consolidated, the retired passages that were `erased`."""

    state: str
    hour: int
    at: datetime | None = None
    seconds: float = 0.0
    joined: int = 0
    stale: int = 0
    questions: int = 0
    episodes: int = 0
    erased: int = 0


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Scheduled backups and checks for damage, from `hour` on, every `backup_days` and `check_days` days (0: never):
    when each was done last, how many backups there are, why the last one failed, and how many problems were found; when
    one was restored on trial, and why that failed. `warnings` are sentences, each with the command that repairs it."""

    hour: int
    backup_days: int
    backup_at: datetime | None = None
    backups: int = 0
    backup_problem: str = ""
    check_days: int = 0
    check_at: datetime | None = None
    problems: int = 0
    trial_at: datetime | None = None
    trial_problem: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasing:
    """What is still to be erased: `folders` that are being forgotten, with the sources that are `left` of them; and
    since when words that are forgotten are still on the disk (None: none are), and why."""

    folders: tuple[str, ...] = ()
    left: int = 0
    unwiped_since: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Disk:
    """Room on the disk of the memory. `state`: ok | low (no files are read) | full (nothing is written but what
    forgetting removes); `text` is a sentence about it, unless it is ok."""

    state: str
    free: int  # bytes
    text: str = ""


@dataclass(frozen=True, slots=True)
class SyncBegun:
    """`words` of a new key; "" where another computer made it."""

    sync: SyncState
    words: str = ""


@dataclass(frozen=True, slots=True)
class Replica:
    """The replica of the memory. `at` is when it was last seen to have everything, `problem` why it cannot be written.
    Until `forgotten_until` it has states of the memory with text that was forgotten since."""

    address: str
    at: datetime | None = None
    problem: str = ""
    forgotten_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """`queue` counts documents that wait to be read, `busy` says what is done now. `preparing` is a sentence about the
    better search that is being prepared, if it is."""

    version: str
    protocol: int
    pid: int
    uptime_s: float
    stats: Stats
    queue: int
    busy: str
    folders: tuple[Folder, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    model: str | None = None
    enrichment: Enrichment | None = None
    review: int = 0  # revisions that nobody has looked at
    night: Night | None = None
    upkeep: Upkeep | None = None
    erasing: Erasing | None = None  # None: nothing is to be erased
    disk: Disk | None = None
    damage: tuple[tuple[str, str], ...] = ()  # what of the file cannot be read, and is done without, and why
    safe_mode: str = ""  # why the daemon reads nothing by itself, and what to do
    failed: tuple[FailedJob, ...] = ()  # reading that was given up; failures of models are in `enrichment`
    failed_total: int = 0
    preparing: str = ""
    sync: SyncState | None = None
    replica: Replica | None = None


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """Something a person should know. `level`: info | warning | error."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class BackedUp:
    path: str
    bytes: int
