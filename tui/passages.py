"""The position of a quote in its passage, and the end of the passage's frontmatter."""

from __future__ import annotations

import re
from typing import NamedTuple

_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^[^\s#:-][^:\n]*:(?=\s|$)", re.MULTILINE)


class Marked(NamedTuple):
    """A passage as the lines before a quote, its lines, and the lines after.

    `lines[start:end]` are the quote's own words.
    """

    before: str
    lines: str = ""
    after: str = ""
    start: int = 0
    end: int = 0


def mark_quote(passage: str, quote: str) -> Marked:
    """Finds a quote even if its lines are wrapped differently; without a match, everything is `before`."""
    words = quote.split()
    match = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    if match is None:
        return Marked(passage)
    begin = passage.rfind("\n", 0, match.start()) + 1
    end = passage.find("\n", match.end())
    end = len(passage) if end < 0 else end
    return Marked(
        passage[:begin].removesuffix("\n"),
        passage[begin:end],
        passage[end:].removeprefix("\n"),
        match.start() - begin,
        match.end() - begin,
    )


def split_frontmatter(text: str) -> tuple[str, str]:
    """The frontmatter at the top of a text with its rulers, and the rest; "" and the text without frontmatter. Text
    between two rulers without any key does not count."""
    match = _FRONTMATTER.match(text)
    if match is None or not count_keys(match[0]):
        return "", text
    return match[0], text[match.end() :].lstrip("\n")


def count_keys(block: str) -> int:
    """The number of top-level keys of frontmatter."""
    return len(_KEY.findall(block))
