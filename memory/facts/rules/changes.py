"""Changes told inside a text: "raised from 149 to 165", "B instead of A", "no longer A but B".

A sentence is looked at only where one of its words is a sign of a change. Each rule reads a bounded number of words to
the sides of its sign; it takes what stands there as a value only if both sides can be values of one thing, and gives up
otherwise: a change that is overlooked is found again by whoever reads on, a wrong one hides what is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from memory.facts.rules import change_words as words
from memory.facts.rules import phrases
from memory.facts.rules.subjects import Said, Slot, name_before, slot_before, thing_slot

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """`new` took the place of `old` as the `predicate` of `subject`; both are values or names as written.

    They stand in [start, end). `single`: the subject has one such value at a time.
    """

    subject: str
    predicate: str
    old: str
    new: str
    start: int
    end: int
    single: bool = True


def of_sentence(said: Said) -> Iterator[Change]:
    """The changes a sentence tells, each once, by the first rule that finds it."""
    taken: list[Span] = []
    for name, rule in _RULES if said.signs else ():
        for change in rule(said) if not said.signs.isdisjoint(words.SIGNS[name]) else ():
            if any(start < change.end and change.start < end for start, end in taken):
                continue
            if change.subject and change.old.lower() != change.new.lower() and fits(change.old) and fits(change.new):
                taken.append((change.start, change.end))
                yield change


def fits(value: str) -> bool:
    """Whether it can be a value: no pronoun, no adverb, not only little words."""
    said = value.lower().split()
    return (
        0 < len(said) <= phrases.PHRASE_WORDS + 4
        and (said[0] not in phrases.PRONOUNS or said == ["one"])
        and not all(word in phrases.STOPS for word in said)
        and not value.lower().startswith(("http", "www."))
    )


def made(said: Said, slot: Slot, old: Span | None, new: Span | None, single: bool = True) -> Iterator[Change]:
    text = said.text
    if slot[0] and slot[1] and old and new:
        yield Change(
            slot[0], slot[1], phrases.clean(text[old[0] : old[1]]), phrases.clean(text[new[0] : new[1]]),
            min(old[0], new[0]), max(old[1], new[1]), single,
        )  # fmt: skip


def _kind(said: Said, span: Span) -> str:
    return phrases.kind(said.text[span[0] : span[1]])


def _alike(said: Said, old: Span | None, new: Span | None) -> bool:
    """Whether both are values of one kind, and not only words."""
    return bool(old and new) and _kind(said, old) != "word" and _kind(said, old) == _kind(said, new)  # type: ignore[arg-type]


def group(said: Said, match: re.Match[str], name: str) -> Span | None:
    return phrases.right(said.text, match.start(name), match.end(name))


# Within a sentence ----------------------------------------------------------------------------


def _from_to(said: Said) -> Iterator[Change]:
    text = said.text
    for match in words.FROM_TO.finditer(text, said.start, said.end):
        old, new = group(said, match, "old"), phrases.right(text, match.end(), said.end)
        if old is None or new is None or old[1] < match.end("old") - 2:
            continue
        if _is_noun(text, said.start, match) or not phrases.STOPS.isdisjoint(match["between"].split()[:-1]):
            continue
        alike, moved = _alike(said, old, new), _patient(match["between"])
        if alike and _is_year(text, old) and _is_year(text, new):
            continue
        verb = next(name for name in ("rise", "switch", "promote", "move", "rename") if match[name])
        is_name = text[new[0]].isupper()
        if alike and verb != "rename":
            slot = thing_slot(said, moved) if moved else slot_before(said, match.start(), "is")
            yield from made(said, slot if slot[0] else (said.about, "is"), old, new)
        elif verb == "rename":
            slot = (moved, "is called") if moved[:1].isupper() else slot_before(said, match.start(), "is called")
            yield from made(said, slot, old, new)
        elif verb == "switch":
            slot = slot_before(said, match.start(), "uses")
            yield from made(said, (slot[0], moved) if moved and slot[0] else slot, old, new, bool(moved))
        elif verb == "promote":
            yield from made(said, (moved, "is") if moved else slot_before(said, match.start(), "is"), old, new)
        elif verb == "move" and moved:
            yield from made(said, (moved, "moved to"), old, new, False)
        elif verb == "move" and is_name:
            slot = slot_before(said, match.start(), "lives in")
            if slot[0][:1].isupper() or slot[0] == said.teller:
                yield from made(said, slot, old, new)


def _is_noun(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the word is no verb: "the move from A to B", "his transition"."""
    before = text[start : match.start()].rsplit(maxsplit=1)[-1:] or [""]
    word = before[0].strip("*_\"'([-").lower()
    if word.endswith((":", ",", ";", ".")):
        return False
    base = match[0].split()[0].lower()
    return base in words.NOUNS and word not in (
        "",
        "i",
        "we",
        "they",
        "you",
        "will",
        "to",
        "and",
        "go",
        "goes",
        "went",
        "is",
    )


def _is_year(text: str, span: Span) -> bool:
    return re.fullmatch(r"1\d{3}|20\d\d", text[span[0] : span[1]]) is not None


def _patient(between: str) -> str:
    """What is changed, between the verb and its "from"."""
    said = [word for word in phrases.clean(between).split() if word.lower() not in _DIRECTIONS]
    while said and said[0].lower() in ("the", "a", "an", "my", "our", "its", "his", "her", "their"):
        said.pop(0)
    return " ".join(said) if said and said[0].lower() not in phrases.STOPS | phrases.PRONOUNS else ""


_DIRECTIONS = frozenset("up down back over again slightly me us".split())


def _was(said: Said) -> Iterator[Change]:
    text = said.text
    for match in words.WAS.finditer(text, said.start, said.end):
        old = group(said, match, "old")
        if old is None or not phrases.is_plain(text[old[0] : old[1]]) or _is_year(text, old):
            continue
        new = _nearest(said, match.start(), _kind(said, old))
        if new is None:
            continue
        slot = slot_before(said, new[0], "is")
        if (
            slot[1] == "is" and text[said.start : new[0]].rstrip("*_ ").endswith(slot[0]) and said.about
        ):  # "Weight 3.6 kg"
            slot = (said.about, slot[0])
        label = phrases.left(text, said.start, new[0], _COPULAS)
        name = phrases.clean(text[label[0] : label[1]]) if label and not slot[0] else ""
        yield from made(said, slot if slot[0] else (name or said.about, "is"), old, new)


_COPULAS = frozenset("is are now costs cost at of".split())


def _nearest(said: Said, before: int, kind: str) -> Span | None:
    """The last value of a kind that stands before a place, in all its words; not a part of another value."""
    text, first = said.text, max(said.start, before - 90)
    found = [(first + match.start(), first + match.end()) for match in _TOKEN.finditer(text[first:before])]
    for last in range(len(found) - 1, -1, -1):
        for begin in range(max(0, last - 3), last + 1):
            start, end = phrases.trimmed(text, found[begin][0], found[last][1])
            said_kind = phrases.kind(text[start:end])
            if said_kind == kind and phrases.is_plain(text[start:end]) and not _is_year(text, (start, end)):
                return start, end
            if said_kind not in ("word", kind):  # the day of a date is no number
                break
    return None


_TOKEN = re.compile(r"[^\s*\"“”]+")


def _isnt(said: Said) -> Iterator[Change]:
    for match in words.ISNT.finditer(said.text, said.start, said.end):
        old, new = group(said, match, "old"), phrases.right(said.text, match.end(), said.end)
        if _alike(said, old, new):
            slot = thing_slot(said, name_before(said, match.start()))
            yield from (_completed(change) for change in made(said, slot, old, new))


def _completed(change: Change) -> Change:
    """ "the 12th", corrected to "21 March", is 12 March."""
    day = re.fullmatch(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)", change.old)
    month = re.search(r"[^\W\d_]{3,}", change.new)
    return replace(change, old=f"{day[1]} {month[0]}") if day and month else change


def _but_not(said: Said) -> Iterator[Change]:
    for match in words.BUT_NOT.finditer(said.text, said.start, said.end):
        old, new = group(said, match, "old"), group(said, match, "new")
        corrects = words.CORRECTS.search(said.text, max(0, said.start - 80), said.end) is not None
        if _alike(said, old, new) and (corrects or "now" in match["new"].lower().split()):
            name = name_before(said, match.start())
            slot = (name, "is") if name[:1].isupper() else thing_slot(said, name)
            yield from made(said, slot, old, new)


def _not_any_more(said: Said) -> Iterator[Change]:
    text = said.text
    for match in words.NOT_ANY_MORE.finditer(text, said.start, said.end):
        if match["no"].lower() == "not" and not match["more"]:
            continue
        old = phrases.right(text, match.start("old"), match.end("old"), _WITH_PLACE)
        new = phrases.right(text, match.end(), said.end, _WITH_PLACE)
        if new is None or not _ends_clause(text, new[1], said.end):
            continue
        if text[match.end() : new[0]].strip("*_\"' ").lower() in ("the", "a", "an") and match["mark"] == ",":
            continue
        slot = slot_before(said, match.start(), "is")
        yield from made(said, slot if slot[0] else (said.about or said.teller, "is"), old, new)


_WITH_PLACE = phrases.STOPS - {"at", "on", "in", "with", "by"}


def _ends_clause(text: str, place: int, end: int) -> bool:
    """Whether a phrase ends where its clause does: what goes on may be one that tells something else."""
    following = text[place:end].strip("*_\"' ")
    return not following[:1].isalpha() or following.split()[0].lower() in _TIMES


_TIMES = frozenset("from since as starting now by until till".split())


def _instead(said: Said) -> Iterator[Change]:
    """ "45 days instead of 30": only of values, and only where it is settled: of things it may be a day's choice."""
    text = said.text
    for match in words.INSTEAD.finditer(text, said.start, said.end):
        old = phrases.right(text, match.end(), said.end)
        if old is None or _kind(said, old) == "word":
            continue
        new = _nearest(said, match.start(), _kind(said, old))
        if new is None or (words.SETTLED.search(text, said.start, said.end) is None and not _is_bold(text, new)):
            continue
        purpose = _PURPOSE.match(text, new[1], said.end)
        thing = phrases.right(text, purpose.end(), said.end) if purpose else None
        if thing:
            yield from made(said, thing_slot(said, phrases.clean(text[thing[0] : thing[1]])), old, new)
            continue
        slot = slot_before(said, new[0], "is")
        if slot == (said.teller, "is"):  # "I work four days instead of five": it does not say what of me
            continue
        sure = slot[0] and phrases.kind(slot[0]) == "word" and len(slot[0].split()) <= 4
        yield from made(said, slot if sure else (said.about or said.teller, "is"), old, new)


_PURPOSE = re.compile(r"\s?(?:for|as) (?:the|our|my|your)\s")


def _is_bold(text: str, span: Span) -> bool:
    return text[max(0, span[0] - 2) : span[0]] in ("**", "__")


def _replaces(said: Said) -> Iterator[Change]:
    """Who or what takes whose place: both must be names, and the place known, of a list, a key or "as" a role."""
    text = said.text
    for match in words.REPLACED_BY.finditer(text, said.start, said.end):
        old, new = phrases.left(text, said.start, match.start()), phrases.right(text, match.end(), said.end)
        slot = _role_slot(said, new)
        if slot and _named(text, old) and _named(text, new):
            yield from made(said, slot, old, new)
    for match in words.REPLACE_WITH.finditer(text, said.start, said.end):
        old, new = group(said, match, "old"), phrases.right(text, match.end(), said.end)
        subject, _ = slot_before(said, match.start(), "uses")
        if subject == said.teller and _named(text, old) and _named(text, new):
            yield from made(said, (subject, "uses"), old, new, False)
    for match in words.REPLACES.finditer(text, said.start, said.end):
        old, new = phrases.right(text, match.end(), said.end), phrases.left(text, said.start, match.start())
        if not _named(text, old) or old is None:
            continue
        subject, _ = slot_before(said, match.start(), "has")
        if said.head and subject == said.head:
            place = text.find(said.head, max(0, said.start - 300), said.end)
            new = (place, place + len(said.head)) if place >= 0 else None
            if new:
                yield from made(said, (said.about or said.teller, "has"), old, new, False)
        elif _named(text, new) and (slot := _role_slot(said, old)):
            yield from made(said, slot, old, new)


def _role_slot(said: Said, place: Span | None) -> Slot | None:
    """Whose place it is: "as treasurer of the club", the key of the line."""
    if said.label:
        return said.about or said.teller, said.label
    match = _AS.match(said.text, place[1], said.end) if place else None
    if match is None:
        return None
    of = phrases.right(said.text, match.end("of"), said.end) if match["of"] else None
    whose = phrases.clean(said.text[of[0] : of[1]]) if of else said.about or said.teller
    itself = not of and any(word in said.words for word in said.about.split())
    return None if itself else (whose, match["role"].lower())


_AS = re.compile(
    r"[*_]{0,2} as (?:the |a |an |our |my )?(?P<role>[^\W\d_]+(?: (?!of|in|for|since|and|from)[^\W\d_]+)?)"
    r"(?P<of> of(?: the)? )?"
)


def _named(text: str, span: Span | None) -> bool:
    return span is not None and text[span[0]].isupper() and span[1] - span[0] > 2


def _renamed(said: Said) -> Iterator[Change]:
    text = said.text
    for match in words.RENAMED.finditer(text, said.start, said.end):
        new = phrases.right(text, match.end(), said.end)
        if match["old"]:
            old = group(said, match, "old")
        else:
            span = phrases.right(text, said.start, match.start())
            alone = span is not None and all(word[:1].isupper() for word in text[span[0] : span[1]].split())
            old = span if alone else phrases.left(text, said.start, match.start())
        if old and _named(text, old) and _named(text, new):
            yield from made(said, (phrases.clean(text[old[0] : old[1]]), "is called"), old, new)


def _used_to(said: Said) -> Iterator[Change]:
    for match in words.USED_TO.finditer(said.text, said.start, said.end):
        old, new = group(said, match, "old"), phrases.right(said.text, match.end(), said.end)
        yield from made(said, slot_before(said, match.start(), "is"), old, new)


def _arrow(said: Said) -> Iterator[Change]:
    """Arrows between values only: others mean "leads to", "becomes" or "is translated as"."""
    text = said.text
    for match in words.ARROW.finditer(text, said.start, said.end):
        old = _nearest(said, match.start(), "number") or _nearest(said, match.start(), "date")
        new = phrases.right(text, match.end(), said.end)
        if old is None or old[1] != len(text[: match.start()].rstrip("*_ ")) or not _alike(said, old, new):
            old = phrases.left(text, said.start, match.start())
            if not _alike(said, old, new) or old is None:
                continue
        slot = slot_before(said, old[0], "is") if old[0] > said.start else ("", "")
        yield from made(said, slot if slot[0] else (said.about, "is"), old, new)


def _former(said: Said) -> Iterator[Change]:
    """ "Within 45 days. This replaces the former 30-day term": the old value, and before it the new one in its unit."""
    text = said.text
    for match in words.FORMER.finditer(text, said.start, said.end):
        unit = match["unit"].lower().removesuffix("s")
        for new in _VALUE.finditer(text, said.before, match.start()):
            if new["unit"].lower().removesuffix("s") == unit and new["n"] != match["n"]:
                old = f"{match['n']} {new['unit']}"
                subject = said.about or said.teller
                yield Change(subject, match["what"].lower(), old, new[0], new.start(), match.end())
                break


_VALUE = re.compile(r"(?P<n>\d[\d.,]{0,8})[ -](?P<unit>[^\W\d_]{2,12})")


_RULES: tuple[tuple[str, Callable[[Said], Iterator[Change]]], ...] = (
    ("from_to", _from_to), ("was", _was), ("isnt", _isnt), ("but_not", _but_not), ("not_any_more", _not_any_more),
    ("instead", _instead), ("replaces", _former), ("replaces", _replaces), ("renamed", _renamed),
    ("used_to", _used_to), ("arrow", _arrow),
)  # fmt: skip
