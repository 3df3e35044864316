"""Answering without a model: the best candidates of the retrieved passages, each with its citation, or NoAnswer.

One pipeline over a list of candidates:

    sentences (candidates) -> scores (features) -> facts and what they replaced (supersession) -> confidence
    -> the best, joined by chains, in the form of the question's type (selection) -> lines with citations

Candidates that say the same of the same subject with other values are one with a past: the newest stands first, the
older ones follow, marked "earlier". The answers to the parts of a question are merged into one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from time import perf_counter

import numpy as np

from memory.answering.candidates import AnswerCandidate
from memory.answering.chains import NO_CHAINS, join_with_chains
from memory.answering.confidence import confidence
from memory.answering.fact_candidates import MAX_FACTS_ANSWERING, find_fact_candidates
from memory.answering.features import CandidateScorer
from memory.answering.options import AskOptions
from memory.answering.selection import select_best, select_by_type
from memory.answering.supersession import prefer_newest, supersede, supersede_sentences
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, Citation, Step, Token
from memory.protocols import Embedder
from memory.retrieval.route import Assessment, assess
from memory.retrieval.state import RetrievalResult
from memory.settings import AnswerSettings
from memory.stages import AnswerNote, RouteNote, Tier, step
from memory.store import graph
from memory.store.connect import Connection
from memory.text.languages import stem

NOTHING_READ = "Nothing has been read yet, so there is nothing to answer from."
NOTHING_THERE = "Nothing that was read lies in that time and place, so there is nothing to answer from."
NOT_FOUND = "There is nothing in your memory about this."
NOT_FOUND_THERE = "There is nothing about this in that part of your memory."
WORD_FOR_WORD = "This is what your notes say, word for word."
NOTHING_ABOUT = "There is nothing in your memory about:"
MAX_LINES_PER_PART = 4  # of an answer to a part of a question

Piece = str | Citation  # of an answer's text as it is streamed: words, and behind each line its citations


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer with the events that lead to it: pieces of its text and, after each line, its citations. `candidates`:
    those that it shows, then what else there was, the best first."""

    answer: Answer
    pieces: tuple[Piece, ...]
    step: Step
    candidates: tuple[AnswerCandidate, ...] = ()


def extract_answer(
    conn: Connection, found: RetrievalResult, embedder: Embedder, settings: AnswerSettings
) -> ExtractiveAnswer:
    """The best candidates of the retrieved episodes as an answer. `conn` must see what the retrieval saw."""
    start = perf_counter()
    scorer = CandidateScorer(conn, found, embedder)
    candidates = rank_candidates(conn, found, scorer)
    is_answered = bool(candidates) and found.only_time  # all that is told of a time answers
    certainty = 1.0 if is_answered else confidence(found, candidates, scorer.features)
    chains, selected = NO_CHAINS, list[AnswerCandidate]()
    if candidates and certainty >= settings.threshold:
        if settings.chains:
            chains = join_with_chains(conn, found, candidates, settings.lines - 1)
        usual = select_best(candidates, chains.candidates, settings)
        selected = select_by_type(conn, found, candidates, usual, settings)
    answer, pieces = _compose(selected, certainty) if selected else _refuse(found, candidates)
    taken = step(chains.note(selected, len(candidates)), (perf_counter() - start) * 1000)
    shown = {one.thesis_id for one in selected}
    rest = (one for one in candidates if one.thesis_id not in shown)
    return ExtractiveAnswer(answer, pieces, taken, (*selected, *rest))


def rank_candidates(conn: Connection, found: RetrievalResult, scorer: CandidateScorer) -> list[AnswerCandidate]:
    """What may answer, best first: facts about the question's objects as statements, and the sentences of the retrieved
    episodes that hold at the time asked of, where what they state has not been replaced. A statement and a sentence
    compare by how likely each is to answer, of its kind."""
    sentences = scorer.read(hit.episode for hit in found.recall.hits)
    objects = [*found.named_objects, *(graph.owner(conn) if found.question.of_owner else ())]
    if not objects and not any(one.facts for one in sentences):
        return prefer_newest(sentences, found, scorer.features)
    facts = find_fact_candidates(conn, found, objects, scorer, sentences)
    sentences = supersede(conn, found, sentences, scorer, objects)
    total = float(np.logaddexp.reduce([one.score for one in sentences])) if sentences else 0.0
    sentences, facts = supersede_sentences([replace(one, score=one.score - total) for one in sentences], facts)
    answering = [fact.candidate for fact in facts[:MAX_FACTS_ANSWERING]]
    proving = {proof.thesis_id for one in answering for proof in (one, *one.also)}
    rest = (one for one in sentences if one.thesis_id not in proving)
    return prefer_newest([*answering, *rest], found, scorer.features)


def _compose(selected: Sequence[AnswerCandidate], confidence: float) -> tuple[Answer, tuple[Piece, ...]]:
    pieces: list[Piece] = []
    citations: list[Citation] = []
    for one in selected:
        proofs = [proof.citation(len(citations) + n) for n, proof in enumerate((one, *one.also), 1)]
        citations += proofs
        mark = "earlier: " if one.earlier else ""
        numbers = " ".join(f"[{proof.n}]" for proof in proofs)
        pieces += [f"- {mark}{one.shown} {numbers}\n", *proofs]
    return Answer(_text(pieces), tuple(citations), confidence=confidence), tuple(pieces)


def _refuse(found: RetrievalResult, candidates: Sequence[AnswerCandidate]) -> tuple[Answer, tuple[Piece, ...]]:
    if not found.n_allowed:
        why = NOTHING_THERE if found.n_alive else NOTHING_READ
        return Answer(why, no_answer=True), (why,)
    held = candidates[0].covered if candidates else frozenset()
    missing = tuple(term for term in found.question.terms if stem(term, found.question.language) not in held)
    why = NOT_FOUND_THERE if found.n_allowed < found.n_alive else NOT_FOUND
    return Answer(why, no_answer=True, missing=missing), (why,)


def _text(pieces: Sequence[Piece]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str)).rstrip()


def stream_extractive(extractive: ExtractiveAnswer, why: str = "") -> Generator[Token | Citation, None, Answer]:
    """The extractive answer, piece by piece, with a sentence why no model wrote if one should have."""
    for piece in extractive.pieces:
        yield Token(piece) if isinstance(piece, str) else piece
    note = "" if extractive.answer.no_answer else WORD_FOR_WORD
    note = " ".join(filter(None, [why, note])) if why else ""
    return replace(extractive.answer, note=note)


# Parts of a question --------------------------------------------------------------------------

_Line = tuple[str, list[Citation]]  # a line of an answer without its numbers, and what it cites
_Key = tuple[int, str]  # of a line: its passage and its words


def merge_answers(answers: Sequence[ExtractiveAnswer], parts: Sequence[str]) -> ExtractiveAnswer:
    """One answer of those to each of the questions `parts`, at least one: each under its question, each line once,
    numbered through, and said once what nothing was found about. NoAnswer only if all of them are."""
    step = _merged_step(answers)
    candidates = _in_turn([one.candidates for one in answers])
    missing = tuple(dict.fromkeys(term for one in answers for term in one.answer.missing))
    answered = [(part, one) for part, one in zip(parts, answers, strict=True) if not one.answer.no_answer]
    if not answered:
        answer = replace(answers[0].answer, missing=missing)
        return replace(answers[0], answer=answer, step=step, candidates=candidates)
    pieces: list[Piece] = []
    citations: list[Citation] = []
    numbers: dict[_Key, int] = {}  # a line -> the number that it has
    shown = [_split_lines(one.pieces)[:MAX_LINES_PER_PART] for _, one in answered]
    homes = _homes(shown)
    for place, (part, _) in enumerate(answered):
        pieces.append(f"{chr(10) if pieces else ''}{part}\n")
        pieces += _renumbered([line for line in shown[place] if homes[_key(line)] <= place], citations, numbers)
    unanswered = [part for part, one in zip(parts, answers, strict=True) if one.answer.no_answer]
    if unanswered:
        pieces.append(f"\n{NOTHING_ABOUT} {' '.join(unanswered)}\n")
    least = min(one.answer.confidence for _, one in answered)
    answer = Answer(_text(pieces), tuple(citations), missing=missing, confidence=least)
    return ExtractiveAnswer(answer, tuple(pieces), step, candidates)


def _key(line: _Line) -> _Key:
    text, cited = line
    return cited[0].episode_id if cited else 0, text.strip()


def _homes(answers: Sequence[Sequence[_Line]]) -> dict[_Key, int]:
    """Each line -> the part, by number, under which it belongs: where it stands highest, the first of several."""
    homes: dict[_Key, tuple[int, int]] = {}
    for part, lines in enumerate(answers):
        for height, line in enumerate(lines):
            homes[_key(line)] = min(homes.get(_key(line), (height, part)), (height, part))
    return {line: part for line, (_, part) in homes.items()}


def _renumbered(lines: Sequence[_Line], citations: list[Citation], numbers: dict[_Key, int]) -> list[Piece]:
    """The lines of an answer, with the numbers that follow on `citations`, to which it adds its own; one that stands
    under an earlier part is only pointed to, in its place if it is the best."""
    pieces: list[Piece] = []
    pointed: list[int] = []
    for line in lines:
        text, cited = line
        key = _key(line)
        if key in numbers:
            pointed.append(numbers[key])
            continue
        new = [replace(citation, n=len(citations) + place) for place, citation in enumerate(cited, 1)]
        if new:
            numbers[key] = new[0].n
        marks = "".join(f" [{citation.n}]" for citation in new)
        pieces += [f"{text}{marks}\n", *new]
        citations += new
    if pointed:
        above = f"- as above {' '.join(f'[{number}]' for number in dict.fromkeys(pointed))}\n"
        pieces.insert(0 if numbers[_key(lines[0])] == pointed[0] else len(pieces), above)
    return pieces


def _split_lines(pieces: Sequence[Piece]) -> list[_Line]:
    """The lines of an answer without their numbers, each with the citations that follow it."""
    lines: list[_Line] = []
    for piece in pieces:
        if isinstance(piece, str):
            lines.append((piece.rstrip(), []))
        else:
            lines[-1][1].append(piece)
    return [(text.removesuffix(" ".join(f"[{one.n}]" for one in cited)).rstrip(), cited) for text, cited in lines]


def _in_turn(answers: Sequence[Sequence[AnswerCandidate]]) -> tuple[AnswerCandidate, ...]:
    """The best candidate of each, then the second of each, and so on, each once."""
    merged: dict[int, AnswerCandidate] = {}
    for one in chain.from_iterable(zip_longest(*answers)):
        if one is not None:
            merged.setdefault(one.thesis_id, one)
    return tuple(merged.values())


def _merged_step(answers: Sequence[ExtractiveAnswer]) -> Step:
    """One step for all of them, with that of each part."""
    notes = [AnswerNote.from_detail(one.step.detail) for one in answers]
    lines, considered = sum(one.lines for one in notes), sum(one.considered for one in notes)
    whole = AnswerNote(lines, considered, parts=tuple(dict(one.step.detail) for one in answers))
    return step(whole, sum(one.step.ms for one in answers))


MAX_EPISODES_PER_PART = 5  # of each part of a question that are looked at before those of the whole

OpenConnection = Callable[[], AbstractContextManager[Connection]]
Event = Step | Token | Citation


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """The answer, the steps that led to it, the tier it was found on, and what models took for it. `found` is the
    retrieval with all that was gathered, `expanded` the edges that a model chose to follow."""

    answer: Answer
    steps: tuple[Step, ...]
    found: RetrievalResult
    tier: Tier = "R2"
    calls: int = 0
    usage: Usage = NOTHING
    expanded: tuple[int, ...] = ()


def answer_extractively(
    reading: OpenConnection,
    found: RetrievalResult,
    embedder: Embedder,
    settings: AnswerSettings,
    options: AskOptions,
    parts: Sequence[RetrievalResult] = (),
) -> Generator[Event, None, AskOutcome]:
    """Answers without a model; `parts` is what was retrieved for each of the questions that this one is made of. A
    connection must see what the retrieval saw."""
    run = Answering(reading, found, embedder, settings, options, parts)
    extractive = yield from run.extract_enough()
    answer = yield from stream_extractive(extractive)
    return AskOutcome(answer, tuple(run.steps), run.found)


class Answering:
    """One question on its way from its retrieval to an answer; `found` is what was retrieved and gathered so far."""

    def __init__(
        self,
        reading: OpenConnection,
        found: RetrievalResult,
        embedder: Embedder,
        settings: AnswerSettings,
        options: AskOptions,
        parts: Sequence[RetrievalResult],
    ) -> None:
        self.found = found
        self.steps: list[Step] = []
        self.tier: Tier = "R2"
        self._reading = reading
        self._embedder = embedder
        self._settings = settings
        self._options = options
        self._parts = parts
        self._collect_parts()

    def extract_enough(self) -> Generator[Event, None, ExtractiveAnswer]:
        """The extractive answer, from what lies around what is named as well where the retrieval is not enough."""
        extractive = yield from self._extract()
        assessment = yield from self._assess(extractive)
        if not assessment.enough and self._options.effort != "quick":
            yield from self._look_around()
            extractive = yield from self._extract()
        return extractive

    def _extract(self) -> Generator[Event, None, ExtractiveAnswer]:
        with self._reading() as conn:
            if self._parts:
                of_parts = [extract_answer(conn, part, self._embedder, self._settings) for part in self._parts]
                extractive = merge_answers(of_parts, [part.question.text for part in self._parts])
            if not self._parts or extractive.answer.no_answer:
                extractive = extract_answer(conn, self.found, self._embedder, self._settings)
        yield self._record(extractive.step)
        return extractive

    def _assess(self, extractive: ExtractiveAnswer) -> Generator[Event, None, Assessment]:
        """Whether what there is looks enough."""
        start = perf_counter()
        evidence = [hit.episode for hit in self.found.recall.hits]
        assessment = assess(self.found, evidence, extractive.answer.confidence, self._settings.threshold)
        gaps, unknown = tuple(assessment.gaps), tuple(assessment.unknown) or None
        note = RouteNote(self.tier, assessment.enough, gaps, unknown)
        yield self._record(step(note, (perf_counter() - start) * 1000))
        return assessment

    def _look_around(self) -> Generator[Event, None, None]:
        """Looks around what is named, without a model."""
        from memory.exploring.heuristic import explore_best_first  # most questions never need it

        looked = explore_best_first(self.found)
        yield from map(self._record, looked.steps)
        most = max(len(self.found.recall.hits), self._settings.episodes)
        self._collect(looked.episodes)
        self.found = self.found.top(most)

    def _collect_parts(self) -> None:
        self._collect(hit.episode.id for part in self._parts for hit in part.recall.hits[:MAX_EPISODES_PER_PART])

    def _collect(self, episodes: Iterable[int]) -> None:
        with self._reading() as conn:
            self.found = self.found.with_collected(conn, episodes)

    def _record(self, step: Step) -> Step:
        self.steps.append(step)
        return step
