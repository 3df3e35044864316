"""A small grammar of statements: "X lives in Y", "my Y is Z", "X's Y is Z", "the Y of X is Z", "X costs N".

A statement begins where its sentence does, behind "so", "and" and a date at most, and its subject is a name, "I" or
something of mine; a sentence of another form tells nothing here. Its object ends at the first mark or little word.
The verbs are tables by language; so far English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.facts.extraction import Cardinality
from memory.facts.rules import phrases
from memory.facts.rules.change_words import SIGNS
from memory.facts.rules.subjects import Said, named_before, slot_before

# Words of a verb -> (predicate, cardinality, what its object must be: "name" | "value" | "any").
_VERBS: dict[str, tuple[str, Cardinality, str]] = {
    "lives in": ("lives in", "one", "name"), "live in": ("lives in", "one", "name"),
    "am living in": ("lives in", "one", "name"), "is living in": ("lives in", "one", "name"),
    "are living in": ("lives in", "one", "name"),
    "moved to": ("lives in", "one", "name"), "has moved to": ("lives in", "one", "name"),
    "have moved to": ("lives in", "one", "name"), "relocated to": ("lives in", "one", "name"),
    "is based in": ("is based in", "one", "name"), "are based in": ("is based in", "one", "name"),
    "am based in": ("is based in", "one", "name"), "is headquartered in": ("is headquartered in", "one", "name"),
    "works at": ("works at", "one", "name"), "works for": ("works at", "one", "name"),
    "work at": ("works at", "one", "name"), "work for": ("works at", "one", "name"),
    "am working at": ("works at", "one", "name"), "is working at": ("works at", "one", "name"),
    "now works at": ("works at", "one", "name"), "now works for": ("works at", "one", "name"),
    "works as": ("works as", "one", "any"), "work as": ("works as", "one", "any"),
    "reports to": ("reports to", "one", "name"), "report to": ("reports to", "one", "name"),
    "am reporting to": ("reports to", "one", "name"), "am now reporting to": ("reports to", "one", "name"),
    "are reporting to": ("reports to", "one", "name"), "is reporting to": ("reports to", "one", "name"),
    "now reports to": ("reports to", "one", "name"), "now report to": ("reports to", "one", "name"),
    "married": ("married to", "one", "name"), "is married to": ("married to", "one", "name"),
    "am married to": ("married to", "one", "name"), "got married to": ("married to", "one", "name"),
    "joined": ("joined", "many", "name"), "has joined": ("joined", "many", "name"),
    "have joined": ("joined", "many", "name"),
    "goes by": ("is called", "one", "name"), "is called": ("is called", "one", "any"),
    "is now called": ("is called", "one", "any"),
    "is named": ("is called", "one", "any"), "was renamed to": ("is called", "one", "any"),
    "is allergic to": ("is allergic to", "many", "any"), "am allergic to": ("is allergic to", "many", "any"),
    "was born on": ("birthday", "one", "value"), "was born in": ("was born in", "unknown", "any"),
    "costs": ("costs", "one", "value"), "cost": ("costs", "one", "value"), "now costs": ("costs", "one", "value"),
    "will cost": ("costs", "one", "value"), "is now": ("is", "unknown", "any"), "are now": ("is", "unknown", "any"),
    "am now": ("is", "unknown", "any"), "is up to": ("is", "one", "value"), "weighs": ("weighs", "one", "value"),
    "weigh": ("weighs", "one", "value"), "speaks": ("speaks", "many", "name"), "use": ("uses", "many", "name"),
    "uses": ("uses", "many", "name"), "am called": ("is called", "one", "name"), "turned": ("age", "one", "value"),
    "drives": ("drives", "unknown", "any"),
    "switched to": ("uses", "unknown", "any"),
    "have switched to": ("uses", "unknown", "any"), "has switched to": ("uses", "unknown", "any"),
    "am back on": ("uses", "unknown", "any"), "are now on": ("uses", "unknown", "name"),
    "am now on": ("uses", "unknown", "name"), "now use": ("uses", "unknown", "any"),
    "now uses": ("uses", "unknown", "any"), "are back on": ("uses", "unknown", "any"),
    "is back on": ("uses", "unknown", "any"),
}  # fmt: skip
# What ends: the predicate of what held before.
_ENDS: dict[str, tuple[str, ...]] = {
    "left": ("works at",), "has left": ("works at",), "have left": ("works at",), "quit": ("works at",),
"no longer works at": ("works at",), "no longer lives in": ("lives in",),
    "no longer work at": ("works at",), "no longer live in": ("lives in",), "no longer reports to": ("reports to",),
    "no longer uses": ("uses",), "no longer use": ("uses",), "am no longer": ("is",), "is no longer": ("is",),
    "are no longer": ("is",), "stopped using": ("uses",), "gave notice at": ("works at",),
}  # fmt: skip
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
_OF = re.compile(r"the (?P<what>[a-z][a-z -]{1,30}) of (?=\[\[|[A-ZÀ-Þ])")
_OF_FIRST = re.compile(r"The (?P<what>[a-z][a-z -]{1,30}) of (?=\[\[|[A-ZÀ-Þ])")
_ATTRIBUTE = re.compile(r"(?P<what>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,3}?) (?=(?:now )?(?:is|are)\b)")
_SEEN = re.compile(
    r"(?P<name>[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+){0,3})\*{0,2},? (?:who |which )?(?:has been|is now) "
    r"(?:my|our) (?P<what>[a-z]+(?: (?!since|for|at|in|from|and|now)[a-z]+)?)\b"
)
_NEW = re.compile(r"\bnew (?P<what>[a-z]+)(?: [a-z ]{2,24})?(?P<mark>,|:| is| called) (?:\*\*|_|\*)?(?=\[\[|[A-ZÀ-Þ])")
_ROLE = re.compile(r"(?:My|Our) (?P<what>[a-z]+)(?= (?:for|since|at|in|from|and)\b|[,.(:]| \()")
_QUOTES = re.compile(r"[\"“”„«»]")
_ARTICLE = re.compile(r"an?\s", re.IGNORECASE)
_STAY = re.compile(
    r"\bfor (?:the|a|an|one|two|three|four|five|six|\d+) (?:few )?"
    r"(?:days?|weeks?|months?|summer|winter|term|semester)\b|"
    r"\bfor now\b|\btemporar|\bat the moment\b|\bduring\b|\bthis (?:week|month|summer|winter)\b",
    re.IGNORECASE,
)
_NO_OBJECT = frozenset(
    """a an the not very so too quite really just only also still never always good bad fine great nice gone here there
    back done ready ok okay late early happy sad tired sick closed open dead better worse over out up down off on in at
    being going getting making doing having because like about one more less most least all half""".split()
)
_GENERIC = frozenset(
    "first last next main own whole other same best only favourite favorite thing point idea one ones"
    " year month week day version plan goal term name".split()
)
_NO_OWNERS = frozenset("let that it here what there who today yesterday tomorrow he she how where".split())


@dataclass(frozen=True, slots=True)
class Statement:
    """`ended`: what held before and does no longer. `happened`: an event brought it about."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    cardinality: Cardinality
    ended: bool = False
    happened: bool = False


def of_sentence(said: Said) -> Iterator[Statement]:
    """What a sentence states, by the first form that it has; what its clauses state of "I" and of what is mine."""
    text = said.text
    if any(text.find(words, said.start, said.end) >= 0 for words in _SEEN_SIGNS):
        for seen in _SEEN.finditer(text, said.start, said.end):
            yield Statement(said.teller, seen["what"], seen["name"], *seen.span(), "one")
    if "new" in said.signs:
        yield from _new(said)
    lead = _LEADS.match(text, said.start, said.end)
    start = lead.end() if lead else said.start
    of = _OF.match(text, start, said.end) or _OF_FIRST.match(text, start, said.end)
    if of is not None:
        named = _NAMED.match(text, of.end(), said.end)
        verb = _IS.match(text, named.end(), said.end) if named else None
        if named and verb and not _ARTICLE.match(text, verb.end()):
            yield from _value(said, phrases.clean(named["name"]), of["what"], verb.end(), start)
        return
    if keyed := list(_keyed(said, start)):
        yield from keyed
        return
    if not said.signs.isdisjoint(SIGNS["value"]):
        yield from _now(said)
    if _QUOTES.search(text, said.start, start):  # somebody else's words
        return
    if not said.signs.isdisjoint(SIGNS["own"]):
        yield from _own(said, start)
        for clause in _CLAUSE.finditer(text, start, said.end):
            if len(_QUOTES.findall(text, said.start, clause.end())) % 2 == 0:
                yield from _own(said, clause.end())
    if (named := _NAMED.match(text, start, said.end)) is not None:
        yield from _of_name(said, named)


_SEEN_SIGNS = ("been my ", "been our ", "now my ", "now our ")


def of_beginning(said: Said) -> Iterator[Statement]:
    """What a note says of what it is about in its first words: "My reviser for medical texts." """
    match = _ROLE.match(said.text, said.start, said.end)
    if match is not None and said.about[:1].isupper() and match["what"] not in phrases.STOPS | _GENERIC:
        yield Statement(said.teller, match["what"], said.about, *match.span(), "one")


def _own(said: Said, start: int) -> Iterator[Statement]:
    """A clause about its teller: "I report to Ana", "my rent is 735"."""
    text = said.text
    if (own := _OWN.match(text, start, said.end)) is not None:
        what = _ATTRIBUTE.match(text, own.end(), said.end)
        verb = _IS.match(text, what.end(), said.end) if what else None
        if what and verb and phrases.STOPS.isdisjoint(what["what"].lower().split()):
            yield from _value(said, said.teller, what["what"], verb.end(), start)
    elif (person := _PERSONAL.match(text, start, said.end)) is not None:
        helper = _CONTRACTED.get((person["short"] or "").lower(), "")
        yield from _verb(said, said.teller, person.end(), helper, True)


def _new(said: Said) -> Iterator[Statement]:
    """ "Pixel: new vet round the corner, Dr. Thoms"."""
    text = said.text
    for match in _NEW.finditer(text, said.start, said.end):
        marked = text[match.end() - 1] in "*_" or text.startswith("[[", match.end())
        span = phrases.right(text, match.end(), said.end) if marked or match["mark"] == ":" else None
        name = phrases.clean(text[span[0] : span[1]]) if span else ""
        if span and len(name.split()) <= 4 and match["what"] not in phrases.CALENDAR | _GENERIC:
            subject = said.label if said.label and said.label[:1].isupper() else said.about or said.teller
            yield Statement(subject, match["what"], name, match.start(), span[1], "one", False, True)


def _now(said: Said) -> Iterator[Statement]:
    """ "The standup moves to 10:00", "rent went up to 900", "the deadline is now 3 May": only of values."""
    text = said.text
    match = _BECOMES.search(text, said.start, min(said.end, said.start + 120))
    span = phrases.right(text, match.end(), said.end) if match else None
    if match is None or span is None or not phrases.is_plain(text[span[0] : span[1]]):
        return
    if _QUOTES.search(text, said.start, match.start()):
        return
    subject, predicate = slot_before(said, match.start(), "is")
    if subject and (subject != said.teller or predicate != "is"):
        value = phrases.clean(text[span[0] : span[1]])
        sure = predicate == "is" or subject == said.about or _OWN.match(text, said.start)
        yield Statement(subject, predicate, value, match.start(), span[1], "one" if sure else "unknown", False, True)


_BECOMES = re.compile(
    r"\b(?:(?:is|are) now(?: at)?|now (?:is|are)(?: at)?|(?:(?:has|have|was|were|is|are|been|gets) ){0,2}"
    r"(?:moves|moved|goes|went|extended|pushed|postponed|raised|lowered|increased|reduced|cut|dropped|drops|changed|rose|"
    r"rises|slips|slipped|bumped)(?: up| down| back)? to)\s",
)


def _keyed(said: Said, start: int) -> Iterator[Statement]:
    """ "Builder is now Casa Nova", in a note that has a field "Builder"."""
    if not said.about or not said.keys:
        return
    logged = phrases.LOGGED.match(said.text, said.start, said.end)
    match = _KEYED.match(said.text, max(start, logged.end() if logged else start), said.end)
    if match is not None and match["key"].lower() in said.keys and not _ARTICLE.match(said.text, match.end()):
        yield from _value(said, said.about, match["key"].lower(), match.end(), match.start())


_KEYED = re.compile(
    r"(?:the |our |my |new )?(?P<key>[^\W\d_][^:;,.\n]{0,40}?) (?:(?:is|are) now|now is|has become|became|becomes"
    r"|(?:has |was )?changed to|from now on:?) ",
    re.IGNORECASE,
)


def _of_name(said: Said, named: re.Match[str]) -> Iterator[Statement]:
    text, name = said.text, phrases.clean(named["name"])
    first = name.lower().split()[0] if name else ""
    place = named.end()
    owner = name.removesuffix("'s").removesuffix("’s")
    if owner != name or text[place : place + 3] in ("'s ", "’s "):
        place += 0 if owner != name else 3
        what = _ATTRIBUTE.match(text, place, said.end)
        verb = _IS.match(text, what.end(), said.end) if what else None
        known = len(owner.split()) <= 4 and first not in phrases.PRONOUNS
        plain = what is not None and what["what"][0].islower() and phrases.STOPS.isdisjoint(what["what"].split())
        known = known and plain and owner.lower() not in _NO_OWNERS
        if what and verb and known and not _ARTICLE.match(text, verb.end()):
            yield from _value(said, owner, what["what"], verb.end(), named.start())
    elif first and first not in phrases.PRONOUNS and first not in phrases.STOPS and name.lower() != "the":
        yield from _verb(said, name, place, "", False)


def _value(said: Said, subject: str, what: str, start: int, begin: int) -> Iterator[Statement]:
    """A name or a value behind "is"; an adjective or a clause is none."""
    span = phrases.right(said.text, start, said.end)
    if span is None or what.lower().split()[-1] in _GENERIC:
        return
    value = phrases.clean(said.text[span[0] : span[1]])
    if _names(value) or phrases.is_plain(value):
        yield Statement(subject, what.lower() if what[:1].islower() else what, value, begin, span[1], "one")


def _names(value: str) -> bool:
    """Whether it is a name: it begins with a capital."""
    said = value.split()
    return 0 < len(said) <= 5 and said[0].lower() not in phrases.PRONOUNS and value[:1].isupper()


def _verb(said: Said, subject: str, start: int, helper: str, own: bool) -> Iterator[Statement]:
    text = said.text
    line = f"{helper} {text[start : start + 60].lower()}" if helper else text[start : start + 60].lower()
    match = _VERB.match(line)
    if match is None:
        return
    verb = match["verb"]
    place = start + match.end() - (len(helper) + 1 if helper else 0)
    if place >= said.end:
        return
    if _HIM.match(text, place, said.end):
        value, end = named_before(said, start), place + 3
    else:
        span = phrases.right(text, place, said.end)
        value, end = (phrases.clean(text[span[0] : span[1]]), span[1]) if span else ("", place)
    first = re.split(r"[\s'’]", value.lower())[0]
    if not value or first in phrases.PRONOUNS or first in _NO_OBJECT or phrases.kind(subject) != "word":
        return
    if verb in _ENDS:
        if _names(value) or verb.endswith("no longer") or verb == "stopped using":
            yield Statement(subject, _ENDS[verb][0], value, place, end, "unknown", True, True)
        return
    predicate, cardinality, wanted = _VERBS[verb]
    kind = phrases.kind(value)
    if (wanted == "name" and (not _names(value) or kind != "word")) or (wanted == "value" and kind == "word"):
        return
    if predicate == "is" and kind == "word" and (own or len(value.split()) > 5):
        return
    if predicate in ("lives in", "works at", "is based in") and _STAY.search(text, place, said.end):
        predicate, cardinality = "stays in" if predicate != "works at" else "helps at", "unknown"
    happened = verb.endswith(("moved to", "relocated to", "joined", "switched to", "married"))
    yield Statement(subject, predicate, value, start, end, cardinality, False, happened)


_HIM = re.compile(r"(?:her|him)\b(?! [a-z])")
