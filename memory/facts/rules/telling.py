"""Facts that a person states about themselves in plain sentences: where they live and work, "my phone number is ...".

Only from what they typed into this program (`daemon/api/telling.py`): there "I" is the person, and sentences are meant
literally. In notes only a model reads such sentences. A value must have the right form, or there is no fact; the
sentence is kept in any case. The words are those of the languages that have `telling` in their data.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from memory.facts.attributes import FAMILY, attribute_of, owner_pattern, person_of
from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules.passages import PassageText
from memory.facts.rules.phrases import value_kind
from memory.nouns import Modality
from memory.text.languages import guess_language, tables

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


def read_statement_facts(passage: PassageText) -> Iterator[ExtractedRelation]:
    """The facts in the owner's sentences."""
    rules = _rules(guess_language(passage.text))
    if rules is None:
        return
    for start, end, line in passage.sentences:
        if line.speaker != OWNER:
            continue
        for pattern, predicate, modality in rules.places:
            if match := pattern.search(passage.text, start, end):
                name = match[match.lastindex or 0].rstrip(".")
                yield _relation(predicate, name, match.start(), match.end(), modality=modality)
        if match := rules.own.search(passage.text, start, end):
            yield from _attribute(match, rules)


class _Rules:
    """Those of one language."""

    def __init__(self, language: str) -> None:
        [table] = tables("telling", language=language)
        patterns = {key: value.replace("\n", "") for key, value in table.items()}

        def place(key: str) -> re.Pattern[str]:
            return re.compile(rf"(?<!\w)(?i:{patterns[key]})(?!\w)".replace("{name}", f"(?-i:{_NAME})"))

        self.places: tuple[tuple[re.Pattern[str], str, Modality], ...] = (
            (place("home"), "lives in", "asserted"),
            (place("employer"), "works at", "asserted"),
            (place("no_home"), "lives in", "negated"),
            (place("no_employer"), "works at", "negated"),
        )
        self.own = re.compile(
            rf"(?<!\w)(?i:{owner_pattern('my', language)}) (?P<key>[^\s,.;:!?]+(?: [^\s,.;:!?]+){{0,3}}?) "
            rf"(?i:{patterns['is']}) (?P<value>\S.*)"
        )
        self.newer = re.compile(rf"(?:(?:{patterns['newer']}) )+", re.IGNORECASE)
        self.behind = re.compile(rf"(?:,? {patterns['behind']})?[\s.!…]*$", re.IGNORECASE)


@cache
def _rules(language: str) -> _Rules | None:
    return _Rules(language) if tables("telling", language=language) else None


def _attribute(match: re.Match[str], rules: _Rules) -> Iterator[ExtractedRelation]:
    """The fact of "my KEY is VALUE"."""
    older = rules.newer.match(match["key"])
    key = match["key"][older.end() if older else 0 :].casefold()
    value = rules.behind.sub("", match["value"]).strip()
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
