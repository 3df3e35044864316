"""The contract between the daemon and every client: requests, replies and events, as frozen dataclasses.

Standard library only, no I/O. On the wire a value is a JSON object; an event carries its class name in
`"type"`, so that a stream of newline-delimited JSON can be decoded line by line with `parse_event`.
Times are ISO 8601 strings with an offset.

A question's stream:  Stage*  Visited*  (Chunk | Cited)*  then one Answered or one Failed.
An ingestion's stream: Progress*  Skipped*  then one Added or one Failed.
A rebuild's stream: Progress*  then one Rebuilt or one Failed.
Learning's stream: Progress*  then one Trained or one Failed.
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
    GET    /revisions/{id}                            -> Revision
    POST   /names            NamesRequest             -> Names
    GET    /episodes/{id}                             -> Passage
    GET    /traces?limit=&offset=                     -> TracesReply
    GET    /traces/{id}                               -> Trace
    POST   /traces/{id}/again                         -> question stream: the same question, asked now
    GET    /traces/{id}/why                           -> WhyReply
    GET    /traces/{id}/whynot?words=                 -> WhyNotReply
    GET    /check                                     -> Check
    GET    /diagnosis?limit=                          -> Diagnosis
    POST   /train/undo                                -> TrainingUndone
    GET    /embedder                                  -> EmbedderReply
    GET    /models                                    -> ModelsReply
    GET    /conversations, /conversations/{id}        -> ConversationsReply, MessagesReply
    DELETE /conversations/{id}                        -> Done
    GET    /activity                                  -> activity stream
    POST   /consolidate                               -> ConsolidationReport
    POST   /stop                                      -> Done, then the daemon ends
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from daemon.wire.codec import Event as Event
from daemon.wire.codec import decode as decode
from daemon.wire.codec import encode as encode
from daemon.wire.codec import event_line as event_line

if TYPE_CHECKING:
    from daemon.wire.chats import *
    from daemon.wire.documents import *
    from daemon.wire.enrichment import *
    from daemon.wire.facts import *
    from daemon.wire.models import *
    from daemon.wire.process import *
    from daemon.wire.questions import *
    from daemon.wire.status import *
    from daemon.wire.traces import *
    from daemon.wire.training import *
    from memory.insight.diagnosis import *
    from memory.nouns import Check as Check
    from memory.nouns import Fact as Fact
    from memory.nouns import Receipt as Receipt
    from memory.nouns import Revision as Revision
    from memory.stages import *
    from memory.trace import Asked as Asked

TIERS = {"R0": "replay", "R2": "search", "R3": "guided", "R4": "agent"}  # how far a question went, in words
PROTOCOL = 1  # raised when a client of the version before could misread what it gets

# module -> its types. A module is imported when one of its types is first asked for: each dataclass takes half a
# millisecond to make, and a command needs few of them.
MODULES = {
    "process": "Hello Done Failed",
    "questions": "Within AskRequest RecallRequest Stage Visited Chunk Cited Answered Passage Found RecallReply",
    "traces": "Judged TracesReply Trace UsedSource WhyReply LostPassage WhyNotReply FeedbackRequest "
    "RebuildRequest Rebuilt",
    "facts": "FactsReply Names RevisionsReply HeldValue Strand HistoryReply FactChanged VerdictRequest NamesRequest",
    "documents": "RememberRequest AddRequest Added Progress Skipped SourceChanged SourceRow SourcesReply "
    "FolderRequest Folder FoldersReply ForgetRequest Copy Forgotten EstimateRequest Estimate",
    "models": "ModelRow ModelRole ModelsReply RoleRequest ProbeRequest Graded EmbedderReply EmbedderRequest Embedding",
    "enrichment": "FailedJob Enrichment EnrichmentRequest RetryRequest Retried",
    "training": "TrainRequest Trained TrainingUndone",
    "chats": "Conversation ConversationsReply Message MessagesReply ConversationRequest",
    "status": "Night Upkeep ScheduledJob Status Notice BackupRequest BackedUp",
}
# The nouns of the library that clients get as they are: values, of the standard library only.
NOUNS = {
    "memory.nouns": "Fact Revision Receipt Check",
    "memory.trace": "Asked",
    "memory.stages": "TextNote AnalysisNote ScopeNote TimeNote RouteNote ComposeNote GuidedNote AgentNote",
    "memory.insight.diagnosis": "FailureClass Hub AliasSuspect Period Diagnosis ConsolidationReport",
}
_HOME = {name: f"daemon.wire.{module}" for module, names in MODULES.items() for name in names.split()}
_HOME |= {name: module for module, names in NOUNS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def parse_event(line: bytes | str) -> Event:
    """A line of a stream -> its event. Raises ValueError if it is none."""
    data = json.loads(line)
    name = data.pop("type", None) if isinstance(data, dict) else None
    kind = __getattr__(name) if isinstance(name, str) and name in _HOME else None
    if kind is None or not issubclass(kind, Event):
        raise ValueError(f"no event of this protocol: {name!r}")
    event: Event = decode(kind, data)
    return event
