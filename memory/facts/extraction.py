"""Extractions: the relations, theses and objects of an episode's words, with names not yet resolved to objects.

Rules and models both make an `Extraction`; all that follows (resolution, assertion, supersession) is the same for both.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.nouns import Modality

# How many values a subject has at a time; "one in document": the document and its versions tell one.
Cardinality = Literal["one", "one in document", "many", "unknown"]

OWNER = "owner"  # as a subject or object: the person whose memory this is, who wrote the note in the first person


@dataclass(frozen=True, slots=True)
class ExtractedObject:
    """An object that a passage speaks of. `kind`: person | place | organisation | product | event | concept | ..."""

    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """One typed relation. `subject` and `object` are names as written, or `OWNER`; a value ("0.13", "4 mg") is an
    object too. `predicate` is in words: "lives in".

    [start, end) is the quote in the episode's text, -1 where it stands in the source's properties. Valid times are of
    the world; None is open. `past`: held once and no longer, at the time of its episode; `negated`: does not hold.
    `replaces` is the value of which the passage itself says that it held before ("from 120 to 135"). `cardinality`
    says whether a subject has one value of this predicate at a time, where the form of the statement shows it.
    """

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    modality: Modality = "asserted"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    replaces: str | None = None
    cardinality: Cardinality = "unknown"
    conf: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedThesis:
    """A self-contained statement about `objects`, with the quote it was made from."""

    text: str
    objects: tuple[str, ...]
    start: int
    end: int
    modality: Modality = "asserted"
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was extracted from one episode."""

    relations: tuple[ExtractedRelation, ...] = ()
    theses: tuple[ExtractedThesis, ...] = ()
    objects: tuple[ExtractedObject, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.relations or self.theses or self.objects)


NOTHING_EXTRACTED = Extraction()
