"""Extraction by rules, without a model: the fields, tables, tasks and contacts of an episode.

Precision before recall: an overlooked fact is still found in the text, a wrong one hides a right one. Prose, code,
quotations and a machine's answers assert nothing. Pure, and linear in the length of the text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from memory.facts.attributes import FAMILY, attribute_of, is_about_owner, owner_pattern, person_of
from memory.facts.extraction import NOTHING_EXTRACTED, OWNER, ExtractedObject, ExtractedRelation, Extraction
from memory.facts.rules import fields, tasks
from memory.facts.rules.fields import Headings, Places
from memory.facts.rules.passages import PassageText, Span, is_chat, passage
from memory.facts.rules.phrases import read_begin, value_kind
from memory.nouns import SOURCE_CODE, Modality
from memory.text.clauses import SUPPOSES
from memory.text.languages import alternatives, guess_language, tables
from memory.text.mentions import STATE, TASK, VALUE, is_name
from memory.text.sentences import ASKS

_NAME = r"((?:the )?[A-ZÀ-Þ][\w'’.-]*(?: (?:& )?[A-ZÀ-Þ][\w'’-]*){0,3})"
_MAX_VALUE_WORDS = 8
_SHAPES = {  # what a value of each looks like
    "phone": re.compile(r"\+?[\d ()/.-]{5,24}"),
    "email": re.compile(r"\S+@\S+\.\w+"),
    "address": re.compile(r"(?=.*\d)(?=.*[A-ZÀ-Þ]).+"),
    "birthday": re.compile(r".*\d.*"),
    "passport": re.compile(r"[A-Z\d ]*\d[A-Z\d ]*"),
}
_NAMED = re.compile(r"(?:[Tt]he |[Aa]n? )?(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?[A-ZÀ-Þ][^,.;:]*")
_BY_NAME = frozenset(("employer", "bank", "insurance", "car", "name"))


_PLACES: tuple[tuple[str, str, Modality], ...] = (
    ("home", "lives in", "asserted"),
    ("employer", "works at", "asserted"),
    ("no_home", "lives in", "negated"),
    ("no_employer", "works at", "negated"),
)


def read_statement_facts(passage: PassageText) -> Iterator[ExtractedRelation]:
    """Yields the facts in the owner's sentences."""
    patterns = _compile_patterns(guess_language(passage.text))
    for start, end, line in passage.sentences if patterns else ():
        if line.speaker != OWNER:
            continue
        for key, predicate, modality in _PLACES:
            if match := patterns[key].search(passage.text, start, end):
                name = match[match.lastindex or 0].rstrip(".")
                yield _relation(predicate, name, match.start(), match.end(), modality=modality)
        if match := patterns["own"].search(passage.text, start, end):
            yield from _attribute(match, patterns)


@cache
def _compile_patterns(language: str) -> dict[str, re.Pattern[str]]:
    """Returns the patterns of statements in a language; empty for one without any."""
    if not (listed := tables("telling", language=language)):
        return {}
    texts = {key: value.replace("\n", "") for key, value in listed[0].items()}
    patterns = {key: rf"(?<!\w)(?i:{texts[key]})(?!\w)".replace("{name}", f"(?-i:{_NAME})") for key, *_ in _PLACES}
    patterns["own"] = (
        rf"(?<!\w)(?i:{owner_pattern('my', language)}) (?P<key>[^\s,.;:!?]+(?: [^\s,.;:!?]+){{0,3}}?) "
        rf"(?i:{texts['is']}) (?P<value>\S.*)"
    )
    patterns["newer"] = rf"(?i:(?:(?:{texts['newer']}) )+)"
    patterns["behind"] = rf"(?i:(?:,? {texts['behind']})?[\s.!…]*$)"
    return {key: re.compile(pattern) for key, pattern in patterns.items()}


def _attribute(match: re.Match[str], patterns: Mapping[str, re.Pattern[str]]) -> Iterator[ExtractedRelation]:
    """Yields the fact of "my KEY is VALUE"."""
    older = patterns["newer"].match(match["key"])
    key = match["key"][older.end() if older else 0 :].casefold()
    value = patterns["behind"].sub("", match["value"]).strip()
    attribute = attribute_of(key)
    if not key or not 0 < len(value.split()) <= _MAX_VALUE_WORDS or attribute == "name":
        return  # what the owner is called is read of a note about them
    if attribute in _SHAPES:
        fits = _SHAPES[attribute].fullmatch(value) is not None
    elif attribute in _BY_NAME or person_of(key):
        fits = _NAMED.fullmatch(value) is not None
    else:
        fits = value_kind(value) != "word"
    if fits:
        relation = _relation(attribute or key, value, *match.span())
        yield replace(relation, single=False) if person_of(key) in FAMILY else relation


def _relation(
    predicate: str, value: str, start: int, end: int, *, modality: Modality = "asserted"
) -> ExtractedRelation:
    return ExtractedRelation(
        subject=OWNER, predicate=predicate, object=value, start=start, end=end, modality=modality, single=True,
        conf=0.9,
    )  # fmt: skip


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
    """Extracts the facts of one episode. `title`: its note's title and headings; `at`: when it was written; `speaker`:
    its writer, if not the owner; `properties` of the source are asserted by its `first` episode only. `spans`: its
    sentences, if known. In a `chat` the text consists of turns, "Speaker: words". `headings`: the kinds of the note's
    headings. `typed`: the owner typed it into this program."""
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
    """Returns an owner's statement with the modality and the valid time of its sentence."""
    mood = _modality(text[fact.start : fact.end])
    end = text.find("\n", fact.end)
    sentence = text[fact.start : end if end >= 0 else len(text)].replace(fact.object, "…")
    modality = fact.modality if mood == "asserted" else mood
    return replace(fact, modality=modality, valid_from=read_begin(sentence, at))


def _unique(relations: list[ExtractedRelation]) -> Iterator[ExtractedRelation]:
    """Yields each relation once, without those that lack a name or have unremoved markup for one."""
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
    """Returns the modality of the owner's sentence; in doubt it is not asserted."""
    if ASKS.search(sentence):
        return "question"
    if SUPPOSES.search(sentence) or _REPORTS.search(sentence):
        return "hypothesis"
    return "plan" if _PLANS.search(sentence) else "asserted"
