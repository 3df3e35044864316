"""Statements in a chat, distinguished from questions without a model.

In doubt a text is a question: a missed statement is answered as before. A sentence is a statement if it asks to be
remembered ("remember that ..."), or if it is about its writer, in a language with patterns for that (`telling` in
`data/`), and neither asks nor addresses the reader."""

from __future__ import annotations

import re
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Utterance:
    """The statements and the questions of a person in their words; "" if there are none."""

    statement: str
    question: str


def find_statement(text: str) -> Utterance | None:
    """The statement in a typed text, or None."""
    if len(text) > MAX_CHARS or "\n\n" in text.strip():
        return None
    statements: list[str] = []
    questions: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        parts = _split(sentence)
        statements += [part for is_statement, part in parts if is_statement]
        questions += [part for is_statement, part in parts if not is_statement]
    return Utterance(" ".join(statements), " ".join(questions)) if statements else None


def _split(sentence: str) -> list[tuple[bool, str]]:
    """(whether it is a statement, part) of a sentence. "I moved to Bergen, where is the town hall?" has two."""
    if not ASKS.search(sentence):
        return [(_is_statement(sentence), sentence)]
    for language in _read_languages():
        for match in language.turn.finditer(sentence):
            first = sentence[: match.start()].strip()
            if _is_statement(first):
                return [(True, first), (False, sentence[match.start("asked") :])]
    return [(False, sentence)]


def _is_statement(sentence: str) -> bool:
    return not ASKS.search(sentence) and any(language.tells(sentence) for language in _read_languages())


class _Language:
    """The patterns of statements and questions in one language."""

    def __init__(self, table: dict[str, str]) -> None:
        def compiled(pattern: str) -> re.Pattern[str]:
            return re.compile(pattern, re.IGNORECASE)

        patterns = {key: value.replace("\n", "") for key, value in table.items()}
        self._keep = compiled(rf"\W{{0,3}}(?:{patterns['keep']})")
        self._opening = compiled(rf"\W{{0,3}}(?:{patterns['opening']})")
        self._speaker = compiled(rf"\W{{0,3}}(?:{patterns['speaker']})\s+\S")
        noun = rf"(?:[^\s,.;:!?]+\s+){{1,{MAX_NOUN_WORDS}}}?"
        self._own = compiled(rf"\W{{0,3}}(?:{patterns['own']})\s+{noun}(?:{patterns['holds']})\s+\S")
        wrong = "|".join((patterns["no_telling"], patterns["addressed"], patterns["asks_within"]))
        self._no_telling = compiled(wrong)
        self._unfinished = compiled(rf"\b(?:{patterns['unfinished']})$")
        turn = rf"(?:[,;:]|\s[–—-])\s*(?:(?:{patterns['joins']})\s+)?|\s(?:{patterns['joins']})\s+"
        self.turn = compiled(rf"(?:{turn})(?P<asked>(?:{patterns['asked']})\b)")

    def tells(self, sentence: str) -> bool:
        """Whether a sentence without a question mark is a statement in this language."""
        bare = _SIGNED.sub("", sentence).strip()
        if keep := self._keep.match(bare):
            return count_words(bare[keep.end() :]) >= MIN_KEPT_WORDS
        for _ in range(MAX_OPENINGS):
            opening = self._opening.match(bare)
            bare = bare[opening.end() :] if opening else bare
        if not (self._speaker.match(bare) or self._own.match(bare)):
            return False
        return (
            count_words(bare) >= MIN_WORDS and not self._no_telling.search(bare) and not self._unfinished.search(bare)
        )


@cache
def _read_languages() -> tuple[_Language, ...]:
    return tuple(map(_Language, tables("telling")))
