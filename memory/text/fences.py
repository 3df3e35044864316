"""Code fences: the text between two of them is an example or a program, not a statement."""

import re
from functools import lru_cache

FENCE = re.compile(r"[ \t]*+(?:```|~~~)")


@lru_cache(maxsize=256)
def blank_fences(text: str) -> str:
    """The text with spaces in place of fenced blocks; no character moves."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, is_fenced = [], False
    for line in text.split("\n"):
        is_fence = FENCE.match(line) is not None
        lines.append(" " * len(line) if is_fence or is_fenced else line)
        is_fenced ^= is_fence
    return "\n".join(lines)
