"""Places: the subject of a field, cell or task, by its position.

The subject is the note, or the object of a heading if each heading is a record, as in an address book, or an event.
Below another heading the heading is part of the key: "vet phone". A note or heading that is only a date or a version is
an entry of a log and no subject. A repeated key in one place is no fact about it."""

from typing import NamedTuple

from memory.facts.extraction import OWNER
from memory.facts.rules.passages import Line, PassageText
from memory.facts.rules.phrases import clean, names_log_entry
from memory.text.words import EVENT_TIME, split_version

MAX_NAME_WORDS = 6  # a longer heading is a sentence


class FactPlace(NamedTuple):
    """The subject of a place in the text, and the heading that qualifies its keys, "" without one."""

    subject: str
    section: str

    def predicate(self, key: str) -> str:
        return f"{self.section} {key}" if self.section else key


class Headings(NamedTuple):
    """The kinds of a note's headings: `records`, each a subject, and `sections` of the first level, which qualify the
    keys below them. `keys`: each unique key with its record, "" for the note; None if the whole note is not known."""

    records: frozenset[str] = frozenset()
    sections: frozenset[str] = frozenset()
    keys: frozenset[tuple[str, str]] | None = None

    def record(self, line: Line) -> str:
        """Returns the record of a line, "" for none."""
        return next((name for name in (line.section, line.chapter) if name in self.records), "")

    def holds_once(self, line: Line, key: str) -> bool:
        """Whether a key is unique in the record of its line."""
        return self.keys is None or (self.record(line), key.casefold()) in self.keys


class Places:
    """The places in a passage. `title`: its note's title and headings; `headings`: those of the whole note
    (`fields.find_headings`)."""

    def __init__(self, passage: PassageText, title: str, headings: Headings, is_about_owner: bool) -> None:
        name, _ = split_version(title.split(" › ")[0])
        # what the note as a whole is about; "" for a page of a diary
        self.note = OWNER if is_about_owner else "" if names_log_entry(name) else clean(name)
        self._headings = headings
        self._events = {
            line.section for line in passage.lines if EVENT_TIME.match(passage.text, line.start, line.end)
        } - {""}

    def find(self, line: Line, key: str = "") -> FactPlace | None:
        """Returns the place of a line, and of its `key`; None in an entry of a log, and for a repeated key."""
        section, chapter = clean(line.section), clean(line.chapter)
        if line.section in self._events:
            return FactPlace(section, "")
        if key and not self._headings.holds_once(line, key):
            return None
        if line.section in self._headings.records:
            return FactPlace(section, "")
        if names_log_entry(section) or names_log_entry(chapter):
            return None
        subject = chapter if line.chapter in self._headings.records else self.note
        if line.chapter in self._headings.sections:
            section = section or chapter
        if not subject or len(section.split()) > MAX_NAME_WORDS:
            return None
        return FactPlace(subject, "" if section.casefold() == subject.casefold() else section)
