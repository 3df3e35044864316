"""Whether two facts fill one slot: they give the same attribute of the same subject, perhaps in other words.

A model's word that one fact replaces another counts only then: small models say it of too much.
"""

import re
from collections.abc import Collection

from memory.facts.rules.phrases import value_kind
from memory.nouns import Fact
from memory.text.languages import guess_language, stem, stop_words
from memory.text.mentions import norm
from memory.text.predicates import canonical_predicate
from memory.text.words import words

_DIGIT = re.compile(r"[^\w]{0,3}\d")
LEAST_SHARED, LEAST_SHARED_ALONE = 2, 4  # words that two statements share: about one object, and about none


def fill_one_slot(old: Fact, new: Fact, old_words: str, new_words: str) -> bool:
    """Whether two facts have one subject, and one predicate or values of one kind. `old_words` and `new_words` are the
    sentences that they were read from. Statements, which have no predicate, share an object and words."""
    if not (old.predicate and new.predicate):
        shared = _stems(old.text) & _stems(new.text)
        common = {norm(name) for name in old.objects} & {norm(name) for name in new.objects}
        return len(shared) >= (LEAST_SHARED if common else LEAST_SHARED_ALONE)
    if norm(old.objects[-1]) == norm(new.objects[-1]):  # said the other way round: "Ana leads Orbit"
        return True
    if not _have_one_subject(old.objects[0], new.objects[0], old_words, new_words):
        return False
    kinds = {_kind(fact.objects[-1]) for fact in (old, new)}
    return _share_predicate(old.predicate, new.predicate) or (len(kinds) == 1 and kinds != {"word"})


def _kind(value: str) -> str:
    """The kind of a value, where whatever begins with a digit is a number: "£185 per service, twice a year"."""
    kind = value_kind(value)
    return "number" if kind in ("time", "version") or (kind == "word" and _DIGIT.match(value)) else kind


def _have_one_subject(old: str, new: str, old_words: str, new_words: str) -> bool:
    """Whether two names are one or share a word, or the sentence of the one fact names the subject of the other."""
    old_name, new_name = _stems(old), _stems(new)
    if norm(old) == norm(new) or old_name & new_name:
        return True
    return _is_named(new_name, old_words) or _is_named(old_name, new_words)


def _is_named(name: Collection[str], sentence: str) -> bool:
    return bool(name) and _stems(sentence).issuperset(name)


def _share_predicate(old: str, new: str) -> bool:
    if canonical_predicate(old) == canonical_predicate(new):
        return True
    return not _without_auxiliary(old).isdisjoint(_without_auxiliary(new))


def _without_auxiliary(predicate: str) -> frozenset[str]:
    """The words of a predicate without a leading auxiliary: "is led by" has "led" and "by"."""
    first, *others = (*words(predicate),) or (predicate,)
    return frozenset(others if others and first in stop_words(guess_language(predicate)) else (first, *others))


def _stems(text: str) -> frozenset[str]:
    language = guess_language(text)
    little = stop_words(language)
    return frozenset(
        stem(word, language) for word in words(text) if (word not in little and len(word) > 2) or word.isdigit()
    )
