"""Lines `key: value` in a text, as in frontmatter and mail headers."""

from __future__ import annotations

import re

_PROPERTY = re.compile(r"^(?P<key>[^\s:#>*|-][^:\n]{0,60}?)[ \t]*:(?=[ \t\n]|\Z).*", re.MULTILINE)


def find_property(text: str, key: str, value: str) -> tuple[int, int] | None:
    """The [start, end) of the line with a property: the first with the key, if the value is in other lines or was
    parsed differently; None without the key."""
    folded_key, first = _fold(key), None
    for match in _PROPERTY.finditer(text):
        if _fold(match["key"]) == folded_key:
            if value in match[0]:
                return match.span()
            first = first or match.span()
    return first


def _fold(key: str) -> str:
    return key.casefold().replace("_", " ").replace("-", " ").strip()
