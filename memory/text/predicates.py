"""Relations in words: equal predicates and values ("has_rent", "rent is" and "the rent"; "60" and "60 euros"), and the
sentence of a relation.

A value of a single-valued predicate is replaced when it changes. A few predicates are known to be single-valued; for
others the form of the statement decides, or an earlier decision of a person or model
(`predicates.is_learned_single`)."""

import re
from functools import lru_cache

from memory.text.languages import tables, word_set
from memory.text.mentions import norm
from memory.text.words import words

_LEADING = word_set("facts", "leading")
_SYNONYMS: dict[str, str] = {
    other: name for synonyms in tables("facts", "synonyms") for name, others in synonyms.items() for other in others
}
STREET = re.compile(
    r"\d|stra(?:ß|ss)e\b|str\.|\b(?:street|st|road|rd|avenue|ave|lane|drive|square|boulevard|rue|via|calle|platz|weg)\b"
    r"|(?:straat|laan|gade|vej|weg|plein|gasse|allee|platz|gata)\b",
    re.IGNORECASE,
)


def canonical_predicate(label: str, object: str = "") -> str:
    """Returns the name under which predicates are compared. "lives in" an address is "lives at"."""
    spoken = list(words(label.replace("_", " ").replace("-", " ")))
    while len(spoken) > 1 and spoken[0] in _LEADING:
        spoken = spoken[1:]
    name = " ".join(spoken) or label.strip().lower()
    name = _SYNONYMS.get(name, name)
    if name in ("lives in", "lives at"):
        return "lives at" if STREET.search(object) else "lives in"
    return name


# Values ---------------------------------------------------------------------------------------

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LISTED = re.compile(r",|;|/|\band\b|\bplus\b|\+|&")
_APPROXIMATE = word_set("facts", "approximate")


def same_value(value: str, other: str) -> bool:
    """Whether two values of one predicate are equal, one perhaps in more words: "60" and "60 euros", "Lisbon" and
    "Lisbon, Portugal"; not "4 mg" and "4 tablets". Numbers must be equal; a longer enumeration is a different value."""
    name, numbers, listed, tokens = _fold_value(value)
    other_name, other_numbers, other_listed, other_tokens = _fold_value(other)
    if name == other_name:
        return True
    if numbers != other_numbers or (not numbers and (listed or other_listed)):
        return False
    comparable = numbers or (tokens and other_tokens)
    return bool(comparable) and (tokens <= other_tokens or other_tokens <= tokens)


def refines(value: str, other: str) -> bool:
    """Whether one of two values adds detail to the other: "morning, before food" and "morning", "4 May 1990" and
    "1990"."""
    (_, numbers, _, tokens), (_, other_numbers, _, other_tokens) = _fold_value(value), _fold_value(other)
    parts, other_parts = {*numbers, *tokens}, {*other_numbers, *other_tokens}
    return bool(parts and other_parts) and (parts < other_parts or other_parts < parts)


@lru_cache(10_000)
def _fold_value(text: str) -> tuple[str, list[str], bool, frozenset[str]]:
    """Returns (norm, numbers, is an enumeration, other words); cached: a new value is compared with all known ones."""
    numbers = sorted(number.replace(",", ".") for number in _NUMBER.findall(text))
    tokens = frozenset(word for word in words(text) if not word[:1].isdigit()) - _APPROXIMATE
    return norm(text), numbers, _LISTED.search(text) is not None, tokens


def contains_value(text: str, value: str) -> bool:
    """Whether a text contains the value as whole words and numbers."""
    normalized = norm(value)
    return bool(normalized) and re.search(rf"(?<![\w]){re.escape(normalized)}(?![\w]|[.,:]\d)", norm(text)) is not None


# Sentences -----------------------------------------------------------------------------------

NAMELESS = "you"  # the owner's name while it is unknown
_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
_ALONE = word_set("facts", "third_person")
_PARTICLES = word_set("facts", "particles")


def statement(subject: str, predicate: str, object: str) -> str:
    """Returns subject, predicate and object as a sentence without a point, or "label: value" if the predicate is a
    noun."""
    return f"{subject_and_predicate(subject, predicate)}{'' if _is_verb(predicate) else ':'} {object}"


def subject_and_predicate(subject: str, predicate: str) -> str:
    """Returns the sentence without its object: "Ana lives in", "Ana, phone", "you live in", "your phone"."""
    if not _is_verb(predicate):
        return f"your {predicate}" if subject == NAMELESS else f"{subject}, {predicate}"
    if subject == NAMELESS:
        verb, _, rest = predicate.partition(" ")
        predicate = f"{_conjugate(verb)} {rest}".rstrip()
    return f"{subject} {predicate}"


def _is_verb(predicate: str) -> bool:
    """Whether a predicate begins with a verb, by its form; in doubt it does not, because a label always reads well."""
    verb, _, rest = predicate.partition(" ")
    if verb in _IRREGULAR or verb in _ALONE or (verb.endswith("ed") and not verb.endswith("eed") and len(verb) > 4):
        return True
    return verb.endswith("s") and not verb.endswith(("ss", "us", "'s", "’s")) and rest.split(" ")[0] in _PARTICLES


def _conjugate(verb: str) -> str:
    """Returns the verb after "you"; other words stay unchanged."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") and len(verb) > 3 else verb


_PROPERTY = re.compile(r"^(?P<key>[^\s:#>*|-][^:\n]{0,60}?)[ \t]*:(?=[ \t\n]|\Z).*", re.MULTILINE)


def find_property(text: str, key: str, value: str) -> tuple[int, int] | None:
    """Returns the [start, end) of the line with a property: the first with the key, if the value is in other lines or
    was parsed differently; None without the key."""
    folded_key, first = _fold(key), None
    for match in _PROPERTY.finditer(text):
        if _fold(match["key"]) == folded_key:
            if value in match[0]:
                return match.span()
            first = first or match.span()
    return first


def _fold(key: str) -> str:
    return key.casefold().replace("_", " ").replace("-", " ").strip()
