"""What a server says that turns texts into vectors: those of `embed`, or what it is told to spoil.

The vector of a text counts its letters, so that texts of the same words are near and anybody can check it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes.server import Breaks, Exchange, Fails, Hangs, Sends

LETTERS = "aeiouhlmnrstdbcg"
Spoiled = Fails | Sends | Hangs | Breaks
Vector = list[Any]


def embed(text: str, dimension: int = len(LETTERS)) -> Vector:
    """text -> its vector of norm 1, or zeros."""
    counts = [float(text.count(letter)) for letter in LETTERS[:dimension]]
    norm = sum(count * count for count in counts) ** 0.5
    return [count / norm for count in counts] if norm else counts


class Vectors:
    """Answers requests for vectors. `spoil` says what comes instead, request after request; `change` is done to all
    vectors of a reply; of texts longer than `most_words` it complains."""

    def __init__(self) -> None:
        self.dimension = len(LETTERS)
        self.most_words = 8192
        self.change: Callable[[list[Vector]], list[Vector]] = lambda vectors: vectors
        self._spoiled: deque[Spoiled] = deque()

    def spoil(self, *replies: Spoiled) -> None:
        """Instead of the next vectors, these come; of one that Breaks, its first half."""
        self._spoiled.extend(replies)

    def is_too_long(self, texts: Sequence[str]) -> bool:
        return any(len(text.split()) > self.most_words for text in texts)

    def reply(
        self,
        exchange: Exchange,
        texts: Sequence[str],
        shape: Callable[[list[Vector]], Any],
        fail: Callable[[Fails], None],
    ) -> None:
        """Sends the vectors of texts, in the `shape` of a protocol, or what is spoiled."""
        whole = shape(self.change([embed(text, self.dimension) for text in texts]))
        match self._spoiled.popleft() if self._spoiled else None:
            case None:
                exchange.reply(whole)
            case Hangs():
                exchange.hang()
            case Sends() as sends:
                exchange.send(sends)
            case Breaks():
                exchange.stream(iter([b'{"embeddings": [[0.1, 0.2, ']), "application/json", tidily=False)
            case Fails() as fails:
                fail(fails)
