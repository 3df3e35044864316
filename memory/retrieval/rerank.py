"""Reranking: a model reads the first passages of chats with the question (`rank.rerank_chats`).

Passages of a chat are similar, and a cross-encoder, which reads question and passage together, separates them better
than vectors; on documents it gained nothing. It comes from a plugin, takes up to a second of CPU per question, and is
off by default. If it fails, questions are answered without it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from memory.errors import PalimpsestError
from memory.protocols import Reranker

MAX_SECONDS = 10.0  # that a question waits for it
REST_SECONDS = 60.0  # pause after a failure


class Reranking:
    """A plug-in's reranker that may fail or hang. Thread-safe. `problem` is the error of the last call."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._rests_until = 0.0
        self.problem: str = getattr(reranker, "problem", "")  # of one that is known not to work

    def score(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """Scores how well each text answers; None on failure or after MAX_SECONDS."""
        if time.monotonic() < self._rests_until:
            return None
        answer: SimpleQueue[list[float] | str] = SimpleQueue()
        threading.Thread(target=self._ask, args=(question, texts, answer), name="reranker", daemon=True).start()
        try:
            result = answer.get(timeout=MAX_SECONDS)
        except Empty:
            result = f"it had not answered after {MAX_SECONDS:.0f} s"
        if isinstance(result, str):
            self.problem, self._rests_until = result, time.monotonic() + REST_SECONDS
            return None
        self.problem = ""
        return result

    def _ask(self, question: str, texts: Sequence[str], answer: SimpleQueue[list[float] | str]) -> None:
        try:
            scores = [float(score) for score in self._reranker.score(question, texts)]
        except (Exception, SystemExit) as error:
            answer.put(str(error) if isinstance(error, PalimpsestError) else f"it failed with {type(error).__name__}")
            return
        fits = len(scores) == len(texts) and all(map(math.isfinite, scores))
        answer.put(scores if fits else "it does not give a number for each passage")
