"""Where a quote stands in its passage."""

from __future__ import annotations

import re
from typing import NamedTuple


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
