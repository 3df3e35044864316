"""Whether a claim says otherwise than the text it cites, though all its words stand there.

Text and claim are compared clause by clause. What the text denies the claim must deny, and nothing else; a name or a
number must stand beside words of the claim, as long as another one stands beside them; "from A to B" must not be told
the other way round, nor who does something to whom. Where nothing is sure the claim stands: to throw away what is right
is no better than to show what is wrong. Pure and quick.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory.text.content import (
    CODE,
    COUNTS,
    OPPOSITES,
    SAME_WORD,
    WORD,
    TextContent,
    blank,
    content_of,
    find_numbers,
    fold,
)
from memory.text.languages import (
    ENGLISH,
    alternatives,
    guess_language,
    stem,
    stem_set,
    stop_words,
    tables,
    word_numbers,
    word_set,
)
from memory.text.mentions import is_date, mentions
from memory.text.sentences import sentences
from memory.text.words import words

MAX_PLAIN_WORDS = 14  # of a sentence that says one thing, in words that can be compared one by one
MAX_DENIED_WORDS = 3  # behind a word that denies
ENOUGH_OF_CLAIM = 0.5  # share of a clause's words that tells that a text's clause is about the same
_JOINS = alternatives("claims", "joins")
_CLAUSE = re.compile(
    rf"[,;()]\s|[()]|\s[–—-]\s|\b(?:{_JOINS})\b|\b(?:{alternatives('claims', 'instead')})\b", re.IGNORECASE
)
_INSTEAD = re.compile(rf"\b(?:{alternatives('claims', 'instead')})\W*$")
_FROM_TO = re.compile(r"\bfrom\s(.{1,40}?)\s(?:to|into)\s(.{1,40})")
_YES_OR_NO = re.compile(r"(?i:yes|no|ja|nein)[,.:;]\s+")
_HEAD_LINE = re.compile(r"#+ .*|(?:From|To|Cc|Bcc|Date|Subject|Sent|Reply-To): .*|(?:[^\W\d_a-z][\w.’'-]*\s?){1,4}")
_LABEL = re.compile(r"\W*([^:|]{1,40}):\s")
_ITEM = re.compile(r"^\W*\d{1,3}[.)]\s")
_CODED = re.compile(r"(?<!\w)[^\W\d_]+[\d.,/–-]*\d[\w.,/-]*")
_PREDICATE = re.compile(r"\b(?:is|are|was|were|be|been)\s+([a-z]{4,})")
_PASSIVE = re.compile(r"\bby\b")
_THIRD_PERSON = re.compile(rf"\b(?:{alternatives('owner', 'they')}|{alternatives('owner', 'their')})\b", re.IGNORECASE)
_WEEKDAYS = frozenset(form for one in word_numbers("time", "weekdays") for form in (one, f"{one}s"))
_KEY = re.compile(r"\d+(?:[.,:]\d+)*")
_MARKUP = re.compile(r"[*_`£$€]")
_DENYING = word_set("claims", "denying")
_UNITS = frozenset(word for table in tables("claims", "units") for line in table for word in line.split())
_GLUE = word_set("claims", "glue")
_GLUE_STEMS = _GLUE | stem_set("claims", "glue")


class _Clause(NamedTuple):
    """A clause of a text, in its sentence. `names`: its words in capitals; `numbers`: each with its unit; `denied`: it
    says that something is not so; `head`: it only names what the text is about, as its title."""

    sentence: int
    text: str
    content: TextContent
    names: frozenset[str]
    numbers: Mapping[str, str]
    dates: frozenset[str]
    denied: bool
    head: bool = False

    def holds(self, item: str) -> bool:
        """Whether a name, number or code stands there."""
        return item in self.numbers or item in self.content.codes or self.content.names(item)

    def overlap(self, told: Collection[str]) -> int:
        return sum(self.content.tells(word, stem(word, ENGLISH)) for word in told)


def find_contradiction(said: str, text: str, topic: str, question: str) -> list[str]:
    """The words by which a claim says otherwise than what it cites: it denies what is not denied there, or the other
    way round; says the opposite; or has a name or number that stands beside other words there, while another one
    stands beside those of the claim. `topic`: what the text is about all through, as its titles."""
    there, asked = _clauses(text, topic), content_of(f"{question}\n{topic}")
    known = frozenset[str]().union(*(one.names for one in there))
    said = _YES_OR_NO.sub("", said)
    is_short = len(WORD.findall(said)) <= MAX_PLAIN_WORDS
    for clause in _clauses(said):
        if _stands_so(clause.text, text):
            continue
        clause = clause._replace(names=clause.names & known)
        told = _told_by(clause)
        items = [*(clause.names - asked.words), *(clause.numbers.keys() - asked.numbers), *clause.content.codes]
        wrong = [one for one in dict.fromkeys(items) if _is_elsewhere(one, told, clause, there, is_short)]
        wrong += [
            one
            for one in clause.dates - asked.dates
            if is_short and _is_of_another_day(one, told | clause.names, clause, there)
        ]
        wrong = wrong or _denied_item(told, clause, there) or (_denied(told, clause, there) if is_short else [])
        wrong = wrong or _counted_otherwise(clause, there) or _swapped(clause, there)
        if wrong:
            return wrong
    return _reversed(said, text)


def _stands_so(clause: str, text: str) -> bool:
    """Whether a clause stands in a text word for word, and nothing that denies it before it."""
    told = list(words(clause))
    while told and (told[0] in _GLUE or told[0] in stop_words(ENGLISH)) and told[0] not in _DENYING:
        told = told[1:]
    before, found, _ = f" {' '.join(words(text))} ".partition(f" {' '.join(told)} ")
    return len(told) > 1 and bool(found) and _DENYING.isdisjoint(before.split()[-MAX_DENIED_WORDS:])


def _is_elsewhere(item: str, told: Collection[str], clause: _Clause, there: Sequence[_Clause], is_short: bool) -> bool:
    """Whether a name or number stands beside none of the claim's words, while another one does which the claim does not
    have; of a claim that `is_short` also beside fewer of them in the same sentence."""
    homes = [one for one in there if one.holds(item)]
    if not homes or not told or any(one.head for one in homes):
        return False
    of = {one.sentence for one in homes}
    others = {*clause.names, *clause.numbers} - {item}
    beside = max(one.overlap(told) + sum(map(one.holds, others)) for one in homes)
    by_name = {one.sentence for one in homes if item in one.names or item not in clause.names}
    if any(_overlap(told, there, place - (place in by_name), place + (place in by_name)) for place in of):
        rivals = (one for one in there if one.sentence in of and not one.holds(item) and _rivals(item, clause, one))
        return is_short and any(one.overlap(told) + sum(map(one.holds, others)) > beside for one in rivals)
    predicate = _PREDICATE.findall(clause.text)
    for other in there:
        if not other.head and _rivals(item, clause, other):
            most = _overlap(told, there, other.sentence)
            named = item in clause.names and (most == len(told) or other.overlap(predicate))
            if most > 1 or named:
                return True
    return False


def _rivals(item: str, clause: _Clause, other: _Clause) -> bool:
    """Whether a clause has another name, or another number of the same unit, that the claim's clause has not."""
    if item in clause.names:
        return bool(other.names - clause.names)
    if item in clause.content.codes:
        return bool(other.content.codes - clause.content.codes)
    unit = clause.numbers.get(item, "")
    return any(
        number not in clause.numbers and (not unit or not of or unit == of) for number, of in other.numbers.items()
    )


def _overlap(told: Collection[str], there: Sequence[_Clause], first: int, last: int = 0) -> int:
    """How many of these words stand in the sentences from the first to the last."""
    near = [one for one in there if first <= one.sentence <= max(first, last)]
    return sum(any(one.overlap([word]) for one in near) for word in told)


def _is_of_another_day(day: str, told: Collection[str], clause: _Clause, there: Sequence[_Clause]) -> bool:
    """Whether another day stands beside more of the claim's words."""
    year_less = day if day.startswith("-") else day[4:]
    homes = {
        one.sentence
        for one in there
        if any(date.startswith(day) or (year_less and year_less in date[-6:]) for date in one.dates)
    }
    if not homes:
        return False
    near = max(_overlap(told, there, place) for place in homes)
    others = {one.sentence for one in there if one.dates - clause.dates and not one.head} - homes
    return max((_overlap(told, there, place) for place in others), default=0) > max(near, 1)


def _denied_item(told: Collection[str], clause: _Clause, there: Sequence[_Clause]) -> list[str]:
    """A name, a number, a weekday or what the claim says that something is, which is only denied: "no longer on
    Thursdays", "is not affected"."""
    if clause.denied:
        return []
    days = (word for word in told if word in _WEEKDAYS)
    for item in (*clause.names, *clause.numbers, *days, *_PREDICATE.findall(clause.text)):
        homes = [one for one in there if one.holds(item)]
        if homes and all(one.denied and item in _denied_words(one) for one in homes):
            return [item]
    return []


def _denied_words(clause: _Clause) -> set[str]:
    """The words right behind one that denies; in a clause that begins behind "instead of" the first ones."""
    told = list(words(clause.text))
    places = [place for place, word in enumerate(told) if word in _DENYING] or [-1]
    return {word for place in places for word in told[place + 1 : place + 1 + MAX_DENIED_WORDS]}


def _denied(told: Collection[str], clause: _Clause, there: Sequence[_Clause]) -> list[str]:
    """The words of a clause if it denies what those that hold most of its words do not, or the other way round, or if
    it says the opposite."""
    named = {*told, *clause.names}
    overlaps = [one.overlap(named) for one in there]
    most = max(overlaps, default=0)
    about = [one for one in there if not one.denied and one.overlap(named) * 2 >= len(named) > 1]
    for word in _PREDICATE.findall(clause.text) if not clause.denied else ():
        if about and all(_is_opposed(word, one) for one in about):
            return [word]
    if not told or most < max(2, ENOUGH_OF_CLAIM * len(named)):
        return []
    tops = [one for one, overlap in zip(there, overlaps, strict=True) if overlap == most]
    if clause.denied:
        around = [one for one in there if any(-1 <= one.sentence - top.sentence <= 1 for top in tops)]
        opposed = any(_is_opposed(word, one) for word in told for one in around)
        return [] if opposed or any(one.denied for one in around) else sorted(told)[:3]
    opposite = [word for word in words(clause.text) if all(_is_opposed(word, one) for one in tops)]
    denied = all(one.denied for one in tops)
    return opposite if not denied else [] if opposite else sorted(told)[:3]


def _is_opposed(word: str, clause: _Clause) -> bool:
    """Whether the opposite of a word stands there, and not the word in any way."""
    same, opposite = OPPOSITES.get(stem(word, ENGLISH), (frozenset(), frozenset()))
    return bool(opposite & clause.content.stems) and not same & clause.content.stems


def _counted_otherwise(clause: _Clause, there: Sequence[_Clause]) -> list[str]:
    """A number before a word before which only other ones stand: "30 mutants"."""
    for number, unit in clause.numbers.items():
        counted = stem(unit, ENGLISH)
        of = {one.sentence for one in there if counted in {stem(told, ENGLISH) for told in one.numbers.values()}}
        told = {
            other
            for one in there
            if one.sentence in of
            for other, told_of in one.numbers.items()
            if not told_of or stem(told_of, ENGLISH) == counted
        }
        if unit and unit not in _UNITS and told and number not in told:
            return [number]
    return []


def _swapped(clause: _Clause, there: Sequence[_Clause]) -> list[str]:
    """Two names on the other sides of a verb than in the only clause that has all three; nobody does it "by" there."""
    claimed = [(fold(word), word) for word in WORD.findall(clause.text)]
    names = [word for word, _ in claimed if word in clause.names]
    if len(names) < 2 or _PASSIVE.search(clause.text):
        return []
    first, last = names[0], names[-1]
    order = [word for word, _ in claimed]
    between = {stem(word, ENGLISH) for word in order[order.index(first) + 1 : order.index(last)]} - _GLUE_STEMS
    homes = [one for one in there if one.holds(first) and one.holds(last) and between & one.content.stems]
    for one in homes:
        found = [fold(word) for word in WORD.findall(one.text)]
        verb = next((place for place, word in enumerate(found) if stem(word, ENGLISH) in between), -1)
        at = [next((place for place, word in enumerate(found) if word == name), -1) for name in (first, last)]
        if -1 in (verb, *at) or not at[1] < verb < at[0] or _PASSIVE.search(one.text):
            return []
    return [first, last] if homes else []


def _reversed(said: str, text: str) -> list[str]:
    """Of "from A to B" what is told the other way round: B was so, or A is what it became."""
    match = _FROM_TO.search(said)
    if match is None:
        return []
    before, behind = ((CODE.findall(part) or _KEY.findall(part) or WORD.findall(part))[:1] for part in match.groups())
    if not before or not behind:
        return []
    text = _MARKUP.sub("", text)

    def stands(how: str, word: str) -> bool:
        return re.search(rf"\b(?:{how})\s+(?:the\s+)?{re.escape(word)}\b", text, re.IGNORECASE) is not None

    was, becomes = alternatives("claims", "was"), alternatives("claims", "becomes")
    wrong = stands(was, behind[0]) and not stands("from", before[0])
    return behind if wrong else before if stands(becomes, before[0]) and not stands(was, before[0]) else []


def _told_by(clause: _Clause) -> frozenset[str]:
    """The words by which a clause says something, without names, numbers and units."""
    little = stop_words(guess_language(clause.text)) | _GLUE | _DENYING | _UNITS - _WEEKDAYS
    return frozenset(
        word
        for word in words(clause.text)
        if len(word) > 1
        and not word.isdigit()
        and word not in little
        and word not in COUNTS
        and fold(word) not in clause.names
    )


@lru_cache(maxsize=64)
def _clauses(text: str, topic: str = "") -> tuple[_Clause, ...]:
    """The clauses of a text. What stands before a colon is said of all behind it, and a pronoun stands for the names
    before it."""
    dates = [one for one in mentions(text) if is_date(one.norm) and one.start >= 0]
    bare = blank(text, [one for one in dates if not one.norm.isdigit()])
    small = (
        {word for word in WORD.findall(text) if word.islower()} | _GLUE | _WEEKDAYS | stop_words(guess_language(text))
    )
    found: list[_Clause] = []
    before: frozenset[str] = frozenset()
    number = 0
    for start, end in sentences(text):
        is_row = text.count("|", start, end) > 1
        number += 2 if is_row else 1  # rows are nobody's neighbours
        own = frozenset(day for one in dates if start <= one.start < end for day in content_of(text[start:end]).dates)
        sentence = bare[start:end]
        head = sentence.strip() in topic or _HEAD_LINE.fullmatch(sentence) is not None
        label = match[1] if (match := _LABEL.match(sentence)) else ""
        place = 0
        for part in [sentence] if is_row else _CLAUSE.split(sentence):
            place = sentence.index(part, place)
            denied = bool(_DENYING & set(words(part))) or _INSTEAD.search(sentence[:place]) is not None
            place += len(part)
            if not (WORD.search(part) or _KEY.search(part)):
                continue
            told = f"{label} {part}" if label and label not in part and ":" not in part else part
            names = frozenset(
                fold(word)
                for word in WORD.findall(part)
                if word[0].isupper() and word.lower() not in small and len(word) > 1
            )
            refers = bool(_THIRD_PERSON.search(part))
            content = _plain_content(f"{told} {' '.join(before)}" if refers else told)
            found.append(_Clause(number, told, content, names, _numbered(part), own, denied, head))
            before = names | before if refers else names or before
    return tuple(found)


def _numbered(text: str) -> dict[str, str]:
    """The numbers of a clause, each with the word or sign beside it that says of what; those of items and codes not."""
    text = _CODED.sub(" ", _ITEM.sub("", text))
    little = stop_words(guess_language(text))
    found = {}
    for surface, number in find_numbers(text, every=True):
        match = re.search(rf"([£$€])?\s?{re.escape(surface)}\s?([^\W\d_]+|%)?", text)
        unit = ((match[1] or match[2] or "") if match else "").lower()
        found[number] = "" if unit in little else min(SAME_WORD.get(unit, {unit}))
    return found


def _plain_content(text: str) -> TextContent:
    """What a clause holds, without its dates."""
    stems = frozenset(stem(word, code) for word in words(text) for code in (guess_language(text), ENGLISH))
    folded = frozenset(fold(part) for run in WORD.findall(text) for part in {run, *re.split(r"['’\-]", run)} if part)
    codes = frozenset(map(fold, CODE.findall(text)))
    none = frozenset[str]()
    return TextContent(folded, stems, none, none, codes, none, none, fold(text))
