"""Maintenance: change of embedder, consolidation, rebuilding edge memory and ranker, diagnosis, check and backup.

Everything runs in parallel with questions and writes, in small transactions, and can be cancelled between any two.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memory.edge_memory import rebuild
from memory.edge_memory.edges import is_due
from memory.errors import ModelError, NotAvailableError, StoreError
from memory.ingest.ingest import put_vectors
from memory.insight import diagnosis
from memory.protocols import Embedder, Write, write_directly
from memory.retrieval.state import EdgeRanker, Serving
from memory.services import read_by, write_by
from memory.services.knowledge import Knowledge
from memory.services.questions import FIRST_QUESTIONS
from memory.services.state import PAST, State, embed
from memory.store import (
    check,
    edge_memory,
    facts,
    files,
    jobs,
    queries,
    relations,
    restore,
    schema,
    seals,
    sources,
    text,
    vectors,
)
from memory.store.connect import Connection, set_meta
from memory.store.queries import Model
from memory.text.mentions import norm
from memory.time.timestamps import from_ms
from memory.trace import Diagnosis, TrainingReport
from memory.views import Check, ConsolidationReport, Copy

BATCHES_AT_ONCE = 64  # that are looked for at once: looking takes as long as embedding one
QUESTIONS_AT_ONCE = 200  # that are embedded between two looks at who waits
EDGES_AT_ONCE = 500  # rebuilt in one transaction
EDGES_FOLDED = 100  # edges rebuilt before yielding to other writers
MAX_TRIES = 3  # to rebuild everything while questions are forgotten or facts replaced
GROUPS_AT_ONCE = 50  # groups of the same fact that are joined in one transaction
ALL = 1 << 30


class Maintenance:
    """Maintenance of a memory. `write` runs a unit of writing, for callers with a writer thread."""

    def __init__(self, state: State, knowledge: Knowledge) -> None:
        self._state = state
        self._store = state.store
        self._knowledge = knowledge

    # The embedder ---------------------------------------------------------------------------------

    def switch_embedder(
        self, embedder: Embedder, *, batch: int | None = None, write: Write = write_directly
    ) -> Iterator[tuple[int, int]]:
        """Embeds every episode with `embedder`, and uses its vectors once all exist. Questions and writes continue with
        the old vectors: each `next` embeds one batch of `batch` texts (default: the embedder's preference), outside of
        `write` except for the last one, so that no episode is missed, and yields (done, total) episodes. The other
        embedders' vectors are dropped at the end. If interrupted, the same call continues."""
        size = batch or embedder.batch
        embedder_id = write(partial(self._store.write, vectors.register, embedder))
        while not write(partial(self._take_over, embedder, embedder_id, size)):
            with self._store.reading() as conn:
                waiting = vectors.list_missing(conn, embedder_id, size * BATCHES_AT_ONCE)
                done, total = vectors.coverage(conn, embedder_id)
            for number in self._embed(embedder, embedder_id, waiting, size, write):
                done += number
                yield min(done, total), total
        self._catch_up(write)
        with self._store.reading() as conn:
            old = vectors.others(conn, embedder_id)
            total = vectors.coverage(conn, embedder_id)[1]
        yield total, total
        for old_id in old:
            while not write(partial(self._store.write, vectors.drop, old_id)):
                yield total, total

    def is_complete(self, embedder: Embedder) -> bool:
        """Whether the memory has this embedder's vectors, uses them, and has no others."""
        with self._store.reading() as conn:
            id, name = vectors.active(conn)
            in_use = name == embedder.name == self._state.serving.embedder.name
            return id is not None and in_use and not vectors.others(conn, id)

    def _embed(
        self, embedder: Embedder, embedder_id: int, ids: Sequence[int], size: int, write: Write
    ) -> Iterator[int]:
        """Embeds these episodes in batches of `size`; yields the number of episodes of each."""
        for start in range(0, len(ids), size):
            embedded = embed(self._store, embedder, ids[start : start + size])
            write(partial(self._store.write, put_vectors, embedder_id, *embedded))
            yield len(embedded[0])

    def _take_over(self, embedder: Embedder, embedder_id: int, size: int) -> bool:
        """Embeds the rest and switches, if that is at most one batch; else returns False."""
        state = self._state
        with state.write_lock:
            if self._store.read(vectors.active)[0] == embedder_id == state.serving.embedder_id:
                return True
            missing = self._store.read(vectors.list_missing, embedder_id, size + 1)
            if len(missing) > size:
                return False
            embedded = embed(self._store, embedder, missing)
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
        """Merges facts that were asserted twice, completes missing data, and removes orphans. Current facts are kept:
        `undo` restores a merged fact. Idempotent."""
        report = ConsolidationReport()

        def unit(work: Callable[[], Any]) -> Any:
            if cancelled():
                raise CancelledError
            return write(work)

        try:
            report = replace(report, stale=unit(partial(self._state.change_edges, edge_memory.drop_stale)))
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
            return replace(report, questions=unseen, recentred=self.compare_edges(unit))
        except CancelledError:
            return replace(report, stopped=True)

    def _join(self, groups: list[list[int]]) -> int:
        with self._knowledge.transaction() as asserter:
            return asserter.merge_duplicates(groups)

    def fill_vectors(self, write: Write = write_directly) -> int:
        """Embeds the episodes without a vector of the embedder in use; returns their number, fewer if its server is
        down. Ignores an incomplete set of another embedder: `switch_embedder` completes it."""
        embedder_id, embedder = self._state.serving.embedder_id, self._state.serving.embedder
        waiting = self._store.read(vectors.list_missing, embedder_id, embedder.batch * BATCHES_AT_ONCE, True)
        if self._store.read(vectors.active)[0] != embedder_id or not waiting:
            return 0
        done = 0
        with suppress(ModelError):
            for number in self._embed(embedder, embedder_id, waiting, embedder.batch, write):
                done += number
        if done:
            write(partial(self._state.load_vectors, embedder, embedder_id))
        return done

    def rebuild_vectors(
        self, progress: Callable[[int, int], None] = lambda done, total: None, write: Write = write_directly
    ) -> int:
        """Recomputes the vectors of all episodes and facts; returns the number of episodes. Questions continue with the
        old ones. If interrupted, each has its old or its new vector."""
        serving = self._state.serving
        embedder_id, embedder = serving.embedder_id, serving.embedder
        write(partial(self._store.write, vectors.drop_stray, embedder_id))
        waiting = self._store.read(vectors.list_live)
        done = 0
        for number in self._embed(embedder, embedder_id, waiting, embedder.batch, write):
            progress(done := done + number, len(waiting))
        write(partial(self._state.load_vectors, embedder, embedder_id))
        write(partial(self._store.write, set_meta, facts.VECTORS_OF, None))
        write(self._state.complete_fact_vectors)
        write(partial(self._store.write, seals.renew, ("vec", "sentence_vec")))
        progress(len(waiting), len(waiting))
        return len(waiting)

    # Edge memory ----------------------------------------------------------------------------------

    def rebuild_edge_memory(
        self, progress: Callable[[int, int], None] = lambda done, total: None, write: Write = write_directly
    ) -> int:
        """Recomputes the vectors on edges from the traces; returns the number of edges with vectors. It works in
        pieces, so that questions continue; `progress` gets (done, total) edges. If interrupted, every edge has its old
        or its new vectors."""
        self._catch_up(write)
        serving = self._state.serving
        waiting = self._store.read(edge_memory.learners, serving.embedder_id)
        for start in range(0, len(waiting), EDGES_AT_ONCE):
            progress(start, len(waiting))
            write(partial(self._rebuild_edges, serving.embedder_id, waiting[start : start + EDGES_AT_ONCE]))
        write(partial(self._store.write, seals.renew, ("edge_memory",)))
        self._state.reload_edge_memory()
        progress(len(waiting), len(waiting))
        return self._store.read(edge_memory.counts, serving.embedder_id)[0]

    def _rebuild_edges(self, embedder_id: int, edges: list[int]) -> None:
        with self._state.edge_lock:
            if self._state.serves(embedder_id):
                with self._store.writing() as conn:
                    rebuild.refold(conn, embedder_id, self._state.serving.embedder.dimension, edges)

    def _catch_up(self, write: Write) -> None:
        """Embeds the questions without a vector of the embedder in use, and completes its edge memory, from the start
        if later questions reinforced it."""
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
        """Recomputes the mean of all questions, if there are enough new ones, and the activation threshold."""
        embedder_id, dimension = self._state.edge_memory[0], self._state.serving.embedder.dimension
        with self._store.reading() as conn:
            n, geometry = queries.count(conn, embedder_id), queries.geometry(conn, embedder_id)
        for _ in range(MAX_TRIES if is_due(n, geometry) else 0):
            if self.recentre(write, embedder_id, dimension):
                return True
        write(partial(self._state.change_edges, self._calibrate, embedder_id, dimension))
        return False

    def recentre(self, write: Write, embedder_id: int, dimension: int) -> bool:
        """Rebuilds edge memory as a copy, in pieces, and then replaces the old one. False if something interfered."""
        rebuilt = self._store.read(rebuild.Recentring, embedder_id, dimension)
        while rebuilt.left:
            write(lambda: None)  # whoever waits goes first
            self._store.read(rebuilt.fold, EDGES_FOLDED)
        put = partial(self._state.change_edges, lambda conn: self._state.serves(embedder_id) and rebuilt.put(conn))
        return bool(write(put))

    def _calibrate(self, conn: Connection, embedder_id: int, dimension: int) -> None:
        if queries.count(conn, embedder_id, FIRST_QUESTIONS) == FIRST_QUESTIONS:
            rebuild.calibrate(conn, embedder_id, dimension)

    # The ranker -----------------------------------------------------------------------------------

    def train_ranker(
        self,
        *,
        write: Write = write_directly,
        progress: Callable[[int, int, str], None] = lambda done, total, label: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> TrainingReport:
        """Trains the ranker of edges on well answered questions: minutes for some hundreds of them. The result is used
        only if it finds more on the newest of them; see the report. Nothing changes if it is `cancelled`.
        NotAvailableError for a ranker that cannot be trained."""
        state = self._state
        report = self._get_ranker().train(
            self._store, state.serving, state.settings.recall, names=state.settings.owner_names,
            write=write, progress=progress, cancelled=cancelled,
        )  # fmt: skip
        self.load_ranker()
        return report

    def revert_ranker(self) -> tuple[Model, Model | None] | None:
        """Removes the ranker in use and returns to its predecessor, if any; returns both, or None without a ranker."""
        undone = self._store.write(self._get_ranker().undo, self._state.serving.embedder.name)
        self.load_ranker()
        return undone

    def _get_ranker(self) -> EdgeRanker:
        if self._state.ranker is None:
            raise NotAvailableError("This memory was opened without a ranker.")
        return self._state.ranker

    def load_ranker(self) -> None:
        """Reloads the ranker in use for questions."""
        with self._state.write_lock:
            scorer = self._store.read(self._get_ranker().load, self._state.serving.embedder)
            self._state.serving = replace(self._state.serving, scorer=scorer)

    def rebuild_text(self) -> None:
        """Rebuilds the full-text index and missing vectors of facts."""
        with self._state.write_lock:
            self._store.write(text.rebuild)
            self._store.write(seals.renew, ("reading",))
            self._state.complete_fact_vectors()

    # Damage ---------------------------------------------------------------------------------------

    def scrub(self, part: int = 0, parts: int = 1) -> tuple[str, ...]:
        """Verifies the checksums of a part of the rows, every `parts`-th from `part` on; returns sentences about
        damage."""
        with self._store.reading() as conn:
            return tuple(chain.from_iterable(map(seals.describe, seals.find_damage(conn, part, parts))))

    def repair_rows(self, folder: Path) -> int:
        """Restores damaged or lost rows from the backups in `folder` and elsewhere, newest first, and rebuilds the full
        text; returns the number of rows, or groups of rows, repaired."""
        copies = self._store.read(files.known_copies, self._store.path, folder)
        repaired = 0
        for copy in sorted(copies, key=lambda copy: copy.stat().st_mtime, reverse=True):
            with suppress(StoreError), self._state.write_lock, self._store.quiet() as conn:
                if schema.version_of(copy, schema.STEPS) == len(schema.STEPS):
                    repaired += seals.repair(conn, copy)
        self.rebuild_text()
        self._state.reload()
        self._state.reload_edge_memory()
        return repaired

    sum_checksums = read_by(seals.sum_checksums)

    # The file -------------------------------------------------------------------------------------

    def check(self, quick: bool = False) -> Check:
        """Checks the file, the full text, the vectors, and references; `quick` skips full text and vectors."""
        return check.check(self._store, quick)

    def backup(self, to: Path | str) -> int:
        """Copies the memory to a new file, verified, with its checksum next to it; returns its size in bytes.
        InvalidInputError if it exists."""
        size = self._store.backup(Path(to))
        restore.write_checksum(Path(to))
        return size

    def rehearse(self, backup: Path) -> None:
        """Restores a backup into a folder next to the memory, asks it a question, and removes it again. StoreError or
        InvalidInputError if it could not be restored."""
        with TemporaryDirectory(prefix=PAST, dir=self._store.path.parent) as folder:
            restore.rehearse(backup, Path(folder))

    # Looking --------------------------------------------------------------------------------------

    first_read = read_by(sources.find_beginning)
    last_run = read_by(jobs.last_run)
    note_copy = write_by(files.note_copy)

    def discard_unfinished(self, folder: Path) -> int:
        """Removes partial copies of killed processes from the backup `folder`, from the memory's folder and from other
        targets: each is the whole memory. No copy may be in progress."""
        return self._store.read(files.discard_unfinished, self._store.path, folder)

    def diagnose(self, limit: int = diagnosis.TRACES) -> Diagnosis:
        """Diagnoses how well the graph served the newest `limit` questions, with remedies for failures."""
        self._state.pending.try_write()
        with self._state.reading() as (conn, serving):
            return diagnosis.diagnose_newest(conn, serving.snapshot.graph, limit)

    note_run = write_by(jobs.note_run)

    def known_copies(self, folder: Path) -> tuple[Copy, ...]:
        """Lists all copies of this memory, in `folder` or elsewhere."""
        return _date(self._store.read(files.known_copies, self._store.path, folder))

    def copies_with(
        self,
        folder: Path,
        sources: Sequence[str] = (),
        object: str | None = None,
        fact: int | None = None,
        episode: int | None = None,
    ) -> tuple[Copy, ...]:
        """Lists the copies of this memory, in `folder` or elsewhere, that contain one of these sources (by uri), or
        that object, fact or episode; and unreadable copies, which may. Call it before forgetting."""
        with self._store.reading() as conn:
            rows = files.find_rows(conn, sources, object and norm(object), fact, episode)
            copies = files.known_copies(conn, self._store.path, folder)
        return _date(files.copies_with(copies, *rows))


def _date(paths: Iterable[Path]) -> tuple[Copy, ...]:
    """Returns copies with the time of their creation."""
    dated = []
    for path in paths:
        with suppress(FileNotFoundError):
            dated.append(Copy(str(path), from_ms(int(path.stat().st_mtime * 1000))))
    return tuple(dated)
