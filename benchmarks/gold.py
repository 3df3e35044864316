"""What really changed in an invented person's life, and how well a memory saw it: the gold timeline of a persona.

A value stands in another text by the rules of `benchmarks.judge`; what counts as found follows the reference scorer
that comes with the data.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.judge import contains
from memory.nouns import Fact

SLACK = timedelta(days=31)  # by which what is told of an end and of a beginning may overlap
FACTS, UPDATES, NONUPDATES = "facts.jsonl", "updates.jsonl", "nonupdates.jsonl"
FACT: dict[str, type] = {"fact_id": str, "subject": str, "attribute": str, "value": str}
DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?:-(\d\d))?\b")
NUMBER = re.compile(r"(\d{1,2})( [a-z].*)")
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()
UPDATE: dict[str, type] = {
    "old_fact_id": str, "new_fact_id": str, "type": str, "old_path": str, "new_path": str, "date": str
}  # fmt: skip
NONUPDATE: dict[str, type] = {"path_a": str, "path_b": str}


@dataclass(frozen=True, slots=True)
class Change:
    """A value of a subject's attribute that another one replaced. `about` is "subject, attribute"; `date` is the day
    from which the new value holds."""

    about: str
    old: str
    new: str
    kind: str
    old_path: str
    new_path: str
    date: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """All changes of a persona, the values that its attributes ever had, and the pairs of files between which nothing
    changed though it looks so."""

    changes: tuple[Change, ...]
    values: Mapping[str, tuple[str, ...]]
    unchanged: frozenset[frozenset[str]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A replacement that was found: two values, and the files they stand in."""

    old: str
    new: str
    old_path: str
    new_path: str

    def row(self) -> dict[str, str]:
        """As the reference scorer reads it."""
        return {
            "old_path": self.old_path, "new_path": self.new_path,
            "old_value": spoken(self.old), "new_value": spoken(self.new),
        }  # fmt: skip


def load(persona: Path) -> Timeline:
    """The timeline in a persona's folder. Raises DataError with file and line."""
    facts = {row["fact_id"]: row for row in data.read_rows(persona / FACTS, FACT)}
    changes = []
    for row in data.read_rows(persona / UPDATES, UPDATE):
        for id in (row["old_fact_id"], row["new_fact_id"]):
            if id not in facts:
                raise command.DataError(f"{persona / UPDATES} names the fact {id}, which is not in {FACTS}.")
        old, new = facts[row["old_fact_id"]], facts[row["new_fact_id"]]
        changes.append(
            Change(
                _about(new), old["value"], new["value"], row["type"], row["old_path"], row["new_path"], row["date"]
            )
        )  # fmt: skip
    values: dict[str, tuple[str, ...]] = {}
    for fact in facts.values():
        values[_about(fact)] = (*values.get(_about(fact), ()), fact["value"])
    unchanged = (frozenset((row["path_a"], row["path_b"])) for row in data.read_rows(persona / NONUPDATES, NONUPDATE))
    return Timeline(tuple(changes), values, frozenset(unchanged))


def _about(fact: Mapping[str, Any]) -> str:
    return f"{fact['subject']}, {fact['attribute']}"


def same(one: str, found: str) -> bool:
    """Whether a value and one that was found are one: either stands in the other, as it is or as texts have it."""
    return contains(spoken(found), one) or contains(one, found)


def pair(old: Fact, new: Fact, root: str) -> Pair:
    """The values in which two facts differ; paths are relative to `root`, which ends with a slash."""
    return Pair(*differ(old, new), path_of(old.uri, root), path_of(new.uri, root))


def differ(old: Fact, new: Fact) -> tuple[str, str]:
    """What two facts do not have in common: the objects of relations, else their subjects, else the predicates; where
    the objects are one in other words ("the school"), and the subjects are not, these."""
    if old.kind != "relation" or new.kind != "relation":
        return old.text, new.text
    before, after = ((fact.objects[-1], fact.objects[0], fact.predicate or fact.text) for fact in (old, new))
    apart = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    objects, subjects = (before[0], after[0]), (before[1], after[1])
    if _overlap(*objects) and not _overlap(*subjects):
        return subjects
    return apart[0] if apart else (old.text, new.text)


def _overlap(one: str, other: str) -> bool:
    return contains(one, other) or contains(other, one)


def spoken(value: str) -> str:
    """A value as texts have it: a date also in words, a small number too."""
    if match := DATE.match(value):
        month = calendar.month_name[int(match[2])]
        day = int(match[3] or 0)
        words = f"{day} {month} {match[1]}, {month} {day}, {match[1]}" if day else f"{month} {match[1]}"
        return f"{value}, {words}"
    if (match := NUMBER.match(value)) and int(match[1]) < len(NUMBERS):
        return f"{value}, {NUMBERS[int(match[1])]}{match[2]}"
    return value


def path_of(uri: str, root: str) -> str:
    """The manifest's name of the file that a source came from."""
    return uri.partition("#")[0].removeprefix(root)


def alike(change: Change, found: Pair) -> bool:
    """Whether those are the two values of this change, whichever file tells it."""
    return same(change.old, found.old) and same(change.new, found.new)


def matches(change: Change, found: Pair) -> bool:
    """Whether that is this change: both values, told by one of its files."""
    return alike(change, found) and found.new_path in (change.new_path, change.old_path)


def score(timeline: Timeline, found: Sequence[Pair]) -> dict[str, Any]:
    """Recall and precision in percent, and how many of the pairs of files that are no update were taken for one."""
    right = [any(matches(change, one) for change in timeline.changes) for one in found]
    true = [any(alike(change, one) for change in timeline.changes) for one in found]
    seen = [any(matches(change, one) for one in found) for change in timeline.changes]
    violated = {frozenset((one.old_path, one.new_path)) for one in found} & timeline.unchanged
    return {
        "gold": len(timeline.changes),
        "found": len(found),
        "recall": metrics.percent([float(one) for one in seen]),
        "precision": metrics.percent([float(one) for one in right]),
        "precision_any_file": metrics.percent([float(one) for one in true]),
        "nonupdates": len(timeline.unchanged),
        "violated": len(violated),
    }


def judgement(timeline: Timeline, old: Fact, new: Fact) -> str:
    """What somebody who knows the timeline says of two facts: replaces, ends, same or unrelated. A thesis that names
    the new value itself is not replaced by it."""
    if old.modality == "past" and old.valid_to and new.valid_from and new.valid_from < old.valid_to - SLACK:
        return "unrelated"  # what began before the other ended did not take its place
    ended = new.modality in ("past", "negated") and old.modality == "asserted"
    apart = old.objects != new.objects
    ways = [(*differ(old, new), apart and old.predicate is not None)] if old.text != new.text else []
    ways += [] if apart or old.predicate is None else [(old.objects[-1], new.objects[-1], True)]
    duplicates = over = False
    for value, other, loosely in ways:
        for about, values in timeline.values.items():
            before, after = _stated(values, value, old, loosely), _stated(values, other, new, loosely)
            changes = [change for change in timeline.changes if change.about == about and change.old in before]
            if any(change.new in after and change.new not in before for change in changes):
                return "replaces"
            over = over or any(ended and change.old in after for change in changes)
            duplicates = duplicates or (bool(before & after) and same(value, other))
    if over:
        return "ends"
    return "same" if duplicates and old.modality == new.modality else "unrelated"


def _stated(values: Sequence[str], value: str, fact: Fact, loosely: bool) -> set[str]:
    """Which of an attribute's values a fact states: as its own `value`, else in what it says of its subject; of values
    that stand in each other the longest. `loosely`: its own value may be a part of one. The quote may well tell more,
    and of other things."""
    said = " ".join((fact.predicate, *fact.objects[1:])) if fact.predicate is not None else fact.text
    for text in (value, said):
        held = {one for one in values if contains(spoken(text), one)}
        held = {one for one in held if not any(one != other and contains(other, one) for other in held)}
        if not held and loosely and text is value:
            held = {one for one in values if contains(one, value)}
        if held:
            return held
    return set()
