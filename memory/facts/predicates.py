"""Canonical predicates and values: "has_rent", "rent is" and "the rent" are one; so are "60" and "60 euros".

What a subject has only one of at a time is replaced when it changes. That is known of a few predicates; of others the
form of a statement shows it, or what people and models have decided before (`relations.is_learned_single`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from memory.nouns import Modality
from memory.text.languages import tables, word_set
from memory.text.mentions import norm
from memory.text.words import words

_LEADING = word_set("facts", "leading")
_SYNONYMS: dict[str, str] = {
    other: name for synonyms in tables("facts", "synonyms") for name, others in synonyms.items() for other in others
}
# What a person or thing has one of. Address and price are those of parts, too.
SINGLE = frozenset(chain.from_iterable(tables("facts", "single")))
# Of these the one person's answer is never another's.
PERSONAL = frozenset(chain.from_iterable(tables("facts", "personal")))
_STREET = re.compile(
    r"\d|stra(?:ß|ss)e\b|str\.|\b(?:street|st|road|rd|avenue|ave|lane|drive|square|boulevard|rue|via|calle|platz|weg)\b"
    r"|(?:straat|laan|gade|vej|weg|plein|gasse|allee|platz|gata)\b",
    re.IGNORECASE,
)


def canonical_predicate(label: str, object: str = "") -> str:
    """The name under which a predicate is compared. What somebody lives in is a town or an address, by the `object`."""
    spoken = list(words(label.replace("_", " ").replace("-", " ")))
    while len(spoken) > 1 and spoken[0] in _LEADING:
        spoken = spoken[1:]
    name = " ".join(spoken) or label.strip().lower()
    name = _SYNONYMS.get(name, name)
    if name in ("lives in", "lives at"):
        return "lives at" if _STREET.search(object) else "lives in"
    return name


def may_replace(new: Modality, old: Modality) -> bool:
    """Whether a fact of the one modality can take the place of one of the other: what is only planned replaces plans,
    what is supposed or asked replaces nothing."""
    if new == "plan":
        return old == "plan"
    if new == "asserted":
        return old in ("asserted", "plan", "past")
    return new in ("past", "negated") and old in ("asserted", "plan")


# Values ---------------------------------------------------------------------------------------

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LISTED = re.compile(r",|;|/|\band\b|\bplus\b|\+|&")
_APPROXIMATE = word_set("facts", "approximate")


def same_value(one: str, other: str) -> bool:
    """Whether two values of one predicate are the same, the one perhaps in more words: "60" and "60 euros", "Lisbon"
    and "Lisbon, Portugal"; not "4 mg" and "4 tablets".

    Numbers must be the same; and of two enumerations the longer one is another value.
    """
    name, numbers, listed, tokens = _folded_value(one)
    other_name, other_numbers, other_listed, other_tokens = _folded_value(other)
    if name == other_name:
        return True
    if numbers != other_numbers or (not numbers and (listed or other_listed)):
        return False
    comparable = numbers or (tokens and other_tokens)
    return bool(comparable) and (tokens <= other_tokens or other_tokens <= tokens)


@lru_cache(10_000)
def _folded_value(text: str) -> tuple[str, list[str], bool, frozenset[str]]:
    """Norm, numbers, whether it is an enumeration, and other words; kept, for a new value meets all that are known."""
    numbers = sorted(number.replace(",", ".") for number in _NUMBER.findall(text))
    tokens = frozenset(word for word in words(text) if not word[:1].isdigit()) - _APPROXIMATE
    return norm(text), numbers, _LISTED.search(text) is not None, tokens


def contains_value(text: str, value: str) -> bool:
    """Whether a text holds the value, as whole words and numbers."""
    wanted = norm(value)
    return bool(wanted) and re.search(rf"(?<![\w]){re.escape(wanted)}(?![\w]|[.,:]\d)", norm(text)) is not None
