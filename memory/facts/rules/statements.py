"""A small grammar of statements: "X lives in Y", "my Y is Z", "X's Y is Z", "the Y of X is Z", "X costs N",
"K is now Z" where the note has a field K.

A statement begins where its sentence does, behind "so", "and" and a date at most, and its subject is a name, "I" or
something of mine; a sentence of another form states nothing here. Its object ends at the first mark or stop word. The
verbs are those of the languages' tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from memory.facts.extraction import Cardinality, ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.subjects import CUES, Sentence, slot_before
from memory.text.languages import tables, word_set

# Words of a verb -> predicate, cardinality, what its object must be: "name" | "value" | "any".
_VERBS: dict[str, tuple[str, Cardinality, str]] = {
    form: (verb["predicate"], verb["cardinality"], verb["object"])
    for verb in chain.from_iterable(tables("facts", "verbs"))
    for form in verb["forms"]
}
# Words that say that something no longer holds -> its predicate.
_ENDS = {form: name for ends in tables("facts", "ends") for name, forms in ends.items() for form in forms}
_CONTRACTED = {"m": "am", "ve": "have", "s": "is", "re": "are"}

_NAME_WORD = r"(?:[A-ZÀ-ÖØ-ÞŁŚŻŹĆŠČŽ][\w’'&-]*\.?(?: (?:of|de|van|der|von|den|di|da|la|le) (?=[A-ZÀ-Þ]))?)"
_NAMED = re.compile(
    rf"(?P<name>\[\[[^\[\]\n]{{1,80}}\]\]|{_NAME_WORD}(?: {_NAME_WORD}){{0,4}})\s?(?=['’]s?\s|[a-z\s,(])"
)
_VERB = re.compile(
    r"(?:(?:now|currently|still|just|recently|finally|also|officially|then|already)\s)?(?P<verb>"
    + "|".join(sorted((re.escape(verb) for verb in {*_VERBS, *_ENDS}), key=len, reverse=True))
    + r")\s(?:now\s)?"
)
_IS = re.compile(r"(?:is|are|['’]s)\s(?:now\s|currently\s|still\s|called\s|actually\s)?|now\s(?:is|are)\s")
_LEADS = re.compile(
    r"(?:[^\w\[]|\b(?:so|and|but|then|ok|okay|well|yes|today|yesterday|finally|fyi|btw|update|also|since [a-z]+|monday|"
    r"tuesday|wednesday|thursday|friday|saturday|sunday|as of [a-z]+|from [a-z]+)\b){0,6}",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:(?:[,;]|\s[–—-])\s(?:(?:and|but|so)\s)?|\s(?:and|but|so)\s)(?:since [^,.;]{1,24} )?(?=(?:i|we|my|our)\b)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"(?:i|we)(?:['’](?P<short>m|ve|re))?\s", re.IGNORECASE)
_OWN = re.compile(r"(?:my|our)\s(?:(?:new|current)\s)?", re.IGNORECASE)
_OF = re.compile(r"[Tt]he (?P<what>[a-z][a-z -]{1,30}) of (?=\[\[|[A-ZÀ-Þ])")
_ATTRIBUTE = re.compile(r"(?P<what>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,3}?) (?=(?:now )?(?:is|are)\b)")
_QUOTES = re.compile(r"[\"“”„«»]")
_ARTICLE = re.compile(r"an?\s", re.IGNORECASE)
_STAY = re.compile(
    r"\bfor (?:the|a|an|one|two|three|four|five|six|\d+) (?:few )?"
    r"(?:days?|weeks?|months?|summer|winter|term|semester)\b|"
    r"\bfor now\b|\btemporar|\bat the moment\b|\bduring\b|\bthis (?:week|month|summer|winter)\b",
    re.IGNORECASE,
)
_NO_OBJECT = word_set("facts", "no_objects")
_GENERIC = word_set("facts", "generic")
_NO_OWNERS = word_set("facts", "no_owners")


# A relation, and whether an event brought it about. What no longer holds is negated.
Statement = tuple[ExtractedRelation, bool]


def find_statements(sentence: Sentence) -> Iterator[Statement]:
    """What a sentence states, by the first form that it has; what its clauses state of "I" and of what is mine."""
    text = sentence.text
    lead = _LEADS.match(text, sentence.start, sentence.end)
    start = lead.end() if lead else sentence.start
    of = _OF.match(text, start, sentence.end)
    if of is not None:
        named = _NAMED.match(text, of.end(), sentence.end)
        verb = _IS.match(text, named.end(), sentence.end) if named else None
        if named and verb and not _ARTICLE.match(text, verb.end()):
            yield from _value(sentence, phrases.clean(named["name"]), of["what"], verb.end(), start)
        return
    if updates := [*_field_update(sentence, start)]:
        yield from updates
        return
    if not sentence.cues.isdisjoint(CUES["value"]):
        yield from _now(sentence)
    if _QUOTES.search(text, sentence.start, start):  # somebody else's words
        return
    if not sentence.cues.isdisjoint(CUES["own"]):
        yield from _own(sentence, start)
        for clause in _CLAUSE.finditer(text, start, sentence.end):
            if len(_QUOTES.findall(text, sentence.start, clause.end())) % 2 == 0:
                yield from _own(sentence, clause.end())
    if (named := _NAMED.match(text, start, sentence.end)) is not None:
        yield from _of_name(sentence, named)


def _relation(
    subject: str, predicate: str, object: str, start: int, end: int, cardinality: Cardinality
) -> ExtractedRelation:
    return ExtractedRelation(
        subject=subject, predicate=predicate, object=object, start=start, end=end, cardinality=cardinality, conf=0.8
    )


def _own(sentence: Sentence, start: int) -> Iterator[Statement]:
    """A clause about its speaker: "I report to Ana", "my rent is 735"."""
    text = sentence.text
    if (own := _OWN.match(text, start, sentence.end)) is not None:
        what = _ATTRIBUTE.match(text, own.end(), sentence.end)
        verb = _IS.match(text, what.end(), sentence.end) if what else None
        if what and verb and phrases.STOPS.isdisjoint(what["what"].lower().split()):
            yield from _value(sentence, sentence.speaker, what["what"], verb.end(), start)
    elif (person := _PERSONAL.match(text, start, sentence.end)) is not None:
        helper = _CONTRACTED.get((person["short"] or "").lower(), "")
        yield from _verb(sentence, sentence.speaker, person.end(), helper, True)


def _now(sentence: Sentence) -> Iterator[Statement]:
    """ "The class moves to 10:00", "rent went up to 900", "the deadline is now 3 May": only of values."""
    text = sentence.text
    match = _BECOMES.search(text, sentence.start, min(sentence.end, sentence.start + 120))
    span = phrases.phrase_after(text, match.end(), sentence.end) if match else None
    if match is None or span is None or not phrases.is_plain(text[span[0] : span[1]]):
        return
    if _QUOTES.search(text, sentence.start, match.start()):
        return
    subject, predicate = slot_before(sentence, match.start(), "is")
    if subject and (subject != sentence.speaker or predicate != "is"):
        value = phrases.clean(text[span[0] : span[1]])
        sure = predicate == "is" or subject == sentence.topic or _OWN.match(text, sentence.start)
        yield _relation(subject, predicate, value, match.start(), span[1], "one" if sure else "unknown"), True


_BECOMES = re.compile(
    r"\b(?:(?:is|are) now(?: at)?|now (?:is|are)(?: at)?|(?:(?:has|have|was|were|is|are|been|gets) ){0,2}"
    r"(?:moves|moved|goes|went|extended|pushed|postponed|raised|lowered|increased|reduced|cut|dropped|drops|changed|rose|"
    r"rises|slips|slipped|bumped)(?: up| down| back)? to)\s",
)


def _field_update(sentence: Sentence, start: int) -> Iterator[Statement]:
    """ "Builder is now Casa Nova", in a note that has a field "Builder"."""
    if not sentence.topic or not sentence.field_keys:
        return
    logged = phrases.LOGGED.match(sentence.text, sentence.start, sentence.end)
    match = _UPDATE.match(sentence.text, max(start, logged.end() if logged else start), sentence.end)
    if match and match["key"].lower() in sentence.field_keys and not _ARTICLE.match(sentence.text, match.end()):
        yield from _value(sentence, sentence.topic, match["key"].lower(), match.end(), match.start())


_UPDATE = re.compile(
    r"(?:(?:the|our|my) )?(?:new )?(?P<key>[^\W\d_][^:;,.\n]{0,40}?) "
    r"(?:(?:is|are) now|now (?:is|are)|(?:has )?become|became|becomes|(?:has |was )?changed to) ",
    re.IGNORECASE,
)


def _of_name(sentence: Sentence, named: re.Match[str]) -> Iterator[Statement]:
    text, name = sentence.text, phrases.clean(named["name"])
    first = name.lower().split()[0] if name else ""
    place = named.end()
    owner = name.removesuffix("'s").removesuffix("’s")
    if owner != name or text[place : place + 3] in ("'s ", "’s "):
        place += 0 if owner != name else 3
        what = _ATTRIBUTE.match(text, place, sentence.end)
        verb = _IS.match(text, what.end(), sentence.end) if what else None
        known = len(owner.split()) <= 4 and first not in phrases.PRONOUNS
        plain = what is not None and what["what"][0].islower() and phrases.STOPS.isdisjoint(what["what"].split())
        known = known and plain and owner.lower() not in _NO_OWNERS
        if what and verb and known and not _ARTICLE.match(text, verb.end()):
            yield from _value(sentence, owner, what["what"], verb.end(), named.start())
    elif first and first not in phrases.PRONOUNS and first not in phrases.STOPS and name.lower() != "the":
        yield from _verb(sentence, name, place, "", False)


def _value(sentence: Sentence, subject: str, what: str, start: int, begin: int) -> Iterator[Statement]:
    """A name or a value behind "is"; an adjective or a clause is none."""
    span = phrases.phrase_after(sentence.text, start, sentence.end)
    if span is None or what.lower().split()[-1] in _GENERIC:
        return
    value = phrases.clean(sentence.text[span[0] : span[1]])
    if _names(value) or phrases.is_plain(value):
        yield _relation(subject, what.lower() if what[:1].islower() else what, value, begin, span[1], "one"), False


def _names(value: str) -> bool:
    """Whether it is a name: it begins with a capital."""
    tokens = value.split()
    return 0 < len(tokens) <= 5 and tokens[0].lower() not in phrases.PRONOUNS and value[:1].isupper()


def _is_object(value: str, predicate: str, wanted: str, own: bool) -> bool:
    """Whether a verb that wants a "name", a "value" or "any" object may have this one."""
    kind = phrases.value_kind(value)
    if (wanted == "name" and (not _names(value) or kind != "word")) or (wanted == "value" and kind == "word"):
        return False
    return not (predicate == "is" and kind == "word" and (own or len(value.split()) > 5))


def _verb(sentence: Sentence, subject: str, start: int, helper: str, own: bool) -> Iterator[Statement]:
    text = sentence.text
    lead = f"{helper} " if helper else ""
    match = _VERB.match(lead + text[start : start + 60].lower())
    place = start + match.end() - len(lead) if match else sentence.end
    span = phrases.phrase_after(text, place, sentence.end) if place < sentence.end else None
    if match is None or span is None:
        return
    verb, value, end = match["verb"], phrases.clean(text[span[0] : span[1]]), span[1]
    first = re.split(r"[\s'’]", value.lower())[0]
    if not value or first in phrases.PRONOUNS or first in _NO_OBJECT or phrases.value_kind(subject) != "word":
        return
    if verb in _ENDS:
        if _names(value) or verb.endswith("no longer") or verb == "stopped using":
            yield replace(_relation(subject, _ENDS[verb], value, place, end, "unknown"), modality="negated"), True
        return
    predicate, cardinality, wanted = _VERBS[verb]
    if not _is_object(value, predicate, wanted, own):
        return
    if predicate in ("lives in", "works at", "is based in") and _STAY.search(text, place, sentence.end):
        predicate, cardinality = "stays in" if predicate != "works at" else "helps at", "unknown"
    happened = verb.endswith(("moved to", "relocated to", "joined", "switched to", "married"))
    yield _relation(subject, predicate, value, start, end, cardinality), happened
