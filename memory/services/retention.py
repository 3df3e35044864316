"""What is kept, and how long: retired text is listed, erased when a person says so or its time has come."""

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
ANY_TIME = 1 << 62  # ms UTC, behind all others


class Retention:
    """Lists and erases what no question finds any more."""

    def __init__(self, store: Store, ingest: Ingest) -> None:
        self._store = store
        self._ingest = ingest

    count = read_by(retired.count_retired)

    def list_retired(self, limit: int) -> tuple[list[RetiredText], int]:
        """Sources that have gone, and those of which earlier text is kept, the last retired first; and how many."""
        with self._store.reading() as conn:
            return retired.list_retired(conn, limit), retired.count_retired(conn)

    def forget_some(self, under: str = "") -> Forgotten:
        """Erases some of all retired text, or of that of a source or folder (by uri); nothing if there is none left.
        What files held that have gone is not read again. `Ingest.wipe` takes the words off the disk."""
        return self._erase(Expiry(ANY_TIME, ANY_TIME), under, mark=True)

    def expire(self, expiry: Expiry, write: Write = write_directly) -> Forgotten:
        """Erases retired text whose time has come, some of it in each call of `write`. A file that comes back is read
        again."""
        total = Forgotten()
        while (gone := write(partial(self._erase, expiry))) != Forgotten():
            total += gone
        if total != Forgotten():
            total += Forgotten(pending=write(self._ingest.wipe))
        return total

    def thin_out_questions(self, keep: int, before: int = ANY_TIME, write: Write = write_directly) -> int:
        """Of questions before the newest `keep`, asked before a time (ms UTC), only what is learnt from them stays,
        some in each call of `write`; how many lost their way to the answer."""
        total = 0
        while some := write(partial(self._store.write, traces.thin_out, keep, before, QUESTIONS_AT_ONCE)):
            total += some
        return total

    def compact(self, write: Write = write_directly) -> int:
        """Gives back to the disk what is free in the file, if that is much, some of it in each call of `write`; how
        many bytes."""
        with self._store.reading() as conn:
            free = before = compact.count_free(conn) if compact.is_worth_it(conn) else 0
        while free:
            left = write(partial(self._store.write, compact.cut_off, PAGES_AT_ONCE))
            if left >= free:
                break
            free = left
        if before:
            write(self._ingest.wipe)
        return before - free

    def _erase(self, expiry: Expiry, under: str = "", mark: bool = False) -> Forgotten:
        with self._store.reading() as conn:
            sources = retired.find_sources(conn, expiry, under, SOURCES_AT_ONCE)
            passages = [] if sources else retired.find_passages(conn, expiry, under, PASSAGES_AT_ONCE)

        def erase(conn: Connection) -> Forgotten:
            gone = sum((forget.retired_source(conn, id, now_ms(), mark) for id in sources), Forgotten())
            return gone + forget.passages(conn, passages, now_ms())

        return self._ingest.erase(erase) if sources or passages else Forgotten()
