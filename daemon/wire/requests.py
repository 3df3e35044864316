"""What clients send."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    """POST /ask -> question stream. `conversation` is the id of a chat session the turn is saved in; `effort`, how far
    the question may go: quick | normal | deep. Without `replay` nothing of earlier questions is used, and nothing is
    learnt from this one."""

    question: str
    as_of: str | None = None
    within: Within = field(default_factory=Within)
    conversation: int | None = None
    effort: str = "normal"
    replay: bool = True


@dataclass(frozen=True, slots=True)
class FeedbackRequest:
    """POST /traces/{id}/feedback -> Judged. `verdict`: good | bad | none (which takes either back)."""

    verdict: str


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """POST /learn -> learning's stream. With `dry_run` nothing is written."""

    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class RebuildRequest:
    """POST /rebuild -> rebuild stream. `what`: "memory", what edges remember of questions, from the traces; "text", the
    full text, from the passages."""

    what: tuple[str, ...]


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
