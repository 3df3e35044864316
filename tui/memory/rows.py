"""The rows of the list on the page of the memory: things, facts, notes, the owner's profile."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Literal, NamedTuple

from daemon import wire
from daemon.terminal import count
from tui.wording import day, when

Kind = Literal["object", "note", "fact", "me"]
KINDS: Final = {"all": "All", "objects": "Things", "facts": "Facts", "notes": "Notes", "me": "Me"}


class Target(NamedTuple):
    """Something with its own page: an object by its name, a note by its uri, a fact or profile entry by value."""

    kind: Kind
    name: str
    fact: wire.Fact | None = None
    entry: wire.ProfileEntry | None = None
    title: str = ""

    def is_same(self, other: Target | None) -> bool:
        """Whether both have the same page, regardless of its content."""
        return other is not None and (self.kind, self.name) == (other.kind, other.name)


class Row(NamedTuple):
    """One line of the list: a label, and details at its right end. A row without a target, or with a `filter` that it
    selects, is not a thing itself."""

    text: str
    detail: str = ""
    target: Target | None = None
    filter: str = ""
    look: Literal["plain", "heading", "past"] = "plain"


def make_object_target(name: str) -> Target:
    return Target("object", name, title=name)


def make_note_target(uri: str, title: str) -> Target:
    return Target("note", uri, title=title)


def make_fact_target(fact: wire.Fact) -> Target:
    return Target("fact", str(fact.id), fact, title="Fact")


def make_object_row(thing: wire.FoundObject) -> Row:
    """Returns the row of a person, place or thing."""
    n_facts = count(thing.facts, "fact") if thing.facts else ""
    n_notes = count(thing.notes, "note") if thing.notes else ""
    return Row(thing.name, " · ".join(filter(None, (thing.kind, n_facts, n_notes))), make_object_target(thing.name))


def make_fact_row(fact: wire.Fact) -> Row:
    """Returns the row of a fact, dimmed if it is no longer valid."""
    return Row(fact.statement, fact.period, make_fact_target(fact), look="past" if fact.is_over else "plain")


def make_note_row(note: wire.ListedSource, now: datetime) -> Row:
    """Returns the row of a note, a file or a chat."""
    read = when(note.at, now) if note.at else ""
    passages = count(note.episodes, "passage") if note.episodes != 1 else ""
    name = note.title or note.uri.rpartition("/")[2]
    return Row(name, " · ".join(filter(None, (passages, read))), make_note_target(note.uri, name))


def make_entry_row(entry: wire.ProfileEntry) -> Row:
    """Returns the row of a profile entry."""
    value = ", ".join(fact.objects[-1] for fact in entry.facts)
    if not value:
        return Row(f"{entry.key}: {entry.before[0].objects[-1]}", "no longer", _make_entry_target(entry), look="past")
    since = entry.facts[0].since
    return Row(f"{entry.key}: {value}", f"since {since}" if since else "", _make_entry_target(entry))


def _make_entry_target(entry: wire.ProfileEntry) -> Target:
    return Target("me", entry.key, entry=entry, title=f"Your {entry.key}")


def group_rows(groups: Iterable[tuple[str, int, Iterable[Row]]]) -> list[Row]:
    """Returns groups rows under the names of their kinds, each with the total; hidden ones are one row away."""
    rows: list[Row] = []
    for kind, total, visible in groups:
        listed = list(visible)
        if listed:
            if rows:
                rows.append(Row("", look="heading"))
            rows.append(Row(KINDS.get(kind, kind), f"{total:,}" if total else "", look="heading"))
            rows += listed
            if total > len(listed):
                rows.append(Row(f"all {total:,} …", filter=kind))
    return rows


def holds_words(text: str, words: str) -> bool:
    """Whether a text has all the words, regardless of case, the last perhaps half typed."""
    folded = text.casefold()
    return all(word in folded for word in words.casefold().split())


def say_when_read(read: datetime | None) -> str:
    """`read 3 May 2026`."""
    return f"read {day(read)}" if read else ""
