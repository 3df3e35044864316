"""Questions that were asked, verdicts, chat sessions; objects, facts and their changes, notes, passages, plans."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from memory.events import Event, Step
from memory.nouns import Fact, Passage, Profile
from memory.revisions import Revision
from memory.trace import Asked, Opinion
from memory.views import (
    AliasSuspect,
    ChatMessage,
    Conversation,
    FoundObject,
    ListedSource,
    MentionedIn,
    Neighbour,
    PlannedEntry,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """`before` is the earlier verdict; the answer cites `passages` of them, and if that is 0 nothing is learnt."""

    asked: Asked
    before: Opinion | None
    passages: int


@dataclass(frozen=True, slots=True)
class TracesReply:
    """The questions, the newest first; `total` is how many there are."""

    traces: tuple[Asked, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Rebuilt(Event):
    """The end of a rebuild: how many `edges` remember something now, how many `passages` are in the full
    text, how many have `vectors`, and how many `rows` a backup gave; 0 for what was not asked for."""

    edges: int = 0
    passages: int = 0
    vectors: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class MessagesReply:
    """A chat session and its messages."""

    conversation: Conversation
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True, slots=True)
class TrainingUndone:
    """Whether the training was undone, and whether the scorer before it is used again."""

    undone: bool
    earlier: bool


@dataclass(frozen=True, slots=True)
class FactsReply:
    """The facts. `disputes` are the open revisions of kind "contradicts" between two of them."""

    about: str
    facts: tuple[Fact, ...]
    disputes: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """A decision about two names. `replaced`: how many facts replaced others because of it, or no longer do."""

    one: str
    other: str
    same: bool
    replaced: int


@dataclass(frozen=True, slots=True)
class RevisionsReply:
    """The revisions. `open` counts all that are undecided; `told_as_one`: names that may mean one object, since facts
    of one replaced or repeated facts of the other."""

    revisions: tuple[Revision, ...]
    open: int
    told_as_one: tuple[AliasSuspect, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldValue:
    """One value of a strand: its fact, and the revision that ended it."""

    fact: Fact
    ended: Revision | None = None


@dataclass(frozen=True, slots=True)
class Strand:
    """What one subject had with one predicate, in order of time; or what a note said in place of what it had said: then
    `subject` is its name, and there is no predicate."""

    subject: str
    predicate: str
    values: tuple[HeldValue, ...]


@dataclass(frozen=True, slots=True)
class HistoryReply:
    """The timelines of an object; what changed last comes first."""

    about: str
    strands: tuple[Strand, ...]


@dataclass(frozen=True, slots=True)
class ProfileReply:
    """The owner's profile, and the revisions that a new entry made."""

    profile: Profile
    revisions: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class FactChanged(Event):
    """A fact was replaced, or somebody settled or undid that."""

    revision: Revision


@dataclass(frozen=True, slots=True)
class SearchReply:
    """The objects, facts or notes with the words; `total` is how many there are."""

    total: int
    objects: tuple[FoundObject, ...] = ()
    facts: tuple[Fact, ...] = ()
    notes: tuple[ListedSource, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectReply:
    """One object: the facts that hold, how each changed, the newest notes that mention it (`notes_total` in all), and
    its neighbours."""

    name: str
    names: tuple[str, ...]
    facts: tuple[Fact, ...]
    strands: tuple[Strand, ...]
    notes: tuple[MentionedIn, ...]
    notes_total: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class NoteReply:
    """What was read of one source, and when. `models` have read facts from it, as rules have; `facts` are those;
    `passages` are the first of the source's `episodes`."""

    source: ListedSource
    read: datetime | None
    tags: tuple[str, ...]
    models: tuple[str, ...]
    passages: tuple[Passage, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PlansReply:
    """The plans from today on, or overdue; and the tasks of all notes, each a fact whose value is open, done or
    dropped."""

    planned: tuple[PlannedEntry, ...]
    tasks: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Corrected:
    """The fact before the correction, and after it."""

    old: Fact
    new: Fact | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """The newest changes and the newest sources read `since` (nothing without it), the newest revision to review, and
    the plans for the next days or overdue; each with how many there are. With a `day`: the changes up to its end, and
    the plans from it on."""

    since: datetime | None = None
    changed: tuple[Revision, ...] = ()
    changed_total: int = 0
    read: tuple[ListedSource, ...] = ()
    read_total: int = 0
    review: Revision | None = None
    review_total: int = 0
    planned: tuple[PlannedEntry, ...] = ()
    planned_total: int = 0
    day: str = ""


@dataclass(frozen=True, slots=True)
class SuggestionsReply:
    """Questions that have an answer in this memory; the notes that were read last, the newest first, and the names that
    most of them mention."""

    questions: tuple[str, ...] = ()
    notes: tuple[ListedSource, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told(Event):
    """What a person tells in what they typed, `text`, and what they ask `besides`, if anything. `source` is the note
    that it is kept as; "" where they have not said yet whether such is to be kept. `changes`: what it did to older
    facts."""

    text: str
    source: str = ""
    episode_id: int | None = None
    besides: str = ""
    changes: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The passages before and after one in its source, and the source's properties: frontmatter, mail headers."""

    before: Passage | None = None
    after: Passage | None = None
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    passage: Passage
    score: float
    channels: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecallReply:
    hits: tuple[Found, ...]
    ms: float
    steps: tuple[Step, ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """The words that were looked for, where no passage in reach has any of them and they name nothing: then the
        hits are what comes nearest in meaning, however far that is."""
        from memory.stages import AnalysisNote, SeedNote, TextNote, last_note

        analysis, text = last_note(AnalysisNote, self.steps), last_note(TextNote, self.steps)
        if analysis is None or text is None or analysis.time or text.lexical:
            return ()
        named = last_note(SeedNote, self.steps)
        return () if named is not None and named.objects else analysis.terms
