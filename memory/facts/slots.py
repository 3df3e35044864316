"""Decides whether a fact may replace another: both fill one slot, and their times and modalities allow it.

Two facts fill one slot if they give the same attribute of the same subject, perhaps in other words. A model's decision
that one replaces the other counts only then: small models decide so too often."""

import re
from collections.abc import Collection

from memory.facts.rules.phrases import value_kind
from memory.nouns import Fact, Modality
from memory.store.relations import Relation
from memory.text.languages import guess_language, stem, stop_words
from memory.text.mentions import norm
from memory.text.predicates import canonical_predicate
from memory.text.words import words

DAY_MS = 86_400_000
MONTH_MS = 31 * DAY_MS
EARLIEST_MS = -(1 << 62)
CLAIMS = ("asserted", "past", "negated", "plan")  # modalities that say what is so
_DIGIT = re.compile(r"[^\w]{0,3}\d")
LEAST_SHARED, LEAST_SHARED_ALONE = 2, 4  # words that two statements share: about one object, and about none


def fill_one_slot(old: Fact, new: Fact, old_words: str, new_words: str) -> bool:
    """Whether two facts have one subject, and one predicate or values of one kind. `old_words` and `new_words`: the
    sentences they were extracted from. Statements, which have no predicate, must share an object and words."""
    if not (old.predicate and new.predicate):
        shared = _stems(old.text) & _stems(new.text)
        common = {norm(name) for name in old.objects} & {norm(name) for name in new.objects}
        return len(shared) >= (LEAST_SHARED if common else LEAST_SHARED_ALONE)
    if norm(old.objects[-1]) == norm(new.objects[-1]):  # said the other way round: "Ana leads Orbit"
        return True
    if not _have_one_subject(old.objects[0], new.objects[0], old_words, new_words):
        return False
    kinds = {_kind(fact.objects[-1]) for fact in (old, new)}
    return (
        canonical_predicate(old.predicate) == canonical_predicate(new.predicate)
        or not _drop_auxiliary(old.predicate).isdisjoint(_drop_auxiliary(new.predicate))
        or (len(kinds) == 1 and kinds != {"word"})
    )


def _kind(value: str) -> str:
    """Returns the kind of a value; any value that begins with a digit is a number: "£185 per service, twice a year"."""
    kind = value_kind(value)
    return "number" if kind in ("time", "version") or (kind == "word" and _DIGIT.match(value)) else kind


def _have_one_subject(old: str, new: str, old_words: str, new_words: str) -> bool:
    """Whether two names are equal or share a word, or the sentence of one fact names the subject of the other."""
    old_name, new_name = _stems(old), _stems(new)
    if norm(old) == norm(new) or old_name & new_name:
        return True
    return _is_named(new_name, old_words) or _is_named(old_name, new_words)


def _is_named(name: Collection[str], sentence: str) -> bool:
    return bool(name) and _stems(sentence).issuperset(name)


def _drop_auxiliary(predicate: str) -> frozenset[str]:
    """Returns the words of a predicate without a leading auxiliary: "is led by" has "led" and "by"."""
    first, *others = (*words(predicate),) or (predicate,)
    return frozenset(others if others and first in stop_words(guess_language(predicate)) else (first, *others))


def _stems(text: str) -> frozenset[str]:
    language = guess_language(text)
    little = stop_words(language)
    return frozenset(
        stem(word, language) for word in words(text) if (word not in little and len(word) > 2) or word.isdigit()
    )


# Times and modalities ---------------------------------------------------------------------------


def begin_of(relation: Relation) -> int:
    """Returns the begin of its valid time, else the time of its newest evidence."""
    if relation.valid_from is not None:
        return relation.valid_from
    ended = relation.modality == "past" or relation.valid_to is not None
    return EARLIEST_MS if ended or relation.last_asserted is None else relation.last_asserted


def end_of(fact: Relation) -> int:
    """Returns when a fact about an end says that it is over: its end, else its begin, else the time of its evidence."""
    return next((ms for ms in (fact.valid_to, fact.valid_from, fact.last_asserted) if ms is not None), EARLIEST_MS)


def day_of(relation: Relation) -> int:
    """Returns the day on which its valid time begins: a note has a time of day, a date in it does not."""
    return begin_of(relation) // DAY_MS


def order_of(relation: Relation) -> tuple[int, int, int]:
    """Returns the sort key: valid time by days, then evidence."""
    return (
        day_of(relation),
        relation.last_asserted if relation.last_asserted is not None else EARLIEST_MS,
        relation.id,
    )


def may_follow(old: Relation, new: Relation) -> bool:
    """Whether the modality of the newer one lets it replace the older one: also a plan, if the older one is over by
    then."""
    if may_replace(new.modality, old.modality):
        return True
    has_ended = old.valid_to is not None and old.valid_to <= begin_of(new) + MONTH_MS
    is_over = old.modality in ("past", "negated") or has_ended
    return new.modality in ("plan", "asserted", "past") and old.modality in CLAIMS and is_over


def is_bygone(old: Relation, new: Relation) -> bool:
    """Whether the older one is an event of one day, or a plan for a day that was over before the newer one was asserted
    or begins: nothing replaces it."""
    if old.valid_from is None or old.valid_to is None or old.valid_to - old.valid_from > DAY_MS:
        return False
    since = begin_of(new) if new.last_asserted is None else min(new.last_asserted, begin_of(new))
    return old.modality != "plan" or old.valid_to < since


def states_end(old: Relation, new: Relation) -> bool:
    """Whether the newer one says that the older one is over, and is not itself a later state that is over, too."""
    later = new.modality == "past" and new.object != old.object and new.valid_from is not None
    return new.modality in ("past", "negated") and not later


def may_replace(new: Modality, old: Modality) -> bool:
    """Whether a fact of one modality can replace one of another: a plan replaces only plans, a supposition or a
    question replaces nothing."""
    if new == "plan":
        return old == "plan"
    if new == "asserted":
        return old in ("asserted", "plan", "past")
    return new in ("past", "negated") and old in ("asserted", "plan")
