"""Analyse: what is asked, found by rule: the words to search for, the names to look up, the time spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from memory.errors import InvalidInputError
from memory.nouns import Scope
from memory.retrieval.anchors import anchor
from memory.retrieval.owner import in_first_person
from memory.retrieval.state import QuestionState, Retrieval
from memory.stages import AnalysisNote, TimeNote
from memory.text.languages import ENGLISH, content_words, guess_language, stem, stop_words
from memory.text.mentions import Mention, mentions, norm
from memory.text.unicode import replace_surrogates, to_nfc
from memory.text.words import UNSPACED, WORD, Term, words
from memory.time.expressions import TimeExpression, generic_verbs, resolve_time
from memory.time.timestamps import to_ms

MAX_QUESTION_CHARS = 4_000  # characters; more is a document, not a question
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


def analyse(
    text: str,
    person_names: Sequence[str] = (),
    now: datetime | None = None,
    *,
    as_of: datetime | None = None,
    within: Scope | None = None,
    when: TimeExpression | None = None,
) -> QuestionState:
    """The analysis of a question by its words alone. `person_names` are those of the person whose memory it is; `now`,
    by default `as_of` or the clock's time, is what "last week" is seen from. `when`: the time it speaks of, where that
    is known already.

    Raises InvalidInputError for an empty question or one over MAX_QUESTION_CHARS characters, a time without a zone, and
    a range that ends before it begins.
    """
    _check_times(as_of, within, now)
    stripped = to_nfc(replace_surrogates(text).strip())
    if not stripped:
        raise InvalidInputError("The question is empty. Ask something in words.")
    if len(stripped) > MAX_QUESTION_CHARS:
        raise InvalidInputError(
            f"The question has {len(stripped):,} characters; at most {MAX_QUESTION_CHARS:,} are read. "
            "Ask a shorter one, or add the text itself to memory."
        )
    asked_on = now or as_of or datetime.now(UTC)
    when = when or resolve_time(stripped, asked_on)
    asked = in_first_person(stripped, person_names)
    language = guess_language(stripped)
    if asked != stripped and not _content(asked, language):  # "Who is Ana?" is about nobody else
        asked = stripped
    terms = _content(asked, language) or tuple(dict.fromkeys(words(asked)))
    topic = _content(asked.replace(when.words, " "), language) if when else terms
    if when and generic_verbs().issuperset(topic):  # "What happened on 5 March?" has no topic
        topic = ()
    entities = tuple(mentions(stripped))
    return QuestionState(
        text=stripped,
        original=replace_surrogates(text),
        terms=terms[:MAX_TERMS],
        topic=topic[:MAX_TERMS],
        names=_names(asked, language, entities if asked == stripped else mentions(asked)),
        asked_on=asked_on,
        when=when,
        language=language,
        anchor=anchor(asked) if when is None else None,
        of_owner=_OF_SELF(asked) is not None,
        mentions=entities,
        person_names=tuple(person_names),
        as_of=as_of,
        within=within,
    )


def note_analysis(retrieval: Retrieval) -> AnalysisNote:
    """Stage: what the question was found to ask, for the trace."""
    question = retrieval.question
    when = question.when if retrieval.settings.time_cues else None
    return AnalysisNote(question.terms, time_note(when) if when is not None else None)


def time_note(when: TimeExpression) -> TimeNote:
    """The time a question speaks of, as the trace shows it."""
    since, until = (moment.isoformat() if moment else None for moment in (when.since, when.until))
    return TimeNote(when.kind, when.words, since, until)


def without_anchor(question: QuestionState, when: TimeExpression) -> QuestionState:
    """The question without the event that it names a time by, of which `when` is known now."""
    assert question.anchor is not None
    rest = analyse(
        question.anchor.rest,
        question.person_names,
        question.asked_on,
        as_of=question.as_of,
        within=question.within,
        when=when,
    )
    return replace(rest, original=question.original)


def _check_times(as_of: datetime | None, within: Scope | None, now: datetime | None) -> None:
    to_ms(as_of), to_ms(now)
    if within is not None:
        since, until = to_ms(within.since), to_ms(within.until)
        if since is not None and until is not None and since > until:
            raise InvalidInputError("The time range ends before it begins. Exchange its two ends.")


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


def _names(text: str, language: str, entities: Iterable[Mention]) -> dict[str, float]:
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
    names.update({mention.norm: 1.0 for mention in entities})
    return names
