"""Questions that were asked, verdicts, chat sessions; objects, facts and their changes, notes, passages, plans."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from memory.events import Event, Step
from memory.nouns import Fact, Passage, Profile
from memory.revisions import Revision
from memory.trace import AskedQuestion, Opinion
from memory.views import (
    AliasSuspect,
    ChatMessage,
    Conversation,
    FoundObject,
    ListedSource,
    PlannedEntry,
)


@dataclass(frozen=True, slots=True)
class VerdictReply:
    """`before`: the earlier verdict; the answer cites `passages` passages: without any, nothing is learnt."""

    asked: AskedQuestion
    before: Opinion | None
    passages: int


@dataclass(frozen=True, slots=True)
class TracesReply:
    """The questions, newest first; `total` counts all."""

    traces: tuple[AskedQuestion, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Rebuilt(Event):
    """The end of a rebuild: the number of `edges` with memory, of `passages` in the full text, of `vectors`, and of
    `rows` restored from a backup; 0 for what was not requested."""

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
class Names:
    """A decision about two names. `replaced`: the number of replacements between their facts made or undone by it."""

    one: str
    other: str
    same: bool
    replaced: int


@dataclass(frozen=True, slots=True)
class RevisionsReply:
    """The revisions. `open` counts all undecided ones; `alias_suspects`: names that may mean one object, since facts of
    one replaced or repeated facts of the other."""

    revisions: tuple[Revision, ...]
    open: int
    alias_suspects: tuple[AliasSuspect, ...] = ()


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
class Corrected:
    """The fact before the correction, and after it."""

    old: Fact
    new: Fact | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """The newest changes and the newest sources read `since` (none without it), the newest revision to review, and the
    plans for the next days or overdue by two weeks at most, and the newest `overdue` tasks; each with its total. With a
    `day`: the changes up to its end, and the plans from it on."""

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
    overdue: tuple[PlannedEntry, ...] = ()
    overdue_total: int = 0


@dataclass(frozen=True, slots=True)
class SuggestionsReply:
    """Questions that have an answer in this memory; the notes read last, newest first; and the names that they mention
    most."""

    questions: tuple[str, ...] = ()
    notes: tuple[ListedSource, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedStatement(Event):
    """A person's statement, `text`, and the rest of what they typed, `besides`. `source`: the note that stores it; ""
    if they have not agreed to storing statements yet. `changes`: its effects on older facts."""

    text: str
    source: str = ""
    episode_id: int | None = None
    besides: str = ""
    changes: tuple[Revision, ...] = ()


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
        """Returns the words looked up if no passage in scope has any of them and they name nothing: the hits are then
        only the nearest in meaning."""
        from memory.stages import AnalysisNote, SeedNote, TextNote, last_note

        analysis, text = last_note(AnalysisNote, self.steps), last_note(TextNote, self.steps)
        if analysis is None or text is None or analysis.time or text.lexical:
            return ()
        named = last_note(SeedNote, self.steps)
        return () if named is not None and named.objects else analysis.terms
