"""Facts as answers, and supersession: a value replaced by the time in question ranks after its successor.

A fact states in a few words what a sentence says among other things, with its valid time. So "what is" is answered by
the valid fact, not by the sentence about the change; and "how did it change" by its history, in order. The quote under
a statement is a sentence that supports it.

If the fact that a sentence states was replaced, its successor answers, and the sentence follows it, marked
"earlier"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

import numpy as np

from memory.answering.candidates import (
    AnswerCandidate,
    SentenceFact,
    begins_after,
    begins_ms,
    holds_at,
    read_names,
    select_current,
    show_day,
    stems,
)
from memory.answering.features import ENDED_PENALTY, SCORE_DIGITS, AnswerState, QueryFeatures
from memory.answering.owner import MAX_FACTS, OwnerQuestion
from memory.retrieval.question_type import asks_course, expected_types
from memory.retrieval.state import QuestionState
from memory.store import relations
from memory.store.relations import Relation
from memory.text.languages import alternatives
from memory.text.predicates import (
    NAMELESS,
    contains_value,
    same_value,
    statement,
    subject_and_predicate,
)

BY_AGENT = -2.0  # an agent says it, and nobody else; not fitted
NAMED_ONLY = -0.5  # it and its sentences match only the names of the question; not fitted
NO_FACT_SCORE = 7.3  # that none of them answers
_PAST = re.compile(rf"\b(?:{alternatives('asks', 'past')})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact that may answer. `words`: its statement with the names of its `subject` and object, the `value`. `past`:
    the ids of the facts that it replaced; `sentences` support it, `history` it or one of these, as far as the question
    may see them. Of a shown fact: `replaced`, the values of its past."""

    relation: Relation
    subject: str
    value: str
    words: str
    past: Sequence[int]
    sentences: Sequence[str]
    history: Sequence[str]
    replaced: tuple[str, ...] = ()


ShownFact = tuple[FactCandidate, AnswerCandidate]  # a fact, and the candidate that shows it


def find_fact_candidates(
    state: AnswerState, candidates: Sequence[AnswerCandidate], owner: OwnerQuestion | None = None
) -> list[ShownFact]:
    """Returns the facts that answer best, best first; the history of the best if the question asks for the course. The
    scores of their candidates are log-probabilities. `candidates` are the sentences of the retrieved episodes, whose
    facts may answer as well. A question about the `owner` is not answered by facts about others."""
    stated = {fact.relation.id for line in candidates for fact in line.facts}
    near = {fact.id: fact for fact in relations.find_incident(state.conn, state.objects, MAX_FACTS)}
    near |= {fact.id: fact for fact in relations.get_many(state.conn, sorted(stated))}
    facts = make_fact_candidates(state, select_current(near.values(), state.result.time_ms))
    if not facts:
        return []
    asks_history = asks_course(state.question.text)
    scored = zip(facts, _score_facts(state, facts, asks_history), strict=True)
    own = {fact.relation.id for fact in facts if owner is not None and owner.is_answered_by(fact.relation)}
    ranked = sorted(scored, key=lambda row: (-round(row[1], SCORE_DIGITS), row[0].words))
    likely = sorted(ranked, key=lambda row: row[0].relation.id not in own)[:12]
    supporting = state.find_supporting([fact.relation.id for fact, _ in likely], candidates)
    shown = [
        (fact, _score_sentence(state, supporting[fact.relation.id], fact, score))
        for fact, score in likely
        if fact.relation.id in supporting
        and (owner is None or fact.relation.id in own or not owner.is_of_another(supporting[fact.relation.id]))
    ]
    top = 5.0 + max([NO_FACT_SCORE, *(line.score for _, line in shown)])  # of the owner's facts; not fitted
    shown = [
        (fact, replace(line, score=line.score + top, own=True))
        if fact.relation.id in own and not line.by_agent
        else (fact, line)
        for fact, line in shown
    ]
    total = float(np.logaddexp.reduce([NO_FACT_SCORE, *(line.score for _, line in shown)]))
    shown = [(fact, replace(line, score=line.score - total)) for fact, line in shown]
    shown.sort(key=lambda pair: (-round(pair[1].score, SCORE_DIGITS), pair[0].words, pair[1].episode.source.uri))
    if shown and asks_history:
        best, candidate = shown[0]
        return [(best, show_history(state, best, candidate, candidates))]
    rows = relations.get_many(state.conn, sorted({id for fact, _ in shown for id in fact.past}))
    names = read_names(state.conn, rows)
    values = {row.id: names[row.object] for row in rows}
    return [_show(fact, line, values) for fact, line in shown]


def make_fact_candidates(state: AnswerState, facts: Sequence[Relation]) -> list[FactCandidate]:
    """Returns these facts with those they replaced, and the sentences that the question may see."""
    names = read_names(state.conn, facts)
    past = relations.predecessors(state.conn, [fact.id for fact in facts])
    sentences: dict[int, list[str]] = defaultdict(list)
    for id, episode, text in relations.sentences(state.conn, sorted({*past, *chain.from_iterable(past.values())})):
        if state.result.sees(episode):
            sentences[id].append(text)
    return [
        FactCandidate(
            fact,
            names[fact.subject],
            names[fact.object],
            statement(names[fact.subject], fact.predicate, names[fact.object]),
            past[fact.id],
            sentences[fact.id],
            [text for id in (fact.id, *past[fact.id]) for text in sentences[id]],
        )
        for fact in facts
    ]


def _score_facts(state: AnswerState, facts: Sequence[FactCandidate], asks_history: bool) -> list[float]:
    """Returns (f,) the scores of the facts, without what their candidates add."""
    features, named = state.features, state.result.named_objects
    without_names = _remove_names(state.question.text, named.values())
    sentences = sorted({text for fact in facts for text in fact.history})
    cosine_of = dict(zip(sentences, features.cosines(sentences).tolist(), strict=True)) if sentences else {}
    cosines = features.cosines([fact.words for fact in facts])
    claims = features.cosines([f"{fact.relation.predicate} {fact.value}" for fact in facts], without_names)
    predicates = features.cosines([fact.relation.predicate for fact in facts], without_names)
    # Fitted as a softmax over the facts of each question and NO_FACT_SCORE, with those that answer it as targets, on
    # the 316 questions of two invented lives that have an answer; not the weight of the course, if that is asked for.
    others = np.array(
        [
            1.4 * features.coverage(fact.words)
            + 1.5 * features.coverage(fact.words, *fact.sentences)
            + 1.9 * features.coverage(fact.words, *fact.history)
            + 1.2 * max((cosine_of[text] for text in fact.history), default=0.0)
            + 0.4 * (fact.relation.subject in state.objects)
            + (1.0 + 2.0 * asks_history) * bool(fact.past)
            for fact in facts
        ]
    )
    scores: list[float] = (1.1 * cosines + 1.1 * claims + 1.5 * predicates + others).tolist()
    return scores


def _score_sentence(
    state: AnswerState, candidate: AnswerCandidate, fact: FactCandidate, score: float
) -> AnswerCandidate:
    """Returns the sentence that supports a fact, scored as the fact."""
    held = stems(" ".join([fact.words, *fact.history]), state.question.language)
    return replace(
        candidate,
        score=score
        + 1.3 * state.features.newness(candidate.episode)
        + BY_AGENT * candidate.by_agent
        + NAMED_ONLY * (bool(state.beside_names) and state.beside_names.isdisjoint(held)),
        earlier=False,
        newer=None,
    )


def _show(fact: FactCandidate, candidate: AnswerCandidate, values: Mapping[int, str]) -> ShownFact:
    """Returns the fact with its shown words: those of its sentence if they are as plain as its own."""
    replaced = tuple(values[id] for id in fact.past if id in values)
    is_plain = _is_plain(candidate.shown, fact.subject, fact.value, replaced)
    shown = candidate.shown.rstrip(".") if is_plain else fact.words
    since = _since(fact.relation, candidate)
    suffix = "" if any(f" {day})" in since and day in shown for day in re.findall(r"[\d-]+", since)) else since
    stated = candidate.facts
    if all(other.relation.id != fact.relation.id for other in stated):  # its properties say it, not its words
        stated = (*stated, SentenceFact(fact.relation, fact.words, fact.subject))
    source = replace(candidate.source, facts=stated)
    line = replace(
        candidate, shown=shown + suffix, value=fact.value, is_statement=bool(since) or not is_plain, source=source
    )
    return replace(fact, replaced=replaced), line


def _is_plain(shown: str, subject: str, value: str, replaced: Sequence[str]) -> bool:
    """Whether a sentence is as plain as the fact: it is short, names the subject, and names no older value."""
    named = subject == NAMELESS or any(contains_value(shown, part) for part in (subject, *subject.split()))
    short = len(shown.split()) <= 16  # of a sentence that is shown unchanged
    return named and short and contains_value(shown, value) and not any(contains_value(shown, old) for old in replaced)


def show_history(
    state: AnswerState, best: FactCandidate, candidate: AnswerCandidate, known: Sequence[AnswerCandidate]
) -> AnswerCandidate:
    """Returns the history as one line, in order: the current fact, those that it replaced (also its note's text before
    an edit), and other facts with its subject and predicate."""
    conn, fact = state.conn, best.relation
    near = relations.list_by_slot(conn, fact.subject, fact.canon, fact.object, fact.valid_from)
    slot = [row.id for row in near if row.modality in ("asserted", "past")]
    rows = relations.get_many(conn, [*best.past, *slot, fact.id], ever=True)
    rows.sort(key=lambda row: (begins_ms(row), row.id))
    supporting = state.find_supporting([row.id for row in rows], known) | {fact.id: candidate}
    unsaid = [row.id for row in rows if row.id not in supporting]
    notes = {line.episode.source.id for line in supporting.values()}
    former = {old.id: line for old, line in state.find_former(unsaid, notes)}
    supporting |= former
    names = read_names(conn, rows)
    held: list[Relation] = []
    for row in rows:
        if row.id in supporting and not (held and same_value(names[held[-1].object], names[row.object])):
            held.append(row)
    begun = [(row.valid_from, supporting[row.id]) for row in rows if row.id in supporting]
    days = {ms: show_day(ms, line.episode, line.start, line.quote) for ms, line in begun if ms is not None}
    values = [f"{names[row.object]}{_since(row, supporting[row.id], days)}" for row in held]
    proofs = list({supporting[row.id].thesis_id: supporting[row.id] for row in held}.values())
    proofs.sort(key=lambda line: line in former.values())  # what is no evidence any more leads nowhere
    shown = f"{subject_and_predicate(best.subject, fact.predicate)}: {', then '.join(values)}"
    return replace(
        proofs[0], shown=shown, score=candidate.score, earlier=False, newer=None, also=tuple(proofs[1:]),
        is_statement=True,
    )  # fmt: skip


def _remove_names(question: str, names: Iterable[str]) -> str:
    """Returns the question without the names of its topic, which all facts about that have in common."""
    for name in names:
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", question, flags=re.IGNORECASE)
    return question


def _since(relation: Relation, line: AnswerCandidate, days: Mapping[int, str] = MappingProxyType({})) -> str:
    """Formats its known valid time: a fact of a dated note without a date in its words was valid on that day. `days`:
    names of some times (ms UTC)."""
    start, end = (
        None if ms is None else days.get(ms) or show_day(ms, line.episode, line.start, line.quote)
        for ms in (relation.valid_from, relation.valid_to)
    )
    planned = "planned, " if relation.modality == "plan" else ""
    if start and end:
        return f" ({planned}{start} to {end})"
    is_later = line.newness and begins_after(relation, line.newness)
    since = "as of" if relation.valid_from == line.newness else "from" if is_later else "since"
    return f" ({planned}{since} {start})" if start else f" (until {end})" if end else ""


# Supersession ---------------------------------------------------------------------------------


def supersede(state: AnswerState, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the candidates, best first, with the successors of their facts if these are valid at the question's time.
    A fact about another person than the question's objects does not answer about these."""
    followed = {
        line.thesis_id: relation
        for line in candidates[:40]  # the best, whose facts are followed
        if (relation := _fact_asked_for(line.facts, state.features)) is not None
    }
    successors = {thesis: _successor(state, relation) for thesis, relation in followed.items()}
    wanted = {fact.id for fact in successors.values() if fact is not None}
    supporting = state.find_supporting(sorted(wanted), candidates)
    best = {line.thesis_id: line for line in candidates}
    for line in candidates:
        if line.thesis_id not in followed:
            continue
        relation, successor = followed[line.thesis_id], successors[line.thesis_id]
        if successor is None and begins_after(relation, state.result.time_ms):
            continue  # it is not so yet, which its words or its time say
        if successor is None:
            best[line.thesis_id] = replace(best[line.thesis_id], score=line.score + ENDED_PENALTY, earlier=True)
            continue
        newer = supporting.get(successor.id)
        if successor.id == relation.id or newer is None or newer.thesis_id == line.thesis_id:
            continue
        newer = best.get(newer.thesis_id, newer)
        best[newer.thesis_id] = replace(newer, score=max(newer.score, line.score + 0.01), earlier=False)
        best[line.thesis_id] = replace(best[line.thesis_id], earlier=True, newer=newer.thesis_id)
    return sorted(best.values(), key=lambda line: -line.score)


def _fact_asked_for(facts: Sequence[SentenceFact], features: QueryFeatures) -> Relation | None:
    """Returns the fact that the question is about, if any."""
    if not facts:
        return None
    cosines = features.cosines([fact.words for fact in facts]).tolist()
    place = max(range(len(facts)), key=lambda place: (cosines[place], -facts[place].relation.id))
    return facts[place].relation


def _successor(state: AnswerState, relation: Relation) -> Relation | None:
    """Returns the fact itself if it is valid, else the first valid one of its successors, or None."""
    seen: set[int] = set()
    fact: Relation | None = relation
    while fact is not None and not holds_at(fact, state.result.time_ms):
        seen.add(fact.id)
        if fact.superseded_by is None or fact.superseded_by in seen:
            return None
        fact = next(iter(relations.get_many(state.conn, [fact.superseded_by])), None)
    return fact


def asks_past(question: QuestionState) -> bool:
    """Whether a question asks for the past, or for a course of events; "When will ...?" does not."""
    past = (match[0] for match in _PAST.finditer(question.text))
    return asks_course(question.text) or any("date" not in expected_types(word, question.language) for word in past)
