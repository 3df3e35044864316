"""Answering without a model: the best candidates of the retrieved passages, each with its citation, or NoAnswer; and
one question from its retrieval to that answer, with the steps for its trace.

One pipeline over a list of candidates:

    sentences (candidates) -> scores (features) -> facts, and what they replaced (facts) -> confidence
    -> the best, joined by chains, in the form of the question's type (selection) -> lines with citations

Candidates with the same subject and predicate and other values become one with a history: the newest first, then the
older ones, marked "earlier".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import takewhile
from time import perf_counter

import numpy as np

from memory.answering.candidates import AnswerCandidate, drop_paraphrases, holds_at, stems
from memory.answering.chains import NO_CHAINS, ChainEvidence, join_with_chains, write_chains
from memory.answering.confidence import (
    absent_names,
    confidence,
    contains_kind,
    find_unknown_names,
    is_clear_answer,
    prefer_agreed,
)
from memory.answering.facts import asks_past, find_fact_candidates, supersede
from memory.answering.features import SCORE_DIGITS, AnswerState
from memory.answering.options import AskOptions
from memory.answering.owner import OwnerQuestion
from memory.answering.selection import (
    CLOSEST,
    FEW,
    ONE_THING,
    TIMES,
    ExtractiveAnswer,
    Line,
    cite_lines,
    contradicts,
    date_relative,
    describe_age,
    is_all_asked,
    lead_with_kind,
    make_answer,
    refuse,
    select_best,
    select_by_type,
    select_written,
    stream_lines,
)
from memory.events import NOT_PLAIN
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, Citation, Preview, Step, Token, Visit, Writing
from memory.protocols import Embedder
from memory.retrieval.question_type import asks_course, expected_types
from memory.retrieval.state import RetrievalResult
from memory.settings import AnswerSettings
from memory.stages import AnswerNote, RouteNote, Tier, step
from memory.store import relations
from memory.store.connect import Connection
from memory.text.predicates import contains_value
from memory.time.expressions import find_clock_words
from memory.time.timestamps import to_wall

NOTHING_CHANGED = "No fact that I know of changed{}."
WORD_FOR_WORD = "This is what your notes say, word for word."
_LABELLED = re.compile(r"[^:.]{1,60}: ([^:;.]{1,60}\.?)")


def extract_answer(
    conn: Connection, result: RetrievalResult, embedder: Embedder, settings: AnswerSettings
) -> ExtractiveAnswer:
    """Returns the best candidates of the retrieved episodes as an answer. `conn` must see what the retrieval saw."""
    start = perf_counter()
    if not any(character.isalnum() for character in result.question.text):
        nothing = step(AnswerNote(), 0.0)
        return ExtractiveAnswer(Answer("The question contains no word.", no_answer=True), (), nothing)
    state = AnswerState(conn, result, embedder)
    candidates = [] if result.is_of_empty_time else rank_candidates(state)
    certainty, absent = _judge(state, candidates, settings)
    listed, left_out = ((), ()) if absent else _list(state, candidates)
    if listed:
        selected, chains, is_clear, certainty = [*listed], NO_CHAINS, True, 1.0
    else:
        likely = lead_with_kind(candidates, state.features) if certainty >= settings.threshold else []
        selected, chains, is_clear = _select(state, likely, certainty, settings)
    asked = result.question.type
    asks_changed = asked.of in ("changed", "new") and not listed and not absent
    if asks_changed:
        from memory.answering.digest import select_changed

        selected = select_changed(state, selected)
    is_digest = bool(listed) and asked.of in ("all", "new")
    if asked.of != "changed" and not is_digest:  # there each line says itself what was before
        selected = show_edited(state, selected)
    selected = [date_relative(line, state.question.today) for line in selected]
    is_plain = is_clear or not selected or asked.kind == "count"  # which several lines may be the answer to
    head: tuple[Line, ...] = () if is_plain else ((f"{NOT_PLAIN} {CLOSEST}", ()),)
    lines = (*head, *cite_lines(selected), *left_out)
    answer = make_answer(lines, certainty) if lines else refuse(state, candidates, absent, settings)
    if asks_changed and not any(line.earlier for line in selected):
        answer = _deny_change(result, answer)
    elif not listed and not answer.no_answer:
        answer = replace(answer, note=describe_age(state, selected))
    note = AnswerNote(len(selected), write_chains(chains.chains, answer.citations))
    taken = step(note, (perf_counter() - start) * 1000)
    shown = {line.thesis_id for line in selected}
    rest = [] if is_digest else [line for line in candidates if line.thesis_id not in shown]
    return ExtractiveAnswer(answer, lines, taken, (*selected, *rest), is_digest, tuple(chains.chains))


def _judge(
    state: AnswerState, candidates: Sequence[AnswerCandidate], settings: AnswerSettings
) -> tuple[float, tuple[str, ...]]:
    """Returns the probability that the first candidate answers, and the names of the question that no candidate
    mentions."""
    result, asked = state.result, state.question.type
    if not candidates:
        return 0.0, ()
    if result.only_time or candidates[0].own or is_all_asked(result.question, candidates[0]):
        return 1.0, ()  # all that was written at a time, or by somebody, answers
    if absent := absent_names(state, candidates):
        return 0.0, absent
    certainty = confidence(state, candidates)
    asks_all = asked.kind == "about" or asked.of in ("changed", "new")
    if asks_all and result.named_objects:  # all facts and sentences about it answer
        certainty = max(certainty, settings.threshold)
    return certainty, ()


def _select(
    state: AnswerState, candidates: Sequence[AnswerCandidate], certainty: float, settings: AnswerSettings
) -> tuple[list[AnswerCandidate], ChainEvidence, bool]:
    """Returns the lines of an answer, their chains, and whether the first line clearly answers."""
    if not candidates:
        return [], NO_CHAINS, True
    chains = join_with_chains(state, candidates, settings.lines - 1) if settings.chains else NO_CHAINS
    lines = select_by_type(state, candidates, select_best(candidates, chains.candidates, settings))
    if not lines:
        return [], NO_CHAINS, True
    asked, best = state.question.type, chains.chains[0] if chains.chains else None
    hops = best.lines if best is not None and best.states_relations() else ()
    leads_on = any(line.episode.id == lines[0].episode.id for line in hops)
    asks_one = asked.kind in ONE_THING and asked.of not in ("changed", "new") and not leads_on
    is_sure = certainty == 1 or is_clear_answer(state, lines, candidates)
    is_clear = not asks_one or (contains_kind(lines[0], state.features) and is_sure)
    return fold(state, lines, is_clear, {line.thesis_id for line in hops if leads_on}), chains, is_clear


def _list(
    state: AnswerState, candidates: Sequence[AnswerCandidate]
) -> tuple[Sequence[AnswerCandidate], tuple[Line, ...]]:
    """Returns the lines of the digest, list or changes that a question asks for, and a line that counts the rest. None
    if the first candidate is the entry that the question names by its number."""
    if not state.question.asks_entries or (candidates and state.exact_names.are_of_line(candidates[0])):
        return (), ()
    if state.question.type.of in ("all", "new"):
        from memory.answering.digest import write_digest  # most questions ask for none of these

        lines, left_out = write_digest(state)
        rest = ((f"and {left_out:,} more note{'s' * (left_out > 1)}", ()),) if left_out else ()
        if lines:
            return lines, rest
    if state.question.type.of in ("changed", "new"):
        from memory.answering.digest import list_changes

        return list_changes(state), ()
    from memory.answering.lists import list_entries

    return list_entries(state), ()


def rank_candidates(state: AnswerState) -> list[AnswerCandidate]:
    """Returns the candidates, best first: facts about the question's objects as statements, and the sentences of the
    retrieved episodes that are valid at the question's time and not replaced. Statements and sentences are compared by
    the probability that each, of its kind, answers."""
    owner = OwnerQuestion.from_state(state) if state.question.of_owner else None
    sentences = state.read_found() if owner is None else owner.select_own(state.read_found())
    if sentences is None:
        return []
    if not state.objects and not any(line.facts for line in sentences):
        return _select_lines(state, sentences)
    facts = find_fact_candidates(state, sentences, owner)
    sentences = supersede(state, sentences)
    total = float(np.logaddexp.reduce([line.score for line in sentences])) if sentences else 0.0
    likely = (replace(line, score=line.score - total) for line in sentences)
    sentences, answering = list(likely), [candidate for _, candidate in facts]
    named = {key for mention in state.question.mentions for key in stems(mention.surface, state.question.language)}
    asked = set(state.features.stems) - named
    # A statement is as likely as the words it was extracted from, if these match more of the question than a name.
    score_of = {
        line.thesis_id: line.score for line in sentences if asked.intersection(state.features.stem_words(line.claim))
    }
    answering = [
        replace(answer, score=max(answer.score, score_of.get(answer.thesis_id, answer.score)))
        for answer in answering[:FEW]
    ]
    if not asks_course(state.question.text):
        replaced = {candidate.thesis_id: fact.replaced for fact, candidate in facts}
        line_of = {line.thesis_id: line for line in sentences}
        answering = [
            _show_fullest(state, answer, line_of.get(answer.thesis_id, answer), replaced[answer.thesis_id])
            for answer in answering
        ]
    proving = {proof.thesis_id for answer in answering for proof in (answer, *answer.also)}
    others = (line for line in sentences if line.thesis_id not in proving)
    likely_first = sorted([*answering, *others], key=lambda line: -round(line.score, SCORE_DIGITS))
    ranked = _select_lines(state, likely_first)
    return ranked if asks_past(state.question) else _lead_with_current(ranked, state.result.time_ms)


def _select_lines(state: AnswerState, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the candidates, best first, that match the names, persons and time of the question. Mail headers and the
    like are left out if a better line exists."""
    agreed = prefer_agreed(candidates, state.features)
    selected = drop_paraphrases(select_written(state, state.exact_names.select(agreed)))
    return [line for line in selected if line is selected[0] or line.place.kind != "filing"]


def _show_fullest(
    state: AnswerState, statement: AnswerCandidate, line: AnswerCandidate, replaced: Sequence[str]
) -> AnswerCandidate:
    """Returns the statement, or the line that it was extracted from, if that has more of the question: a word of it, or
    a value of the expected kind ("tyres: winter on; summer tyres are at Ahrens"), and no value that was `replaced`."""
    if statement.own or not statement.is_statement or line.earlier:
        return statement
    if any(contains_value(line.shown, old) for old in replaced):
        return statement
    features, words = state.features, TIMES.sub("", statement.shown)
    lost = features.coverage(f"{line.shown} {words}") - features.coverage(words)
    if lost < 0.2 and features.holds_expected(line.shown) <= features.holds_expected(words):
        return statement
    return replace(line, score=max(statement.score, line.score))


def _lead_with_current(candidates: Sequence[AnswerCandidate], at: int) -> list[AnswerCandidate]:
    """Moves the best candidate that states something not replaced by then (ms UTC) to the front; marks those before it
    as earlier."""
    for place, candidate in enumerate(candidates):
        facts = [fact.relation for fact in candidate.facts]
        if not facts or any(fact.superseded_by is None or holds_at(fact, at) for fact in facts):
            replaced = (replace(other, earlier=True) for other in candidates[:place])
            return [replace(candidate, earlier=False) if place else candidate, *replaced, *candidates[place + 1 :]]
    return list(candidates)


def fold(
    state: AnswerState, selected: Sequence[AnswerCandidate], is_clear: bool, hops: Collection[int]
) -> list[AnswerCandidate]:
    """Folds the lines of an answer, and marks the value of the first if it `is_clear`. If the question asks for one
    thing, the next lines are folded, except former values and `hops` (thesis ids), lines of the best chain: after a
    clear answer all but those that contradict it, else those after FEW. After a fact of the owner other
    people's lines are left out."""
    if not selected:
        return []
    first = replace(selected[0], value=find_value(state, selected[0])) if is_clear else selected[0]
    past = list(takewhile(lambda line: line.earlier, selected[1:]))
    rest = list(selected[1 + len(past) :])
    if first.own:
        return [first, *past, *(line for line in rest if line.own)]
    if state.question.type.kind in ONE_THING:
        shown = FEW - 1
        if is_clear:
            others = [line for line in rest if contradicts(line, first, state)]
            rest.sort(key=lambda line: line not in others)
            shown = min(shown, len(others))
        for place, line in enumerate(rest[shown:], shown):
            if line.thesis_id not in hops:
                rest[place] = replace(line, folded=True, also=tuple(replace(proof, folded=True) for proof in line.also))
    return [first, *past, *rest]


def show_edited(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the lines of an answer; after the first, unless an earlier value follows, what its note said before an
    edit. That is for the person alone, from a passage that is no longer evidence."""
    if not lines or any(line.earlier for line in lines):
        return [*lines]
    first, *rest = lines
    before = _find_before_edit(state, first)
    return [first, *rest] if before is None else [first, before, *rest]


def _find_before_edit(state: AnswerState, line: AnswerCandidate) -> AnswerCandidate | None:
    """Returns what the note of a line said there until its latest edit; None without one. It is not an earlier value
    yet if the line names a later day of its replacement."""
    replaced = relations.replaced_by(state.conn, [line.thesis_id, *(fact.relation.id for fact in line.facts)])
    for old, words in state.find_former(replaced, {line.episode.source.id}):
        until = f" (until {old.until or old.valid_to.date()})" if old.valid_to is not None else ""
        is_over = old.valid_to is None or to_wall(old.valid_to) <= state.result.time_ms
        return replace(words, shown=f"{words.shown}{until}", earlier=is_over)
    return None


def find_value(state: AnswerState, line: AnswerCandidate) -> str:
    """Returns the words of a line that answer the question: the value of the fact that it states, the text after a
    label, or its only date or name of the expected kind that the question does not contain. "" if unsure: a number may
    count anything."""
    text = TIMES.sub("", line.shown)
    if line.value and line.value in text:
        return line.value
    for kind in sorted(expected_types(state.question.text, state.question.language) - {"number"}):
        mentioned = state.features.mentions(text)
        values = {mention.surface for mention in mentioned if (mention.kind == "date") == (kind == "date")}
        values = {value for value in values if value in text and not state.features.is_asked_with(value)}
        if len(values) == 1:
            return values.pop()
        if kind == "date" and not values and (hour := find_clock_words(text)):
            return hour
    labelled = _LABELLED.fullmatch(text)
    return labelled[1].rstrip(".") if labelled else ""


def _deny_change(result: RetrievalResult, answer: Answer) -> Answer:
    """Returns the answer if nothing changed about the topic: the notes about it, or only that nothing changed."""
    when = result.question.when
    note = NOTHING_CHANGED.format(f" {when.words}" if when is not None else "")
    return replace(answer, note=note) if answer.citations and not answer.no_answer else Answer(note, no_answer=True)


def stream_extractive(extractive: ExtractiveAnswer, why: str = "") -> Generator[Token | Citation, None, Answer]:
    """Streams the extractive answer, line by line, with a sentence why no model wrote if one should have."""
    answer = extractive.answer
    if answer.no_answer:
        yield Token(answer.text)
        yield from answer.citations
        return replace(answer, note=why)
    yield from stream_lines(extractive.lines)
    return replace(answer, note=" ".join(filter(None, [f"{why} {WORD_FOR_WORD}" if why else "", answer.note])))


OpenConnection = Callable[[], AbstractContextManager[Connection]]
Event = Step | Visit | Preview | Writing | Token | Citation


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """The answer, its steps, its tier, and the calls and tokens of models. `result`: the retrieval with all additions;
    `expanded`: the edges that a model chose to follow."""

    answer: Answer
    steps: tuple[Step, ...]
    result: RetrievalResult
    tier: Tier = "R2"
    calls: int = 0
    usage: Usage = NOTHING
    expanded: tuple[int, ...] = ()


@dataclass
class Answering:
    """The answering of one question. `result`: the results so far. A connection of `reading` must see what the
    retrieval saw."""

    reading: OpenConnection
    result: RetrievalResult
    embedder: Embedder
    settings: AnswerSettings
    options: AskOptions
    steps: list[Step] = field(default_factory=list)
    tier: Tier = "R2"

    def run(self) -> Generator[Event, None, AskOutcome]:
        """Yields the events that lead to the answer; returns the outcome."""
        extractive = yield from self._extract()
        yield self._route()
        answer = yield from stream_extractive(extractive)
        return AskOutcome(answer, tuple(self.steps), self.result)

    def _extract(self) -> Generator[Event, None, ExtractiveAnswer]:
        with self.reading() as conn:
            extractive = extract_answer(conn, self.result, self.embedder, self.settings)
        yield self._record(extractive.step)
        return extractive

    def _route(self) -> Step:
        """Returns the step with the tier and the question's unknown names."""
        return self._record(step(RouteNote(self.tier, find_unknown_names(self.result) or None), 0.0))

    def _record(self, step: Step) -> Step:
        self.steps.append(step)
        return step
