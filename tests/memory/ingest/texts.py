"""Texts to try the splitters on, and a check that they take linear time."""

import time
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

_WORDS = ["word", "Word", "42", "J.", "e.g.", "end.", "why?", "wow!", "…", "。", "你好", "é", "\ud800", "\0", "a@b.org"]
_MARKS = [
    "# ",
    "## ",
    "### ",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "- [x] ",
    "> ",
    "```",
    "```py\n",
    "~~~\n",
    "\n```\n",
    "Ana: ",
    "#tag",
]
_LINES = ["---\n", "===\n", "***\n", "| a | b |\n", "|---|---|\n", "|", "\\", "**", "_", "`", "(", ")", '"', "+"]
_SPACES = [" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\f", "\r", "\u00a0"]
markdown = st.lists(st.sampled_from(_WORDS + _MARKS + _LINES + _SPACES), max_size=60).map("".join)
anything = st.text(st.characters(exclude_categories=()), max_size=80)


def assert_linear(function: Callable[[str], Any], start: str, pattern: str) -> None:
    """Four times the text takes nowhere near sixteen times the time."""
    seconds = []
    for length in (5_000, 20_000):
        text = (start + pattern * (length // len(pattern)))[:length]
        begin = time.process_time()
        function(text)
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 9 * seconds[0] + 0.25, seconds
