"""Rule-based extraction: what an episode asserts by its fields, tables and changes of values, without a model.

Precision before recall: a fact that is overlooked is still found in the text, a wrong one hides a right one from its
owner. What is asked, planned, supposed or said by others has its modality and is never "asserted"; code, quotations
and what a machine answered assert nothing. Pure, and linear in the length of the text. The words that decide are
English so far.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import chain, groupby
from typing import Any

from memory.facts.attributes import FAMILY, attribute_of, is_about_owner, person_of
from memory.facts.extraction import NOTHING_EXTRACTED, OWNER, ExtractedObject, ExtractedRelation, Extraction
from memory.facts.rules import fields, people, phrases
from memory.facts.rules.changes import Sentence, find_changes
from memory.facts.rules.passages import Line, Passage, Span, is_chat, passage
from memory.facts.rules.telling import told_facts
from memory.nouns import SOURCE_CODE, Modality
from memory.text.languages import alternatives
from memory.text.words import EVENT_TIME

_MAX_SENTENCE_CHARS = 600  # a longer one is no sentence
_STALE_TITLE, _STALE_TEXT = (
    re.compile(alternatives("facts", "stale", key), re.IGNORECASE) for key in ("title", "text")
)


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
    field_keys: frozenset[str] = frozenset(),
    things: frozenset[str] = frozenset(),
    told: bool = False,
) -> Extraction:
    """The facts of one episode. `title` is its note's title and headings, `at` when it was written, `speaker` who wrote
    it if it was not the owner; `properties` of the source are asserted by its `first` episode only. `spans` are its
    sentences where they are known. In a `chat` the text holds turns, "Speaker: words". `field_keys`: the keys of the
    fields of the whole note, `things`: its headings that are each a thing of its own. `told`: the owner said it to this
    program."""
    if (not told and _STALE_TITLE.search(title)) or _STALE_TEXT.search(text, 0, 400):  # an old copy, or a look back
        return NOTHING_EXTRACTED
    if SOURCE_CODE in properties:  # its words are about what it does
        return NOTHING_EXTRACTED
    of_owner = not speaker and is_about_owner(title)
    is_talk = bool(speaker) or chat or is_chat(text)
    topic, dated = ("", "") if is_talk else (OWNER, "") if of_owner else phrases.topic(title)
    cut = passage(text, speaker, properties, first, chat, spans)
    found = [*fields.property_facts(topic, dated, properties)] if first else []
    if told:
        found += [replace(one, modality=_mood(text, one), valid_from=_since(text, one, at)) for one in told_facts(cut)]
    parts = [(topic, dated, cut)] if of_owner or is_talk else [*_parts(cut, title, topic, dated, things)]
    found += [change for about, _, part in parts for change in _changes(part, about, at)]
    subjects = {about for about, *_ in parts}
    changes = sorted((one for one in found if one.replaces), key=lambda one: one.start)
    starts = [change.start for change in changes]
    if "columns" in properties:  # a table that was a file of its own
        found += fields.series_facts(cut, topic, at)
    else:
        read = (
            (*fields.line_facts(part, about, day, at, field_keys), *fields.table_facts(part, about, day, at))
            for about, day, part in parts
        )
        for one in chain.from_iterable(read):
            near = changes[bisect_left(starts, one.start - _MAX_SENTENCE_CHARS) : bisect_left(starts, one.end)]
            if not any(_repeats(one, change) for change in near):
                is_part = one.subject != topic and one.cardinality == "one" and one.subject in subjects
                found.append(replace(one, cardinality="one in document") if is_part else one)
    if first:
        found += people.people_facts(cut, "" if of_owner or speaker else topic, properties)
    if of_owner:  # how they are called is read of the note itself (`services.state`)
        found = [one for one in found if one.subject != OWNER or attribute_of(one.predicate) != "name"]
    acronym = phrases.acronym(title) if topic else ""
    objects = [ExtractedObject(topic, None, (acronym,))] if acronym else []
    objects += [ExtractedObject(one.object, "person") for one in found if person_of(one.predicate) in FAMILY]
    return Extraction(tuple(_unique(found)), (), tuple(objects))


def _mood(text: str, told: ExtractedRelation) -> Modality:
    mood = _modality(text[told.start : told.end], own=True)
    return told.modality if mood == "asserted" else mood


def _since(text: str, told: ExtractedRelation, at: datetime | None) -> datetime | None:
    end = text.find("\n", told.end)
    return phrases.valid_from(text[told.start : end if end >= 0 else len(text)].replace(told.object, "…"), at, True)


def _parts(
    cut: Passage, title: str, topic: str, dated: str, things: frozenset[str]
) -> Iterator[tuple[str, str, Passage]]:
    """What each part of a passage is about, how precisely that is dated, and its lines: an event of a calendar is a
    thing of its own, and so is what a heading among `things` names, but that those of the first level are sections of a
    note that is called otherwise than by its first."""
    text, called = cut.text, phrases.clean(title.split(" › ")[0]).casefold()
    is_first = called in _called(things)
    names = {line.section: phrases.clean(line.section) for line in cut.lines if _is_event(text, line)}
    here = {line.section for line in cut.lines} & things
    names |= {one: name for one in here if (name := phrases.topic(one)[0])}

    def about(line: Line) -> tuple[str, str]:
        if line.section in names:
            return names[line.section], ""
        return phrases.topic(line.chapter) if is_first and line.chapter in things else (topic, dated)

    def within(line: Line) -> Line:
        outer = "" if is_first or line.chapter not in things else line.chapter
        return replace(line, section="" if line.section in names else line.section or outer)

    if not (names or things):
        yield topic, dated, cut
        return
    for (subject, day), lines in groupby(cut.lines, about):
        known = {line.start: within(line) for line in lines}
        spoken = tuple((start, end, known[of.start]) for start, end, of in cut.sentences if of.start in known)
        yield subject, day, Passage(text, tuple(known.values()), spoken)


@lru_cache(maxsize=1)
def _called(things: frozenset[str]) -> frozenset[str]:
    """What they are called: once for all episodes of a note, which may have as many headings as words."""
    return frozenset(phrases.clean(one).casefold() for one in things)


def _is_event(text: str, line: Line) -> bool:
    return bool(line.section) and EVENT_TIME.match(text, line.start, line.end) is not None


def _repeats(field: ExtractedRelation, change: ExtractedRelation) -> bool:
    """Whether a field has a value of a change in the same place."""
    values = (change.object, change.replaces or change.object)
    there = field.start < change.end and change.start < field.end
    return there and any(value in field.object or field.object in value for value in values)


def _changes(cut: Passage, topic: str, at: datetime | None) -> Iterator[ExtractedRelation]:
    """The changes of all sentences, with their modality and valid time."""
    text, label = cut.text, ""
    line: Line | None = None
    for start, end, of in cut.sentences:
        if of is not line:
            label, line = fields.label(text, start, end), of
        if end - start > _MAX_SENTENCE_CHARS:
            continue
        sentence = Sentence(text, start, end, topic, of.speaker, label)
        for change in find_changes(sentence):
            words, own = sentence.words, _OWN.search(sentence.words) is not None
            bare = words.replace(change.replaces or "", "…").replace(change.object, "…")
            yield replace(
                change,
                modality=_modality(words, own),
                valid_from=phrases.valid_from(bare, at, True),
                cardinality=change.cardinality if topic or own else "unknown",
                conf=0.9,
            )


def _unique(relations: list[ExtractedRelation]) -> Iterator[ExtractedRelation]:
    """Each relation once, those without a name left out."""
    seen: set[tuple[str, str, str, str]] = set()
    for relation in relations:
        key = (relation.subject.lower(), relation.predicate.lower(), relation.object.lower(), relation.modality)
        if key in seen or not relation.object or not relation.subject:
            continue
        seen.add(key)
        yield replace(relation, predicate=" ".join(relation.predicate.split()))


# Modality -------------------------------------------------------------------------------------

_ASKS = re.compile(r"\?[\"'”’)*_\s]*$")
_SUPPOSES, _PLANS, _REPORTS, _DATED = (
    re.compile(alternatives("facts", "modality", key), re.IGNORECASE)
    for key in ("supposes", "plans", "reports", "dated")
)
_OWN = re.compile(r"(?<![\w'’-])(?:(?:i|we)(?:['’](?:m|ve|re))?|my|our)(?![\w'’-])", re.IGNORECASE)  # of its speaker


def _modality(sentence: str, own: bool = False) -> Modality:
    """How a sentence is meant; in doubt it is not asserted. What somebody else says is a hypothesis: that they said it
    is no proof of it. `own`: it speaks of its writer, so that "will" is a plan, while an announcement with its date
    ("it will open at nine from 1 October") is decided."""
    if _ASKS.search(sentence):
        return "question"
    if _SUPPOSES.search(sentence) or _REPORTS.search(sentence):
        return "hypothesis"
    planned = _PLANS.search(sentence)
    if planned and (own or planned[0].lower() not in ("will", "it will", "they will") or not _DATED.search(sentence)):
        return "plan"
    return "asserted"
