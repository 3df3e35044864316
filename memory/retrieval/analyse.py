"""Analyse: what is asked (SPEC 7.4 S0, by rule): the words to search for, the names to look up, the time spoken of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memory.errors import InvalidInputError
from memory.retrieval.anchors import Anchor, anchor
from memory.retrieval.owner import in_first_person
from memory.text.languages import ENGLISH, content_words, guess_language, stem, stop_words
from memory.text.mentions import mentions, norm
from memory.text.unicode import replace_surrogates, to_nfc
from memory.text.words import UNSPACED, WORD, Term, words
from memory.time.expressions import TimeExpression, resolve_time
from memory.time.vocabulary import WHATEVER

MAX_QUESTION = 4_000  # characters; more is a document, not a question
MAX_TERMS = 48
LONGEST_NAME = 6  # words
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_SELF = frozenset(("i", "my"))  # in any language: what `in_first_person` writes

_TAKES_PLACE = re.compile(  # it only says that something happens, and no note says so
    r"\b(?:tak(?:e|es|en|ing)|took) place\b|\b(?:finde[nt]|fand(?:en)?)\b(?=.*\bstatt\W*$)|\bstatt(?=\W*$)"
    r"|\bstatt(?:find|fand|gefunden)\w*",
    re.IGNORECASE,
)
_OF_SELF = re.compile(r"\b(?:i|my|me|mine|myself|we|our|us)\b", re.IGNORECASE).search

LONGEST_UNSPACED = 8  # characters of a name in a script without spaces
LEAST_STEM = 3  # letters with which other forms of a word are looked up; 4 in Latin letters

_WORD = re.compile(rf"{WORD.pattern}(?:['’]{WORD.pattern})*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as recall sees it.

    `terms`: the words to search for, lower case, each once; `topic`: those of them that do not say when, possibly none.
    `names`: norms that may be objects -> how sure the form alone makes us (1 for a name written as one, less for a word
    that merely could be). The asker's own names are in none of them. `when`: the time it speaks of, or `anchor`: what
    it names that time by. `language` is a guess. `of_owner`: it asks of the person whose memory it is.
    """

    text: str
    terms: tuple[str, ...]
    topic: tuple[str, ...]
    names: dict[str, float]
    when: TimeExpression | None = None
    language: str = ENGLISH
    anchor: Anchor | None = None
    of_owner: bool = False


def analyse(
    text: str, names: Sequence[str] = (), now: datetime | None = None, when: TimeExpression | None = None
) -> Question:
    """What a question asks. `names` are those of the person whose memory it is; `now`, by default the clock's time, is
    what "last week" is seen from. `when`: the time it speaks of, where that is known already.

    Raises InvalidInputError for an empty question or one over MAX_QUESTION characters.
    """
    stripped = to_nfc(replace_surrogates(text).strip())
    if not stripped:
        raise InvalidInputError("The question is empty. Ask something in words.")
    if len(stripped) > MAX_QUESTION:
        raise InvalidInputError(
            f"The question has {len(stripped):,} characters; at most {MAX_QUESTION:,} are read. "
            "Ask a shorter one, or add the text itself to memory."
        )
    when = when or resolve_time(stripped, now or datetime.now(UTC))
    asked = in_first_person(stripped, names)
    language = guess_language(stripped)
    if asked != stripped and not _content(asked, language):  # "Who is Ana?" is about nobody else
        asked = stripped
    terms = _content(asked, language) or tuple(dict.fromkeys(words(asked)))
    topic = _content(asked.replace(when.words, " "), language) if when else terms
    if when and WHATEVER.issuperset(topic):  # "What happened on 5 March?" has no topic
        topic = ()
    by = anchor(asked) if when is None else None
    return Question(
        stripped,
        terms[:MAX_TERMS],
        topic[:MAX_TERMS],
        _names(asked, language),
        when,
        language,
        by,
        _OF_SELF(asked) is not None,
    )


def _content(text: str, language: str) -> tuple[str, ...]:
    """The words that say what is asked. Full text stems English; in other languages a word stands for its stem's."""
    found = [word for word in content_words(_TAKES_PLACE.sub(" ", text), language) if word not in _SELF]
    return tuple(found) if language == ENGLISH else tuple(_inflected(word, language) for word in found)


def _inflected(word: str, language: str) -> str:
    base = stem(word, language)
    if isinstance(word, Term) or UNSPACED.match(word) or len(base) < LEAST_STEM + base[:1].isascii():
        return word
    forms = {base: None}
    if language == "de":  # Straße is also written Strasse, and Müller Mueller
        forms |= {base.replace("ss", "ß"): None, word[: len(base)].translate(_UMLAUTS): None}
    return Term(word, tuple(f"{form}*" for form in forms))


def _names(text: str, language: str) -> dict[str, float]:
    """Every run of words that could name an object; the graph decides which ones do."""
    names: dict[str, float] = {}
    for run in UNSPACED.findall(text):  # longest first, as below
        for size in range(min(LONGEST_UNSPACED, len(run)), 1, -1):
            names.update((norm(run[i : i + size]), 1.0) for i in range(len(run) - size + 1))
    little = stop_words(language)
    words = [match.group() for match in _WORD.finditer(text)]
    for size in range(min(LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            if run[0].lower() in little or run[-1].lower() in little:
                continue
            key = norm(" ".join(run))
            sure = 1.0 if size > 1 or run[0][:1].isupper() or any(c.isdigit() for c in run[0]) else 0.5
            if key:
                names[key] = max(sure, names.get(key, 0.0))
    names.update({mention.norm: 1.0 for mention in mentions(text)})
    return names
