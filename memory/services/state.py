"""The state shared by all services: the snapshot that questions use, and the locks of writers."""

from __future__ import annotations

import logging
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, TypeVar

import numpy as np

from memory.edge_memory import rebuild
from memory.edge_memory.edges import EdgeMemory, load_edge_memory
from memory.errors import ModelError, NotFoundError, StoreBusyError, StoreDamagedError, StoreError
from memory.facts.attributes import list_own_names, mailbox_owner, title_spellings
from memory.graph.arrays import Graph
from memory.graph.change import GraphChange
from memory.graph.snapshot import load_graph, load_passages, with_vectors, without_vectors
from memory.protocols import Embedder, Vectors
from memory.retrieval.state import EdgeRanker, QuestionState, Serving
from memory.retrieval.traversers import FindStrategy
from memory.settings import MemorySettings
from memory.store import episodes, facts, graph, past, sources, traces, vectors
from memory.store.connect import Connection, driver
from memory.store.past import Versions
from memory.store.store import P, R, Store
from memory.text.mentions import norm
from memory.time.timestamps import now_ms, to_wall

if TYPE_CHECKING:
    from memory.facts.assertion import FactAsserter
    from memory.ingest.draft import Masker

log = logging.getLogger(__name__)

T = TypeVar("T")

PAST = ".past-"  # prefix of a copy's folder next to the memory's file; deleted when the memory closes
ALL = 1 << 30
FACTS_AT_ONCE = 1000
USABLE_SHARE = 0.9  # of the episodes that must have a vector before questions use vectors at all


class PendingWrites:
    """A queue of writes that nobody waits for: an answer is shown before its trace and its message are stored. Readers
    of these rows call `write` or `try_write` first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._units: deque[Callable[[], object]] = deque(maxlen=1000)  # if another program writes for so many
        self._writing = threading.RLock()
        self._reserving = threading.Lock()
        self._last_trace = 0

    def reserve_trace(self) -> int:
        """Returns the id for a trace that is stored later; does not wait for writers."""
        with self._reserving:
            self._last_trace = max(self._last_trace, self._store.read(traces.find_last)) + 1
            return self._last_trace

    def add(self, unit: Callable[[], object]) -> None:
        self._units.append(unit)

    def write(self) -> None:
        """Writes all units, or waits for the thread that does. A unit that fails is dropped and logged. StoreBusyError
        while another program locks the file; the units stay queued."""
        with self._writing:
            while self._units:
                unit = self._units.popleft()
                try:
                    unit()
                except StoreBusyError:
                    self._units.appendleft(unit)
                    raise
                except (StoreError, NotFoundError) as error:
                    log.warning("a question or an answer was not kept: %s", type(error).__name__)

    def try_write(self) -> None:
        """Writes like `write`, but without an error; the units may stay queued."""
        with suppress(StoreBusyError):
            self.write()


class State:
    """The store, and the snapshot and edge memory that questions use. Readers take the current objects and never wait;
    a writer holds the lock, replaces them as a whole, and takes `write_lock` before `edge_lock`."""

    def __init__(
        self,
        store: Store,
        settings: MemorySettings,
        embedder: Embedder,
        sentence_embedder: Embedder | None,
        find_strategy: FindStrategy,
        ranker: EdgeRanker | None,
        past: Past | None = None,
    ) -> None:
        find_strategy(settings.recall.strategy)  # one that is not there is refused now
        self.store = store
        self.find_strategy = find_strategy
        self.ranker = ranker
        self.settings = settings
        self._sentence_embedder = sentence_embedder
        self.write_lock = threading.RLock()  # from the comparison with the store until the snapshot is replaced
        self.edge_lock = threading.RLock()  # from changing edge memory until questions see it
        self.pending = PendingWrites(store)
        self.damage: dict[str, str] = {}  # what could not be read, and is answered without -> why
        if store.is_read_only:
            embedder_id, is_new = store.read(vectors.find_embedder, embedder), False
        else:
            embedder_id, is_new = self._register(embedder)
        self.past = past or Past(self)
        self.serving = self.load(embedder, embedder_id)
        self.name_owner()
        self.edge_memory: tuple[int, EdgeMemory]  # by the id of the embedder whose it is
        self.reload_edge_memory()
        if is_new:
            self.complete_fact_vectors()

    def _register(self, embedder: Embedder) -> tuple[int, bool]:
        """Returns the embedder's id, and whether the vectors of facts are missing."""
        embedder_id = self.store.write(vectors.register, embedder)
        with self.store.writing() as conn:
            if _measure_coverage(conn, embedder_id) == 1:  # a set that was kept, or an empty memory
                vectors.activate(conn, embedder_id)
            return embedder_id, facts.open_vectors(conn, self._sentence_embedder or embedder)

    @property
    def sentence_embedder(self) -> Embedder:
        """Returns the embedder that compares a question with many sentences at once; its vectors are not stored."""
        return self._sentence_embedder or self.serving.embedder

    @property
    def masker(self) -> Masker | None:
        """Returns the masker for secrets; None if masking is off."""
        from memory.ingest.draft import Masker

        return Masker(self.store.read(episodes.get_mask_key)) if self.settings.mask_secrets else None

    def mask(self, text: str) -> str:
        """Returns the text without its secrets."""
        from memory.text.secrets import find_secrets  # 35 ms, which a start should not pay

        return text if not find_secrets(text) or (masker := self.masker) is None else masker.mask(text)

    @contextmanager
    def reading(self) -> Iterator[tuple[Connection, Serving]]:
        """Yields a reading connection, and the serving state with an embedder whose vectors that connection sees."""
        while True:
            serving = self.serving
            with self.store.reading() as conn:
                if serving.embedder_id == self.serving.embedder_id:  # its vectors were not dropped in between
                    yield conn, serving
                    return

    def serves(self, embedder_id: int) -> bool:
        """Whether that embedder is still in use; otherwise its successor builds its own edge memory."""
        return self.serving.embedder_id == embedder_id

    def load(self, embedder: Embedder, embedder_id: int, graph: Graph | None = None) -> Serving:
        """Reads the serving state from the file: vectors, trained ranker and, unless given, the graph. Skips damaged
        parts: questions are then answered by full text."""
        limit, dimension = self.settings.recall.vectors_in_memory, embedder.dimension
        with self.store.reading() as conn:
            loaded = graph
            if loaded is None:
                loaded = self._read_undamaged("graph", lambda: load_graph(conn), lambda: load_passages(conn))
            snapshot = self._read_undamaged(
                "vectors",
                lambda: with_vectors(conn, loaded, embedder_id, dimension, limit),
                lambda: without_vectors(loaded, dimension, limit),
            )
            usable = "vectors" not in self.damage and _measure_coverage(conn, embedder_id) >= USABLE_SHARE
            scorer = None
            if ranker := self.ranker:
                scorer = self._read_undamaged("ranker", lambda: ranker.load(conn, embedder), lambda: None)
            names = self._read_undamaged("names", self.list_owner_names, dict[str, str])
            return Serving(embedder, embedder_id, snapshot, usable, tuple(names), scorer)

    def _read_undamaged(self, what: str, read: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """Returns the result of `read`, or of `otherwise` if the file is damaged there; recorded in `damage`."""
        try:
            value = read()
        except (driver().Error, StoreDamagedError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            self.damage[what] = str(error) if isinstance(error, StoreDamagedError) else type(error).__name__
            return otherwise()
        self.damage.pop(what, None)
        return value

    def load_vectors(self, embedder: Embedder, embedder_id: int) -> None:
        """Serves questions with the stored vectors of this embedder, which are complete."""
        with self.write_lock:
            self.serving = self.load(embedder, embedder_id, self.serving.snapshot.graph)

    def list_owner_names(self) -> dict[str, str]:
        """Returns {name of the owner: its source}: the uri of a note about them, or else "mails"."""
        names: dict[str, str] = {}
        for uri, properties, text in self.store.read(sources.list_titled, title_spellings()):
            for name in list_own_names(properties, text):
                names.setdefault(name, uri)
        return names or dict.fromkeys(mailbox_owner(self.store.read(sources.mail_people)), "mails")

    def name_owner(self) -> None:
        """Gives the owner's object the owner's current names, so that facts under these names belong to it."""
        self.serving = replace(self.serving, owner=tuple(self.list_owner_names()))
        names = {norm(name): name for name in self.settings.owner_names or self.serving.owner if norm(name)}
        for name in [*names.values()]:  # a first name that nobody else has is the owner's too
            first = norm(name).partition(" ")[0]
            if names.keys() >= {*map(norm, self.store.read(graph.beginning_with, f"{first} ", len(names) + 1))}:
                names.setdefault(first, name.split()[0])
        if not self.store.is_read_only and tuple(names.values()) != self.store.read(graph.owner_names):
            with self.store.writing() as conn:
                object, is_new = graph.name_owner(conn, names, now_ms())
            self.show([GraphChange(objects=[(object, False)])] if is_new else [])

    def asserter(self, conn: Connection) -> FactAsserter:
        """Returns the asserter of facts within a transaction."""
        from memory.facts.assertion import FactAsserter

        facts.open_vectors(conn, self.sentence_embedder)  # another one may have come into use
        return FactAsserter(conn, now_ms(), self.settings.owner_names or self.serving.owner, self.sentence_embedder)

    def show(self, changes: Sequence[GraphChange]) -> None:
        """Adds asserted facts to the snapshot for questions."""
        snapshot = self.serving.snapshot
        for change in changes:
            snapshot = snapshot.apply(change, np.zeros((0, self.serving.embedder.dimension), np.float32))
        self.serving = replace(self.serving, snapshot=snapshot)

    @contextmanager
    def edge_transaction(self) -> Iterator[Connection]:
        """Opens a transaction that changes edge memory; afterwards questions see the changes."""
        with self.edge_lock:
            with self.store.writing() as conn:
                yield conn
            self.reload_edge_memory()

    def change_edges(self, verb: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs one function in its own `edge_transaction`."""
        with self.edge_transaction() as conn:
            return verb(conn, *args, **kwargs)

    def reload(self) -> None:
        """Reloads the snapshot for questions, including restored passages."""
        serving = self.serving
        _embed_missing(self.store, serving.embedder, serving.embedder_id)
        self.complete_fact_vectors()
        self.serving = self.load(serving.embedder, serving.embedder_id)

    def complete_fact_vectors(self) -> None:
        """Adds missing vectors of current facts, in small units, so that other writers need not wait."""
        while not self.store.write(facts.complete_vectors, self.sentence_embedder, FACTS_AT_ONCE):
            pass

    def complete_edge_memory(self, conn: Connection) -> None:
        """Rebuilds missing edge memory, within a transaction that removed some."""
        rebuild.complete(conn, self.serving.embedder_id, self.serving.embedder.dimension)

    def reload_edge_memory(self) -> None:
        """Reloads the stored edge memory for questions."""
        with self.edge_lock:
            serving = self.serving
            id, dimension = serving.embedder_id, serving.embedder.dimension
            edge_memory = self._read_undamaged(
                "edge memory",
                lambda: self.store.read(load_edge_memory, id, dimension),
                lambda: EdgeMemory.empty(dimension),
            )
            self.edge_memory = id, edge_memory

    def edge_memory_of(self, embedder_id: int) -> EdgeMemory | None:
        """Returns the edge memory of that embedder, if it is in use."""
        current, edge_memory = self.edge_memory
        return edge_memory if current == embedder_id else None


class Past:
    """Copies of the memory as of a day; the last one is cached. A copy is made only for a day on which a source had
    other text, and takes about as long as opening the memory."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._last: tuple[Versions, State] | None = None

    def state_of(self, question: QuestionState) -> State:
        """Returns the state that answers a question: today's, unless a source was edited since its `as_of` or the time
        whose state it asks for. Later notes about that time count."""
        when = question.when
        if question.as_of is not None or when is None or when.kind != "as_of" or when.until is None:
            return self.state_at(question.as_of)
        is_past = when.until <= question.asked_on
        return self.state_at(when.until - timedelta(milliseconds=1), with_later=True) if is_past else self._state

    def state_at(self, as_of: datetime | None, with_later: bool = False) -> State:
        """Returns the state as of a time; with `with_later` also later statements, except those of edits."""
        if as_of is None:
            return self._state
        with self._state.store.reading() as conn:
            versions = past.versions_at(conn, to_wall(as_of))
        if versions is not None and with_later:
            versions = versions._replace(later=()) if versions.then else None
        if versions is None:
            return self._state
        with self._lock:
            if self._last is None or self._last[0] != versions:
                self._last = None
                self._last = versions, self._rewind(versions)
            return self._last[1]

    def drop(self) -> None:
        """Discards the cached copy, which may contain forgotten text."""
        with self._lock:
            self._last = None

    def _rewind(self, versions: Versions) -> State:
        folder = tempfile.TemporaryDirectory(prefix=PAST, dir=self._state.store.path.parent)
        file = Path(folder.name) / "memory.db"
        self._state.store.backup(file)
        store = Store.open(file, folder)
        weakref.finalize(store, folder.cleanup)  # with the last question that reads it
        with store.writing() as conn:
            episodes.retire_many(conn, versions.later, now_ms())
            self._state.asserter(conn).restore_passages(versions.then)
            past.retire_successors(conn, versions.then, now_ms())
        serving = self._state.serving
        _embed_missing(store, serving.embedder, serving.embedder_id)
        state, embedders = self._state, (serving.embedder, self._state.sentence_embedder)
        return State(store, state.settings, *embedders, state.find_strategy, state.ranker, self)


def embed(store: Store, embedder: Embedder, ids: Sequence[int]) -> tuple[list[episodes.EpisodeText], Vectors]:
    """Returns the existing ones of these episodes with a vector each, followed by the vectors of their sentences."""
    from memory.ingest.ingest import embedded_text, sentence_texts, sentence_window

    rows, window = store.read(episodes.read_texts, ids), sentence_window(embedder)
    texts = [embedded_text(row.title, row.text) for row in rows]
    texts += [text for row in rows for text in sentence_texts(row.title, row.text, row.sentences, window)]
    return rows, embedder.embed_documents(texts)


def _embed_missing(store: Store, embedder: Embedder, embedder_id: int) -> None:
    """Adds vectors of the few restored episodes, unless the embedder is unreachable."""
    from memory.ingest.ingest import put_vectors

    missing = store.read(vectors.list_missing, embedder_id, ALL)
    with suppress(ModelError):
        store.write(put_vectors, embedder_id, *embed(store, embedder, missing))


def _measure_coverage(conn: Connection, embedder_id: int) -> float:
    """Returns the share of live episodes with a vector of the embedder; counted only if it may be incomplete."""
    if vectors.active(conn)[0] == embedder_id:
        return 1.0
    n_embedded, live = vectors.coverage(conn, embedder_id)
    return n_embedded / live if live else 1.0
