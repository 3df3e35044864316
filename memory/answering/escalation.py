"""One answer: the lines of memory, or what a model wrote from them, by the lowest rung of the ladder that suffices.

The lines are always found first; they are what a person gets when there is no model, when it fails in whatever way, or
when it says nothing that is proved. `memory.retrieval.route` says when to look further and how; no connection is open
while a model writes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from time import perf_counter

from memory.answering import compose
from memory.answering.budget import AGENT_ALLOWANCE, ALLOWANCES, MAX_GUIDED_CALLS, Meter, Metered
from memory.answering.candidates import AnswerCandidate
from memory.answering.compose import GroundedText, finalise, stream_extractive
from memory.answering.context import EvidencePiece, PromptContext, fit_context, gather_evidence
from memory.answering.extractive import ExtractiveAnswer, extract_answer, merge_answers
from memory.answering.options import AskOptions, ModelChoice
from memory.errors import ModelError
from memory.exploring.agent import run_agent
from memory.exploring.explorer import Explorer
from memory.exploring.guided import explore_guided
from memory.exploring.heuristic import explore_best_first
from memory.exploring.tools import Toolbox
from memory.llm import NOTHING, Allowance, LlmRequest, Usage, about_tokens
from memory.nouns import Answer, Citation, Episode, Step, Token
from memory.protocols import LLM, ChooseLLM, Embedder
from memory.retrieval.question_type import format_hint
from memory.retrieval.result import RetrievalResult
from memory.retrieval.route import Assessment, Tier, assess, fits, onward
from memory.settings import AnswerSettings
from memory.store import traces
from memory.store.connect import Connection
from memory.store.traces import Refused

Reading = Callable[[], AbstractContextManager[Connection]]
RecallAgain = Callable[[Sequence[Sequence[str]]], RetrievalResult]
"""Retrieves once more, led by the outline that a model gave."""

PROMPT_TOKENS = 400  # tokens of a request beside system, evidence and reply
LEAST_EVIDENCE_TOKENS = 300  # tokens of evidence without which a model is not asked
MAX_EPISODES_PER_PART = 5  # episodes of each part of a question that a model sees before those of the whole
MAX_EPISODES_REPLAYED, MAX_TOKENS_REPLAYED = (
    5,
    1_500,
)  # episodes that helped before, and tokens of what a model sees of them
MAX_TOKENS_DEEP = 5_000  # tokens of evidence that an answer with much effort may be written from
NOT_OF_THIS = "What helped with such a question before does not speak of what this one names."

Event = Step | Token | Citation


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """The answer, the steps that led to it, the rung it was found on, and what models took for it. `found` is the
    recall with all that was gathered, `expanded` the edges that a model chose to follow."""

    answer: Answer
    steps: tuple[Step, ...]
    found: RetrievalResult
    tier: Tier = "R2"
    calls: int = 0
    usage: Usage = NOTHING
    expanded: tuple[int, ...] = ()


def answer_question(
    reading: Reading,
    found: RetrievalResult,
    embedder: Embedder,
    settings: AnswerSettings,
    models: ModelChoice,
    wish: AskOptions,
    parts: Sequence[RetrievalResult] = (),
    again: RecallAgain | None = None,
) -> Generator[Event, None, AskOutcome]:
    """Answers from what was recalled, with as little as suffices; `parts` is what was recalled for each of the
    questions that this one is made of, `again` recalls once more where a model's sketches may help. A connection must
    see what the recall saw."""
    ladder = _Escalation(reading, found, embedder, settings, models, wish, parts, again)
    said = yield from ladder.climbed()
    return AskOutcome(said, tuple(ladder.steps), ladder.found, ladder.tier, ladder.meter.calls, ladder.meter.usage,
                   tuple(ladder.expanded))  # fmt: skip


class _Escalation:
    """One question on its way up."""

    def __init__(
        self,
        reading: Reading,
        found: RetrievalResult,
        embedder: Embedder,
        settings: AnswerSettings,
        models: ModelChoice,
        wish: AskOptions,
        parts: Sequence[RetrievalResult],
        again: RecallAgain | None,
    ) -> None:
        self.found = found
        self.steps: list[Step] = []
        self.expanded: dict[int, None] = {}
        self.tier: Tier = "R2"
        self.meter = Meter(ALLOWANCES[wish.effort], wish.cancelled)
        self._reading = reading
        self._embedder = embedder
        self._settings = settings
        asks = settings.model == "auto" and found.n_allowed > 0
        self._models = models if asks and models.writer is not None else ModelChoice()
        self._wish = wish
        self._tried: set[Tier] = set()
        self._parts = parts
        self._again = again
        self._chosen: dict[int, None] = {}  # episodes that a model chose
        self._shape = found.question.type
        self._collect_parts()

    def climbed(self) -> Generator[Event, None, Answer]:
        if self._models.writer is not None and self.found.replay.evidence and not self._parts:
            answer_question = yield from self._replayed()
            if answer_question is not None:
                return answer_question
        yield from self._consulted()
        lines = yield from self._extracted()
        assessment = yield from self._assessed(lines)
        if not assessment.enough and self._wish.effort != "quick":
            yield from self._around()
            lines = yield from self._extracted()
        if self._models.writer is None:
            return (yield from stream_extractive(lines))
        while True:
            pieces = yield from self._gathered(self.found, lines.lines)
            try:
                picked = self._picked(pieces, self._most)
            except ModelError as error:
                return (yield from stream_extractive(lines, str(error)))
            except Exception as error:  # a model of somebody else's
                return (yield from stream_extractive(lines, f"The model failed ({type(error).__name__})."))
            if picked is None:
                return (yield from stream_extractive(lines))
            llm, context = picked
            if (said := self._refused(llm, context)) is not None:
                yield self._done(Step("route", 0.0, {"tier": self.tier, "reason": said.failed}))
                return (yield from finalise(said, lines, self.found, llm.name, context))
            said = yield from self._composed(llm, context)
            if said.text or said.broken or not (yield from self._risen(said, llm, context)):
                return (yield from finalise(said, lines, self.found, llm.name, context))
            lines = yield from self._extracted()

    def _replayed(self) -> Generator[Event, None, Answer | None]:
        """The answer from what helped with such a question before, if a model finds it there."""
        start, whole = perf_counter(), self.found
        with self._reading() as conn:
            known = whole.restricted_to(conn, whole.replay.evidence[:MAX_EPISODES_REPLAYED])
            lines = extract_answer(conn, known, self._embedder, self._settings)
        evidence = [hit.episode for hit in known.recall.hits]
        same = whole.replay.earlier is not None
        asked = whole.replay.like.question if whole.replay.like is not None else ""
        may_try = same or self._wish.effort != "quick"  # in vain, it takes a second call
        enough = bool(evidence) and may_try and (same or fits(known, evidence, asked))
        detail = {"tier": "R0", "enough": enough, "gaps": [] if enough else [NOT_OF_THIS]}
        yield self._done(Step("route", (perf_counter() - start) * 1000, detail))
        pieces = (yield from self._gathered(known, ())) if enough else ()
        try:
            picked = self._picked(pieces, MAX_TOKENS_REPLAYED)
        except Exception:  # whatever is wrong with the models, it is told where all of the evidence is looked at
            picked = None
        if picked is None:
            return None
        llm, context = picked
        self.found, self.tier = known, "R0"
        said = yield from self._composed(llm, context)
        if said.broken:  # who fails now fails again; the lines are taken from all there is
            self.found = whole
            lines = yield from self._extracted()
        if said.text or said.broken:
            return (yield from finalise(said, lines, self.found, llm.name, context))
        self.found, self.tier = whole, "R2"
        why = "The model does not find the answer in" if said.no_answer else "Nothing is proved of what it wrote from"
        reason = f"{why} what helped before."
        yield self._done(Step("route", 0.0, {"tier": "R2", "reason": reason}))
        return None

    def _consulted(self) -> Generator[Event, None, None]:
        """Retrieves once more by what a model says of the question, if the strategy has a use for that."""
        consult = self.found.strategy.consult
        if consult is None or self._again is None or self._models.writer is None or self._wish.effort == "quick":
            return
        keep = Allowance(1, self._most + self._tokens_beside, 0)
        llm = _may_see_question(self._models.writer, [hit.episode for hit in self.found.recall.hits])
        if llm is not None:
            question, cancelled = self.found.question.text, self._wish.cancelled
            outline, step = consult(Metered(llm, self.meter, keep), question, self._now, cancelled)
            if outline:
                self.found = self._again(outline)
                self._collect_parts()
            yield self._done(step)

    def _around(self) -> Generator[Event, None, None]:
        """Looks around what is named, without a model."""
        looked = explore_best_first(self.found)
        yield from map(self._done, looked.steps)
        most = max(len(self.found.recall.hits), self._settings.episodes)
        self._collect(looked.episodes)
        self.found = self.found.top(most)

    def _risen(self, said: GroundedText, llm: LLM, context: PromptContext) -> Generator[Event, None, bool]:
        """Looks further after a model found no answer; whether there is anything new to answer from. What the same
        model looked for in vain before is not looked for again until something more was read."""
        if said.no_answer and any(one.model == llm.name and one.further for one in self._in_vain):
            reason = "Looking further found nothing for this question before, and nothing was read since."
            yield self._done(Step("route", 0.0, {"tier": self.tier, "reason": reason}))
            return False
        why = (
            "The model does not find the answer in it." if said.no_answer else "Nothing that the model wrote is proved."
        )
        keep = Allowance(1, about_tokens(context.text()) + self._tokens_beside, 0)
        while True:
            driver = self._models.to_drive() if self._wish.effort == "deep" else None
            rise = onward(
                self.found,
                effort=self._wish.effort,
                tried=self._tried,
                why=why,
                missing=said.missing,
                many=self._shape.kind in ("list", "count", "about"),
                has_agent=driver is not None,
                calls_left=self.meter.calls_left,
            )
            if rise is None:
                return False
            self._tried.add(rise.tier)
            self.tier = rise.tier
            yield self._done(Step("route", 0.0, {"tier": rise.tier, "reason": rise.reason}))
            before = self.found
            if rise.tier == "R3":
                yield from self._guided(llm, said.missing, keep)
            elif driver is not None:
                yield from self._driven(driver, said.missing, keep)
            if self.found is not before:
                return True

    def _guided(self, llm: LLM, missing: Sequence[str], keep: Allowance) -> Generator[Event, None, None]:
        explorer = Explorer(self._reading, self.found, only_open=not llm.is_local)
        looked = explore_guided(
            Metered(llm, self.meter, keep),
            explorer,
            self.found.question.text,
            missing=missing,
            calls=MAX_GUIDED_CALLS[self._wish.effort],
            now=self._now,
            cancelled=self._wish.cancelled,
        )
        yield from map(self._done, looked.steps)
        self._chosen |= dict.fromkeys(looked.episodes)
        self.expanded |= dict.fromkeys(edge for step in looked.steps for edge in step.detail.get("edges", ()))
        self._collect(looked.episodes)

    def _driven(self, llm: LLM, missing: Sequence[str], keep: Allowance) -> Generator[Event, None, None]:
        self.meter.allow(AGENT_ALLOWANCE)
        toolbox = Toolbox(self._reading, self.found, only_open=not llm.is_local)
        try:
            looked = run_agent(
                Metered(llm, self.meter, keep),
                toolbox,
                self.found.question.text,
                turns=AGENT_ALLOWANCE.calls,
                missing=missing,
                now=self._now,
                cancelled=self._wish.cancelled,
            )
        except Exception as error:  # a model of somebody else's
            yield self._done(Step("agent", 0.0, {"stopped": type(error).__name__, "broke": True}))
        else:
            yield from map(self._done, looked.steps)
        self._chosen |= dict.fromkeys(toolbox.collected)
        self._collect(toolbox.collected)

    @cached_property
    def _in_vain(self) -> tuple[Refused, ...]:
        """How this very question was refused before, while there was as much to look at as now."""
        if not self._wish.replay:
            return ()
        asked = self._wish.question or self.found.recall.trace.question
        with self._reading() as conn:
            return traces.refused(conn, asked, self._wish.plan)

    def _refused(self, llm: LLM, context: PromptContext) -> GroundedText | None:
        """What a model said to the very same request before, if that was that it holds no answer: it is not asked
        twice, whether or not it looked further then."""
        request = compose.fingerprint(self._request(context, fence="-"))
        for one in self._in_vain:
            if one.model == llm.name and request in one.requests:
                when = f"on {one.at.astimezone():%Y-%m-%d at %H:%M}"
                why = f"{llm.name} saw the very same {when} and found no answer in it, so it was not asked again."
                return GroundedText(no_answer=True, missing=one.missing, failed=why)
        return None

    def _collect_parts(self) -> None:
        self._collect(hit.episode.id for part in self._parts for hit in part.recall.hits[:MAX_EPISODES_PER_PART])

    def _collect(self, episodes: Iterable[int]) -> None:
        with self._reading() as conn:
            self.found = self.found.with_collected(conn, episodes)

    @property
    def _tokens_beside(self) -> int:
        """What an answer takes beside its evidence."""
        return about_tokens(compose.SYSTEM) + PROMPT_TOKENS + self._settings.answer_tokens

    @property
    def _question(self) -> str:
        """The question as the person put it."""
        return self._wish.question or self.found.question.text

    @property
    def _now(self) -> datetime:
        return self._wish.now or self._wish.as_of or datetime.now(UTC)

    def _extracted(self) -> Generator[Event, None, ExtractiveAnswer]:
        with self._reading() as conn:
            if self._parts:
                found = [extract_answer(conn, part, self._embedder, self._settings) for part in self._parts]
                lines = merge_answers(found, [part.question.text for part in self._parts])
            if not self._parts or lines.answer.no_answer:
                lines = extract_answer(conn, self.found, self._embedder, self._settings)
        yield self._done(lines.step)
        return lines

    def _assessed(self, lines: ExtractiveAnswer) -> Generator[Event, None, Assessment]:
        """Whether what there is looks enough."""
        start = perf_counter()
        evidence = [hit.episode for hit in self.found.recall.hits]
        assessment = assess(self.found, evidence, lines.answer.confidence, self._settings.threshold)
        detail: dict[str, object] = {"tier": self.tier, "enough": assessment.enough, "gaps": list(assessment.gaps)}
        if assessment.unknown:
            detail["unknown"] = list(assessment.unknown)
        yield self._done(Step("route", (perf_counter() - start) * 1000, detail))
        return assessment

    @property
    def _most(self) -> int:
        """Tokens of evidence for an answer."""
        wanted = self._settings.context_tokens
        return max(MAX_TOKENS_DEEP, wanted) if self._wish.effort == "deep" else wanted

    def _gathered(
        self, found: RetrievalResult, lines: Sequence[AnswerCandidate]
    ) -> Generator[Event, None, tuple[EvidencePiece, ...]]:
        """All that a model may get to read."""
        with self._reading() as conn:
            all_there_is = gather_evidence(conn, found, lines, self._embedder, self._chosen)
        yield self._done(all_there_is.filter)
        return all_there_is.pieces

    def _picked(self, pieces: Sequence[EvidencePiece], most: int) -> tuple[LLM, PromptContext] | None:
        """The model that answers, and the evidence that it gets, of `most` tokens; None if there is no model, or no
        room for evidence. Raises what the choice of a model raises."""
        assert self._models.writer is not None
        chosen = compose.choose_model(self._models.writer, pieces)
        if chosen is None:
            return None
        llm, kept, left_out = chosen
        room = llm.context_tokens - about_tokens(compose.SYSTEM) - PROMPT_TOKENS - 2 * self._settings.answer_tokens
        tokens = min(most, room)
        return (llm, fit_context(kept, tokens, left_out)) if tokens >= LEAST_EVIDENCE_TOKENS else None

    def _composed(self, llm: LLM, context: PromptContext) -> Generator[Event, None, GroundedText]:
        start, before = perf_counter(), (self.meter.calls, self.meter.usage.total)
        request = self._request(context)
        said = yield from compose.write_grounded(Metered(llm, self.meter), request, context, self.found.question.text)
        spent = {"calls": self.meter.calls - before[0], "tokens": self.meter.usage.total - before[1]}
        detail = {"model": llm.name} | spent | said.detail(context)
        if said.no_answer:
            detail["request"] = compose.fingerprint(self._request(context, fence="-"))
        yield self._done(Step("compose", (perf_counter() - start) * 1000, detail))
        return said

    def _request(self, context: PromptContext, fence: str = "") -> LlmRequest:
        wish = self._wish
        return compose.build_request(
            self._question,
            context,
            now=self._now,
            as_of=wish.as_of,
            before=wish.before,
            hint=format_hint(self._shape),
            max_tokens=self._settings.answer_tokens,
            cancelled=wish.cancelled,
            fence=fence,
        )

    def _done(self, step: Step) -> Step:
        self.steps.append(step)
        return step


def _may_see_question(choose: ChooseLLM, found: Sequence[Episode]) -> LLM | None:
    """The model that may see a question, by what was found for it: where some of that must stay on this machine, one
    that is there, or else one that may see the rest. None if there is none, or none can be reached."""
    may_leave = [episode.source.policy == "any" for episode in found]
    try:
        llm = choose(not all(may_leave)) if found else None
        llm = choose(False) if llm is None and any(may_leave) else llm
    except Exception:  # whatever is wrong with the models, it is told where one is to answer
        return None
    return llm if llm is None or llm.is_local or any(may_leave) else None
