"""Permanent forgetting of what a person names, and of retired text on request or when it expires. Every call is on the
disk when it returns; `wipe` also removes the words from the log."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial

from memory.errors import (
    InvalidInputError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMovedError,
)
from memory.nouns import FORGOTTEN
from memory.protocols import Write, write_directly
from memory.services import read_by
from memory.services.state import State
from memory.store import connect, forget, past, sources, traces
from memory.store.connect import Connection, get_meta, set_meta
from memory.store.past import Expiry as Expiry
from memory.text.mentions import norm
from memory.time.timestamps import now_ms
from memory.views import Forgotten, RetiredText

WIPE_SECONDS = 3.0  # that forgetting waits for questions that are being answered
PATIENCE_SECONDS = 0.5  # of these without letting others write
SOURCES_AT_ONCE = 100  # that are erased in one transaction
PASSAGES_AT_ONCE = 1000
QUESTIONS_AT_ONCE = 500
ANY_TIME = 1 << 62  # ms UTC, after all others
READ = "the memory is being read, by a question or another program, so it is still in the log"
FULL = "the disk is full, so it could not be overwritten; make room"
REFUSED = "the disk reported an error, so it could not be overwritten; check the disk"


class Forgetting:
    """Deletes rows, vectors and full text with all traces and answers that showed them."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store
        self.unwiped_because = ""  # why the last try to wipe forgotten words from the disk failed
        self.around_wipe: Callable[[], AbstractContextManager[None]] = nullcontext  # pauses who else reads the log

    count_retired = read_by(past.count_retired)

    def forget(
        self, source: str | None = None, object: str | None = None, fact: int | None = None, episode: int | None = None
    ) -> Forgotten:
        """Deletes one source (by uri), object (by name), fact or episode (by id): rows, vectors, full text, and the
        traces and chats that showed them. NotFoundError."""
        if [source, object, fact, episode].count(None) != 3:
            raise InvalidInputError("Say one thing to forget: a source, an object, a fact or an episode.")
        if source is not None:
            return self.forget_sources([source])
        with self._begin() as conn:
            if object is not None:
                forgotten = forget.object(conn, norm(object), now_ms())
            elif fact is not None:
                forgotten = forget.fact(conn, fact, now_ms())
            else:
                assert episode is not None
                forgotten = forget.episode(conn, episode, now_ms())
        return replace(forgotten, pending=self.wipe())

    def forget_sources(self, uris: Sequence[str], files: Iterable[str] = (), wipe: bool = True) -> Forgotten:
        """Deletes these sources; none, with a NotFoundError, if one is unknown. Files with the same content are not
        read again, nor are these `files` (uris), whatever their later content. Without `wipe` their words stay in the
        log until it is called."""
        with self._begin() as conn:
            forgotten = sum((forget.source(conn, uri, now_ms()) for uri in uris), Forgotten())
            for file in files:
                sources.skip(conn, file, FORGOTTEN, now_ms())
        return replace(forgotten, pending=self.wipe()) if wipe else forgotten

    # Retired text ---------------------------------------------------------------------------------

    def list_retired(self, limit: int) -> tuple[list[RetiredText], int]:
        """Returns (deleted sources and sources with earlier versions, last retired first; total)."""
        with self._store.reading() as conn:
            return past.list_retired(conn, limit), past.count_retired(conn)

    def forget_retired(self, under: str = "") -> Forgotten:
        """Deletes a part of all retired text, or of that of a source or folder (by uri); empty if nothing is left.
        Content of deleted files is not read again. The words stay in the log until `wipe` is called."""
        return self._erase(Expiry(ANY_TIME, ANY_TIME), under, by_person=True)

    def expire(self, expiry: Expiry, write: Write = write_directly) -> Forgotten:
        """Deletes expired text, a part in each call of `write`. A file that returns is read again."""
        total = Forgotten()
        while (erased := write(partial(self._erase, expiry))) != Forgotten():
            total += erased
        return total if total == Forgotten() else total + Forgotten(pending=write(self.wipe))

    def _erase(self, expiry: Expiry, under: str = "", by_person: bool = False) -> Forgotten:
        with self._store.reading() as conn:
            sources = past.find_retired_sources(conn, expiry, under, SOURCES_AT_ONCE)
            passages = [] if sources else past.find_retired_passages(conn, expiry, under, PASSAGES_AT_ONCE)
        if not sources and not passages:
            return Forgotten()
        with self._begin(by_person) as conn:
            forgotten = sum((forget.retired_source(conn, id, now_ms(), by_person) for id in sources), Forgotten())
            return forgotten + forget.passages(conn, passages, now_ms())

    def thin_out_questions(self, keep: int, before: int = ANY_TIME, write: Write = write_directly) -> int:
        """Reduces questions before the newest `keep`, asked before a time (ms UTC), to what was learnt from them, a
        part in each call of `write`; returns the number of reduced questions."""
        thin_out = partial(self._store.write, traces.thin_out, keep, before, QUESTIONS_AT_ONCE)
        return sum(iter(lambda: write(thin_out), 0))

    # The disk -------------------------------------------------------------------------------------

    def unwiped_since(self) -> int | None:
        """Returns since when (ms UTC) the log may contain forgotten text, or None."""
        since: int | None = self._store.read(get_meta, forget.UNWIPED)
        return since

    def wipe(self, seconds: float = WIPE_SECONDS) -> str:
        """Empties the log, which removes forgotten text from the disk; returns "", or why it failed within `seconds`.
        Until then the memory records it (`unwiped_since`)."""
        with self.around_wipe():
            return self._wipe(time.monotonic() + seconds, min(seconds, PATIENCE_SECONDS))

    def _wipe(self, deadline: float, patience: float) -> str:
        while True:
            try:
                with self._state.write_lock, self._store.allow_deletes():
                    self._store.checkpoint(patience)
                    self._store.write(set_meta, forget.UNWIPED, None)
                self.unwiped_because = ""
                return ""
            except StoreBusyError:
                self.unwiped_because = READ
            except StoreFullError:
                self.unwiped_because = FULL
            except (StoreDamagedError, StoreMovedError):
                raise
            except StoreError:
                self.unwiped_because = REFUSED
            if time.monotonic() > deadline:
                return self.unwiped_because
            time.sleep(0.02)

    def clear_unused(self, write: Write = write_directly) -> bool:
        """Rewrites the file if a person forgot something since the last time, or if much of it is free; returns
        whether it did. SQLite leaves copies of rows in unused parts of split pages, which deleting the rows does not
        overwrite."""
        if self._store.read(get_meta, forget.UNCLEARED) is None and not self._store.read(connect.has_surplus):
            return False

        def rewrite() -> None:
            with self._state.write_lock, self._store.allow_deletes():
                self._store.rewrite()
                self._store.write(set_meta, forget.UNCLEARED, None)
            self.wipe()

        write(rewrite)
        return True

    @contextmanager
    def _begin(self, by_person: bool = True) -> Iterator[Connection]:
        """Opens a unit of forgetting; afterwards reloads the snapshot."""
        state = self._state
        with state.write_lock, self._store.allow_deletes():
            with self._store.writing() as conn:
                yield conn
                state.complete_edge_memory(conn)
                forget.note_unwiped(conn, now_ms(), by_person)
            state.past.drop()
            state.serving = state.load(state.serving.embedder, state.serving.embedder_id)
            state.reload_edge_memory()
