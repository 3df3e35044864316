"""Analyse: what is asked, found by rule: the words to search for, the names to look up, the time spoken of.

In a person's own notes they are "I", and a question that calls them by name means that. The name stands in few of the
notes (mails, mostly), so as a word to search for it only leads away from the others.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from memory.errors import InvalidInputError
from memory.nouns import Scope
from memory.retrieval.question_type import find_subject
from memory.retrieval.state import Anchor, QuestionState, Retrieval
from memory.stages import AnalysisNote, TimeNote
from memory.text.languages import (
    ENGLISH,
    alternatives,
    content_words,
    guess_language,
    stem,
    stop_words,
    tables,
    word_set,
)
from memory.text.mentions import Mention, mentions, norm
from memory.text.words import UNSPACED, WORD, Term, replace_surrogates, strip_accents, to_nfc, words
from memory.time.dates import month_names
from memory.time.expressions import (
    TimeExpression,
    asks_time,
    generic_verbs,
    is_state,
    parse_span,
    resolve_time,
    tense,
)
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
    when: TimeExpression | None = None,
) -> QuestionState:
    """The analysis of a question by its words alone. `person_names` are those of the person whose memory it is; `now`,
    by default `as_of` or the clock's time, is what "last week" is seen from. `when`: the time it speaks of, where that
    is known already. Raises InvalidInputError for an empty question or one over MAX_QUESTION_CHARS characters, a time
    without a zone, and a range that ends before it begins."""
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
    when = when or resolve_time(stripped, asked_on) or overview
    asked = in_first_person(stripped, person_names)
    of_owner = _first_person(language).search(asked) is not None
    if asked != stripped and not _content(asked, language):  # "Who is Ana?" is about nobody else
        asked = stripped
    terms = _content(asked, language) or tuple(dict.fromkeys(words(asked)))
    topic = _content(asked.replace(when.words, " "), language) if when else terms
    entities = tuple(mentions(stripped))
    writer = find_writer(stripped, language, entities)
    if writer or (when and of_owner):  # "What did I write last week?"
        says = word_set("time", "verbs", "says")
        terms, topic = (tuple(term for term in of if term not in says) for of in (terms, topic))
    is_past = tense(fold(stripped)) == "past" and not generic_verbs().isdisjoint(words(stripped))
    asking = generic_verbs() | word_set("lists", "calendar", language=language)
    if when and (overview or asking.issuperset(topic)):  # "What happened on 5 March?" has no topic
        topic = ()
    asks_all = not writer and not _asks_one(stripped, language) and (is_past or not topic)
    if asks_all and not topic and when and when.kind == "as_of" and when.since:  # not how things stood then
        when = replace(when, kind="range")
    return QuestionState(
        text=stripped,
        original=replace_surrogates(text),
        terms=terms[:MAX_TERMS],
        topic=topic[:MAX_TERMS],
        names=_names(asked, language, entities if asked == stripped else mentions(asked)),
        asked_on=asked_on,
        when=when,
        language=language,
        anchor=find_anchor(asked) if when is None else None,
        of_owner=of_owner,
        mentions=entities,
        writer=writer,
        asks_all=asks_all,
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
    topic = re.sub(alternatives("analysis", "happens"), " ", text, flags=re.IGNORECASE)
    found = [word for word in content_words(topic, language) if word not in _SELF]
    return tuple(found) if language == ENGLISH else tuple(_inflected(word, language) for word in found)


def _inflected(word: str, language: str) -> str:
    base = stem(word, language)
    if isinstance(word, Term) or UNSPACED.match(word) or len(base) < LEAST_STEM + base[:1].isascii():
        return word
    forms = {base: None}
    if language == "de":  # Straße is also written Strasse, and Müller Mueller
        forms |= {base.replace("ss", "ß"): None, word[: len(base)].translate(_UMLAUTS): None}
    return Term(word, tuple(f"{form}*" for form in forms))


def find_overview(question: str, language: str, now: datetime) -> TimeExpression | None:
    """The time of which an overview is asked for, and nothing else: "Summarise March"."""
    subject = find_subject(question, language)
    span = parse_span(subject, now.astimezone().replace(tzinfo=None)) if subject else None
    return TimeExpression("range", span[0].astimezone(), span[1].astimezone(), subject) if span else None


def _asks_one(question: str, language: str) -> bool:
    """Whether it asks for a day, a number or a name."""
    kinds = filter(None, (alternatives("asks", kind, language=language) for kind in ("number", "name")))
    asked = strip_accents("|".join(kinds))
    return asks_time(question) or (
        bool(asked) and re.search(rf"(?<!\w)(?:{asked})(?!\w)", strip_accents(question.lower())) is not None
    )


def find_writer(question: str, language: str, entities: Iterable[Mention]) -> str:
    """The name of whom a question asks what they wrote or said; "" if it asks nothing like that."""
    names = [one.surface for one in entities if one.kind == "name"]
    who = alternatives("asks", "name", language=language) or "(?!)"
    asks_who = re.search(rf"(?<!\w)(?:{who})(?!\w)", question, re.IGNORECASE)
    is_said = not word_set("time", "verbs", "says", language=language).isdisjoint(words(question))
    return names[0] if len(names) == 1 and is_said and not asks_who else ""


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


def find_anchor(question: str) -> Anchor | None:
    """What the question names a time by, if it does."""
    match = _anchor_pattern().search(question)
    if match is None:
        return None
    who = match["name"] or "i"
    about = tuple(word for word in content_words(match["about"], ENGLISH) if word.casefold() != match["verb"].lower())
    rest = f"{question[: match.start()]} {question[match.end() :]}".strip(" ,")
    side = match["side"].lower()
    if match["verb"].lower() in word_set("anchors", "no_events"):
        return None
    if not any(letter.isalpha() for letter in rest) or asks_time(rest):
        return None
    if side in ("since", "after") and is_state(rest):  # how things have stood since then may have been told before
        return None
    return Anchor(side, match[0].strip(), who.casefold(), match["verb"].lower(), about, rest)


@cache
def _anchor_pattern() -> re.Pattern[str]:
    [words] = tables("anchors", language=ENGLISH)
    return re.compile(
        rf"(?<!\w)(?P<side>(?i:{words['sides']}))\s+"
        rf"(?:(?i:{words['asker']})|(?P<name>[A-Z]\w+)(?:\s+[A-Z]\w+)?)\s+"
        rf"(?:(?:{words['adverbs']}) )*(?P<verb>[a-z]+)\b"
        rf"(?P<about>(?:(?!,|\?|!|;|\.(?:\s|$)|\b(?:{words['about_ends']})\b).)*)"
    )


@cache
def _first_person(language: str) -> re.Pattern[str]:
    """How a question in a language says that it is about whoever asks; names become "I" and "my" in any."""
    patterns = [alternatives("analysis", "first_person", language=code) for code in dict.fromkeys((language, ENGLISH))]
    return re.compile("|".join(filter(None, patterns)), re.IGNORECASE)


def in_first_person(question: str, names: Iterable[str]) -> str:
    """`question` with each of the person's own `names` as "I", and with "my" for "Ana's". A full name counts and each
    of its words alone, written like a name: with a capital, or anyhow in a question without capitals. A family name
    behind somebody else's first name is that one's."""
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
    """The words of a name, first name first: "Doe, Jane (work)" is Jane Doe."""
    last, _, first = _IN_BRACKETS.sub(" ", name).partition(",")
    return [
        word
        for word in _NAME_WORD.findall(f"{first} {last}")
        if len(word) > 1 and word.casefold().rstrip(".") not in word_set("honorifics")
    ]


def _is_first_name(before: str) -> bool:
    """Whether what stands before a family name is a first name: a capital that begins no sentence."""
    words = before.split()
    return len(words) > 1 and before[-1:].isspace() and words[-1].isalpha() and words[-1][0].isupper()
