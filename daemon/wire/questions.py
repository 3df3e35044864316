"""A question: the end of its stream, the passages it finds."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.events import Answer, Event, Step
from memory.nouns import Passage
from memory.revisions import Revision


@dataclass(frozen=True, slots=True)
class Answered(Answer):
    """The end of a question: the answer, with the chat session it is kept in."""

    conversation: int | None = None
    ms: float = 0.0


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
