"""The part of `Memory` that explains: what each question did, why its answer is what it is, and why not another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from memory.answering.budget import ALLOWANCES
from memory.answering.extractive import extract_answer
from memory.answering.options import AskOptions, ModelChoice
from memory.asking import Asking
from memory.insight.whynot import explain_absence
from memory.nouns import AskEvent, Citation, Fact, Visit
from memory.protocols import ChooseLLM
from memory.store import facts, traces
from memory.store.connect import Connection
from memory.trace import Asked, Plan, Traced, Used, Why, WhyNot

NEAREST = 3  # passages that `explain_absence` tells of


class Explaining(Asking):
    """Traces, and what can be said of an answer by its trace."""

    _write_lock: threading.RLock

    def traces(self, limit: int = 50, offset: int = 0) -> list[Asked]:
        """The questions that were asked, the newest first."""
        with self.store.reading() as conn:
            return traces.listing(conn, limit, offset)

    def trace(self, id: int) -> Traced:
        """What one question did. NotFoundError."""
        with self.store.reading() as conn:
            return traces.get(conn, id)

    def again(
        self,
        id: int,
        llm: ChooseLLM | None = None,
        cancelled: Callable[[], bool] | None = None,
        driver: ChooseLLM | None = None,
    ) -> Iterator[AskEvent]:
        """Asks the question of a trace once more, now: in the same part of the memory, as of the same time, with the
        same effort. The events are those of `ask`; the new trace knows this one as its parent. NotFoundError, before
        the first event."""
        asked, plan = (one := self.trace(id)).asked, one.plan
        wish = AskOptions(None, plan.as_of, (), cancelled, asked.question if plan.searched else "", plan.effort)
        models = ModelChoice(llm or self._choose, driver or self._drive)
        return self._answer(plan.searched or asked.question, plan.within, models, wish, parent=id)

    def why(self, id: int) -> Why:
        """What the answer of a trace rests on. NotFoundError."""
        with self.store.reading() as conn:
            traced = traces.get(conn, id)
            cited = traced.answer.citations if traced.answer else ()
            told = _told(conn, cited)
        scores = _scores(traced.trace.visits)
        places = {id: place for place, id in enumerate(sorted(scores, key=lambda id: -scores[id]), 1)}
        details = [step.detail for step in traced.trace.steps]
        channels: dict[str, dict[str, float]] = {}
        for detail in details:
            channels |= detail.get("channels", {})
        used = []
        for one in cited:
            id = one.episode_id
            used.append(Used(one, places.get(id), scores.get(id), channels.get(str(id), {}), told[one.n]))
        chains = [detail["chain"] for detail in details if "chain" in detail]
        return Why(
            traced,
            tuple(used),
            tuple(chains[-1]) if chains and not traced.asked.model else (),  # a model numbers the lines anew
            tuple(dict.fromkeys(detail["reason"] for detail in details if detail.get("reason"))),
            tuple(dict.fromkeys(gap for detail in details for gap in detail.get("gaps", ()))),
            len(scores),
            ALLOWANCES[traced.plan.effort],
        )

    def whynot(self, id: int, words: str, most: int = NEAREST) -> WhyNot:
        """Why the answer of a trace does not hold these words: the nearest passages that do, at most so many, and what
        dropped each. The question is searched for anew, so passages that were forgotten are not among them.

        NotFoundError; InvalidInputError for no words.
        """
        traced = self.trace(id)
        question = traced.plan.searched or traced.asked.question
        found = self._find(
            question,
            self._many(question),
            traced.plan.as_of,
            traced.plan.within,
            _seen_from(traced.plan, traced.asked),
        )
        with self.store.reading() as conn:
            gathered = [visit.node_id for visit in traced.trace.visits if visit.stage == "collected"]
            found = found.collecting(conn, gathered)
            said = extract_answer(conn, found, self._quick or self._serving.embedder, self.settings.answer)
            return explain_absence(conn, found, said, traced, words, most)


def _scores(visits: Sequence[Visit]) -> dict[int, float]:
    """The scores of the episodes that were shown, as shares of the best that the search gave by itself."""
    found = {visit.node_id: visit.score for visit in visits if visit.stage == "rank"}
    top = max(found.values(), default=0.0) or 1.0
    return {id: score / top for id, score in found.items()} | {
        visit.node_id: visit.score for visit in visits if visit.stage == "collected"
    }


def _seen_from(plan: Plan, asked: Asked) -> datetime | None:
    """What "last week" in the question is seen from."""
    return plan.now or (None if plan.as_of else asked.at)


def _told(conn: Connection, cited: Sequence[Citation]) -> dict[int, tuple[Fact, ...]]:
    """For each citation, by its number, the facts that are read out of the words it quotes."""
    ids = facts.quoted_facts(conn, cited)
    return {one.n: tuple(facts.by_id(conn, ids[one.n])) for one in cited}
