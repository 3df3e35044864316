"""A question that asks two things, or compares two, as questions that each stand for themselves.

By rules alone, and only where they are sure: a part must ask by itself ("and who is her dentist?"), what it refers to
must be named in the part before it, and what only continues a sentence ("salt and pepper", "where he lives and what he
does" behind "tell me") is not cut. Whatever a rule does not know stays one question, which is answered as one.
"""

from __future__ import annotations

import re

from memory.retrieval.question_type import sides
from memory.text.languages import ENGLISH, guess_language, stop_words
from memory.text.mentions import is_date, mentions

MOST = 3  # parts
SHORTEST = 3  # words of a part
LONGEST = 600  # characters of a question that is cut
MAX_READ_CHARS = 4_000  # more is a document

_AUX = (
    r"(?:is|are|am|was|were|do|does|did|has|have|had|will|would|can|could|should|shall|may|might|must"
    r"|isn['’]t|aren['’]t|wasn['’]t|don['’]t|doesn['’]t|didn['’]t|hasn['’]t|haven['’]t)"
)
_ASKED = (
    r"(?:(?:since|until|from|to|in|on|at|by|for|with|of|about)\s+)?"
    r"(?:who|whom|whose|what|which|when|where|why|how)"
)
_AUX_DE = (
    r"(?:ist|sind|bin|war|waren|hat|habe|haben|hatten?|wird|werden|wurden?|kann|können|muss|soll|darf|will|gibt|gab"
    r"|heißt|wohnt|lebt|arbeitet|kostete?|kam|ging|macht|geht|liegt|steht|gehört)"
)
_ASKED_DE = (
    r"(?:(?:seit|bis|ab|von|mit|in|an|zu|für)\s+)?"
    r"(?:wer|wem|wen|wessen|was|welche[mnrs]?|wann|wo|woher|wohin|warum|wie|womit)"
)
# Where one may be cut: behind it a question begins that has its verb where a question has it.
_CUTS = {
    ENGLISH: re.compile(
        rf"\s*[?;]\s*(?:and\s+|also\s+|,\s*)?(?={_ASKED}\b|{_AUX}\s)"
        rf"|\s*,?\s+(?:and|but)\s+(?:also\s+)?(?=(?:{_ASKED}(?:['’]s|\s+(?:[\w'’-]+\s+){{0,3}}?{_AUX})\b)"
        rf"|(?:who|what)\s+(?!(?:i|you|he|she|it|we|they|the|my|his|her|our|their|a|an|is|to)\b)[a-z]+(?:s|ed|t|d|w)\b"
        rf"|{_AUX}\s+(?:i|he|she|it|they|we|there|my|his|her|their|the)\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        rf"\s*[?;]\s*(?:und\s+|,\s*)?(?={_ASKED_DE}\b|{_AUX_DE}\s)"
        rf"|\s*,?\s+(?:und|aber)\s+(?:auch\s+)?(?={_ASKED_DE}\s+(?:[\w-]+\s+){{0,2}}?{_AUX_DE}\b"
        rf"|{_AUX_DE}\s+(?:ich|er|sie|es|wir|mein|meine)\b)",
        re.IGNORECASE,
    ),
}
_ASKS = {
    ENGLISH: re.compile(rf"(?:{_ASKED}|{_AUX})\b", re.IGNORECASE),
    "de": re.compile(rf"(?:{_ASKED_DE}|{_AUX_DE})\b", re.IGNORECASE),
}
# What stands for something that was named before: for a name of any kind, or for a thing; and what nothing can
# be put in for.
_PERSONAL = {
    ENGLISH: re.compile(
        r"\b(?P<of>his|its|their|hers|theirs|her(?=\s+(?!(?:in|on|at|to|for|from|with|by|now|then|last|and|or|when"
        r"|before|after|about|again|there)\b)\w))\b|\b(?P<one>he|she|him|her|it|they|them)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?P<of>(?:sein|ihr|dessen|deren)(?:e[mnrs]?)?)\b|\b(?P<one>er|sie|es|ihm|ihn|ihnen)\b", re.IGNORECASE
    ),
}
_THING = re.compile(
    r"\b(?P<article>the|my|our|a|an)\s+(?P<noun>(?:(?!(?:of|in|on|at|for|to|from|with|by|and|or|that|who|which)\b)"
    r"[^\W\d_][\w'’-]*\s+){0,2}(?!(?:of|in|on|at|for|to|from|with|by|and|or|that|who|which)\b)[^\W\d_][\w'’-]*)$",
    re.IGNORECASE,
)
_THINGS = frozenset(("it", "its"))
_UNKNOWN = re.compile(
    r"\b(?:(?:that|this|those|these)(?=\s+(?:person|one|place|man|woman|time|day|year|city|company|happen\w*|been|be"
    r"|cost|change\w*|mean)|\s*$)|(?:there|then|dort|das|dies(?:e[mnrs]?)?)(?=\s*$)|dorthin|derselbe|dieselbe"
    r"|the (?:same|other|latter|former))\b",
    re.IGNORECASE,
)
_EMBEDS = re.compile(
    r"\b(?:tell|know|remember|remind|say|said|wonder|explain|wrote|write|note[ds]?|ask(?:ed)?|erzähle?|sag|weiß|weiss"
    r"|erinner\w*|erkläre?)\b",
    re.IGNORECASE,
)

# "Who is older, A or B?" asks the same of both: how old they are.
_DEGREES = {
    ENGLISH: (
        (r"older|younger|oldest|youngest", "How old is {}?"),
        (r"taller|shorter|tallest", "How tall is {}?"),
        (r"bigger|larger|biggest|largest", "How big is {}?"),
        (r"heavier|lighter|heaviest", "How heavy is {}?"),
        (r"cheaper|cheapest|more expensive|costs? (?:more|less)|dearer", "How much does {} cost?"),
        (r"longer|longest", "How long is {}?"),
        (r"born (?:first|earlier|later)", "When was {} born?"),
        (r"(?P<verb>founded|started|built|opened|released|published|formed|made|written|bought|established)"
         r" (?:first|earlier|later|last)", "When was {} {verb}?"),
    ),
    "de": (
        (r"älter|jünger", "Wie alt ist {}?"),
        (r"größer|kleiner", "Wie groß ist {}?"),
        (r"schwerer|leichter", "Wie schwer ist {}?"),
        (r"teurer|billiger|günstiger", "Wie viel kostet {}?"),
        (r"länger|kürzer", "Wie lang ist {}?"),
    ),
}  # fmt: skip
_OF_WHOM = {  # what stands before that: who, or which of what, and the verb
    ENGLISH: r"(?:(?:who|which|what|which one|(?:which|what) \w+)(?: is| was| are| were)?|is|was)",
    "de": r"(?:(?:wer|was|welche[rs]?(?: \w+)?) (?:ist|war)|ist|war)",
}
_BOTH = re.compile(
    r"^(?P<aux>are|were|do|did|have)\s+(?:both\s+)?(?P<a>[^,?]{1,60}?)\s+and\s+(?P<b>[^,?]{1,60}?)\s+both\s+(?P<rest>[^?]+)$",
    re.IGNORECASE,
)
# What is not said of one alone: "in the same town", and nouns of several, "film directors".
_JOINTLY = re.compile(r"\b(?:same|together|each other|related|married|friends|\w{3,}[^\Ws]s)\b", re.IGNORECASE)
_SINGULAR = {"are": "Is", "were": "Was", "do": "Does", "did": "Did", "have": "Has"}


def parts(text: str) -> tuple[str, ...]:
    """The questions that `text` asks, each for itself, at most MOST; () if it asks one thing."""
    asked = " ".join(text[:MAX_READ_CHARS].split()).rstrip(" ?!.")
    if not asked or len(asked) > LONGEST:
        return ()
    language = guess_language(asked)
    if language not in _CUTS:
        return ()
    compared = _of_each(asked, language)
    return compared or _cut(asked, language)


def _of_each(asked: str, language: str) -> tuple[str, ...]:
    """What a comparison asks of each of its sides, where it says that."""
    both = _BOTH.match(asked) if language == ENGLISH else None
    if (
        both is not None
        and not _JOINTLY.search(both["rest"])
        and all(_names(f"the {both[side]}", language) for side in "ab")
    ):
        return tuple(f"{_SINGULAR[both['aux'].lower()]} {both[side].strip()} {both['rest']}?" for side in "ab")
    compared = sides(asked, language)
    if len(compared) != 2:
        return ()
    said = asked
    for side in compared:
        said = said.replace(side, " ")
    said = " ".join(re.sub(r"[,:]|\b(?:or|oder|than|als)\b", " ", said).split())
    for pattern, question in _DEGREES[language]:
        match = re.fullmatch(rf"{_OF_WHOM[language]} (?:{pattern})", said, re.IGNORECASE)
        if match is not None:
            words = {name: value.lower() for name, value in match.groupdict().items()}
            return tuple(question.format(side, **words) for side in compared)
    return ()


def _cut(asked: str, language: str) -> tuple[str, ...]:
    """It cut where another question begins, if every piece asks something and what it refers to is known."""
    pieces, rest = list[str](), asked
    while len(pieces) < MOST - 1:
        cut = _next_cut(rest, language)
        if cut is None:
            break
        pieces.append(rest[: cut.start()])
        rest = rest[cut.end() :]
    pieces.append(rest)
    if len(pieces) < 2:
        return ()
    found: list[str] = []
    for piece in pieces:
        own = piece.strip(" ?!.,;")
        full = _resolved(own, found[-1], language) if found else own
        if full is None or len(own.split()) < SHORTEST or not _ASKS[language].match(own):
            return ()
        found.append(full)
    return tuple(f"{one[:1].upper()}{one[1:]}?" for one in found)


def _next_cut(text: str, language: str) -> re.Match[str] | None:
    """The first place to cut that leaves a question before it."""
    for cut in _CUTS[language].finditer(text):
        before = text[: cut.start()]
        ends = "?" in cut[0] or ";" in cut[0]
        if len(before.split()) >= SHORTEST and (ends or not _EMBEDS.search(before)):
            return cut
    return None


def _resolved(part: str, before: str, language: str) -> str | None:
    """The part with the name of the one before it in place of what stands for it; None if it refers to what is not
    known."""
    if _UNKNOWN.search(part):
        return None
    refers = _PERSONAL[language].search(part)
    if refers is None:
        return part
    own = _names(part[: refers.start()], language)  # "where does Bo live and when did Cleo sell her boat?"
    if own:
        return part
    names = _names(before, language)
    thing = _THING.search(before) if language == ENGLISH else None
    is_thing = refers[0].lower() in _THINGS
    if is_thing and thing is not None:
        article = "the" if thing["article"].lower() in ("a", "an") else thing["article"]
        name = f"{article} {thing['noun']}"
    elif names and (len(names) == 1 or not is_thing):
        name = names[0]
    else:
        return None
    if language != ENGLISH:
        return f"{part} ({name})"
    put = f"{name}'s" if refers["of"] else name
    return part[: refers.start()] + put + part[refers.end() :]


def _names(text: str, language: str) -> list[str]:
    """The names in it, in order, without days."""
    little = stop_words(language)
    found = (one for one in mentions(text) if one.kind == "name" and not is_date(one.norm))
    return [one.surface for one in found if one.norm not in little]
