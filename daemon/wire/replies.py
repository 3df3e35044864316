"""What the daemon answers at once: everything but facts and streams."""

from __future__ import annotations

from dataclasses import dataclass, field

from daemon.wire.events import Cited, Graded, Skipped, Stage


@dataclass(frozen=True, slots=True)
class Hello:
    """GET /hello: what a client asks first, and the only reply that never changes between protocols."""

    version: str
    protocol: int
    pid: int


@dataclass(frozen=True, slots=True)
class Done:
    """It was done; there is nothing more to say."""


@dataclass(frozen=True, slots=True)
class Passage:
    """An episode, as clients see it."""

    episode_id: int
    uri: str
    kind: str
    title: str
    text: str
    at: str | None = None
    speaker: str | None = None
    line: int | None = None
    end_line: int | None = None
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    passage: Passage
    score: float
    channels: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecallReply:
    hits: tuple[Found, ...]
    ms: float
    steps: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Remembered:
    source_id: int
    episode_ids: tuple[int, ...]
    added: int
    kept: int
    removed: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A watched folder. `state`: watching | scanning | missing | polling, with the reason in `detail`. `policy` of what
    is new in it: local | any."""

    path: str
    state: str
    sources: int = 0
    detail: str = ""
    policy: str = "local"


@dataclass(frozen=True, slots=True)
class FoldersReply:
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source, as `pal status --sources` and the chat list it. `policy`: local | any."""

    uri: str
    kind: str
    title: str
    episodes: int
    at: str | None = None
    policy: str = "local"


@dataclass(frozen=True, slots=True)
class SourcesReply:
    sources: tuple[SourceRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FailedJob:
    """Reading or deciding that was given up. `label` is the passage it is about, `reason` a sentence."""

    id: int
    kind: str  # "extract" | "decide"
    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Enrichment:
    """How far models are with reading. `state`: off | no_model | idle | reading | waiting, with a sentence in `detail`.

    `read` of `total` episodes were read by a model, `jobs` wait or run; `tokens` and `minutes` were spent today.
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


@dataclass(frozen=True, slots=True)
class Retried:
    """`jobs` are done again."""

    jobs: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is in files and folders, and what `model` would take to read it; "" where no model may. `minutes` is None
    where nobody knows how fast it is. `skipped` files cannot be read; `sampled` files were looked into, of `files`."""

    files: int
    skipped: int
    sampled: int
    bytes: int
    words: int
    episodes: int
    calls: int = 0
    tokens: int = 0
    minutes: float | None = None
    model: str = ""
    is_local: bool = True


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The memory is in order. `joined` facts were told twice and are one now, `stale` rows of edge memory are gone,
    `questions` and `episodes` have the vector that they lacked; `suspects` are names that may be one."""

    joined: int
    stale: int
    questions: int
    episodes: int
    recentred: bool
    suspects: tuple[AliasSuspect, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Night:
    """What is done once a day while nobody asks. `state`: off | idle | battery | working | failed; `hour` is when. `at`
    is when it was done last, None if never, `seconds` how long that took, and the rest what came of it: counts as in
    Consolidated, and in `learnt` a sentence about what was learnt."""

    state: str
    hour: int
    at: str | None = None
    seconds: float = 0.0
    joined: int = 0
    stale: int = 0
    questions: int = 0
    episodes: int = 0
    suspects: int = 0
    learnt: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """GET /status. `queue` counts documents that wait to be read, `busy` says what is done now."""

    version: str
    protocol: int
    pid: int
    uptime_s: float
    path: str
    embedder: str
    sources: int
    episodes: int
    theses: int
    objects: int
    edges: int
    bytes: int
    queue: int
    busy: str
    folders: tuple[Folder, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    skipped_total: int = 0
    model: str | None = None
    enrichment: Enrichment | None = None
    review: int = 0  # revisions that nobody has looked at
    night: Night | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the memory: a backup, or what an upgrade left."""

    path: str
    at: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`copies` are those that still hold it, or cannot be read: to delete them is the person's part."""

    sources: int
    episodes: int
    objects: int
    facts: int
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class BackedUp:
    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class CheckReply:
    problems: tuple[str, ...]
    checked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Questions that failed for one reason, and what mends it. `name`: coverage | connectivity | provenance |
    queryability; `example` is one of them, `trace_id` its trace; `unanswered` counts those without an answer."""

    name: str
    questions: int
    unanswered: int
    example: str
    trace_id: int
    repair: str


@dataclass(frozen=True, slots=True)
class Hub:
    label: str
    passages: int


@dataclass(frozen=True, slots=True)
class AliasSuspect:
    """Two names that may be one; `similarity` in [0, 1]."""

    one: str
    other: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Period:
    """The questions from a time on until the next period begins, and their figures, as far as they say anything."""

    since: str
    questions: int
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How well the graph served the newest `questions`. `memory.insight.diagnose` defines the figures. None, and an
    empty `reachability` (within 1, 2, 3 hops), stand where no question says anything about it. `memory.insight.trend`
    defines `figures`, and those of each period of the `trend`, the oldest first. `advice`: what there is to do."""

    questions: int
    no_answer_rate: float | None
    seed_hit_rate: float | None
    reachability: tuple[float, ...]
    cited_per_call: float | None
    cited_per_1k_tokens: float | None
    neighbourhood_noise: float | None
    backfill_reliance: float | None
    evidence_redundancy: float | None
    episodes: int
    orphans: int
    stale_memory: int
    dead_jobs: int
    hubs: tuple[Hub, ...] = ()
    alias_suspects: tuple[AliasSuspect, ...] = ()
    failures: tuple[FailureClass, ...] = ()
    figures: dict[str, float] = field(default_factory=dict)
    trend: tuple[Period, ...] = ()
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedderReply:
    """The embedder that is wanted, and the identity of the one that questions use. While `building`, `done` of `total`
    episodes have a vector of the one that is wanted; `problem` says why that could not be done."""

    name: str
    used: str
    building: bool = False
    done: int = 0
    total: int = 0
    problem: str = ""
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A language model that can be reached. `outdated`: the grades are of an earlier model of that name.

    `tokens` were read and written today, `roles` is what it is used for now.
    """

    name: str
    is_local: bool
    context: int = 0
    bytes: int = 0
    loaded: bool = False
    tokens: int = 0
    roles: tuple[str, ...] = ()
    outdated: bool = False
    grades: Graded | None = None


@dataclass(frozen=True, slots=True)
class ModelRole:
    """What models are wanted for something, and the one that does it now; "" if none of them can."""

    role: str
    names: tuple[str, ...]
    used: str = ""


@dataclass(frozen=True, slots=True)
class ModelsReply:
    """The models that can be reached now. `problems` says why others cannot, `hints` how there could be more."""

    models: tuple[ModelRow, ...]
    roles: tuple[ModelRole, ...]
    problems: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat session. GET /conversations lists the newest first."""

    id: int
    title: str
    created: str
    updated: str
    messages: int = 0


@dataclass(frozen=True, slots=True)
class ConversationsReply:
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat session. `state`: complete | partial (the stream broke off); `verdict`: good | bad, what the
    person said of the answer."""

    id: int
    role: str  # "user" | "memory"
    text: str
    at: str
    state: str = "complete"
    citations: tuple[Cited, ...] = ()
    no_answer: bool = False
    trace_id: int | None = None
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """GET /conversations/{id}"""

    conversation: Conversation
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Unlearnt:
    """Whether something that was learnt at night was taken back, and whether what was used before it is used again."""

    undone: bool
    earlier: bool
