"""People of the owner and their data by form: "my daughter Ife", a note that begins with "My sister", a list of names
with what each is, and the signature under a mail.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from memory.facts.attributes import owner_pattern, owner_words, people_words, person_of
from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules.passages import Line, Passage
from memory.text.languages import guess_language, word_set
from memory.text.mentions import mentions
from memory.text.predicates import STREET

_MAX_SIGNATURE = 10  # lines
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_PHONE = r"\+?\(?\d[\d ()/.-]{5,18}\d"
_BARE_PHONE = re.compile(
    rf"(?:{'|'.join(sorted(owner_words('signature')))})?[.:]{{0,2}}\s*(?P<phone>{_PHONE})", re.IGNORECASE
)
_HOUSE = re.compile(r"\d{1,4}[a-z]?,? [A-ZÀ-Þ]|[^\W\d_][^\d,]{2,40} \d{1,4} ?[a-z]?\b")


def people_facts(
    passage: Passage, topic: str, properties: Mapping[str, Any], first: bool
) -> Iterator[ExtractedRelation]:
    """Who is what to whoever speaks in a passage about `topic`; `first`: it is the first of its note."""
    mine, near, behind, listed, opening = _patterns(guess_language(passage.text))
    if first and topic:
        for key, value in properties.items():
            if key.casefold() in owner_words("relation") and isinstance(value, str) and person_of(value):
                yield _relation(OWNER, value, topic, -1, -1)
    body = [line for line in passage.lines if not line.heading and line.own]
    for place, line in enumerate(body):
        match = opening.match(passage.text, line.start, line.end) if first and topic and place == 0 else None
        if match and (match["my"] or match.end() == line.end):
            yield _relation(line.speaker, match["word"], topic, *match.span("word"))
        match = listed.match(passage.text, line.start, line.end) if not line.turn else None
        if match and _is_name(match["name"]):
            yield _relation(line.speaker, match["word"], match["name"], *match.span())
    for start, end, line in passage.sentences if mine.search(passage.text) else ():
        for pattern in (near, behind):
            for match in pattern.finditer(passage.text, start, end):
                if _is_name(match["name"]):
                    yield _relation(line.speaker, match["word"], match["name"], *match.span())


def _relation(subject: str, word: str, name: str, start: int, end: int) -> ExtractedRelation:
    return ExtractedRelation(subject=subject, predicate=word.lower(), object=name, start=start, end=end, conf=0.9)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    """What the next two need, "my daughter Ife", "Ife, my daughter"; "Ife - daughter"; and how a note begins."""
    my, is_ = owner_pattern("my", language), owner_pattern("is", language)
    word = rf"(?i:(?P<word>{people_words(language)}))(?!\w)"
    titles = "|".join(sorted(map(re.escape, word_set("honorifics")), key=len, reverse=True))
    name = rf"(?P<name>(?:(?i:{titles})\.? )?[A-ZÀ-Þ][\w'’-]*[\w](?: [A-ZÀ-Þ][\w'’-]+){{0,2}})(?!\w)"
    return (
        re.compile(rf"(?i:{my}) "),
        re.compile(rf"(?<!\w)(?i:{my}) (?:[a-zà-ÿ]+ )?{word}(?:,? | (?i:{is_}) |: ){name}"),
        re.compile(rf"(?<!\w){name}(?:, | \()(?i:{my}) {word}"),
        re.compile(rf"{name} [-–—] {word}"),
        re.compile(rf"(?i:(?P<my>{my}) )?{word}(?=\s*(?:$|[.,;(\n]))"),
    )


def _is_name(surface: str) -> bool:
    """Whether a run of capitals is a name: "my wife, Monday" tells of none."""
    found = mentions(surface)
    return any(one.kind == "name" and one.start >= 0 and one.end == len(surface) for one in found)


def signature_facts(passage: Passage, properties: Mapping[str, Any]) -> Iterator[ExtractedRelation]:
    """What a mail's head and signature say of its sender: address of mail, phone, street."""
    if "from" not in properties or not passage.lines:
        return
    text, speaker = passage.text, passage.lines[0].speaker
    head = re.match(r"(?:.*\n){0,4}?From: (?P<from>.*)", text)
    if head and (match := _EMAIL.search(text, head.start("from"), head.end("from"))):
        yield _of_sender(speaker, "mail address", match[0], match.start(), match.end())
    seen: set[str] = set()
    for line in _signature(passage, speaker):
        words = text[line.start : line.end]
        phone = _BARE_PHONE.fullmatch(words)
        key = "phone" if phone else "address" if _HOUSE.match(words) and STREET.search(words) else ""
        if key and key not in seen:
            seen.add(key)
            start = line.start + (phone.start("phone") if phone else 0)
            yield _of_sender(speaker, key, text[start : line.end], start, line.end)


def _signature(passage: Passage, speaker: str) -> list[Line]:
    """The last lines of a mail, behind one of dashes or of its sender's name."""
    lines = [line for line in passage.lines if line.own]
    names = {speaker.casefold(), *speaker.casefold().split()[:1]}
    for place in range(len(lines) - 1, max(-1, len(lines) - 1 - _MAX_SIGNATURE), -1):
        start, end = lines[place].start, lines[place].end
        words = passage.text[start:end].casefold().strip(" ,.")
        dashed = re.search(r"(?:^|\n)-- ?\n\s*$", passage.text[:start])
        if words in names or dashed:
            return lines[place:]
    return []


def _of_sender(speaker: str, predicate: str, value: str, start: int, end: int) -> ExtractedRelation:
    return ExtractedRelation(subject=speaker, predicate=predicate, object=value, start=start, end=end)
