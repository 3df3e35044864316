"""Changes of a value within a sentence: "raised from 40 to 45", "45 (was 40)", "B instead of A", "no longer A but B".

A sentence is matched only where it holds a cue word of the rule. Each rule looks at a bounded number of words beside
its cue, and takes them for values only if both sides can be values of one thing: a change that is overlooked is still
found in the text, a wrong one hides what is right. The cue words are English so far.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memory.facts.extraction import ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.subjects import CUES, Sentence, Slot, slot_before, thing_slot
from memory.text.languages import word_set

Span = tuple[int, int]

_I = re.IGNORECASE
_GAP = r"(?:[^.,;:!?()\n]|[.,:](?=\d))"  # a character of a phrase; marks only inside a number
_RISES = (
    r"go(?:es)?|went|gone|going(?! to)|rais(?:e|es|ed|ing)|"
    r"increas(?:e|es|ed|ing)|rises?|rose|risen|drop(?:s|ped)?|falls?|fell|"
    r"fallen|cuts?|lower(?:s|ed)?|reduc(?:e|es|ed)|bump(?:s|ed)?|grew|grows?|grown|up|down|jump(?:s|ed)?|shr[aiu]nk|"
    r"extend(?:s|ed)?|shorten(?:s|ed)?|doubled|halved|climb(?:s|ed)?|slip(?:s|ped)?|adjust(?:s|ed)?"
)
_SWITCHES = (
    r"switch(?:es|ed|ing)?|chang(?:e|es|ed|ing)|migrat(?:e|es|ed|ing)|convert(?:s|ed)?|"
    r"transition(?:s|ed)?|swap(?:s|ped)?"
)
_PROMOTES = r"upgrad(?:e|es|ed)|downgrad(?:e|es|ed)|promot(?:e|es|ed)|demot(?:e|es|ed)"
_MOVES = (
    r"mov(?:e|es|ed|ing)|relocat(?:e|es|ed|ing)|shift(?:s|ed)?|postpon(?:e|es|ed)|push(?:es|ed)?(?: back)?|"
    r"reschedul(?:e|es|ed)|transfer(?:s|red)?"
)
_RENAMES = r"renam(?:e|es|ed|ing)|rebrand(?:s|ed)?"
_FROM_TO = re.compile(
    rf"\b(?:(?P<rise>{_RISES})|(?P<switch>{_SWITCHES})|(?P<promote>{_PROMOTES})|"
    rf"(?P<move>{_MOVES})|(?P<rename>{_RENAMES}))\b"
    rf"(?P<between>(?: [^\s.,;:!?()]{{1,30}}){{0,6}}?),? from (?P<old>{_GAP}{{1,60}}?) to (?=\S)",
    _I,
)
_ARROW = re.compile(r"\s?(?:->|→|=>|⇒)\s?")
_INSTEAD = re.compile(r"\b(?:instead of|in place of|in lieu of)\b", _I)
_WAS = re.compile(
    r"(?:\((?:was|were|from|until now|till now|before|previously|formerly|up from|down from|used to be|"
    r"before that|instead of)|, (?:up from|down from|previously|formerly)):? (?P<old>(?:[^(),;]|,(?=\d)){1,60}?)"
    r"(?=[);]|,(?!\d)|\.?$|\. )",
    _I,
)
_NOT_ANY_MORE = re.compile(
    r"\b(?P<no>no longer|not) (?P<old>[^.,;:!?()\n]{1,50}?)(?P<more> (?:any ?more|any longer))?(?:\s?\([^()]{0,60}\))?"
    r"(?P<mark>,| but|:) (?:(?:but|only|now|just|instead|rather)\b,? ?){0,3}",
    _I,
)
_ALSO_NOUNS = word_set("facts", "also_nouns")
_BEFORE_VERBS = frozenset(("", *"i we they you will to and go goes went is".split()))
_DIRECTIONS = frozenset("up down back over again slightly me us".split())
_COPULAS = frozenset("is are now costs cost at of".split())
_WITH_PLACE = phrases.STOPS - {"at", "on", "in", "with", "by"}
_TIMES = frozenset("from since as starting now by until till".split())
_SETTLED = re.compile(
    r"\b(?:now|from now on|from then on|as of|as from|from|since|starting|effective|until|decided|decision|agreed|new|"
    r"permanently|for good|going forward|henceforth|changed?|moved)\b",
    _I,
)
_TOKEN = re.compile(r"[^\s*\"“”]+")


def find_changes(sentence: Sentence) -> Iterator[ExtractedRelation]:
    """The changes of a sentence, each once, by the first rule that matches: relations whose `replaces` is set."""
    taken: list[Span] = []
    for cue, rule in _RULES if sentence.cues else ():
        for change in rule(sentence) if not sentence.cues.isdisjoint(CUES[cue]) else ():
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


def _group(sentence: Sentence, match: re.Match[str], name: str) -> Span | None:
    return phrases.phrase_after(sentence.text, match.start(name), match.end(name))


def _from_to(sentence: Sentence) -> Iterator[ExtractedRelation]:
    text = sentence.text
    for match in _FROM_TO.finditer(text, sentence.start, sentence.end):
        old, new = _group(sentence, match, "old"), phrases.phrase_after(text, match.end(), sentence.end)
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
        slot = thing_slot(sentence, moved) if moved else slot_before(sentence, match.start(), "is")
        return slot if slot[0] else (sentence.topic, "is"), True
    if match["switch"]:
        slot = slot_before(sentence, match.start(), "uses")
        return (slot[0], moved) if moved and slot[0] else slot, bool(moved)
    if match["promote"]:
        return (moved, "is") if moved else slot_before(sentence, match.start(), "is"), True
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


def _was(sentence: Sentence) -> Iterator[ExtractedRelation]:
    text = sentence.text
    for match in _WAS.finditer(text, sentence.start, sentence.end):
        old = _group(sentence, match, "old")
        if old is None or not phrases.is_plain(text[old[0] : old[1]]) or _is_year(text, old):
            continue
        new = _nearest(sentence, match.start(), _kind(sentence, old))
        if new is None:
            continue
        slot = slot_before(sentence, new[0], "is")
        ends_there = text[sentence.start : new[0]].rstrip("*_ ").endswith(slot[0])
        if slot[1] == "is" and ends_there and sentence.topic:  # "Weight 3.6 kg"
            slot = (sentence.topic, slot[0])
        label = phrases.phrase_before(text, sentence.start, new[0], _COPULAS)
        name = phrases.clean(text[label[0] : label[1]]) if label and not slot[0] else ""
        yield from _change(sentence, slot if slot[0] else (name or sentence.topic, "is"), old, new)


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


def _not_any_more(sentence: Sentence) -> Iterator[ExtractedRelation]:
    text = sentence.text
    for match in _NOT_ANY_MORE.finditer(text, sentence.start, sentence.end):
        if match["no"].lower() == "not" and not match["more"]:
            continue
        old = phrases.phrase_after(text, match.start("old"), match.end("old"), _WITH_PLACE)
        new = phrases.phrase_after(text, match.end(), sentence.end, _WITH_PLACE)
        if new is None or not _ends_clause(text, new[1], sentence.end):
            continue
        if text[match.end() : new[0]].strip("*_\"' ").lower() in ("the", "a", "an") and match["mark"] == ",":
            continue
        slot = slot_before(sentence, match.start(), "is")
        yield from _change(sentence, slot if slot[0] else (sentence.topic or sentence.speaker, "is"), old, new)


def _ends_clause(text: str, place: int, end: int) -> bool:
    """Whether a phrase ends where its clause does: what goes on may be one that says something else."""
    following = text[place:end].strip("*_\"' ")
    return not following[:1].isalpha() or following.split()[0].lower() in _TIMES


def _instead(sentence: Sentence) -> Iterator[ExtractedRelation]:
    """ "45 days instead of 30": only of values, and only where it is settled: of things it may be a day's choice."""
    text = sentence.text
    for match in _INSTEAD.finditer(text, sentence.start, sentence.end):
        old = phrases.phrase_after(text, match.end(), sentence.end)
        if old is None or _kind(sentence, old) == "word":
            continue
        new = _nearest(sentence, match.start(), _kind(sentence, old))
        if new is None:
            continue
        bold = text[max(0, new[0] - 2) : new[0]] in ("**", "__")
        if not bold and _SETTLED.search(text, sentence.start, sentence.end) is None:
            continue
        slot = slot_before(sentence, new[0], "is")
        if slot == (sentence.speaker, "is"):  # "I work four days instead of five": it does not say what of me
            continue
        sure = slot[0] and phrases.value_kind(slot[0]) == "word" and len(slot[0].split()) <= 4
        yield from _change(sentence, slot if sure else (sentence.topic or sentence.speaker, "is"), old, new)


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
        yield from _change(sentence, slot if slot[0] else (sentence.topic, "is"), old, new)


_RULES: tuple[tuple[str, Callable[[Sentence], Iterator[ExtractedRelation]]], ...] = (
    ("from_to", _from_to), ("arrow", _arrow),
)  # fmt: skip
