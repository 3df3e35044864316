"""The state of the memory and the daemon, and of what models do in the background; models, embedders, plug-ins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from daemon.wire.documents import Folder
from daemon.wire.replies import Hello
from memory.events import Event
from memory.llm import Grades
from memory.views import Plugin, Skipped, Stats, SyncState


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A dead job: a model's reading or decision, a file that was set aside, or a path to be read once. `label`: its
    subject; `reason`: a sentence."""

    id: int
    kind: str  # "extract" | "decide" | "read" | "add"
    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Enrichment:
    """The progress of reading by models. `state`: off | no_model | idle | reading | waiting, with a sentence in
    `detail`. `read` of `total` episodes were read by a model, `jobs` are queued or running; `tokens` and `minutes` were
    spent today, of `daily_minutes` (0: no limit). `unable`: the model that failed to read several notes in a row."""

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
    """The nightly maintenance. `state`: off | idle | battery | working | failed; `hour`: when it runs. `at`: its last
    run, None if never, `seconds`: its duration, and the rest its results: counts as in Consolidated, the retired
    passages that were `erased`."""

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
class BackupState:
    """Scheduled backups and checks for damage, from `hour` on, every `backup_days` and `check_days` days (0: never):
    the last run of each, the number of backups, why the last one failed, and the number of problems; the last trial
    restore, and why it failed. `warnings` are sentences, each with the command that repairs it."""

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
    """What is still to be erased: `folders` being forgotten, with the sources `left` in them; and since when forgotten
    words are still on the disk (None: there are none), and why."""

    folders: tuple[str, ...] = ()
    left: int = 0
    unwiped_since: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Disk:
    """Free space on the memory's disk. `state`: ok | low (no files are read) | full (only forgetting writes); `text`: a
    sentence about it, unless it is ok."""

    state: str
    free: int  # bytes
    text: str = ""


@dataclass(frozen=True, slots=True)
class Replica:
    """The replica of the memory. `at`: when it was last complete; `problem`: why it cannot be written. Until
    `forgotten_until` it has states of the memory with text that was forgotten since."""

    address: str
    at: datetime | None = None
    problem: str = ""
    forgotten_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class DaemonProcess(Hello):
    """The daemon that answers, and for how many seconds it has run."""

    uptime_s: float


@dataclass(frozen=True, slots=True)
class FileReading:
    """Reading of files. `queue` counts documents that wait to be read; `busy`: the current task. `failed`: reading that
    was given up; failures of models are in Enrichment. `safe_mode`: why the daemon reads nothing by itself, and what to
    do."""

    queue: int = 0
    busy: str = ""
    folders: tuple[Folder, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[FailedJob, ...] = ()
    failed_total: int = 0
    safe_mode: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the memory and its daemon. `preparing`: a sentence about the embedder being prepared, if any."""

    process: DaemonProcess
    stats: Stats
    files: FileReading
    model: str | None = None
    enrichment: Enrichment | None = None
    review: int = 0  # revisions that nobody has looked at
    night: Night | None = None
    upkeep: BackupState | None = None
    erasing: Erasing | None = None  # None: nothing is to be erased
    disk: Disk | None = None
    damage: tuple[tuple[str, str], ...] = ()  # what of the file cannot be read, and is done without, and why
    preparing: str = ""
    sync: SyncState | None = None
    replica: Replica | None = None


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """A message for a person. `level`: info | warning | error."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class BackedUp:
    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ModelRow:
    """An available language model. `outdated`: the grades are of an earlier model of that name, or of other tasks.
    `tokens`: used today; `roles`: its current uses."""

    name: str
    is_local: bool
    context: int = 0
    bytes: int = 0
    tokens: int = 0
    roles: tuple[str, ...] = ()
    outdated: bool = False
    grades: Grades | None = None


@dataclass(frozen=True, slots=True)
class ModelRole:
    """A role of models: the wanted models, and the current one; "" if no model can."""

    role: str
    names: tuple[str, ...]
    used: str = ""


@dataclass(frozen=True, slots=True)
class ModelsReply:
    """The available models. `problems` say why others are unavailable, `hints` how to get more, `warnings` what is
    wrong with the grades of those in use or just chosen."""

    models: tuple[ModelRow, ...]
    roles: tuple[ModelRole, ...]
    problems: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelTest:
    """The result of asking a model for one word: its `reply` and the time it took; or the `problem`. `models`: all
    models of its server, if no model was named."""

    name: str
    reply: str = ""
    ms: float = 0.0
    problem: str = ""
    is_local: bool = True
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedderReply:
    """The wanted embedder, and the identity of the one in use. While `building`, `done` of `total` episodes have a
    vector of the wanted one; `problem`: why that failed. `chosen`: the embedder that "auto" stands for here."""

    name: str
    used: str
    building: bool = False
    done: int = 0
    total: int = 0
    problem: str = ""
    known: tuple[str, ...] = ()
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class PluginsReply:
    """The program itself, and every installed plug-in."""

    built_in: Plugin
    plugins: tuple[Plugin, ...] = ()


@dataclass(frozen=True, slots=True)
class PageLink:
    """`url` works once; `opener` is a private file that leads a browser to it."""

    url: str
    opener: str
    port: int
