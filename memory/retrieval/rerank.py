"""Reranking: a model reads the first passages of chats with the question, and the best come first.

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

import numpy as np

from memory.errors import PalimpsestError
from memory.graph.walk import top_k
from memory.protocols import Reranker
from memory.retrieval.state import Reranks, Retrieval
from memory.stages import RerankNote
from memory.store import episodes

READ_AGAIN, KEPT = 20, 3  # passages: candidates, and how many of them come first
CHAT_SHARE = 0.5  # of these that must be of chats
MAX_SECONDS = 10.0  # that a question waits for it
REST_SECONDS = 60.0  # pause after a failure


class Reranking:
    """A plug-in's reranker that may fail or hang. Thread-safe. `problem` is the error of the last call."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._rests_until = 0.0
        self.problem: str = getattr(reranker, "problem", "")  # of one that is known not to work

    def score(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """How well each text answers; None on failure or after MAX_SECONDS."""
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


def rerank_chats(retrieval: Retrieval, reranking: Reranks) -> RerankNote | None:
    """Of the first READ_AGAIN passages, if most are from chats, the KEPT best answers come first. Passages change
    places; the scores of the places stay."""
    graph = retrieval.graph
    rows = top_k(retrieval.ranking, retrieval.seen, READ_AGAIN)
    if len(rows) <= 1 or graph.is_chat[rows].mean() < CHAT_SHARE:
        return None
    ids = graph.episode_ids[rows].tolist()
    read = {episode.id: episode for episode in episodes.by_ids(retrieval.conn, ids)}
    scores = reranking.score(retrieval.question.text, [f"{read[id].title}\n{read[id].text}" for id in ids])
    if scores is None:
        return RerankNote(len(ids), problem=reranking.problem)
    best = np.argsort(-np.array(scores), kind="stable")[:KEPT]
    order = np.concatenate([best, np.setdiff1d(np.arange(len(rows)), best)])
    worth = np.sort(retrieval.ranking[rows])[::-1].copy()
    for place in range(len(worth) - 2, -1, -1):  # of those that are worth the same, the earlier stay before the later
        worth[place] = max(worth[place], np.nextafter(worth[place + 1], np.float32(np.inf)))
    retrieval.ranking = retrieval.ranking.copy()
    retrieval.ranking[rows[order]] = worth
    return RerankNote(len(ids), tuple(ids[place] for place in best))
