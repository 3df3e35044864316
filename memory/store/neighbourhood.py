"""What stands around an object, step by step: what relations join it to at a time, and what it is mentioned beside."""

from collections.abc import Sequence
from typing import NamedTuple

from memory.nouns import Fact
from memory.store import facts
from memory.store.browse import HIDDEN, NEWEST_PASSAGES
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, id_list, is_live

BESIDE = (12, 4, 2)  # objects that one is mentioned beside, at most, at each step from the middle


class Joined(NamedTuple):
    """Two objects, by a fact that holds, or because so many `passages` mention both."""

    one: int
    other: int
    fact: Fact | None
    passages: int = 0


class ReachedObjects(NamedTuple):
    """The objects, those in the middle first as one, each with its step from there; what joins them; and how many more
    there are beside the last step's."""

    steps: dict[int, int]
    joined: list[Joined]
    left_out: int


def explore(conn: Connection, center: Sequence[int], known_on: int, at: int, depth: int, limit: int) -> ReachedObjects:
    """So many steps out from objects that are one thing, with at most `limit` objects: nearer ones first, and of those
    that are as near what facts join, the newest first. What two of them are mentioned in together counts only where it
    leads to one of them."""
    middle = center[0]
    steps, joined, left_out = {middle: 0}, list[Joined](), 0
    frontier = list(center)
    for step in range(1, depth + 1):
        same = dict.fromkeys(center, middle)
        found = _by_facts(conn, frontier, known_on, at)
        for id in frontier if step > 1 else [middle]:
            beside = _beside(conn, list(center) if id == middle else [id], at, BESIDE[min(step, len(BESIDE)) - 1])
            found += [Joined(id, other, None, passages) for other, passages in beside]
        frontier = []
        for one in found:
            one = one._replace(one=same.get(one.one, one.one), other=same.get(one.other, one.other))
            new = [id for id in (one.one, one.other) if id not in steps]
            if one.one == one.other or len(new) > 1 or (one.fact is None and not new):
                continue
            if new and len(steps) >= limit:
                left_out += 1
                continue
            for id in new:
                steps[id] = step
                frontier.append(id)
            joined.append(one)
    return ReachedObjects(steps, _once(joined), left_out)


def _once(joined: Sequence[Joined]) -> list[Joined]:
    """Each fact once; that two are mentioned together only where no fact joins them."""
    by_fact = {one.fact.id: one for one in joined if one.fact is not None}
    pairs = {frozenset((one.one, one.other)) for one in by_fact.values()}
    beside: dict[frozenset[int], Joined] = {}
    for one in joined:
        if one.fact is None and (pair := frozenset((one.one, one.other))) not in pairs:
            beside.setdefault(pair, one)
    return [*by_fact.values(), *beside.values()]


def _by_facts(conn: Connection, objects: Sequence[int], known_on: int, at: int) -> list[Joined]:
    told = facts.list_about(conn, objects, known_on, at, relations=True)
    rows = conn.execute(
        f"SELECT e.id, e.src, e.dst FROM edge e WHERE e.id IN {LISTED}", (id_list(one.id for one in told),)
    )
    ends = {id: (src, dst) for id, src, dst in rows}
    return [Joined(*ends[one.id], one) for one in told if one.id in ends]


def _beside(conn: Connection, objects: Sequence[int], at: int, limit: int) -> list[tuple[int, int]]:
    """(object, passages): what the newest passages that mentioned these by then mention most often; nothing that has a
    name of theirs."""
    types = ", ".join(f"'{type}'" for type in HIDDEN)
    return conn.execute(
        "SELECT m.dst, count(*) AS passages FROM (SELECT DISTINCT g.src FROM edge g JOIN episode e ON e.node_id = g.src"
        f" JOIN source s ON s.id = e.source_id WHERE g.dst IN {LISTED} AND g.kind = 'mention' AND {is_live('g')}"
        "  AND ifnull(ifnull(e.event_from, s.at), 0) <= ? ORDER BY g.src DESC LIMIT ?) here"
        f" JOIN edge m ON m.src = here.src AND m.kind = 'mention' AND {is_live('m')} JOIN object o ON o.node_id = m.dst"
        f" AND ifnull(o.type, '') NOT IN ({types}) JOIN node n ON n.id = m.dst AND n.{LIVE}"
        " WHERE m.dst NOT IN (SELECT b.node_id FROM alias a JOIN alias b ON b.norm = a.norm"
        f"  WHERE a.node_id IN {LISTED}) GROUP BY m.dst ORDER BY passages DESC, m.dst LIMIT ?",
        (id_list(objects), at, NEWEST_PASSAGES, id_list(objects), limit),
    ).fetchall()
