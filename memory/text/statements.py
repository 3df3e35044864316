"""Statements in a chat, distinguished from questions without a model.

In doubt a text is a question: a missed statement is answered as before. A sentence is a statement if it asks to be
remembered ("remember that ..."), or if it is about its writer, in a language with patterns for that (`telling` in
`data/`), and neither asks nor addresses the reader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from memory.text.clauses import ASKS
from memory.text.languages import tables
from memory.text.sentences import sentences
from memory.text.words import count_words

MAX_CHARS = 1000  # longer texts are pasted, to ask about
MIN_WORDS, MIN_KEPT_WORDS = 3, 2  # of a sentence; of a text to remember
MAX_OPENINGS = 3  # "ok, by the way, today ..."
MAX_NOUN_WORDS = 5  # between "my" and its verb

_SIGNED = re.compile(r"[.!…]*$")


def find_statement(text: str) -> tuple[str, str] | None:
    """Returns (statements, questions) of a person in their words, from a typed text; None without a statement."""
    if len(text) > MAX_CHARS or "\n\n" in text.strip():
        return None
    statements: list[str] = []
    questions: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        parts = _split(sentence)
        statements += [part for is_statement, part in parts if is_statement]
        questions += [part for is_statement, part in parts if not is_statement]
    return (" ".join(statements), " ".join(questions)) if statements else None


def _split(sentence: str) -> list[tuple[bool, str]]:
    """Returns (whether it is a statement, part) of a sentence. "I moved to Bergen, where is the town hall?" has two."""
    if not ASKS.search(sentence):
        return [(_is_statement(sentence), sentence)]
    for language in _read_languages():
        for match in language["turn"].finditer(sentence):
            first = sentence[: match.start()].strip()
            if _is_statement(first):
                return [(True, first), (False, sentence[match.start("asked") :])]
    return [(False, sentence)]


def _is_statement(sentence: str) -> bool:
    return not ASKS.search(sentence) and any(_is_statement_in(language, sentence) for language in _read_languages())


def _is_statement_in(language: Mapping[str, re.Pattern[str]], sentence: str) -> bool:
    """Whether a sentence without a question mark is a statement in this language."""
    bare = _SIGNED.sub("", sentence).strip()
    if keep := language["keep"].match(bare):
        return count_words(bare[keep.end() :]) >= MIN_KEPT_WORDS
    for _ in range(MAX_OPENINGS):
        opening = language["opening"].match(bare)
        bare = bare[opening.end() :] if opening else bare
    if not (language["speaker"].match(bare) or language["own"].match(bare)) or count_words(bare) < MIN_WORDS:
        return False
    return not language["no_telling"].search(bare) and not language["unfinished"].search(bare)


@cache
def _read_languages() -> tuple[dict[str, re.Pattern[str]], ...]:
    """Returns the patterns of statements and questions in each language, by their purpose."""
    return tuple(map(_compile, tables("telling")))


def _compile(table: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    parts = {key: value.replace("\n", "") for key, value in table.items()}
    noun = rf"(?:[^\s,.;:!?]+\s+){{1,{MAX_NOUN_WORDS}}}?"
    turn = rf"(?:[,;:]|\s[–—-])\s*(?:(?:{parts['joins']})\s+)?|\s(?:{parts['joins']})\s+"
    patterns = {
        "keep": rf"\W{{0,3}}(?:{parts['keep']})",
        "opening": rf"\W{{0,3}}(?:{parts['opening']})",
        "speaker": rf"\W{{0,3}}(?:{parts['speaker']})\s+\S",
        "own": rf"\W{{0,3}}(?:{parts['own']})\s+{noun}(?:{parts['holds']})\s+\S",
        "no_telling": "|".join((parts["no_telling"], parts["addressed"], parts["asks_within"])),
        "unfinished": rf"\b(?:{parts['unfinished']})$",
        "turn": rf"(?:{turn})(?P<asked>(?:{parts['asked']})\b)",
    }
    return {key: re.compile(pattern, re.IGNORECASE) for key, pattern in patterns.items()}
