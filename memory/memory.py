"""The library's one door: a person's memory, opened from a file (DESIGN section 4).

Plain and synchronous. Any number of threads may recall and ask at once; writes come one at a time, and each is
on the disk when its call returns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from memory.consolidating import Consolidating
from memory.errors import InvalidInputError, NotFoundError, StoreBusyError
from memory.explaining import Explaining
from memory.graph.snapshot import load
from memory.ingest import ingest
from memory.ingest.prepare import Prepared, prepare
from memory.insight import diagnose
from memory.insight.diagnosis import Diagnosis
from memory.nouns import Check, Document, Receipt, Stats
from memory.protocols import LLM, ChooseLLM, Embedder
from memory.ranker import heads
from memory.retrieval.owner import mailbox_owner
from memory.serving import Serving
from memory.settings import MemorySettings
from memory.store import check, mails, sources, stats, vectors
from memory.store import forget as forgetting
from memory.store.connect import Connection
from memory.store.store import Store
from memory.studying import Studying
from memory.text.mentions import norm

CHECKPOINT_WAIT = 10.0  # seconds that forgetting waits for questions that are being answered
ENOUGH = 0.9  # the share of episodes that must have a vector before questions use vectors at all


class Memory(Explaining, Consolidating, Studying):
    """One open memory. Use `Memory.open`; close it, or use it in a `with`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: MemorySettings,
        quick: Embedder | None = None,
        choose: ChooseLLM | None = None,
        drive: ChooseLLM | None = None,
    ) -> None:
        self.store = store
        self._choose = choose
        self._drive = drive
        self._quick = quick
        self.settings = settings
        self._write_lock = threading.RLock()  # from comparing with what is stored until the snapshot is replaced
        embedder_id = self._register(embedder)
        with store.writing() as conn:
            if _share(conn, embedder_id) == 1:  # a set that was kept, or there is nothing yet
                vectors.activate(conn, embedder_id)
        self._serving = self._loaded(embedder, embedder_id)
        self._memory_lock = threading.RLock()
        self._look_again()

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        embedder: Embedder,
        llm: LLM | None = None,
        driver: LLM | None = None,
        settings: MemorySettings | None = None,
        quick: Embedder | None = None,
    ) -> Memory:
        """Opens or creates the memory at `path`; ":memory:" is one that is gone when it is closed.

        If the file's vectors are another embedder's, nothing is lost and nothing is mixed: questions are answered by
        full text and graph alone, what is written gets vectors of this one, and `switch_embedder` makes the others.

        `quick` compares a question with the sentences of what was found, hundreds at a time, for which a transformer
        takes seconds (default: `embedder`). Its vectors are not stored.

        `llm` writes the answers of `ask`, from what it may get to see. Without one they are the lines of memory.
        `driver` may look for evidence with tools where much effort is wanted; it should be one that is good at that.

        Raises StoreError and its kinds.
        """
        store = Store.open(path)
        try:
            return cls(store, embedder, settings or MemorySettings(), quick, _chooses(llm), _chooses(driver))
        except BaseException:
            store.close()
            raise

    @staticmethod
    def embedder_of(path: Path | str) -> str | None:
        """The name of the embedder whose vectors the memory at `path` has, all of them; None if there is none."""
        with Store.open(path) as store, store.reading() as conn:
            active = vectors.active(conn)
        return active.name if active else None

    @property
    def embedder(self) -> Embedder:
        """The embedder that questions use now."""
        return self._serving.embedder

    # Writing --------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        title: str | None = None,
        source: str | None = None,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
    ) -> Receipt:
        """Remembers a text. The same `source` again is a newer version of it; without one the text is its own.

        Idempotent: the same call again changes nothing. Raises InvalidInputError for a text without words.
        """
        uri = (
            source or "note:" + sha256("\0".join([text, title or "", ref or ""]).encode("utf-8", "replace")).hexdigest()
        )
        return self.remember_many([Document(uri, text, title=title, at=at, speaker=speaker, ref=ref)])[0]

    def prepare(self, documents: Iterable[Document]) -> Prepared:
        """Reads and embeds documents, which takes the time; nothing is written, and nobody waits.

        Raises InvalidInputError for a document without words, NotAvailableError from the embedder.
        """
        return prepare(self.store, list(documents), self.settings.chunk, self.embedder, self.settings.facts.rules)

    def remember_many(self, documents: Iterable[Document] | Prepared) -> list[Receipt]:
        """Remembers documents in one transaction: all of them, or on any error none. A receipt for each, in order.

        Of two documents with one uri the later is the newer version and the only one kept.
        """
        ready = documents if isinstance(documents, Prepared) else self.prepare(documents)
        given, batch = ready.given, ready.batch
        if not batch:
            return []
        with self._write_lock:
            serving = self._serving
            with self.store.reading() as conn:
                plans = ingest.plan(conn, batch)
            matrix = ready.matrix(ingest.new_texts(batch, plans), serving.embedder)
            with self.store.writing() as conn:
                writer = ingest.Writer(conn, serving.embedder_id, _now())
                receipts = writer.write(batch, plans, matrix)
                if writer.change.added:
                    vectors.leave_behind(conn, serving.embedder_id)
                asserter = self._asserter(conn)
                asserter.withdraw_episodes(writer.redated)
                same = [id for id in writer.change.retired if id not in writer.redated]
                asserter.carry_evidence(same, [row.node_id for row in writer.change.added])
                asserter.assert_extractions(writer.extractions)
                writer.retire()
                asserter.withdraw_episodes(writer.change.retired)
                changes = asserter.graph_changes()
            has_mails = any(document.reader == mails.READER for document in given)
            owner = self._owner() if has_mails else serving.owner
            self._serving = replace(serving, snapshot=serving.snapshot.after(writer.change, matrix), owner=owner)
            self._show(changes)
            if asserter.passed_on_edge_memory:
                self._look_again()
        of_uri = dict(zip(ready.newest, receipts, strict=True))
        return [of_uri[document.uri] for document in given]

    def move(self, old_uri: str, new_uri: str) -> None:
        """A source has another uri now; its episodes and all that was learnt on them stay. NotFoundError."""
        with self._write_lock, self.store.writing() as conn:
            sources.rename(conn, old_uri, new_uri)

    def retire(self, uri: str) -> int:
        """A source has gone: its episodes are no longer found, but stay in history; returns how many. NotFoundError."""
        with self._write_lock:
            with self.store.writing() as conn:
                source = sources.get(conn, uri)
                if source is None:
                    raise NotFoundError(f"There is no source {uri}.")
                gone = sources.retire(conn, source.id, _now())
                asserter = self._asserter(conn)
                asserter.withdraw_episodes(gone.nodes)
                changes = asserter.graph_changes()
            before = self._serving.snapshot
            owner = self._owner() if source.reader == mails.READER else self._serving.owner
            self._serving = replace(self._serving, snapshot=before.without(gone.nodes), owner=owner)
            self._show(changes)
            if asserter.passed_on_edge_memory:
                self._look_again()
        return len([node for node in gone.nodes if node in before.graph.row_of])

    def forget(
        self,
        source: str | None = None,
        object: str | None = None,
        fact: int | None = None,
        episode: int | None = None,
    ) -> forgetting.Forgotten:
        """Removes one source (by uri), object (by name), fact or episode (by id) for good, from everywhere.

        Rows, vectors, full text, and the traces and chats that showed them. NotFoundError if it is not there.
        """
        if [source, object, fact, episode].count(None) != 3:
            raise InvalidInputError("Say one thing to forget: a source, an object, a fact or an episode.")
        if source is not None:
            return self.forget_many([source])
        with self._forgetting() as conn:
            if object is not None:
                return forgetting.object(conn, norm(object), _now())
            if fact is not None:
                return forgetting.fact(conn, fact, _now())
            assert episode is not None
            return forgetting.episode(conn, episode, _now())

    def forget_many(self, sources: Sequence[str]) -> forgetting.Forgotten:
        """Removes these sources (by uri) for good, all of them or, with a NotFoundError, none."""
        total = forgetting.Forgotten()
        with self._forgetting() as conn:
            for uri in sources:
                gone = forgetting.source(conn, uri, _now())
                total = forgetting.Forgotten(*(a + b for a, b in zip(total, gone, strict=True)))
        return total

    @contextmanager
    def _forgetting(self) -> Iterator[Connection]:
        """A unit of forgetting; after it the snapshot is loaded anew and the old words are off the disk."""
        with self._write_lock:
            with self.store.writing() as conn:
                yield conn
                self._made_whole(conn)
            self._serving = self._loaded(self._serving.embedder, self._serving.embedder_id)
            self._look_again()
        deadline = time.monotonic() + CHECKPOINT_WAIT
        while True:
            try:
                return self.store.checkpoint()  # until then the old words are still in the file
            except StoreBusyError:  # a question is being answered
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _loaded(self, embedder: Embedder, embedder_id: int) -> Serving:
        limit = self.settings.recall.vectors_in_memory
        with self.store.reading() as conn:
            snapshot = load(conn, embedder_id, embedder.dimension, limit)
            usable, scorer = _share(conn, embedder_id) >= ENOUGH, heads.load(conn, embedder)
            return Serving(embedder, embedder_id, snapshot, usable, self._owner(), scorer)

    def _owner(self) -> tuple[str, ...]:
        with self.store.reading() as conn:
            return mailbox_owner(mails.people(conn))

    # Keeping --------------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Counts of what is live, and the file's size."""
        with self.store.reading() as conn:
            return stats.of(conn, self.store.path, self.embedder.name)

    def check(self) -> Check:
        """Looks for damage: the file, the full text, the vectors, and what must belong together."""
        return check.check(self.store)

    def diagnose(self, limit: int = diagnose.TRACES) -> Diagnosis:
        """How well the graph served the newest `limit` questions that were asked, and what mends what failed."""
        with self._asking() as (conn, serving):
            return diagnose.of(conn, serving.snapshot.graph, limit)

    def backup(self, to: Path | str) -> int:
        """Copies the memory to a new file, verified; returns its size in bytes. InvalidInputError if it exists."""
        return self.store.backup(Path(to))

    def close(self) -> None:
        """Closes the file. Nothing is lost: every write was on the disk when its call returned."""
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _chooses(llm: LLM | None) -> ChooseLLM | None:
    """Chooses that one, whatever is asked."""
    return None if llm is None else lambda local_only: llm if llm.is_local or not local_only else None


def _share(conn: Connection, embedder_id: int) -> float:
    """The share of the live episodes that the embedder has seen; counted only if it need not be all."""
    active = vectors.active(conn)
    if active is not None and active.id == embedder_id:
        return 1.0
    seen, live = vectors.coverage(conn, embedder_id)
    return seen / live if live else 1.0


def _now() -> int:
    """The store's time: ms UTC."""
    return time.time_ns() // 1_000_000
