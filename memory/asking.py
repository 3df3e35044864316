"""The part of `Memory` that is asked: recall, and the answer with its trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from memory.answering.escalation import RecallAgain, answer_question
from memory.answering.options import MAX_EARLIER_QUESTIONS, AskOptions, ModelChoice, resolve_followup
from memory.nouns import Answer, AskEvent, Effort, Recall, Scope
from memory.protocols import ChooseLLM, Embedder
from memory.remembering import Remembering
from memory.retrieval import pipeline, question_type, scope
from memory.retrieval.analyse import analyse
from memory.retrieval.decompose import parts
from memory.retrieval.sketching import TRAVERSER, Sketch
from memory.serving import Serving
from memory.settings import MemorySettings
from memory.store import conversations, vectors
from memory.store.connect import Connection
from memory.store.store import Store
from memory.text.unicode import replace_surrogates
from memory.trace import Plan


class Asking(Remembering):
    """Questions. Any number of threads may ask at once; each sees one moment of the memory."""

    store: Store
    settings: MemorySettings
    _serving: Serving
    _quick: Embedder | None
    _choose: ChooseLLM | None
    _drive: ChooseLLM | None

    def recall(
        self,
        question: str,
        k: int | None = None,
        as_of: datetime | None = None,
        within: Scope | None = None,
        now: datetime | None = None,
    ) -> Recall:
        """The `k` episodes that best fit a question (default: setting recall.k), best first.

        `as_of`: as if asked at that time, without what was written later. `within`: only in a part of the memory.
        `now`: what "last week" in the question is seen from; by default `as_of` or the clock's time.
        Raises InvalidInputError for an empty or overlong question, a time without a zone, a range that ends early.
        """
        return self._find(question, k or self.settings.recall.k, as_of, within, now).recall

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
    ) -> Iterator[AskEvent]:
        """Answers from memory, with a citation under every claim. Events: Step and Visit while it searches, then
        Token and Citation, at last one Answer. `conversation` is the chat the question belongs to; the rest is as for
        `recall`: a question like "and before that?" is understood by those that were asked there before.

        `llm` chooses the model that writes (default: that of `open`); whatever it does, an answer comes, of the lines
        themselves if need be. Closing the iterator ends its call, and so does `cancelled`, which is asked a few times a
        second from another thread. `effort` is how far the question may go where a model finds no answer in what was
        found first; `driver` chooses the model that may drive tools then (default: that of `open`).
        Without `replay` nothing is taken from earlier questions, and nothing is learnt from this one.

        Raises InvalidInputError, before the first event, for what `recall` raises it for; ModelCancelledError, later,
        for a question that was `cancelled` while a model wrote.
        """
        analyse(question, now=now)  # a bad question fails here, not when the first event is fetched
        scope.checked(as_of, within, now)
        before = self._before(conversation)
        models = ModelChoice(llm or self._choose, driver or self._drive)
        return self._answer(
            question, within, models, AskOptions(now, as_of, before, cancelled, effort=effort, replay=replay)
        )

    def _answer(
        self, question: str, within: Scope | None, models: ModelChoice, wish: AskOptions, parent: int | None = None
    ) -> Iterator[AskEvent]:
        searched = resolve_followup(question, wish.before)
        if searched != question:
            wish = replace(wish, question=replace_surrogates(question))
        split = () if wish.question else parts(searched)
        found, *of_parts = (
            self._find(one, self._many(one), wish.as_of, within, wish.now, wish.replay) for one in (searched, *split)
        )
        yield from found.recall.trace.steps
        yield from found.recall.trace.visits
        embedder = self._quick or self._serving.embedder
        follows, newest = searched if wish.question else "", int(found.graph.episode_ids.max(initial=0))
        plan = Plan(wish.as_of, within, wish.now, wish.effort, follows, newest)
        wish = replace(wish, plan=plan)
        again = self._sketching(searched, within, wish)
        outcome = yield from answer_question(
            self.store.reading, found, embedder, self.settings.answer, models, wish, of_parts, again
        )
        trace, said = outcome.found.recall.trace.extended(*outcome.steps), outcome.answer
        trace = replace(trace, question=wish.question or trace.question)
        trace_id = self._keep(trace, said, plan, outcome, parent)
        if trace_id is None:
            yield Answer("What this was answered from has been forgotten meanwhile.", no_answer=True)
            return
        yield said.traced(trace_id)
        self._settle()

    def _sketching(self, question: str, within: Scope | None, wish: AskOptions) -> RecallAgain | None:
        """Finds what was found for a question once more, led by what a model sketched; None where nothing is led so."""
        if TRAVERSER not in self.settings.recall.strategy.split("+"):
            return None

        def again(sketches: Sequence[Sketch]) -> pipeline.Found:
            return self._find(question, self._many(question), wish.as_of, within, wish.now, wish.replay, sketches)

        return again

    def _many(self, question: str) -> int:
        """How many episodes an answer to it is made from."""
        return question_type.episodes(question_type.shape(analyse(question)), self.settings.answer.episodes)

    def _before(self, conversation: int | None) -> tuple[str, ...]:
        """What was asked in a chat before, the newest last."""
        if conversation is None:
            return ()
        with self.store.reading() as conn:
            asked = conversations.asked(conn, conversation, MAX_EARLIER_QUESTIONS)
        return tuple(asked)

    def _find(
        self,
        question: str,
        k: int,
        as_of: datetime | None,
        within: Scope | None,
        now: datetime | None,
        replay: bool = True,
        sketches: Sequence[Sketch] = (),
    ) -> pipeline.Found:
        scope.checked(as_of, within, now)
        with self._asking() as (conn, serving):
            settings = self.settings.recall if serving.usable else replace(self.settings.recall, lexical_weight=1.0)
            return pipeline.recall(
                conn, serving.snapshot, serving.embedder, settings, question, k, as_of, within,
                self.settings.person.names or serving.owner, now,
                self._remembered_by(serving.embedder_id) if replay else None, serving.scorer, sketches,
            )  # fmt: skip

    @contextmanager
    def _asking(self) -> Iterator[tuple[Connection, Serving]]:
        """A reading connection, and what goes with it: an embedder whose vectors that connection sees."""
        while True:
            serving = self._serving
            with self.store.reading() as conn:
                vectors.active(conn)  # from here on it sees one moment
                if serving.embedder_id == self._serving.embedder_id:  # nobody has dropped its vectors before
                    yield conn, serving
                    return
