"""A small grammar of statements: "X lives in Y", "my Y is Z", "X's Y is Z", "the Y of X is Z", "X costs N".

A statement begins where its sentence does, behind "so", "and" and a date at most, and its subject is a name, "I" or
something of mine; a sentence of another form tells nothing here. Its object ends at the first mark or little word.
The verbs are tables by language; so far English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.write import phrases
from memory.write.subjects import Said
from memory.write.told import Cardinality

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
    "now reports to": ("reports to", "one", "name"), "now report to": ("reports to", "one", "name"),
    "married": ("married to", "one", "name"), "is married to": ("married to", "one", "name"),
    "am married to": ("married to", "one", "name"), "got married to": ("married to", "one", "name"),
    "joined": ("joined", "many", "name"), "has joined": ("joined", "many", "name"),
    "have joined": ("joined", "many", "name"),
    "is called": ("is called", "one", "any"), "is now called": ("is called", "one", "any"),
    "is named": ("is called", "one", "any"), "was renamed to": ("is called", "one", "any"),
    "is allergic to": ("is allergic to", "many", "any"), "am allergic to": ("is allergic to", "many", "any"),
    "was born on": ("birthday", "one", "value"), "was born in": ("was born in", "unknown", "any"),
    "costs": ("costs", "one", "value"), "cost": ("costs", "one", "value"), "now costs": ("costs", "one", "value"),
    "will cost": ("costs", "one", "value"), "goes to": ("is", "one", "value"), "went to": ("is", "one", "value"),
    "rises to": ("is", "one", "value"), "rose to": ("is", "one", "value"), "drops to": ("is", "one", "value"),
    "dropped to": ("is", "one", "value"), "is now": ("is", "one", "any"), "are now": ("is", "one", "any"),
    "am now": ("is", "unknown", "any"), "is up to": ("is", "one", "value"), "weighs": ("weighs", "one", "value"),
    "weigh": ("weighs", "one", "value"), "speaks": ("speaks", "many", "name"), "drives": ("drives", "unknown", "any"),
    "studies": ("studies", "unknown", "any"), "switched to": ("uses", "unknown", "any"),
    "have switched to": ("uses", "unknown", "any"), "has switched to": ("uses", "unknown", "any"),
    "am back on": ("uses", "unknown", "any"), "are back on": ("uses", "unknown", "any"),
    "is back on": ("uses", "unknown", "any"),
}  # fmt: skip
# What ends: the predicate of what held before.
_ENDS: dict[str, tuple[str, ...]] = {
    "left": ("works at",), "has left": ("works at",), "have left": ("works at",), "quit": ("is",), "gave up": ("is",),
    "stopped": ("is",), "no longer works at": ("works at",), "no longer lives in": ("lives in",),
    "no longer work at": ("works at",), "no longer live in": ("lives in",), "no longer reports to": ("reports to",),
    "no longer uses": ("uses",), "no longer use": ("uses",), "am no longer": ("is",), "is no longer": ("is",),
    "are no longer": ("is",), "stopped using": ("uses",), "gave notice at": ("works at",),
}  # fmt: skip
_CONTRACTED = {"m": "am", "ve": "have", "s": "is", "re": "are"}

_PERSONAL = re.compile(r"(?P<i>i|we)(?:['’](?P<short>m|ve|re))?\s", re.IGNORECASE)
_OWN = re.compile(r"(?P<own>my|our)\s(?:(?:new|current)\s)?", re.IGNORECASE)
_NAME = r"(?:[A-ZÀ-ÖØ-ÞŁŚŻŹĆŠČŽ][\w’'&-]*\.?(?: (?:of|de|van|der|von|den|di|da|la|le) (?=[A-ZÀ-Þ]))?)"
_NAMED = re.compile(rf"(?P<name>\[\[[^\[\]\n]{{1,80}}\]\]|{_NAME}(?: {_NAME}){{0,4}})\s?(?=['’]s?\s|[a-z\s,(])")
_VERB = re.compile(
    r"(?:(?:now|currently|still|just|recently|finally|also|officially|then|already)\s)?(?P<verb>"
    + "|".join(sorted((re.escape(verb).replace(r"\ ", r"\s") for verb in {*_VERBS, *_ENDS}), key=len, reverse=True))
    + r")\s(?:now\s)?"
)
_IS = re.compile(
    r"(?:is|are|['’]s)\s(?:now\s|currently\s|still\s|called\s|actually\s)?|now\s(?:is|are)\s", re.IGNORECASE
)
_LEADS = re.compile(
    r"(?:\W|\b(?:so|and|but|then|ok|okay|well|yes|today|yesterday|finally|fyi|btw|update|also|since [a-z]+|monday|"
    r"tuesday|wednesday|thursday|friday|saturday|sunday|as of [a-z]+|from [a-z]+)\b){0,6}",
    re.IGNORECASE,
)
_OF = re.compile(r"the (?P<what>[a-z][a-z -]{1,30}) of (?=\[\[|[A-ZÀ-Þ])", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"[a-zà-ž][\wà-ž'’-]*(?: [a-zà-ž][\wà-ž'’-]*){0,2}")
_SEEN = re.compile(
    r"(?P<name>[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+){0,3})\*{0,2},? (?:who |which )?(?:has been|is now) "
    r"(?:my|our) (?P<what>[a-z]+(?: [a-z]+)?)\b"
)
_NO_OBJECT = frozenset(
    """a an the not very so too quite really just only also still never always good bad fine great nice gone here there
    back done ready ok okay late early happy sad tired sick closed open dead better worse over out up down off on in at
    being going getting making doing having because like about one more less most least all half""".split()
)
_GENERIC = frozenset("first last next main own whole other same best only favourite favorite".split())


@dataclass(frozen=True, slots=True)
class Statement:
    """`ended`: what held before and does no longer."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    cardinality: Cardinality
    ended: bool = False
    happened: bool = False


def of_sentence(said: Said) -> Iterator[Statement]:
    """What a sentence states, by the first form that it has."""
    text = said.text
    lead = _LEADS.match(text, said.start, said.end)
    start = lead.end() if lead else said.start
    if (seen := _SEEN.search(text, said.start, said.end)) is not None:
        yield Statement(said.teller, seen["what"], seen["name"], *seen.span(), "one")
        return
    if (own := _OWN.match(text, start, said.end)) is not None:
        yield from _attribute(said, said.teller, own.end(), own["own"].lower() == "our")
        return
    if (person := _PERSONAL.match(text, start, said.end)) is not None:
        first = _CONTRACTED.get((person["short"] or "").lower(), "")
        yield from _verb(said, said.teller, person.end(), first, True)
        return
    if (of := _OF.match(text, start, said.end)) is not None:
        named = _NAMED.match(text, of.end(), said.end)
        verb = _IS.match(text, named.end(), said.end) if named else None
        if named and verb:
            yield from _value(said, phrases.clean(named["name"]), of["what"], verb.end(), start)
        return
    if (named := _NAMED.match(text, start, said.end)) is not None:
        yield from _of_name(said, named)


def _of_name(said: Said, named: re.Match[str]) -> Iterator[Statement]:
    text, name = said.text, phrases.clean(named["name"])
    words = name.lower().split()
    place = named.end()
    if name.endswith(("'s", "’s")) or text[place : place + 3] in ("'s ", "’s "):
        owner = name.removesuffix("'s").removesuffix("’s")
        skipped = place + 3 if not name.endswith(("'s", "’s")) else place
        if (
            len(words) <= 4
            and words[0] not in phrases.PRONOUNS
            and words[0] not in ("let's", "today's", "here's", "what's")
        ):
            yield from _attribute_of(said, owner, skipped)
        return
    if words[0] in phrases.PRONOUNS or words[0] in phrases.STOPS or words == ["the"]:
        return
    yield from _verb(said, name, place, "", False)


def _attribute_of(said: Said, owner: str, start: int) -> Iterator[Statement]:
    match = _ATTRIBUTE.match(said.text, start, said.end)
    while match is not None:
        verb = _IS.match(said.text, match.end() + 1, said.end)
        if verb is not None:
            yield from _value(said, owner, match[0], verb.end(), start - len(owner))
            return
        shorter = match[0].rpartition(" ")[0]
        match = re.compile(re.escape(shorter)).match(said.text, start) if shorter else None


def _attribute(said: Said, subject: str, start: int, ours: bool) -> Iterator[Statement]:
    """ "my PM is Henning", "our office is now in Utrecht"."""
    del ours
    match = re.compile(r"(?P<what>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,3}?) (?=(?:now )?(?:is|are)\b)").match(
        said.text, start, said.end
    )
    if match is None:
        return
    verb = _IS.match(said.text, match.end(), said.end)
    if verb is not None and not any(word in phrases.STOPS for word in match["what"].lower().split()):
        yield from _value(said, subject, match["what"], verb.end(), start)


def _value(said: Said, subject: str, what: str, start: int, begin: int) -> Iterator[Statement]:
    """A name or a value behind "is"; an adjective or a clause is none."""
    span = phrases.right(said.text, start, said.end)
    if span is None or what.lower().split()[-1] in _GENERIC:
        return
    value = phrases.clean(said.text[span[0] : span[1]])
    if _names(value) or phrases.kind(value) != "word":
        yield Statement(subject, what.lower() if what[:1].islower() else what, value, begin, span[1], "one")


def _names(value: str) -> bool:
    """Whether it is a name: it has a capital."""
    words = value.split()
    return (
        0 < len(words) <= 6
        and words[0].lower() not in phrases.PRONOUNS
        and (value[:1].isupper() or any(word[:1].isupper() for word in words))
    )


def _verb(said: Said, subject: str, start: int, first: str, own: bool) -> Iterator[Statement]:
    text = said.text
    rest = text[start : start + 60].lower()
    line = f"{first} {rest}" if first else rest
    match = _VERB.match(line)
    if match is None:
        return
    verb = " ".join(match["verb"].split())
    place = start + match.end() - (len(first) + 1 if first else 0)
    span = phrases.right(text, place, said.end)
    if span is None or place >= said.end:
        return
    value = phrases.clean(text[span[0] : span[1]])
    first_word = value.lower().split()[0]
    if first_word in phrases.PRONOUNS or first_word in _NO_OBJECT or phrases.kind(subject) not in ("word",):
        return
    if verb in _ENDS:
        if _names(value) or verb.endswith("no longer") or verb in ("quit", "gave up", "stopped", "stopped using"):
            yield Statement(subject, _ENDS[verb][0], value, place, span[1], "unknown", True, True)
        return
    predicate, cardinality, wanted = _VERBS[verb]
    named, kind = _names(value), phrases.kind(value)
    if (wanted == "name" and (not named or kind != "word")) or (wanted == "value" and kind == "word"):
        return
    if verb in ("goes to", "went to") and kind != "number":
        return
    if predicate == "is" and kind == "word" and (own or len(value.split()) > 5):
        return
    happened = "moved" in verb or "joined" in verb or "switched" in verb or verb == "married"
    yield Statement(subject, predicate, value, start, span[1], cardinality, False, happened)
