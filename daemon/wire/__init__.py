"""The contract between the daemon and every client: requests, replies and events, as frozen dataclasses.

Standard library only, no I/O. On the wire a value is a JSON object; an event carries its class name in
`"type"`, so that a stream of newline-delimited JSON can be decoded line by line with `parse_event`.
Times are ISO 8601 strings with an offset.

A question's stream:  Stage*  Visited*  (Chunk | Cited)*  then one Answered or one Failed.
An ingestion's stream: Progress*  Skipped*  then one Added or one Failed.
A rebuild's stream: Progress*  then one Rebuilt or one Failed.
Learning's stream: Progress*  then one Learnt or one Failed.
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
    GET    /traces?limit=&offset=                     -> TracesReply
    GET    /traces/{id}                               -> Trace
    POST   /traces/{id}/again                         -> question stream: the same question, asked now
    GET    /traces/{id}/why                           -> WhyReply
    GET    /traces/{id}/whynot?words=                 -> WhyNotReply
    GET    /check                                     -> CheckReply
    GET    /diagnosis?limit=                          -> Diagnosis
    POST   /learn/undo                                -> Unlearnt
    GET    /embedder                                  -> EmbedderReply
    GET    /models                                    -> ModelsReply
    GET    /conversations, /conversations/{id}        -> ConversationsReply, MessagesReply
    DELETE /conversations/{id}                        -> Done
    GET    /activity                                  -> activity stream
    POST   /consolidate                               -> Consolidated
    POST   /stop                                      -> Done, then the daemon ends
"""

from __future__ import annotations

from daemon.wire.codec import (
    decode,
    encode,
)
from daemon.wire.events import (
    EVENTS,
    Added,
    Answered,
    Chunk,
    Cited,
    Embedding,
    Event,
    FactChanged,
    Failed,
    Graded,
    Learnt,
    Notice,
    Progress,
    Rebuilt,
    Skipped,
    SourceChanged,
    Stage,
    Visited,
    event_line,
    parse_event,
)
from daemon.wire.facts import (
    FactRevision,
    FactsReply,
    HeldValue,
    HistoryReply,
    KnownFact,
    Names,
    RevisionsReply,
    Strand,
)
from daemon.wire.replies import (
    AliasSuspect,
    BackedUp,
    CheckReply,
    Consolidated,
    Conversation,
    ConversationsReply,
    Copy,
    Diagnosis,
    Done,
    EmbedderReply,
    Enrichment,
    Estimate,
    FailedJob,
    FailureClass,
    Folder,
    FoldersReply,
    Forgotten,
    Found,
    Hello,
    Hub,
    Message,
    MessagesReply,
    ModelRole,
    ModelRow,
    ModelsReply,
    Night,
    Passage,
    Period,
    RecallReply,
    Remembered,
    Retried,
    SourceRow,
    SourcesReply,
    Status,
    Unlearnt,
)
from daemon.wire.requests import (
    AddRequest,
    AskRequest,
    BackupRequest,
    ConversationRequest,
    EmbedderRequest,
    EnrichmentRequest,
    EstimateRequest,
    FeedbackRequest,
    FolderRequest,
    ForgetRequest,
    LearnRequest,
    NamesRequest,
    ProbeRequest,
    RebuildRequest,
    RecallRequest,
    RememberRequest,
    RetryRequest,
    RoleRequest,
    VerdictRequest,
    Within,
)
from daemon.wire.traces import Asked, Judged, LostPassage, Trace, TracesReply, UsedSource, WhyNotReply, WhyReply

PROTOCOL = 1  # raised when a client of the version before could misread what it gets

__all__ = [
    "EVENTS",
    "PROTOCOL",
    "AddRequest",
    "Added",
    "AliasSuspect",
    "Answered",
    "AskRequest",
    "Asked",
    "BackedUp",
    "BackupRequest",
    "CheckReply",
    "Chunk",
    "Cited",
    "Consolidated",
    "Conversation",
    "ConversationRequest",
    "ConversationsReply",
    "Copy",
    "Diagnosis",
    "Done",
    "EmbedderReply",
    "EmbedderRequest",
    "Embedding",
    "Enrichment",
    "EnrichmentRequest",
    "Estimate",
    "EstimateRequest",
    "Event",
    "FactChanged",
    "FactRevision",
    "FactsReply",
    "Failed",
    "FailedJob",
    "FailureClass",
    "FeedbackRequest",
    "Folder",
    "FolderRequest",
    "FoldersReply",
    "ForgetRequest",
    "Forgotten",
    "Found",
    "Graded",
    "HeldValue",
    "Hello",
    "HistoryReply",
    "Hub",
    "Judged",
    "KnownFact",
    "LearnRequest",
    "Learnt",
    "LostPassage",
    "Message",
    "MessagesReply",
    "ModelRole",
    "ModelRow",
    "ModelsReply",
    "Names",
    "NamesRequest",
    "Night",
    "Notice",
    "Passage",
    "Period",
    "ProbeRequest",
    "Progress",
    "RebuildRequest",
    "Rebuilt",
    "RecallReply",
    "RecallRequest",
    "RememberRequest",
    "Remembered",
    "Retried",
    "RetryRequest",
    "RevisionsReply",
    "RoleRequest",
    "Skipped",
    "SourceChanged",
    "SourceRow",
    "SourcesReply",
    "Stage",
    "Status",
    "Strand",
    "Trace",
    "TracesReply",
    "Unlearnt",
    "UsedSource",
    "VerdictRequest",
    "Visited",
    "WhyNotReply",
    "WhyReply",
    "Within",
    "decode",
    "encode",
    "event_line",
    "parse_event",
]
