"""Answering without a model: the lines of memory that answer best, each with its citation, or NoAnswer.

A line is a sentence of a found episode. It is judged by how much of the question it covers, by its vector, by
its episode's place in the recall, and by whether it holds the kind of thing that was asked for. Lines that say
the same of the same subject with other values are one line with a past: the newest stands first, the older ones
follow, marked "earlier".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from time import perf_counter

import numpy as np

from memory.answering.candidates import AnswerCandidate, same_statement
from memory.answering.chains import NO_CHAINS, join_with_chains
from memory.answering.confidence import confidence
from memory.answering.fact_candidates import MAX_FACTS_ANSWERING, find_fact_candidates, supersede_sentences
from memory.answering.scoring import CandidateSource
from memory.answering.selection import select_by_type
from memory.answering.supersession import prefer_newest, supersede
from memory.nouns import Answer, Citation, Step
from memory.protocols import Embedder
from memory.retrieval.result import RetrievalResult
from memory.settings import AnswerSettings
from memory.store import graph
from memory.store.connect import Connection
from memory.text.languages import stem

NOTHING_READ = "Nothing has been read yet, so there is nothing to answer from."
NOTHING_THERE = "Nothing that was read lies in that time and place, so there is nothing to answer from."
NOT_FOUND = "There is nothing in your memory about this."
NOT_FOUND_THERE = "There is nothing about this in that part of your memory."


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer with the events that lead to it: pieces of its text and, after each line, its citation. `lines`: those
    it shows, then what else there was, the best first."""

    answer: Answer
    pieces: tuple[str | Citation, ...]
    step: Step
    lines: tuple[AnswerCandidate, ...] = ()


def extract_answer(
    conn: Connection, found: RetrievalResult, embedder: Embedder, settings: AnswerSettings
) -> ExtractiveAnswer:
    """The best lines of the recalled episodes as an answer. `conn` must see what the recall saw."""
    start = perf_counter()
    judge = CandidateSource(conn, found, embedder)
    lines = _candidates(conn, found, judge)
    sure = (
        1.0 if lines and found.only_time else confidence(found, lines, judge.scorer)
    )  # all that is told of a time answers
    joined, chosen = NO_CHAINS, list[AnswerCandidate]()
    if lines and sure >= settings.threshold:
        joined = join_with_chains(conn, found, lines, settings.lines - 1) if settings.chains else NO_CHAINS
        chosen = select_by_type(conn, found, lines, _chosen(lines, joined.lines, settings), settings)
    answer, pieces = _composed(chosen, sure) if chosen else _refusal(found, lines)
    detail = {"lines": len(chosen), "considered": len(lines)} | joined.told(chosen)
    step = Step("answer", (perf_counter() - start) * 1000, detail)
    shown = {line.thesis_id for line in chosen}
    return ExtractiveAnswer(answer, pieces, step, (*chosen, *(line for line in lines if line.thesis_id not in shown)))


def _candidates(conn: Connection, found: RetrievalResult, judge: CandidateSource) -> list[AnswerCandidate]:
    """What may answer, best first: facts about the question's objects as statements, and the sentences of the recalled
    episodes that hold at the time asked of, where what they tell has not been replaced. A statement and a sentence
    compare by how likely each is to answer, of its kind."""
    lines = judge.lines({hit.episode.id: hit.episode for hit in found.recall.hits})
    objects = [*found.named_objects, *(graph.owner(conn) if found.question.of_owner else ())]
    if not judge.told and not objects:
        return prefer_newest(lines, found, judge)
    recalled = sorted({one.relation.id for told in judge.told.values() for one in told})
    statements = find_fact_candidates(conn, found, objects, recalled, judge, lines)
    stand = supersede(conn, lines, found.time_ms, judge, objects)
    every = float(np.logaddexp.reduce([line.score for line in stand])) if stand else 0.0
    rest, statements = supersede_sentences([replace(line, score=line.score - every) for line in stand], statements)
    answering = [one.line for one in statements[:MAX_FACTS_ANSWERING]]
    said = {proof.thesis_id for line in answering for proof in (line, *line.also)}
    return prefer_newest([*answering, *(line for line in rest if line.thesis_id not in said)], found, judge)


def _chosen(
    lines: Sequence[AnswerCandidate], joined: Sequence[AnswerCandidate], settings: AnswerSettings
) -> list[AnswerCandidate]:
    """At most `settings.lines` of them: the best, those that join it with the question, and the next best. Repeats are
    left out, and an older value stands behind its newer one."""
    floor = lines[0].score - settings.line_margin
    chosen: list[AnswerCandidate] = []
    others = [line for line in lines[1:] if line not in joined and line.score >= floor]
    for line in [lines[0], *joined, *others]:
        if len(chosen) == settings.lines:
            break
        if any(line.words == other.words for other in chosen):
            continue
        chosen.append(line)
    ordered: list[AnswerCandidate] = []
    waiting = list(chosen)
    while waiting:
        first = waiting[0]
        group = [
            line for line in waiting if line is first or line.newer == first.thesis_id or same_statement(line, first)
        ]
        waiting = [line for line in waiting if line not in group]
        group.sort(key=lambda line: (line.newer is not None, -line.newness, -line.score, line.thesis_id))
        ordered.append(group[0])
        ordered.extend(replace(line, earlier=True) for line in group[1:])
    return ordered


def _composed(lines: Sequence[AnswerCandidate], confidence: float) -> tuple[Answer, tuple[str | Citation, ...]]:
    pieces: list[str | Citation] = []
    citations: list[Citation] = []
    for line in lines:
        proofs = [_citation(len(citations) + n, one) for n, one in enumerate((line, *line.also), 1)]
        citations += proofs
        mark = "earlier: " if line.earlier else ""
        numbers = " ".join(f"[{proof.n}]" for proof in proofs)
        pieces += [f"- {mark}{line.shown} {numbers}\n", *proofs]
    answer_text = "".join(piece for piece in pieces if isinstance(piece, str)).rstrip()
    return Answer(answer_text, tuple(citations), confidence=confidence), tuple(pieces)


def _citation(n: int, line: AnswerCandidate) -> Citation:
    episode = line.episode
    first, last = episode.line_at(line.start), episode.line_at(line.start + len(line.quote))
    return Citation(
        n, episode.id, episode.source.uri, episode.title, line.quote, first, last,
        episode.at, episode.speaker, episode.text, line.earlier,
    )  # fmt: skip


def _refusal(found: RetrievalResult, lines: Sequence[AnswerCandidate]) -> tuple[Answer, tuple[str | Citation, ...]]:
    if not found.n_allowed:
        why = NOTHING_THERE if found.n_alive else NOTHING_READ
        return Answer(why, no_answer=True), (why,)
    held = lines[0].covered if lines else frozenset()
    missing = tuple(term for term in found.question.terms if stem(term, found.question.language) not in held)
    why = NOT_FOUND_THERE if found.n_allowed < found.n_alive else NOT_FOUND
    return Answer(why, no_answer=True, missing=missing), (why,)


MAX_CANDIDATES_PER_PART = 4  # lines of an answer to a part at most
NOTHING_ABOUT = "There is nothing in your memory about:"
_Said = tuple[str, list[Citation]]  # a line of an answer without its numbers, and what it cites
_Key = tuple[int, str]  # of a line: its passage and its words


def merge_answers(answers: Sequence[ExtractiveAnswer], parts: Sequence[str]) -> ExtractiveAnswer:
    """One answer of those to each of `parts`, one each, at least one; NoAnswer only if all of them are."""
    step = _step(answers)
    lines = _in_turn([one.lines for one in answers])
    answered = [(part, one) for part, one in zip(parts, answers, strict=True) if not one.answer.no_answer]
    if not answered:
        missing = tuple(dict.fromkeys(term for one in answers for term in one.answer.missing))
        return replace(answers[0], answer=replace(answers[0].answer, missing=missing), step=step, lines=lines)
    pieces: list[str | Citation] = []
    citations: list[Citation] = []
    said: dict[_Key, int] = {}  # a line -> the number that it has
    shown = [_split_lines(one.pieces)[:MAX_CANDIDATES_PER_PART] for _, one in answered]
    homes = _homes(shown)
    for place, (part, _) in enumerate(answered):
        pieces.append(f"{chr(10) if pieces else ''}{part}\n")
        pieces += _renumbered([line for line in shown[place] if homes[_key(line)] <= place], citations, said)
    unanswered = [part for part, one in zip(parts, answers, strict=True) if one.answer.no_answer]
    if unanswered:
        pieces.append(f"\n{NOTHING_ABOUT} {' '.join(unanswered)}\n")
    text = "".join(piece for piece in pieces if isinstance(piece, str)).rstrip()
    missing = tuple(dict.fromkeys(term for one in answers for term in one.answer.missing))
    confidence = min(one.answer.confidence for _, one in answered)
    answer = Answer(text, tuple(citations), missing=missing, confidence=confidence)
    return ExtractiveAnswer(answer, tuple(pieces), step, lines)


def _key(line: _Said) -> _Key:
    text, cited = line
    return cited[0].episode_id if cited else 0, text.strip()


def _homes(answers: Sequence[Sequence[_Said]]) -> dict[_Key, int]:
    """Each line -> the part, by number, under which it belongs: where it stands highest, the first of several."""
    homes: dict[_Key, tuple[int, int]] = {}
    for part, lines in enumerate(answers):
        for height, line in enumerate(lines):
            homes[_key(line)] = min(homes.get(_key(line), (height, part)), (height, part))
    return {line: part for line, (_, part) in homes.items()}


def _renumbered(lines: Sequence[_Said], citations: list[Citation], said: dict[_Key, int]) -> list[str | Citation]:
    """The lines of an answer, with the numbers that follow on `citations`, to which it adds its own; one that stands
    under an earlier part is only pointed to, in its place if it is the best."""
    pieces: list[str | Citation] = []
    pointed: list[int] = []
    for line in lines:
        text, cited = line
        key = _key(line)
        if key in said:
            pointed.append(said[key])
            continue
        new = [replace(citation, n=len(citations) + place) for place, citation in enumerate(cited, 1)]
        if new:
            said[key] = new[0].n
        numbers = "".join(f" [{citation.n}]" for citation in new)
        pieces += [f"{text}{numbers}\n", *new]
        citations += new
    if pointed:
        above = f"- as above {' '.join(f'[{number}]' for number in dict.fromkeys(pointed))}\n"
        pieces.insert(0 if said[_key(lines[0])] == pointed[0] else len(pieces), above)
    return pieces


def _split_lines(pieces: Sequence[str | Citation]) -> list[_Said]:
    """The lines of an answer without their numbers, each with the citations that follow it."""
    lines: list[_Said] = []
    for piece in pieces:
        if isinstance(piece, str):
            lines.append((piece.rstrip(), []))
        else:
            lines[-1][1].append(piece)
    return [(text.removesuffix(" ".join(f"[{one.n}]" for one in cited)).rstrip(), cited) for text, cited in lines]


def _in_turn(answers: Sequence[Sequence[AnswerCandidate]]) -> tuple[AnswerCandidate, ...]:
    """The best line of each, then the second of each, and so on, each once."""
    found: dict[int, AnswerCandidate] = {}
    for line in chain.from_iterable(zip_longest(*answers)):
        if line is not None:
            found.setdefault(line.thesis_id, line)
    return tuple(found.values())


def _step(answers: Sequence[ExtractiveAnswer]) -> Step:
    """One step for all of them, with that of each part."""
    details = [dict(one.step.detail) for one in answers]
    lines = sum(int(detail.get("lines", 0)) for detail in details)
    considered = sum(int(detail.get("considered", 0)) for detail in details)
    detail = {"lines": lines, "considered": considered, "parts": details}
    return Step("answer", sum(one.step.ms for one in answers), detail)
