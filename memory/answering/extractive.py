"""Answering without a model: the lines of memory that answer best, each with its citation, or NoAnswer.

A line is a sentence of a found episode. It is judged by how much of the question it covers, by its vector, by
its episode's place in the recall, and by whether it holds the kind of thing that was asked for. Lines that say
the same of the same subject with other values are one line with a past: the newest stands first, the older ones
follow, marked "earlier".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from memory.answering.candidates import Line, same_statement
from memory.answering.chains import NONE, bridge
from memory.answering.confidence import confidence
from memory.answering.fact_candidates import BEST, outdated, stated
from memory.answering.recency import newest_first
from memory.answering.scoring import Judge
from memory.answering.selection import arranged
from memory.answering.supersession import standing
from memory.nouns import Answer, Citation, Step
from memory.protocols import Embedder
from memory.retrieval.pipeline import Found
from memory.settings import AnswerSettings
from memory.store import graph
from memory.store.connect import Connection
from memory.text.languages import stem

NOTHING_READ = "Nothing has been read yet, so there is nothing to answer from."
NOTHING_THERE = "Nothing that was read lies in that time and place, so there is nothing to answer from."
NOT_FOUND = "There is nothing in your memory about this."
NOT_FOUND_THERE = "There is nothing about this in that part of your memory."


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer with the events that lead to it: pieces of its text and, after each line, its citation. `lines`: those
    it shows, then what else there was, the best first."""

    answer: Answer
    pieces: tuple[str | Citation, ...]
    step: Step
    lines: tuple[Line, ...] = ()


def extract(conn: Connection, found: Found, embedder: Embedder, settings: AnswerSettings) -> Extract:
    """The best lines of the recalled episodes as an answer. `conn` must see what the recall saw."""
    start = perf_counter()
    judge = Judge(conn, found, embedder)
    lines = _lines(conn, found, judge)
    sure = (
        1.0 if lines and found.only_time else confidence(found, lines, judge.scorer)
    )  # all that is told of a time answers
    joined, chosen = NONE, list[Line]()
    if lines and sure >= settings.threshold:
        joined = bridge(conn, found, lines, settings.lines - 1) if settings.chains else NONE
        chosen = arranged(conn, found, lines, _chosen(lines, joined.lines, settings), settings)
    answer, pieces = _composed(chosen, sure) if chosen else _refusal(found, lines)
    detail = {"lines": len(chosen), "considered": len(lines)} | joined.told(chosen)
    step = Step("answer", (perf_counter() - start) * 1000, detail)
    shown = {line.thesis_id for line in chosen}
    return Extract(answer, pieces, step, (*chosen, *(line for line in lines if line.thesis_id not in shown)))


def _lines(conn: Connection, found: Found, judge: Judge) -> list[Line]:
    """What may answer, best first: facts about the question's objects as statements, and the sentences of the recalled
    episodes that hold at the time asked of, where what they tell has not been replaced. A statement and a sentence
    compare by how likely each is to answer, of its kind."""
    lines = judge.lines({hit.episode.id: hit.episode for hit in found.recall.hits})
    objects = [*found.seeds, *(graph.owner(conn) if found.question.of_owner else ())]
    if not judge.told and not objects:
        return newest_first(lines, found, judge)
    recalled = sorted({one.relation.id for told in judge.told.values() for one in told})
    statements = stated(conn, found, objects, recalled, judge, lines)
    stand = standing(conn, lines, found.at, judge, objects)
    every = float(np.logaddexp.reduce([line.score for line in stand])) if stand else 0.0
    rest, statements = outdated([replace(line, score=line.score - every) for line in stand], statements)
    answering = [one.line for one in statements[:BEST]]
    said = {proof.thesis_id for line in answering for proof in (line, *line.also)}
    return newest_first([*answering, *(line for line in rest if line.thesis_id not in said)], found, judge)


def _chosen(lines: Sequence[Line], joined: Sequence[Line], settings: AnswerSettings) -> list[Line]:
    """At most `settings.lines` of them: the best, those that join it with the question, and the next best. Repeats are
    left out, and an older value stands behind its newer one."""
    floor = lines[0].score - settings.line_margin
    chosen: list[Line] = []
    others = [line for line in lines[1:] if line not in joined and line.score >= floor]
    for line in [lines[0], *joined, *others]:
        if len(chosen) == settings.lines:
            break
        if any(line.words == other.words for other in chosen):
            continue
        chosen.append(line)
    ordered: list[Line] = []
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


def _composed(lines: Sequence[Line], confidence: float) -> tuple[Answer, tuple[str | Citation, ...]]:
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


def _citation(n: int, line: Line) -> Citation:
    episode = line.episode
    first, last = episode.line_at(line.start), episode.line_at(line.start + len(line.quote))
    return Citation(
        n, episode.id, episode.source.uri, episode.title, line.quote, first, last,
        episode.at, episode.speaker, episode.text, line.earlier,
    )  # fmt: skip


def _refusal(found: Found, lines: Sequence[Line]) -> tuple[Answer, tuple[str | Citation, ...]]:
    if not found.n_allowed:
        why = NOTHING_THERE if found.n_alive else NOTHING_READ
        return Answer(why, no_answer=True), (why,)
    held = lines[0].covered if lines else frozenset()
    missing = tuple(term for term in found.question.terms if stem(term, found.question.language) not in held)
    why = NOT_FOUND_THERE if found.n_allowed < found.n_alive else NOT_FOUND
    return Answer(why, no_answer=True, missing=missing), (why,)
