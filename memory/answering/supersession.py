"""Supersession: a candidate whose fact was replaced by the time asked of ranks behind the candidate of its successor.

Where the memory knows the facts that a sentence states, the successor of the fact that the question is about answers,
and the old sentence stands behind it, marked "earlier". Where it does not, recency decides: a newer sentence, nearly as
good, that holds all that the best one holds of what is asked, with another value of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memory.answering.candidates import AnswerCandidate, SentenceFact, same_kind, stems
from memory.answering.features import CandidateScorer, QueryFeatures
from memory.facts.predicates import PERSONAL, canonical_predicate, contains_value
from memory.graph.arrays import NO_END, NO_TIME
from memory.retrieval.state import RetrievalResult
from memory.store import relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.mentions import norm

MAX_CANDIDATES_FOLLOWED = 40  # the best, whose facts are followed
LEAST_FACT_COSINE = 0.3  # of a question and a fact for the question to be about it
ENDED_PENALTY = -1.5  # score of a candidate whose fact has ended without a successor
OTHER_PERSON_PENALTY = -4.0  # of a candidate, or a fact, that tells it of somebody else; not fitted
SUCCESSOR_LEAD = 0.01  # how much better the candidate of the successor stands than the one that it replaces
MAX_CANDIDATES_COMPARED = 10  # the best, of which the newest is looked for
MAX_SCORE_GAP = 2.5  # how far below the best one a newer one may stand
NOW_WEIGHT = 2.0  # for the newest of the retrieved episodes, where the question says that it means now; by hand
_PAST = re.compile(r"\b(was|were|did|had|when)\b", re.IGNORECASE)  # asks for what was, or for the change itself


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact that may answer: the candidate that shows it, its value, the values that it replaced, since when it holds
    (ms UTC), and the stems of what it is about."""

    candidate: AnswerCandidate
    value: str = ""
    replaced: tuple[str, ...] = ()
    since: int = 0
    topic: frozenset[str] = frozenset()


def holds_at(relation: Relation, at: int) -> bool:
    """Whether a relation's valid time holds a time (ms UTC)."""
    start = NO_TIME if relation.valid_from is None else relation.valid_from
    end = NO_END if relation.valid_to is None else relation.valid_to
    return start <= at < end


def concerns_another(relation: Relation, subject: str, objects: Collection[int], named: Mapping[int, str]) -> bool:
    """Whether a relation tells of another person what the question asks of `objects`: where somebody else lives.
    Somebody whose name shares a word with one of the `named` objects may be the same."""
    if not objects or relation.subject in objects or canonical_predicate(relation.predicate) not in PERSONAL:
        return False
    called = {word for name in named.values() for word in norm(name).split()}
    return not called & set(norm(subject).split())


def supersede(
    conn: Connection,
    found: RetrievalResult,
    candidates: Sequence[AnswerCandidate],
    scorer: CandidateScorer,
    objects: Collection[int],
) -> list[AnswerCandidate]:
    """The candidates, best first, with the successors of what they state where these hold at the time asked of.

    `objects` are what the question is about; what a candidate tells of another person is no answer about these.
    """
    followed = {
        one.thesis_id: fact.relation
        for one in candidates[:MAX_CANDIDATES_FOLLOWED]
        if (fact := _fact_asked_for(one.facts, scorer.features)) is not None
    }
    successors = {thesis: _successor(conn, relation, found.time_ms) for thesis, relation in followed.items()}
    wanted = {one.id for one in successors.values() if one is not None}
    supporting = scorer.find_supporting(sorted(wanted), candidates)
    best = {one.thesis_id: one for one in candidates}
    for one in candidates:
        if one.thesis_id not in followed:
            continue
        relation, successor = followed[one.thesis_id], successors[one.thesis_id]
        if successor is None:
            best[one.thesis_id] = replace(best[one.thesis_id], score=one.score + ENDED_PENALTY, earlier=True)
            continue
        newer = supporting.get(successor.id)
        if successor.id == relation.id or newer is None or newer.thesis_id == one.thesis_id:
            continue
        newer = best.get(newer.thesis_id, newer)
        best[newer.thesis_id] = replace(newer, score=max(newer.score, one.score + SUCCESSOR_LEAD), earlier=False)
        best[one.thesis_id] = replace(best[one.thesis_id], earlier=True, newer=newer.thesis_id)
    ids = {one.thesis_id for one in candidates}
    superseded = [
        replace(one, score=one.score + OTHER_PERSON_PENALTY)
        if one.thesis_id in ids and _is_of_another(one, objects, found.named_objects)
        else one
        for one in best.values()
    ]
    return sorted(superseded, key=lambda one: (-one.score, one.thesis_id))


def _is_of_another(candidate: AnswerCandidate, objects: Collection[int], named: Mapping[int, str]) -> bool:
    facts = candidate.facts
    return bool(facts) and all(concerns_another(one.relation, one.subject, objects, named) for one in facts)


def _fact_asked_for(facts: Sequence[SentenceFact], features: QueryFeatures) -> SentenceFact | None:
    """Of these facts the one that the question is about, if it is about one of them."""
    if not facts:
        return None
    cosines = features.cosines([one.words for one in facts]).tolist()
    place = max(range(len(facts)), key=lambda place: (cosines[place], -facts[place].relation.id))
    return facts[place] if cosines[place] >= LEAST_FACT_COSINE else None


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


def supersede_sentences(
    candidates: Sequence[AnswerCandidate], facts: Sequence[FactCandidate]
) -> tuple[list[AnswerCandidate], list[FactCandidate]]:
    """Both, with sentences that say what a fact replaced, told before it began, marked as earlier behind that fact,
    which answers as well as they do, at least. Scores of both are log-probabilities."""
    sentences, answering = list(candidates), list(facts)
    for place, one in enumerate(sentences):
        for number, fact in enumerate(answering):
            is_about = one.newness < fact.since and one.words & fact.topic and not contains_value(one.shown, fact.value)
            if is_about and any(len(value) > 1 and contains_value(one.shown, value) for value in fact.replaced):
                newer = replace(fact.candidate, score=max(fact.candidate.score, one.score + SUCCESSOR_LEAD))
                answering[number] = replace(fact, candidate=newer)
                sentences[place] = replace(one, earlier=True, newer=newer.thesis_id)
                break
    return sentences, sorted(answering, key=lambda fact: (-fact.candidate.score, fact.candidate.thesis_id))


def prefer_newest(
    candidates: Sequence[AnswerCandidate], found: RetrievalResult, features: QueryFeatures
) -> list[AnswerCandidate]:
    """The candidates, best first; first the newest of those that tell what the best one tells, where the question asks
    how things are, or were at one time."""
    when = found.question.when
    if when is not None and when.kind == "now":
        candidates = [replace(one, score=one.score + NOW_WEIGHT * features.newness(one.episode)) for one in candidates]
    ordered = sorted(candidates, key=lambda one: -one.score)
    if not ordered or not _asks_for_state(found):
        return ordered
    newest = _newest(ordered[0], ordered[1:MAX_CANDIDATES_COMPARED], found, features)
    if newest is ordered[0]:
        return ordered
    return [replace(newest, score=ordered[0].score), *(one for one in ordered if one is not newest)]


def _asks_for_state(found: RetrievalResult) -> bool:
    when = found.question.when
    if when is not None:
        return when.kind in ("now", "as_of")
    return found.valid_time.begun_by < NO_END or not _PAST.search(found.question.text)


def _newest(
    top: AnswerCandidate, others: Sequence[AnswerCandidate], found: RetrievalResult, features: QueryFeatures
) -> AnswerCandidate:
    """The newest of the best candidate and of those that hold all that it holds of what is asked, with other values."""
    language = found.question.language
    names = {word for name in found.named_objects.values() if name[:1].isupper() for word in stems(name, language)}
    asked = top.words.intersection(features.stems) - names
    values, bonus = features.new_values(top.shown), features.type_bonus(top.shown)
    newest = top
    for one in others:
        if one.earlier or one.newness <= newest.newness or one.score < top.score - MAX_SCORE_GAP:
            continue
        held = one.words.union(stems(one.episode.title, language))
        if not asked & one.words or not asked <= held or not names & top.covered <= one.covered:
            continue
        other = features.new_values(one.shown)
        if same_kind(values - other, other - values) and (not bonus or features.type_bonus(one.shown)):
            newest = one
    return newest
