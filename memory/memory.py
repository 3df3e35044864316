"""The library's entry point: a person's memory, opened from a file.

Synchronous. Any number of threads may recall and ask at once; writes come one at a time, and each is on the disk when
its call returns."""

from __future__ import annotations

import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory.protocols import LLM, ChooseLLM, Embedder, choose_none
from memory.retrieval.traversers import FindStrategy, find_core_strategy
from memory.services.activity import Conversations, Jobs
from memory.services.questions import Questions
from memory.services.sources import Sources
from memory.services.state import PAST, State
from memory.settings import MemorySettings
from memory.store import vectors
from memory.store.restore import checksum_path, load, restore
from memory.store.store import WAIT_SECONDS, Store
from memory.text.languages import stem
from memory.text.mentions import norm

if TYPE_CHECKING:
    from memory.retrieval.state import EdgeRanker
    from memory.services.browsing import Browsing
    from memory.services.forgetting import Forgetting
    from memory.services.ingest import Ingest
    from memory.services.knowledge import Knowledge
    from memory.services.maintenance import Maintenance


class Memory:
    """An open memory. Use `Memory.open`; close it, or use it in a `with`. The calls are those of its services: `ingest`
    (documents), `questions` (passages, answers, traces and reasons), `knowledge` (facts), `browsing` (views, and
    export), `maintenance` (embedder, consolidation, ranker, check, copies), `forgetting` (also retired text), `sources`
    (sources, folders, chats, secrets), `conversations`, `jobs` (and use of models). Within `store.reading()` all
    reading calls of a thread see one snapshot."""

    def __init__(self, state: State, choose: ChooseLLM, drive: ChooseLLM) -> None:
        self.state = state
        self.store = store = state.store
        self.questions = Questions(self.state, choose, drive)
        self.sources = Sources(store)
        self.conversations = Conversations(self.state)
        self.jobs = Jobs(store)

    # What reads, asserts facts and consolidates is imported when it is first used: the first question waits for less.

    @cached_property
    def ingest(self) -> Ingest:
        from memory.services.ingest import Ingest

        return Ingest(self.state)

    @cached_property
    def knowledge(self) -> Knowledge:
        from memory.services.knowledge import Knowledge

        return Knowledge(self.state)

    @cached_property
    def browsing(self) -> Browsing:
        from memory.services.browsing import Browsing

        return Browsing(self.state, self.knowledge)

    @cached_property
    def maintenance(self) -> Maintenance:
        from memory.services.maintenance import Maintenance

        return Maintenance(self.state, self.knowledge)

    @cached_property
    def forgetting(self) -> Forgetting:
        from memory.services.forgetting import Forgetting

        return Forgetting(self.state)

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
        find_strategy: FindStrategy = find_core_strategy,
        ranker: EdgeRanker | None = None,
        read_only: bool = False,
        wait_s: float = WAIT_SECONDS,
    ) -> Memory:
        """Opens or creates the memory at `path`; ":memory:" is temporary. If the file's vectors belong to another
        embedder, questions are answered by full text and graph alone, new text gets vectors of this one, and
        `maintenance.switch_embedder` makes the others. `quick` compares a question with the sentences of the results,
        hundreds at a time, for which a transformer takes seconds (default: `embedder`). Its vectors are not stored.
        `llm` writes answers from the text it may see; without one they are extractive. `driver` may search for evidence
        with tools if much effort is wanted; it should be good at that. `find_strategy` finds traversers by name
        (default: the library's own, `spread` and `none`); `ranker` learns from questions which edges they need.
        All come from plug-ins. `read_only` changes no byte of the file,
        which nobody else may have open: questions are answered and not stored, and writing raises StoreError; a
        missing file is a StoreError. `wait_s`: how long to wait for another program that writes to the file, before
        StoreBusyError. Damaged parts of the graph, the vectors and learnt data are left out of questions, and listed in
        `state.damage`. StoreError and its subclasses, InvalidInputError for an unknown strategy."""
        store = Store.open_read_only(Path(path)) if read_only else Store.open(path, wait_s=wait_s)
        try:
            state = State(store, settings or MemorySettings(), embedder, quick, find_strategy, ranker)
        except BaseException:
            store.close()
            raise
        return cls(state, _make_chooser(llm), _make_chooser(driver))

    @staticmethod
    def embedder_of(path: Path | str, read_only: bool = False) -> str | None:
        """Returns the name of the embedder of all vectors in the memory at `path`, or None."""
        with Store.open_read_only(Path(path)) if read_only else Store.open(path) as store, store.reading() as conn:
            return vectors.active(conn)[1]

    @staticmethod
    def discard_copies(path: Path) -> None:
        """Removes the copies of earlier days that a killed process left next to the memory at `path`, which nobody may
        have open."""
        for copy in path.parent.glob(f"{PAST}*"):
            shutil.rmtree(copy, ignore_errors=True)

    @property
    def embedder(self) -> Embedder:
        """The embedder that questions use now."""
        return self.state.serving.embedder

    restore = staticmethod(restore)
    load = staticmethod(load)
    checksum_path = staticmethod(checksum_path)

    def release_caches(self) -> None:
        """Frees caches after much was read or written: pages of the file, and forms of words. These are few MB, but
        they fragment the freed memory, which therefore cannot be returned to the system."""
        self.store.release_pages()
        norm.cache_clear()
        stem.cache_clear()

    def close(self) -> None:
        """Closes the file. Every write except those of answers was on the disk when its call returned."""
        self.state.pending.try_write()
        self.state.past.drop()
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make_chooser(llm: LLM | None) -> ChooseLLM:
    """Returns a function that chooses that model for every question."""
    return choose_none if llm is None else lambda local_only: llm if llm.is_local or not local_only else None
