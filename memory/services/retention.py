"""Retention: lists retired text, and erases it on request or when it expires."""

from __future__ import annotations

from functools import partial

from memory.nouns import Forgotten, RetiredText
from memory.protocols import Write, write_directly
from memory.services.ingest import Ingest
from memory.store import compact, forget, retired, traces
from memory.store.connect import Connection
from memory.store.retired import Expiry as Expiry
from memory.store.store import Store, read_by
from memory.time.timestamps import now_ms

SOURCES_AT_ONCE = 100  # that are erased in one transaction
PASSAGES_AT_ONCE = 1000
QUESTIONS_AT_ONCE = 500
PAGES_AT_ONCE = 1000  # that are given back in one transaction: 8 MB
ANY_TIME = 1 << 62  # ms UTC, after all others


class Retention:
    """Lists and erases text that questions no longer find."""

    def __init__(self, store: Store, ingest: Ingest) -> None:
        self._store = store
        self._ingest = ingest

    count = read_by(retired.count_retired)

    def list_retired(self, limit: int) -> tuple[list[RetiredText], int]:
        """Deleted sources and sources with earlier versions, last retired first; and how many."""
        with self._store.reading() as conn:
            return retired.list_retired(conn, limit), retired.count_retired(conn)

    def forget_some(self, under: str = "") -> Forgotten:
        """Erases a part of all retired text, or of that of a source or folder (by uri); empty if none is left. Content
        of deleted files is not read again. `Ingest.wipe` removes the words from the disk."""
        return self._erase(Expiry(ANY_TIME, ANY_TIME), under, mark=True)

    def expire(self, expiry: Expiry, write: Write = write_directly) -> Forgotten:
        """Erases expired text, a part in each call of `write`. A file that returns is read again."""
        total = Forgotten()
        while (erased := write(partial(self._erase, expiry))) != Forgotten():
            total += erased
        if total != Forgotten():
            total += Forgotten(pending=write(self._ingest.wipe))
        return total

    def thin_out_questions(self, keep: int, before: int = ANY_TIME, write: Write = write_directly) -> int:
        """Reduces questions before the newest `keep`, asked before a time (ms UTC), to what was learnt from them, a
        part in each call of `write`; returns how many lost their details."""
        total = 0
        while n_thinned := write(partial(self._store.write, traces.thin_out, keep, before, QUESTIONS_AT_ONCE)):
            total += n_thinned
        return total

    def compact(self, write: Write = write_directly) -> int:
        """Returns free space of the file to the disk, if there is much, a part in each call of `write`; in bytes."""
        with self._store.reading() as conn:
            free = before = compact.count_free(conn) if compact.is_worth_it(conn) else 0
        while free:
            free_after = write(partial(self._store.write, compact.cut_off, PAGES_AT_ONCE))
            if free_after >= free:
                break
            free = free_after
        if before:
            write(self._ingest.wipe)
        return before - free

    def _erase(self, expiry: Expiry, under: str = "", mark: bool = False) -> Forgotten:
        with self._store.reading() as conn:
            sources = retired.find_sources(conn, expiry, under, SOURCES_AT_ONCE)
            passages = [] if sources else retired.find_passages(conn, expiry, under, PASSAGES_AT_ONCE)

        def erase(conn: Connection) -> Forgotten:
            forgotten = sum((forget.retired_source(conn, id, now_ms(), mark) for id in sources), Forgotten())
            return forgotten + forget.passages(conn, passages, now_ms())

        return self._ingest.erase(erase, by_person=mark) if sources or passages else Forgotten()
