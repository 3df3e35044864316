"""Questions: passages and answers with their traces, what a person says of them, and why an answer is what it is."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice

import numpy as np

from memory.answering.extractive import Answering, AskOutcome, Event, extract_answer
from memory.answering.followups import MAX_EARLIER_QUESTIONS, UNKNOWN, EarlierAnswer, resolve_followup
from memory.answering.options import ALLOWANCES, AskOptions, ModelChoice
from memory.answering.owner import name_family
from memory.edge_memory import rebuild
from memory.edge_memory.edges import ENOUGH, is_due
from memory.edge_memory.reinforce import reinforce_edges
from memory.errors import InvalidInputError, StoreError
from memory.insight.whynot import explain_absence
from memory.nouns import Answer, AskEvent, Fact, Scope, TaskContext, Trace, Visit
from memory.protocols import ChooseLLM
from memory.retrieval.analyse import analyse
from memory.retrieval.pipeline import retrieve, training_signal
from memory.retrieval.question_type import decompose
from memory.retrieval.state import CachedEmbedder, QuestionState, RetrievalResult
from memory.retrieval.traversers import Strategy
from memory.retrieval.visits import path_to
from memory.services.state import State
from memory.stages import AnswerNote, RankNote, RouteNote, last_note, notes
from memory.store import conversations, facts, graph, queries, relations, traces
from memory.store.store import read_by
from memory.text.mentions import norm
from memory.text.words import replace_surrogates
from memory.time.timestamps import now_ms, to_ms, to_wall, wall_of
from memory.trace import OPINIONS, Hop, Plan, Used, Why, WhyNot

FEEDBACK: dict[str, int | None] = {**OPINIONS, "none": None}  # what may be said of an answer
FIRST_QUESTIONS = 25  # after which edges are first compared
MAX_QUESTIONS_COMPARED = 2_000  # while somebody waits; with more it is left to the night
NOT_KEPT = "This question was not kept."
MAX_LOST = 3  # passages that `why_not` tells of
LEAST_CONTEXT_TOKENS, MOST_CONTEXT_TOKENS = 100, 50_000
MAX_PROPOSED = 12  # questions that are tried, to find some that have an answer


class Questions:
    """Any number of threads may ask at once; each sees one moment of the memory."""

    def __init__(self, state: State, choose: ChooseLLM | None, drive: ChooseLLM | None) -> None:
        self._state = state
        self._store = state.store
        self._choose = choose
        self._drive = drive

    # Asking ---------------------------------------------------------------------------------------

    def ask(
        self, question: str, within: Scope | None, models: ModelChoice, options: AskOptions, conversation: int | None
    ) -> Iterator[AskEvent]:
        """Answers a question; a bad one fails here, not when the first event is fetched."""
        question = self._state.mask(question)
        asked, searched_before, last = self._before(conversation)
        before, last = (*searched_before, *options.before), UNKNOWN if options.before else last
        searched = resolve_followup(question, before, last, options.now) if before else question
        options = replace(
            options,
            before=(*asked, *options.before),
            question="" if searched == question else replace_surrogates(question),
        )
        state = self._analyse(searched, options.now, options.as_of, within)
        self._strategy(options.strategy)
        return self._answer(state, self._models(models), options)

    def ask_again(
        self,
        trace_id: int,
        llm: ChooseLLM | None = None,
        cancelled: Callable[[], bool] | None = None,
        driver: ChooseLLM | None = None,
        replay: bool = True,
    ) -> Iterator[AskEvent]:
        """Asks the question of a trace once more, now: in the same part of the memory, as of the same time, with the
        same effort and strategy. The events are those of `ask`; the new trace knows this one as its parent.
        NotFoundError, before the first event."""
        asked, plan = (one := self.trace(trace_id)).asked, one.plan
        options = AskOptions(
            as_of=plan.as_of, cancelled=cancelled, question=asked.question if plan.searched else "",
            effort=plan.effort, strategy=plan.strategy, replay=replay,
        )  # fmt: skip
        self._strategy(options.strategy)
        models = self._models(ModelChoice(llm, driver))
        state = self._analyse(plan.searched or asked.question, None, plan.as_of, plan.within)
        return self._answer(state, models, options, parent=trace_id)

    def retrieve(
        self,
        question: str,
        k: int | None,
        as_of: datetime | None = None,
        within: Scope | None = None,
        now: datetime | None = None,
        replay: bool = True,
        strategy: str = "",
    ) -> RetrievalResult:
        """The `k` episodes that best fit a question, and all that an answer is made from."""
        asked = self._analyse(self._state.mask(question), now, as_of, within)
        return self._retrieve(asked, k or self._state.settings.recall.k, replay=replay, strategy=strategy)

    def write_context(
        self, task: str, tokens: int, as_of: datetime | None = None, within: Scope | None = None
    ) -> TaskContext:
        """What the memory holds for a task, in so many tokens, about, at most. Nothing of it is kept or learnt from.
        InvalidInputError for too few tokens, and what `retrieve` raises it for."""
        from memory.answering.task_context import PASSAGES, write_task_context

        if not LEAST_CONTEXT_TOKENS <= tokens <= MOST_CONTEXT_TOKENS:
            raise InvalidInputError(f"Ask for {LEAST_CONTEXT_TOKENS} to {MOST_CONTEXT_TOKENS:,} tokens.")
        found = self.retrieve(task, PASSAGES, as_of, within)
        with self._state.past.state_of(found.question).store.reading() as conn:
            return write_task_context(conn, found, self._sentence_embedder(found), tokens)

    def answer_unkept(self, question: str) -> Answer:
        """The answer of the lines themselves; nothing of it is kept, and nothing is learnt from it."""
        asked = self._analyse(question, None, None, None)
        found = self._retrieve(asked, self._state.settings.answer.episodes, True, False, rerank=False)
        said = self._answer_from(self._state, found, ModelChoice(), AskOptions(replay=False), ())
        while True:
            try:
                next(said)
            except StopIteration as end:
                outcome: AskOutcome = end.value
                return outcome.answer

    def suggest(self, changed: Sequence[Fact], has_plans: bool, most: int) -> list[str]:
        """Questions worth asking of this memory: each was asked, and has an answer. `changed`: facts that took the
        place of others lately; `has_plans`: whether something is planned or due."""
        from memory.insight.suggestions import propose_questions

        proposed = self._store.read(propose_questions, changed, has_plans)[:MAX_PROPOSED]
        return list(islice((one for one in proposed if not self._answers_nothing(one)), most))

    def _answers_nothing(self, question: str) -> bool:
        answer = self.answer_unkept(question)
        return answer.no_answer or not answer.citations

    def feedback(self, trace_id: int, verdict: str) -> None:
        """Reinforces or penalises the edges that led to an answer."""
        if verdict not in FEEDBACK:
            raise InvalidInputError(f"{verdict[:40]!r} is no verdict. Say good, bad or none.")
        with self._state.edge_transaction() as conn:
            serving = self._state.serving
            rebuild.apply_verdict(conn, serving.embedder_id, serving.embedder.dimension, trace_id, FEEDBACK[verdict])

    def take_back_verdicts(self, agent: str, since: datetime | None = None) -> int:
        """Takes back what an agent said of the answers to its questions, all of them or those since a time; of how
        many."""
        judged = self._store.read(traces.list_judged_by, agent, to_ms(since) or 0)
        for trace_id in judged:
            self.feedback(trace_id, "none")
        return len(judged)

    # Explaining -----------------------------------------------------------------------------------

    trace = read_by(traces.get)
    count_traces = read_by(traces.count)
    count_verdicts_of_agents = read_by(traces.count_judged_by)
    traces = read_by(traces.list_traces)

    def why(self, trace_id: int) -> Why:
        """What the answer of a trace rests on. NotFoundError."""
        with self._store.reading() as conn:
            traced = traces.get(conn, trace_id)
            cited = traced.answer.citations if traced.answer else ()
            quoted = relations.quoted_facts(conn, cited)
            told = {number: tuple(facts.by_id(conn, ids)) for number, ids in quoted.items()}
            paths = {one.episode_id: path_to(traced.trace.visits, one.episode_id) for one in cited}
            crossed = [visit.parent_edge for path in paths.values() for visit in path if visit.relation]
            told_by = {fact.id: fact for fact in facts.by_id(conn, [edge for edge in crossed if edge is not None])}
        scores = _scores(traced.trace.visits)
        places = {id: place for place, id in enumerate(sorted(scores, key=lambda id: -scores[id]), 1)}
        steps = traced.trace.steps
        ranked, answered, routed = last_note(RankNote, steps), last_note(AnswerNote, steps), [*notes(RouteNote, steps)]
        channels = (ranked.channels if ranked else None) or {}
        used = [
            Used(one, places.get(id), scores.get(id), channels.get(str(id), {}), told[one.n], _hops(paths[id], told_by))
            for one in cited for id in [one.episode_id]
        ]  # fmt: skip
        answer, allowed = traced.answer or Answer(""), ALLOWANCES[traced.plan.effort]
        chain = (answered and answered.chain) or ()
        return Why(
            traced.asked, tuple(used),
            () if traced.asked.model else tuple(chain),  # a model numbers the lines anew
            tuple(dict.fromkeys(note.reason for note in routed if note.reason)),
            tuple(dict.fromkeys(gap for note in routed for gap in note.gaps or ())),
            len(scores), traced.plan.effort, answer.confidence, answer.note, allowed.calls, allowed.tokens,
            allowed.seconds * self._state.settings.answer.answer_seconds,
        )  # fmt: skip

    def why_not(self, trace_id: int, words: str) -> WhyNot:
        """Why the answer of a trace does not hold these words: the nearest passages that do, and what dropped each. The
        question is searched for anew, so none that was forgotten. NotFoundError; InvalidInputError for no words."""
        traced = self.trace(trace_id)
        plan, asked = traced.plan, traced.asked
        question = plan.searched or asked.question
        now = plan.now or (None if plan.as_of else asked.at)  # what "last week" in the question is seen from
        state = self._analyse(question, now, plan.as_of, plan.within)
        found = self._retrieve(state, self._state.settings.answer.episodes, True, strategy=plan.strategy)
        with self._state.past.state_of(state).store.reading() as conn:
            gathered = [visit.node_id for visit in traced.trace.visits if visit.stage == "collected"]
            found = found.with_collected(conn, gathered)
            said = extract_answer(conn, found, self._sentence_embedder(found), self._state.settings.answer)
            return explain_absence(conn, found, said, traced, words, MAX_LOST)

    # ----------------------------------------------------------------------------------------------

    def _models(self, models: ModelChoice) -> ModelChoice:
        return ModelChoice(models.writer or self._choose, models.driver or self._drive)

    def _analyse(
        self, question: str, now: datetime | None, as_of: datetime | None, within: Scope | None
    ) -> QuestionState:
        names = self._state.settings.person.names or self._state.serving.owner
        found = analyse(question, names, now, as_of=as_of, within=within)
        if not found.of_owner:
            return found
        with self._state.store.reading() as conn:
            named = name_family(conn, found.text, to_wall(as_of) or wall_of(now_ms()))
        if named == found.text:
            return found
        return replace(analyse(named, names, now, as_of=as_of, within=within), original=found.original)

    def _strategy(self, name: str) -> Strategy:
        """The strategy of that name, by default that of the settings. InvalidInputError."""
        return self._state.find_strategy(name or self._state.settings.recall.strategy)

    def _retrieve(
        self,
        question: QuestionState,
        k: int,
        by_type: bool = False,
        replay: bool = True,
        outline: Sequence[Sequence[str]] = (),
        strategy: str = "",
        state: State | None = None,
        rerank: bool = True,
    ) -> RetrievalResult:
        """`state`: what answers it, where that is known already."""
        state, chosen = state or self._state.past.state_of(question), self._strategy(strategy)
        replay = replay and state is self._state  # what a copy would learn of its edges, nobody kept
        settings = replace(state.settings.recall, **chosen.recall)
        with state.reading() as (conn, serving):
            return retrieve(
                conn, serving.snapshot, serving.embedder,
                settings if serving.usable else replace(settings, lexical_weight=1.0),
                question, k, by_type=by_type, scorer=serving.scorer, strategy=chosen, outline=outline,
                remembered=state.edge_memory_of(serving.embedder_id) if replay else None,
                reranking=state.reranking if rerank else None,
            )  # fmt: skip

    def _answer(
        self, question: QuestionState, models: ModelChoice, options: AskOptions, parent: int | None = None
    ) -> Iterator[AskEvent]:
        searched, within, k = question.original, question.within, self._state.settings.answer.episodes
        split = () if options.question else decompose(searched)
        asked = [question, *(self._analyse(one, options.now, options.as_of, within) for one in split)]
        state = self._state.past.state_of(question)
        found, *of_parts = (self._retrieve(one, k, True, options.replay, (), options.strategy, state) for one in asked)
        yield from found.recall.trace.steps
        yield from found.recall.trace.visits
        follows, newest = searched if options.question else "", int(found.graph.episode_ids.max(initial=0))
        plan = Plan(
            options.as_of, within, options.now, options.effort, follows, newest, options.strategy, options.agent
        )
        options = replace(options, plan=plan)
        outcome = yield from self._answer_from(state, found, models, options, of_parts)
        trace, said = outcome.found.recall.trace.with_steps(*outcome.steps), outcome.answer
        trace = replace(trace, question=options.question or trace.question)
        try:
            trace_id = self.keep(trace, said, plan, outcome, parent)
        except StoreError as error:  # an answer never depends on writing
            yield replace(said, note=" ".join(filter(None, [said.note, f"{NOT_KEPT} {error}"])))
            return
        if trace_id is None:
            yield Answer("What this was answered from has been forgotten meanwhile.", no_answer=True)
            return
        yield replace(said, trace_id=trace_id)
        with suppress(StoreError):  # the night does it, too
            self.compare_edges()

    def _answer_from(
        self,
        state: State,
        found: RetrievalResult,
        models: ModelChoice,
        options: AskOptions,
        parts: Sequence[RetrievalResult],
    ) -> Generator[Event, None, AskOutcome]:
        """The answer from what was retrieved from a state, by a model if one may write."""
        embedder, settings = self._sentence_embedder(found), self._state.settings.answer
        reading = state.store.reading
        if models.writer is None or settings.model != "auto" or not found.n_allowed:
            return (yield from Answering(reading, found, embedder, settings, options, parts).run())
        from memory.answering.escalation import Escalation  # half of answering, which many never need

        k = self._state.settings.answer.episodes

        def again(outline: Sequence[Sequence[str]]) -> RetrievalResult:
            return self._retrieve(found.question, k, True, options.replay, outline, options.strategy, state)

        run = Escalation(
            reading, found, embedder, settings, options, parts, choose=models.writer, drive=models.driver, again=again
        )
        return (yield from run.run())

    def _sentence_embedder(self, found: RetrievalResult) -> CachedEmbedder:
        """What compares sentences with the question: the embedder that found them, if it is the same."""
        wanted = self._state.sentence_embedder
        return found.embedder if wanted is found.embedder.embedder else CachedEmbedder(wanted)

    def _before(self, conversation: int | None) -> tuple[tuple[str, ...], tuple[str, ...], EarlierAnswer]:
        """What was asked in a chat before, the newest last, and as it was searched for; and what is known of the last
        answer."""
        if conversation is None:
            return (), (), UNKNOWN
        with self._store.reading() as conn:
            turns = conversations.list_turns(conn, conversation, MAX_EARLIER_QUESTIONS)
            known = [(text, traces.get(conn, trace) if trace is not None else None) for text, trace in turns]
        asked = tuple(text for text, _ in known)
        searched = tuple((traced and traced.plan.searched) or text for text, traced in known)
        _, traced = known[-1] if known else ("", None)
        if traced is None or traced.answer is None:
            return asked, searched, UNKNOWN
        named = tuple(one.label for one in traced.trace.visits if one.stage == "seed")
        return asked, searched, EarlierAnswer(named, traced.answer.citations, self._is_title)

    def _is_title(self, name: str) -> bool:
        """Whether notes are called by a name."""
        of = self._state.serving.snapshot.graph
        nodes = self._store.read(graph.all_by_norm, norm(name))
        return any(len(of.titles.find(np.array([of.column_of[id]]))[1]) for id in nodes if id in of.column_of)

    def keep(self, trace: Trace, said: Answer, plan: Plan, outcome: AskOutcome, parent: int | None) -> int | None:
        """Keeps the trace of a question and reinforces its edges; its id. None if something that it shows has been
        forgotten meanwhile, while a model wrote or a person read: then nothing is kept."""
        found, state, now = outcome.found, self._state, now_ms()
        quoted = self._store.read(relations.quoted_facts, said.citations)
        given = training_signal(found, said, outcome.expanded, quoted)
        if plan.agent:  # who only reads teaches nothing; what is said of the answer later does
            given = given._replace(grounded=False, penalised={})
        with state.edge_lock:
            with self._store.writing() as conn:
                if not traces.is_whole(conn, trace, said):
                    return None
                id = traces.store(conn, trace, said, now, plan, outcome.calls, outcome.usage, outcome.tier, parent)
                (of, known), serving, query = state.edge_memory, state.serving, found.replay.query
                if query.any() and found.embedder.embedder is serving.embedder and of == serving.embedder_id:
                    known = reinforce_edges(conn, known, of, id, query, given, now)
            state.edge_memory = of, known
        return id

    def compare_edges(self) -> None:
        """Computes anew the mean of all questions, when it is time for that; with very many questions that takes
        seconds, and waits for the night."""
        state = self._state
        of, known = state.edge_memory
        n = self._store.read(queries.count, of, MAX_QUESTIONS_COMPARED + 1)
        first = FIRST_QUESTIONS <= n < ENOUGH and known.geometry.threshold is None
        if n > MAX_QUESTIONS_COMPARED or not (first or is_due(n, known.geometry)):
            return
        with state.edge_transaction() as conn:
            if state.serves(of) and rebuild.recentre(conn, of, known.dimension) is None:
                rebuild.calibrate(conn, of, known.dimension)


def _hops(path: Sequence[Visit], told_by: Mapping[int, Fact]) -> tuple[Hop, ...]:
    return tuple(
        Hop(
            visit.label,
            "episode" if visit.kind == "episode" else "object",
            visit.relation,
            visit.inverse,
            told_by.get(visit.parent_edge or 0),
        )
        for visit in path
    )


def _scores(visits: Sequence[Visit]) -> dict[int, float]:
    """The scores of the episodes that were shown, as shares of the best that the search gave by itself."""
    found = {visit.node_id: visit.score for visit in visits if visit.stage == "rank"}
    top = max(found.values(), default=0.0) or 1.0
    return {id: score / top for id, score in found.items()} | {
        visit.node_id: visit.score for visit in visits if visit.stage == "collected"
    }
