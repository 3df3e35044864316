"""Places: what the subject of a field, cell or task is, by where it is written.

The subject is the note, or what a heading of it names where each heading is a record of its own, as in an address book,
or an event. Below another heading the heading is part of the key: "vet phone". A note or heading that is only a date or
a version is an entry of a log, and is the subject of nothing.
"""

from functools import lru_cache
from typing import NamedTuple

from memory.facts.extraction import OWNER
from memory.facts.rules.passages import Line, Passage
from memory.facts.rules.phrases import clean, names_log_entry
from memory.text.versions import split_version
from memory.text.words import EVENT_TIME


class FactPlace(NamedTuple):
    """The subject of what is written somewhere, and the heading that qualifies its keys, "" where none does."""

    subject: str
    section: str

    def predicate(self, key: str) -> str:
        return f"{self.section} {key}" if self.section else key


class Places:
    """The places of a passage. `title` is its note's title and headings, `things` the headings of the note that are
    each a record (`fields.find_things`)."""

    def __init__(self, passage: Passage, title: str, things: frozenset[str], is_about_owner: bool) -> None:
        name, _ = split_version(title.split(" › ")[0])
        self._note = OWNER if is_about_owner else "" if names_log_entry(name) else clean(name)
        self._things = things
        self._has_chapters = clean(name).casefold() in _fold(things)
        self._events = {
            line.section for line in passage.lines if EVENT_TIME.match(passage.text, line.start, line.end)
        } - {""}

    @property
    def note(self) -> str:
        """What the note as a whole is about; "" for a page of a diary."""
        return self._note

    def find(self, line: Line) -> FactPlace | None:
        """The place of a line; None in an entry of a log."""
        section, chapter = clean(line.section), clean(line.chapter)
        if line.section in self._events or line.section in self._things:
            return FactPlace(section, "")
        if names_log_entry(section) or names_log_entry(chapter):
            return None
        subject = self._note
        if line.chapter in self._things:
            subject, section = (chapter, section) if self._has_chapters else (subject, section or chapter)
        return FactPlace(subject, "" if section.casefold() == subject.casefold() else section) if subject else None


@lru_cache(maxsize=1)
def _fold(things: frozenset[str]) -> frozenset[str]:
    """The names of the things of a note: once for all its episodes, since a note may have as many headings as words."""
    return frozenset(clean(thing).casefold() for thing in things)
