"""Episodes without end, made from real ones: sentences put together anew, their names exchanged for new ones.

The words of the sentences are as frequent as in the corpora, so full text and vectors have as much to do as with real
text. The names follow a process in which a new one comes ever more seldom and an old one the more often, the more often
it came before, so that objects grow and are shared as in real text. The same corpora and number give the same episodes.
"""

from __future__ import annotations

import random
import re
from array import array
from collections.abc import Iterator, Sequence

from memory.nouns import Document
from memory.text.sentences import sentences

NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'-]+(?: (?:(?:of|the|de|van) )?[A-Z][\w'-]+)*")
SENTENCES = (2, 6)  # of an episode
WORDS = (5, 60)  # of a sentence that is used
NEW_AT_FIRST, NEW_FALLS = 2.3, 0.15  # the n-th name is new with probability a * n^-b: n^0.85 names, as in the corpora
INVENTED = 0.3  # of the new names hold a word that no corpus has
SAME = 0.25  # of the names in an episode are one that it has named before
OWN_TITLE = 0.7  # of the episodes are titled by a new name
SYLLABLES = ("ba", "dor", "el", "fen", "gri", "hal", "ik", "jo", "kar", "lum", "mi", "nar", "os", "pel", "qui", "ro",
             "sta", "tiv", "um", "ver", "wen", "xi", "yl", "zan")  # fmt: skip


class Invention:
    """Documents made from `texts`, the passages of the corpora."""

    def __init__(self, texts: Sequence[str], seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._sentences: list[tuple[str, ...]] = []  # words, and between them the places of names
        self._words: list[str] = []  # of names, as often as they come
        for text in texts:
            for start, end in sentences(text):
                sentence = text[start:end]
                if WORDS[0] <= len(sentence.split()) <= WORDS[1]:
                    self._sentences.append(tuple(NAME.split(sentence)))
                    self._words += [
                        word for name in NAME.findall(sentence) for word in name.split() if word[0].isupper()
                    ]
        self._names: list[str] = []
        self._drawn = array("i")

    def documents(self, count: int) -> Iterator[Document]:
        """The next `count` documents, an episode each."""
        if not self._sentences or not self._words:
            raise ValueError("nothing can be made of texts without sentences or names")
        for _ in range(count):
            number = len(self._drawn)  # grows with every document
            title = self._new() if self._random.random() < OWN_TITLE else self._drawn_name()
            named = [title]
            said = [self._said(named) for _ in range(self._random.randint(*SENTENCES))]
            yield Document(f"synthetic/{number}", " ".join(said), title=title, ref=f"synthetic/{number}")

    def _said(self, named: list[str]) -> str:
        first, *rest = self._random.choice(self._sentences)
        parts = [first]
        for i, part in enumerate(rest):
            if i == 0 and len(named) == 1:
                name = named[0]
            elif self._random.random() < SAME:
                name = self._random.choice(named)
            else:
                name = self._drawn_name()
            named.append(name)
            parts += [name, part]
        return "".join(parts)

    def _drawn_name(self) -> str:
        count = len(self._drawn)
        if count == 0 or self._random.random() < NEW_AT_FIRST * count**-NEW_FALLS:
            return self._new()
        number = self._drawn[self._random.randrange(count)]
        self._drawn.append(number)
        return self._names[number]

    def _new(self) -> str:
        words = [self._random.choice(self._words) for _ in range(self._random.choice((1, 2, 2, 2, 3)))]
        if self._random.random() < INVENTED:
            words[-1] = "".join(self._random.choices(SYLLABLES, k=self._random.randint(2, 4))).capitalize()
        self._drawn.append(len(self._names))
        self._names.append(" ".join(words))
        return self._names[-1]
