"""Who "I" is: in a person's own notes they are "I", and a question that calls them by name means that.

The name stands in few of the notes (mails, mostly), so as a word to search for it only leads away from the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from email.utils import getaddresses

from memory.time.dates import month_names

_HONORIFICS = frozenset("dr prof mr mrs ms mx herr frau sir dame mevr dhr".split())
_NO_NAMES = frozenset(
    "info mail email me hello hi contact office admin post team home work private".split()
)  # before @
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
MAILS = 2  # at least, to tell whose mailbox it is


def in_first_person(question: str, names: Iterable[str]) -> str:
    """`question` with each of the person's own `names` as "I", and with "my" for "Ana's".

    A full name counts and each of its words alone, written like a name: with a capital, or anyhow in a question
    without capitals. A family name behind somebody else's first name is that one's.
    """
    full = [words for name in names if (words := _words(name))]
    single = {word for words in full for word in words if word.lower() not in month_names()}
    if not full:
        return question
    firsts = {words[0].casefold() for words in full}
    alternatives = sorted({*(" ".join(words) for words in full), *single}, key=lambda name: (-len(name), name))
    pattern = re.compile(
        r"(?<![\w@.])(" + "|".join(map(re.escape, alternatives)) + r")(?![\w@]|\.\w)(['’]s?(?!\w))?", re.IGNORECASE
    )
    no_capitals = question == question.lower()

    def first_person(match: re.Match[str]) -> str:
        name = match[1]
        written = no_capitals or name[0] == name[0].upper()
        family = " " not in name and name.casefold() not in firsts
        if not written or (family and _is_first_name(question[: match.start()])):
            return match[0]
        return "my" if match[2] else "I"

    return pattern.sub(first_person, question)


def mailbox_owner(mails: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The names of the one that most mails are addressed to, given From and To of each; empty if nobody is it clearly.

    Of the mails that they did not write themselves, more than half are addressed to them, MAILS at least.
    """
    to, own, called = Counter[str](), Counter[str](), dict[str, Counter[str]]()
    for sender, receivers in mails:
        writers = {part for name, address in getaddresses([sender]) for part in (name.casefold(), address.casefold())}
        for name, address in {(name.strip(), address.casefold()) for name, address in getaddresses([receivers])}:
            if address:
                to[address] += 1
                called.setdefault(address, Counter())[name] += bool(name)
        own.update(writers - {""})
    best = to.most_common(2)
    if not best or best[0][1] < MAILS or (len(best) == 2 and best[1][1] == best[0][1]):
        return ()
    address, count = best[0]
    names = sorted((name for name, n in called[address].items() if n), key=lambda name: (-called[address][name], name))
    written = max(own[part] for part in (address, *(name.casefold() for name in names)))
    if 2 * count <= len(mails) - written:
        return ()
    words = _WORD.findall(address.partition("@")[0])
    return tuple(names) or tuple(word.title() for word in words if len(word) > 2 and word not in _NO_NAMES)


def _words(name: str) -> list[str]:
    """The words of a name, first name first: "Doe, Jane (work)" is Jane Doe."""
    last, _, first = _IN_BRACKETS.sub(" ", name).partition(",")
    return [
        word
        for word in _WORD.findall(f"{first} {last}")
        if len(word) > 1 and word.casefold().rstrip(".") not in _HONORIFICS
    ]


def _is_first_name(before: str) -> bool:
    """Whether what stands before a family name is a first name: a capital that begins no sentence."""
    words = before.split()
    return len(words) > 1 and before[-1:].isspace() and words[-1].isalpha() and words[-1][0].isupper()
