"""Questions: passages and answers with their traces, verdicts of persons, and explanations of answers."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice

import numpy as np

from memory.answering.extractive import Answering, AskOutcome, Event, extract_answer
from memory.answering.followups import MAX_EARLIER_QUESTIONS, UNKNOWN, EarlierAnswer, resolve_followup
from memory.answering.options import AskOptions
from memory.answering.owner import name_family
from memory.edge_memory import rebuild
from memory.edge_memory.edges import ENOUGH, is_due
from memory.edge_memory.reinforce import reinforce_edges
from memory.errors import InvalidInputError, StoreError
from memory.graph.walk import enterable
from memory.nouns import Answer, AskEvent, Effort, Fact, Scope, Trace
from memory.protocols import ChooseLLM, choose_none
from memory.retrieval.analyse import analyse
from memory.retrieval.pipeline import retrieve, training_signal
from memory.retrieval.state import CachedEmbedder, QuestionState, RetrievalResult
from memory.retrieval.traversers import Strategy
from memory.services import read_by
from memory.services.state import State
from memory.store import conversations, facts, graph, queries, traces
from memory.text.mentions import norm
from memory.text.words import replace_surrogates
from memory.time.timestamps import now_ms, to_ms, to_wall, wall_of
from memory.trace import OPINIONS, AskedQuestion, Plan, StoredTrace, Why, WhyNot
from memory.views import TaskContext

FEEDBACK: dict[str, int | None] = {**OPINIONS, "none": None}  # verdicts on an answer
FIRST_QUESTIONS = 25  # after which edges are first compared
MAX_QUESTIONS_COMPARED = 2_000  # while somebody waits; with more it is left to the night
NOT_KEPT = "This question was not kept."
MAX_LOST = 3  # passages in the reply of `why_not`
LEAST_CONTEXT_TOKENS, MOST_CONTEXT_TOKENS = 100, 50_000
MAX_PROPOSED = 12  # questions that are tried, to find some that have an answer


class Questions:
    """Answers questions. Thread-safe; each question sees one snapshot of the memory."""

    def __init__(self, state: State, choose: ChooseLLM, drive: ChooseLLM) -> None:
        self._state = state
        self._store = state.store
        self._choose = choose
        self._drive = drive

    # Asking ---------------------------------------------------------------------------------------

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
        """Answers from memory, with a citation for every claim. Yields Step and Visit while it searches, then Token and
        Citation, at last one Answer. `conversation` is the chat of the question: a question like "and before that?" is
        understood with its earlier questions, or with the given `statement`; for other parameters see `retrieve`. `llm`
        chooses the model that writes (default: that of `Memory.open`); if it fails, the answer is extractive. Closing
        the iterator interrupts the model, as does `cancelled`, which another thread polls. `effort` limits how far the
        search goes if a model finds no answer in the first results; `driver` chooses the model that may use tools then
        (default: that of `Memory.open`). Without `replay` nothing is taken from earlier questions, and nothing is
        learnt from this one. `agent` names an asking agent: nothing is learnt from its question until the answer is
        judged. Raises InvalidInputError before the first event, as `retrieve`; ModelCancelledError if it was
        `cancelled` while a model wrote."""
        question, given = self._state.mask(question), (statement,) if statement else ()
        earlier, searched_before, last = self._find_earlier(conversation)
        before, last = (*searched_before, *given), UNKNOWN if given else last
        searched = resolve_followup(question, before, last, now) if before else question
        options = AskOptions(
            now, as_of, (*earlier, *given), cancelled, "" if searched == question else replace_surrogates(question),
            effort, replay, strategy, agent, llm or self._choose, driver or self._drive,
        )  # fmt: skip
        state = self._analyse(searched, now, as_of, within)
        self._choose_strategy(strategy)
        return self._answer(state, options)

    def retrieve(
        self,
        question: str,
        k: int | None = None,
        as_of: datetime | None = None,
        within: Scope | None = None,
        now: datetime | None = None,
        strategy: str = "",
        replay: bool = True,
    ) -> RetrievalResult:
        """Returns the `k` best episodes for a question (default: setting recall.k), best first, in `recall`, and all
        data for an answer. `as_of`: as if asked at that time, without later text. `within`: limits the search to a part
        of the memory. `now`: the reference time for "last week" (default: `as_of` or the clock). `strategy`: the
        traverser (default: setting recall.strategy). InvalidInputError for an empty or overlong question, a time
        without a zone, a range that ends before it begins, an unknown strategy."""
        analysed = self._analyse(self._state.mask(question), now, as_of, within)
        return self._retrieve(analysed, k or self._state.settings.recall.k, replay=replay, strategy=strategy)

    def write_context(
        self, task: str, tokens: int, as_of: datetime | None = None, within: Scope | None = None
    ) -> TaskContext:
        """Returns context for a task, of about `tokens` tokens at most. Stores and learns nothing. InvalidInputError
        for too few tokens, and as `retrieve`."""
        from memory.answering.task_context import PASSAGES, write_task_context

        if not LEAST_CONTEXT_TOKENS <= tokens <= MOST_CONTEXT_TOKENS:
            raise InvalidInputError(f"Ask for {LEAST_CONTEXT_TOKENS} to {MOST_CONTEXT_TOKENS:,} tokens.")
        result = self.retrieve(task, PASSAGES, as_of, within)
        with self._state.past.state_of(result.question).store.reading() as conn:
            return write_task_context(conn, result, self._choose_sentence_embedder(result), tokens)

    def answer_unkept(self, question: str) -> Answer:
        """Returns the extractive answer; stores and learns nothing."""
        analysed = self._analyse(question, None, None, None)
        settings = self._state.settings.answer
        result = self._retrieve(analysed, settings.episodes, True, False)
        with self._state.store.reading() as conn:
            return extract_answer(conn, result, self._choose_sentence_embedder(result), settings).answer

    def suggest(self, changed: Sequence[Fact], most: int) -> list[str]:
        """Returns questions that have one clear answer in this memory. `changed`: recently replaced facts."""
        from memory.insight.overview import propose_questions

        proposed = self._store.read(propose_questions, changed)[:MAX_PROPOSED]
        return list(islice((question for question, words in proposed if self._answers_clearly(question, words)), most))

    def _answers_clearly(self, question: str, expected: str) -> bool:
        """Whether the answer is one line with the expected words."""
        answer = self.answer_unkept(question)
        shown = [line.text for line in answer.lines if line.kind in ("answer", "text")]
        return not answer.no_answer and len(shown) == 1 and expected.casefold() in shown[0].casefold()

    def feedback(self, trace_id: int, verdict: str) -> None:
        """Stores a person's verdict on an answer: "good" reinforces the edges that led to it, "bad" penalises the
        activated ones, "none" removes the verdict. NotFoundError, InvalidInputError."""
        if verdict not in FEEDBACK:
            raise InvalidInputError(f"Unknown verdict {verdict[:40]!r}. Use good, bad or none.")
        self._wait_for(trace_id)
        with self._state.edge_transaction() as conn:
            serving = self._state.serving
            rebuild.apply_verdict(conn, serving.embedder_id, serving.embedder.dimension, trace_id, FEEDBACK[verdict])

    def take_back_verdicts(self, agent: str, since: datetime | None = None) -> int:
        """Removes an agent's verdicts on the answers to its questions, all or since a time; returns their number."""
        judged = self._store.read(traces.list_judged_by, agent, to_ms(since) or 0)
        for trace_id in judged:
            self.feedback(trace_id, "none")
        return len(judged)

    # Explaining -----------------------------------------------------------------------------------

    count_traces = read_by(traces.count)
    count_verdicts_of_agents = read_by(traces.count_judged_by)

    def traces(self, limit: int = 50, offset: int = 0) -> list[AskedQuestion]:
        """Lists traces, newest first."""
        self._state.pending.try_write()
        return self._store.read(traces.list_traces, limit, offset)

    def trace(self, id: int) -> StoredTrace:
        """Returns a complete trace. NotFoundError."""
        self._wait_for(id)
        return self._store.read(traces.get, id)

    def _wait_for(self, trace_id: int) -> None:
        """Waits until that trace is stored, if it is new."""
        if not self._store.read(traces.exists, trace_id):
            self._state.pending.write()

    def why(self, trace_id: int) -> Why:
        """Returns the evidence of a trace's answer. NotFoundError."""
        from memory.insight.explanation import explain_answer

        self._wait_for(trace_id)
        with self._store.reading() as conn:
            return explain_answer(conn, traces.get(conn, trace_id), self._state.settings.answer)

    def why_not(self, trace_id: int, words: str) -> WhyNot:
        """Explains why the answer of a trace does not contain these words: the nearest passages that do, and the stage
        that dropped each. Repeats the retrieval, so forgotten passages are not found. NotFoundError; InvalidInputError
        for no words."""
        from memory.insight.explanation import explain_absence

        traced = self.trace(trace_id)
        plan, asked = traced.plan, traced.asked
        question = plan.searched or asked.question
        now = plan.now or (None if plan.as_of else asked.at)  # the reference for "last week"
        state = self._analyse(question, now, plan.as_of, plan.within)
        result = self._retrieve(state, self._state.settings.answer.episodes, True, strategy=plan.strategy)
        with self._state.past.state_of(state).store.reading() as conn:
            gathered = [visit.node_id for visit in traced.visits if visit.stage == "collected"]
            result = result.with_collected(conn, gathered)
            answer = extract_answer(conn, result, self._choose_sentence_embedder(result), self._state.settings.answer)
            return explain_absence(conn, result, answer, traced, words, MAX_LOST)

    # ----------------------------------------------------------------------------------------------

    def _analyse(
        self, question: str, now: datetime | None, as_of: datetime | None, within: Scope | None
    ) -> QuestionState:
        names = self._state.settings.owner_names or self._state.serving.owner
        state = analyse(question, names, now, as_of=as_of, within=within)
        if not state.of_owner:
            return state
        with self._state.store.reading() as conn:
            rephrased = name_family(conn, state.text, to_wall(as_of) or wall_of(now_ms()))
        if rephrased == state.text:
            return state
        return replace(analyse(rephrased, names, now, as_of=as_of, within=within), original=state.original)

    def _choose_strategy(self, name: str) -> Strategy:
        """Returns the strategy of that name, by default the configured one; after an @ the kinds of vertex that it may
        enter, as in "beam@EO". InvalidInputError."""
        name, _, vertices = name.partition("@")
        strategy = self._state.find_strategy(name or self._state.settings.recall.strategy)
        return replace(strategy, vertices=vertices) if enterable(vertices) else strategy

    def _retrieve(
        self,
        question: QuestionState,
        k: int,
        by_type: bool = False,
        replay: bool = True,
        outline: Sequence[Sequence[str]] = (),
        strategy: str = "",
        state: State | None = None,
    ) -> RetrievalResult:
        """Retrieves on `state`, by default the one chosen for the question's time."""
        state, chosen = state or self._state.past.state_of(question), self._choose_strategy(strategy)
        replay = replay and state is self._state  # a copy of the past does not keep what its edges learn
        usual = state.settings.recall
        settings = replace(usual, vertices=chosen.vertices or usual.vertices)
        with state.reading() as (conn, serving):
            return retrieve(
                conn, serving.snapshot, serving.embedder,
                settings if serving.usable else replace(settings, lexical_weight=1.0),
                question, k, by_type=by_type, scorer=serving.scorer, strategy=chosen, outline=outline,
                remembered=state.edge_memory_of(serving.embedder_id) if replay else None,
            )  # fmt: skip

    def _answer(self, question: QuestionState, options: AskOptions) -> Iterator[AskEvent]:
        searched, within, k = question.original, question.within, self._state.settings.answer.episodes
        state = self._state.past.state_of(question)
        result = self._retrieve(question, k, True, options.replay, (), options.strategy, state)
        yield from result.recall.trace.steps
        yield from result.recall.trace.visits
        follows = searched if options.question else ""
        plan = Plan(options.as_of, within, options.now, options.effort, follows, options.strategy, options.agent)
        outcome = yield from self._answer_from(state, result, options)
        trace, answer = outcome.result.recall.trace, outcome.answer
        trace = replace(trace, question=options.question or trace.question, steps=trace.steps + outcome.steps)
        try:
            self._store.check_writable()
        except StoreError as error:  # an answer never depends on writing
            yield replace(answer, note=" ".join(filter(None, [answer.note, f"{NOT_KEPT} {error}"])))
            return
        if not self._store.read(traces.is_whole, trace, answer):
            yield Answer("The evidence of this answer has since been forgotten.", no_answer=True)
            return
        pending = self._state.pending
        id = pending.reserve_trace()
        pending.add(partial(self.keep, trace, answer, plan, outcome, id))
        try:
            yield replace(answer, trace_id=id)
        finally:
            with suppress(StoreError):  # the next reader of traces, and the night, do it, too
                pending.write()
                self.compare_edges()

    def _answer_from(
        self, state: State, result: RetrievalResult, options: AskOptions
    ) -> Generator[Event, None, AskOutcome]:
        """Answers from a retrieval, by a model if one may write."""
        embedder, settings = self._choose_sentence_embedder(result), self._state.settings.answer
        reading = state.store.reading
        if options.writer is choose_none or settings.model != "auto" or not result.n_allowed:
            return (yield from Answering(reading, result, embedder, settings, options).run())
        from memory.answering.escalation import Escalation  # half of answering, which many never need

        k = self._state.settings.answer.episodes

        def again(outline: Sequence[Sequence[str]], replay: bool) -> RetrievalResult:
            replay = replay and options.replay
            return self._retrieve(result.question, k, True, replay, outline, options.strategy, state)

        return (yield from Escalation(reading, result, embedder, settings, options, again=again).run())

    def _choose_sentence_embedder(self, result: RetrievalResult) -> CachedEmbedder:
        """Returns the embedder that compares sentences with the question: the one that found them, if it is the
        same."""
        embedder = self._state.sentence_embedder
        return result.embedder if embedder is result.embedder.embedder else CachedEmbedder(embedder)

    def _find_earlier(self, conversation: int | None) -> tuple[tuple[str, ...], tuple[str, ...], EarlierAnswer]:
        """Returns the earlier questions of a chat, newest last, as typed and as searched for; and the last answer."""
        if conversation is None:
            return (), (), UNKNOWN
        self._state.pending.try_write()
        with self._store.reading() as conn:
            turns = conversations.list_turns(conn, conversation, MAX_EARLIER_QUESTIONS)
            turns_traced = [(text, traces.get(conn, trace) if trace is not None else None) for text, trace in turns]
        typed = tuple(text for text, _ in turns_traced)
        searched = tuple((traced and traced.plan.searched) or text for text, traced in turns_traced)
        _, traced = turns_traced[-1] if turns_traced else ("", None)
        if traced is None or traced.answer is None:
            return typed, searched, UNKNOWN
        labels = tuple(visit.label for visit in traced.visits if visit.stage == "seed")
        return typed, searched, EarlierAnswer(labels, traced.answer.citations, self._is_title)

    def _is_title(self, name: str) -> bool:
        """Whether a note has that title."""
        links = self._state.serving.snapshot.graph
        nodes = self._store.read(graph.all_by_norm, norm(name))
        return any(len(links.titles.find(np.array([links.column_of[id]]))[1]) for id in nodes if id in links.column_of)

    def keep(self, trace: Trace, answer: Answer, plan: Plan, outcome: AskOutcome, id: int | None = None) -> None:
        """Stores the trace of a question and reinforces its edges, unless any of its content was forgotten in the
        meantime."""
        result, state, now = outcome.result, self._state, now_ms()
        facts_of = self._store.read(facts.quoted_facts, answer.citations)
        credit = training_signal(result, answer, outcome.expanded, facts_of)
        if plan.agent:  # an agent's question teaches nothing; a later verdict on the answer does
            credit = credit._replace(grounded=False, penalised={})
        with state.edge_lock:
            with self._store.writing() as conn:
                if not traces.is_whole(conn, trace, answer):
                    return
                cost = outcome.calls, outcome.usage, outcome.tier
                id = traces.store(conn, trace, answer, now, plan, *cost, id)
                (embedder_id, edge_memory), serving, query = state.edge_memory, state.serving, result.replay.query
                if query.any() and result.embedder.embedder is serving.embedder and embedder_id == serving.embedder_id:
                    edge_memory = reinforce_edges(conn, edge_memory, embedder_id, id, query, credit, now)
            state.edge_memory = embedder_id, edge_memory

    def compare_edges(self) -> None:
        """Recomputes the center of all questions when due; the nightly job does it if there are very many, because it
        takes seconds."""
        state = self._state
        embedder_id, edge_memory = state.edge_memory
        n = self._store.read(queries.count, embedder_id, MAX_QUESTIONS_COMPARED + 1)
        first = FIRST_QUESTIONS <= n < ENOUGH and edge_memory.geometry.threshold is None
        if n > MAX_QUESTIONS_COMPARED or not (first or is_due(n, edge_memory.geometry)):
            return
        with state.edge_transaction() as conn:
            if state.serves(embedder_id) and rebuild.recentre(conn, embedder_id, edge_memory.dimension) is None:
                rebuild.calibrate(conn, embedder_id, edge_memory.dimension)
