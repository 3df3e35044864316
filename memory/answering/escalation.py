"""Escalation: a model answers from the evidence, and where that holds no answer, looks for more of it, tier by tier.

The extractive answer is always found first; it is the answer when a model fails in any way or writes only claims that
may not be shown. No connection is open while a model writes. The tiers:

    R0  replay: what such a question was answered from before; a model sees that and the facts that belong to it
    R2  recall: text, graph and what both say together; always run, milliseconds
    R3  guided: a model picks from numbered options where to look next; with much effort only, as R4
    R4  agent: a model drives the tools of memory; only one that has been graded for it

With the usual effort the model gets one wider look at what was found: on six lives that answers as much as a model that
says where to look next, with two calls for what nothing answers instead of three. Where no line answers either, it gets
both looks in one call.

A model is asked for more only where it says itself that something is missing, or nothing of what it wrote is proved.
Every step up has a reason, which the trace records.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from memory.answering import compose
from memory.answering.candidates import AnswerCandidate
from memory.answering.compose import GroundedText, finalise
from memory.answering.context import (
    MAX_PASSAGES_MORE,
    MAX_WHOLE,
    EvidencePiece,
    PromptContext,
    fit_context,
    gather_evidence,
)
from memory.answering.extractive import Answering, AskOutcome, Event, extract_answer, stream_extractive
from memory.answering.options import AGENT_ALLOWANCE, ALLOWANCES, MAX_GUIDED_CALLS, Meter, Metered
from memory.answering.selection import ExtractiveAnswer
from memory.edge_memory.replay import agrees
from memory.errors import ModelError
from memory.exploring.agent import Agent
from memory.exploring.guided import Explorer, explore_guided
from memory.exploring.tools import Toolbox
from memory.llm import Allowance, LlmRequest, about_tokens
from memory.nouns import Answer, Citation, Episode, Preview, Token, Visit
from memory.protocols import LLM, ChooseLLM
from memory.retrieval.question_type import DIGEST_HINT, format_hint
from memory.retrieval.state import RetrievalResult
from memory.stages import AgentNote, GuidedNote, RouteNote, Tier, notes, step
from memory.store import jobs
from memory.store.queries import PastQuestion
from memory.text.quotes import make_fence

RetrieveAgain = Callable[[Sequence[Sequence[str]], bool], RetrievalResult]
"""Retrieves once more, led by the outline that a model gave, and by edge memory or not."""

WHOLE = ("list", "count", "about", "when_changed")  # kinds of questions whose answer is more than one passage
PROMPT_TOKENS = 400  # of a request without system, evidence and reply
MAX_TOKENS_MORE = 1_500  # of new evidence in a second look
MAX_TOKENS_DEEP = 6_000  # of evidence with much effort


@dataclass(kw_only=True)
class Escalation(Answering):
    """Answers one question, from tier to tier, with as little as suffices. `again` retrieves once more if a model's
    outline may help. `chosen`: the episodes that a model chose; `expanded`: the edges that it followed. Of a digest
    (`is_digest`) a model sees the lines alone. `shown`: the model that found no answer, and what it was shown."""

    again: RetrieveAgain
    meter: Meter = field(init=False)
    tried: set[Tier] = field(default_factory=set)
    shown: tuple[str, PromptContext] | None = None
    fence: str = field(default_factory=make_fence)
    chosen: dict[int, None] = field(default_factory=dict)
    expanded: dict[int, None] = field(default_factory=dict)
    has_looked: bool = False
    is_digest: bool = False

    def __post_init__(self) -> None:
        allowed = ALLOWANCES[self.options.effort]
        seconds = allowed.seconds * self.settings.answer_seconds
        self.meter = Meter(replace(allowed, seconds=seconds), self.options.cancelled)

    def run(self) -> Generator[Event, None, AskOutcome]:
        """Yields the events and returns the answer by the lowest tier that suffices."""
        answer = yield from self._escalate()
        taken = self.meter
        return AskOutcome(
            answer, tuple(self.steps), self.result, self.tier, taken.calls, taken.usage, tuple(self.expanded)
        )

    def _escalate(self) -> Generator[Event, None, Answer]:
        if (past := self.result.replay.past) is not None:
            answer = yield from self._answer_from_replay(past)
            if answer is not None:
                return answer
        yield from self._consult()
        extractive = yield from self._extract()
        yield self._route()
        refused: tuple[GroundedText, str, PromptContext] | None = None
        while True:
            self.is_digest = extractive.is_digest
            pieces = self._gather(self.result, extractive.candidates)
            picked, failed = None, ""
            try:
                picked = self._pick_model(pieces)
                is_hard = self.result.replay.in_vain or extractive.answer.no_answer
                if picked is not None and is_hard and self.options.effort == "normal":
                    picked = self._look_twice(*picked, extractive)
            except ModelError as error:
                failed = compose.as_sentence(error)
            except Exception:  # of a plug-in
                failed = "The model failed. Use another: pal models"
            if picked is None and refused is not None:  # it may see no other evidence
                text, name, before = refused
                return (yield from finalise(text, extractive, self.result, name, before))
            if picked is None:
                return (yield from stream_extractive(extractive, failed))
            llm, context = picked
            text = yield from self._compose(llm, context, extractive)
            if text.text or text.broken or not (yield from self._look_further(text, llm, context)):
                return (yield from finalise(text, extractive, self.result, llm.name, context))
            refused = (text, llm.name, context) if text.no_answer else None
            extractive = yield from self._extract()

    def _answer_from_replay(self, past: PastQuestion) -> Generator[Event, None, Answer | None]:
        """Returns the answer from the earlier evidence of this question, or of a paraphrase, if a model finds an answer
        there that agrees with the earlier one."""
        start, whole = perf_counter(), self.result
        with self.reading() as conn:
            known = whole.restricted_to(conn, past.cited[:5])
            extractive = extract_answer(conn, known, self.embedder, self.settings)
        if extractive.is_digest:  # the earlier evidence is only a part of it
            return None
        evidence = {hit.episode.id for hit in known.recall.hits}
        enough = bool(evidence) and (
            whole.replay.earlier is not None
            # in vain it takes a second call, and a list or a course of events is more than what helped before
            or (self.options.effort != "quick" and whole.question.type.kind not in WHOLE)
        )
        yield self._record(step(RouteNote("R0", enough=enough), (perf_counter() - start) * 1000))
        pieces = self._gather(known, ()) if enough else ()
        try:
            picked = self._pick_model(pieces, 1_500)  # tokens
        except Exception:  # reported later, when all of the evidence is used
            picked = None
        if picked is None:
            return None
        llm, context = picked
        self.result, self.tier = known, "R0"
        written: list[Token | Citation] = []  # shown only if the answer is kept
        text = yield from _withhold(self._compose(llm, context, extractive), written)
        if text.broken:  # who fails now fails again; the extractive answer is taken from all there is
            self.result = whole
            extractive = yield from self._extract()
        differs = bool(text.text) and not agrees(text.text, past, whole.question.text)
        if text.broken or (text.text and not differs):
            yield from written
            return (yield from finalise(text, extractive, self.result, llm.name, context))
        self.tier = "R2"  # what was answered then or now is wrong: as if nothing of it were remembered
        self.result = replace(self.again((), False), replay=whole.replay)
        why = "The model does not find the answer in" if text.no_answer else "Nothing is proved of what it wrote from"
        reason = "It was answered otherwise before." if differs else f"{why} what helped before."
        yield self._record(step(RouteNote("R2", reason=reason), 0.0))
        return None

    def _consult(self) -> Generator[Event, None, None]:
        """Retrieves again with a model's outline of the question, if the strategy supports that."""
        consult = self.result.strategy.consult
        if consult is None or self.options.effort == "quick":
            return
        reserved = Allowance(1, self.settings.context_tokens + self._tokens_beside, 0)
        llm = _may_see_question(self.options.writer, [hit.episode for hit in self.result.recall.hits])
        if llm is not None:
            question, cancelled = self._heard, self.options.cancelled
            outline, step = consult(Metered(llm, self.meter, reserved), question, self.options.today, cancelled)
            if outline:
                self.result = self.again(outline, True)
            yield self._record(step)

    def _look_further(self, text: GroundedText, llm: LLM, context: PromptContext) -> Generator[Event, None, bool]:
        """Searches further after a model found no answer; returns whether there is new evidence."""
        unfound, unproved = "The model does not find the answer in it.", "Nothing that the model wrote is proved."
        why = unfound if text.no_answer else unproved
        if self.options.effort == "quick" or (self.options.effort == "normal" and self.has_looked):
            return False
        self.has_looked = True
        if self.options.effort == "normal":  # a second, wider look finds as much as a model that says where to look
            was_cut = any(hit.episode.id not in context.whole for hit in self.result.recall.hits)
            self.shown = llm.name, context
            yield self._record(step(RouteNote(self.tier, reason=why), 0.0))
            return self._widen() or was_cut
        reserved = Allowance(1, MAX_TOKENS_DEEP + self._tokens_beside, 0)
        while True:
            driver = self._pick_driver()
            if "R3" not in self.tried and self.meter.calls_left >= 2:  # one to look, one to answer
                self.tier = "R3"
            elif driver is not None and "R4" not in self.tried:
                self.tier = "R4"
            else:
                return False
            self.tried.add(self.tier)
            yield self._record(step(RouteNote(self.tier, reason=why), 0.0))
            before = self.result
            if self.tier == "R3":
                yield from self._explore_guided(llm, text.missing, reserved)
            elif driver is not None:
                yield from self._run_agent(driver, text.missing, reserved)
            if driver is None or self.tier == "R4":  # nobody looks further
                self._widen()
            if self.result is not before:
                return True

    def _widen(self) -> bool:
        """Adds more of the first results, which contain most missed evidence; returns whether there is more."""
        before = self.result
        with self.reading() as conn:
            self.result = before.widen(conn, 45)  # episodes
        return self.result is not before

    def _look_twice(self, llm: LLM, context: PromptContext, extractive: ExtractiveAnswer) -> tuple[LLM, PromptContext]:
        """Both looks in one prompt, if it has room for them: for a question that was asked in vain before, or that no
        line answers."""
        if self.has_looked:
            return llm, context
        before, self.shown = self.result, (llm.name, context)
        self._widen()
        more = self._pick_model(self._gather(self.result, extractive.candidates))
        pieces = (*context.pieces, *(more[1].pieces if more is not None else ()))
        both = replace(context, pieces=tuple(dict.fromkeys(pieces)))
        self.has_looked = about_tokens(both.text()) <= self._measure_room(llm)
        if not self.has_looked:
            self.result, self.shown = before, None
        return llm, both if self.has_looked else context

    def _explore_guided(self, llm: LLM, missing: Sequence[str], reserved: Allowance) -> Generator[Event, None, None]:
        explorer = Explorer(self.reading, self.result, only_open=not llm.is_local)
        looked = explore_guided(
            Metered(llm, self.meter, reserved),
            explorer,
            self._heard,
            missing=missing,
            calls=MAX_GUIDED_CALLS,
            now=self.options.today,
            cancelled=self.options.cancelled,
        )
        yield from map(self._record, looked.steps)
        self.chosen |= dict.fromkeys(looked.episodes)
        self.expanded |= dict.fromkeys(edge for note in notes(GuidedNote, looked.steps) for edge in note.edges or ())
        yield from self._collect(looked.episodes)

    def _collect(self, episodes: Iterable[int]) -> tuple[Visit, ...]:
        """Adds episodes to the retrieval; returns the new ones as visits."""
        before = len(self.result.recall.trace.visits)
        with self.reading() as conn:
            self.result = self.result.with_collected(conn, episodes)
        return self.result.recall.trace.visits[before:]

    def _pick_driver(self) -> LLM | None:
        """Returns the model that may use tools, preferably on this machine; None if none can be reached."""
        try:
            return self.options.driver(True) or self.options.driver(False)
        except Exception:  # whatever is wrong with it, the question goes on without
            return None

    def _run_agent(self, llm: LLM, missing: Sequence[str], reserved: Allowance) -> Generator[Event, None, None]:
        self.meter.allow(AGENT_ALLOWANCE)
        toolbox = Toolbox(self.reading, self.result, only_open=not llm.is_local)
        try:
            looked = Agent(
                Metered(llm, self.meter, reserved),
                toolbox,
                self._heard,
                turns=AGENT_ALLOWANCE.calls,
                missing=missing,
                now=self.options.today,
                cancelled=self.options.cancelled,
            ).run()
        except Exception as error:  # of a plug-in's model
            yield self._record(step(AgentNote(stopped=type(error).__name__), 0.0))
        else:
            yield from map(self._record, looked.steps)
        self.chosen |= dict.fromkeys(toolbox.collected)
        yield from self._collect(toolbox.collected)

    @property
    def _heard(self) -> str:
        """Returns the question as a model may read it, without a name that only an answer contained, which may be
        local."""
        asked = self.options.question
        return " ".join((*self.options.before[-1:], asked)) if asked else self.result.question.text

    @property
    def _tokens_beside(self) -> int:
        """Returns the tokens of an answer's request without its evidence."""
        return about_tokens(compose.SYSTEM) + PROMPT_TOKENS + self.settings.answer_tokens

    @property
    def _asks_many(self) -> bool:
        """Whether the answer is a list of things in many passages."""
        return self.is_digest or self.result.question.type.kind in ("list", "count", "about")

    @property
    def _max_evidence_tokens(self) -> int:
        """Returns the approximate limit of evidence tokens for the current request."""
        first = self.settings.context_tokens
        if self.options.effort == "deep":
            return max(MAX_TOKENS_DEEP, first)
        return max(2_000, first) if self._asks_many else first  # of evidence for many things

    def _gather(self, result: RetrievalResult, lines: Sequence[AnswerCandidate]) -> tuple[EvidencePiece, ...]:
        """Returns all evidence that a model may get."""
        is_second = self.shown is not None
        return gather_evidence(result, lines, chosen=self.chosen, only_lines=self.is_digest, is_second=is_second)

    def _pick_model(self, pieces: Sequence[EvidencePiece], most: int | None = None) -> tuple[LLM, PromptContext] | None:
        """Returns the model that answers, and its evidence, of `most` tokens; None without a model or room for
        evidence. Raises like `choose_model`."""
        chosen = compose.choose_model(self.options.writer, pieces)
        if chosen is None:
            return None
        llm, kept, left_out = chosen
        with self.reading() as conn:
            known = jobs.list_grades(conn).get(llm.name)
        if known is not None:  # a slow model gets the time that its probe took, for both looks
            self.meter.allow_seconds(2 * known.question_s * ALLOWANCES[self.options.effort].seconds)
        room = self._measure_room(llm)
        if self.shown and self.shown[0] == llm.name:
            context = self.shown[1].look_further(kept, min(MAX_TOKENS_MORE, room), left_out)
            return (llm, context) if context is not None else None
        tokens = min(most or self._max_evidence_tokens, room)
        if tokens < 300:  # without which a model is not asked
            return None
        is_wide = most is not None or self.options.effort == "deep"
        most_whole = MAX_PASSAGES_MORE if is_wide else 2 * MAX_WHOLE if self._asks_many else MAX_WHOLE
        return llm, fit_context(kept, tokens, left_out, most_whole)

    def _measure_room(self, llm: LLM) -> int:
        """Returns the tokens of evidence for which the model has room."""
        return llm.context_tokens - about_tokens(compose.SYSTEM) - PROMPT_TOKENS - 2 * self.settings.answer_tokens

    def _compose(
        self, llm: LLM, context: PromptContext, meanwhile: ExtractiveAnswer
    ) -> Generator[Event, None, GroundedText]:
        """Streams the model's text, and `meanwhile` the extractive lines."""
        answer = meanwhile.answer
        yield Preview("", (), llm.name) if answer.no_answer else Preview(answer.text, answer.citations, llm.name)
        start, before = perf_counter(), (self.meter.calls, self.meter.usage.total)
        request = self._request(context)
        asked = self.result.question
        heard = " ".join((asked.text, *asked.person_names))  # the person may be called by their name
        text = yield from compose.write_grounded(Metered(llm, self.meter), request, context, heard)
        calls, tokens = self.meter.calls - before[0], self.meter.usage.total - before[1]
        note = text.note(context, llm.name, calls, tokens)
        yield self._record(step(note, (perf_counter() - start) * 1000))
        return text

    def _request(self, context: PromptContext) -> LlmRequest:
        question = self.options.question or self.result.question.text
        hint = DIGEST_HINT if self.is_digest else format_hint(self.result.question.type)
        most = self.settings.answer_tokens
        return compose.build_request(question, context, self.options, hint=hint, max_tokens=most, fence=self.fence)


def _withhold(
    events: Generator[Event, None, GroundedText], withheld: list[Token | Citation]
) -> Generator[Event, None, GroundedText]:
    """Passes on the events of an answer, but adds its text and citations to `withheld`."""
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            text: GroundedText = end.value
            return text
        if isinstance(event, Token | Citation):
            withheld.append(event)
        else:
            yield event


def _may_see_question(choose: ChooseLLM, episodes: Sequence[Episode]) -> LLM | None:
    """Returns the model that may see a question, by the retrieved episodes: if some are local, a model on this machine,
    or else one that may see the rest. None without one."""
    may_leave = [episode.source.policy == "any" for episode in episodes]
    try:
        llm = choose(not all(may_leave)) if episodes else None
        llm = choose(False) if llm is None and any(may_leave) else llm
    except Exception:  # reported later, when a model has to answer
        return None
    return llm if llm is None or llm.is_local or any(may_leave) else None
