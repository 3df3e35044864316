"""Where a quote stands in its passage, and where the passage's frontmatter ends."""

from __future__ import annotations

import re
from typing import NamedTuple

_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^[^\s#:-][^:\n]*:(?=\s|$)", re.MULTILINE)


class Marked(NamedTuple):
    """A passage as the lines before a quote, the lines it stands in, and the lines after.

    `lines[start:end]` are the quote's own words.
    """

    before: str
    lines: str = ""
    after: str = ""
    start: int = 0
    end: int = 0


def mark_quote(passage: str, quote: str) -> Marked:
    """Finds a quote that may be wrapped in another way than the passage; without it, all is `before`."""
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    if found is None:
        return Marked(passage)
    begin = passage.rfind("\n", 0, found.start()) + 1
    end = passage.find("\n", found.end())
    end = len(passage) if end < 0 else end
    return Marked(
        passage[:begin].removesuffix("\n"),
        passage[begin:end],
        passage[end:].removeprefix("\n"),
        found.start() - begin,
        found.end() - begin,
    )


def split_frontmatter(text: str) -> tuple[str, str]:
    """The frontmatter at the top of a text with the lines around it, and what follows; "" and the text if there is
    none. A text between two rulers without any key is none."""
    found = _FRONTMATTER.match(text)
    if found is None or not count_keys(found[0]):
        return "", text
    return found[0], text[found.end() :].lstrip("\n")


def count_keys(block: str) -> int:
    """How many keys frontmatter has, not counting those within a key."""
    return len(_KEY.findall(block))
