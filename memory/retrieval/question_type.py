"""The type of a question: what an answer to it looks like, by the question's words alone.

One fact, one line; "what do I know about X" a briefing; "which ... did I" one line for each. A wrong guess costs an
order of lines and nothing else, so what the rules do not know is a question for one fact. They know English and German.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memory.text.languages import ENGLISH, stem, stop_words
from memory.text.mentions import is_date, mentions, norm
from memory.text.words import UNSPACED

Kind = Literal["fact", "when_changed", "compare", "list", "count", "about", "yes_no"]

MANY = 30  # episodes that a question of many is answered from
NAME_WORDS = 4  # of a name that is asked about without anything else


_HONORIFIC = re.compile(r"^(?:(?:dr|prof|mr|mrs|ms|sir|dame|herr|frau)\b\.?\s+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionType:
    """`subjects`: as they stand in the question, what a briefing is about, or the two sides of a comparison; none for
    other kinds. `in_order`: it asks what was when, one after the other, or how often something was."""

    kind: Kind = "fact"
    subjects: tuple[str, ...] = ()
    in_order: bool = False


FACT = QuestionType()
_COURSE = {
    ENGLISH: "change changes changed changing shift shifted develop developed evolve evolved move moved order ordered"
    " time times year years month months history successive successively after another go going gone went through"
    " before list first then over",
    "de": "ändern ändert geändert änderung verändert entwickelt verschoben verlauf reihenfolge zeit jahre jahren nach"
    " nacheinander geschichte liste vorher zuerst dann",
}  # the words by which a course is asked for, which are not what it is the course of


_ASKS_COURSE = re.compile(
    r"\b(in order|over time|over the years|history of|successive(ly)?|one after (the other|another)|through before"
    r"|how (has|have|did) .{1,80} (change|changed|shift|shifted|develop|developed|evolve|evolved|move|moved)\b"
    r"|(list|which|what) .{1,80} (has|have) had\b|ha[sd]? gone through|did .{1,60} go through)",
    re.IGNORECASE,
)


def asks_course(question: str) -> bool:
    """Whether a question asks how something changed, not how it is."""
    return _ASKS_COURSE.search(question) is not None


@cache
def course_words(language: str) -> frozenset[str]:
    """The stems of the words by which a question asks how something changed."""
    return frozenset(stem(word, language) for word in _COURSE.get(language, "").split())


@dataclass(frozen=True, slots=True)
class _Words:
    """Patterns of one language, looked for in the question without the marks at its end. `about` holds the group
    `name`, or `what`, which must be a name; `compared` those of two sides `a` and `b`."""

    about: re.Pattern[str]
    when: re.Pattern[str]
    not_when: re.Pattern[str]
    count: re.Pattern[str]
    times: re.Pattern[str]
    measured: re.Pattern[str]
    comparing: re.Pattern[str]
    compared: re.Pattern[str]
    list: re.Pattern[str]
    yes_no: re.Pattern[str]


def question_type(question: str, language: str = ENGLISH, known: Collection[str] = ()) -> QuestionType:
    """What a question in that language asks for. `known`: names of objects that it was found to name."""
    text = " ".join(question.split()).rstrip(" ?!.,;:？。")
    words = _words(language) or _words(ENGLISH)
    if words is None or not text:
        return FACT
    in_order = asks_course(text)
    if _ON_LIST.match(text):
        return QuestionType("list")
    subject = _only_name(text, known) or _asked_about(text, words, known)
    if subject:
        return QuestionType("about", (subject,))
    if _words(language) is None:
        return FACT
    if words.count.search(text) and not words.measured.search(text):
        return QuestionType("count", in_order=words.times.search(text) is not None)
    compared = sides(text, language)
    if compared:
        return QuestionType("compare", compared)
    if words.when.match(text) and not words.not_when.search(text):
        return QuestionType("when_changed")
    if in_order or words.list.search(text):
        return QuestionType("list", in_order=in_order)
    return QuestionType("yes_no") if words.yes_no.match(text) else FACT


def format_hint(type: QuestionType) -> str:
    """How an answer of that type is to be written, as a sentence for a model; "" where that needs no word."""
    return _IN_ORDER if type.kind == "list" and type.in_order else _HINTS[type.kind]


def episode_count(type: QuestionType, usual: int) -> int:
    """How many episodes an answer of that type is made from, where one fact takes the `usual` number."""
    many = type.kind in ("list", "about") or (type.kind == "count" and type.in_order)
    return max(usual, MANY) if many else usual


_HINTS: dict[Kind, str] = {
    "fact": "",
    "yes_no": "Begin the first sentence with yes or no.",
    "when_changed": "Say from which day on it has been so, and what was before, where that is known.",
    "compare": "Say what holds of each side in a sentence of its own, then how they compare.",
    "list": "Name every one that the evidence names, each on a line of its own, with its date where it has one.",
    "count": "Put each one that counts on a line of its own, with its date where it has one.",
    "about": "Write a briefing of a few lines: what or who it is, what belongs to it and since when, what has changed,"
    " and what is newest.",
}
_IN_ORDER = "Say what was when, the oldest first, each on a line of its own with its date."


def sides(text: str, language: str) -> tuple[str, ...]:
    """The two things that a question without the marks at its end compares, as they stand there; none if it compares
    no two."""
    words = _words(language)
    match = (_EITHER.search(text) or words.compared.search(text)) if words and words.comparing.search(text) else None
    if match is None:
        return ()
    found = tuple(match[side].strip(" \"'“”„«»*") for side in "ab")
    named = all(mentions(f"the {_bare(side)}") for side in found)
    return found if named and norm(found[0]) != norm(found[1]) else ()


def _only_name(text: str, known: Collection[str]) -> str:
    """The text, if it is a name and nothing else."""
    return text if is_name(text) or (norm(text) and norm(text) in {norm(name) for name in known}) else ""


def _asked_about(text: str, words: _Words, known: Collection[str]) -> str:
    match = words.about.match(text)
    if match is None:
        return ""
    if match["name"]:
        return _bare(match["name"])
    asked = _bare(match["what"])
    alone = asked.lower() == asked and norm(asked) in {norm(name) for name in known}
    return asked if asked and (is_name(asked) or alone) else ""


def _bare(name: str) -> str:
    """A name without quotation marks and its article."""
    return re.sub(r"^(?:the|der|die|das|dem|den)\s+", "", name.strip(" \"'“”„«»*"), flags=re.IGNORECASE)


def is_name(text: str) -> bool:
    """Whether all of `text` is one name as it is written in a text."""
    name = _HONORIFIC.sub("", text)
    first = name.split()[0].lower() if name.split() else ""
    shouted = name.isupper() and len(name.split()) > 1
    if (
        not first
        or shouted
        or UNSPACED.search(name)
        or len(name.split()) > NAME_WORDS
        or any(first in stop_words(one) for one in _PATTERNS)
    ):
        return False
    found = [mention for mention in mentions(name) if not is_date(mention.norm)]
    return len(found) == 1 and found[0].norm == norm(name)


@cache
def _words(language: str) -> _Words | None:
    patterns = _PATTERNS.get(language)
    return None if patterns is None else _Words(*(re.compile(one, re.IGNORECASE) for one in patterns))


_ON_LIST = re.compile(  # "What is on the packing list?" asks for what stands there, not for what is known of it
    r"what(?:['’]s| is| was| stands)(?: (?:still|left|else))? on .{1,60}\blist"
    r"|was (?:ist|war|steht|stand)(?: (?:alles|noch))* auf .{1,60}liste",
    re.IGNORECASE,
)
_EITHER = re.compile(r"[,:]\s+(?P<a>[^,;:]{1,60}?),?\s+(?:or|oder)\s+(?P<b>[^,;:]{1,60})$", re.IGNORECASE)
_SIDE = r"(?:(?:the|der|die|das|dem|den)\s+)?(?-i:[^\W\d_a-zäöüß]|\d)[^,;?]{0,60}?"
_PATTERNS: dict[str, tuple[str, ...]] = {
    "en": (
        r"(?:(?:what|all|everything|anything)(?: else)?(?: that)?(?: (?:do|did|have|should))? (?:i|we|you)(?: already)?"
        r" (?:know|learnt?|learned|note[ds]?|noted|written?|have|remember)(?: down)? (?:about|on|of)"
        r"|do (?:i|we|you) (?:know|have) anything (?:about|on)"
        r"|what (?:is|was|do my notes say|is there|is known)(?: (?:known|noted|said|written|there))? (?:about|on)"
        r"|(?:please )?(?:tell|remind|brief|update) (?:me|us)(?: (?:again|all|everything|what (?:i|you) know))?"
        r" (?:about|on|of)(?: everything about)?"
        r"|(?:please )?(?:give me )?(?:an? |the )?(?:short |quick )?(?:briefing|summary|overview|profile|rundown|recap)"
        r" (?:of|on|about|for)(?: what i know (?:about|of))?"
        r"|summari[sz]e(?: (?:all|everything|what))?(?: (?:i|you) know)?(?: about)?"
        r"|(?:all|everything|anything)(?: (?:i|you) know)? about) (?P<name>.{1,80})"
        r"|(?:who|what)(?:'s|’s| is| was| are| were) (?:the )?(?P<what>.{1,60})",
        r"(?:and )?(?:since when|from when|until when|when (?:did|was|were|has|have|had)\b"
        r"|(?:from|on|at|since|in) (?:what|which) (?:date|day|month|year|time)\b"
        r"|(?:what|which) (?:date|day|month|year) (?:did|was|were|has|have)\b)",
        r"\b(?:born|birthday|die[ds]?)\b",
        r"\b(?:how many|how often|(?:what|which) (?:is|was) the number of)\b|^count\b",
        r"\b(?:how many (?:\w+ )?times|how often)\b",
        r"\bhow many (?:more |square )?(?:euros?|dollars?|pounds?|francs?|cents?|percent|kilomet\w+|met(?:er|re)s"
        r"|km|miles?|kilos?|kilograms?|kg|grams?|lit(?:er|re)s?|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
        r"|degrees?|calories|words?|pages?)\b",
        r"\b(?:\w{2,}er|more|less|first|last|earlier|later|better|worse|most|same|both|which|compare[ds]?|differ(?:s|ent"
        r"|ence)?|in common|versus|vs|rather)\b",
        r"(?:\b(?:between|compare|both)|^(?:which|who|what)(?: one)? of"
        r"|^(?:what )?(?:are|do|did|were|have|is|was|does|has))\s+(?P<a>" + _SIDE + r")"
        r"(?:,\s*(?:or|and)|\s+(?:or|and|versus|vs\.?|to|with)|\s+(?:\w{2,}er|(?:more|less)\s\w+)\s+than"
        r"|\s+(?:the\s)?same\s.{1,40}\sas)\s+(?P<b>" + _SIDE + r")(?=$|[,;]|\s(?-i:[a-z])|\?)",
        r"^(?:(?:list|name|enumerate|show)\b|all\b|every|who all\b|who (?:are|were) |what (?:are|were) "
        r"|(?:which|what) of (?:my|our|the|all)\b"
        r"|(?:which|what) (?:(?!(?:is|was|has|had|does|did|do|of|are|were|\w+ed)\b)[\w-]+ ){0,3}?(?!(?:is|was|has|does"
        r"|address|status|business|class|process|bus|news|his|this|us|as)\b)(?:\w+[^s\W]s|people|children|men)"
        r" (?:did|do|does|have|has|had|are|were|can|could|should|will|in|of|that|which|who|at|with|from|for|on)\b)"
        r"|\b(?:everyone|everybody|everything|all (?:the|my|our|of)) .{2,}",
        r"(?:and )?(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
        r"|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|don['’]t|doesn['’]t|didn['’]t|hasn['’]t|haven['’]t|won['’]t) \w",
    ),
    "de": (
        r"(?:(?:was|alles,? was) (?:weiß|weiss|wissen|wusste|habe|haben) (?:ich|wir|du)(?: alles| noch)?"
        r" (?:über|von|zu)"
        r"|(?:alles|was),? (?:was )?ich (?:über|von|zu)"
        r"|was (?:ist|steht|gibt es)(?: alles)?(?: bekannt)? (?:über|zu)"
        r"|(?:bitte )?(?:erzähle?|sage?) mir(?: bitte)?(?: alles| etwas| was)? (?:über|von)"
        r"|(?:eine? )?(?:kurze )?(?:zusammenfassung|überblick|steckbrief) (?:über|von|zu)"
        r"|alles (?:über|zu)) (?P<name>.{1,80})"
        r"|(?:wer|was) (?:ist|war|sind|waren)(?: denn)? (?:eigentlich )?(?:der |die |das )?(?P<what>.{1,60})",
        r"(?:und )?(?:seit wann|ab wann|bis wann|wann (?:hat|habe|haben|hast|hatte|ist|sind|bin|war|waren|wurden?)\b"
        r"|(?:an|in|ab|seit) welche[mnrs]? (?:tag|datum|monat|jahr)\b)",
        r"\b(?:geboren|geburtstag|gestorben)\b",
        r"\b(?:wie ?viele?|wie oft|anzahl)\b",
        r"\bwie oft\b",
        r"\bwie ?viele? (?:euro|dollar|franken|cent|prozent|kilometer|meter|km|kilo|kg|gramm|liter|sekunden|minuten"
        r"|stunden|tage|wochen|monate|jahre|grad|kalorien|wörter|seiten|geld)\b",
        r"\b(?:\w{2,}er|\w{2,}ere[rs]?|mehr|weniger|zuerst|zuletzt|eher|besser|lieber|gleichen?|gleicher|selben?"
        r"|dieselbe[nr]?|derselbe|beide|vergleiche?|unterschiede?t?|unterscheiden|gemeinsam|welche[rs]?)\b",
        r"(?:\b(?:zwischen|vergleiche?|beide)|^(?:wer|was|welche[rs]?) von|^(?:was )?(?:sind|haben|waren|ist|war|hat))"
        r"\s+(?P<a>" + _SIDE + r")"
        r"(?:,\s*(?:oder|und)|\s+(?:oder|und|mit)|\s+\w{2,}er\s+als)\s+(?P<b>" + _SIDE
        + r")(?=$|[,;]|\s(?-i:[a-zäöü])|\?)",
        r"^(?:(?:liste|nenne?|zähle?|zeige?)\b|alle\b|wer alles\b|was alles\b|wo überall\b|wer (?:sind|waren) "
        r"|was (?:sind|waren) |welche[rs]? (?:von|meiner|unserer)\b|welche (?:\w+e )?\w+(?:en|n|s) \w"
        r"|welche (?:\w+ )?\w+(?:er|e) (?:habe|haben|hatten?|sind|waren)\b)|\balle (?:die|meine|unsere) ",
        r"(?:und )?(?:ist|sind|bin|bist|war|waren|hat|habe|haben|hatte|hatten|wird|werden|wurde|wurden|kann|können|muss"
        r"|soll|darf|will|gibt|gab|wohnt|lebt|arbeitet|mag|kennt|kenne|heißt) \w",
    ),
}  # fmt: skip
