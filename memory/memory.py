"""The library's one door: a person's memory, opened from a file (DESIGN section 4).

Plain and synchronous. Any number of threads may recall and ask at once; writes come one at a time, and each is
on the disk when its call returns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory.answer.extract import Extract, extract
from memory.errors import InvalidInputError, NotAvailableError, NotFoundError
from memory.nouns import AskEvent, Check, Document, Fact, Recall, Receipt, Scope, Stats, Token
from memory.protocols import Embedder
from memory.recall import pipeline
from memory.recall.analyse import analyse
from memory.recall.snapshot import Snapshot, load
from memory.settings import MemorySettings
from memory.store import backup, check, facts, forget, sources, stats, traces, vectors
from memory.store.store import Store
from memory.write import ingest
from memory.write.mentions import norm


class Memory:
    """One open memory. Use `Memory.open`; close it, or use it in a `with`."""

    def __init__(self, store: Store, embedder: Embedder, settings: MemorySettings) -> None:
        self.store = store
        self.embedder = embedder
        self.settings = settings
        self._write_lock = threading.RLock()  # from comparing with what is stored until the snapshot is replaced
        with store.writing() as conn:
            self._embedder_id = vectors.register(conn, embedder)
        self._snapshot = self._loaded()

    @classmethod
    def open(
        cls, path: Path | str, *, embedder: Embedder, llm: None = None, settings: MemorySettings | None = None
    ) -> Memory:
        """Opens or creates the memory at `path`; ":memory:" is one that is gone when it is closed.

        Raises StoreError and its kinds; NotAvailableError for an `llm`: this version answers without one.
        """
        if llm is not None:
            raise NotAvailableError("This version answers without a model. Leave `llm` out.")
        store = Store.open(path)
        try:
            return cls(store, embedder, settings or MemorySettings())
        except BaseException:
            store.close()
            raise

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

    def remember_many(self, documents: Iterable[Document]) -> list[Receipt]:
        """Remembers documents in one transaction: all of them, or on any error none. A receipt for each, in order.

        Of two documents with one uri the later is the newer version and the only one kept.
        """
        given = list(documents)
        newest = {document.uri: document for document in given}
        batch = [ingest.read(document, self.settings.chunk) for document in newest.values()]
        if not batch:
            return []
        with self._write_lock:
            with self.store.reading() as conn:
                plans = ingest.plan(conn, batch)
            matrix = self.embedder.embed_documents(ingest.new_texts(batch, plans))
            with self.store.writing() as conn:
                writer = ingest.Writer(conn, self._embedder_id, _now())
                receipts = writer.write(batch, plans, matrix)
            self._snapshot = self._snapshot.after(writer.change, matrix)
        of_uri = dict(zip(newest, receipts, strict=True))
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
            before = self._snapshot.graph
            self._snapshot = self._snapshot.without(gone.nodes)
        return len([node for node in gone.nodes if node in before.row_of])

    def forget(
        self,
        source: str | None = None,
        object: str | None = None,
        fact: int | None = None,
        episode: int | None = None,
    ) -> forget.Forgotten:
        """Removes one source (by uri), object (by name), fact or episode (by id) for good, from everywhere.

        Rows, vectors, full text, and the traces and chats that showed them. NotFoundError if it is not there.
        """
        if [source, object, fact, episode].count(None) != 3:
            raise InvalidInputError("Say one thing to forget: a source, an object, a fact or an episode.")
        with self._write_lock:
            with self.store.writing() as conn:
                if source is not None:
                    gone = forget.source(conn, source, _now())
                elif object is not None:
                    gone = forget.object(conn, norm(object), _now())
                elif fact is not None:
                    gone = forget.fact(conn, fact, _now())
                elif episode is not None:
                    gone = forget.episode(conn, episode, _now())
            self._snapshot = self._loaded()
        self.store.checkpoint()  # until then the old words are still in the file
        return gone

    def _loaded(self) -> Snapshot:
        limit = self.settings.recall.vectors_in_memory
        with self.store.reading() as conn:
            return load(conn, self._embedder_id, self.embedder.dimension, limit)

    # Asking ---------------------------------------------------------------------------------------

    def recall(
        self, question: str, k: int | None = None, as_of: datetime | None = None, within: Scope | None = None
    ) -> Recall:
        """The `k` episodes that best fit a question (default: setting recall.k), best first.

        `as_of`: as if asked at that time, without what was written later. `within`: only in a part of the memory.
        Raises InvalidInputError for an empty or overlong question.
        """
        return self._find(question, k or self.settings.recall.k, as_of, within).recall

    def ask(
        self,
        question: str,
        as_of: datetime | None = None,
        conversation: int | None = None,
        within: Scope | None = None,
    ) -> Iterator[AskEvent]:
        """Answers from memory, with a citation under every line. Events: Step and Visit while it searches, then
        Token and Citation, at last one Answer. `conversation` is the chat the question belongs to.

        Raises InvalidInputError, before the first event, for an empty or overlong question.
        """
        analyse(question)  # a bad question fails here, not when the first event is fetched
        return self._answer(question, as_of, within)

    def _answer(self, question: str, as_of: datetime | None, within: Scope | None) -> Iterator[AskEvent]:
        found = self._find(question, self.settings.answer.episodes, as_of, within)
        yield from found.recall.trace.steps
        yield from found.recall.trace.visits
        with self.store.reading() as conn:
            answer: Extract = extract(conn, found, self.embedder, self.settings.answer)
        yield answer.step
        for piece in answer.pieces:
            yield piece if not isinstance(piece, str) else Token(piece)
        trace = found.recall.trace.extended(answer.step)
        with self.store.writing() as conn:
            trace_id = traces.store(conn, trace, answer.answer, _now(), as_of)
        yield answer.answer.traced(trace_id)

    def _find(self, question: str, k: int, as_of: datetime | None, within: Scope | None) -> pipeline.Found:
        snapshot = self._snapshot
        with self.store.reading() as conn:
            return pipeline.recall(
                conn, snapshot, self.embedder, self._embedder_id, self.settings.recall, question, k, as_of, within
            )

    def facts(self, about: str, as_of: datetime | None = None, history: bool = False) -> list[Fact]:
        """What is known of an object, by any of its names, newest first: the theses that speak of it.

        `history` shows what no longer holds as well. NotFoundError for a name nothing mentions.
        """
        with self.store.reading() as conn:
            found = facts.about(conn, norm(about), _now(), as_of, history)
        if found is None:
            raise NotFoundError(f"Nothing is known of {about!r}.")
        return found

    def revisions(self, state: str = "open") -> list[Any]:
        """Replacements of facts: not in this version, which replaces none."""
        raise NotAvailableError("This version does not replace facts yet, so there are no revisions.")

    def undo(self, revision_id: int) -> None:
        """Takes a replacement back: not in this version, which replaces none."""
        raise NotAvailableError("This version does not replace facts yet, so there is nothing to undo.")

    def settle(self, revision_id: int, verdict: str) -> None:
        """Decides an open replacement: not in this version, which replaces none."""
        raise NotAvailableError("This version does not replace facts yet, so there is nothing to settle.")

    def feedback(self, trace_id: int, verdict: str) -> None:
        """Learns from a verdict on an answer: not in this version."""
        raise NotAvailableError("This version does not learn from feedback yet.")

    # Keeping --------------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Counts of what is live, and the file's size."""
        with self.store.reading() as conn:
            return stats.of(conn, self.store.path, self.embedder.name)

    def check(self) -> Check:
        """Looks for damage: the file, the full text, the vectors, and what must belong together."""
        return check.check(self.store)

    def backup(self, to: Path | str) -> int:
        """Copies the memory to a new file, verified; returns its size in bytes. InvalidInputError if it exists."""
        return backup.backup(self.store, Path(to))

    def close(self) -> None:
        """Closes the file. Nothing is lost: every write was on the disk when its call returned."""
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _now() -> int:
    """The store's time: ms UTC."""
    return time.time_ns() // 1_000_000
