"""Facts that stand in a form: properties of a source, "key: value" lines, tables and tasks.

The subject is what the note is about; under a second heading that is part of the key ("vet phone"), so that the same
key under two headings is two things. A value is short: a line that goes on to tell is a sentence, not a field.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from memory.facts.extraction import OWNER, Cardinality, ExtractedRelation
from memory.facts.predicates import SINGLE, canonical
from memory.facts.rules import phrases
from memory.facts.rules.passages import Line, Passage
from memory.facts.rules.valid_time import valid_from

KEY_WORDS = 5
VALUE_WORDS = 9

_FIELD = re.compile(
    r"(?P<key>(?:\[\[)?[^\W\d_][^:|\n]{0,60}?)(?P<colon>\s?:(?!//)(?:\*\*|__|\*|_)?)\s+(?P<value>\S.*)?"
)
NO_VALUE = re.compile(
    r"(?:none|nothing|n/?a|no|not|never|tbd|tba|tbc|\?+|-+|—|–|unknown|open|same|unchanged|still|see|ditto|"
    r"as before|as above|like)\b|^[—–\-?.]+$",
    re.IGNORECASE,
)
_NO_KEYS = frozenset(
    """note notes nb n.b todo re fw fwd aw update ps p.s edit warning warnings example examples ex e.g i.e tip tips hint
    attention important reminder remember question questions answer q a idea ideas see also cf quote summary tl;dr tldr
    fixme fyi disclaimer caution http https mailto file step steps result results conclusion reason why because hm
    ok yes no hi dear hello thanks so and but open links link source sources today tomorrow yesterday later now goal
    log history correction resolution decision decisions attendees agenda action actions new present apologies outcome
    says said me caveat lesson lessons monday tuesday wednesday thursday friday saturday sunday breakfast lunch dinner
    from to cc bcc subject date sent received work run pros cons plan still except last-edited don't do dont told when
    next cost restore option options context consequences author saved went parking""".split()
)
_NO_PROPERTIES = frozenset(
    """title date created updated modified tags tag aliases alias from to cc bcc subject id uid message-id columns
    cssclass cssclasses publish layout permalink lang language type kind uuid slug template reply-to in-reply-to
    references url source""".split()
)
_TODO_DONE = re.compile(r"x \d{4}-\d\d-\d\d (?:\d{4}-\d\d-\d\d )?(?P<task>\S.*)")
_TODO_OPEN = re.compile(r"\([A-Z]\) (?:\d{4}-\d\d-\d\d )?(?P<task>\S.*)")
_TODO_MARK = re.compile(r"\s(?:[+@][\w/-]+|\b(?:due|t|rec|id):\S+)")
_DATED = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[:.]\d\d|\d{1,2} \w+$")
_ASIDE = re.compile(r"\s*\((?P<aside>[^()]{0,120})\)")
_TELLING = frozenset("says said writes wrote asks asked phoned called pinged edited touched updated modified".split())
_VERBS = frozenset(
    """is are was were am has have had do does did will would can could should must i'm i i'd i'll i've it's that's
    we we're she he they goes went says said thinks wants counted please don't need needs let's my""".split()
)
_ENDING = re.compile(
    r"[!?;](?=\s|$)|\.$|\s[–—]\s|,\s(?=[a-z]|\()|"
    r"\s(?:from|since|as of|starting|effective|until)\s(?=\d|[A-Z]|next|this|last|the \d)"
)


def of_properties(about: str, properties: Mapping[str, Any]) -> Iterator[ExtractedRelation]:
    """What a source's frontmatter says of what the source is about. Headers of mails and what describes the file are
    no facts."""
    if not about or "from" in properties:
        return
    for key, value in properties.items():
        name = str(key).replace("_", " ").strip()
        if name.lower() in _NO_PROPERTIES or not 0 < len(name) <= 60:
            continue
        values = value if isinstance(value, (list, tuple)) else (value,)
        for item in values:
            told = _plain(item)
            if told:
                card: Cardinality = "one" if len(values) == 1 and not isinstance(value, (list, tuple)) else "many"
                yield ExtractedRelation(subject=about, predicate=name, object=told, start=-1, end=-1, cardinality=card)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (str, int, float)):
        text = phrases.clean(str(value))
        return text if 0 < len(text) <= 120 else ""
    return ""


def keys(text: str) -> frozenset[str]:
    """The keys, in lower case, of the lines of a text that begin with one."""
    found = (label(text, line.start("field"), line.end()) for line in _LINE.finditer(text))
    return frozenset(key.lower() for key in found if key)


_LINE = re.compile(r"^[ \t]*+(?:[-*+•][ \t]++)?+(?P<field>[^\s:>|#][^:\n]{0,60}:[*_]{0,2}[ \t])", re.MULTILINE)


class Keys(frozenset[str]):
    """Such keys; `used` are those that somebody has looked for."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.used: set[str] = set()

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        if found:
            self.used.add(str(key))
        return found


def of_lines(
    passage: Passage, about: str, dated: str, at: datetime | None, keys: frozenset[str] = frozenset()
) -> Iterator[ExtractedRelation]:
    """The fields, tables and tasks of a passage that is about `about`; `dated` as `phrases.topic` says it. `keys`: see
    `telling`."""
    text = passage.text
    fields = (_field(text, start, end, line, about, keys) for start, end, line in passage.cut)
    found = [field for field in fields if field is not None]
    counts = Counter((field.section, field.key.lower()) for field in found)
    for field in found:
        value = phrases.clean(_unasided(text[field.start : field.end]))
        subject, predicate = _placed(about or field.teller, field.section, field.key)
        single: Cardinality = "one" if field.new or (about and dated != "day") else "unknown"
        yield ExtractedRelation(
            subject=subject,
            predicate=predicate,
            object=OWNER if value.lower() in ("me", "i", "myself") else value,
            start=field.start,
            end=field.end,
            valid_from=valid_from(text[field.start : field.until], at),
            cardinality="many" if counts[field.section, field.key.lower()] > 1 else single,
        )
    yield from _tasks(passage)


@dataclass(frozen=True, slots=True)
class _Field:
    """`key` of what stands under the heading `section`, its value in [start, end), its sentence up to `until`. `new`:
    it says of itself that it is a new one."""

    section: str
    key: str
    start: int
    end: int
    until: int
    new: bool
    teller: str


def label(text: str, start: int, end: int) -> str:
    """The key of a line that begins so, also where what follows is no short value; "" if it has none."""
    match = _FIELD.match(text, start + _marks(text, start), min(end, start + 100))
    key, _ = _key(match["key"]) if match else ("", False)
    return key


def _placed(about: str, section: str, key: str) -> tuple[str, str]:
    """Subject and predicate of a key under a heading."""
    named = phrases.topic(section)[0] if section else ""
    if not named or named.lower() == about.lower():
        return about, key
    link = _WIKILINK.fullmatch(section.strip())
    return (link[1].strip(), key) if link else (about, f"{named} {key}")


_WIKILINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_BOLD = re.compile(r"\*\*(?P<value>[^*\n]{1,80})\*\*")
_SUBJECT = re.compile(r"(?:i|we|he|she|they|it|that|you)(?:$|['’])")
_NEW = re.compile(r"(?:our |my )?new\s(?=\w)", re.IGNORECASE)
_WHEN = re.compile(r"\s(?:from|since|as of|starting|until|till|this|next|effective)\b.*$", re.IGNORECASE)


def _key(said: str) -> tuple[str, bool]:
    """A key as it is kept, and whether it was called new: "New slot from this week" is a new slot. "" if it is none."""
    key = phrases.clean(_ASIDE.sub("", said))
    new = _NEW.match(key)
    key = _WHEN.sub("", key[new.end() :] if new else key)
    key = key.removeprefix("My ").removeprefix("my ").removeprefix("our ").strip()
    words = key.lower().split()
    while words and words[-1] in phrases.STOPS and canonical(" ".join(words)) not in SINGLE:  # "works at" is whole
        words.pop()
    key = " ".join(key.split()[: len(words)])
    if not 0 < len(words) <= KEY_WORDS or words[0] in phrases.PRONOUNS or words[0] in _NO_KEYS or words[0] in _VERBS:
        return "", False
    if any(word in _VERBS or word in _TELLING for word in words[1:]) or _DATED.search(key) or not _names(key):
        return "", False
    return key, new is not None


def _field(text: str, start: int, end: int, line: Line, about: str, keys: frozenset[str]) -> _Field | None:
    """A sentence that is a field: it begins its line, or says that it is new, or the note has such a one. In a diary,
    a mail or a chat, which tell, only with a key in bold or a value that can be no clause."""
    logged = phrases.LOGGED.match(text, start, end)
    first = logged.end() if logged else start
    marks = _marks(text, first)
    match = _FIELD.match(text, first + marks, end)
    if match is None or match["value"] is None:
        return None
    key, new = _key(match["key"])
    known = bool(about) and key.lower() in keys
    if (
        not key
        or line.box
        or (start != line.start and not new and not known)
        or (about and about.lower() in key.lower())
    ):
        return None
    begin, last = match.start("value"), end
    bold = _BOLD.match(text, begin, end)
    if bold is not None:
        begin, last = bold.span("value")
    value = text[begin:last]
    stop = _ENDING.search(_ASIDE.sub(lambda aside: "_" * len(aside[0]), value))
    plain_line = not (line.bullet or marks or bold or new)
    if stop and plain_line and value[stop.start()] == "," and phrases.kind(value[: stop.start()]) == "word":
        return None  # a sentence: "Turkey: the first leg, held in April"
    last = begin + stop.start() if stop else last
    begin, last = phrases.trimmed(text, begin, last)
    value = text[begin:last]
    plain = _ASIDE.sub("", value).lower().split()
    if not plain or NO_VALUE.match(value) or len(plain) > VALUE_WORDS or text[last : last + 1] == "?":
        return None
    if ": " in value:  # a label of a label
        return None
    if any(word.strip(",.'\"“") in _VERBS or _SUBJECT.match(word) for word in plain) or value[0] in "\"“'":
        return None
    clean = phrases.clean(_unasided(value))
    if not clean or ((not about or line.turn) and marks < 2 and not (new or bold) and phrases.kind(clean) == "word"):
        return None
    return _Field(line.section, key, begin, last, end, new, line.teller)


def _marks(text: str, start: int) -> int:
    """How many characters emphasise what begins at `start`."""
    head = text[start : start + 2]
    return 2 if head in ("**", "__") else 1 if head[:1] in ("*", "_") else 0


def _names(key: str) -> bool:
    return all(c.isalnum() or c in " -'’/&.%+€$#" for c in key)


def _unasided(value: str) -> str:
    """A value without what is added in brackets, where something stands before them."""
    bare = _ASIDE.sub("", value).strip()
    return bare or value


# Tasks ----------------------------------------------------------------------------------------


def _tasks(passage: Passage) -> Iterator[ExtractedRelation]:
    for line in passage.lines:
        if not line.told or line.heading:
            continue
        start, state = line.start, ""
        if line.box:
            state = "done" if line.box in "xX" else "dropped" if line.box in "~-" else "open"
        elif (match := _TODO_DONE.match(passage.text, line.start, line.end)) is not None:
            start, state = match.start("task"), "done"
        elif (match := _TODO_OPEN.match(passage.text, line.start, line.end)) is not None:
            start, state = match.start("task"), "open"
        if not state:
            continue
        task = phrases.clean(_TODO_MARK.sub("", passage.text[start : line.end]))
        if 0 < len(task) <= 120:
            yield ExtractedRelation(
                subject=task, predicate="status", object=state, start=start, end=line.end,
                cardinality="one",
            )  # fmt: skip
