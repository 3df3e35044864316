"""The part of `Memory` that puts itself in order while nobody asks (memory.insight.consolidate)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from memory.edge_memory import rebuild
from memory.graph.snapshot import embedded
from memory.ingest import embed
from memory.insight import consolidate
from memory.insight.consolidate import GROUPS, Report, StoppedError, Write
from memory.remembering import FIRST
from memory.revising import Revising
from memory.store import consolidation, queries, relations, vectors
from memory.switching import BATCHES, Switching

MANY = 1 << 30
EDGES = 100  # whose memory is made anew before looking who waits
TRIES = 3  # to make it all anew, while questions are forgotten or facts replaced


class Consolidating(Revising, Switching):
    """Consolidation. All writes are small transactions, each on the disk when it is done."""

    def consolidate(
        self, *, write: Write = consolidate.directly, cancelled: Callable[[], bool] = lambda: False
    ) -> Report:
        """Joins what was told twice, makes what is missing, lets go of what hangs on nothing, and lists names that may
        be one. Nothing that holds is lost: a fact that was joined comes back with `undo`. Doing it again changes
        nothing. `write` runs what writes, for a caller who has a thread for that.
        """
        report = Report()

        def unit(work: Callable[[], Any]) -> Any:
            if cancelled():
                raise StoppedError
            return write(work)

        try:
            report = replace(report, stale=unit(self._without_stale))
            with self.store.reading() as conn:
                groups = relations.duplicate_groups(conn)
            for start in range(0, len(groups), GROUPS):
                joined = unit(partial(self._join, groups[start : start + GROUPS]))
                report = replace(report, joined=report.joined + joined)
            report = replace(report, episodes=self._fill(unit))
            with self.store.reading() as conn:
                unseen = len(queries.missing(conn, self._serving.embedder_id, MANY))
            if unseen:
                self._catch_up(unit)
            report = replace(report, questions=unseen, recentred=self._compared(unit))
            with self.store.reading() as conn:
                return replace(report, suspects=consolidate.suspects(conn, self._serving.snapshot.graph))
        except StoppedError:
            return replace(report, stopped=True)

    def _without_stale(self) -> int:
        with self._memory_lock:
            with self.store.writing() as conn:
                gone = consolidation.drop_stale_memory(conn)
            if gone:
                self._look_again()
        return gone

    def _join(self, groups: list[list[int]]) -> int:
        with self._asserting() as asserter:
            return asserter.merge_duplicates(groups)

    def _fill(self, unit: Write) -> int:
        """Gives the episodes that the embedder in use has not seen their vectors; how many. A set that is only being
        made is none of its business: `switch_embedder` makes it whole."""
        serving = self._serving
        embedder_id, embedder = serving.embedder_id, serving.embedder
        with self.store.reading() as conn:
            active = vectors.active(conn)
            waiting = vectors.missing(conn, embedder_id, embedder.batch * BATCHES)
        if active is None or active.id != embedder_id or not waiting:
            return 0
        for start in range(0, len(waiting), embedder.batch):
            with self.store.reading() as conn:
                passages = embed.passages(conn, waiting[start : start + embedder.batch])
            matrix = embedder.embed_documents([passage.text for passage in passages])
            unit(partial(self._put, embedder_id, passages, matrix))
        unit(self._see_vectors)
        return len(waiting)

    def _see_vectors(self) -> None:
        with self._write_lock:
            serving = self._serving
            graph, limit = serving.snapshot.graph, serving.snapshot.limit
            with self.store.reading() as conn:
                snapshot = embedded(conn, graph, serving.embedder_id, serving.embedder.dimension, limit)
            self._serving = replace(serving, snapshot=snapshot)

    def _compared(self, unit: Write) -> bool:
        """Looks anew at what all questions have in common, if there are enough of them since the last time, and from
        which strength on an edge is followed. `_settle` leaves that to the night where it takes seconds."""
        of, dimension = self._remembered[0], self._serving.embedder.dimension
        with self.store.reading() as conn:
            n, known = queries.count(conn, of), queries.geometry(conn, of)
        for _ in range(TRIES if rebuild.is_due(n, known) else 0):
            if self._compared_anew(unit, of, dimension):
                return True
        unit(partial(self._calibrate, of, dimension))
        return False

    def _compared_anew(self, unit: Write, of: int, dimension: int) -> bool:
        """Makes edge memory anew beside what there is, piece by piece, and lets it take the place of that. False if
        something came between."""
        with self.store.reading() as conn:
            anew = rebuild.Anew(conn, of, dimension)
        while anew.left:
            unit(lambda: None)  # whoever waits goes first
            with self.store.reading() as conn:
                anew.fold(conn, EDGES)
        return bool(unit(partial(self._put_anew, of, anew)))

    def _put_anew(self, of: int, anew: rebuild.Anew) -> bool:
        with self._memory_lock:
            if not self._serves(of):
                return False
            with self.store.writing() as conn:
                done = anew.put(conn)
            self._look_again()
        return done

    def _calibrate(self, of: int, dimension: int) -> None:
        with self._memory_lock:
            with self.store.writing() as conn:
                if queries.count(conn, of, FIRST) < FIRST:
                    return
                rebuild.calibrate(conn, of, dimension)
            self._look_again()
