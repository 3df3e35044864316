"""Whether a passage states what a model extracted from it.

The value of a relation must be in the sentence or row of its quote, and so must its subject, unless a title, a heading
or the salutation of a letter above names it, or the sentence begins with a pronoun for the only name in the sentence
before. A sentence that begins with another name is about that one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from memory.facts.extraction import OWNER, ExtractedRelation, ExtractedThesis
from memory.text.clauses import ASKS, CLAUSE_END, HEADING, SUPPOSES
from memory.text.content import (
    COUNTS,
    ENDED,
    WORD,
    TextContent,
    blank,
    content_of,
    find_numbers,
    fold,
    is_stated,
    unheard_words,
)
from memory.text.languages import ENGLISH, alternatives, languages, stem, tables, word_numbers, word_set
from memory.text.mentions import is_date, mentions
from memory.text.sentences import sentences
from memory.text.words import words

_IRREGULAR = frozenset(word for lines in tables("claims", "irregular") for line in lines for word in line.split()[1:])
_ARTICLE = re.compile(rf"^(?i:{'|'.join(word_set('facts', 'articles') - word_set('facts', 'pronouns'))})\s+")
_DETERMINER = re.compile(rf"^(?i:{'|'.join(word_set('facts', 'articles'))})\s+")
_NOUN = re.compile(r"((?:[^\W\d_][\w-]*\s+){1,3}?)([^\W\d_]+)\b(?!:)")
_LABEL = re.compile(r"[\s*>#-]*([^\n.:!?]{2,50})[.:!?]")
_FIELD = re.compile(r"[\s*>#-]*[^\n.:!?]{2,50}:\s")
_MARKS = "|*> -"
MAX_UNHEARD, MAX_UNHEARD_OF_THESIS = 0.5, 0.6  # share of the words of an object, or a thesis, that are not in the text
MAX_SALUTATION_WORDS = 5


class Support:
    """Checks that a passage states what a model extracted from it. `head`: the text shown above it, such as its title;
    `at`: when it was written; `names`: those of the owner."""

    def __init__(self, text: str, head: str, at: datetime | None, names: Iterable[str] = ()) -> None:
        self._text = text
        self._spans = sentences(text)
        self._at = at.date() if at else None
        self._head = head
        self._passage = (content_of(text), content_of(head))
        self._owner = {fold(word) for name in names for word in WORD.findall(name)}
        opening = text[slice(*self._spans[0])] if self._spans else ""
        if opening.endswith(",") and len(opening.split()) <= MAX_SALUTATION_WORDS:
            self._head += f"\n{opening}"

    def problem(self, item: ExtractedRelation | ExtractedThesis) -> str:
        """Why it is not stated, without its words; "" if it is. A question, a doubt or a denial asserts no relation."""
        if isinstance(item, ExtractedThesis):
            known = [day.date().isoformat() for day in (item.valid_from, item.valid_to) if day]
            return self._missing(item.text, self._passage, known)
        place = self._place(item)
        sentence = self._sentence(item, place)
        above = f"{self._head}\n{self._headings(place)}"
        near = (content_of(sentence), content_of(above))
        return (
            (self._missing(item.object, near) if item.object != OWNER else "")
            or self._wrong_subject(item, sentence, above, place)
            or (_unasserted(item, sentence) if item.modality == "asserted" else "")
        )

    def _place(self, item: ExtractedRelation) -> range:
        """The sentences of its quote; the one with its value, if one has it, or else the one in the lines of the quote
        that has it with words of the predicate."""
        first, last = self._text.rfind("\n", 0, item.start) + 1, self._text.find("\n", item.end)
        around = self._places(first, last if last >= 0 else len(self._text))
        inside = self._places(item.start, item.end)
        if item.object != OWNER:
            around = [place for place in around if _is_heard(item.predicate, self._text[slice(*self._spans[place])])]
            said = {place: content_of(self._text[slice(*self._spans[place])]) for place in (*inside, *around)}
            whole = [place for place in said if not self._missing(item.object, [said[place]])]
            inside = whole[:1] or inside
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def _places(self, first: int, last: int) -> list[int]:
        """The numbers of the sentences between two characters."""
        return [place for place, (start, end) in enumerate(self._spans) if start < last and first < end]

    def _sentence(self, item: ExtractedRelation, place: range) -> str:
        if not place:
            return self._text[item.start : item.end]
        return self._text[self._spans[place[0]][0] : self._spans[place[-1]][1]]

    def _headings(self, place: range) -> str:
        """The headings above, from the nearest up."""
        level, found = 99, []
        above = self._text[: self._spans[place[0]][0]] if place else ""
        for line in reversed(above.split("\n")[:-1]):
            if (mark := HEADING.match(line)) and len(mark[1]) < level:
                level = len(mark[1])
                found.append(line)
        return "\n".join(found)

    def _missing(self, said: str, near: Sequence[TextContent], known: Sequence[str] | None = None) -> str:
        """What is missing of these words `near`. `known`: days that are stated elsewhere; what has any is a thesis."""
        dates = [one for one in mentions(said) if is_date(one.norm) and one.start >= 0]
        if any(
            not (
                is_stated(one.norm, near, self._at, self._text, self._passage)
                or any(day.startswith(one.norm) for day in known or ())
            )
            for one in dates
        ):
            return "its date is not in the text"
        rest = blank(said, dates)
        numbers = {number for word, number in find_numbers(rest) if not (known is not None and word.lower() in COUNTS)}
        if any(not any(number in one.numbers | one.days for one in near) for number in numbers):
            return "its number is not in the text"
        unheard, count = unheard_words(rest, near, {OWNER})
        names = [word for word in WORD.findall(rest) if word[0].isupper() and known is None]
        strange = [word for word in names if word.lower() in unheard]
        share = MAX_UNHEARD if known is None else MAX_UNHEARD_OF_THESIS
        if len(unheard) > share * (count + (0 if strange else len(numbers))) or 2 * len(strange) > len(names):
            return "its words are not in the text"
        return ""

    def _wrong_subject(self, item: ExtractedRelation, sentence: str, above: str, place: range) -> str:
        named = {fold(word) for word in WORD.findall(item.subject)}
        if named and named <= self._owner and not _is_heard(item.subject, sentence):  # "you" of a mail to the owner
            item = replace(item, subject=OWNER)
        own = [clause for clause in CLAUSE_END.split(sentence) if _is_heard(item.object, clause)] or [sentence]
        if item.subject == OWNER:
            is_own = any(_first_person().search(clause) for clause in own)
            return "" if is_own or not self._is_of_another(item, sentence) else "its sentence is about another person"
        if fold(item.subject) in word_set("facts", "pronouns"):
            return "its subject is a pronoun"
        if _is_date(item.subject):
            return "its subject is a date"
        if unheard_words(item.subject, self._passage, {OWNER})[0] or item.subject == item.object:
            return "its subject is not in the text"
        if any(_is_heard(item.subject, clause) for clause in own):
            return "it is the other way round" if _is_reversed(item, sentence) else ""
        if all(self._is_of_another(item, clause) for clause in own):
            return "its sentence is about another person"
        if _is_heard(item.subject, sentence):
            return ""
        if self._is_of_another(item, sentence):
            return "its sentence is about another person"
        opening = sentence.lstrip(_MARKS)
        if _first_person().match(opening):  # of who writes, or of what the title names
            above = self._head
        elif _they().match(opening) and not item.subject[0].isupper():
            above = ""
        is_named = _is_heard(item.subject, above) or self._is_label(item.subject, place)
        is_named = is_named or self._is_meant(item.subject, sentence, place)
        return "" if is_named else "its subject is not in its sentence"

    def _is_label(self, subject: str, place: range) -> bool:
        """Whether the line opens with the subject and a stop: "**Hall lets.** The rate is 25"."""
        begin = self._text.rfind("\n", 0, self._spans[place[0]][0]) + 1 if place else 0
        label = _LABEL.match(self._text, begin)
        if label is None or not _is_heard(subject, label[1]):
            return False
        return not unheard_words(label[1], [content_of(subject)])[0]

    def _is_meant(self, subject: str, sentence: str, place: range) -> bool:
        """Whether a sentence that is no field and names nobody, or only after a pronoun, goes on about the subject: of
        the sentences of the paragraph above, it is the first name in the last one that has any, or is itself later."""
        pronoun = _third_person().search(sentence)
        most = pronoun.start() if pronoun else len(sentence)
        if not place or _FIELD.match(sentence):
            return False
        if any(one.kind == "name" and 0 <= one.start < most for one in mentions(sentence)):
            return False
        begin = self._text.rfind("\n\n", 0, self._spans[place[0]][0])
        for start, end in reversed(self._spans[: place[0]]):
            if start < begin:
                return False
            before = self._text[start:end]
            first = next((one.surface for one in mentions(before) if one.kind in ("name", "link")), None)
            if first is not None or _is_heard(subject, before):
                return _is_heard(subject, first or before)
        return False

    def _is_of_another(self, item: ExtractedRelation, words: str) -> bool:
        """Whether a sentence, clause or row begins with another subject: "Mira lives in Porto", "the hall costs 25",
        "She pays 740 euros", "| Mira Okafor | 740 |". A row begins with a name of several words."""
        words = words.lstrip(_MARKS)
        if item.subject == OWNER and ": " in words:  # after a colon it is the writer's
            return False
        if item.subject == OWNER and _they().match(words):
            return True
        if item.subject != OWNER and _first_person().match(words):  # it is of who writes, as the head says
            return False
        sentence = (_ARTICLE if item.subject == OWNER else _DETERMINER).sub("", words)
        first = next((one for one in mentions(sentence) if one.start == 0 and one.kind in ("name", "link")), None)
        if first is None:
            noun = _NOUN.match(sentence) if sentence != words else None
            return (
                noun is not None
                and _is_verb(noun[2])
                and not any(_is_heard(said, noun[1]) for said in (item.subject, item.object))
                and not _is_heard(noun[1], item.predicate)
            )
        name = {fold(word) for word in WORD.findall(first.surface)}
        if first.surface.endswith(("ing", "ed")) or first.norm in COUNTS or name & self._owner:
            return False
        if any(_is_heard(said, first.surface) for said in (item.subject, item.object)):
            return False
        behind = sentence[first.end :].lstrip()
        if behind[:1] == "|":
            return " " in first.surface
        verb = WORD.match(behind)
        is_subject = verb is not None and (_is_verb(verb[0]) or sentence != words)
        return is_subject and not _is_heard(first.surface, item.predicate)


def _is_reversed(item: ExtractedRelation, sentence: str) -> bool:
    """Whether a sentence says of the object what a relation says of its subject: "Jonas visited Petra"."""
    first = next((one for one in mentions(sentence) if one.kind in ("name", "link") and one.start >= 0), None)
    if first is None or not _is_heard(item.object, first.surface) or _is_heard(item.subject, first.surface):
        return False
    verb = WORD.match(sentence[first.end :].lstrip())
    return verb is not None and content_of(item.predicate).tells(verb[0], stem(verb[0], ENGLISH))


def _unasserted(item: ExtractedRelation, sentence: str) -> str:
    """Why a sentence does not assert a relation; "" if it may."""
    sentence = sentence.strip(_MARKS)
    if ASKS.search(sentence):
        return "its sentence is a question"
    clauses = CLAUSE_END.split(sentence)
    own = [clause for clause in clauses if _is_heard(item.object, clause)] or [sentence]
    if SUPPOSES.match(sentence) or any(map(SUPPOSES.search, own)) or any(_condition().match(one) for one in clauses):
        return "its sentence supposes it"
    if item.valid_to is None and word_set("claims", "denying").isdisjoint(words(f"{item.predicate} {item.object}")):
        rest = ENDED.sub(" ", sentence)
        ended = [part for match in ENDED.findall(sentence) for part in match if part]
        if not _is_heard(item.object, rest) and any(_is_heard(item.object, part) for part in ended):
            return "its sentence says that it is not so"
    return ""


def _is_heard(name: str, text: str) -> bool:
    """Whether a text has at least half of the words and numbers of a name; of one without words its letters."""
    content = content_of(text)
    unheard, count = unheard_words(name, [content], {OWNER})
    numbers = [number for _, number in find_numbers(name)]
    if not count and not numbers:
        return not set(WORD.findall(name)).isdisjoint(WORD.findall(text))
    missing = sum(number not in content.numbers | content.days for number in numbers)
    return 2 * (len(unheard) + missing) <= count + len(numbers)


def _is_date(name: str) -> bool:
    """Whether a name is a date or a weekday and nothing else."""
    if fold(name) in word_numbers("time", "weekdays"):
        return True
    dates = [mention for mention in mentions(name) if is_date(mention.norm) and mention.start >= 0]
    return bool(dates) and not any(map(str.isalnum, blank(name, dates)))


@cache
def _condition() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{alternatives('facts', 'modality', 'conditions')})\b", re.IGNORECASE)


@cache
def _they() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives('owner', 'they')}|{alternatives('owner', 'their')})\b", re.IGNORECASE)


@cache
def _third_person() -> re.Pattern[str]:
    return re.compile(rf"{_they().pattern}|\bits?\b", re.IGNORECASE)


def _is_verb(word: str) -> bool:
    """Whether a word after a name is a verb of that person: "lives", "moved", "took", "is"."""
    return (
        word in word_set("facts", "third_person")
        or _holds().fullmatch(word) is not None
        or (word.islower() and ((word.endswith(("s", "ed")) and len(word) > 3) or word in _IRREGULAR))
    )


@cache
def _holds() -> re.Pattern[str]:
    return re.compile(alternatives("telling", "holds"), re.IGNORECASE)


@cache
def _first_person() -> re.Pattern[str]:
    patterns = (alternatives("analysis", "first_person", language=code) for code in languages())
    return re.compile("|".join(filter(None, patterns)), re.IGNORECASE)
