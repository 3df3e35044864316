"""Whether what a model wrote is proved by what it cites. Pure and quick: no model, no database.

An answer is read in *claims*: text up to and including the sentence that has a citation. A claim is proved when what it
cites exists, every name, number and date in it stands in what it cites (or in the question), and so do most of the
other words by which it says something new. A number that is worked out is proved by the two that stand beside it.
Nothing else of a model's text is shown to anybody.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from typing import Literal

from memory.answering.contradiction import find_contradiction
from memory.text.content import (
    CODE,
    COUNTS,
    ORDINAL,
    RARELY_NUMBERS,
    SAME_WORD,
    WORD,
    TextContent,
    blank,
    content_of,
    find_numbers,
    fold,
    is_dated,
    max_days_off,
    plain_number,
    undot,
)
from memory.text.languages import (
    ENGLISH,
    guess_language,
    stem,
    stem_set,
    stop_words,
    word_set,
)
from memory.text.mentions import Mention, is_date, mentions
from memory.text.words import words

# Of the words by which a claim says something new, fewer than so many may stand nowhere; one alone, where it ends no
# clause, as what answers does, may be a greater share.
MAX_UNSUPPORTED_SHARE, MAX_INNER_SHARE = 0.17, 0.34
NAME_WEIGHT_WORDS = 2  # words that a name, number or date counts which does stand there
MAX_OPERANDS = 12  # numbers of a claim from which others may be worked out
MAX_SHORT_CLAIM_WORDS = 8  # words of a claim in which "one" is more than an article
NO_ANSWER = "NO ANSWER"  # how a model is asked to say that the evidence does not hold the answer
REFUSAL_MARKS = " \n\t*#`\"'[("  # that may stand before it

ProblemKind = Literal["no_citation", "no_words", "unknown_citation", "not_there", "contradicted"]

_CITED = r"\[\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*\]"
CITATION = re.compile(_CITED)
# Verbs: behind an auxiliary, "to" or an adverb, and behind who does something.
_VERBS = re.compile(
    r"(?i:\b(?:is|are|was|were|be|been|being|has|have|had|must|will|to|can|may|should|also|now|not)) "
    r"([a-z]{2,}(?:ed|ing|en))\b|\b(?:[Yy]ou|[Tt]hey|[Ww]e|I|to|must|will|can|may|should) ([a-z]{3,})\b"
    r"|\b(?:[Hh]e|[Ss]he|[Ii]t|who|[A-Z][\w’'-]+) ([a-z]{3,}(?:s|ed))\b"
)
_STOPS, _CLOSERS, _BLANKS = ".!?。！？…", "\"'”’)*_", " \t"
RANGE_END = re.compile(r"[-–] ?(\d{1,2})\b")
GROUP = re.compile(rf"{_CITED}(?:[{_BLANKS}]*{_CITED})*")
_STOP = re.compile(rf"[{_BLANKS}]*[{_STOPS}]+[{_CLOSERS}]*")
_ADDRESS = re.compile(r"\w+://[^\s<>()\[\]]+|\bwww\.[^\s<>()\[\]]+|(?<=\]\()[^\s()]+")
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_GLUE = word_set("claims", "glue")
_GLUE_STEMS = _GLUE | stem_set("claims", "glue")
_PARAPHRASES = stem_set("claims", "paraphrases")
_REFUSING, _ASKABLE = stem_set("claims", "refusing"), stem_set("claims", "askable")
_NEGATING = word_set("claims", "negating")


@dataclass(frozen=True, slots=True)
class Proof:
    """What a citation can prove: all the words that were shown under its number, and the day they were written."""

    text: str
    at: datetime | None = None
    topic: str = ""  # what its title and its speaker say that it is about, all through it


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a claim is not proved. `what`: the words or numbers that are missing."""

    kind: ProblemKind
    what: tuple[str, ...] = ()

    def describe(self) -> str:
        """As the model is told."""
        named = ", ".join(f'"{one}"' for one in self.what)
        return {
            "no_citation": "it has no citation",
            "no_words": "it says nothing",
            "unknown_citation": f"there is no evidence with the number {named}",
            "not_there": f"{named} does not stand in what it cites",
            "contradicted": f"what it says of {named} is told otherwise in what it cites",
        }[self.kind]


def split_claims(text: str, *, ended: bool) -> tuple[list[str], str]:
    """The claims that are complete, and what is left over. Until the text has `ended` nothing is known of the last
    characters: another citation may follow."""
    found: list[str] = []
    start = 0
    groups = list(GROUP.finditer(text))
    for place, group in enumerate(groups, 1):
        stop = _STOP.match(text, group.end())
        end = stop.end() if stop else group.end()
        behind = len(text) - len(text[end:].lstrip(_BLANKS))
        if place < len(groups) and groups[place].start() == behind:  # more citations of the same sentence
            continue
        said = text[start : group.start()].rstrip().rstrip(_CLOSERS)
        if stop is None and not (said and (said[-1] in _STOPS or text[behind : behind + 1] == "\n")):
            continue
        rest = text[behind:].lstrip()
        if not ended and (not rest or (rest[0] == "[" and "]" not in rest)):
            break
        found.append(text[start:end])
        start = end
    left = text[start:]
    if ended and CITATION.search(left):
        return [*found, left], ""
    return found, left


def cited_numbers(claim: str) -> tuple[int, ...]:
    """The numbers that a claim cites, each once, in order; [2-4] are three."""
    numbers: dict[int, None] = {}
    for group in CITATION.findall(claim):
        for part in re.split(r"[,;]", group.strip("[] ")):
            ends = [int(number) for number in re.findall(r"\d+", part)]
            numbers.update(dict.fromkeys(range(ends[0], min(ends[-1], ends[0] + 20) + 1) if len(ends) > 1 else ends))
    return tuple(numbers)


def check_claim(claim: str, proofs: Mapping[int, Proof], question: str) -> Problem | None:
    """Why the claim is not proved by those of `proofs` that it cites, or None: it is."""
    numbers = cited_numbers(claim)
    if not numbers:
        return Problem("no_citation")
    if unknown := [str(number) for number in numbers if number not in proofs]:
        return Problem("unknown_citation", tuple(unknown))
    said = undot(" ".join(CITATION.sub(" ", claim).split()))
    if not any(character.isalnum() for character in said):
        return Problem("no_words")
    shown = [proofs[number] for number in numbers]
    addresses = [found[0] for found in _ADDRESS.finditer(said) if not any(found[0] in one.text for one in shown)]
    if addresses:  # nobody is led anywhere that the notes do not lead to
        return Problem("not_there", tuple(addresses[:6]))
    if missing := _missing(said, shown, question):
        return Problem("not_there", tuple(dict.fromkeys(missing))[:6])
    text, topic = ("\n".join(one) for one in zip(*((proof.text, proof.topic) for proof in shown), strict=True))
    wrong = find_contradiction(said, text, topic, question)
    return Problem("contradicted", tuple(dict.fromkeys(wrong))[:6]) if wrong else None


def is_refusal(text: str, question: str) -> bool:
    """Whether a text says that the evidence does not answer: in the form that a model is asked for, or in whatever
    words. Then it negates, speaks of what is told or known, and has no other word than the question's, in any form:
    "She does not smoke" is an answer."""
    if text.lstrip(REFUSAL_MARKS).upper().startswith(NO_ANSWER):
        return True
    said = list(words(CITATION.sub(" ", text).replace("_", " ").replace("’", "'")))
    known = dict.fromkeys((guess_language(f"{question} {text}"), ENGLISH))
    asked = {form for one in words(question) for form in (one, *SAME_WORD.get(one, ()))}
    asked = {stem(form, language) for form in asked for language in known}
    told = {word: {stem(word, language) for language in known} for word in said}
    if _NEGATING.isdisjoint(said) or not any(forms & _REFUSING and not forms & asked for forms in told.values()):
        return False
    little = _NEGATING.union(*map(stop_words, known))
    allowed = asked | _REFUSING | _ASKABLE | _GLUE_STEMS
    return all(word in little or forms & allowed for word, forms in told.items())


def _missing(said: str, shown: Sequence[Proof], question: str) -> list[str]:
    """Of a claim the dates, numbers, codes and names that neither what it cites nor the question holds; where there are
    none, its other words if too many of them stand nowhere."""
    asked = content_of(question)
    there = [asked, *(content_of(proof.text) for proof in shown)]
    numbers = frozenset[str]().union(*(one.numbers for one in there))
    allowed = numbers | {str(len(shown))}
    dates = [mention for mention in mentions(said) if is_date(mention.norm) and mention.start >= 0]
    rest = blank(said, dates)
    counted, names = list(find_numbers(rest)), _names(rest)
    new = ({one.norm for one in dates} - asked.dates) | ({number for _, number in counted} - asked.numbers)
    missing = _missing_dates(dates, shown, there, allowed)
    missing += _missing_numbers(said, counted, there, allowed | _worked_out(counted, there[1:]))
    if not new and "1" not in numbers - {str(len(shown))}:
        missing += _missing_counts(rest, there)
    missing += [code for code in CODE.findall(rest) if not any(fold(code) in one.codes for one in there)]
    missing += [word for word in names if not _is_named(fold(word), there)]
    if missing:
        return missing
    folded = {fold(word) for word in names}
    new |= {name for name in folded if not asked.names(name)}
    return _unsupported_words(rest, there, asked, folded, len(new))


def _missing_dates(
    dates: Sequence[Mention], shown: Sequence[Proof], there: Sequence[TextContent], numbers: Collection[str]
) -> list[str]:
    written = [(one.at.date(), max_days_off(one.text)) for one in shown if one.at is not None]
    undated = [one for one in dates if not is_dated(one.norm, there, written)]
    return [one.surface for one in undated if one.norm not in numbers]  # 1250 is a year, or a price


def _missing_numbers(
    said: str, counted: Iterable[tuple[str, str]], there: Sequence[TextContent], numbers: Collection[str]
) -> list[str]:
    """The numbers of a claim that stand nowhere; "3rd" may be a day as well, and so may be what ends "5-7 October"."""
    missing, ends = [], RANGE_END.findall(said)
    for surface, number in counted:
        if ORDINAL.match(surface):
            stands = any(number in one.days or surface in one.joined for one in there)
        else:
            stands = number in numbers or (surface in ends and any(number in one.days for one in there))
        if not stands:
            missing.append(surface)
    return missing


def _worked_out(counted: Iterable[tuple[str, str]], shown: Sequence[TextContent]) -> set[str]:
    """The differences and sums of two numbers of a claim that both stand in what it cites: "94 less (412 to 318)"."""
    numbers = frozenset[str]().union(*(one.numbers for one in shown))
    told = dict.fromkeys(number for _, number in counted if number in numbers and _DECIMAL.fullmatch(number))
    operands = [Decimal(number) for number in told][:MAX_OPERANDS]
    return {plain_number(str(one)) for a, b in combinations(operands, 2) for one in (abs(a - b), a + b)}


def _missing_counts(said: str, there: Sequence[TextContent]) -> list[str]:
    """The words of a short claim that count one thing: "The answer is one." """
    all_words = WORD.findall(said)
    if len(all_words) > MAX_SHORT_CLAIM_WORDS:
        return []
    return [word for word in all_words if word in RARELY_NUMBERS and not _is_named(word, there)]


def _is_named(word: str, there: Sequence[TextContent]) -> bool:
    return any(one.names(word) for one in there)


def _names(said: str) -> list[str]:
    """The words of a claim that name somebody or something, as they stand in it."""
    return [
        word
        for mention in mentions(said)
        if not is_date(mention.norm) and mention.kind != "tag"
        for word in WORD.findall(mention.surface)
        if len(fold(word)) >= 2 and (word[:1].isupper() or mention.kind == "email") and fold(word) not in _GLUE
    ]


def _unsupported_words(
    said: str, there: Sequence[TextContent], question: TextContent, names: set[str], hard: int
) -> list[str]:
    """The other words by which the claim says something new, if too many of them stand nowhere. `hard`: how many names,
    numbers and dates, that do, are new."""
    language = guess_language(said)
    little = stop_words(language)
    said_as = {stem(word, language): word for word in words(said) if word not in little}
    new = [
        word
        for word, written in said_as.items()
        if word not in _GLUE_STEMS
        and fold(word) not in names
        and written not in _NEGATING
        and not (word.isdigit() or ORDINAL.match(word))
        and written not in COUNTS
        and word not in question.stems
    ]
    unheard = [word for word in new if not any(one.tells(said_as[word], word) for one in there)]
    verbs = {stem(verb.lower(), language) for found in _VERBS.findall(said) for verb in found if verb}
    firm = [word for word in unheard if word not in verbs and _PARAPHRASES.isdisjoint(_stems_of(said_as[word], word))]
    if len(unheard) - len(firm) < len(new) or hard:  # something is left that can be proved
        unheard = firm
    if hard and language == guess_language(question.joined) != guess_language(
        " ".join(one.joined for one in there[1:])
    ):
        return []  # the person asks in another language than the notes are in
    loose = len(unheard) == 1 and not re.search(
        rf"\b{re.escape(said_as[unheard[0]])}\W*(?:$|[,.;:!?])", said, re.IGNORECASE
    )
    most = MAX_INNER_SHARE if loose else MAX_UNSUPPORTED_SHARE
    return unheard if unheard and len(unheard) >= most * (len(new) + NAME_WEIGHT_WORDS * hard) else []


def _stems_of(word: str, stemmed: str) -> set[str]:
    """The stems of all forms of a word."""
    return {stemmed, *(stem(form, ENGLISH) for form in SAME_WORD.get(word, ()))}
