"""Extractions: the relations, theses and objects in an episode, with names not yet resolved to objects.

Rules and models both make an `Extraction`; resolution, assertion and supersession are the same for both."""

from dataclasses import dataclass
from datetime import datetime

from memory.nouns import Modality
from memory.time.timestamps import to_wall

OWNER = "owner"  # as a subject or object: the person whose memory this is, who wrote the note in the first person


@dataclass(frozen=True, slots=True)
class ExtractedObject:
    """An object that a passage mentions. `kind`: person | place | organisation | product | event | concept | ..."""

    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """A typed relation. `subject` and `object` are names as written, or `OWNER`; a value ("0.13", "4 mg") is an object
    too. `predicate` is in words: "lives in". [start, end) is the quote in the episode's text, -1 if it is in the
    source's properties. Valid times are of the world, None is open. `past`: no longer true at the time of its episode;
    `negated`: not true. `by_place`: the subject is what contains the words (a note, a record, a row, a task), not every
    object of that name. `single`: the form of the statement shows that the subject has one value at a time."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    modality: Modality = "asserted"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    by_place: bool = False
    single: bool = False
    conf: float = 1.0

    def valid_time(self, at: int | None) -> tuple[int | None, int | None]:
        """Returns its begin and end, ms UTC: as stated, by default from `at` on, or until `at` if past."""
        start, end = to_wall(self.valid_from), to_wall(self.valid_to)
        holds = self.modality in ("asserted", "negated", "plan")
        if start is None and holds and (end is None or at is None or at < end):
            start = at
        if self.modality == "past" and end is None:
            end = at
        if start is not None and end is not None and end < start:
            end = None if self.modality != "past" else start
        return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedThesis:
    """A self-contained statement about `objects`, with its quote."""

    text: str
    objects: tuple[str, ...]
    start: int
    end: int
    modality: Modality = "asserted"
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything extracted from one episode."""

    relations: tuple[ExtractedRelation, ...] = ()
    theses: tuple[ExtractedThesis, ...] = ()
    objects: tuple[ExtractedObject, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.relations or self.theses or self.objects)


NOTHING_EXTRACTED = Extraction()
