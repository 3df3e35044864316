"""Fact candidates: what the memory knows of the objects of a question, as plain statements with scores.

A fact says in a few words what a sentence says among other things, and it says since when. So "what is" is answered by
the fact that holds, not by the sentence that tells of the change; and "how did it change" by its history, in order. The
quote under a statement is a sentence that supports it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

import numpy as np

from memory.answering.candidates import AnswerCandidate, stems
from memory.answering.features import CandidateScorer, QueryFeatures
from memory.answering.supersession import OTHER_PERSON_PENALTY, FactCandidate, concerns_another, holds_at
from memory.facts.predicates import contains_value, same_value
from memory.retrieval.question_type import asks_course
from memory.retrieval.state import RetrievalResult
from memory.store import graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.relation_sentences import NAMELESS, statement, subject_and_predicate
from memory.time.timestamps import from_ms

MAX_FACTS_NEAR = 400  # facts of the question's objects that are looked at, the newest
MAX_FACTS_SUPPORTED = 12  # of them whose sentences are read, the best without these
MAX_FACTS_ANSWERING = 3  # facts that may answer

# Weights, fitted as a softmax over the facts of each question and NO_FACT_SCORE, with those that answer it as its
# targets, on the 316 questions of two invented lives that have an answer, with facts of rules and then of a model.
WHOLE, SAID, PREDICATE = 1.1, 1.1, 1.5  # cosines of the question with all, predicate and object, predicate
COVERS, TOLD, COURSE = 1.4, 1.5, 1.9  # shares of the question's weight: the fact, its sentences, those of its past too
LIKE = 1.2  # cosine of the question with the sentence that is most like it, of the fact or its past
SUBJECT = 0.4  # the question names the subject
RANK = 0.6  # of the episode in the retrieval
NEWNESS = 1.3  # 1 for the newest of the retrieved episodes
KIND = 0.5  # the object is of the kind that is asked for
LENGTH = -0.4  # of the object, full at MANY_WORDS
RECALLED = 0.55  # a retrieved episode states it
CHANGED = 1.0  # it took the place of another
COURSE_ASKED = 2.0  # beside it, where the question asks for the course; not fitted
NAMED_ONLY = -0.5  # of what is asked it and its sentences hold the names alone; not fitted
NO_FACT_SCORE = 6.3  # that none of them answers
MANY_WORDS = 8
MAX_PLAIN_WORDS = 16  # of a sentence that is shown as it stands


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts that hold, their names, the ids that each replaced, and the sentences that support any of these, as far
    as the question may see them. `words`: each fact as a statement."""

    current: Sequence[Relation]
    names: Mapping[int, str]
    past: Mapping[int, Sequence[int]]
    sentences: Mapping[int, Sequence[str]]
    words: Mapping[int, str]

    @classmethod
    def read(cls, conn: Connection, found: RetrievalResult, objects: Sequence[int], recalled: Sequence[int]) -> _Facts:
        known = {one.id: one for one in relations.find_incident(conn, objects, MAX_FACTS_NEAR)}
        known |= {one.id: one for one in relations.by_id(conn, recalled)}
        current = _currently_valid(conn, known.values(), found.time_ms)
        names = graph.object_labels(conn, sorted({node for one in current for node in (one.subject, one.object)}))
        past = relations.predecessors(conn, [one.id for one in current])
        sentences: dict[int, list[str]] = defaultdict(list)
        for id, episode, text in relations.sentences(conn, sorted({*past, *chain.from_iterable(past.values())})):
            if found.sees(episode):
                sentences[id].append(text)
        words = {one.id: statement(names[one.subject], one.predicate, names[one.object]) for one in current}
        return cls(current, names, past, sentences, words)

    def supporting_sentences(self, fact: int, *, history: bool = False) -> list[str]:
        """The sentences that support a fact, with `history` those of the facts that it replaced too."""
        ids = (fact, *self.past[fact]) if history else (fact,)
        return [text for id in ids for text in self.sentences.get(id, ())]

    def text(self, fact: int, *, history: bool = False) -> str:
        """The statement of a fact with its supporting sentences."""
        return " ".join([self.words[fact], *self.supporting_sentences(fact, history=history)])


def find_fact_candidates(
    conn: Connection,
    found: RetrievalResult,
    objects: Sequence[int],
    scorer: CandidateScorer,
    candidates: Sequence[AnswerCandidate],
) -> list[FactCandidate]:
    """The facts that answer best, best first; the history of the best where the question asks for the course. Their
    scores are log-probabilities.

    `objects` are what the question is about; `candidates` the sentences of the retrieved episodes, whose facts may
    answer as well.
    """
    recalled = sorted({fact.relation.id for one in candidates for fact in one.facts})
    facts = _Facts.read(conn, found, objects, recalled)
    if not facts.current:
        return []
    asks_history = asks_course(found.question.text)
    scores, cosines = _scores(found, facts, objects, recalled, asks_history, scorer.features)
    order = sorted(range(len(facts.current)), key=lambda place: (-scores[place], facts.current[place].id))
    likely = {facts.current[place].id: place for place in order[:MAX_FACTS_SUPPORTED]}
    supporting = scorer.find_supporting(list(likely), candidates)
    beside = _stems_beside_names(conn, found, objects, scorer.features)
    shown = [
        (
            facts.current[place],
            _with_score(supporting[id], facts, id, scores[place], cosines[place], beside, scorer.features),
        )
        for id, place in likely.items()
        if id in supporting
    ]
    total = float(np.logaddexp.reduce([NO_FACT_SCORE, *(one.score for _, one in shown)]))
    shown = [(fact, replace(one, score=one.score - total)) for fact, one in shown]
    shown.sort(key=lambda pair: (-pair[1].score, pair[0].id))
    if shown and asks_history:
        best, candidate = shown[0]
        return [FactCandidate(_history(conn, best, facts.past[best.id], candidate, scorer, candidates))]
    values = _values(conn, sorted({id for fact, _ in shown for id in facts.past[fact.id]}))
    return [_fact_candidate(fact, one, facts, values, found.question.language) for fact, one in shown]


def _scores(
    found: RetrievalResult,
    facts: _Facts,
    objects: Sequence[int],
    recalled: Sequence[int],
    asks_history: bool,
    features: QueryFeatures,
) -> tuple[list[float], list[float]]:
    """(f,) the scores of the facts, without what their candidates add, and their cosines with the question."""
    own, of_episodes, names = set(objects), set(recalled), facts.names
    without_names = _without(found.question.text, found.named_objects.values())
    sentences = sorted(set(chain.from_iterable(facts.sentences.values())))
    cosine_of = dict(zip(sentences, features.cosines(sentences).tolist(), strict=True)) if sentences else {}
    cosines = features.cosines(list(facts.words.values()))
    said = features.cosines([f"{one.predicate} {names[one.object]}" for one in facts.current], without_names)
    predicates = features.cosines([one.predicate for one in facts.current], without_names)
    others = np.array(
        [
            COVERS * features.coverage(facts.words[one.id])
            + TOLD * features.coverage(facts.text(one.id))
            + COURSE * features.coverage(facts.text(one.id, history=True))
            + LIKE * max((cosine_of[text] for text in facts.supporting_sentences(one.id, history=True)), default=0.0)
            + SUBJECT * (one.subject in own)
            + OTHER_PERSON_PENALTY * concerns_another(one, names[one.subject], own, found.named_objects)
            + KIND * features.type_bonus(names[one.object])
            + LENGTH * min(len(names[one.object].split()), MANY_WORDS) / MANY_WORDS
            + RECALLED * (one.id in of_episodes)
            + (CHANGED + COURSE_ASKED * asks_history) * bool(facts.past[one.id])
            for one in facts.current
        ]
    )
    return (WHOLE * cosines + SAID * said + PREDICATE * predicates + others).tolist(), cosines.tolist()


def _stems_beside_names(
    conn: Connection, found: RetrievalResult, objects: Sequence[int], features: QueryFeatures
) -> frozenset[str]:
    """The question's stems that are not those of what it names."""
    named = [*found.named_objects.values(), *graph.object_labels(conn, sorted(set(objects))).values()]
    return frozenset(features.stems).difference(word for name in named for word in stems(name, found.question.language))


def _with_score(
    candidate: AnswerCandidate,
    facts: _Facts,
    fact: int,
    score: float,
    cosine: float,
    beside: Collection[str],
    features: QueryFeatures,
) -> AnswerCandidate:
    """The sentence that supports a fact, scored as the fact; `beside`: the question's stems beside its names."""
    held = stems(facts.text(fact, history=True), features.question.language)
    return replace(
        candidate,
        score=score
        + RANK * features.rank(candidate.episode)
        + NEWNESS * features.newness(candidate.episode)
        + NAMED_ONLY * (bool(beside) and set(beside).isdisjoint(held)),
        cosine=max(candidate.cosine, cosine),
        coverage=max(candidate.coverage, features.coverage(facts.text(fact))),
        earlier=False,
        newer=None,
    )


def _fact_candidate(
    fact: Relation, candidate: AnswerCandidate, facts: _Facts, values: Mapping[int, str], language: str
) -> FactCandidate:
    """The fact as it is shown: in the words of its sentence where these are as plain as its own."""
    subject, value = facts.names[fact.subject], facts.names[fact.object]
    replaced = tuple(values[id] for id in facts.past[fact.id] if id in values)
    is_plain = _is_plain(candidate.shown, subject, value, replaced)
    shown = candidate.shown.rstrip(".") if is_plain else facts.words[fact.id]
    topic = frozenset(stems(f"{subject} {fact.predicate}", language))
    since = fact.valid_from if fact.valid_from is not None else fact.last_asserted or 0
    return FactCandidate(replace(candidate, shown=shown + _since(fact, candidate)), value, replaced, since, topic)


def _is_plain(shown: str, subject: str, value: str, replaced: Sequence[str]) -> bool:
    """Whether a sentence says the fact as plainly as the fact does: it is short, names who or what it is about, and
    names no older value."""
    named = subject == NAMELESS or any(contains_value(shown, part) for part in (subject, *subject.split()))
    short = len(shown.split()) <= MAX_PLAIN_WORDS
    return named and short and contains_value(shown, value) and not any(contains_value(shown, old) for old in replaced)


def _values(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    """The objects of these relations."""
    rows = relations.by_id(conn, ids)
    names = graph.object_labels(conn, sorted({one.object for one in rows}))
    return {one.id: names[one.object] for one in rows}


def _currently_valid(conn: Connection, known: Iterable[Relation], at: int) -> list[Relation]:
    """Those of these that hold then. A sentence may have been read twice, by a rule and by a model: if what the one
    found there has been replaced, the other's finding goes with it, unless it was told again since."""
    current = [one for one in known if one.modality in ("asserted", "plan") and holds_at(one, at)]
    pairs = relations.find_overlapping(conn, [one.id for one in current])
    twins = {one.id: one for one in relations.by_id(conn, sorted({other for _, other in pairs}))}
    mine = {one.id: one for one in current}
    ids = {node for one in (*current, *twins.values()) for node in (one.subject, one.object)}
    names = graph.object_labels(conn, sorted(ids))
    gone = set()
    for id, other in pairs:
        twin = twins.get(other)
        if twin is None or twin.valid_to is None or twin.superseded_by is None or holds_at(twin, at):
            continue
        told_again = (mine[id].last_asserted or 0) >= twin.valid_to
        if not told_again and same_value(names[mine[id].object], names[twin.object]):
            gone.add(id)
    return [one for one in current if one.id not in gone]


def _history(
    conn: Connection,
    fact: Relation,
    past: Sequence[int],
    best: AnswerCandidate,
    scorer: CandidateScorer,
    known: Sequence[AnswerCandidate],
) -> AnswerCandidate:
    """What held, in order, as one line: the fact that holds, what it took the place of, and what else was told of its
    subject with its predicate."""
    near = relations.of_slot(conn, fact.subject, fact.canon, fact.object, fact.valid_from)
    slot = [one.id for one in near if one.modality in ("asserted", "past")]
    rows = sorted(relations.by_id(conn, [*past, *slot, fact.id]), key=lambda one: (_begins_ms(one), one.id))
    supporting = scorer.find_supporting([one.id for one in rows], known) | {fact.id: best}
    names = graph.object_labels(conn, sorted({fact.subject, *(one.object for one in rows)}))
    held: list[Relation] = []
    for one in rows:
        if one.id in supporting and not (held and same_value(names[held[-1].object], names[one.object])):
            held.append(one)
    values = [f"{names[one.object]}{_since(one, supporting[one.id])}" for one in held]
    proofs = list({supporting[one.id].thesis_id: supporting[one.id] for one in held}.values())
    shown = f"{subject_and_predicate(names[fact.subject], fact.predicate)}: {', then '.join(values)}"
    return replace(proofs[0], shown=shown, score=best.score, earlier=False, newer=None, also=tuple(proofs[1:]))


def _begins_ms(relation: Relation) -> int:
    """When it begins, for an order: of what is known to have ended only, a moment before the end."""
    if relation.valid_from is not None:
        return relation.valid_from
    return relation.valid_to - 1 if relation.valid_to is not None else relation.last_asserted or 0


def _without(question: str, names: Iterable[str]) -> str:
    """The question without the names of what it is about, which all facts about that have in common."""
    for name in names:
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", question, flags=re.IGNORECASE)
    return question


def _since(relation: Relation, candidate: AnswerCandidate) -> str:
    """From when and until when it holds, as far as that is known: of what only stands in a note of some day it is known
    that it held then."""
    start, end = _day(relation.valid_from), _day(relation.valid_to)
    planned = "planned, " if relation.modality == "plan" else ""
    if start and end:
        return f" ({planned}{start} to {end})"
    since = "as of" if relation.valid_from == candidate.newness else "since"
    return f" ({planned}{since} {start})" if start else f" (until {end})" if end else ""


def _day(ms: int | None) -> str:
    at: datetime | None = from_ms(ms)
    return at.astimezone(UTC).date().isoformat() if at else ""
