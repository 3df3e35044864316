"""Analysis: what a question asks, by rules: search terms, possible names, and its time.

In a person's own notes they are "I", so a question that uses their name is read in the first person. The name occurs in
few notes (mostly mails), so as a search term it would mislead."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from memory.errors import InvalidInputError
from memory.nouns import Scope
from memory.retrieval.question_type import find_subject
from memory.retrieval.state import QuestionState, Retrieval
from memory.stages import AnalysisNote, TimeNote
from memory.text.languages import (
    ENGLISH,
    alternatives,
    content_words,
    guess_language,
    stem,
    stop_words,
    word_set,
)
from memory.text.mentions import Mention, mentions, norm
from memory.text.words import UNSPACED, WORD, Term, replace_surrogates, strip_accents, to_nfc, words
from memory.time.dates import month_names
from memory.time.expressions import TimeExpression, asks_time, generic_verbs, parse_span, resolve_time, tense
from memory.time.timestamps import to_ms
from memory.time.timex import fold

MAX_QUESTION_CHARS = 4_000  # characters; more is a document, not a question
MAX_TERMS = 48
LONGEST_NAME = 6  # words
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_SELF = frozenset(("i", "my"))  # in any language: what `in_first_person` writes

LONGEST_UNSPACED = 8  # characters of a name in a script without spaces
LEAST_STEM = 3  # letters with which other forms of a word are looked up; 4 in Latin letters

_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NAME_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_WORD = re.compile(rf"{WORD.pattern}(?:['’]{WORD.pattern})*")


def analyse(
    text: str,
    person_names: Sequence[str] = (),
    now: datetime | None = None,
    *,
    as_of: datetime | None = None,
    within: Scope | None = None,
) -> QuestionState:
    """Analyses a question by its words alone. `person_names` are those of the owner of the memory; relative times such
    as "last week" are resolved from `now`, by default `as_of` or the clock's time. Raises InvalidInputError for an
    empty question or one over MAX_QUESTION_CHARS characters, a time without a zone, and a range that ends before it
    begins."""
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
    language = guess_language(stripped)
    overview = find_overview(stripped, language, asked_on)
    when = resolve_time(stripped, asked_on) or overview
    rephrased = in_first_person(stripped, person_names)
    of_owner = _first_person(language).search(rephrased) is not None
    if rephrased != stripped and not _find_content(rephrased, language):  # "Who is Ana?" asks about Ana
        rephrased = stripped
    terms = _find_content(rephrased, language) or tuple(dict.fromkeys(words(rephrased)))
    topic = _find_content(rephrased.replace(when.words, " "), language) if when else terms
    entities = tuple(mentions(stripped))
    writer = find_writer(stripped, language, entities)
    if writer or (when and of_owner):  # "What did I write last week?"
        says = word_set("time", "verbs", "says")
        terms, topic = (tuple(term for term in group if term not in says) for group in (terms, topic))
    is_past = tense(fold(stripped)) == "past" and not generic_verbs().isdisjoint(words(stripped))
    asking = generic_verbs() | word_set("lists", "calendar", language=language)
    if when and (overview or asking.issuperset(topic)):  # "What happened on 5 March?" has no topic
        topic = ()
    asks_all = not writer and not _asks_one(stripped, language) and (is_past or not topic)
    if asks_all and not topic and when and when.kind == "as_of" and when.since:  # not the state at that time
        when = replace(when, kind="range")
    return QuestionState(
        text=stripped,
        original=replace_surrogates(text),
        terms=terms[:MAX_TERMS],
        topic=topic[:MAX_TERMS],
        names=_find_names(rephrased, language, entities if rephrased == stripped else mentions(rephrased)),
        asked_on=asked_on,
        when=when,
        language=language,
        of_owner=of_owner,
        mentions=entities,
        writer=writer,
        asks_all=asks_all,
        person_names=tuple(person_names),
        as_of=as_of,
        within=within,
    )


def note_analysis(retrieval: Retrieval) -> AnalysisNote:
    """Stage: the analysis of the question, for the trace."""
    question = retrieval.question
    when = question.when if retrieval.request.settings.time_cues else None
    return AnalysisNote(question.terms, time_note(when) if when is not None else None)


def time_note(when: TimeExpression) -> TimeNote:
    """Returns the time a question refers to, for the trace."""
    since, until = (moment.isoformat() if moment else None for moment in (when.since, when.until))
    return TimeNote(when.kind, when.words, since, until)


def _check_times(as_of: datetime | None, within: Scope | None, now: datetime | None) -> None:
    to_ms(as_of), to_ms(now)
    if within is not None:
        since, until = to_ms(within.since), to_ms(within.until)
        if since is not None and until is not None and since > until:
            raise InvalidInputError("The time range ends before it begins. Exchange its two ends.")


def _find_content(text: str, language: str) -> tuple[str, ...]:
    """Returns the content words. Full text stems English; in other languages each word is replaced by its
    inflections."""
    topic = re.sub(alternatives("analysis", "happens"), " ", text, flags=re.IGNORECASE)
    terms = [word for word in content_words(topic, language) if word not in _SELF]
    return tuple(terms) if language == ENGLISH else tuple(_inflect(word, language) for word in terms)


def _inflect(word: str, language: str) -> str:
    base = stem(word, language)
    if isinstance(word, Term) or UNSPACED.match(word) or len(base) < LEAST_STEM + base[:1].isascii():
        return word
    forms = {base: None}
    if language == "de":  # Straße is also written Strasse, and Müller Mueller
        forms |= {base.replace("ss", "ß"): None, word[: len(base)].translate(_UMLAUTS): None}
    return Term(word, tuple(f"{form}*" for form in forms))


def find_overview(question: str, language: str, now: datetime) -> TimeExpression | None:
    """Returns the time if a question asks only for an overview of it: "Summarise March"."""
    subject = find_subject(question, language)
    span = parse_span(subject, now.astimezone().replace(tzinfo=None)) if subject else None
    return TimeExpression("range", span[0].astimezone(), span[1].astimezone(), subject) if span else None


def _asks_one(question: str, language: str) -> bool:
    """Whether it asks for a day, a number or a name."""
    kinds = filter(None, (alternatives("asks", kind, language=language) for kind in ("number", "name")))
    pattern = strip_accents("|".join(kinds))
    return asks_time(question) or (
        bool(pattern) and re.search(rf"(?<!\w)(?:{pattern})(?!\w)", strip_accents(question.lower())) is not None
    )


def find_writer(question: str, language: str, entities: Iterable[Mention]) -> str:
    """Returns the name of the person whose words a question asks for; "" without one."""
    names = [mention.surface for mention in entities if mention.kind == "name"]
    who = alternatives("asks", "name", language=language) or "(?!)"
    asks_who = re.search(rf"(?<!\w)(?:{who})(?!\w)", question, re.IGNORECASE)
    is_said = not word_set("time", "verbs", "says", language=language).isdisjoint(words(question))
    return names[0] if len(names) == 1 and is_said and not asks_who else ""


def _find_names(text: str, language: str, entities: Iterable[Mention]) -> dict[str, float]:
    """Returns every run of words that could name an object; the graph decides which ones do."""
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


@cache
def _first_person(language: str) -> re.Pattern[str]:
    """Returns a pattern of a language's first-person words; the owner's names become "I" and "my" in any."""
    patterns = [alternatives("analysis", "first_person", language=code) for code in dict.fromkeys((language, ENGLISH))]
    return re.compile("|".join(filter(None, patterns)), re.IGNORECASE)


def in_first_person(question: str, names: Iterable[str]) -> str:
    """Replaces the owner's `names` in `question` by "I", and "Ana's" by "my". A full name counts and each of its words
    alone, with a capital, or in any case in a question without capitals. A family name after another first name belongs
    to another person."""
    full = [words for name in names if (words := _words_of_name(name))]
    single = {word for words in full for word in words if word.lower() not in month_names()}
    if not full:
        return question
    firsts = {words[0].casefold() for words in full}
    alternatives = sorted({*(" ".join(words) for words in full), *single}, key=lambda name: (-len(name), name))
    pattern = re.compile(
        r"(?<![\w@.])(" + "|".join(map(re.escape, alternatives)) + r")(?![\w@]|\.\w)(['’]s?(?!\w))?", re.IGNORECASE
    )
    no_capitals = question == question.lower()

    def first_person(match: re.Match[str]) -> str:
        name = match[1]
        written = no_capitals or name[0] == name[0].upper()
        family = " " not in name and name.casefold() not in firsts
        if not written or (family and _is_first_name(question[: match.start()])):
            return match[0]
        return "my" if match[2] else "I"

    return pattern.sub(first_person, question)


def _words_of_name(name: str) -> list[str]:
    """Returns the words of a name, first name first: "Doe, Jane (work)" is Jane Doe."""
    last, _, first = _IN_BRACKETS.sub(" ", name).partition(",")
    return [
        word
        for word in _NAME_WORD.findall(f"{first} {last}")
        if len(word) > 1 and word.casefold().rstrip(".") not in word_set("honorifics")
    ]


def _is_first_name(before: str) -> bool:
    """Whether the text before a family name ends with a first name: a capitalised word that begins no sentence."""
    words = before.split()
    return len(words) > 1 and before[-1:].isspace() and words[-1].isalpha() and words[-1][0].isupper()
