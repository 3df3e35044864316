"""Text that any file and any database can hold."""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """`text` with U+FFFD in place of lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
