"""The contract between the daemon and every client: requests, replies and events, as frozen dataclasses.

Standard library only, no I/O. On the wire a value is a JSON object; an event carries its class name in
`"type"`, so that a stream of newline-delimited JSON can be decoded line by line with `parse_event`.
Times are ISO 8601 strings with an offset.

A question's stream:  Stage*  Visited*  (Chunk | Cited)*  then one Answered or one Failed.
An ingestion's stream: Progress*  Skipped*  then one Added or one Failed.
A probe's stream:  Progress*  then one Graded or one Failed.
The activity stream:  Progress, SourceChanged, FactChanged, Skipped, Embedding, Notice, as long as the client listens.

Requests without a body:

    GET    /hello                                     -> Hello
    GET    /status                                    -> Status
    GET    /folders                                   -> FoldersReply
    GET    /sources?query=&limit=                     -> SourcesReply
    GET    /facts?about=NAME&as_of=&known_on=&history= -> FactsReply
    GET    /history?about=NAME                        -> HistoryReply
    GET    /revisions?state=&about=NAME&limit=        -> RevisionsReply
    GET    /revisions/{id}                            -> FactRevision
    POST   /names            NamesRequest             -> Names
    GET    /episodes/{id}                             -> Passage
    GET    /check                                     -> CheckReply
    GET    /diagnosis?limit=                          -> Diagnosis
    GET    /embedder                                  -> EmbedderReply
    GET    /models                                    -> ModelsReply
    GET    /conversations, /conversations/{id}        -> ConversationsReply, MessagesReply
    DELETE /conversations/{id}                        -> Done
    GET    /activity                                  -> activity stream
    POST   /stop                                      -> Done, then the daemon ends
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

PROTOCOL = 1  # raised when a client of the version before could misread what it gets


# Requests -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Within:
    """Limits a question to a part of the memory; empty means no limit. `conversation` is a chat's name; an unknown one
    is an error that names some that there are."""

    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    conversation: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class AskRequest:
    """POST /ask -> question stream. `conversation` is the id of a chat session the turn is saved in."""

    question: str
    as_of: str | None = None
    within: Within = field(default_factory=Within)
    conversation: int | None = None


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """POST /recall -> RecallReply"""

    question: str
    k: int = 10
    as_of: str | None = None
    within: Within = field(default_factory=Within)


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """POST /remember -> Remembered"""

    text: str
    title: str | None = None
    source: str | None = None
    at: str | None = None
    speaker: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class AddRequest:
    """POST /add -> ingestion stream. `paths` are absolute: files or folders, read once.

    `policy`: local (their text stays on this machine) | any (models elsewhere may be given it), for what was read there
    before, too; None leaves that as it is, and what is new gets its watched folder's or the default.
    """

    paths: tuple[str, ...]
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class FolderRequest:
    """POST /folders (watch), POST /folders/remove (stop watching). `forget` drops what was read from it. `policy` is as
    in AddRequest; with one, a folder that is watched already changes its own."""

    path: str
    forget: bool = False
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """POST /forget -> Forgotten. Exactly one field is set. `source` is a uri or a path."""

    source: str | None = None
    object: str | None = None
    episode: int | None = None
    fact: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictRequest:
    """POST /revisions/{id} -> FactRevision. `verdict`: keep (the new fact stands) | both (both hold) | old (the old one
    stands, the new one was never true) | undo (everything is as before the revision)."""

    verdict: str


@dataclass(frozen=True, slots=True)
class NamesRequest:
    """POST /names -> Names. Whether two names mean the same object (`same`) or two."""

    one: str
    other: str
    same: bool


@dataclass(frozen=True, slots=True)
class BackupRequest:
    """POST /backup -> BackedUp. `to` is an absolute path that does not exist yet; None means the backup folder."""

    to: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationRequest:
    """POST /conversations -> Conversation; PUT /conversations/{id} renames it."""

    title: str = ""


@dataclass(frozen=True, slots=True)
class EmbedderRequest:
    """POST /embedder -> EmbedderReply, as soon as its model is loaded; the rest is done in the background."""

    name: str


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """POST /models/probe -> probe stream. Closing the stream ends the probe."""

    name: str


@dataclass(frozen=True, slots=True)
class RoleRequest:
    """POST /models/use -> ModelsReply. `names` in the order of preference; without any, no model does that."""

    role: str  # "extract" | "answer" | "agent"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EnrichmentRequest:
    """POST /enrichment -> Enrichment. Whether models read what was added, until the daemon ends."""

    enabled: bool


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """POST /enrichment/retry -> Retried. The failed job of that id is done again; without one, all of them."""

    id: int | None = None


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """POST /estimate -> Estimate. `paths` are absolute: files or folders, of which nothing is kept. `policy` as for
    POST /add."""

    paths: tuple[str, ...]
    policy: str | None = None


# Replies --------------------------------------------------------------------------------------


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
class KnownFact:
    """A fact, as clients see it: one row of GET /facts. `kind`: thesis | relation; `modality`: asserted | past |
    negated | plan | hypothesis | question; `origin`: sentence | rule | model | user. A relation's `objects` are its
    subject and its object; `quote` are the words of the source."""

    id: int
    kind: str
    text: str
    objects: tuple[str, ...]
    valid_from: str | None
    valid_to: str | None
    recorded: str
    retired: str | None
    superseded_by: int | None
    uri: str
    line: int | None
    modality: str = "asserted"
    origin: str = "sentence"
    predicate: str | None = None
    quote: str = ""
    episode_id: int = 0


@dataclass(frozen=True, slots=True)
class FactsReply:
    """GET /facts: what held on a day (`as_of`), as the memory knew it on a day (`known_on`); with `history` what was
    replaced as well. `disputes` are the open revisions of kind "contradicts" between two of the facts."""

    about: str
    facts: tuple[KnownFact, ...]
    disputes: tuple[FactRevision, ...] = ()


@dataclass(frozen=True, slots=True)
class FactRevision:
    """What a newer fact does to an older one. `relation`: supersedes | negates (the old one ended, nothing took its
    place) | contradicts (nothing tells which holds) | duplicates; `author`: rule | model | user; `state`: open (nobody
    has looked at it) | kept | undone | settled (both hold)."""

    id: int
    relation: str
    old: KnownFact
    new: KnownFact
    reason: str
    author: str
    confidence: float
    state: str
    at: str
    settled: str | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """What was decided of two names. `replaced` facts took the place of others by it, or did so no longer."""

    one: str
    other: str
    same: bool
    replaced: int


@dataclass(frozen=True, slots=True)
class RevisionsReply:
    """GET /revisions?state=open|kept|undone|settled|all (default: open), newest first. `open` counts all that wait."""

    revisions: tuple[FactRevision, ...]
    open: int


@dataclass(frozen=True, slots=True)
class HeldValue:
    """One value of a strand: its fact, and the revision that ended it."""

    fact: KnownFact
    ended: FactRevision | None = None


@dataclass(frozen=True, slots=True)
class Strand:
    """What one subject had with one predicate, in order of time."""

    subject: str
    predicate: str
    values: tuple[HeldValue, ...]


@dataclass(frozen=True, slots=True)
class HistoryReply:
    """GET /history?about=NAME: how each thing known of it changed; what changed last comes first."""

    about: str
    strands: tuple[Strand, ...]


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
class Diagnosis:
    """How well the graph served the newest `questions`. `memory.learn.diagnose` defines the figures. None, and an empty
    `reachability` (within 1, 2, 3 hops), stand where no question says anything about it."""

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
    """One turn of a chat session. `state`: complete | partial (the stream broke off)."""

    id: int
    role: str  # "user" | "memory"
    text: str
    at: str
    state: str = "complete"
    citations: tuple[Cited, ...] = ()
    no_answer: bool = False
    trace_id: int | None = None


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """GET /conversations/{id}"""

    conversation: Conversation
    messages: tuple[Message, ...]


# Events ---------------------------------------------------------------------------------------


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
    | Graded
    | Failed
)

EVENTS: dict[str, type[Event]] = {event.__name__: event for event in get_args(Event)}


# To JSON and back -----------------------------------------------------------------------------

T = TypeVar("T")


def encode(value: Any) -> Any:
    """A value of this module -> what `json.dumps` takes: objects, lists, strings, numbers, true, false, null."""
    if is_dataclass(value):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    return value


def decode(kind: type[T], data: Any) -> T:
    """The JSON object of a `kind` -> a `kind`. Keys it does not know are left out: a newer daemon may send more.

    Raises ValueError if `data` is no object or a field without a default is missing.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a {kind.__name__} is a JSON object, not {type(data).__name__}")
    types_of = _types(kind.__qualname__)
    try:
        return kind(**{name: _decoded(types_of[name], value) for name, value in data.items() if name in types_of})
    except TypeError as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from error


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


@cache
def _types(name: str) -> dict[str, Any]:
    return get_type_hints(globals()[name])


def _decoded(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):  # only `X | None` is used
        return None if value is None else _decoded(get_args(kind)[0], value)
    if origin is tuple:
        return tuple(_decoded(get_args(kind)[0], item) for item in value)
    return decode(cast(Any, kind), value) if is_dataclass(kind) else value
