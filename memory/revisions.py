"""What a newer fact does to an older one, and the words for it that every client shows."""

from __future__ import annotations

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
    "undo": "undone; both facts are as they were before.",
    "both": "both are true.",
    "old": "the old one is right; the new one was never true.",
    "keep": "the new one is right.",
    "open": "it is not decided yet.",
}


@dataclass(frozen=True, slots=True)
class Revision:
    """What a newer fact does to an older one.

    `supersedes`: the new one is valid from its time on, the old one until then; `negates`: the old one ended without a
    successor; `contradicts`: they cannot both be valid and it is unknown which is, so both stay until a person decides;
    `duplicates`: the new one says the same as the old one, which now replaces both.
    `open`: nobody has looked at it yet; `kept`: the new fact is valid; `undone`: the old one is restored; `settled`:
    both are valid. `reason` is a sentence.
    """

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
        """What the old fact and the new one are called."""
        return _RELATIONS[self.relation][2:]

    @property
    def explanation(self) -> str:
        """Why the memory assumes it, in a few sentences."""
        finder = {"rule": "Found by a rule.", "user": "You said so."}.get(self.author)
        finder = finder or f"Found by a model that is {self.confidence:.0%} sure."
        return f"{_RELATIONS[self.relation][1]} {self.reason} {finder}"

    @property
    def verdict(self) -> str:
        """The verdict that would bring it to where it is."""
        if self.state == "kept":
            return "old" if self.new.retired and self.relation != "duplicates" else "keep"
        return {"settled": "both", "undone": "undo", "open": "open"}[self.state]

    @property
    def outcome(self) -> str:
        """What became of it, in a sentence."""
        if self.verdict == "keep" and self.relation == "duplicates":
            return "one fact, stated twice."
        return _OUTCOMES[self.verdict]


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """What asserting extractions did: ids of new facts, of the revisions they led to, and the pairs (old, new) of
    facts that no rule can judge."""

    facts: tuple[int, ...] = ()
    revisions: tuple[int, ...] = ()
    undecided: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A judgement of a model on two facts, by their ids: what the new one does to the old one. `confidence` in [0, 1],
    `words`: its evidence, as far as the model quotes it."""

    old: int
    new: int
    relation: FactRelation
    confidence: float
    words: str = ""
