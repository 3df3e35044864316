"""The neighbourhood of an object, step by step: relations at a time, and joint mentions."""

from collections.abc import Sequence
from typing import NamedTuple

from memory.nouns import Fact
from memory.store import facts
from memory.store.browse import HIDDEN, NEWEST_PASSAGES
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, id_list, is_live

JOINT = (12, 4, 2)  # joint mentions of an object, at most, per step


class Joined(NamedTuple):
    """Two objects connected by a current fact, or by the number of `passages` that mention both."""

    one: int
    other: int
    fact: Fact | None
    passages: int = 0


def explore(
    conn: Connection, center: Sequence[int], known_on: int, at: int, depth: int, limit: int
) -> tuple[dict[int, int], list[Joined], int]:
    """({object: distance}, connections, number of further neighbours) within `depth` steps of objects that are one
    thing, its first id first. Up to `limit` objects: nearer ones first, then those connected by facts, newest first.
    Joint mentions only count if they lead to a new object."""
    middle = center[0]
    steps, joined, left_out = {middle: 0}, list[Joined](), 0
    frontier = list(center)
    for step in range(1, depth + 1):
        same = dict.fromkeys(center, middle)
        neighbours = _join_by_facts(conn, frontier, known_on, at)
        for id in frontier if step > 1 else [middle]:
            mentioned = _rank(conn, list(center) if id == middle else [id], at, JOINT[min(step, len(JOINT)) - 1])
            neighbours += [Joined(id, other, None, passages) for other, passages in mentioned]
        frontier = []
        for link in neighbours:
            link = link._replace(one=same.get(link.one, link.one), other=same.get(link.other, link.other))
            new = [id for id in (link.one, link.other) if id not in steps]
            if link.one == link.other or len(new) > 1 or (link.fact is None and not new):
                continue
            if new and len(steps) >= limit:
                left_out += 1
                continue
            for id in new:
                steps[id] = step
                frontier.append(id)
            joined.append(link)
    return steps, _drop_repeats(joined), left_out


def _drop_repeats(joined: Sequence[Joined]) -> list[Joined]:
    """Each fact once; joint mentions only of pairs without a fact."""
    by_fact = {edge.fact.id: edge for edge in joined if edge.fact is not None}
    pairs = {frozenset((edge.one, edge.other)) for edge in by_fact.values()}
    by_pair: dict[frozenset[int], Joined] = {}
    for edge in joined:
        if edge.fact is None and (pair := frozenset((edge.one, edge.other))) not in pairs:
            by_pair.setdefault(pair, edge)
    return [*by_fact.values(), *by_pair.values()]


def _join_by_facts(conn: Connection, objects: Sequence[int], known_on: int, at: int) -> list[Joined]:
    joining = facts.list_about(conn, objects, known_on, at, relations=True)
    rows = conn.execute(
        f"SELECT e.id, e.src, e.dst FROM edge e WHERE e.id IN {LISTED}", (id_list(fact.id for fact in joining),)
    )
    ends = {id: (src, dst) for id, src, dst in rows}
    return [Joined(*ends[fact.id], fact) for fact in joining if fact.id in ends]


def _rank(conn: Connection, objects: Sequence[int], at: int, limit: int) -> list[tuple[int, int]]:
    """[(object, passages)]: the objects most often mentioned in the newest passages that mention these by `at`; without
    namesakes."""
    return conn.execute(
        "SELECT m.dst, count(*) AS passages FROM (SELECT DISTINCT g.src FROM edge g JOIN episode e ON e.node_id = g.src"
        f" JOIN source s ON s.id = e.source_id WHERE g.dst IN {LISTED} AND g.kind = 'mention' AND {is_live('g')}"
        "  AND ifnull(ifnull(e.event_from, s.at), 0) <= ? ORDER BY g.src DESC LIMIT ?) here"
        f" JOIN edge m ON m.src = here.src AND m.kind = 'mention' AND {is_live('m')} JOIN object o ON o.node_id = m.dst"
        f" AND ifnull(o.type, '') NOT IN {HIDDEN} JOIN node n ON n.id = m.dst AND n.{LIVE}"
        " WHERE m.dst NOT IN (SELECT b.node_id FROM alias a JOIN alias b ON b.norm = a.norm"
        f"  WHERE a.node_id IN {LISTED}) GROUP BY m.dst ORDER BY passages DESC, m.dst LIMIT ?",
        (id_list(objects), at, NEWEST_PASSAGES, id_list(objects), limit),
    ).fetchall()
