"""Checks whether a passage states what a model extracted from it.

The value of a relation must be in the sentence or row of its quote, and so must its subject, unless a title, a heading
or the salutation of a letter above names it, or the sentence begins with a pronoun for the only name in the sentence
before. A sentence that begins with another name is about that one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from memory.facts.attributes import owner_pattern
from memory.facts.extraction import OWNER, ExtractedRelation, ExtractedThesis
from memory.text.clauses import ASKS, CLAUSE_END, SUPPOSES, Clause, read_passage
from memory.text.content import COUNTS, ENDED, WORD, blank, content_of, find_numbers, fold, unheard_words
from memory.text.languages import (
    alternatives,
    guess_language,
    languages,
    stop_words,
    tables,
    word_numbers,
    word_set,
)
from memory.text.mentions import Mention, is_date, mentions
from memory.text.sentences import sentences
from memory.text.words import words

_IRREGULAR = frozenset(word for lines in tables("claims", "irregular") for line in lines for word in line.split()[1:])
_ARTICLES = word_set("facts", "articles")
_ARTICLE = re.compile(rf"^(?i:{'|'.join(_ARTICLES - word_set('facts', 'pronouns'))})\s+")
_DETERMINER = re.compile(rf"^(?i:{'|'.join(_ARTICLES)})\s+")
_NOUN = re.compile(r"((?:[^\W\d_][\w-]*\s+){1,3}?)([^\W\d_]+)\b(?!:)")
_LABEL = re.compile(r"[\s*>#-]*([^\n.:!?]{2,50})[.:!?]")
_FIELD = re.compile(r"[\s*>#-]*[^\n.:!?]{2,50}:\s")
_GENITIVE = re.compile(r"[\w-]+['’]s?\b(?=\s+\w)")
_MARKS = "|*> -"
_ENDING = re.compile(r"(?:[^s]s|ed)$")  # of a verb
MAX_UNHEARD, MAX_UNHEARD_OF_THESIS = 0.5, 0.6  # share of the words of an object, or a thesis, that are not in the text
MAX_SALUTATION_WORDS = 5
MAX_OPENING_WORDS = 6  # among which the verb of a sentence is looked for


class Support:
    """Checks a passage. `head`: the text shown above it, such as its title; `at`: when it was written; `names`: the
    owner's."""

    def __init__(self, text: str, head: str, at: datetime | None, names: Iterable[str] = ()) -> None:
        self._text = text
        self._spans = sentences(text)
        self._language = guess_language(text)
        self._head = head
        self._owner = {fold(word) for name in names for word in WORD.findall(name)}
        opening = text[slice(*self._spans[0])] if self._spans else ""
        if opening.endswith(",") and len(opening.split()) <= MAX_SALUTATION_WORDS:
            self._head += f"\n{opening}"
        self._sentences = read_passage(text, self._head, at)
        self._passage = (Clause(text, self._language, at), Clause(self._head, self._language, at))

    def problem(self, item: ExtractedRelation | ExtractedThesis) -> str:
        """Explains why the item is not stated, without its words; "" if it is. A question, a doubt or a denial asserts
        no relation."""
        if isinstance(item, ExtractedThesis):
            known = [day.date().isoformat() for day in (item.valid_from, item.valid_to) if day]
            return self._missing(item.text, self._passage, known)
        place = self._place(item)
        sentence = self._sentence(item, place)
        above = self._sentences[place[0]].head if place else self._head
        whole = Clause(sentence, self._language, self._passage[0].at, above)
        return (
            (self._missing(item.object, (whole, Clause(above, self._language))) if item.object != OWNER else "")
            or self._wrong_subject(item, sentence, above, place)
            or (_explain_unasserted(item, whole) if item.modality == "asserted" else "")
        )

    def _place(self, item: ExtractedRelation) -> range:
        """Returns the sentences of its quote; if one of them has its value, that one; else the sentence in the lines of
        the quote that has it with words of the predicate."""
        first, last = self._text.rfind("\n", 0, item.start) + 1, self._text.find("\n", item.end)
        around = self._places(first, last if last >= 0 else len(self._text))
        inside = self._places(item.start, item.end)
        if item.object != OWNER:
            around = [place for place in around if _is_heard(item.predicate, self._text[slice(*self._spans[place])])]
            whole = [n for n in (*inside, *around) if not self._missing(item.object, [self._sentences[n]])]
            inside = whole[:1] or inside
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def _places(self, first: int, last: int) -> list[int]:
        """Returns the numbers of the sentences between two characters."""
        return [place for place, (start, end) in enumerate(self._spans) if start < last and first < end]

    def _sentence(self, item: ExtractedRelation, place: range) -> str:
        if not place:
            return self._text[item.start : item.end]
        return self._text[self._spans[place[0]][0] : self._spans[place[-1]][1]]

    def _missing(self, text: str, near: Sequence[Clause], known: Sequence[str] | None = None) -> str:
        """Describes which of these words are missing `near`. `known`: days that are stated elsewhere; any stated object
        makes a thesis."""
        clause = Clause(text, self._language)
        for value in clause.values:
            if value.kind in ("name", "weekday") or any(clause.holds(value) for clause in near):
                continue
            if value.kind == "date":
                if not any(day.startswith(value.norm) for day in known or ()):
                    return "its date is not in the text"
            elif known is None or value.surface.lower() not in COUNTS:
                return "its number is not in the text"
        rest = clause.undated
        unheard, count = unheard_words(rest, [clause.content for clause in near], {OWNER})
        names = [word for word in WORD.findall(rest) if word[0].isupper() and known is None]
        strange = [word for word in names if word.lower() in unheard]
        numbers = 0 if strange else sum(value.kind in ("number", "day") for value in clause.values)
        share = MAX_UNHEARD if known is None else MAX_UNHEARD_OF_THESIS
        if len(unheard) > share * (count + numbers) or 2 * len(strange) > len(names):
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
        passage = [clause.content for clause in self._passage]
        if unheard_words(item.subject, passage, {OWNER})[0] or item.subject == item.object:
            return "its subject is not in the text"
        if reason := _explain_embedded(item, sentence):
            return reason
        if all(_is_of_relative(item, sentence if _goes_on(clause) else clause) for clause in own):
            return "its sentence is about another person"
        if any(_is_heard(item.subject, clause) for clause in own):
            claim = Clause(f"{item.subject} {item.predicate} {item.object}", self._language)
            is_reversed = any(claim.reverses(Clause(clause, self._language)) for clause in own)
            return "it is the other way round" if is_reversed else ""
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
        """Whether the line begins with the subject and punctuation: "**Hall lets.** The rate is 25"."""
        begin = self._text.rfind("\n", 0, self._spans[place[0]][0]) + 1 if place else 0
        label = _LABEL.match(self._text, begin)
        if label is None or not _is_heard(subject, label[1]):
            return False
        return not unheard_words(label[1], [content_of(subject)])[0]

    def _is_meant(self, subject: str, sentence: str, place: range) -> bool:
        """Whether a sentence that is no field, and names nobody or only after a pronoun, continues about the subject,
        which is the first name in the last sentence with a name of the paragraph above, or occurs later in the sentence
        itself."""
        pronoun = _third_person().search(sentence)
        most = pronoun.start() if pronoun else len(sentence)
        if not place or _FIELD.match(sentence):
            return False
        if any(mention.kind == "name" and 0 <= mention.start < most for mention in mentions(sentence)):
            return False
        begin = self._text.rfind("\n\n", 0, self._spans[place[0]][0])
        for start, end in reversed(self._spans[: place[0]]):
            if start < begin:
                return False
            before = self._text[start:end]
            first = next((mention.surface for mention in mentions(before) if mention.kind in ("name", "link")), None)
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
        if _names_another(item, words):
            return True
        sentence = (_ARTICLE if item.subject == OWNER else _DETERMINER).sub("", words)
        first = next((name for name in mentions(sentence) if name.start == 0 and name.kind in ("name", "link")), None)
        if first is None:
            noun = _NOUN.match(sentence) if sentence != words else None
            return (
                noun is not None
                and _is_verb(noun[2])
                and not any(_is_heard(name, noun[1]) for name in (item.subject, item.object))
                and not _is_heard(noun[1], item.predicate)
            )
        name = {fold(word) for word in WORD.findall(first.surface)}
        if first.surface.endswith(("ing", "ed")) or first.norm in COUNTS or name & self._owner:
            return False
        if any(_is_heard(end, first.surface) for end in (item.subject, item.object)):
            return False
        behind = sentence[first.end :].lstrip()
        if behind[:1] == "|":
            return " " in first.surface
        verb = WORD.match(behind)
        is_subject = verb is not None and (_is_verb(verb[0]) or sentence != words)
        return is_subject and not _is_heard(first.surface, item.predicate)


def _names_another(item: ExtractedRelation, words: str) -> bool:
    """Whether the name before the verb is another one: "Her sister Petra lives in Oslo", "Petra, her sister, lives"."""
    tokens = list(WORD.finditer(words))[:MAX_OPENING_WORDS]
    verb = next((token for token in tokens[1:] if _is_verb(token[0])), None)
    opening = words[: verb.start()].rstrip() if verb else ""
    names = [(value, role) for value, role in Clause(opening, guess_language(words)).roles if value.kind == "name"]
    if not names or names[-1][1]:
        return False
    before, _, behind = opening.rpartition(names[-1][0].surface)
    named = f"{_GENITIVE.sub('', opening)} {item.predicate}"
    is_subject = behind[:1] == behind[-1:] == "," if behind else bool(before)
    return is_subject and not (_is_heard(item.subject, named) or _is_heard(item.object, opening))


def _is_of_relative(item: ExtractedRelation, clause: str) -> bool:
    """Whether the clause is about a relative of the subject: "last year her boss Anna Lind moved to Oslo", "Mira's boss
    moved to Oslo". An attribute is no relative: "her rent is 900", "the studio's rent is 940"."""
    if item.subject[:1].islower():
        return False
    language = guess_language(clause)
    genitives = [rf"{re.escape(word)}s" for word in WORD.findall(item.subject)]
    whose = rf"\b(?:{'|'.join([owner_pattern('their', language), *genitives])})\b"
    lead = _text_before(item.object, clause)
    for mark in re.finditer(rf"(?i:{whose})|(?:[^\W\d_a-zß-ÿ]\w*\s+)*{_GENITIVE.pattern}", lead):
        before, behind = lead[: mark.start()], lead[mark.end() :]
        if _is_heard(item.subject, before) or _they().search(before) or _first_person().search(before):
            continue  # "Mira visits her sister"
        verb = next((word for word in WORD.finditer(behind) if _is_verb(word[0])), None)
        phrase = behind[: verb.start()] if verb else behind
        names = _names(phrase)
        if ":" in behind or not (verb or names):  # "Mira's boss: Anna Lind"
            continue
        if not verb:  # "with her sister Petra"
            small = words(before)[-1:]
        elif names and not phrase[names[-1].end :].strip(" ,"):
            small = words(phrase[: names[-1].start])[-1:]  # "her flat in Oslo"
        else:
            small = words(phrase)
        is_subject = stop_words(language).isdisjoint(small)
        if is_subject and not _is_heard(item.subject, behind) and not _is_heard(phrase, item.predicate):
            return True
    return False


def _goes_on(clause: str) -> bool:
    """Whether a clause begins with a verb, so that its subject is before it."""
    first = WORD.search(clause)
    return first is not None and _is_verb(first[0])


def _explain_embedded(item: ExtractedRelation, sentence: str) -> str:
    """Explains why an embedded clause with the value does not assert it of the subject; "" if it may: "Mira says that
    Tom lives in Oslo" asserts nothing of Tom, and "Mira met Tom, who lives in Oslo" nothing of Mira."""
    lead, language = _text_before(item.object, sentence), guess_language(sentence)
    marks = [(mark.start(), mark.end(), True) for mark in _compile_that(language).finditer(lead)]
    marks += [(mark.start(), mark.end(), False) for mark in _compile_who(language).finditer(lead)]
    for name in _names(lead):  # "Mira says Tom lives in Oslo"
        last, verb = WORD.findall(lead[: name.start])[-2:], WORD.match(lead, name.end + 1)
        if len(last) > 1 and _is_verb(last[-1]) and verb and _is_verb(verb[0]):
            marks.append((name.start, name.start, True))
    for start, end, is_report in marks:
        before = lead[:start].rstrip(" ,")
        names = _names(before)
        if not before or (is_report and not (names or _they().search(before))):
            continue
        if _is_heard(item.subject, lead[end:]):
            if is_report and item.modality == "asserted" and not _first_person().match(before.lstrip(_MARKS)):
                return "its sentence reports what somebody said"
        elif is_report or not _is_heard(item.subject, _last_phrase(before, names)):
            return "its sentence is about another person"
    return ""


def _text_before(value: str, text: str) -> str:
    """Returns the text before the first word of a value; all of it if the text has the value in other words."""
    first = WORD.search(value)
    place = re.search(rf"\b{re.escape(first[0])}\b", text, re.IGNORECASE) if first else None
    return text[: place.start()] if place else text


def _names(text: str) -> list[Mention]:
    return [name for name in mentions(text) if name.kind == "name" and name.start >= 0]


def _last_phrase(text: str, names: Sequence[Mention]) -> str:
    """Returns the name at the end of a text, or its last two words."""
    return names[-1].surface if names and names[-1].end == len(text) else " ".join(text.split()[-2:])


def _explain_unasserted(item: ExtractedRelation, sentence: Clause) -> str:
    """Explains why a sentence does not assert a relation; "" if it may."""
    text = sentence.text.strip(_MARKS)
    if ASKS.search(text):
        return "its sentence is a question"
    clauses = CLAUSE_END.split(text)
    own = [clause for clause in clauses if _is_heard(item.object, clause)] or [text]
    if SUPPOSES.match(text) or any(map(SUPPOSES.search, own)) or any(_condition().match(clause) for clause in clauses):
        return "its sentence supposes it"
    if item.valid_to is None and word_set("claims", "denying").isdisjoint(words(f"{item.predicate} {item.object}")):
        is_ended = any(_is_heard(item.object, part.text) for part in sentence.ended)
        if is_ended and not _is_heard(item.object, ENDED.sub(" ", text)):
            return "its sentence says that it is not so"
    return ""


def _is_heard(name: str, text: str) -> bool:
    """Whether a text has at least half of the words and numbers of a name; for a name without words, its letters."""
    content = content_of(text)
    unheard, count = unheard_words(name, [content], {OWNER})
    numbers = [number for _, number in find_numbers(name)]
    if not count and not numbers:
        return not set(WORD.findall(name)).isdisjoint(WORD.findall(text))
    missing = sum(number not in content.numbers | content.days for number in numbers)
    return 2 * (len(unheard) + missing) <= count + len(numbers)


def _is_date(name: str) -> bool:
    """Whether a name is only a date or a weekday."""
    if fold(name) in word_numbers("time", "weekdays"):
        return True
    dates = [mention for mention in mentions(name) if is_date(mention.norm) and mention.start >= 0]
    return bool(dates) and not any(map(str.isalnum, blank(name, dates)))


@cache
def _condition() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{alternatives('facts', 'modality', 'conditions')})\b", re.IGNORECASE)


@cache
def _compile_that(language: str) -> re.Pattern[str]:
    """Returns a pattern of the beginning of reported speech, before a name, a pronoun or an article."""
    subject = "|".join((owner_pattern("they", language), owner_pattern("their", language), *_ARTICLES))
    that = alternatives("owner", "that", language=language) or "(?!)"
    return re.compile(rf"\b(?i:{that})\s+(?=[^\W\d_a-zà-ÿ]|(?i:{subject})\b)")


@cache
def _compile_who(language: str) -> re.Pattern[str]:
    """Returns a pattern of the beginning of a relative clause."""
    return re.compile(rf"\b(?:{alternatives('followup', 'who', language=language) or '(?!)'})\b", re.IGNORECASE)


@cache
def _they() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives('owner', 'they')}|{alternatives('owner', 'their')})\b", re.IGNORECASE)


@cache
def _third_person() -> re.Pattern[str]:
    return re.compile(rf"{_they().pattern}|\bits?\b", re.IGNORECASE)


def _is_verb(word: str) -> bool:
    """Whether a word after a person's name is a verb: "lives", "moved", "took", "is"."""
    return (
        word in word_set("facts", "third_person")
        or _holds().fullmatch(word) is not None
        or (
            word.islower()
            and word.isalpha()
            and ((_ENDING.search(word) is not None and len(word) > 3) or word in _IRREGULAR)
        )
    )


@cache
def _holds() -> re.Pattern[str]:
    return re.compile(alternatives("telling", "holds"), re.IGNORECASE)


@cache
def _first_person() -> re.Pattern[str]:
    patterns = (alternatives("analysis", "first_person", language=code) for code in languages())
    return re.compile("|".join(filter(None, patterns)), re.IGNORECASE)
