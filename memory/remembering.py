"""The part of `Memory` that learns from answering: what edges remember, a person's verdicts, and making it all anew."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from memory.answering.escalation import AskOutcome
from memory.edge_memory import activation, rebuild
from memory.edge_memory.activation import Remembered
from memory.edge_memory.feedback import lesson
from memory.edge_memory.reinforce import learn
from memory.errors import InvalidInputError
from memory.nouns import Answer, Trace
from memory.serving import Serving
from memory.store import edge_memory, facts, queries, traces
from memory.store.connect import Connection
from memory.store.store import Store
from memory.trace import OPINIONS, Plan

FEEDBACK: dict[str, int | None] = {**OPINIONS, "none": None}  # what may be said of an answer
FIRST, MANY = 25, 2_000  # questions after which edges are first compared, and more than are looked at while one waits
AT_ONCE = 200  # questions that are embedded between two looks at who waits
EDGES_AT_ONCE = 500  # that are made anew in one transaction


class Remembering:
    """What is learnt from questions. Everything is in the file when a call returns, and follows from the traces."""

    store: Store
    _serving: Serving
    _remembered: tuple[int, Remembered]  # by the id of the embedder whose it is
    _memory_lock: threading.RLock  # from changing what edges remember until questions see it

    def feedback(self, trace_id: int, verdict: str) -> None:
        """Learns what a person says of an answer: "good" enhances what led to it, "bad" takes away what fired for it,
        "none" takes either back. NotFoundError, InvalidInputError."""
        if verdict not in FEEDBACK:
            raise InvalidInputError(f"{verdict[:40]!r} is no verdict. Say good, bad or none.")
        with self._memory_lock:
            serving = self._serving
            with self.store.writing() as conn:
                rebuild.verdict(conn, serving.embedder_id, serving.embedder.dimension, trace_id, FEEDBACK[verdict])
            self._look_again()

    def rebuild_memory(
        self,
        tell: Callable[[int, int], None] = lambda done, total: None,
        write: Callable[[Callable[[], Any]], Any] = lambda unit: unit(),
    ) -> int:
        """Makes what edges remember anew from the traces; returns how many edges remember something.

        It is done piece by piece, each through `write`, so that questions go on; `tell` hears how many edges are done,
        of how many. Whatever breaks it off, every edge remembers what it did, or what it should.
        """
        self._catch_up(write)
        serving = self._serving
        with self.store.reading() as conn:
            waiting = edge_memory.learners(conn, serving.embedder_id)
        for start in range(0, len(waiting), EDGES_AT_ONCE):
            tell(start, len(waiting))
            write(partial(self._again, serving.embedder_id, waiting[start : start + EDGES_AT_ONCE]))
        self._look_again()
        tell(len(waiting), len(waiting))
        with self.store.reading() as conn:
            return edge_memory.counts(conn, serving.embedder_id).edges

    # ----------------------------------------------------------------------------------------------

    def _keep(self, trace: Trace, said: Answer, plan: Plan, outcome: AskOutcome, parent: int | None) -> int | None:
        """Keeps the trace of a question and learns from it; its id. None if something that it shows has been forgotten
        meanwhile, while a model wrote or a person read: then nothing is kept."""
        found = outcome.found
        with self.store.reading() as conn:
            quoted = facts.quoted_facts(conn, said.citations)
        given = lesson(found, said, found.brought.replayed, outcome.expanded, quoted)
        now = time.time_ns() // 1_000_000
        with self._memory_lock:
            with self.store.writing() as conn:
                if not traces.is_whole(conn, trace, said):
                    return None
                id = traces.store(conn, trace, said, now, plan, outcome.calls, outcome.usage, outcome.tier, parent)
                (of, known), serving, query = self._remembered, self._serving, found.brought.query
                if query.any() and found.embedder is serving.embedder and of == serving.embedder_id:
                    known = learn(conn, known, of, id, query, given, now)
            self._remembered = of, known
        return id

    def _settle(self) -> None:
        """Looks anew at what all questions have in common, when it is time for that; with very many questions that
        takes seconds, and waits for the night."""
        of, known = self._remembered
        with self.store.reading() as conn:
            n = queries.count(conn, of, MANY + 1)
        first = FIRST <= n < rebuild.ENOUGH and known.geometry.threshold is None
        if n > MANY or not (first or rebuild.is_due(n, known.geometry)):
            return
        with self._memory_lock:
            if not self._serves(of):
                return
            with self.store.writing() as conn:
                if rebuild.recentre(conn, of, known.dimension) is None:
                    rebuild.calibrate(conn, of, known.dimension)
            self._look_again()

    def _catch_up(self, write: Callable[[Callable[[], Any]], Any]) -> None:
        """Embeds the questions that the embedder in use has not seen, and makes what edges remember for it, anew where
        it has learnt from later ones."""
        serving = self._serving
        while self._serves(serving.embedder_id):
            with self.store.reading() as conn:
                waiting = queries.missing(conn, serving.embedder_id, AT_ONCE)
            if not waiting:
                break
            embedded = [(trace, serving.embedder.embed_query(text)) for trace, text in waiting]
            write(partial(self._put_queries, serving, embedded))
        write(self._complete)

    def _put_queries(self, serving: Serving, embedded: list[tuple[int, Any]]) -> None:
        with self.store.writing() as conn:
            if not self._serves(serving.embedder_id):
                return
            for trace, query in embedded:
                queries.put(conn, serving.embedder_id, trace, query)
            touched = edge_memory.touched(conn, [trace for trace, _ in embedded])
            rebuild.again(conn, serving.embedder_id, serving.embedder.dimension, touched)

    def _complete(self) -> None:
        with self._memory_lock:
            with self.store.writing() as conn:
                self._made_whole(conn)
            self._look_again()

    def _made_whole(self, conn: Connection) -> None:
        """Makes what is missing of what edges remember, within a transaction that took some away."""
        serving = self._serving
        rebuild.complete(conn, serving.embedder_id, serving.embedder.dimension)

    def _again(self, embedder_id: int, edges: list[int]) -> None:
        with self._memory_lock:
            serving = self._serving
            if self._serves(embedder_id):
                with self.store.writing() as conn:
                    rebuild.again(conn, embedder_id, serving.embedder.dimension, edges)

    def _serves(self, embedder_id: int) -> bool:
        """Whether that embedder is still the one in use; else another has taken over, and makes its own memory."""
        return self._serving.embedder_id == embedder_id

    def _look_again(self) -> None:
        """Questions see from now on what is stored of what edges remember."""
        with self._memory_lock:
            serving = self._serving
            with self.store.reading() as conn:
                known = activation.load(conn, serving.embedder_id, serving.embedder.dimension)
            self._remembered = serving.embedder_id, known

    def _remembered_by(self, embedder_id: int) -> Remembered | None:
        """What edges remember for that embedder, if it is the one in use."""
        of, known = self._remembered
        return known if of == embedder_id else None
