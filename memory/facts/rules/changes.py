"""Changes of a value within a sentence: "raised from 40 to 45", "rent: 735 -> 940".

A sentence is matched only where it holds the cue of a rule, "from" or an arrow. Each rule looks at a bounded number of
words beside its cue, and takes them for values only if both sides can be values of one thing, and that thing has a name
or is its note's or its speaker's: a change that is overlooked is still found in the text, a wrong one hides what is
right. The words are English so far.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.phrases import Span
from memory.text.languages import alternatives, word_set

Slot = tuple[str, str]  # a subject and what of it is spoken of; ("", "") if it is not clear

_I = re.IGNORECASE
_GAP = r"(?:[^.,;:!?()\n]|[.,:](?=\d))"  # a character of a phrase; marks only inside a number
_VERBS = "|".join(
    rf"(?P<{kind}>{alternatives('facts', 'changes', kind)})" for kind in ("rise", "switch", "promote", "move", "rename")
)
_FROM_TO = re.compile(
    rf"\b(?:{_VERBS})\b(?P<between>(?: [^\s.,;:!?()]{{1,30}}){{0,6}}?),? from (?P<old>{_GAP}{{1,60}}?) to (?=\S)", _I
)
_ARROW = re.compile(r"\s?(?:->|→|=>|⇒)\s?")
_ALSO_NOUNS = word_set("facts", "also_nouns")
_BEFORE_VERBS = frozenset(("", *"i we they you will to and go goes went is".split()))
_DIRECTIONS = frozenset("up down back over again slightly me us".split())
_TOKEN = re.compile(r"[^\s*\"“”]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence [start, end) of an episode's `text`. `topic`: what its note is about; `speaker`: who "I" is; `label`:
    the key before it in its line."""

    text: str
    start: int
    end: int
    topic: str
    speaker: str
    label: str = ""

    @property
    def words(self) -> str:
        return self.text[self.start : self.end]


def find_changes(sentence: Sentence) -> Iterator[ExtractedRelation]:
    """The changes of a sentence, each once, by the first rule that matches: relations whose `replaces` is set."""
    taken: list[Span] = []
    words = sentence.words
    by_verb = _from_to(sentence) if " from " in words.lower() else ()
    by_arrow = _arrow(sentence) if _ARROW.search(words) else ()
    for change in (*by_verb, *by_arrow):
        old = change.replaces or ""
        if any(start < change.end and change.start < end for start, end in taken):
            continue
        if change.object.lower() != old.lower() and _can_be_value(old) and _can_be_value(change.object):
            taken.append((change.start, change.end))
            yield change


def _can_be_value(phrase: str) -> bool:
    """No pronoun, no adverb, not only stop words."""
    tokens = phrase.lower().split()
    return (
        0 < len(tokens) <= phrases.PHRASE_WORDS + 4
        and (tokens[0] not in phrases.PRONOUNS or tokens == ["one"])
        and not all(word in phrases.STOPS for word in tokens)
        and not phrase.lower().startswith(("http", "www."))
    )


def _change(
    sentence: Sentence, slot: Slot, old: Span | None, new: Span | None, single: bool = True
) -> Iterator[ExtractedRelation]:
    text = sentence.text
    if slot[0] and slot[1] and old and new:
        yield ExtractedRelation(
            subject=slot[0], predicate=slot[1], object=phrases.clean(text[new[0] : new[1]]),
            replaces=phrases.clean(text[old[0] : old[1]]), start=min(old[0], new[0]), end=max(old[1], new[1]),
            cardinality="one" if single else "unknown",
        )  # fmt: skip


def _kind(sentence: Sentence, span: Span) -> str:
    return phrases.value_kind(sentence.text[span[0] : span[1]])


def _alike(sentence: Sentence, old: Span | None, new: Span | None) -> bool:
    """Whether both are values of one kind, and not only words."""
    return bool(old and new and _kind(sentence, old) != "word" and _kind(sentence, old) == _kind(sentence, new))


def _from_to(sentence: Sentence) -> Iterator[ExtractedRelation]:
    text = sentence.text
    for match in _FROM_TO.finditer(text, sentence.start, sentence.end):
        old = phrases.phrase_after(text, *match.span("old"))
        new = phrases.phrase_after(text, match.end(), sentence.end)
        if old is None or new is None or old[1] < match.end("old") - 2:
            continue
        if _is_noun(text, sentence.start, match) or not phrases.STOPS.isdisjoint(match["between"].split()[:-1]):
            continue
        if _alike(sentence, old, new) and _is_year(text, old) and _is_year(text, new):
            continue
        slot, single = _slot_of_verb(sentence, match, _alike(sentence, old, new), text[new[0]].isupper())
        yield from _change(sentence, slot, old, new, single)


def _slot_of_verb(sentence: Sentence, match: re.Match[str], alike: bool, is_name: bool) -> tuple[Slot, bool]:
    """What "moved from A to B" changes, by its verb, and whether there is one such value at a time."""
    moved = _patient(match["between"])
    if match["rename"]:
        slot = (moved, "is called") if moved[:1].isupper() else slot_before(sentence, match.start(), "is called")
        return slot, True
    if alike:
        slot = _thing_slot(sentence, moved) if moved else slot_before(sentence, match.start(), "is")
        return slot, slot[1] != "is"
    if match["switch"]:
        slot = slot_before(sentence, match.start(), "uses")
        return (slot[0], moved) if moved and slot[0] else slot, bool(moved)
    if match["promote"]:
        return (moved, "is") if moved else slot_before(sentence, match.start(), "is"), False
    if match["move"] and moved:
        return (moved, "moved to"), False
    if match["move"] and is_name:
        slot = slot_before(sentence, match.start(), "lives in")
        if slot[0][:1].isupper() or slot[0] == sentence.speaker:
            return slot, True
    return ("", ""), True


def _is_noun(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the word is no verb: "the move from A to B", "his transition"."""
    before = text[start : match.start()].rsplit(maxsplit=1)[-1:] or [""]
    word = before[0].strip("*_\"'([-").lower()
    if word.endswith((":", ",", ";", ".")):
        return False
    return match[0].split()[0].lower() in _ALSO_NOUNS and word not in _BEFORE_VERBS


def _is_year(text: str, span: Span) -> bool:
    return re.fullmatch(r"1\d{3}|20\d\d", text[span[0] : span[1]]) is not None


def _patient(between: str) -> str:
    """What is changed, between the verb and its "from"."""
    tokens = [word for word in phrases.clean(between).split() if word.lower() not in _DIRECTIONS]
    while tokens and tokens[0].lower() in ("the", "a", "an", "my", "our", "its", "his", "her", "their"):
        tokens.pop(0)
    return " ".join(tokens) if tokens and tokens[0].lower() not in phrases.STOPS | phrases.PRONOUNS else ""


def _nearest(sentence: Sentence, before: int, kind: str) -> Span | None:
    """The last value of a kind that stands before a place, in all its words; not a part of another value."""
    text, first = sentence.text, max(sentence.start, before - 90)
    found = [(first + match.start(), first + match.end()) for match in _TOKEN.finditer(text[first:before])]
    for last in range(len(found) - 1, -1, -1):
        for begin in range(max(0, last - 3), last + 1):
            start, end = phrases.trim(text, found[begin][0], found[last][1])
            found_kind = phrases.value_kind(text[start:end])
            if found_kind == kind and phrases.is_plain(text[start:end]) and not _is_year(text, (start, end)):
                return start, end
            if found_kind not in ("word", kind):  # the day of a date is no number
                break
    return None


def _arrow(sentence: Sentence) -> Iterator[ExtractedRelation]:
    """Arrows between values only: others mean "leads to", "becomes" or "is translated as"."""
    text = sentence.text
    for match in _ARROW.finditer(text, sentence.start, sentence.end):
        old = _nearest(sentence, match.start(), "number") or _nearest(sentence, match.start(), "date")
        new = phrases.phrase_after(text, match.end(), sentence.end)
        if old is None or old[1] != len(text[: match.start()].rstrip("*_ ")) or not _alike(sentence, old, new):
            old = phrases.phrase_before(text, sentence.start, match.start())
            if not _alike(sentence, old, new) or old is None:
                continue
        slot = slot_before(sentence, old[0], "is") if old[0] > sentence.start else ("", "")
        slot = slot if slot[0] else (sentence.topic, "is")
        yield from _change(sentence, slot, old, new, slot[1] != "is")


# Subjects -------------------------------------------------------------------------------------

_LEADS, _PERSON, _TIME, _OWN, _ARTICLE = (
    re.compile(alternatives("facts", "subjects", key), _I) for key in ("leads", "person", "time", "own", "article")
)
_STOPS = phrases.STOPS | word_set("facts", "change_verbs")


def slot_before(sentence: Sentence, before: int, predicate: str) -> Slot:
    """What the sentence speaks of before the place `before`. "Dues go up" is about dues, "my rent" about its speaker's
    rent, "Rent: up" in a note about a flat about the flat's rent. `predicate` where the words name none."""
    text, start = sentence.text, sentence.start
    if (logged := phrases.LOGGED.match(text, start, before)) is not None:
        start = logged.end()
    if sentence.label and (colon := text.find(":", start, before)) >= 0:
        return _slot_of_label(sentence, colon + 1, before, predicate)
    for lead in (_LEADS, _TIME):
        if (skipped := lead.match(text, start, before)) is not None:
            start = skipped.end()
    if _PERSON.match(text, start, before):
        return sentence.speaker, predicate
    if not text[start:before].strip(" *_\"'-–—:([#"):  # it begins with its verb, as in a diary
        return (sentence.speaker, predicate) if not sentence.topic else ("", "")
    own = _OWN.match(text, start, before)
    span = phrases.phrase_after(text, own.end() if own else start, before, _STOPS)
    name = phrases.clean(text[span[0] : span[1]]) if span else ""
    name = name.removesuffix("'s").removesuffix("’s")
    words = name.lower().split()
    if span is None or not words or words[0] in phrases.PRONOUNS | phrases.STOPS or len(words) > 6:
        return "", ""
    if text.startswith(" of ", span[1]):  # "the price of the boat": not mine, nor the price of everything
        return "", ""
    if own:
        is_theirs = sentence.speaker != OWNER and own[0].strip().lower().startswith("our")  # ours too, perhaps
        return ("", "") if is_theirs else (sentence.speaker, name)
    if _is_name(text, start, span, predicate != "is"):
        return name, predicate
    return _thing_slot(sentence, name, predicate)


def _slot_of_label(sentence: Sentence, start: int, before: int, predicate: str) -> Slot:
    """What stands between a key and the place `before`, or the key itself."""
    span = phrases.phrase_after(sentence.text, start, before, _STOPS)
    thing = phrases.clean(sentence.text[span[0] : span[1]]) if span else ""
    if not thing or thing.lower().split()[0] in phrases.PRONOUNS | phrases.STOPS:
        return sentence.topic or sentence.speaker, sentence.label
    return (sentence.label, thing) if len(sentence.label.split()) <= 2 else (thing, predicate)


def _thing_slot(sentence: Sentence, name: str, predicate: str = "is") -> Slot:
    """The place of a thing that has no name of its own: whose rent or deadline it is says the note or its writer. Left
    by itself it would be one with the rent of everybody else; whose it is that somebody else speaks of, nobody knows. A
    day or a number is no thing."""
    if phrases.value_kind(name) != "word" or not (sentence.topic or sentence.speaker == OWNER):
        return "", ""
    return sentence.topic or OWNER, f"{name} {predicate}" if predicate != "is" else name


def _is_name(text: str, start: int, span: Span, acts: bool) -> bool:
    """Whether a phrase is a name. A single word that begins its sentence is, if it `acts` as only people do or if the
    text has it with a capital within a sentence."""
    phrase = text[span[0] : span[1]]
    if phrases.value_kind(phrase) != "word":
        return False
    if not phrase[:1].isupper() or _ARTICLE.search(text, start, span[0]):
        return text.startswith("[[", max(0, span[0] - 2))
    if acts or any(word[:1].isupper() for word in phrase.split()[1:]):
        return True
    near = text[max(0, span[0] - 1000) : span[1] + 1000]
    first = re.escape(phrase.split()[0])
    return re.search(rf"[\w,(] {first}\b", near) is not None or any(c.isupper() or c.isdigit() for c in phrase[1:])
