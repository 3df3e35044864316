"""The lines of an export: a struct for each kind of row.

A line is a row under its table's name; a node's line also contains its `episode`, `object` or `thesis`. Fields are
columns: times in ms (docs/times.md), spans in characters, JSON as JSON. Fields without a value are omitted. The tables
in `VIEWS` are derived and not exported.

FORMAT is independent of the schema version. New fields need a default; other changes increase FORMAT. Format 1 had
instants where 2 has wall times, and norms without accents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import Raw, Struct

FORMAT = 2


class Record(Struct, tag_field="type", forbid_unknown_fields=True, omit_defaults=True):
    """One line of an export; its type is the first field."""


class Header(Record, tag="palimpsest"):
    """The first line. `counts`: lines per kind; `secrets`: whether the masked secrets are included."""

    format: int
    version: str
    counts: dict[str, int]
    secrets: bool = False


class End(Record, tag="end"):
    """The last line: without it the export was cut off. `lines`: the number of lines before it."""

    lines: int


class MetaRecord(Record, tag="meta"):
    key: str
    value: int | str


class SequenceRecord(Record, tag="sequence"):
    """The largest id a table ever had: ids are never reused."""

    name: str
    seq: int


class SourceRecord(Record, tag="source"):
    id: int
    uri: str
    kind: str
    title: str
    reader: str
    t_ingested: int
    policy: str
    properties: Raw
    conversation: str | None = None
    at: int | None = None
    sha256: str | None = None
    size: int | None = None
    mtime_ns: int | None = None
    ref: str | None = None
    t_deleted: int | None = None
    location: str = ""


class SourceTagRecord(Record, tag="source_tag"):
    source_id: int
    tag: str


class SecretRecord(Record, tag="secret"):
    source_id: int
    placeholder: str
    kind: str
    value: str
    line: int | None = None


class FolderRecord(Record, tag="folder"):
    id: int
    path: str
    added: int
    policy: str
    options: Raw


class SkipRecord(Record, tag="skip"):
    uri: str
    reason: str
    t: int


class ForgottenRecord(Record, tag="forgotten"):
    mark: str
    t: int


class EpisodeRecord(Record, tag="episode"):
    id: int
    source_id: int
    seq: int
    text: str
    sha256: str
    words: int
    t_created: int
    line_map: Raw
    refs: Raw
    turns: Raw
    label: str | None = None
    speaker: str | None = None
    event_from: int | None = None
    event_to: int | None = None
    since: int | None = None
    until: int | None = None
    line_from: int | None = None
    line_to: int | None = None
    t_expired: int | None = None
    expire_reason: str | None = None


class ObjectRecord(Record, tag="object"):
    id: int
    t_created: int
    label: str | None = None
    kind: str | None = None
    t_expired: int | None = None
    expire_reason: str | None = None


class AliasRecord(Record, tag="alias"):
    norm: str
    surface: str
    node_id: int
    origin: str
    conf: float


class ThesisRecord(Record, tag="thesis"):
    id: int
    episode_id: int
    origin: str
    t_created: int
    modality: str
    conf: float
    span_from: int | None = None
    span_to: int | None = None
    text: str | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    superseded_by: int | None = None
    label: str | None = None
    t_expired: int | None = None
    expire_reason: str | None = None


class PredicateRecord(Record, tag="predicate"):
    id: int
    label: str
    canon_id: int | None = None


class EdgeRecord(Record, tag="edge"):
    id: int
    kind: str
    src: int
    dst: int
    t_created: int
    conf: float
    n_support: int
    pred_id: int | None = None
    role: str | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    t_expired: int | None = None
    expire_reason: str | None = None
    superseded_by: int | None = None
    modality: str | None = None


class ProvenanceRecord(Record, tag="provenance"):
    item_kind: str
    item_id: int
    episode_id: int
    span_from: int | None = None
    span_to: int | None = None
    extractor: str | None = None


class JournalRecord(Record, tag="journal"):
    id: int
    t: int
    item_kind: str
    item_id: int
    field: str
    old: str | None = None
    new: str | None = None
    reason: str | None = None
    episode_id: int | None = None
    revision_id: int | None = None


class RevisionRecord(Record, tag="revision"):
    id: int
    relation: str
    old_kind: str
    old_id: int
    new_kind: str
    new_id: int
    author: str
    t: int
    conf: float
    state: str
    reason: str | None = None
    t_settled: int | None = None


class ExtractionRecord(Record, tag="extraction"):
    episode_id: int
    model: str
    t: int


class EmbedderRecord(Record, tag="embedder"):
    """An embedder's statistics of all questions: their mean and the activation threshold."""

    name: str
    dimension: int
    query_prefix: str
    document_prefix: str
    center_n: int
    center: bytes | None = None
    lam_mem: float | None = None


class TraceRecord(Record, tag="trace"):
    id: int
    t: int
    question: str
    ms: float
    plan: Raw
    citations: Raw
    missing: Raw
    llm_calls: int
    tok_in: int
    tok_out: int
    as_of: int | None = None
    tier: str | None = None
    answer: str | None = None
    confidence: float | None = None
    no_answer: int | None = None
    feedback: int | None = None
    parent_id: int | None = None


class TraceStepRecord(Record, tag="trace_step"):
    trace_id: int
    step: int
    stage: str
    ms: float
    detail: Raw


class TraceEdgeRecord(Record, tag="trace_edge"):
    trace_id: int
    edge_id: int
    role: str
    delta: float | None = None


class TraceVisitRecord(Record, tag="trace_visit"):
    trace_id: int
    visit: int
    node_id: int
    stage: str
    depth: int
    status: str
    parent_edge: int | None = None
    score: float | None = None


class TrainLabelRecord(Record, tag="train_label"):
    trace_id: int
    edge_id: int
    y: float
    weight: float
    origin: str


class RankerRecord(Record, tag="ml_model"):
    id: int
    kind: str
    t: int
    params: bytes
    metrics: Raw
    active: int


class FigureRecord(Record, tag="diag"):
    t: int
    metric: str
    value: float | None = None
    detail: str | None = None


class ProbeRecord(Record, tag="llm_probe"):
    name: str
    t: int
    grades: Raw


class UseRecord(Record, tag="llm_use"):
    day: str
    model: str
    purpose: str
    is_local: int
    calls: int
    failed: int
    tok_read: int
    tok_written: int
    tok_cached: int
    ms: float


class ConversationRecord(Record, tag="conversation"):
    id: int
    title: str
    t_created: int
    t_updated: int


class MessageRecord(Record, tag="message"):
    id: int
    conversation_id: int
    role: str
    text: str
    t: int
    state: str
    no_answer: int
    citations: Raw
    trace_id: int | None = None


class JobRecord(Record, tag="job"):
    id: int
    kind: str
    dedupe_key: str
    payload: Raw
    not_before: int
    created: int
    state: str
    attempts: int
    priority: int
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """The rows of a `table` as lines of one kind: `order` is their key, `rows` (SQL) filters them, `columns` (SQL)
    computes fields that are not a column of the same name. Rows of a `node` kind are also rows of the table node."""

    record: type[Record]
    table: str
    order: str = "id"
    rows: str = "1"
    columns: Mapping[str, str] | None = None
    node: Literal["", "E", "O", "T"] = ""
    is_secret: bool = False

    @property
    def name(self) -> str:
        """The `type` of the lines."""
        return str(self.record.__struct_config__.tag)


NODE_FIELDS = ("label", "t_created", "t_expired", "expire_reason")
KEPT_META = ("next_node", "next_edge", "owner", "readers", "forgotten_key", "copies")
SECRET_META = "mask_key"  # the key of the placeholders of secrets
COUNTED = (
    "('conversation', 'folder', 'job', 'message', 'revision', 'source', 'trace')"  # tables whose ids are never reused
)
_LEASED = "state = 'leased'"  # leased by a process that does not read the export

KINDS = (
    Kind(MetaRecord, "meta", "key"),
    Kind(SourceRecord, "source"),
    Kind(SourceTagRecord, "source_tag", "source_id, tag"),
    Kind(SecretRecord, "secret", "source_id, placeholder", is_secret=True),
    Kind(FolderRecord, "folder"),
    Kind(SkipRecord, "skip", "uri"),
    Kind(ForgottenRecord, "forgotten", "mark"),
    Kind(EpisodeRecord, "episode", node="E"),
    Kind(ObjectRecord, "object", columns={"kind": "r.type"}, node="O"),
    Kind(AliasRecord, "alias", "norm, node_id"),
    Kind(ThesisRecord, "thesis", node="T"),
    Kind(PredicateRecord, "predicate"),
    Kind(EdgeRecord, "edge"),
    Kind(ProvenanceRecord, "provenance", "item_kind, item_id, episode_id"),
    Kind(RevisionRecord, "revision"),
    Kind(JournalRecord, "journal"),
    Kind(ExtractionRecord, "extraction", "episode_id"),
    Kind(EmbedderRecord, "embedder", "name", "center IS NOT NULL OR lam_mem IS NOT NULL"),
    Kind(TraceRecord, "trace"),
    Kind(TraceStepRecord, "trace_step", "trace_id, step"),
    Kind(TraceEdgeRecord, "trace_edge", "trace_id, edge_id, role"),
    Kind(TraceVisitRecord, "trace_visit", "trace_id, visit"),
    Kind(TrainLabelRecord, "train_label", "trace_id, edge_id, origin"),
    Kind(RankerRecord, "ml_model"),
    Kind(FigureRecord, "diag", "rowid"),
    Kind(ProbeRecord, "llm_probe", "name"),
    Kind(UseRecord, "llm_use", "day, model, purpose, is_local"),
    Kind(ConversationRecord, "conversation"),
    Kind(MessageRecord, "message"),
    Kind(
        JobRecord, "job",
        columns={
            "state": f"iif({_LEASED}, 'queued', state)",
            "attempts": f"iif({_LEASED}, max(attempts - 1, 0), attempts)",
        },
    ),
    Kind(SequenceRecord, "sqlite_sequence", "name", f"name IN {COUNTED}"),
)  # fmt: skip

# Derived table -> its source.
VIEWS: Mapping[str, str] = {
    "node": "stands with its episode, object or thesis",
    "reading": "how a text is read for the index, from the text",
    "vec": "vectors, from the texts",
    "sentence_vec": "vectors of sentences, from the texts",
    "query": "vectors of questions, from the traces",
    "edge_memory": "what edges remember, from the traces",
    "seal": "checksums, which the night makes",
    "_sqlite_migrations": "the steps of the schema that a file has had",
}
# Columns of exported tables without a field: their source, or why they are not exported.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "alias": ("folded",),  # derived from the norm
    "embedder": ("id", "active"),  # assigned with its vectors
    "job": ("boot_id",),  # the process that leases it
}
