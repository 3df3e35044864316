"""Rule-based extraction: what an episode asserts by its fields, tables, tasks and contacts, without a model.

Precision before recall: a fact that is overlooked is still found in the text, a wrong one hides a right one from its
owner. Prose, code, quotations and what a machine answered assert nothing. Pure, and linear in the length of the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory.facts.attributes import FAMILY, attribute_of, is_about_owner, person_of
from memory.facts.extraction import NOTHING_EXTRACTED, OWNER, ExtractedObject, ExtractedRelation, Extraction
from memory.facts.rules import fields, tasks
from memory.facts.rules.passages import Span, is_chat, passage
from memory.facts.rules.places import Headings, Places
from memory.facts.rules.telling import read_statement_facts
from memory.facts.rules.validity import read_begin
from memory.nouns import SOURCE_CODE, Modality
from memory.text.clauses import ASKS, SUPPOSES
from memory.text.languages import alternatives
from memory.text.mentions import STATE, TASK, VALUE, is_name

NO_HEADINGS = Headings()


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
    headings: Headings = NO_HEADINGS,
    typed: bool = False,
) -> Extraction:
    """The facts of one episode. `title` is its note's title and headings, `at` when it was written, `speaker` who wrote
    it if it was not the owner; `properties` of the source are asserted by its `first` episode only. `spans` are its
    sentences where they are known. In a `chat` the text holds turns, "Speaker: words". `headings`: what those of the
    note are. `typed`: the owner typed it into this program."""
    if SOURCE_CODE in properties:  # its words are about what it does
        return NOTHING_EXTRACTED
    of_owner = is_about_owner(title) and not speaker
    cut = passage(text, speaker, properties, first, chat, spans)
    places = Places(cut, "" if speaker and is_about_owner(title) else title, headings, of_owner)
    is_talk = chat or is_chat(text)
    relations = [*fields.property_facts(places.note, properties)] if first and not is_talk else []
    if not is_talk and "columns" not in properties:
        relations += fields.line_facts(cut, places, at)
        relations += fields.table_facts(cut, places)
    if typed:  # the owner's own word, wherever it was said
        relations = [replace(fact, by_place=False) for fact in relations]
        relations += [_with_mood(text, fact, at) for fact in read_statement_facts(cut)]
    of_tasks = [*tasks.task_facts(cut)]
    relations += of_tasks
    relations += tasks.inline_facts(cut, places.note)
    if of_owner:  # how they are called is read of the note itself (`services.state`)
        relations = [fact for fact in relations if fact.subject != OWNER or attribute_of(fact.predicate) != "name"]
    values = (fact.object for fact in relations if fact.by_place)
    kinds = {value: VALUE for value in values if not is_name(value) or "," in value}
    kinds |= {fact.subject: TASK for fact in of_tasks}
    kinds |= {fact.object: STATE for fact in of_tasks if fact.predicate == "status"}
    kinds |= {fact.object: "person" for fact in relations if person_of(fact.predicate) in FAMILY}
    objects = [ExtractedObject(name, kind) for name, kind in kinds.items()]
    return Extraction(tuple(_unique(relations)), (), tuple(objects))


def _with_mood(text: str, fact: ExtractedRelation, at: datetime | None) -> ExtractedRelation:
    """A fact that the owner stated, with the modality and the valid time of its sentence."""
    mood = _modality(text[fact.start : fact.end])
    end = text.find("\n", fact.end)
    sentence = text[fact.start : end if end >= 0 else len(text)].replace(fact.object, "…")
    modality = fact.modality if mood == "asserted" else mood
    return replace(fact, modality=modality, valid_from=read_begin(sentence, at))


def _unique(relations: list[ExtractedRelation]) -> Iterator[ExtractedRelation]:
    """Each relation once, without those that lack a name or have markup for one that no reader took away."""
    seen: set[tuple[str, str, str, str]] = set()
    for relation in relations:
        key = (relation.subject.lower(), relation.predicate.lower(), relation.object.lower(), relation.modality)
        if key in seen or not all(key) or any(_MARKUP.search(part) for part in key[:3]):
            continue
        seen.add(key)
        yield replace(relation, predicate=" ".join(relation.predicate.split()))


_MARKUP = re.compile(r"[\[\]{}]|&#?\w+;|&#\d|^:\w+:?$")
_PLANS, _REPORTS = (re.compile(alternatives("facts", "modality", key), re.IGNORECASE) for key in ("plans", "reports"))


def _modality(sentence: str) -> Modality:
    """How the owner means a sentence; in doubt it is not asserted."""
    if ASKS.search(sentence):
        return "question"
    if SUPPOSES.search(sentence) or _REPORTS.search(sentence):
        return "hypothesis"
    return "plan" if _PLANS.search(sentence) else "asserted"
