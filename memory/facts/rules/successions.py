"""Changes that neighbouring sentences tell together: "I'm no longer vegan. Back to vegetarian." """

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memory.facts.rules import change_words as words
from memory.facts.rules import phrases
from memory.facts.rules.changes import Change, fits, group, made
from memory.facts.rules.subjects import Said, slot_before


def across(said: Sequence[Said]) -> Iterator[Change]:
    """Changes that neighbouring sentences tell together: an old plan and a new one, "no longer A. Back to B", who steps
    down as one thing and takes over as another, what ended and what is used now."""
    for place, one in enumerate(said):
        if not one.signs:
            continue
        following = [other for other in said[place : place + 3] if other.teller == one.teller]
        for rule in (rule for name, rule in _ACROSS if not one.signs.isdisjoint(words.SIGNS[name])):
            yield from (change for change in rule(one, following) if fits(change.old) and fits(change.new))


def _old_new(one: Said, following: Sequence[Said]) -> Iterator[Change]:
    end = following[-1].end
    for match in words.OLD_NEW.finditer(one.text, one.start, end):
        if match.start() < one.end:
            name = phrases.clean(match["name"])
            yield from made(one, (one.about or one.teller, name), match.span("old"), match.span("new"), False)


def _back(one: Said, following: Sequence[Said]) -> Iterator[Change]:
    text = one.text
    match = words.NO_LONGER.search(text, one.start, one.end)
    for other in following if match else ():
        back = words.BACK.search(text, max(match.end(), other.start), other.end)  # type: ignore[union-attr]
        new = phrases.right(text, back.end(), other.end) if back else None
        if new and match:
            yield from made(one, (one.teller, "is"), group(one, match, "old"), new, False)
            return


def _roles(one: Said, following: Sequence[Said]) -> Iterator[Change]:
    text = one.text
    steps = words.STEPS_DOWN.search(text, one.start, one.end)
    who = slot_before(one, steps.start(), "serves as")[0] if steps else ""
    for other in following if who else ():
        for takes in words.TAKES_OVER.finditer(text, max(steps.end(), other.start), other.end):  # type: ignore[union-attr]
            if text[other.start : takes.start()].rstrip().endswith(who.split()[0]) and steps:
                old, new = group(one, steps, "old"), group(one, takes, "new")
                yield from made(one, (who, "serves as"), old, new, False)
                return


def _gone(one: Said, following: Sequence[Said]) -> Iterator[Change]:
    text = one.text
    for match in words.GONE.finditer(text, one.start, following[min(1, len(following) - 1)].end):
        if match.start() < one.end:
            old, new = phrases.left(text, one.start, match.start()), phrases.right(text, match.end(), following[-1].end)
            yield from made(one, (one.teller, "uses"), old, new, False)


_ACROSS: tuple[tuple[str, Callable[[Said, Sequence[Said]], Iterator[Change]]], ...] = (
    ("old_new", _old_new), ("back", _back), ("roles", _roles), ("gone", _gone),
)  # fmt: skip
