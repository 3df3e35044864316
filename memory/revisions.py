"""Revisions: the effect of a newer fact on an older one, in words that every client shows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.nouns import Fact, FactRelation, RevisionState

_RELATIONS = {  # its name, its meaning, and what its two facts are called
    "supersedes": ("Replaced", "The new one replaced the old one.", "Before", "Now"),
    "negates": ("Ended", "The old one ended without a replacement.", "Before", "Now"),
    "contradicts": (
        "Two notes disagree", "Both cannot be true; both stay until you decide.", "One says", "Another says",
    ),
    "duplicates": ("Duplicate", "Both say the same and count once.", "First", "Again"),
}  # fmt: skip
_OUTCOMES = {
    "undo": "undone; both facts are restored.",
    "both": "both are true.",
    "old": "the old one is right; the new one was never true.",
    "keep": "the new one is right.",
    "open": "it is not decided yet.",
}


@dataclass(frozen=True, slots=True)
class Revision:
    """The effect of a newer fact on an older one. `supersedes`: the new one is valid from its time on, the old one
    until then; `negates`: the old one ended without a successor; `contradicts`: they cannot both be valid and it is
    unknown which is, so both stay until a person decides; `duplicates`: the new one says the same as the old one, which
    now replaces both. `open`: undecided; `kept`: the new fact is valid; `undone`: the old one is restored; `settled`:
    both are valid. `reason` is a sentence."""

    id: int
    relation: Literal["supersedes", "negates", "contradicts", "duplicates"]
    old: Fact
    new: Fact
    reason: str
    author: Literal["rule", "model", "user"]
    confidence: float
    state: RevisionState
    at: datetime
    settled: datetime | None = None

    @property
    def title(self) -> str:
        """`Replaced`, `Two notes disagree`."""
        return _RELATIONS[self.relation][0]

    @property
    def sides(self) -> tuple[str, ...]:
        """The headings of the old fact and the new one."""
        return _RELATIONS[self.relation][2:]

    @property
    def explanation(self) -> str:
        """The reason why the memory assumes it, in a few sentences."""
        finder = {"rule": "Found by a rule.", "user": "You said so."}.get(self.author)
        finder = finder or f"Found by a model that is {self.confidence:.0%} sure."
        return f"{_RELATIONS[self.relation][1]} {self.reason} {finder}"

    @property
    def verdict(self) -> str:
        """The verdict that leads to its present state."""
        if self.state == "kept":
            return "old" if self.new.retired and self.relation != "duplicates" else "keep"
        return {"settled": "both", "undone": "undo", "open": "open"}[self.state]

    @property
    def outcome(self) -> str:
        """The result, in a sentence."""
        if self.verdict == "keep" and self.relation == "duplicates":
            return "one fact, stated twice."
        return _OUTCOMES[self.verdict]


@dataclass(frozen=True, slots=True)
class TimelineValue:
    """A value of a timeline: its fact, and the revision that ended it."""

    fact: Fact
    ended: Revision | None = None


@dataclass(frozen=True, slots=True)
class FactTimeline:
    """The timeline of one subject and predicate; or the versions of a sentence in a note: then `subject` is the note's
    name, and there is no predicate."""

    subject: str
    predicate: str
    values: tuple[TimelineValue, ...]


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """The result of asserting extractions: ids of new facts, of their revisions, and the pairs (old, new) of facts that
    no rule can judge."""

    facts: tuple[int, ...] = ()
    revisions: tuple[int, ...] = ()
    undecided: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A model's judgement of two facts, by their ids: the effect of the new one on the old one. `confidence` in [0, 1],
    `words`: its evidence, as far as the model quotes it."""

    old: int
    new: int
    relation: FactRelation
    confidence: float
    words: str = ""
