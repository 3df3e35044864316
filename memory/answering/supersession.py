"""Which lines still stand: a line that tells what was replaced gives its place to the line that tells what replaced it.

Where the memory knows the facts that a sentence tells, the sentence is read with their words as well: a fact names what
"she" or "it" was. If the fact that the question is about no longer holds at the time asked, the one that took its place
answers, and the old line stands behind it, marked "earlier".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memory.answering.candidates import Line
from memory.answering.scoring import Judge, Told
from memory.graph.arrays import NO_END, NO_TIME
from memory.store import relations
from memory.store.connect import Connection
from memory.store.relations import Relation

LOOKED_AT = 40  # lines, the best, whose facts are followed
ABOUT = 0.3  # least cosine of a question and a fact for the question to be about it
GONE = -1.5  # score of a line whose fact has ended without another in its place
OTHERS = -4.0  # of a line, or a fact, that tells it of somebody else; not fitted
AHEAD = 0.01  # how much better the line of the newer fact stands than that of the older one


def standing(
    conn: Connection,
    lines: Sequence[Line],
    at: int,
    judge: Judge,
    objects: Collection[int],
) -> list[Line]:
    """The lines, best first, with those of newer facts where these took the place of what a line tells.

    `at` is the time asked of (ms UTC), `objects` what the question is about. What a line tells of another person is no
    answer about these.
    """
    told = dict(judge.told)  # reading other episodes adds to it
    followed = {
        line.thesis_id: chosen
        for line in lines[:LOOKED_AT]
        if (chosen := _asked(told.get(line.thesis_id, ()), judge)) is not None
    }
    heirs = {thesis: _heir(conn, one.relation, at) for thesis, one in followed.items()}
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
                best[line.thesis_id] = replace(best[line.thesis_id], score=line.score + GONE, earlier=True)
            continue
        now = best.get(teller.thesis_id, teller)
        best[now.thesis_id] = replace(now, score=max(now.score, line.score + AHEAD), earlier=False)
        best[line.thesis_id] = replace(best[line.thesis_id], earlier=True, newer=now.thesis_id)
    stand = [
        replace(line, score=line.score + OTHERS) if _of_others(told.get(line.thesis_id, ()), judge, objects) else line
        for line in best.values()
    ]
    return sorted(stand, key=lambda line: (-line.score, line.thesis_id))


def _of_others(told: Sequence[Told], judge: Judge, objects: Collection[int]) -> bool:
    return bool(told) and all(judge.is_others(one.relation, one.subject, objects) for one in told)


def _asked(told: Sequence[Told], judge: Judge) -> Told | None:
    """Of the facts that a line tells the one that the question is about, if it is about one of them."""
    if not told:
        return None
    cosines = judge.about([one.words for one in told]).tolist()
    place = max(range(len(told)), key=lambda place: (cosines[place], -told[place].relation.id))
    return told[place] if cosines[place] >= ABOUT else None


def _heir(conn: Connection, relation: Relation, at: int) -> Relation | None:
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
