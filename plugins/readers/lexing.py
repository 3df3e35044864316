"""Tokens of formats and languages, by the lexers of Pygments, which Rich brings along."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment

_MARKS = re.compile(r"^[\s#;/*!-]+|[\s*/]+$")


@cache
def _lexer(language: str) -> Any:
    return get_lexer_by_name(language)


def find_tokens(language: str, text: str) -> Iterator[tuple[int, Any, str]]:
    """(line, kind, text) of the tokens, in order."""
    line = 1
    for _, kind, value in _lexer(language).get_tokens_unprocessed(text):
        yield line, kind, value
        line += value.count("\n")


def find_comments(language: str, text: str) -> dict[int, str]:
    """The comments that say something, without their marks, by their lines."""
    found: dict[int, str] = {}
    for line, kind, value in find_tokens(language, text):
        if kind in Comment and (said := strip_marks(value)):
            found[line] = said
    return found


def strip_marks(comment: str) -> str:
    """A line of a comment without its marks; "" if it has no word."""
    said = _MARKS.sub("", comment)
    return said if any(map(str.isalnum, said)) else ""
