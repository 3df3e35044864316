"""What is known of an object: the theses that speak of it and its relations, at a time or in all of history."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from memory.nouns import Fact, line_at
from memory.store.codec import id_list
from memory.store.connect import Connection
from memory.store.visibility import recorded, visible
from memory.times import from_ms, to_ms


def about(
    conn: Connection, norm: str, now: int, as_of: datetime | None = None, history: bool = False
) -> list[Fact] | None:
    """Facts about the objects that have `norm` among their aliases, newest first; None if nothing has.

    What held in the world at `as_of` (default: `now`, ms UTC), as the memory knows it at `now`. With `history` all
    that was ever known, replaced and retired facts too.
    """
    objects = [id for (id,) in conn.execute("SELECT node_id FROM alias WHERE norm = ?", (norm,))]
    if not objects:
        return None
    ids = id_list(objects)
    times = {"ids": ids, "known_on": now, "at": now if as_of is None else to_ms(as_of)}
    theses = conn.execute(_THESES.format(seen="1" if history else _SEEN_THESIS), times).fetchall()
    seen, told = ("1", "1") if history else (_SEEN_RELATION, _TOLD)
    relations = conn.execute(_RELATIONS.format(seen=seen, told=told), times).fetchall()
    names = _objects_of(conn, [row[0] for row in theses])
    facts = [_fact("thesis", row, names.get(row[0], ())) for row in theses]
    facts += [_fact("relation", row[:-2], (row[-2], row[-1])) for row in relations]
    return sorted(facts, key=lambda fact: (fact.valid_from or fact.recorded, fact.id), reverse=True)


_SEEN_THESIS = visible("n", ":known_on", ":at", "t")
_SEEN_RELATION = visible("r", ":known_on", ":at")
_TOLD = recorded("told", ":known_on")

# Columns: id, text, valid from and to, created, expired, superseded by, episode, uri, its first line and line map,
# its text, the span.
_THESES = """
SELECT t.node_id, ifnull(t.text, substr(e.text, t.span_from + 1, t.span_to - t.span_from)), t.valid_from, t.valid_to,
       n.t_created, n.t_expired, t.superseded_by, e.node_id, s.uri, e.line_from, e.line_map, e.text, t.span_from
FROM thesis t JOIN node n ON n.id = t.node_id JOIN episode e ON e.node_id = t.episode_id
JOIN source s ON s.id = e.source_id
WHERE t.node_id IN (
  SELECT m.src FROM json_each(:ids) o JOIN edge m ON m.dst = o.value AND m.kind = 'member' AND m.t_expired IS NULL
  UNION
  SELECT m.src FROM json_each(:ids) o JOIN edge m ON m.dst = o.value AND m.kind = 'member' AND m.t_expired IS NOT NULL)
AND {seen}
"""

_RELATIONS = """
SELECT r.id, ifnull(r.text, concat_ws(' ', a.label, p.label, b.label)), r.valid_from, r.valid_to,
       r.t_created, r.t_expired, r.superseded_by, e.node_id, s.uri, e.line_from, e.line_map, e.text, v.span_from,
       a.label, b.label
FROM edge r JOIN node a ON a.id = r.src JOIN node b ON b.id = r.dst LEFT JOIN predicate p ON p.id = r.pred_id
JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = r.id
 AND v.episode_id = (SELECT min(p.episode_id) FROM provenance p JOIN node told ON told.id = p.episode_id
                      WHERE p.item_kind = 'edge' AND p.item_id = r.id AND {told})
JOIN episode e ON e.node_id = v.episode_id JOIN source s ON s.id = e.source_id
WHERE r.kind = 'rel' AND (r.src IN (SELECT value FROM json_each(:ids)) OR r.dst IN (SELECT value FROM json_each(:ids)))
AND {seen}
"""


def _fact(kind: Any, row: tuple[Any, ...], objects: Iterable[str]) -> Fact:
    id, text, valid_from, valid_to, created, expired, superseded_by, episode, uri, first, line_map, body, start = row
    line = line_at(first, json.loads(line_map or "[]"), body, start or 0)
    return Fact(
        id, kind, text, tuple(objects), from_ms(valid_from), from_ms(valid_to), from_ms(created), from_ms(expired),
        superseded_by, episode, uri, line,
    )  # fmt: skip


def _objects_of(conn: Connection, theses: list[int]) -> dict[int, tuple[str, ...]]:
    """Names of all objects a thesis speaks of, or spoke of before it was retired."""
    found: dict[int, tuple[str, ...]] = {}
    for live in ("IS NULL", "IS NOT NULL"):  # two partial indexes
        for id, name in conn.execute(
            "SELECT DISTINCT m.src, o.label FROM edge m JOIN node o ON o.id = m.dst"
            f" WHERE m.kind = 'member' AND m.t_expired {live} AND m.src IN (SELECT value FROM json_each(?))"
            " ORDER BY m.src, m.id",
            (id_list(theses),),
        ):
            if name not in found.get(id, ()):
                found[id] = (*found.get(id, ()), name)
    return found
