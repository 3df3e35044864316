"""Checks whether a passage states what a model extracted from it.

The value of a relation must be in the sentence or row of its quote, and so must its subject, unless a title, a heading
or the salutation of a letter above names it, or the sentence begins with a pronoun for the only name in the sentence
before. Who is named last before the value, as what a verb is about, must be the subject."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import takewhile

from memory.facts.attributes import owner_pattern
from memory.facts.extraction import OWNER, ExtractedRelation, ExtractedThesis
from memory.text.clauses import CLAUSE_END, SUPPOSES, Clause, read_passage
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
from memory.text.sentences import ASKS, sentences
from memory.text.words import words

_IRREGULAR = frozenset(word for lines in tables("claims", "irregular") for line in lines for word in line.split()[1:])
_ARTICLES = word_set("facts", "articles")
_LABEL = re.compile(r"[\s*>#-]*([^\n.:!?]{2,50})[.:!?]")
_FIELD = re.compile(r"[\s*>#-]*[^\n.:!?]{2,50}:\s")
_NO_PHRASE = re.compile(r"[^\w\s'’-]")
_LAST_WORD = re.compile(rf"(\w+)\s*(?:\b(?:{'|'.join(_ARTICLES)}|\w)\s*)?$")  # before an article
_MARKS = "|*> -"
_ENDING = re.compile(r"(?:[^s]s|ed)$")  # of a verb
MAX_UNHEARD, MAX_UNHEARD_OF_THESIS = 0.5, 0.6  # share of the words of an object, or a thesis, that are not in the text
MAX_SALUTATION_WORDS = 5


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
        clauses = [sentence] if "|" in sentence else CLAUSE_END.split(sentence)
        own = [n for n, clause in enumerate(clauses) if _is_heard(item.object, clause)]
        if item.subject == OWNER and any(_first_person().search(clauses[n]) for n in own or range(len(clauses))):
            return ""
        if item.subject != OWNER:
            if fold(item.subject) in word_set("facts", "pronouns"):
                return "its subject is a pronoun"
            if _is_date(item.subject):
                return "its subject is a date"
            passage = [clause.content for clause in self._passage]
            if unheard_words(item.subject, passage, {OWNER})[0] or item.subject == item.object:
                return "its subject is not in the text"
        leads = [(clauses[:n], _text_before(item.object, clauses[n])) for n in own] or [
            ([], _text_before(item.object, sentence))
        ]
        if not any(self._is_told_of(item, *lead) for lead in leads):
            return "its sentence is about another person"
        if item.subject == OWNER:
            return ""
        if _is_heard(item.subject, sentence):
            claim = Clause(f"{item.subject} {item.predicate} {item.object}", self._language)
            is_reversed = any(claim.reverses(Clause(clauses[n], self._language)) for n in own)
            return "it is the other way round" if is_reversed else ""
        if _first_person().match(sentence.lstrip(_MARKS)):  # of who writes, or of what the title names
            above = self._head
        elif _they().match(sentence.lstrip(_MARKS)) and not item.subject[0].isupper():
            above = ""
        is_named = _is_heard(item.subject, above) or self._is_label(item.subject, place)
        is_named = is_named or self._is_meant(item.subject, sentence, place)
        return "" if is_named else "its subject is not in its sentence"

    def _is_told_of(self, item: ExtractedRelation, before: Sequence[str], lead: str) -> bool:
        """Whether what comes before the value, in its clause and in those `before`, may be about the subject: who is
        named last is the subject, or nobody is named."""
        language, above = self._language, " ".join(before)
        if that := _compile_that(language).search(lead):  # "Mira says that Tom lives in Oslo"
            speaker = f"{above} {lead[: that.start()]}".strip(_MARKS)
            lead = lead[that.end() :]
            if (_names(speaker) or _they().search(speaker)) and not _first_person().match(speaker):
                return item.modality != "asserted" and _is_heard(item.subject, lead)
        if item.subject[:1].islower() and _is_heard(item.subject, lead):
            return True
        if (names := _names(above)) and _compile_who(language).match(lead):  # "Mira met Tom, who lives in Oslo"
            return _is_heard(item.subject, names[-1].surface)
        first = WORD.search(lead)
        if first is not None and _is_verb(first[0]):  # "Petra, her sister, lives in Oslo"
            lead = f"{above} {lead}"
        return (self._subjects(item, lead.lstrip(_MARKS)) or [True])[-1]

    def _subjects(self, item: ExtractedRelation, text: str) -> list[bool]:
        """Whether each that a text is about is the subject of the fact: a name before a verb, a pronoun, and what
        somebody has or an article begins with ("her boss moved", "the hall costs"), unless the fact has that, too;
        nothing after a preposition. A row is about the name that it begins with."""
        language, known = self._language, f"{item.predicate} {item.object}"
        always = stop_words(language)
        little = always - _ARTICLES
        names = [name for name in _names(text) if name.norm not in COUNTS and not _is_heard(name.surface, known)]
        names = [name for name in names if self._owner.isdisjoint(map(fold, WORD.findall(name.surface)))]
        if "|" in text:
            return [_is_same(item.subject, name.surface) for name in names if name.start == 0 and " " in name.surface]
        marks = {pronoun.start(): item.subject != OWNER for pronoun in _they().finditer(text)}
        verbs = [word.start() for word in WORD.finditer(text) if _is_verb(word[0])]
        for name in names:
            before, verb = WORD.findall(text[: name.start]), WORD.match(text, name.end + 1)
            if verb is not None and _is_verb(verb[0]):  # behind another verb it is what somebody says
                is_report = item.modality == "asserted" and any(map(_is_verb, before[-1:]))
                marks[name.start] = _is_same(item.subject, name.surface) and not is_report
        for whose in _compile_whose(language).finditer(text):
            start, end, above = whose.start(), whose.end(), text[: whose.start()]
            verb_at = next((start for start in verbs if start > end + 1), len(text))  # not the noun: "her dogs"
            name_of = next((name for name in names if end < name.start < verb_at), None)
            noun, has = words(text[end : name_of.start if name_of else verb_at]), f"{item.subject} {known}"
            is_acted = _is_heard(item.subject, above) or _they().search(above) or _first_person().match(above)
            is_verb_first = len(words(above)) == 1 and not always.issuperset(words(above))  # "Lost her keys"
            if whose["article"]:  # "the boss of Mira moved"
                noun, name_of = [*takewhile(lambda word: word not in little, noun)], None
            elif whose["their"] and verb_at == len(text) and not is_acted and not is_verb_first:
                phrase = words(_NO_PHRASE.split(text[end:], maxsplit=1)[0])
                noun, name_of = [*takewhile(lambda word: word not in always, phrase)], None
                noun, verb_at = noun[:-1] or (noun if above else []), end  # "son frère habite": an unknown verb
                has = f"{item.subject} {known.partition(' ')[2]}"
            if not noun or not little.isdisjoint(noun) or (is_acted and verb_at == len(text)):
                continue  # "Mira visits her sister"
            if name_of:  # "her boss Anna Lind"
                marks[start] = _is_same(item.subject, name_of.surface)
            elif verb_at < len(text) and not any(_is_heard(word, has) for word in noun):
                marks[start] = False

        lasts = {start: _LAST_WORD.search(text[:start]) for start in marks}  # "told me her mother moved"
        little -= {last[1].lower() for last in lasts.values() if last and _first_person().fullmatch(last[1])}
        return [marks[start] for start, last in sorted(lasts.items()) if not last or last[1].lower() not in little]

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


def _text_before(value: str, text: str) -> str:
    """Returns the text before the first word of a value; all of it if the text has the value in other words."""
    first = WORD.search(value)
    place = re.search(rf"\b{re.escape(first[0])}\b", text, re.IGNORECASE) if first else None
    return text[: place.start()] if place else text


def _names(text: str) -> list[Mention]:
    return [name for name in mentions(text) if name.kind == "name" and name.start >= 0]


def _is_same(subject: str, name: str) -> bool:
    """Whether one of two names is a part of the other."""
    mine, theirs = content_of(subject), content_of(name)
    return not unheard_words(subject, [theirs])[0] or not unheard_words(name, [mine])[0]


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
    """Returns a pattern of the beginning of a relative clause: "who", or an article without a noun ("der in Oslo")."""
    who = alternatives("followup", "who", language=language) or "(?!)"
    little = "|".join(stop_words(language) - _ARTICLES)
    return re.compile(rf"\s*(?:(?:{who})|(?:{'|'.join(_ARTICLES)})(?=\s+(?:{little})\b))\b", re.IGNORECASE)


@cache
def _compile_whose(language: str) -> re.Pattern[str]:
    """Returns a pattern of what begins a noun: an article, "her" or "Mira's"."""
    article = "|".join(_ARTICLES - word_set("facts", "pronouns"))
    their = owner_pattern("their", language)
    return re.compile(
        rf"(?P<article>\A(?i:{article})\s)|\b(?P<their>(?i:{their}))\s|\b(?:[^\W\d_a-zß-ÿ]\w*\s)*[\w-]+['’]s?\s(?=\w)"
    )


@cache
def _they() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives('owner', 'they')})\b", re.IGNORECASE)


@cache
def _third_person() -> re.Pattern[str]:
    return re.compile(rf"{_they().pattern}|\b(?:{alternatives('owner', 'their')}|its?)\b", re.IGNORECASE)


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
