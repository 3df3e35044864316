"""Statements: what a person tells in a chat, told apart from what they ask, without a model.

In doubt it is no statement: one that is overlooked is answered as a question, as it always was. A sentence is one if it
asks to be kept ("remember that ..."), or if it tells of whoever writes it, in a language that has words for that
(`telling` in `data/`), and neither asks nor speaks to whom it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memory.text.languages import tables
from memory.text.sentences import sentences
from memory.text.words import count_words

MAX_CHARS = 1000  # of what a person types; longer ones are texts to ask about
MIN_WORDS, MIN_KEPT_WORDS = 3, 2  # of a sentence, of what asks to be kept
MAX_OPENINGS = 3  # "ok, by the way, today ..."
MAX_NOUN_WORDS = 5  # between "my" and its verb

_ASKS = re.compile(r"\?[\s\"'”’)]*$")
_SIGNED = re.compile(r"[.!…]*$")


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a person told, in their words, and what they asked besides; "" if nothing."""

    told: str
    asked: str


def find_statement(text: str) -> Utterance | None:
    """The statement in what a person typed; None if there is none."""
    if len(text) > MAX_CHARS or "\n\n" in text.strip():
        return None
    told: list[str] = []
    asked: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        parts = _split(sentence)
        told += [part for is_told, part in parts if is_told]
        asked += [part for is_told, part in parts if not is_told]
    return Utterance(" ".join(told), " ".join(asked)) if told else None


def _split(sentence: str) -> list[tuple[bool, str]]:
    """The parts of a sentence, each with whether it is told. "I moved to Bergen, where is the town hall?" has two."""
    if not _ASKS.search(sentence):
        return [(_is_told(sentence), sentence)]
    for language in _languages():
        for match in language.turn.finditer(sentence):
            first = sentence[: match.start()].strip()
            if _is_told(first):
                return [(True, first), (False, sentence[match.start("asked") :])]
    return [(False, sentence)]


def _is_told(sentence: str) -> bool:
    return not _ASKS.search(sentence) and any(language.tells(sentence) for language in _languages())


class _Language:
    """How one language tells and asks."""

    def __init__(self, table: dict[str, str]) -> None:
        def compiled(pattern: str) -> re.Pattern[str]:
            return re.compile(pattern, re.IGNORECASE)

        said = {key: value.replace("\n", "") for key, value in table.items()}
        self._keep = compiled(rf"\W{{0,3}}(?:{said['keep']})")
        self._opening = compiled(rf"\W{{0,3}}(?:{said['opening']})")
        self._speaker = compiled(rf"\W{{0,3}}(?:{said['speaker']})\s+\S")
        noun = rf"(?:[^\s,.;:!?]+\s+){{1,{MAX_NOUN_WORDS}}}?"
        self._own = compiled(rf"\W{{0,3}}(?:{said['own']})\s+{noun}(?:{said['holds']})\s+\S")
        wrong = "|".join((said["no_telling"], said["addressed"], said["asks_within"]))
        self._no_telling = compiled(wrong)
        self._unfinished = compiled(rf"\b(?:{said['unfinished']})$")
        turn = rf"(?:[,;:]|\s[–—-])\s*(?:(?:{said['joins']})\s+)?|\s(?:{said['joins']})\s+"
        self.turn = compiled(rf"(?:{turn})(?P<asked>(?:{said['asked']})\b)")

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
def _languages() -> tuple[_Language, ...]:
    return tuple(map(_Language, tables("telling")))
