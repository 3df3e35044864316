"""Answering with facts: what the memory knows of the objects of a question, as plain statements.

A fact says in a few words what a sentence says among other things, and it says since when. So "what is" is answered by
the fact that holds, not by the sentence that tells of the change; and "how did it change" by all that held, in order.
The quote under a statement is the sentence that tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from memory.answer.judge import Judge
from memory.answer.lines import Line
from memory.answer.standing import holds_at
from memory.recall.pipeline import Found
from memory.store import graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.times import from_ms

NEAR = 400  # facts of the question's objects that are looked at, the newest
LIKELY = 12  # of them whose lines are read, the best without these
BEST = 3  # facts that may answer

# Weights, fitted as a softmax over the facts of each question and NONE, with those that answer it as its targets, on
# the 316 questions of two invented lives that have an answer, once with facts of rules and once with those of a model.
WHOLE, SAID, PREDICATE = 1.4, 1.1, 1.4  # cosines of the question with all, predicate and object, predicate
COVERS, SAYS, SENTENCE = 1.6, 1.6, 2.3  # shares of the question's weight: all, predicate and object, with the sentence
SUBJECT = 0.5  # the question names the subject
RANK = 0.7  # of the episode in the recall
NEWNESS = 1.6  # 1 for the newest of the recalled episodes
KIND = 0.55  # the object is of the kind that is asked for
LENGTH = -0.7  # of the object, full at MANY_WORDS
RECALLED = 0.5  # a recalled episode tells it
NONE = 5.9  # that none of them answers
MANY_WORDS = 8
_COURSE = re.compile(
    r"\b(in order|over time|over the years|history of|successive(ly)?|one after (the other|another)|through before"
    r"|how (has|have|did) .{1,80} (change|changed|shift|shifted|develop|developed|evolve|evolved|move|moved)\b"
    r"|(list|which|what) .{1,80} (has|have) had\b|ha[sd]? gone through|did .{1,60} go through)",
    re.IGNORECASE,
)


def asks_course(question: str) -> bool:
    """Whether a question asks how something changed, not how it is."""
    return _COURSE.search(question) is not None


def stated(
    conn: Connection,
    found: Found,
    objects: Sequence[int],
    recalled: Sequence[int],
    judge: Judge,
    known_lines: Sequence[Line],
) -> list[Line]:
    """The facts that answer best as lines, best first; all that held in order where the question asks for the course.
    Their scores are log-probabilities.

    `objects` are those that the question is about and `recalled` the facts of the recalled episodes (ids), whose lines
    are `known_lines`.
    """
    known = {one.id: one for one in relations.touching(conn, objects, NEAR)}
    known |= {one.id: one for one in relations.by_id(conn, recalled)}
    current = [one for one in known.values() if one.modality in ("asserted", "plan") and holds_at(one, found.at)]
    if not current:
        return []
    known_of = set(recalled)
    own = set(objects)
    names = graph.object_labels(conn, sorted({node for one in current for node in (one.subject, one.object)}))
    whole = [f"{names[one.subject]} {one.predicate} {names[one.object]}" for one in current]
    said = [f"{one.predicate} {names[one.object]}" for one in current]
    asked = _without(found.question.text, found.seeds.values())
    scores = (
        WHOLE * judge.about(whole)
        + SAID * judge.about(said, asked)
        + PREDICATE * judge.about([one.predicate for one in current], asked)
        + COVERS * np.array([judge.scorer.coverage(text) for text in whole])
        + SAYS * np.array([judge.scorer.coverage(text) for text in said])
        + SUBJECT * np.array([one.subject in own for one in current])
        + KIND * np.array([judge.scorer.kind(names[one.object]) for one in current])
        + LENGTH * np.array([min(len(names[one.object].split()), MANY_WORDS) / MANY_WORDS for one in current])
        + RECALLED * np.array([one.id in known_of for one in current])
    ).tolist()
    likely = sorted(range(len(current)), key=lambda place: (-scores[place], current[place].id))[:LIKELY]
    told = judge.tellers([current[place].id for place in likely], known_lines)
    lines = []
    for place in likely:
        one, line = current[place], told.get(current[place].id)
        if line is not None:
            at = judge.place(line.episode, 0, 0)
            held = judge.scorer.coverage(f"{line.quote} {whole[place]}")
            score = scores[place] + SENTENCE * held + RANK * at.rank + NEWNESS * at.newness
            shown = whole[place] + _since(one)
            lines.append((one, replace(line, shown=shown, score=score, earlier=False, newer=None)))
    every = float(np.logaddexp.reduce([NONE, *(line.score for _, line in lines)]))
    lines = [(one, replace(line, score=line.score - every)) for one, line in lines]
    lines.sort(key=lambda pair: (-pair[1].score, pair[0].id))
    if lines and asks_course(found.question.text):
        return _course(conn, lines[0], judge, known_lines)
    return [line for _, line in lines[:BEST]]


def _course(conn: Connection, best: tuple[Relation, Line], judge: Judge, known_lines: Sequence[Line]) -> list[Line]:
    """What held before, in order, and the fact that holds."""
    row = relations.before(conn, best[0].id)
    told = judge.tellers([one.id for one in row], known_lines)
    words = _words(conn, row)
    past = [
        replace(told[one.id], shown=words[one.id] + _since(one), score=best[1].score, earlier=False, newer=None)
        for one in row
        if one.id in told
    ]
    return [*past, best[1]]


def _without(question: str, names: Iterable[str]) -> str:
    """The question without the names of what it is about, which all facts about that have in common."""
    for name in names:
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", question, flags=re.IGNORECASE)
    return question


def _words(conn: Connection, rows: Sequence[Relation]) -> dict[int, str]:
    names = graph.object_labels(conn, sorted({node for one in rows for node in (one.subject, one.object)}))
    return {one.id: f"{names[one.subject]} {one.predicate} {names[one.object]}" for one in rows}


def _since(relation: Relation) -> str:
    """From when and until when it holds, as far as that is known."""
    start, end = _day(relation.valid_from), _day(relation.valid_to)
    planned = "planned, " if relation.modality == "plan" else ""
    if start and end:
        return f" ({planned}{start} to {end})"
    return f" ({planned}since {start})" if start else f" (until {end})" if end else ""


def _day(ms: int | None) -> str:
    at: datetime | None = from_ms(ms)
    return at.astimezone(UTC).date().isoformat() if at else ""
