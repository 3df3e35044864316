"""Of lines that tell the same thing of different times the newest answers a question for how things are.

Where the memory knows the facts, `standing` and `stated` see to that. Here it is read from the sentences alone: a newer
line, nearly as good, that holds all that the best one holds of what is asked, with another value of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memory.answering.candidates import Line, same_kind, stems
from memory.answering.scoring import Judge
from memory.graph.arrays import NO_END
from memory.retrieval.pipeline import Found

LOOKED_AT = 10  # lines, the best
NEARLY = 2.5  # how far below the best one such a line may stand
NOW = 2.0  # for the newest of the recalled episodes, where the question says that it means now; by hand
_PAST = re.compile(r"\b(was|were|did|had|when)\b", re.IGNORECASE)  # asks for what was, or for the change itself


def newest_first(lines: Sequence[Line], found: Found, judge: Judge) -> list[Line]:
    """The lines, best first; first the newest of those that tell what the best one tells, where the question asks how
    things are, or were at one time."""
    when = found.question.when
    if when is not None and when.kind == "now":
        lines = [replace(line, score=line.score + NOW * judge.place(line.episode, 0, 0).newness) for line in lines]
    ordered = sorted(lines, key=lambda line: -line.score)
    if not ordered or not _asks_state(found):
        return ordered
    best = _newest(ordered[0], ordered[1:LOOKED_AT], found, judge)
    if best is ordered[0]:
        return ordered
    return [replace(best, score=ordered[0].score), *(line for line in ordered if line is not best)]


def _asks_state(found: Found) -> bool:
    when = found.question.when
    if when is not None:
        return when.kind in ("now", "as_of")
    return found.holds.begun_by < NO_END or not _PAST.search(found.question.text)


def _newest(top: Line, others: Sequence[Line], found: Found, judge: Judge) -> Line:
    scorer = judge.scorer
    called = [name for name in found.seeds.values() if name[:1].isupper()]
    names = {word for name in called for word in stems(name, found.question.language)}
    asked = top.words.intersection(scorer.stems) - names
    values, kind = scorer.values(top.shown), scorer.kind(top.shown)
    best = top
    for line in others:
        if line.earlier or line.newness <= best.newness or line.score < top.score - NEARLY:
            continue
        held = line.words | set(stems(line.episode.title, found.question.language))
        if not asked & line.words or not asked <= held or not names & top.covered <= line.covered:
            continue
        other = scorer.values(line.shown)
        if same_kind(values - other, other - values) and (not kind or scorer.kind(line.shown)):
            best = line
    return best
