"""The part of `Memory` that changes its embedder while questions and writes go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from memory.graph.snapshot import embedded
from memory.ingest import embed
from memory.protocols import Embedder, Vectors
from memory.ranker import heads
from memory.remembering import Remembering
from memory.serving import Serving
from memory.store import vectors
from memory.store.store import Store

BATCHES = 64  # that are looked for at once: looking takes as long as embedding one


class Switching(Remembering):
    """A second set of vectors is made beside the first, and takes over as a whole."""

    store: Store
    _write_lock: threading.RLock
    _serving: Serving

    def switch_embedder(
        self,
        embedder: Embedder,
        *,
        batch: int | None = None,
        keep: bool = False,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        """Gives every episode a vector of `embedder` and answers with these from then on.

        Questions and writes go on meanwhile, with the vectors there are. `on_progress(done, total)` counts episodes.
        `batch` texts are embedded at a time (default: what the embedder likes best). The other embedders' vectors are
        dropped at the end, unless `keep`. What was done is kept if this breaks off: the same call goes on with it.
        """
        for done, total in self.switching(embedder, batch=batch, keep=keep):
            on_progress(done, total)

    def switching(
        self,
        embedder: Embedder,
        *,
        batch: int | None = None,
        keep: bool = False,
        write: Callable[[Callable[[], Any]], Any] = lambda unit: unit(),
    ) -> Iterator[tuple[int, int]]:
        """`switch_embedder` bit by bit: each `next` embeds one batch, and gives (done, total) episodes.

        `write` runs what writes, for a caller who has a thread for that. Episodes are embedded outside of it, but for
        the last batch: then writers wait, so that none slips through.
        """
        size = batch or embedder.batch
        embedder_id = write(partial(self._register, embedder))
        while not write(partial(self._take_over, embedder, embedder_id, size)):
            with self.store.reading() as conn:
                waiting = vectors.missing(conn, embedder_id, size * BATCHES)
                done, total = vectors.coverage(conn, embedder_id)
            for start in range(0, len(waiting), size):
                with self.store.reading() as conn:
                    passages = embed.passages(conn, waiting[start : start + size])
                matrix = embedder.embed_documents([passage.text for passage in passages])
                write(partial(self._put, embedder_id, passages, matrix))
                done += len(passages)
                yield min(done, total), total
        self._catch_up(write)
        with self.store.reading() as conn:
            others = vectors.others(conn, embedder_id)
            total = vectors.coverage(conn, embedder_id)[1]
        yield total, total
        for other in [] if keep else others:
            while not write(partial(self._drop, other)):
                yield total, total

    def _register(self, embedder: Embedder) -> int:
        with self.store.writing() as conn:
            return vectors.register(conn, embedder)

    def _put(self, embedder_id: int, passages: list[embed.Passage], matrix: Vectors) -> None:
        with self.store.writing() as conn:
            embed.put(conn, embedder_id, passages, matrix)

    def _take_over(self, embedder: Embedder, embedder_id: int, size: int) -> bool:
        """Embeds what is left and changes over, if that is one batch at most; else False."""
        with self._write_lock:
            with self.store.reading() as conn:
                active = vectors.active(conn)
                if active and active.id == embedder_id == self._serving.embedder_id:
                    return True
                left = vectors.missing(conn, embedder_id, size + 1)
                if len(left) > size:
                    return False
                passages = embed.passages(conn, left)
            matrix = embedder.embed_documents([passage.text for passage in passages])
            with self.store.writing() as conn:
                embed.put(conn, embedder_id, passages, matrix)
                vectors.activate(conn, embedder_id)
            graph, limit = self._serving.snapshot.graph, self._serving.snapshot.limit
            with self.store.reading() as conn:
                snapshot = embedded(conn, graph, embedder_id, embedder.dimension, limit)
                scorer = heads.load(conn, embedder)
            self._serving = replace(
                self._serving, embedder=embedder, embedder_id=embedder_id, snapshot=snapshot, usable=True, scorer=scorer
            )
            self._look_again()
            return True

    def _drop(self, embedder_id: int) -> bool:
        with self.store.writing() as conn:
            return vectors.drop(conn, embedder_id)
