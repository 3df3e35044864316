"""Which lines still stand: a line that tells what was replaced gives its place to the line that tells what replaced it.

Where the memory knows the facts that a sentence tells, the sentence is read with their words as well: a fact names what
"she" or "it" was. If the fact that the question is about no longer holds at the time asked, the one that took its place
answers, and the old line stands behind it, marked "earlier".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from memory.answering.candidates import AnswerCandidate, same_kind, stems
from memory.answering.scoring import CandidateSource, SentenceFact
from memory.graph.arrays import NO_END, NO_TIME
from memory.retrieval.result import RetrievalResult
from memory.store import relations
from memory.store.connect import Connection
from memory.store.relations import Relation

MAX_CANDIDATES_FOLLOWED = 40  # lines, the best, whose facts are followed
LEAST_FACT_COSINE = 0.3  # least cosine of a question and a fact for the question to be about it
ENDED_PENALTY = -1.5  # score of a line whose fact has ended without another in its place
OTHER_PERSON_PENALTY = -4.0  # of a line, or a fact, that tells it of somebody else; not fitted
SUCCESSOR_LEAD = 0.01  # how much better the line of the newer fact stands than that of the older one


def supersede(
    conn: Connection,
    lines: Sequence[AnswerCandidate],
    at: int,
    judge: CandidateSource,
    objects: Collection[int],
) -> list[AnswerCandidate]:
    """The lines, best first, with those of newer facts where these took the place of what a line tells.

    `at` is the time asked of (ms UTC), `objects` what the question is about. What a line tells of another person is no
    answer about these.
    """
    told = dict(judge.told)  # reading other episodes adds to it
    followed = {
        line.thesis_id: chosen
        for line in lines[:MAX_CANDIDATES_FOLLOWED]
        if (chosen := _asked(told.get(line.thesis_id, ()), judge)) is not None
    }
    heirs = {thesis: _successor(conn, one.relation, at) for thesis, one in followed.items()}
    wanted = {heir.id for heir in heirs.values() if heir is not None}
    tellers = judge.tellers(sorted(wanted), lines)
    best = {line.thesis_id: line for line in lines}
    for line in lines:
        if line.thesis_id not in followed:
            continue
        relation, heir = followed[line.thesis_id].relation, heirs[line.thesis_id]
        if heir is not None and heir.id == relation.id:
            continue
        teller = tellers.get(heir.id) if heir is not None else None
        if teller is None or teller.thesis_id == line.thesis_id:
            if heir is None:
                best[line.thesis_id] = replace(best[line.thesis_id], score=line.score + ENDED_PENALTY, earlier=True)
            continue
        now = best.get(teller.thesis_id, teller)
        best[now.thesis_id] = replace(now, score=max(now.score, line.score + SUCCESSOR_LEAD), earlier=False)
        best[line.thesis_id] = replace(best[line.thesis_id], earlier=True, newer=now.thesis_id)
    stand = [
        replace(line, score=line.score + OTHER_PERSON_PENALTY)
        if _of_others(told.get(line.thesis_id, ()), judge, objects)
        else line
        for line in best.values()
    ]
    return sorted(stand, key=lambda line: (-line.score, line.thesis_id))


def _of_others(told: Sequence[SentenceFact], judge: CandidateSource, objects: Collection[int]) -> bool:
    return bool(told) and all(judge.is_others(one.relation, one.subject, objects) for one in told)


def _asked(told: Sequence[SentenceFact], judge: CandidateSource) -> SentenceFact | None:
    """Of the facts that a line tells the one that the question is about, if it is about one of them."""
    if not told:
        return None
    cosines = judge.about([one.words for one in told]).tolist()
    place = max(range(len(told)), key=lambda place: (cosines[place], -told[place].relation.id))
    return told[place] if cosines[place] >= LEAST_FACT_COSINE else None


def _successor(conn: Connection, relation: Relation, at: int) -> Relation | None:
    """The fact itself if it holds, else the one that took its place, or that one's, and holds; None if none does."""
    seen: set[int] = set()
    one: Relation | None = relation
    while one is not None and not holds_at(one, at):
        seen.add(one.id)
        if one.superseded_by is None or one.superseded_by in seen:
            return None
        one = next(iter(relations.by_id(conn, [one.superseded_by])), None)
    return one


def holds_at(relation: Relation, at: int) -> bool:
    """Whether it holds at a time (ms UTC)."""
    start = NO_TIME if relation.valid_from is None else relation.valid_from
    end = NO_END if relation.valid_to is None else relation.valid_to
    return start <= at < end


MAX_CANDIDATES_COMPARED = 10  # lines, the best
MAX_SCORE_GAP = 2.5  # how far below the best one such a line may stand
NOW_WEIGHT = 2.0  # for the newest of the recalled episodes, where the question says that it means now; by hand
_PAST = re.compile(r"\b(was|were|did|had|when)\b", re.IGNORECASE)  # asks for what was, or for the change itself


def prefer_newest(
    lines: Sequence[AnswerCandidate], found: RetrievalResult, judge: CandidateSource
) -> list[AnswerCandidate]:
    """The lines, best first; first the newest of those that tell what the best one tells, where the question asks how
    things are, or were at one time."""
    when = found.question.when
    if when is not None and when.kind == "now":
        lines = [
            replace(line, score=line.score + NOW_WEIGHT * judge.place(line.episode, 0, 0).newness) for line in lines
        ]
    ordered = sorted(lines, key=lambda line: -line.score)
    if not ordered or not _asks_state(found):
        return ordered
    best = _newest(ordered[0], ordered[1:MAX_CANDIDATES_COMPARED], found, judge)
    if best is ordered[0]:
        return ordered
    return [replace(best, score=ordered[0].score), *(line for line in ordered if line is not best)]


def _asks_state(found: RetrievalResult) -> bool:
    when = found.question.when
    if when is not None:
        return when.kind in ("now", "as_of")
    return found.valid_time.begun_by < NO_END or not _PAST.search(found.question.text)


def _newest(
    top: AnswerCandidate, others: Sequence[AnswerCandidate], found: RetrievalResult, judge: CandidateSource
) -> AnswerCandidate:
    scorer = judge.scorer
    called = [name for name in found.named_objects.values() if name[:1].isupper()]
    names = {word for name in called for word in stems(name, found.question.language)}
    asked = top.words.intersection(scorer.stems) - names
    values, kind = scorer.values(top.shown), scorer.kind(top.shown)
    best = top
    for line in others:
        if line.earlier or line.newness <= best.newness or line.score < top.score - MAX_SCORE_GAP:
            continue
        held = line.words | set(stems(line.episode.title, found.question.language))
        if not asked & line.words or not asked <= held or not names & top.covered <= line.covered:
            continue
        other = scorer.values(line.shown)
        if same_kind(values - other, other - values) and (not kind or scorer.kind(line.shown)):
            best = line
    return best
