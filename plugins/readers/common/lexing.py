"""Tokens of formats and languages by the lexers of Pygments, a dependency of Rich."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment

_MARKS = re.compile(r"^[\s#;/*!-]+|[\s*/]+$")


@cache
def _load_lexer(language: str) -> Any:
    return get_lexer_by_name(language)


def find_tokens(language: str, text: str) -> Iterator[tuple[int, Any, str]]:
    """(line, kind, text) of the tokens, in order."""
    line = 1
    for _, kind, value in _load_lexer(language).get_tokens_unprocessed(text):
        yield line, kind, value
        line += value.count("\n")


def find_comments(language: str, text: str) -> dict[int, str]:
    """The comments with a word, without marks, by line."""
    comments: dict[int, str] = {}
    for line, kind, value in find_tokens(language, text):
        if kind in Comment and (words := strip_marks(value)):
            comments[line] = words
    return comments


def strip_marks(comment: str) -> str:
    """A comment line without its marks; "" without a word."""
    words = _MARKS.sub("", comment)
    return words if any(map(str.isalnum, words)) else ""
