"""Where a text says `key: value`, as frontmatter and the heads of mails do."""

from __future__ import annotations

import re

_PROPERTY = re.compile(r"^(?P<key>[^\s:#>*|-][^:\n]{0,60}?)[ \t]*:(?=[ \t\n]|\Z).*", re.MULTILINE)


def find_property(text: str, key: str, value: str) -> tuple[int, int] | None:
    """The line that says it, from where to where it stands; the first with the key, if the value stands in lines of its
    own or was read as something else; None if no line has the key."""
    wanted, first = _fold(key), None
    for found in _PROPERTY.finditer(text):
        if _fold(found["key"]) == wanted:
            if value in found[0]:
                return found.span()
            first = first or found.span()
    return first


def _fold(key: str) -> str:
    return key.casefold().replace("_", " ").replace("-", " ").strip()
