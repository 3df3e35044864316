"""Answering with facts: what the memory knows of the objects of a question, as plain statements.

A fact says in a few words what a sentence says among other things, and it says since when. So "what is" is answered by
the fact that holds, not by the sentence that tells of the change; and "how did it change" by all that held, in order.
The quote under a statement is the sentence that tells it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

import numpy as np

from memory.answering.candidates import AnswerCandidate, stems
from memory.answering.scoring import CandidateSource
from memory.answering.supersession import OTHER_PERSON_PENALTY, SUCCESSOR_LEAD, holds_at
from memory.facts.predicates import contains_value, same_value
from memory.retrieval.question_type import asks_course
from memory.retrieval.result import RetrievalResult
from memory.store import graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.relation_sentences import NAMELESS, statement, subject_and_predicate
from memory.time.timestamps import from_ms

MAX_FACTS_NEAR = 400  # facts of the question's objects that are looked at, the newest
MAX_FACTS_READ = 12  # of them whose lines are read, the best without these
MAX_FACTS_ANSWERING = 3  # facts that may answer

# Weights, fitted as a softmax over the facts of each question and NONE, with those that answer it as its targets, on
# the 316 questions of two invented lives that have an answer, once with facts of rules and once with those of a model.
WHOLE, SAID, PREDICATE = 1.1, 1.1, 1.5  # cosines of the question with all, predicate and object, predicate
COVERS, TOLD, COURSE = 1.4, 1.5, 1.9  # shares of the question's weight: the fact, its sentences, those of its past too
LIKE = 1.2  # cosine of the question with the sentence that is most like it, of the fact or its past
SUBJECT = 0.4  # the question names the subject
RANK = 0.6  # of the episode in the recall
NEWNESS = 1.3  # 1 for the newest of the recalled episodes
KIND = 0.5  # the object is of the kind that is asked for
LENGTH = -0.4  # of the object, full at MANY_WORDS
RECALLED = 0.55  # a recalled episode tells it
CHANGED = 1.0  # it took the place of another
COURSE_ASKED = 2.0  # beside it, where the question asks for the course; not fitted
NAMED_ONLY = -0.5  # of what is asked it and its sentences hold the names alone; not fitted
NO_FACT_SCORE = 6.3  # that none of them answers
MANY_WORDS = 8
MAX_PLAIN_WORDS = 16  # words of a sentence that is shown as it stands


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact as a line: its value, the values that were there before, since when it holds (ms UTC), and the stems of
    what it is about."""

    line: AnswerCandidate
    value: str = ""
    was: tuple[str, ...] = ()
    since: int = 0
    topic: frozenset[str] = frozenset()


def find_fact_candidates(
    conn: Connection,
    found: RetrievalResult,
    objects: Sequence[int],
    recalled: Sequence[int],
    judge: CandidateSource,
    known_lines: Sequence[AnswerCandidate],
) -> list[FactCandidate]:
    """The facts that answer best, best first; all that held in order where the question asks for the course.
    Their scores are log-probabilities.

    `objects` are those that the question is about and `recalled` the facts of the recalled episodes (ids), whose lines
    are `known_lines`.
    """
    known = {one.id: one for one in relations.touching(conn, objects, MAX_FACTS_NEAR)}
    known |= {one.id: one for one in relations.by_id(conn, recalled)}
    current = _currently_valid(conn, known.values(), found.time_ms)
    if not current:
        return []
    names = graph.object_labels(conn, sorted({node for one in current for node in (one.subject, one.object)}))
    past = relations.predecessors(conn, [one.id for one in current])
    told = _SupportingSentences(conn, found, past)
    words = {one.id: statement(names[one.subject], one.predicate, names[one.object]) for one in current}
    said = [f"{one.predicate} {names[one.object]}" for one in current]
    asked = _without(found.question.text, found.named_objects.values())
    likeness = judge.likeness(told.sentences())
    covers = judge.scorer.coverage
    own, known_of = set(objects), set(recalled)
    cosines = judge.about(list(words.values()))
    course = asks_course(found.question.text)
    language = found.question.language
    called = [*found.named_objects.values(), *graph.object_labels(conn, sorted(own)).values()]
    beside = set(judge.scorer.stems) - {word for name in called for word in stems(name, language)}
    scores = (
        WHOLE * cosines
        + SAID * judge.about(said, asked)
        + PREDICATE * judge.about([one.predicate for one in current], asked)
        + [
            COVERS * covers(words[one.id])
            + TOLD * covers(" ".join([words[one.id], *told.of(one.id)]))
            + COURSE * covers(" ".join([words[one.id], *told.of(one.id, *past[one.id])]))
            + LIKE * max((likeness[text] for text in told.of(one.id, *past[one.id])), default=0.0)
            + SUBJECT * (one.subject in own)
            + OTHER_PERSON_PENALTY * judge.is_others(one, names[one.subject], own)
            + KIND * judge.scorer.kind(names[one.object])
            + LENGTH * min(len(names[one.object].split()), MANY_WORDS) / MANY_WORDS
            + RECALLED * (one.id in known_of)
            + (CHANGED + COURSE_ASKED * course) * bool(past[one.id])
            for one in current
        ]
    ).tolist()
    likely = sorted(range(len(current)), key=lambda place: (-scores[place], current[place].id))[:MAX_FACTS_READ]
    tellers = judge.tellers([current[place].id for place in likely], known_lines)
    lines = []
    for place in likely:
        one = current[place]
        line = tellers.get(one.id)
        if line is not None:
            at = judge.place(line.episode, 0, 0)
            held = stems(" ".join([words[one.id], *told.of(one.id, *past[one.id])]), language)
            stand = replace(
                line,
                score=scores[place]
                + RANK * at.rank
                + NEWNESS * at.newness
                + NAMED_ONLY * (bool(beside) and beside.isdisjoint(held)),
                cosine=max(line.cosine, float(cosines[place])),
                coverage=max(line.coverage, covers(" ".join([words[one.id], *told.of(one.id)]))),
                earlier=False,
                newer=None,
            )
            lines.append((one, stand))
    every = float(np.logaddexp.reduce([NO_FACT_SCORE, *(line.score for _, line in lines)]))
    lines = [(one, replace(line, score=line.score - every)) for one, line in lines]
    lines.sort(key=lambda pair: (-pair[1].score, pair[0].id))
    if lines and course:
        best, line = lines[0]
        return [FactCandidate(_history(conn, best, past[best.id], line, judge, known_lines))]
    values = _values(conn, sorted({id for one, _ in lines for id in past[one.id]}))
    return [
        _statement(one, line, words[one.id], names, [values[id] for id in past[one.id] if id in values], found)
        for one, line in lines
    ]


def _statement(
    fact: Relation,
    line: AnswerCandidate,
    words: str,
    names: Mapping[int, str],
    was: Sequence[str],
    found: RetrievalResult,
) -> FactCandidate:
    """The fact as it is shown: in the words of its sentence where these are as plain as its own."""
    subject, value = names[fact.subject], names[fact.object]
    shown = line.shown.rstrip(".") if _plain(line, subject, value, was) else words
    topic = frozenset(stems(f"{subject} {fact.predicate}", found.question.language))
    since = fact.valid_from if fact.valid_from is not None else fact.last_asserted or 0
    return FactCandidate(replace(line, shown=shown + _since(fact, line)), value, tuple(was), since, topic)


def _plain(line: AnswerCandidate, subject: str, value: str, was: Sequence[str]) -> bool:
    """Whether the sentence says the fact as plainly as the fact does: it is short, names who or what it is about, and
    names no older value."""
    named = subject == NAMELESS or any(contains_value(line.shown, part) for part in (subject, *subject.split()))
    return (
        named
        and len(line.shown.split()) <= MAX_PLAIN_WORDS
        and contains_value(line.shown, value)
        and not any(contains_value(line.shown, old) for old in was)
    )


def supersede_sentences(
    lines: Sequence[AnswerCandidate], statements: Sequence[FactCandidate]
) -> tuple[list[AnswerCandidate], list[FactCandidate]]:
    """Sentences that say what a fact took the place of, told before it began, are lines with a past, behind that fact;
    and it answers as well as they do, at least. Scores of both are log-probabilities."""
    found, answering = list(lines), list(statements)
    for place, line in enumerate(found):
        for number, one in enumerate(answering):
            tells = line.newness < one.since and line.words & one.topic and not contains_value(line.shown, one.value)
            if tells and any(len(value) > 1 and contains_value(line.shown, value) for value in one.was):
                now = replace(one.line, score=max(one.line.score, line.score + SUCCESSOR_LEAD))
                answering[number] = replace(one, line=now)
                found[place] = replace(line, earlier=True, newer=one.line.thesis_id)
                break
    return found, sorted(answering, key=lambda one: (-one.line.score, one.line.thesis_id))


def _values(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    """The objects of these relations."""
    rows = relations.by_id(conn, ids)
    names = graph.object_labels(conn, sorted({one.object for one in rows}))
    return {one.id: names[one.object] for one in rows}


def _currently_valid(conn: Connection, known: Iterable[Relation], at: int) -> list[Relation]:
    """Those of these that hold then. A sentence may have been read twice, by a rule and by a model: if what the one
    found there has been replaced, the other's finding goes with it, unless it was told again since."""
    current = [one for one in known if one.modality in ("asserted", "plan") and holds_at(one, at)]
    pairs = relations.beside(conn, [one.id for one in current])
    twins = {one.id: one for one in relations.by_id(conn, sorted({other for _, other in pairs}))}
    mine = {one.id: one for one in current}
    ids = {node for one in (*current, *twins.values()) for node in (one.subject, one.object)}
    names = graph.object_labels(conn, sorted(ids))
    gone = set()
    for id, other in pairs:
        twin = twins.get(other)
        if twin is None or twin.valid_to is None or twin.superseded_by is None or holds_at(twin, at):
            continue
        retold = (mine[id].last_asserted or 0) >= twin.valid_to
        if not retold and same_value(names[mine[id].object], names[twin.object]):
            gone.add(id)
    return [one for one in current if one.id not in gone]


class _SupportingSentences:
    """The sentences that tell facts and their past, as far as the question may see them."""

    def __init__(self, conn: Connection, found: RetrievalResult, past: Mapping[int, Sequence[int]]) -> None:
        self._of: dict[int, list[str]] = defaultdict(list)
        for id, episode, text in relations.sentences(conn, sorted({*past, *chain.from_iterable(past.values())})):
            if found.sees(episode):
                self._of[id].append(text)

    def of(self, *ids: int) -> list[str]:
        """Those that tell one of these facts."""
        return [text for id in ids for text in self._of.get(id, ())]

    def sentences(self) -> list[str]:
        """All of them, each once."""
        return sorted(set(chain.from_iterable(self._of.values())))


def _history(
    conn: Connection,
    fact: Relation,
    past: Sequence[int],
    best: AnswerCandidate,
    judge: CandidateSource,
    known_lines: Sequence[AnswerCandidate],
) -> AnswerCandidate:
    """What held, in order, as one line: the fact that holds, what it took the place of, and what else was told of its
    subject with its predicate."""
    near = relations.of_slot(conn, fact.subject, fact.canon, fact.object, fact.valid_from)
    slot = [one.id for one in near if one.modality in ("asserted", "past")]
    rows = sorted(relations.by_id(conn, [*past, *slot, fact.id]), key=lambda one: (_starts(one), one.id))
    told = judge.tellers([one.id for one in rows], known_lines) | {fact.id: best}
    names = graph.object_labels(conn, sorted({fact.subject, *(one.object for one in rows)}))
    held: list[Relation] = []
    for one in rows:
        if one.id in told and not (held and same_value(names[held[-1].object], names[one.object])):
            held.append(one)
    values = [f"{names[one.object]}{_since(one, told[one.id])}" for one in held]
    proofs = list({told[one.id].thesis_id: told[one.id] for one in held}.values())
    shown = f"{subject_and_predicate(names[fact.subject], fact.predicate)}: {', then '.join(values)}"
    return replace(proofs[0], shown=shown, score=best.score, earlier=False, newer=None, also=tuple(proofs[1:]))


def _starts(relation: Relation) -> int:
    """When it begins, for an order: of what is known to have ended only, a moment before the end."""
    if relation.valid_from is not None:
        return relation.valid_from
    return relation.valid_to - 1 if relation.valid_to is not None else relation.last_asserted or 0


def _without(question: str, names: Iterable[str]) -> str:
    """The question without the names of what it is about, which all facts about that have in common."""
    for name in names:
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", question, flags=re.IGNORECASE)
    return question


def _since(relation: Relation, line: AnswerCandidate) -> str:
    """From when and until when it holds, as far as that is known: of what only stands in a note of some day it is known
    that it held then."""
    start, end = _day(relation.valid_from), _day(relation.valid_to)
    planned = "planned, " if relation.modality == "plan" else ""
    if start and end:
        return f" ({planned}{start} to {end})"
    since = "as of" if relation.valid_from == line.newness else "since"
    return f" ({planned}{since} {start})" if start else f" (until {end})" if end else ""


def _day(ms: int | None) -> str:
    at: datetime | None = from_ms(ms)
    return at.astimezone(UTC).date().isoformat() if at else ""
