"""What an episode tells, read by rules and without a model: fields, statements and changes.

Honesty before reach: a fact that is not there is found in the text all the same, a wrong one hides a right one from its
owner. What is asked, planned, supposed or said by others has its modality and is never "asserted"; code, quotations and
what a machine answered tell nothing. Pure, and linear in the length of the text: a sentence too long to be one is not
read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory.facts.extraction import ExtractedObject, ExtractedRelation, Extraction
from memory.facts.rules import changes, fields, phrases, statements, successions, tables
from memory.facts.rules import modality as moods
from memory.facts.rules.change_words import ALL_SIGNS, SIGNS, TOKEN
from memory.facts.rules.changes import Change
from memory.facts.rules.passages import Line, Passage, Span, is_chat, passage
from memory.facts.rules.statements import Statement
from memory.facts.rules.subjects import Said
from memory.facts.rules.valid_time import valid_from

LONGEST = 600  # characters of a sentence


def extract_by_rules(
    text: str,
    title: str,
    at: datetime | None,
    speaker: str | None,
    properties: Mapping[str, Any],
    first: bool,
    *,
    chat: bool = False,
    spans: Sequence[Span] | None = None,
    keys: frozenset[str] = frozenset(),
) -> Extraction:
    """What one episode tells.

    `title` is its note's title and headings, `at` when it was written, `speaker` who wrote it if it was not the owner;
    `properties` of the source are told by its `first` episode only. `spans` are its sentences where they are known,
    `keys` (`fields.keys`) those that the whole note has. In a `chat` the text holds turns, "Speaker: words".
    """
    if moods.is_stale(title, text):
        return Extraction("rule")
    about, dated = ("", "") if speaker or chat or is_chat(text) else phrases.topic(title)
    read = passage(text, speaker, properties, first, chat, spans)
    told: list[ExtractedRelation] = []
    if first:
        told += fields.of_properties(about, properties)
    said = list(_said(read, about, keys))
    told += _in_sentences(said, at, first)
    near = _Near(relation for relation in told if relation.replaces)
    if "columns" in properties:  # a table that was a file of its own
        told += tables.of_series(read, about, at)
    else:
        formed = (*fields.of_lines(read, about, dated, at, keys), *tables.of_tables(read, dated))
        told += [
            field for field in formed if not any(_tells_again(field, change) for change in near(field.start, field.end))
        ]
    acronym = phrases.acronym(title) if about else ""
    objects = (ExtractedObject(about, None, (acronym,)),) if acronym else ()
    return Extraction("rule", tuple(_once(told)), (), objects)


def _tells_again(field: ExtractedRelation, change: ExtractedRelation) -> bool:
    """Whether a field says what was read as a change in the same place."""
    apart = field.end <= change.start or change.end <= field.start
    said = (change.object, change.replaces or change.object)
    return not apart and any(value in field.object or field.object in value for value in said)


class _Near:
    """What was told, to be found again by its place; none of it is longer than the sentences that tell a change."""

    def __init__(self, told: Iterable[ExtractedRelation]) -> None:
        self._told = sorted(told, key=lambda relation: relation.start)
        self._starts = [relation.start for relation in self._told]

    def __call__(self, start: int, end: int) -> Sequence[ExtractedRelation]:
        """What may overlap [start, end)."""
        return self._told[bisect_left(self._starts, start - 4 * LONGEST) : bisect_left(self._starts, end)]


def _said(read: Passage, about: str, keys: frozenset[str]) -> Iterator[Said]:
    """The sentences, each with what the words before it say of what it speaks of."""
    text, head, label, before = read.text, "", "", 0
    lower = text.lower()
    if len(lower) != len(text):  # a few letters are longer in lower case
        lower = text
    line: Line | None = None
    for start, end, of in read.cut:
        if of is not line:
            head = _head(text, start, end) if of.bullet else ""
            label = fields.label(text, start, end)
            if line is None or text.count("\n", line.end, of.start) > 1:
                before = start  # another paragraph
            line = of
        if end - start <= LONGEST:
            signs = ALL_SIGNS.intersection(TOKEN.findall(lower, start, end))
            yield Said(text, start, end, about, of.teller, head, label, before, signs, keys)


def _in_sentences(said: list[Said], at: datetime | None, first: bool) -> Iterator[ExtractedRelation]:
    changed = [_told_change(change, one, at) for change, one in _changes(said)]
    yield from changed
    near = _Near(changed)
    for place, one in enumerate(said):
        for statement in (*statements.of_sentence(one), *(statements.of_beginning(one) if first and not place else ())):
            beside = near(statement.start, statement.end)
            if not any(change.start < statement.end and statement.start < change.end for change in beside):
                yield _told_statement(statement, one, at)


def _changes(said: list[Said]) -> Iterator[tuple[Change, Said]]:
    ends = [one.end for one in said]
    for change in successions.across(said):
        yield change, said[bisect_right(ends, change.start)]
    for one in said:
        for change in changes.of_sentence(one):
            yield change, one


def _head(text: str, start: int, end: int) -> str:
    """The name a list item begins with: "Frau Abendroth, first floor"."""
    span = phrases.right(text, start, end)
    name = phrases.clean(text[span[0] : span[1]]) if span else ""
    return name if name[:1].isupper() and len(name.split()) <= 4 else ""


def _told_change(change: Change, said: Said, at: datetime | None) -> ExtractedRelation:
    return ExtractedRelation(
        subject=change.subject,
        predicate=change.predicate,
        object=change.new,
        start=change.start,
        end=change.end,
        modality=moods.mood(said.words, _is_own(said)),
        valid_from=valid_from(said.words.replace(change.old, "…").replace(change.new, "…"), at, True),
        replaces=change.old,
        cardinality="one" if change.single and (said.about or _is_own(said)) else "unknown",
        conf=0.9,
    )


def _is_own(said: Said) -> bool:
    """Whether a sentence speaks of its teller: "I", "my"."""
    return not said.signs.isdisjoint(SIGNS["own"])


def _told_statement(statement: Statement, said: Said, at: datetime | None) -> ExtractedRelation:
    modality = moods.mood(said.words, _is_own(said))
    if modality == "asserted" and statement.ended:
        modality = "negated"
    elif modality == "asserted" and moods.is_past(said.words):
        modality = "past"
    return ExtractedRelation(
        subject=statement.subject,
        predicate=statement.predicate,
        object=statement.object,
        start=statement.start,
        end=statement.end,
        modality=modality,
        valid_from=valid_from(said.words.replace(statement.object, "…"), at, statement.happened),
        cardinality=statement.cardinality,
        conf=0.8,
    )


def _once(told: list[ExtractedRelation]) -> Iterator[ExtractedRelation]:
    """Each statement once; a value that is told to replace itself replaces nothing."""
    seen: set[tuple[str, str, str, str]] = set()
    for relation in told:
        key = (relation.subject.lower(), relation.predicate.lower(), relation.object.lower(), relation.modality)
        if key in seen or not relation.object or not relation.subject:
            continue
        seen.add(key)
        yield replace(relation, predicate=" ".join(relation.predicate.split()))
