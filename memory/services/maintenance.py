"""Maintenance: another embedder, consolidation, edge memory and ranker made anew, diagnosis, check and backup.

All of it goes on beside questions and writes, in small transactions, and can be broken off between any two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memory.edge_memory import rebuild
from memory.edge_memory.edges import is_due
from memory.errors import NotAvailableError
from memory.graph.snapshot import with_vectors
from memory.ingest.ingest import embedded_text, put_vectors
from memory.insight import diagnose, trend
from memory.insight.consolidate import GROUPS, StoppedError, suspects
from memory.insight.diagnosis import ConsolidationReport, Diagnosis
from memory.nouns import Check, Stats
from memory.protocols import LLM, Embedder, Vectors, Write, write_directly
from memory.ranking import CALLS, EdgeRanker, TrainingProgress, TrainingReport
from memory.services.knowledge import Knowledge
from memory.services.questions import FIRST_QUESTIONS
from memory.services.state import State
from memory.serving import Serving
from memory.store import backup as backups
from memory.store import check, edge_memory, episodes, metrics, queries, relations, text, vectors
from memory.store.training import Model
from memory.text.mentions import norm

BATCHES_AT_ONCE = 64  # that are looked for at once: looking takes as long as embedding one
QUESTIONS_AT_ONCE = 200  # that are embedded between two looks at who waits
EDGES_AT_ONCE = 500  # that are made anew in one transaction
EDGES_FOLDED = 100  # whose edge memory is made anew before looking who waits
MAX_TRIES = 3  # to make it all anew, while questions are forgotten or facts replaced
ALL = 1 << 30


class Maintenance:
    """What keeps a memory in order. `write` runs a unit of writing, for a caller who has a thread for that."""

    def __init__(self, state: State, knowledge: Knowledge) -> None:
        self._state = state
        self._store = state.store
        self._knowledge = knowledge

    # The embedder ---------------------------------------------------------------------------------

    def switch_embedder(
        self,
        embedder: Embedder,
        *,
        batch: int | None = None,
        keep: bool = False,
        write: Write = write_directly,
    ) -> Iterator[tuple[int, int]]:
        """Gives every episode a vector of `embedder`, and answers with these once there are all of them.

        Questions and writes go on meanwhile, with the vectors there are: each `next` embeds one batch of `batch` texts
        (default: what the embedder likes best), outside of `write` but for the last one, so that none slips through,
        and gives (done, total) episodes. The other embedders' vectors are dropped at the end, unless `keep`. What was
        done is kept if this breaks off: the same call goes on with it.
        """
        size = batch or embedder.batch
        embedder_id = write(partial(self._register, embedder))
        while not write(partial(self._take_over, embedder, embedder_id, size)):
            with self._store.reading() as conn:
                waiting = vectors.list_missing(conn, embedder_id, size * BATCHES_AT_ONCE)
                done, total = vectors.coverage(conn, embedder_id)
            for start in range(0, len(waiting), size):
                done += self._embed(embedder, embedder_id, waiting[start : start + size], write)
                yield min(done, total), total
        self._catch_up(write)
        with self._store.reading() as conn:
            others = vectors.others(conn, embedder_id)
            total = vectors.coverage(conn, embedder_id)[1]
        yield total, total
        for other in [] if keep else others:
            while not write(partial(self._drop, other)):
                yield total, total

    def _register(self, embedder: Embedder) -> int:
        with self._store.writing() as conn:
            return vectors.register(conn, embedder)

    def _embed(self, embedder: Embedder, embedder_id: int, ids: list[int], write: Write) -> int:
        """Gives episodes their vector; how many there still are of them."""
        with self._store.reading() as conn:
            rows = episodes.words_of(conn, ids)
        matrix = embedder.embed_documents([embedded_text(row.title, row.text) for row in rows])
        write(partial(self._put, embedder_id, rows, matrix))
        return len(rows)

    def _put(self, embedder_id: int, rows: list[episodes.Words], matrix: Vectors) -> None:
        with self._store.writing() as conn:
            put_vectors(conn, embedder_id, rows, matrix)

    def _take_over(self, embedder: Embedder, embedder_id: int, size: int) -> bool:
        """Embeds what is left and changes over, if that is one batch at most; else False."""
        state = self._state
        with state.write_lock:
            with self._store.reading() as conn:
                active = vectors.active(conn)
                if active and active.id == embedder_id == state.serving.embedder_id:
                    return True
                left = vectors.list_missing(conn, embedder_id, size + 1)
                if len(left) > size:
                    return False
                rows = episodes.words_of(conn, left)
            matrix = embedder.embed_documents([embedded_text(row.title, row.text) for row in rows])
            with self._store.writing() as conn:
                put_vectors(conn, embedder_id, rows, matrix)
                vectors.activate(conn, embedder_id)
            graph, limit = state.serving.snapshot.graph, state.serving.snapshot.limit
            with self._store.reading() as conn:
                snapshot = with_vectors(conn, graph, embedder_id, embedder.dimension, limit)
                scorer = state.ranker.load(conn, embedder) if state.ranker is not None else None
            state.serving = replace(
                state.serving, embedder=embedder, embedder_id=embedder_id, snapshot=snapshot, usable=True, scorer=scorer
            )
            state.reload_edge_memory()
            return True

    def _drop(self, embedder_id: int) -> bool:
        with self._store.writing() as conn:
            return vectors.drop(conn, embedder_id)

    # Consolidation --------------------------------------------------------------------------------

    def consolidate(
        self, *, write: Write = write_directly, cancelled: Callable[[], bool] = lambda: False
    ) -> ConsolidationReport:
        """Joins facts that were asserted twice, makes what is missing, lets go of what hangs on nothing, and lists
        names that may be one. Nothing that holds is lost: a fact that was joined comes back with `undo`. Doing it again
        changes nothing.
        """
        report = ConsolidationReport()

        def unit(work: Callable[[], Any]) -> Any:
            if cancelled():
                raise StoppedError
            return write(work)

        try:
            report = replace(report, stale=unit(self._drop_stale))
            with self._store.reading() as conn:
                groups = relations.duplicate_groups(conn)
            for start in range(0, len(groups), GROUPS):
                joined = unit(partial(self._join, groups[start : start + GROUPS]))
                report = replace(report, joined=report.joined + joined)
            report = replace(report, episodes=self._fill(unit))
            with self._store.reading() as conn:
                unseen = len(queries.list_missing(conn, self._state.serving.embedder_id, ALL))
            if unseen:
                self._catch_up(unit)
            report = replace(report, questions=unseen, recentred=self.compare_edges(unit))
            with self._store.reading() as conn:
                return replace(report, suspects=suspects(conn, self._state.serving.snapshot.graph))
        except StoppedError:
            return replace(report, stopped=True)

    def _drop_stale(self) -> int:
        with self._state.edge_lock:
            with self._store.writing() as conn:
                gone = metrics.drop_stale_memory(conn)
            if gone:
                self._state.reload_edge_memory()
        return gone

    def _join(self, groups: list[list[int]]) -> int:
        with self._knowledge.transaction() as asserter:
            return asserter.merge_duplicates(groups)

    def _fill(self, unit: Write) -> int:
        """Gives the episodes that the embedder in use has not seen their vectors; how many. A set that is only being
        made is none of its business: `switch_embedder` makes it whole."""
        serving = self._state.serving
        embedder_id, embedder = serving.embedder_id, serving.embedder
        with self._store.reading() as conn:
            active = vectors.active(conn)
            waiting = vectors.list_missing(conn, embedder_id, embedder.batch * BATCHES_AT_ONCE)
        if active is None or active.id != embedder_id or not waiting:
            return 0
        for start in range(0, len(waiting), embedder.batch):
            self._embed(embedder, embedder_id, waiting[start : start + embedder.batch], unit)
        unit(self._see_vectors)
        return len(waiting)

    def _see_vectors(self) -> None:
        with self._state.write_lock:
            serving = self._state.serving
            graph, limit = serving.snapshot.graph, serving.snapshot.limit
            with self._store.reading() as conn:
                snapshot = with_vectors(conn, graph, serving.embedder_id, serving.embedder.dimension, limit)
            self._state.serving = replace(serving, snapshot=snapshot)

    # Edge memory ----------------------------------------------------------------------------------

    def rebuild_edge_memory(
        self, progress: Callable[[int, int], None] = lambda done, total: None, write: Write = write_directly
    ) -> int:
        """Makes the vectors on edges anew from the traces; returns how many edges have some.

        It is done piece by piece, so that questions go on; `progress` hears how many edges are done, of how many.
        Whatever breaks it off, every edge has the vectors it had, or those it should have.
        """
        self._catch_up(write)
        serving = self._state.serving
        with self._store.reading() as conn:
            waiting = edge_memory.learners(conn, serving.embedder_id)
        for start in range(0, len(waiting), EDGES_AT_ONCE):
            progress(start, len(waiting))
            write(partial(self._rebuild_edges, serving.embedder_id, waiting[start : start + EDGES_AT_ONCE]))
        self._state.reload_edge_memory()
        progress(len(waiting), len(waiting))
        with self._store.reading() as conn:
            return edge_memory.counts(conn, serving.embedder_id).edges

    def _rebuild_edges(self, embedder_id: int, edges: list[int]) -> None:
        with self._state.edge_lock:
            if self._state.serves(embedder_id):
                with self._store.writing() as conn:
                    rebuild.refold(conn, embedder_id, self._state.serving.embedder.dimension, edges)

    def _catch_up(self, write: Write) -> None:
        """Embeds the questions that the embedder in use has not seen, and makes its edge memory, anew where it has
        been reinforced by later ones."""
        serving = self._state.serving
        while self._state.serves(serving.embedder_id):
            with self._store.reading() as conn:
                waiting = queries.list_missing(conn, serving.embedder_id, QUESTIONS_AT_ONCE)
            if not waiting:
                break
            vectors_of = [(trace, serving.embedder.embed_query(text)) for trace, text in waiting]
            write(partial(self._put_queries, serving, vectors_of))
        write(self._complete)

    def _put_queries(self, serving: Serving, vectors_of: list[tuple[int, Any]]) -> None:
        with self._store.writing() as conn:
            if not self._state.serves(serving.embedder_id):
                return
            for trace, query in vectors_of:
                queries.put(conn, serving.embedder_id, trace, query)
            touched = edge_memory.find_touched(conn, [trace for trace, _ in vectors_of])
            rebuild.refold(conn, serving.embedder_id, serving.embedder.dimension, touched)

    def _complete(self) -> None:
        with self._state.edge_lock:
            with self._store.writing() as conn:
                self._state.complete_edge_memory(conn)
            self._state.reload_edge_memory()

    def compare_edges(self, write: Write) -> bool:
        """Computes anew the mean of all questions, if there are enough of them since the last time, and the activation
        from which on an edge is followed."""
        of, dimension = self._state.edge_memory[0], self._state.serving.embedder.dimension
        with self._store.reading() as conn:
            n, known = queries.count(conn, of), queries.geometry(conn, of)
        for _ in range(MAX_TRIES if is_due(n, known) else 0):
            if self.recentre(write, of, dimension):
                return True
        write(partial(self._calibrate, of, dimension))
        return False

    def recentre(self, write: Write, of: int, dimension: int) -> bool:
        """Makes edge memory anew beside what there is, piece by piece, and lets it take the place of that. False if
        something came between."""
        with self._store.reading() as conn:
            anew = rebuild.Recentring(conn, of, dimension)
        while anew.left:
            write(lambda: None)  # whoever waits goes first
            with self._store.reading() as conn:
                anew.fold(conn, EDGES_FOLDED)
        return bool(write(partial(self._put_anew, of, anew)))

    def _put_anew(self, of: int, anew: rebuild.Recentring) -> bool:
        with self._state.edge_lock:
            if not self._state.serves(of):
                return False
            with self._store.writing() as conn:
                done = anew.put(conn)
            self._state.reload_edge_memory()
        return done

    def _calibrate(self, of: int, dimension: int) -> None:
        with self._state.edge_lock:
            with self._store.writing() as conn:
                if queries.count(conn, of, FIRST_QUESTIONS) < FIRST_QUESTIONS:
                    return
                rebuild.calibrate(conn, of, dimension)
            self._state.reload_edge_memory()

    # The ranker -----------------------------------------------------------------------------------

    def train_ranker(
        self,
        llm: LLM | None = None,
        *,
        calls: int = CALLS,
        dry_run: bool = False,
        write: Write = write_directly,
        progress: Callable[[TrainingProgress], None] = lambda progress: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> TrainingReport:
        """Trains the ranker of edges on the questions that were answered well: minutes for some hundreds of them.

        What comes of it is used from then on only if it finds more on the newest of them; see the report. `llm` may be
        asked `calls` times which facts a question needed; what may not leave this machine it only sees if it is on it.
        `dry_run`: writes nothing. Nothing changes if it is `cancelled`. NotAvailableError where nothing learns.
        """
        state = self._state
        report = self._ranker().train(
            self._store, state.serving, state.settings.recall, llm, names=state.settings.person.names, calls=calls,
            dry_run=dry_run, write=write, progress=progress, cancelled=cancelled,
        )  # fmt: skip
        self.load_ranker()
        return report

    def revert_ranker(self) -> tuple[Model, Model | None] | None:
        """Takes back the ranker that was last brought into use, and uses the one before it, if there was one; both.
        None if nothing is in use."""
        with self._store.writing() as conn:
            undone = self._ranker().undo(conn, self._state.serving.embedder.name)
        self.load_ranker()
        return undone

    def _ranker(self) -> EdgeRanker:
        if self._state.ranker is None:
            raise NotAvailableError("Nothing learns from questions: learning.ranker names no ranker of a plugin.")
        return self._state.ranker

    def load_ranker(self) -> None:
        """Questions use the ranker that is in use now."""
        with self._state.write_lock:
            with self._store.reading() as conn:
                scorer = self._ranker().load(conn, self._state.serving.embedder)
            self._state.serving = replace(self._state.serving, scorer=scorer)

    # Looking --------------------------------------------------------------------------------------

    def diagnose(self, limit: int = diagnose.TRACES) -> Diagnosis:
        """How well the graph served the newest `limit` questions that were asked, and what mends what failed."""
        with self._state.reading() as (conn, serving):
            return diagnose.diagnose_newest(conn, serving.snapshot.graph, limit)

    def note_run(self, job: str, figures: dict[str, Any], standing: bool = False) -> None:
        """Notes what a periodic job did, in numbers and in the place of what it did before; with `standing` also how
        things stand now. `t`, ms UTC, is one of the figures."""
        with self._store.writing() as conn:
            if standing:
                trend.record(conn, figures["t"])
            metrics.note_run(conn, job, figures)

    def last_run(self, job: str) -> dict[str, Any] | None:
        """What a periodic job did last; None if it never ran."""
        with self._store.reading() as conn:
            return metrics.last_run(conn, job)

    def stats(self) -> Stats:
        """Counts of what is live, and the file's size."""
        with self._store.reading() as conn:
            return metrics.count_live(conn, self._store.path, self._state.serving.embedder.name)

    def rebuild_text(self) -> None:
        """Makes the full text anew."""
        with self._store.writing() as conn:
            text.rebuild(conn)

    def check(self, quick: bool = False) -> Check:
        """Looks for damage."""
        return check.check(self._store, quick)

    def backup(self, to: Path) -> int:
        """Copies the file, verified; its size in bytes."""
        return self._store.backup(to)

    def note_copy(self, path: Path) -> None:
        """Notes where a backup was put, if that is not the folder of backups."""
        with self._store.writing() as conn:
            backups.note_copy(conn, path)

    def copies_with(
        self,
        folder: Path,
        sources: Sequence[str] = (),
        object: str | None = None,
        fact: int | None = None,
        episode: int | None = None,
    ) -> list[Path]:
        """The copies of this memory, in `folder` or elsewhere, that have one of these sources (by uri), or that object,
        fact or episode; and those that cannot be read, which may. To be asked before it is forgotten."""
        with self._store.reading() as conn:
            if episode is not None:
                query = backups.find_episode(episode)
            elif fact is not None:
                query = backups.find_fact(fact)
            elif object is not None:
                query = backups.find_object(norm(object))
            else:
                query = backups.find_sources(conn, sources)
            copies = backups.known_copies(conn, self._store.path, folder)
        return backups.copies_with(copies, query)
