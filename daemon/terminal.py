"""Text from files, chats and models, made fit for a terminal.

A note may hold escape sequences that move the cursor, write the clipboard or hide text. Whatever a client shows goes
through `display_safe`; nothing else in the project writes such text to a screen.
"""

from __future__ import annotations

_KEPT = {0x09, 0x0A}  # tab, newline
_UNSAFE = (
    *(code for code in range(0x20) if code not in _KEPT),  # C0: ESC, BEL, CR, backspace
    *range(0x7F, 0xA0),  # DEL and C1: 0x9B alone begins a control sequence
    0x061C,
    *range(0x200E, 0x2010),  # marks, embeddings, overrides and isolates that reorder what stands beside them
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),  # half a character: cannot be encoded, and would end the program that prints it
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),  # the invisible "tag" alphabet
)
_REMOVE = dict.fromkeys(_UNSAFE)
_REMOVE_AND_JOIN = _REMOVE | {0x09: " ", 0x0A: " "}


def display_safe(text: str, *, line: bool = False) -> str:
    """`text` without what a terminal would obey: control characters (newline and tab stay), bidi controls, surrogates.

    With `line` the result is one line: newlines and tabs become spaces. For paths, titles and table cells.
    """
    return text.translate(_REMOVE_AND_JOIN if line else _REMOVE)


def escape_unsafe(text: str) -> str:
    """The same characters as `\\uXXXX`: for JSON, where nothing may be lost. `text` is the encoded document."""
    return text.translate(_ESCAPED)


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


_ESCAPED = {code: _escape(code) for code in _UNSAFE}
