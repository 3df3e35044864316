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
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Literal

from memory.answering.candidates import stems
from memory.text.languages import ENGLISH, guess_language, stem, stem_set, stop_words, tables, word_numbers, word_set
from memory.text.mentions import Mention, is_date, mentions
from memory.text.words import ascii_digits, strip_accents, words

MAX_UNSUPPORTED_SHARE = 0.17  # of the words by which a claim says something new, fewer than so many may stand nowhere
NAME_WEIGHT_WORDS = 2  # words that a name, number or date counts which does stand there
MAX_ENDING_LETTERS = 2  # letters by which two forms of a name may differ at their end
MAX_OPERANDS = 12  # numbers of a claim from which others may be worked out
MAX_SHORT_CLAIM_WORDS = 8  # words of a claim in which "one" is more than an article
LEAST_NAME_LETTERS = 4  # letters that both have then in common
LEAST_ROOT_LETTERS, MAX_DERIVED_LETTERS = 5, 3  # of two words of one family: in common, and at the end of each

ProblemKind = Literal["no_citation", "no_words", "unknown_citation", "not_there"]

_CITED = r"\[\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*\]"
CITATION = re.compile(_CITED)
_STOPS, _CLOSERS, _BLANKS = ".!?。！？…", "\"'”’)*_", " \t"
_GROUP = re.compile(rf"{_CITED}(?:[{_BLANKS}]*{_CITED})*")
_STOP = re.compile(rf"[{_BLANKS}]*[{_STOPS}]+[{_CLOSERS}]*")
_ADDRESS = re.compile(r"\w+://[^\s<>()\[\]]+|\bwww\.[^\s<>()\[\]]+|(?<=\]\()[^\s()]+")
_NUMBER = re.compile(r"(?<![^\W_])\d+(?:st|nd|rd|th)\b|(?<![^\W_])\d+(?:[.,:/ ’']\d+)*")
_WITH_DAY = re.compile(r"-\d\d-\d\d$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
_CODE = re.compile(r"(?<!\w)[^\W\d_]+\d\w*")
_DOTTED = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}")
_GROUPED = re.compile(r"\d{1,3}(?:[,.’' ]\d{3})+")
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_COUNTS = {word: str(number) for word, number in word_numbers("claims", "numbers").items()} | {
    word: str(10 * number) for word, number in word_numbers("claims", "tens", first=1).items()
}
_SMALL = word_set("claims", "rarely_numbers")
_GLUE = word_set("claims", "glue")
_GLUE_STEMS = _GLUE | stem_set("claims", "glue")
_PARAPHRASES = stem_set("claims", "paraphrases")
_REFUSING, _ASKABLE = stem_set("claims", "refusing"), stem_set("claims", "askable")
_NEGATING = word_set("claims", "negating")
_SAME_WORD: dict[str, frozenset[str]] = {}  # form -> all forms and signs of the same word
for _listed in [*tables("claims", "irregular"), *tables("claims", "units")]:
    for _line in _listed:
        for _form in _line.split():
            _SAME_WORD[_form] = _SAME_WORD.get(_form, frozenset()).union(_line.split())
# What a passage says of time by the day on which it was written: (words, days by which it may be another).
_RELATIVE = [
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), int(days))
    for table in tables("claims", "days_off")
    for days, words in table.items()
]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a citation can prove: all the words that were shown under its number, and the day they were written."""

    text: str
    at: datetime | None = None


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
        }[self.kind]


def split_claims(text: str, *, ended: bool) -> tuple[list[str], str]:
    """The claims that are complete, and what is left over. Until the text has `ended` nothing is known of the last
    characters: another citation may follow."""
    found: list[str] = []
    start = 0
    groups = list(_GROUP.finditer(text))
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
    said = _undotted(" ".join(CITATION.sub(" ", claim).split()))
    if not any(character.isalnum() for character in said):
        return Problem("no_words")
    shown = [proofs[number] for number in numbers]
    addresses = [found[0] for found in _ADDRESS.finditer(said) if not any(found[0] in one.text for one in shown)]
    if addresses:  # nobody is led anywhere that the notes do not lead to
        return Problem("not_there", tuple(addresses[:6]))
    missing = _missing(said, shown, question)
    return Problem("not_there", tuple(dict.fromkeys(missing))[:6]) if missing else None


def says_nothing_is_known(text: str, question: str) -> bool:
    """Whether a text only says, in whatever words, that the evidence does not answer: it negates, speaks of what is
    told or known, and has no other word than the question's. "She does not smoke" is an answer."""
    language = guess_language(f"{question} {text}")
    said = list(words(CITATION.sub(" ", text).replace("_", " ").replace("’", "'")))
    asked = set(stems(question, language))
    told = {stem(word, language) for word in said} - asked
    if _NEGATING.isdisjoint(said) or _REFUSING.isdisjoint(told):
        return False
    little = stop_words(language) | _NEGATING
    return {stem(word, language) for word in said if word not in little} <= asked | _REFUSING | _ASKABLE | _GLUE_STEMS


def _missing(said: str, shown: Sequence[Proof], question: str) -> list[str]:
    """Of a claim the dates, numbers, codes and names that neither what it cites nor the question holds; where there are
    none, its other words if too many of them stand nowhere."""
    asked = _content_of(question)
    there = [asked, *(_content_of(proof.text) for proof in shown)]
    numbers = frozenset[str]().union(*(one.numbers for one in there))
    allowed = numbers | {str(len(shown))}
    dates = [mention for mention in mentions(said) if is_date(mention.norm) and mention.start >= 0]
    rest = _blank(said, dates)
    counted, names = list(_numbers(rest)), _names(rest)
    new = ({one.norm for one in dates} - asked.dates) | ({number for _, number in counted} - asked.numbers)
    missing = _missing_dates(dates, shown, there, allowed)
    missing += _missing_numbers(counted, there, allowed | _worked_out(counted, there[1:]))
    if not new and "1" not in numbers - {str(len(shown))}:
        missing += _missing_counts(rest, there)
    missing += [code for code in _CODE.findall(rest) if not any(_folded(code) in one.codes for one in there)]
    missing += [word for word in names if not _is_named(_folded(word), there)]
    if missing:
        return missing
    folded = {_folded(word) for word in names}
    new |= {name for name in folded if not asked.names(name)}
    return _unsupported_words(rest, there, asked, folded, len(new))


def _blank(text: str, found: Sequence[Mention]) -> str:
    """The text with blanks in the place of these mentions."""
    for one in found:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def _missing_dates(
    dates: Sequence[Mention], shown: Sequence[Proof], there: Sequence[_TextContent], numbers: Collection[str]
) -> list[str]:
    written = [(one.at.date(), _max_days_off(one.text)) for one in shown if one.at is not None]
    undated = [one for one in dates if not _is_dated(one.norm, there, written)]
    return [one.surface for one in undated if one.norm not in numbers]  # 1250 is a year, or a price


def _missing_numbers(
    counted: Iterable[tuple[str, str]], there: Sequence[_TextContent], numbers: Collection[str]
) -> list[str]:
    """The numbers of a claim that stand nowhere; "3rd" may be a day as well."""
    missing = []
    for surface, number in counted:
        if _ORDINAL.match(surface):
            stands = any(number in one.days or surface in one.joined for one in there)
        else:
            stands = number in numbers
        if not stands:
            missing.append(surface)
    return missing


def _worked_out(counted: Iterable[tuple[str, str]], shown: Sequence[_TextContent]) -> set[str]:
    """The differences and sums of two numbers of a claim that both stand in what it cites: "94 less (412 to 318)"."""
    numbers = frozenset[str]().union(*(one.numbers for one in shown))
    told = dict.fromkeys(number for _, number in counted if number in numbers and _DECIMAL.fullmatch(number))
    operands = [Decimal(number) for number in told][:MAX_OPERANDS]
    return {_plain(str(one)) for a, b in combinations(operands, 2) for one in (abs(a - b), a + b)}


def _missing_counts(said: str, there: Sequence[_TextContent]) -> list[str]:
    """The words of a short claim that count one thing: "The answer is one." """
    all_words = _WORD.findall(said)
    if len(all_words) > MAX_SHORT_CLAIM_WORDS:
        return []
    return [word for word in all_words if word in _SMALL and not _is_named(word, there)]


def _is_named(word: str, there: Sequence[_TextContent]) -> bool:
    return any(one.names(word) for one in there)


def _names(said: str) -> list[str]:
    """The words of a claim that name somebody or something, as they stand in it."""
    return [
        word
        for mention in mentions(said)
        if not is_date(mention.norm) and mention.kind != "tag"
        for word in _WORD.findall(mention.surface)
        if len(_folded(word)) >= 2 and (word[:1].isupper() or mention.kind == "email") and _folded(word) not in _GLUE
    ]


def _unsupported_words(
    said: str, there: Sequence[_TextContent], question: _TextContent, names: set[str], hard: int
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
        and _folded(word) not in names
        and not (word.isdigit() or _ORDINAL.match(word))
        and written not in _COUNTS
        and word not in question.stems
    ]
    unheard = [word for word in new if not any(one.tells(said_as[word], word) for one in there)]
    firm = [word for word in unheard if _PARAPHRASES.isdisjoint(_stems_of(said_as[word], word))]
    if len(unheard) - len(firm) < len(new) or hard:  # something is left that can be proved
        unheard = firm
    if hard and language == guess_language(question.joined) != guess_language(
        " ".join(one.joined for one in there[1:])
    ):
        return []  # the person asks in another language than the notes are in
    return unheard if unheard and len(unheard) >= MAX_UNSUPPORTED_SHARE * (len(new) + NAME_WEIGHT_WORDS * hard) else []


def _stems_of(word: str, stemmed: str) -> set[str]:
    """The stems of all forms of a word."""
    return {stemmed, *(stem(form, ENGLISH) for form in _SAME_WORD.get(word, ()))}


# What a text holds ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TextContent:
    """What is in a text: its folded words, their stems, its numbers, its dates as exactly as they are said."""

    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]
    days: frozenset[str]
    codes: frozenset[str]
    dates: frozenset[str]
    joined: str

    def tells(self, word: str, stemmed: str) -> bool:
        """Whether a word stands there in any form, as a unit's sign, or as another word of its family."""
        if stemmed in self.stems or self.names(_folded(word)):
            return True
        for form in _SAME_WORD.get(word, ()):
            if form in self.words or stem(form, ENGLISH) in self.stems or (not form.isalnum() and form in self.joined):
                return True
        kin = stemmed[:LEAST_ROOT_LETTERS]
        return len(kin) == LEAST_ROOT_LETTERS and any(
            other.startswith(kin) and max(len(root) for root in _endings(stemmed, other)) <= MAX_DERIVED_LETTERS
            for other in self.stems
        )

    def names(self, word: str) -> bool:
        """Whether a word stands there, in some form of it."""
        if word in self.words or stem(word, ENGLISH) in self.stems:
            return True
        if "-" in word:
            return all(self.names(part) for part in word.split("-") if part)
        if not word.isascii() and word in self.joined:  # scripts that do not tell words apart
            return True
        short = word[: max(LEAST_NAME_LETTERS, len(word) - MAX_ENDING_LETTERS)]
        return len(word) >= LEAST_NAME_LETTERS and any(
            other.startswith(short) and abs(len(other) - len(word)) <= MAX_ENDING_LETTERS and _same_start(other, word)
            for other in self.words
        )


def _endings(one: str, other: str) -> tuple[str, str]:
    """What is left of two words behind the letters that both begin with."""
    shared = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(one), len(other)) if shared is None else shared
    return one[shared:], other[shared:]


def _same_start(one: str, other: str) -> bool:
    least = min(len(one), len(other))
    return (
        one[:least] == other[:least]
        if abs(len(one) - len(other))
        else one[:-1] == other[:-1] and least > LEAST_NAME_LETTERS
    )


@lru_cache(maxsize=256)
def _content_of(text: str) -> _TextContent:
    text = _undotted(text)
    found = [word for run in _WORD.findall(text) for word in {run, *re.split(r"['’\-]", run)} if word]
    language = guess_language(text)
    told = [mention for mention in mentions(text) if is_date(mention.norm)]
    dates = frozenset(mention.norm for mention in told)
    rest = _blank(text, [one for one in told if one.start >= 0 and not one.norm.isdigit()])
    numbers = {number for _, number in _numbers(rest, every=True)}
    return _TextContent(
        frozenset(map(_folded, found)),
        frozenset(stems(text, language)) | frozenset(stem(word, ENGLISH) for word in words(text)),
        frozenset(numbers),
        frozenset(str(int(one[-2:])) for one in dates if _WITH_DAY.search(one)),
        frozenset(map(_folded, _CODE.findall(text))),
        dates,
        _folded(text),
    )


def _undotted(text: str) -> str:
    """ "U.S." as "US"."""
    return _DOTTED.sub(lambda match: match[0].replace(".", ""), text)


def _folded(word: str) -> str:
    return strip_accents(word.casefold()).replace("ß", "ss").removesuffix("'s").removesuffix("’s").strip("'’-")


def _numbers(text: str, *, every: bool = False) -> Iterable[tuple[str, str]]:
    """(as it stands, normal form) of the numbers of a text, also in English words. `every`: their parts as well."""
    for match in _NUMBER.finditer(ascii_digits(text)):
        surface = match[0]
        if _ORDINAL.match(surface):
            yield surface, _plain(surface[:-2])
            continue
        if _GROUPED.fullmatch(surface):
            yield surface, re.sub(r"\D", "", surface)
            if not every:
                continue
        if " " in surface or "/" in surface:
            yield from ((part, _plain(part)) for part in re.split(r"[ /]", surface))
        if " " not in surface and "/" not in surface:
            yield surface, _plain(surface)
    for word in _WORD.findall(text):
        for part in word.lower().split("-"):
            if part in _COUNTS and (every or part not in _SMALL):
                yield word, _COUNTS[part]


def _plain(number: str) -> str:
    """ "0,130" and "0.13" are one number, and so are "07:40" and "7:40"."""
    number = number.replace(",", ".")
    if re.fullmatch(r"\d+\.\d+", number):
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0"


def _max_days_off(text: str) -> int:
    return max((days for pattern, days in _RELATIVE if pattern.search(text)), default=0)


def _is_dated(norm: str, there: Sequence[_TextContent], written: Sequence[tuple[date, int]]) -> bool:
    """Whether a date is said there: as it is or more exactly, or the other way round without its year; or whether it
    lies where words like "last week" may lead from the day on which they were written. `written`: that day of each
    piece, and by how many days what it says of time may be another."""
    known = {date for one in there for date in one.dates} | {day.isoformat() for day, _ in written}
    if any(one == norm or one.startswith(f"{norm}-") for one in known):
        return True
    year_less = norm if norm.startswith("-") else norm[4:] if len(norm) > 4 else ""
    if norm.startswith("-"):
        return any(one.endswith(norm) or (len(norm) == 3 and one[4:].startswith(norm)) for one in known)
    years = {one[:4] for one in known if not one.startswith("-")}
    if year_less and norm[:4] in years and any(one == year_less or one.startswith(f"{year_less}-") for one in known):
        return True
    first, last = _span(norm)
    return any(first <= day + timedelta(days=off) and last >= day - timedelta(days=off) for day, off in written if off)


def _span(norm: str) -> tuple[date, date]:
    """First and last day of a date with a year."""
    parts = [int(part) for part in norm.split("-")]
    try:
        first = date(parts[0], parts[1] if len(parts) > 1 else 1, parts[2] if len(parts) > 2 else 1)
    except ValueError:  # the 31st of a month that has none
        return date.max, date.min
    length = (366, 31, 1)[len(parts) - 1]
    return first, min(first + timedelta(days=length - 1), date.max) if first.year < 9998 else first
