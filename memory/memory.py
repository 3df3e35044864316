"""The library's one door: a person's memory, opened from a file.

Plain and synchronous. Any number of threads may recall and ask at once; writes come one at a time, and each is
on the disk when its call returns.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from memory.answering.options import AskOptions, ModelChoice
from memory.errors import InvalidInputError
from memory.nouns import AskEvent, Document, Effort, Fact, Recall, Receipt, Scope, Verdict
from memory.protocols import LLM, ChooseLLM, Embedder, Reranker
from memory.retrieval.pagerank import find_core_strategy
from memory.retrieval.rerank import Reranking
from memory.retrieval.traversers import FindStrategy
from memory.revisions import Revision
from memory.services.conversations import Conversations
from memory.services.jobs import Jobs, ModelUse
from memory.services.questions import Questions
from memory.services.secrets import Secrets
from memory.services.sources import Sources
from memory.services.state import PAST, State
from memory.settings import MemorySettings
from memory.store import check, restore, vectors
from memory.store.store import WAIT_SECONDS, Store
from memory.text.languages import stem
from memory.text.mentions import norm
from memory.views import Check, Forgotten, Stats

if TYPE_CHECKING:
    from memory.ingest.ingest import PreparedBatch
    from memory.ranking import EdgeRanker
    from memory.services.browsing import Browsing
    from memory.services.forgetting import Forgetting
    from memory.services.ingest import Ingest
    from memory.services.knowledge import Knowledge
    from memory.services.maintenance import Maintenance


class Memory:
    """One open memory. Use `Memory.open`; close it, or use it in a `with`. The calls that a person makes are methods;
    the rest are calls of its services: `ingest` (documents), `knowledge` (facts), `browsing` (what there is, and its
    export), `questions` (traces and reasons), `maintenance` (embedder, consolidation, ranker, copies), `forgetting`
    (for good, and what is kept), `sources` (sources, folders, chats), `conversations`, `jobs`, `models`, `secrets`
    (masked values)."""

    def __init__(self, state: State, choose: ChooseLLM | None, drive: ChooseLLM | None) -> None:
        self.state = state
        self.store = store = state.store
        self.questions = Questions(self.state, choose, drive)
        self.sources = Sources(store)
        self.conversations = Conversations(self.state)
        self.secrets = Secrets(self.state)
        self.jobs = Jobs(store)
        self.models = ModelUse(store)

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

    @property
    def settings(self) -> MemorySettings:
        """The settings that questions and writes go by; another value holds from the next call on."""
        return self.state.settings

    @settings.setter
    def settings(self, settings: MemorySettings) -> None:
        self.state.settings = settings

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
        reranker: Reranker | None = None,
        read_only: bool = False,
        wait_s: float = WAIT_SECONDS,
    ) -> Memory:
        """Opens or creates the memory at `path`; ":memory:" is one that is gone when it is closed.

        If the file's vectors are another embedder's, nothing is lost and nothing is mixed: questions are answered by
        full text and graph alone, new text gets vectors of this one, and `maintenance.switch_embedder` makes the
        others.

        `quick` compares a question with the sentences of what was found, hundreds at a time, for which a transformer
        takes seconds (default: `embedder`). Its vectors are not stored.

        `llm` writes the answers of `ask`, from what it may get to see. Without one they are the lines of memory.
        `driver` may look for evidence with tools where much effort is wanted; it should be one that is good at that.

        `find_strategy` gives what walks the graph by its name (default: the library's own, `spread` and `none`);
        `ranker` learns from questions which edges they need; `reranker` reads the first passages of chats with the
        question, and puts the best first. All come from plugins.

        `read_only` changes no byte of the file, which nobody else may have open: questions are answered and not kept,
        whatever writes raises StoreReadOnlyError. Nothing there is no empty memory then, but a StoreError.

        `wait_s`: so long another program that writes to the file is waited for, before it is StoreBusyError.

        Damaged parts of the graph, the vectors and learnt data are left out of questions, and in `state.damage`.

        Raises StoreError and its kinds, InvalidInputError for a strategy that is not there.
        """
        store = Store.open_read_only(Path(path)) if read_only else Store.open(path, wait_s=wait_s)
        try:
            reranking = Reranking(reranker) if reranker else None
            state = State(store, settings or MemorySettings(), embedder, quick, find_strategy, ranker, reranking)
        except BaseException:
            store.close()
            raise
        return cls(state, _make_chooser(llm), _make_chooser(driver))

    @staticmethod
    def embedder_of(path: Path | str, read_only: bool = False) -> str | None:
        """The name of the embedder whose vectors the memory at `path` has, all of them; None if there is none."""
        with Store.open_read_only(Path(path)) if read_only else Store.open(path) as store, store.reading() as conn:
            active = vectors.active(conn)
        return active.name if active else None

    @staticmethod
    def discard_copies(path: Path) -> None:
        """Removes the copies of earlier days that a killed process left next to the memory at `path`. Nobody may have
        that open."""
        for copy in path.parent.glob(f"{PAST}*"):
            shutil.rmtree(copy, ignore_errors=True)

    @property
    def embedder(self) -> Embedder:
        """The embedder that questions use now."""
        return self.state.serving.embedder

    # Texts ----------------------------------------------------------------------------------------

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
        Idempotent: the same call again changes nothing. Raises InvalidInputError for a text without words."""
        words = "\0".join([self.secrets.mask(text), title or "", ref or ""]).encode("utf-8", "replace")
        uri = source or f"note:{sha256(words).hexdigest()}"
        return self.remember_many([Document(uri, text, title=title, at=at, speaker=speaker, ref=ref)])[0]

    def remember_many(self, documents: Iterable[Document] | PreparedBatch) -> list[Receipt]:
        """Remembers documents in one transaction: all of them, or on any error none. A receipt for each, in order. Of
        two documents with one uri the later is the newer version and the only one kept."""
        return self.ingest.remember_many(documents)

    def forget(
        self, source: str | None = None, object: str | None = None, fact: int | None = None, episode: int | None = None
    ) -> Forgotten:
        """Removes one source (by uri), object (by name), fact or episode (by id) for good, from everywhere. Rows,
        vectors, full text, and the traces and chats that showed them. NotFoundError if it is not there."""
        if [source, object, fact, episode].count(None) != 3:
            raise InvalidInputError("Say one thing to forget: a source, an object, a fact or an episode.")
        if source is not None:
            return self.forgetting.forget_sources([source])
        return self.forgetting.forget(object, fact, episode)

    # Questions ------------------------------------------------------------------------------------

    def recall(
        self,
        question: str,
        k: int | None = None,
        as_of: datetime | None = None,
        within: Scope | None = None,
        now: datetime | None = None,
        strategy: str = "",
    ) -> Recall:
        """The `k` episodes that best fit a question (default: setting recall.k), best first.

        `as_of`: as if asked at that time, without later text. `within`: only in a part of the memory. `now`: what "last
        week" in the question is seen from; by default `as_of` or the clock's time. `strategy`: what walks the graph for
        this question (default: setting recall.strategy).
        Raises InvalidInputError for an empty or overlong question, a time without a zone, a range that ends early, a
        strategy that is not there.
        """
        return self.questions.retrieve(question, k, as_of, within, now, strategy=strategy).recall

    def ask(
        self,
        question: str,
        as_of: datetime | None = None,
        conversation: int | None = None,
        within: Scope | None = None,
        now: datetime | None = None,
        llm: ChooseLLM | None = None,
        cancelled: Callable[[], bool] | None = None,
        effort: Effort = "normal",
        driver: ChooseLLM | None = None,
        replay: bool = True,
        strategy: str = "",
        statement: str = "",
        agent: str = "",
    ) -> Iterator[AskEvent]:
        """Answers from memory, with a citation under every claim. Events: Step and Visit while it searches, then Token
        and Citation, at last one Answer. `conversation` is the chat the question belongs to; the rest is as for
        `recall`: a question like "and before that?" is understood with the earlier questions of that chat, or with the
        given `statement`.

        `llm` chooses the model that writes (default: that of `open`); whatever it does, an answer comes, of the lines
        themselves if need be. Closing the iterator ends its call, and so does `cancelled`, which is asked a few times a
        second from another thread. `effort` is how far the question may go where a model finds no answer in what was
        found first; `driver` chooses the model that may drive tools then (default: that of `open`). Without `replay`
        nothing is taken from earlier questions, and nothing is learnt from this one. `agent` is who asks, if it is no
        person: its trace records that, and nothing is learnt from it until its answer is judged.

        Raises InvalidInputError, before the first event, for what `recall` raises it for; ModelCancelledError, later,
        for a question that was `cancelled` while a model wrote.
        """
        before = (statement,) if statement else ()
        options = AskOptions(
            now, as_of, before, cancelled, effort=effort, replay=replay, strategy=strategy, agent=agent
        )
        return self.questions.ask(question, within, ModelChoice(llm, driver), options, conversation)

    def feedback(self, trace_id: int, verdict: str) -> None:
        """Stores a person's verdict on an answer: "good" reinforces the edges that led to it, "bad" penalises those
        that fired for it, "none" takes either back. NotFoundError, InvalidInputError."""
        self.questions.feedback(trace_id, verdict)

    # Facts ----------------------------------------------------------------------------------------

    def facts(
        self, about: str, as_of: datetime | None = None, history: bool = False, known_on: datetime | None = None
    ) -> list[Fact]:
        """What is known of an object, by any of its names ("me" is the person whose memory it is), newest first. What
        holds at `as_of` (default: now), as the memory knew it on `known_on` (default: now). `history` shows what no
        longer holds as well. NotFoundError for a name nothing mentions."""
        return self.knowledge.facts(about, as_of, history, known_on)

    def revisions(self, state: str = "open", limit: int = 50, about: str | None = None) -> list[Revision]:
        """Replacements of facts in a state (open | kept | undone | settled | all), the newest first; `about`: only
        those of an object. InvalidInputError, NotFoundError."""
        return self.knowledge.revisions(state, limit, about)

    def settle(self, revision_id: int, verdict: Verdict) -> Revision:
        """Stores a person's verdict on a revision. `keep`: the new fact is valid and the old one is history; `both`:
        both are valid, and it is not asked again; `old`: the old one is valid, the new one was never true; `open`: the
        verdict is taken back, and it is asked again. NotFoundError."""
        return self.knowledge.settle(revision_id, verdict)

    def undo(self, revision_id: int) -> Revision:
        """Everything is exactly as before the revision, and it is not made again. NotFoundError."""
        return self.knowledge.undo(revision_id)

    # The file -------------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Counts of what is live, and the file's size."""
        return self.store.read(check.count_live, self.store.path, self.embedder.name)

    def check(self, quick: bool = False) -> Check:
        """Looks for damage: the file, the full text, the vectors, and what must belong together; `quick` leaves out
        full text and vectors."""
        return check.check(self.store, quick)

    def backup(self, to: Path | str) -> int:
        """Copies the memory to a new file, verified, with its checksum next to it; returns its size in bytes.
        InvalidInputError if it exists."""
        size = self.store.backup(Path(to))
        restore.write_checksum(Path(to))
        return size

    checksum_path = staticmethod(restore.checksum_path)
    restore = staticmethod(restore.restore)

    @staticmethod
    def load(
        export: BinaryIO, path: Path, former_path: Path, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> dict[str, int]:
        """Replaces the memory at `path` by that of an export, an open file of lines; the old one moves to
        `former_path`. Returns the number of lines of each kind. Its vectors are missing: `maintenance.switch_embedder`.
        Nobody may have that memory open. `progress` gets (done, total) lines. InvalidInputError with the number of the
        line, StoreNewerError, StoreDamagedError: then nothing has changed."""
        return restore.load(export, path, former_path, progress).counts

    def rehearse(self, backup: Path) -> None:
        """Restores a backup into a folder next to the memory, asks it something, and removes it again. StoreError and
        its kinds, InvalidInputError, if it could not be restored."""
        with TemporaryDirectory(prefix=PAST, dir=self.store.path.parent) as folder:
            file = Path(folder) / "memory.db"
            restore.restore(backup, file, Path(folder) / "kept.db")
            with Store.open_read_only(file) as restored:
                restored.read(check.count_live, file, "")

    def release_caches(self) -> None:
        """Frees caches after much was read or written: pages of the file, and forms of words. These are few MB, but
        they fragment the freed memory, which therefore cannot be returned to the system."""
        self.store.release_pages()
        norm.cache_clear()
        stem.cache_clear()

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Within it, all calls of this thread that only read see the memory at one moment."""
        with self.store.reading():
            yield

    def close(self) -> None:
        """Closes the file. Nothing is lost: every write but those of answers was on the disk when its call returned."""
        self.state.pending.try_write()
        self.state.past.drop()
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make_chooser(llm: LLM | None) -> ChooseLLM | None:
    """A function that chooses that model for every question."""
    return None if llm is None else lambda local_only: llm if llm.is_local or not local_only else None
