"""Maintenance: another embedder, consolidation, edge memory and ranker made anew, diagnosis, check and backup.

All of it goes on beside questions and writes, in small transactions, and can be broken off between any two of them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memory.edge_memory import rebuild
from memory.edge_memory.edges import is_due
from memory.errors import ModelError, NotAvailableError
from memory.ingest.ingest import put_vectors
from memory.insight import diagnose, trend
from memory.insight.aliases import list_suspects
from memory.insight.diagnosis import ConsolidationReport, Diagnosis
from memory.protocols import Embedder, Write, write_directly
from memory.ranking import EdgeRanker, Serving, TrainingProgress, TrainingReport
from memory.services.knowledge import Knowledge
from memory.services.questions import FIRST_QUESTIONS
from memory.services.state import State, embed
from memory.store import backup as backups
from memory.store import edge_memory, fact_vectors, metrics, queries, relations, seals, text, vectors
from memory.store.connect import Connection
from memory.store.store import read_by, write_by
from memory.store.training import Model
from memory.text.mentions import norm

BATCHES_AT_ONCE = 64  # that are looked for at once: looking takes as long as embedding one
QUESTIONS_AT_ONCE = 200  # that are embedded between two looks at who waits
EDGES_AT_ONCE = 500  # that are made anew in one transaction
EDGES_FOLDED = 100  # whose edge memory is made anew before looking who waits
MAX_TRIES = 3  # to make it all anew, while questions are forgotten or facts replaced
GROUPS_AT_ONCE = 50  # groups of the same fact that are joined in one transaction
ALL = 1 << 30


class _StoppedError(Exception):
    """Nobody wants it any more."""


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
        embedder_id = write(partial(self._store.write, vectors.register, embedder))
        while not write(partial(self._take_over, embedder, embedder_id, size)):
            with self._store.reading() as conn:
                waiting = vectors.list_missing(conn, embedder_id, size * BATCHES_AT_ONCE)
                done, total = vectors.coverage(conn, embedder_id)
            for start in range(0, len(waiting), size):
                embedded = embed(self._store, embedder, waiting[start : start + size])
                write(partial(self._store.write, put_vectors, embedder_id, *embedded))
                done += len(embedded[0])
                yield min(done, total), total
        self._catch_up(write)
        with self._store.reading() as conn:
            others = vectors.others(conn, embedder_id)
            total = vectors.coverage(conn, embedder_id)[1]
        yield total, total
        for other in [] if keep else others:
            while not write(partial(self._store.write, vectors.drop, other)):
                yield total, total

    def _take_over(self, embedder: Embedder, embedder_id: int, size: int) -> bool:
        """Embeds what is left and changes over, if that is one batch at most; else False."""
        state = self._state
        with state.write_lock:
            active = self._store.read(vectors.active)
            if active and active.id == embedder_id == state.serving.embedder_id:
                return True
            left = self._store.read(vectors.list_missing, embedder_id, size + 1)
            if len(left) > size:
                return False
            embedded = embed(self._store, embedder, left)
            with self._store.writing() as conn:
                put_vectors(conn, embedder_id, *embedded)
                vectors.activate(conn, embedder_id)
            state.load_vectors(embedder, embedder_id)
            state.reload_edge_memory()
            return True

    # Consolidation --------------------------------------------------------------------------------

    def consolidate(
        self, *, write: Write = write_directly, cancelled: Callable[[], bool] = lambda: False
    ) -> ConsolidationReport:
        """Joins facts that were asserted twice, makes what is missing, lets go of what hangs on nothing, and lists
        names that may be one. Nothing that holds is lost: a fact that was joined comes back with `undo`. Doing it again
        changes nothing."""
        report = ConsolidationReport()

        def unit(work: Callable[[], Any]) -> Any:
            if cancelled():
                raise _StoppedError
            return write(work)

        try:
            report = replace(report, stale=unit(partial(self._state.change_edges, metrics.drop_stale_memory)))
            groups = self._store.read(relations.duplicate_groups)
            for start in range(0, len(groups), GROUPS_AT_ONCE):
                joined = unit(partial(self._join, groups[start : start + GROUPS_AT_ONCE]))
                report = replace(report, joined=report.joined + joined)
            while filled := self.fill_vectors(unit):
                report = replace(report, episodes=report.episodes + filled)
            unit(self._state.complete_fact_vectors)
            unseen = len(self._store.read(queries.list_missing, self._state.serving.embedder_id, ALL))
            if unseen:
                with suppress(ModelError):  # its server is away: another night
                    self._catch_up(unit)
            report = replace(report, questions=unseen, recentred=self.compare_edges(unit))
            return replace(report, suspects=self._store.read(list_suspects))
        except _StoppedError:
            return replace(report, stopped=True)

    def _join(self, groups: list[list[int]]) -> int:
        with self._knowledge.transaction() as asserter:
            return asserter.merge_duplicates(groups)

    def fill_vectors(self, write: Write = write_directly) -> int:
        """Gives the episodes that the embedder in use has not seen their vectors; how many, fewer where its server is
        away. A set that is only being made is none of its business: `switch_embedder` makes it whole."""
        embedder_id, embedder = self._state.serving.embedder_id, self._state.serving.embedder
        active = self._store.read(vectors.active)
        waiting = self._store.read(vectors.list_incomplete, embedder_id, embedder.batch * BATCHES_AT_ONCE)
        if active is None or active.id != embedder_id or not waiting:
            return 0
        done = 0
        with suppress(ModelError):
            for start in range(0, len(waiting), embedder.batch):
                embedded = embed(self._store, embedder, waiting[start : start + embedder.batch])
                write(partial(self._store.write, put_vectors, embedder_id, *embedded))
                done += len(embedded[0])
        if done:
            write(partial(self._state.load_vectors, embedder, embedder_id))
        return done

    def rebuild_vectors(
        self, progress: Callable[[int, int], None] = lambda done, total: None, write: Write = write_directly
    ) -> int:
        """Makes the vectors of all episodes and facts anew; how many episodes. Questions go on meanwhile, with those
        there are. Whatever breaks it off, each has the one it had, or the one it should have."""
        serving = self._state.serving
        of, embedder = serving.embedder_id, serving.embedder
        write(partial(self._store.write, vectors.drop_stray, of))
        waiting = self._store.read(vectors.list_live)
        for start in range(0, len(waiting), embedder.batch):
            progress(start, len(waiting))
            embedded = embed(self._store, embedder, waiting[start : start + embedder.batch])
            write(partial(self._store.write, put_vectors, of, *embedded))
        write(partial(self._state.load_vectors, embedder, of))
        write(partial(self._store.write, fact_vectors.discard))
        write(self._state.complete_fact_vectors)
        progress(len(waiting), len(waiting))
        return len(waiting)

    # Edge memory ----------------------------------------------------------------------------------

    def rebuild_edge_memory(
        self, progress: Callable[[int, int], None] = lambda done, total: None, write: Write = write_directly
    ) -> int:
        """Makes the vectors on edges anew from the traces; returns how many edges have some. It is done piece by piece,
        so that questions go on; `progress` hears how many edges are done, of how many. Whatever breaks it off, every
        edge has the vectors it had, or those it should have."""
        self._catch_up(write)
        serving = self._state.serving
        waiting = self._store.read(edge_memory.learners, serving.embedder_id)
        for start in range(0, len(waiting), EDGES_AT_ONCE):
            progress(start, len(waiting))
            write(partial(self._rebuild_edges, serving.embedder_id, waiting[start : start + EDGES_AT_ONCE]))
        self._state.reload_edge_memory()
        progress(len(waiting), len(waiting))
        return self._store.read(edge_memory.counts, serving.embedder_id)[0]

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
            waiting = self._store.read(queries.list_missing, serving.embedder_id, QUESTIONS_AT_ONCE)
            if not waiting:
                break
            vectors_of = [(trace, serving.embedder.embed_query(text)) for trace, text in waiting]
            write(partial(self._put_queries, serving, vectors_of))
        write(partial(self._state.change_edges, self._state.complete_edge_memory))

    def _put_queries(self, serving: Serving, vectors_of: list[tuple[int, Any]]) -> None:
        with self._store.writing() as conn:
            if not self._state.serves(serving.embedder_id):
                return
            for trace, query in vectors_of:
                queries.put(conn, serving.embedder_id, trace, query)
            touched = edge_memory.find_touched(conn, [trace for trace, _ in vectors_of])
            rebuild.refold(conn, serving.embedder_id, serving.embedder.dimension, touched)

    def compare_edges(self, write: Write) -> bool:
        """Computes anew the mean of all questions, if there are enough of them since the last time, and the activation
        from which on an edge is followed."""
        of, dimension = self._state.edge_memory[0], self._state.serving.embedder.dimension
        with self._store.reading() as conn:
            n, known = queries.count(conn, of), queries.geometry(conn, of)
        for _ in range(MAX_TRIES if is_due(n, known) else 0):
            if self.recentre(write, of, dimension):
                return True
        write(partial(self._state.change_edges, self._calibrate, of, dimension))
        return False

    def recentre(self, write: Write, of: int, dimension: int) -> bool:
        """Makes edge memory anew beside what there is, piece by piece, and lets it take the place of that. False if
        something came between."""
        anew = self._store.read(rebuild.Recentring, of, dimension)
        while anew.left:
            write(lambda: None)  # whoever waits goes first
            self._store.read(anew.fold, EDGES_FOLDED)
        put = partial(self._state.change_edges, lambda conn: self._state.serves(of) and anew.put(conn))
        return bool(write(put))

    def _calibrate(self, conn: Connection, of: int, dimension: int) -> None:
        if queries.count(conn, of, FIRST_QUESTIONS) == FIRST_QUESTIONS:
            rebuild.calibrate(conn, of, dimension)

    # The ranker -----------------------------------------------------------------------------------

    def train_ranker(
        self,
        *,
        dry_run: bool = False,
        write: Write = write_directly,
        progress: Callable[[TrainingProgress], None] = lambda progress: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> TrainingReport:
        """Trains the ranker of edges on the questions that were answered well: minutes for some hundreds of them. What
        comes of it is used from then on only if it finds more on the newest of them; see the report. `dry_run`:
        writes nothing. Nothing changes if it is `cancelled`. NotAvailableError where nothing learns."""
        state = self._state
        report = self._ranker().train(
            self._store, state.serving, state.settings.recall, names=state.settings.person.names,
            dry_run=dry_run, write=write, progress=progress, cancelled=cancelled,
        )  # fmt: skip
        self.load_ranker()
        return report

    def revert_ranker(self) -> tuple[Model, Model | None] | None:
        """Takes back the ranker that was last brought into use, and uses the one before it, if there was one; both.
        None if nothing is in use."""
        undone = self._store.write(self._ranker().undo, self._state.serving.embedder.name)
        self.load_ranker()
        return undone

    def _ranker(self) -> EdgeRanker:
        if self._state.ranker is None:
            raise NotAvailableError("Nothing learns from questions: learning.ranker names no ranker of a plugin.")
        return self._state.ranker

    def load_ranker(self) -> None:
        """Questions use the ranker that is in use now."""
        with self._state.write_lock:
            scorer = self._store.read(self._ranker().load, self._state.serving.embedder)
            self._state.serving = replace(self._state.serving, scorer=scorer)

    def rebuild_text(self) -> None:
        """Makes the full text anew, and the vectors of facts that are missing."""
        with self._state.write_lock:
            self._store.write(text.rebuild)
            self._state.complete_fact_vectors()

    # Damage ---------------------------------------------------------------------------------------

    def scrub(self, part: int = 0, parts: int = 1, write: Write = write_directly) -> tuple[str, ...]:
        """Compares each `parts`-th block of rows, from `part` on, with its seal, and seals what has none: sentences of
        what the disk has changed."""
        with self._store.reading() as conn:
            damage = tuple(seals.find_damage(conn, part, parts))
            unsealed = seals.list_unsealed(conn)
        for start in range(0, len(unsealed), seals.AT_ONCE):
            write(partial(self._store.write, seals.seal, unsealed[start : start + seals.AT_ONCE]))
        return damage

    def outline(self) -> str:
        """A hash of counts: another one when something was added, changed or forgotten since."""
        return self._store.read(metrics.hash_outline)

    # Looking --------------------------------------------------------------------------------------

    first_read = read_by(metrics.find_beginning)
    last_run = read_by(metrics.last_run)
    note_copy = write_by(backups.note_copy)

    def discard_unfinished(self, folder: Path) -> int:
        """Removes what processes that were killed left of copies, in the backup `folder`, beside the memory and where
        else copies were put: each is the whole memory. Nobody else may be making one."""
        return self._store.read(backups.discard_unfinished, self._store.path, folder)

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

    def known_copies(self, folder: Path) -> list[Path]:
        """All copies of this memory, in `folder` or elsewhere."""
        return self._store.read(backups.known_copies, self._store.path, folder)

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
            wanted = backups.find_rows(conn, sources, object and norm(object), fact, episode)
            copies = backups.known_copies(conn, self._store.path, folder)
        return backups.copies_with(copies, *wanted)
