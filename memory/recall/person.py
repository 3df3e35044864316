"""Who "I" is: in a person's own notes they are "I", and a question that calls them by name means that.

The name stands in few of the notes (mails, mostly), so as a search word it only leads away from the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SURE = 1  # words before a family name that alone make it another person's: "Tomek Haverkate"
_SPACES = re.compile(r"\s+")


def in_first_person(question: str, names: Iterable[str]) -> str:
    """`question` with each of the person's own `names` as "I", and with "my" for "Ana's".

    A full name counts and each of its words alone, written like a name: with a capital, or anyhow in a question
    without capitals. A family name behind somebody else's first name is that one's.
    """
    full = [_SPACES.sub(" ", name.replace(",", " ")).strip() for name in names]
    words = {word for name in full for word in name.split() if len(word) > 1}
    if not words:
        return question
    firsts = {name.split()[0] for name in full if name}
    alternatives = sorted({*full, *words} - {""}, key=lambda name: (-len(name), name))
    pattern = re.compile(
        r"(?<![\w@.])(" + "|".join(map(re.escape, alternatives)) + r")(?![\w@]|\.\w)(['’]s?(?!\w))?", re.IGNORECASE
    )
    no_capitals = question == question.lower()

    def first_person(match: re.Match[str]) -> str:
        name = match[1]
        if not (no_capitals or name[0] != name[0].lower() or name[0] == name[0].upper()):
            return match[0]
        if name not in firsts and " " not in name and _somebody(question[: match.start()]):
            return match[0]
        return "my" if match[2] else "I"

    return pattern.sub(first_person, question)


def _somebody(before: str) -> bool:
    """Whether the last word before a family name is a first name: a capital that begins no sentence."""
    words = before.split()
    return len(words) > 1 and words[-1][:1].isupper() and before[-1:].isspace() and words[-1].isalpha()
