"""The contract between the daemon and every client: requests, replies and events, as frozen dataclasses.

Standard library only, no I/O. What the library has a noun for is that noun. On the wire a value is a JSON object; an
event carries its name in `"type"` (its class, or what `codec.TAGS` calls it), so that a stream of newline-delimited
JSON can be decoded line by line with `parse_event`. Times are ISO 8601 strings with an offset.

A question's stream:  Stage*  Visited*  (Chunk | Cited)*  then one Answered or one Failed.
An ingestion's stream: Progress*  Skipped*  then one Added or one Failed.
A rebuild's stream: Progress*  then one Rebuilt or one Failed.
Learning's stream: Progress*  then one Trained or one Failed.
A probe's stream:  Progress*  then one Graded or one Failed.
An export's stream: lines of JSON whose "type" says what they tell: palimpsest first, end last, or one Failed.
The activity stream:  Progress, SourceChanged, FactChanged, Skipped, Embedding, Notice, as long as the client listens.

Requests; the fields of a body are the parameters of the same call in `daemon.client`:

    GET    /hello                                     -> Hello
    GET    /status                                    -> Status
    GET    /home?since=&day=, /suggestions            -> Home, SuggestionsReply
    GET    /diff?since=&until=&limit=                 -> DiffReply
    POST   /ask                                       -> question stream
    POST   /recall, /context                          -> RecallReply, TaskContext
    GET    /folders                                   -> FoldersReply
    POST   /folders, /folders/remove                  -> Folder, Forgotten
    GET    /folders/gone?path=                        -> GoneReply
    POST   /folders/gone                              -> Folder
    POST   /remember, /forget, /add                   -> Receipt, Forgotten, ingestion stream
    GET    /agents                                    -> AgentsReply
    POST   /agents/remember, /agents/undo             -> KeptNote, AgentUndone
    POST   /capture                                   -> Captured
    POST   /estimate, /count                          -> Estimate, Counted
    GET    /sources?query=&limit=                     -> SourcesReply
    GET    /retired?limit=                            -> RetiredReply
    GET    /skipped?match=&limit=                     -> SkippedReply
    GET    /facts?about=NAME&as_of=&known_on=&history= -> FactsReply
    GET    /history?about=NAME                        -> HistoryReply
    GET    /revisions?state=&about=NAME&limit=        -> RevisionsReply
    GET    /revisions/{id}                            -> Revision
    POST   /revisions/{id}                            -> Revision
    POST   /names                                     -> Names
    GET    /names?begin=&limit=, /tags                -> NamesReply, TagsReply
    GET    /neighbourhood?about=&depth=&limit=&as_of= -> Neighbourhood
    GET    /graph?about=&limit=                       -> GraphReply
    GET    /strategies                                -> StrategiesReply
    GET    /profile                                   -> ProfileReply
    POST   /profile, /profile/remove                  -> ProfileReply
    GET    /episodes/{id}                             -> Passage
    GET    /episodes/{id}/around                      -> Surroundings
    GET    /traces?limit=&offset=                     -> TracesReply
    GET    /traces/{id}                               -> Trace
    POST   /traces/{id}/again                         -> question stream: the same question, asked now
    POST   /traces/{id}/feedback                      -> Judged
    GET    /traces/{id}/why                           -> Why
    GET    /traces/{id}/whynot?words=                 -> WhyNotReply
    GET    /check                                     -> Check
    POST   /secrets                                   -> SecretsReply; over the socket alone, never over TCP
    GET    /secrets/places                            -> SecretPlacesReply, the same
    GET    /export?kinds=                             -> export's stream
    GET    /secrets/export?kinds=                     -> the same, with what is masked; never over TCP
    POST   /backup                                    -> BackedUp
    GET    /diagnosis?limit=                          -> Diagnosis
    POST   /rebuild                                   -> rebuild stream
    POST   /train, /train/undo                        -> learning's stream, TrainingUndone
    GET    /plugins                                   -> PluginsReply
    GET    /embedder                                  -> EmbedderReply
    POST   /embedder                                  -> EmbedderReply, as soon as its model is loaded
    GET    /models                                    -> ModelsReply
    POST   /models/use, /models/probe                 -> ModelsReply, probe stream
    POST   /models/try                                -> Tried, what a model said that was asked for one word
    POST   /enrichment, /enrichment/retry             -> Enrichment, Retried
    GET    /conversations, /conversations/{id}        -> ConversationsReply, MessagesReply
    POST   /conversations; PUT /conversations/{id}    -> Conversation
    DELETE /conversations/{id}                        -> nothing
    POST   /conversations/{id}/fork                   -> Conversation, a new one with the first messages of this one
    GET    /messages?words=&limit=                    -> MatchesReply
    GET    /activity                                  -> activity stream
    POST   /consolidate                               -> ConsolidationReport
    POST   /page, /page/close                         -> PageLink, PageClosed
    POST   /stop                                      -> nothing; then the daemon ends
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from daemon.wire.codec import TAGS
from daemon.wire.codec import decode as decode
from daemon.wire.codec import encode as encode
from daemon.wire.codec import encode_event as encode_event
from daemon.wire.codec import event_line as event_line

if TYPE_CHECKING:
    from daemon.wire.agents import *
    from daemon.wire.chats import *
    from daemon.wire.completion import *
    from daemon.wire.documents import *
    from daemon.wire.enrichment import *
    from daemon.wire.facts import *
    from daemon.wire.graph import *
    from daemon.wire.home import *
    from daemon.wire.models import *
    from daemon.wire.objects import *
    from daemon.wire.page import *
    from daemon.wire.process import *
    from daemon.wire.questions import *
    from daemon.wire.secrets import *
    from daemon.wire.status import *
    from daemon.wire.traces import *
    from daemon.wire.training import *
    from memory.events import AnswerLine as AnswerLine
    from memory.events import Citation as Citation
    from memory.events import Event as Event
    from memory.events import Preview as Preview
    from memory.events import Scope as Scope
    from memory.events import Step as Step
    from memory.events import Token as Token
    from memory.events import Visit as Visit
    from memory.events import Writing as Writing
    from memory.events import counted_in as counted_in
    from memory.events import file_of as file_of
    from memory.events import name_place as name_place
    from memory.events import name_position as name_position
    from memory.events import split_lines as split_lines
    from memory.insight.diagnosis import *
    from memory.nouns import AnswerChange as AnswerChange
    from memory.nouns import ChatMessage as ChatMessage
    from memory.nouns import Check as Check
    from memory.nouns import ContextLine as ContextLine
    from memory.nouns import ContextSource as ContextSource
    from memory.nouns import Conversation as Conversation
    from memory.nouns import ConversationMatch as ConversationMatch
    from memory.nouns import ConversationState as ConversationState
    from memory.nouns import Copy as Copy
    from memory.nouns import Fact as Fact
    from memory.nouns import Forgotten as Forgotten
    from memory.nouns import ListedSource as ListedSource
    from memory.nouns import PlannedEntry as PlannedEntry
    from memory.nouns import Profile as Profile
    from memory.nouns import ProfileEntry as ProfileEntry
    from memory.nouns import Receipt as Receipt
    from memory.nouns import RetiredText as RetiredText
    from memory.nouns import Revision as Revision
    from memory.nouns import TaskContext as TaskContext
    from memory.nouns import Turn as Turn
    from memory.nouns import agent_of as agent_of
    from memory.stages import *
    from memory.text.placeholders import fill_placeholders as fill_placeholders
    from memory.text.placeholders import find_placeholders as find_placeholders
    from memory.trace import Asked as Asked
    from memory.trace import Hop as Hop
    from memory.trace import Used as Used
    from memory.trace import Why as Why

TIERS = {"R0": "replay", "R2": "search", "R3": "guided", "R4": "agent"}  # how far a question went, in words
PROTOCOL = 1  # raised when a client of the version before could misread what it gets

# module -> its types. A module is imported when one of its types is first asked for: each dataclass takes half a
# millisecond to make, and a command needs few of them.
MODULES = {
    "process": "Hello Failed",
    "questions": "Answered Told Found Passage RecallReply Surroundings",
    "traces": "Judged TracesReply Trace LostPassage WhyNotReply Rebuilt",
    "facts": "FactsReply Names RevisionsReply HeldValue Strand HistoryReply ProfileReply FactChanged",
    "home": "Home SuggestionsReply ChangedSource DiffReply",
    "documents": "Added Progress Skipped SkippedReply SourceChanged SourcesReply RetiredReply Folder GoneReply "
    "FoldersReply Counted Estimate",
    "models": "ModelRow ModelRole ModelsReply Tried Graded EmbedderReply Embedding",
    "plugins": "Addition Plugin PluginsReply",
    "enrichment": "FailedJob Enrichment Retried",
    "training": "Trained TrainingUndone",
    "objects": "FoundObject FoundObjects FoundFacts FoundNotes MentionedIn Neighbour ObjectReply NoteReply PlansReply"
    " Corrected",
    "graph": "GraphNode GraphEdge GraphReply NearNode NearEdge Neighbourhood",
    "completion": "NamesReply StrategiesReply Tag TagsReply",
    "page": "PageLink PageClosed",
    "agents": "KeptNote Agent AgentsReply AgentUndone Captured",
    "secrets": "SecretsReply SecretPlace SecretPlacesReply",
    "chats": "ConversationsReply MessagesReply MatchesReply",
    "status": "Night Disk Upkeep Erasing ScheduledJob Status Notice BackedUp",
}
# The nouns of the library that clients get as they are: values, of the standard library only.
NOUNS = {
    "memory.events": "Event Scope Step Visit Preview Writing Token Citation AnswerLine counted_in file_of name_place"
    " name_position split_lines",
    "memory.nouns": "Copy Forgotten Conversation ConversationMatch ConversationState AnswerChange ChatMessage"
    " ListedSource RetiredText PlannedEntry Fact Revision Receipt Check Profile ProfileEntry TaskContext ContextLine"
    " ContextSource Turn agent_of",
    "memory.text.placeholders": "find_placeholders fill_placeholders",
    "memory.trace": "Asked Hop Used Why",
    "memory.stages": "AnalysisNote TimeNote ScopeNote TextNote SeedNote RerankNote RankNote "
    "RouteNote ComposeNote GuidedNote AgentNote",
    "memory.insight.diagnosis": "FailureClass Hub AliasSuspect Period Diagnosis ConsolidationReport",
}
_HOME = {name: f"daemon.wire.{module}" for module, names in MODULES.items() for name in names.split()}
_HOME |= {name: module for module, names in NOUNS.items() for name in names.split()}
_CLASSES = {tag: name for name, tag in TAGS.items()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def parse_event(line: bytes | str) -> Event:
    """A line of a stream -> its event. Raises ValueError if it is none."""
    data = json.loads(line)
    tag = data.pop("type", None) if isinstance(data, dict) else None
    name = _CLASSES.get(tag, tag) if isinstance(tag, str) else None
    kind = __getattr__(name) if name in _HOME else None
    if kind is None or not issubclass(kind, __getattr__("Event")):
        raise ValueError(f"no event of this protocol: {tag!r}")
    event: Event = decode(kind, data)
    return event
