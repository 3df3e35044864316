"""Relations as rows: typed edges between objects, with their evidence, the episodes that assert them.

A relation is live while it has evidence in a live episode. All times are ms UTC. In queries for the evidence of some
episodes, `+item_kind` makes SQLite use the index on episodes."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from memory.nouns import Modality
from memory.store.connect import (
    FIRST_EDGE,
    LISTED,
    LIVE,
    Connection,
    group_rows,
    id_list,
    insert_row,
    is_asserted,
    is_live,
    read_column,
)
from memory.store.graph import allocate, retire_edges

WHOLE = 200  # relations of a slot that are all compared
NEWEST = 1 << 62  # later than any time


class Relation(NamedTuple):
    """A live relation. `canon` is the id of its canonical predicate, `predicate` the one it was asserted with;
    `last_asserted` is the time of its newest evidence, `sources` the ids of the sources of all evidence."""

    id: int
    subject: int
    object: int
    canon: int
    predicate: str
    modality: Modality
    valid_from: int | None
    valid_to: int | None
    superseded_by: int | None
    last_asserted: int | None
    sources: frozenset[int]


def insert(
    conn: Connection,
    subject: int,
    predicate: int,
    object: int,
    modality: Modality,
    conf: float,
    valid_from: int | None,
    valid_to: int | None,
    now: int,
) -> int:
    """Inserts a relation; returns its id. If an equal one of another modality is live, it starts a moment later,
    because only one copy of an edge may be live."""
    start = valid_from
    while conn.execute(
        "SELECT 1 FROM edge WHERE src = ? AND kind = 'rel' AND dst = ? AND ifnull(pred_id, 0) = ?"
        f" AND ifnull(valid_from, 0) = ifnull(?, 0) AND {LIVE}",
        (subject, object, predicate, start),
    ).fetchone():
        start = (start or 0) + 1
    end = valid_to if start is None or valid_to is None else max(start, valid_to)
    return insert_row(
        conn, "edge", id=allocate(conn, "edge", 1), kind="rel", src=subject, dst=object, pred_id=predicate, conf=conf,
        modality=None if modality == "asserted" else modality, valid_from=start, valid_to=end, t_created=now,
    )  # fmt: skip


def find_without_evidence(
    conn: Connection, subject: int, predicate: int, object: int, modality: Modality, valid_from: int | None
) -> int | None:
    """Returns the equal live relation without live evidence, whose source was deleted and returned, or None."""
    ids = read_column(
        conn,
        "SELECT e.id FROM edge e WHERE e.src = ? AND e.kind = 'rel' AND e.dst = ? AND e.pred_id = ?"
        f" AND ifnull(e.modality, 'asserted') = ? AND e.valid_from IS ? AND {is_live('e')} AND NOT {is_asserted('e')}"
        " ORDER BY e.id LIMIT 1",
        subject, object, predicate, modality, valid_from,
    )  # fmt: skip
    return ids[0] if ids else None


def quotes(conn: Connection, going: Sequence[int], added: Sequence[int]) -> list[tuple[int, str, str | None, int, str]]:
    """Returns (relation, extractor, its quote, other episode, its text) for each relation asserted by an episode of
    `going` and each episode of `added` from the same source; the quote is None for a property of the source."""
    return conn.execute(
        "SELECT v.item_id, v.extractor, substr(o.text, v.span_from + 1, v.span_to - v.span_from), e.node_id, e.text"
        " FROM provenance v JOIN episode o ON o.node_id = v.episode_id JOIN episode e ON e.source_id = o.source_id"
        f" AND e.node_id IN {LISTED} WHERE +v.item_kind = 'edge'"
        f" AND v.episode_id IN {LISTED} ORDER BY v.item_id, e.node_id",
        (id_list(added), id_list(going)),
    ).fetchall()


def has_evidence(conn: Connection, id: int, episode: int, start: int, extractor: str) -> bool:
    """Whether the episode is evidence of the relation from that position on (-1: in its source's properties)."""
    query = "SELECT 1 FROM provenance WHERE item_kind = 'edge' AND item_id = ? AND episode_id = ? AND extractor = ?"
    return bool(read_column(conn, f"{query} AND ifnull(span_from, -1) = ?", id, episode, extractor, start))


def add_evidence(conn: Connection, id: int, episode: int, start: int, end: int, extractor: str) -> bool:
    """Adds the words [start, end) of an episode as evidence (-1: in its source's properties); False if known."""
    span = (start, end) if start >= 0 else (None, None)
    return bool(
        conn.execute(
            "INSERT INTO provenance(item_kind, item_id, episode_id, span_from, span_to, extractor)"
            " VALUES ('edge', ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (id, episode, *span, extractor),
        ).rowcount
    )


def predecessors(conn: Connection, ids: Sequence[int]) -> dict[int, list[int]]:
    """Returns {relation: the relations it replaced, directly or indirectly, latest first}."""
    took: dict[int, list[int]] = {}
    waiting = set(ids)
    while waiting:
        rows = conn.execute(
            "SELECT DISTINCT r.new_id, r.old_id FROM revision r JOIN edge e ON e.id = r.old_id"
            " AND e.superseded_by = r.new_id WHERE r.relation = 'supersedes' AND r.state IN ('open', 'kept')"
            f" AND r.new_id IN {LISTED} ORDER BY r.new_id, e.valid_from DESC, r.old_id DESC",
            (id_list(sorted(waiting)),),
        ).fetchall()
        took |= group_rows(rows)
        waiting = {old for _, old in rows} - took.keys()
    replaced: dict[int, list[int]] = {}
    for id in ids:
        row = list(took.get(id, ()))
        for old in row:
            row += [older for older in took.get(old, ()) if older not in row and older != id]
        replaced[id] = row
    return replaced


def find_overlapping(conn: Connection, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Returns (relation, other relation) with evidence in overlapping words of a live episode."""
    return conn.execute(
        "SELECT DISTINCT a.item_id, b.item_id FROM provenance a JOIN node n ON n.id = a.episode_id"
        f" AND {is_live('n')} JOIN provenance b ON b.episode_id = a.episode_id AND b.item_kind = 'edge'"
        " AND b.item_id <> a.item_id AND b.span_from < a.span_to AND b.span_to > a.span_from"
        f" WHERE a.item_kind = 'edge' AND a.item_id IN {LISTED} ORDER BY 1, 2",
        (id_list(ids),),
    ).fetchall()


def sentences(conn: Connection, ids: Sequence[int]) -> list[tuple[int, int, str]]:
    """Returns (relation, episode, text) of each sentence and model's thesis inside the evidence of one of these."""
    return conn.execute(
        "SELECT v.item_id, v.episode_id, ifnull(t.text, substr(e.text, t.span_from + 1, t.span_to - t.span_from))"
        f" FROM provenance v JOIN node n ON n.id = v.episode_id AND {is_live('n')}"
        " JOIN episode e ON e.node_id = v.episode_id JOIN thesis t ON t.episode_id = v.episode_id"
        " AND t.span_from < v.span_to AND t.span_to > v.span_from WHERE v.item_kind = 'edge'"
        f" AND v.item_id IN {LISTED} ORDER BY v.item_id, v.episode_id, t.node_id",
        (id_list(ids),),
    ).fetchall()


def list_sole_theses(conn: Connection, fact: int) -> list[tuple[int, str]]:
    """Returns (thesis, text) of each current sentence and model's thesis inside the evidence of a fact, if no other
    relation that holds has its evidence there."""
    return conn.execute(
        f"""
WITH inside AS (
  SELECT episode_id, span_from, span_to FROM provenance WHERE item_kind = 'edge' AND item_id = ?1
  UNION SELECT episode_id, span_from, span_to FROM thesis WHERE node_id = ?1
)
SELECT DISTINCT t.node_id, ifnull(t.text, substr(o.text, t.span_from + 1, t.span_to - t.span_from))
FROM inside i JOIN thesis t ON t.episode_id = i.episode_id AND t.span_from < i.span_to AND t.span_to > i.span_from
JOIN node n ON n.id = t.node_id AND {is_live("n")} JOIN episode o ON o.node_id = t.episode_id
WHERE t.node_id <> ?1 AND t.valid_to IS NULL AND t.superseded_by IS NULL AND NOT EXISTS (
  SELECT 1 FROM provenance v JOIN edge e ON e.id = v.item_id AND {is_live("e")}
  WHERE v.item_kind = 'edge' AND v.episode_id = t.episode_id AND v.span_from < t.span_to AND v.span_to > t.span_from
  AND e.id <> ?1 AND e.superseded_by IS NULL AND e.valid_to IS NULL)
ORDER BY t.node_id
""",
        (fact,),
    ).fetchall()


def replaced_by(conn: Connection, ids: Sequence[int]) -> list[int]:
    """Returns the facts, relations and theses, that these replaced by accepted revisions, latest first."""
    return read_column(
        conn,
        "SELECT old_id FROM revision WHERE relation = 'supersedes' AND state IN ('open', 'kept')"
        f" AND new_id IN {LISTED} ORDER BY id DESC",
        id_list(ids),
    )


def evidence(conn: Connection, ids: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Returns (relation, episode, start, end) of the evidence of these in the text of live episodes."""
    return conn.execute(
        "SELECT v.item_id, v.episode_id, v.span_from, v.span_to FROM provenance v"
        f" JOIN node n ON n.id = v.episode_id AND {is_live('n')} WHERE v.item_kind = 'edge'"
        f" AND v.item_id IN {LISTED} AND v.span_from IS NOT NULL ORDER BY 1, 2",
        (id_list(ids),),
    ).fetchall()


def list_by_episodes(conn: Connection, episodes: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Returns (relation, episode, start, end) of each live relation with evidence in the text of one of these."""
    rows = conn.execute(
        "SELECT v.item_id, v.episode_id, v.span_from, v.span_to FROM provenance v JOIN edge e ON e.id = v.item_id"
        f" WHERE +v.item_kind = 'edge' AND v.episode_id IN {LISTED} AND e.kind = 'rel'"
        f" AND {is_live('e')} AND v.span_from IS NOT NULL ORDER BY v.episode_id, v.span_from, v.item_id",
        (id_list(episodes),),
    )
    return rows.fetchall()


def rejected_quotes(conn: Connection, episodes: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """Returns {episode: [(start, end)] of its words that assert a relation which a person rejected}."""
    rows = conn.execute(
        "SELECT v.episode_id, v.span_from, v.span_to FROM provenance v JOIN journal j ON j.item_id = v.item_id"
        " JOIN revision r ON r.id = j.revision_id WHERE j.item_kind = 'edge' AND j.field = 't_expired'"
        " AND r.state = 'kept' AND r.relation <> 'duplicates' AND +v.item_kind = 'edge' AND v.span_from IS NOT NULL"
        f" AND v.episode_id IN {LISTED} ORDER BY v.episode_id, v.span_from",
        (id_list(episodes),),
    )
    return group_rows((episode, (start, end)) for episode, start, end in rows)


def list_labelled(conn: Connection, labels: Sequence[str]) -> list[int]:
    """Returns the live relations with one of these predicates, by id."""
    query = f"SELECT e.id FROM predicate p JOIN edge e ON e.pred_id = p.id AND e.kind = 'rel' AND {is_live('e')}"
    return read_column(conn, f"{query} WHERE p.label IN {LISTED} ORDER BY e.id", json.dumps(list(labels)))


def property_evidence(conn: Connection, ids: Sequence[int]) -> list[tuple[int, int, str, str]]:
    """Returns (relation, episode, predicate, object) of evidence in the properties of a live episode's source."""
    return conn.execute(
        "SELECT v.item_id, v.episode_id, p.label, o.label FROM provenance v JOIN edge e ON e.id = v.item_id"
        " JOIN predicate p ON p.id = e.pred_id JOIN node o ON o.id = e.dst"
        f" JOIN node n ON n.id = v.episode_id AND {is_live('n')} WHERE v.item_kind = 'edge'"
        f" AND v.item_id IN {LISTED} AND v.span_from IS NULL ORDER BY 1, 2",
        (id_list(ids),),
    ).fetchall()


def remove_evidence(conn: Connection, id: int, episode: int, now: int) -> bool:
    """Removes an episode from the evidence of a relation; returns whether that retired the relation."""
    condition = "FROM provenance WHERE item_kind = 'edge' AND item_id = ? AND episode_id"
    is_only = not read_column(conn, f"SELECT 1 {condition} <> ? LIMIT 1", id, episode)
    if is_only:
        retire_edges(conn, [id], now)
    else:
        conn.execute(f"DELETE {condition} = ?", (id, episode))
    return is_only


def list_without_evidence(conn: Connection, episodes: Iterable[int]) -> list[int]:
    """Returns the facts, relations and model's theses, with evidence in these retired episodes only."""
    return read_column(
        conn,
        "SELECT t.node_id FROM thesis t WHERE t.origin = 'model' AND t.episode_id IN (SELECT value FROM json_each(?1))"
        " UNION SELECT p.item_id FROM provenance p"
        " JOIN edge e ON e.id = p.item_id WHERE +p.item_kind = 'edge'"
        f" AND p.episode_id IN (SELECT value FROM json_each(?1)) AND NOT {is_asserted('e')} ORDER BY 1",
        id_list(episodes),
    )


def find_incident(conn: Connection, nodes: Sequence[int], most: int) -> list[Relation]:
    """Returns the live relations from or to one of these objects with live evidence, by id; the newest `most`."""
    ids: set[int] = set()
    for end in ("src", "dst"):
        query = f"SELECT id FROM edge WHERE {end} = ? AND kind = 'rel' AND {LIVE} ORDER BY id DESC LIMIT ?"
        ids.update(*(read_column(conn, query, node, most) for node in nodes))
    return get_many(conn, sorted(ids)[-most:])


def list_by_slot(conn: Connection, subject: int, canon: int, object: int, at: int | None) -> list[Relation]:
    """Returns the live relations of a subject with one canonical predicate, by id. Of a very large slot those to
    `object` and, per predicate, those that begin nearest to `at` (ms UTC; None: the newest) or have no beginning."""
    ids = read_column(conn, _SLOT + " LIMIT ?", subject, canon, WHOLE + 1)
    if len(ids) > WHOLE:
        ids = read_column(conn, _SLOT + " AND dst = ?", subject, canon, object)
        for predicate in read_column(conn, "SELECT id FROM predicate WHERE id = ?1 OR canon_id = ?1", canon):
            for beginning in ("<= ?3 ORDER BY valid_from DESC", "> ?3 ORDER BY valid_from", "IS NULL ORDER BY id DESC"):
                query = f"SELECT id FROM edge WHERE pred_id = ?1 AND src = ?2 AND kind = 'rel' AND {LIVE}"
                next_to = f"{query} AND valid_from {beginning} LIMIT ?4"
                ids += read_column(conn, next_to, predicate, subject, NEWEST if at is None else at, WHOLE // 4)
    return get_many(conn, sorted(set(ids)))


_SLOT = f"""
SELECT id FROM edge WHERE src = ?1 AND kind = 'rel' AND {LIVE}
 AND pred_id IN (SELECT id FROM predicate WHERE id = ?2 OR canon_id = ?2)"""


def duplicate_groups(conn: Connection) -> list[list[int]]:
    """Groups of live, unreplaced relations with the same subject, canonical predicate, object, modality and end, sorted
    by first id."""
    rows = conn.execute(
        "SELECT json_group_array(e.id) FROM edge e JOIN predicate p ON p.id = e.pred_id WHERE e.kind = 'rel'"
        f" AND {is_live('e')} AND e.superseded_by IS NULL"
        " GROUP BY e.src, ifnull(p.canon_id, p.id), e.dst, e.modality, e.valid_to HAVING count(*) > 1"
        " ORDER BY min(e.id)"
    )
    return [sorted(json.loads(listed)) for (listed,) in rows]


def get_many(conn: Connection, ids: Sequence[int], ever: bool = False) -> list[Relation]:
    """Returns the live ones of these relations with live evidence, or all that `ever` had any, by id."""
    rows = conn.execute(_RELATIONS.format(evidence="1" if ever else is_live("n")), (id_list(ids),)).fetchall()
    return [_make_relation(row) for row in rows]


def get_claims(conn: Connection, ids: Sequence[int], ever: bool = False) -> list[Relation]:
    """Returns the current ones of these facts, or all that `ever` were, by id. Theses have no predicate and are their
    own subject and object."""
    listed = id_list(id for id in ids if id < FIRST_EDGE)
    theses = conn.execute(_THESES.format(shown="1" if ever else is_live("n")), (listed,)).fetchall()
    return [*map(_make_relation, theses), *get_many(conn, [id for id in ids if id >= FIRST_EDGE], ever)]


_THESES = """
SELECT t.node_id, t.node_id, t.node_id, 0, '', t.modality, t.valid_from, t.valid_to, t.superseded_by, o.event_from,
       o.source_id
FROM thesis t JOIN node n ON n.id = t.node_id AND {shown} JOIN episode o ON o.node_id = t.episode_id
WHERE t.node_id IN (SELECT value FROM json_each(?)) ORDER BY t.node_id
"""
_RELATIONS = f"""
SELECT e.id, e.src, e.dst, ifnull(p.canon_id, p.id), p.label, ifnull(e.modality, 'asserted'), e.valid_from, e.valid_to,
       e.superseded_by, max(o.event_from), group_concat(DISTINCT o.source_id)
FROM edge e JOIN predicate p ON p.id = e.pred_id
JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = e.id
JOIN node n ON n.id = v.episode_id AND {{evidence}} JOIN episode o ON o.node_id = n.id
WHERE e.id IN {LISTED} AND e.kind = 'rel' AND {is_live("e")}
GROUP BY e.id ORDER BY e.id
"""


def _make_relation(row: tuple[Any, ...]) -> Relation:
    return Relation._make((*row[:-1], frozenset(map(int, str(row[-1]).split(",")))))


def list_by_properties(conn: Connection, episode: int, extractor: str) -> list[int]:
    """Returns live relations from the properties of an episode's source."""
    query = f"SELECT item_id FROM provenance p JOIN edge e ON e.id = p.item_id AND {is_live('e')}"
    condition = "p.item_kind = 'edge' AND p.episode_id = ? AND p.span_from IS NULL AND p.extractor = ?"
    return read_column(conn, f"{query} WHERE {condition}", episode, extractor)


def count_support(conn: Connection, id: int) -> None:
    """Adds one to the supporting passages."""
    conn.execute("UPDATE edge SET n_support = n_support + 1 WHERE id = ?", (id,))


def set_field(conn: Connection, id: int, field: Literal["valid_from", "t_expired"], value: int) -> None:
    """Changes a field, unless that would duplicate a relation."""
    conn.execute(f"UPDATE OR IGNORE edge SET {field} = ? WHERE id = ?", (value, id))


def latest_evidence(conn: Connection, id: int) -> tuple[int, float, int, int | None, int | None, str]:
    """Returns (predicate, confidence, episode, start, end, extractor) of the newest evidence of a relation."""
    row: tuple[int, float, int, int | None, int | None, str] = conn.execute(
        "SELECT e.pred_id, e.conf, v.episode_id, v.span_from, v.span_to, v.extractor FROM edge e"
        " JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = e.id JOIN episode o ON o.node_id = v.episode_id"
        " WHERE e.id = ? ORDER BY o.event_from DESC, o.node_id DESC LIMIT 1",
        (id,),
    ).fetchone()
    return row


def live_spans(conn: Connection, ids: Sequence[int]) -> list[tuple[int, int, int, int | None, int | None, str]]:
    """Returns (id, subject, object, valid from, valid to, the episodes that assert it as JSON) of the live relations
    among these edges."""
    return conn.execute(
        "SELECT id, src, dst, valid_from, valid_to, (SELECT json_group_array(episode_id) FROM provenance"
        " WHERE item_kind = 'edge' AND item_id = edge.id)"
        f" FROM edge WHERE id IN {LISTED} AND kind = 'rel' AND {LIVE} ORDER BY id",
        (id_list(ids),),
    ).fetchall()


# Predicates, the types of relations, each with its canonical one --------------------------------------------------


def ensure_predicate(conn: Connection, label: str, canonical: str) -> tuple[int, int]:
    """Returns ids of the predicate `label` and of its canonical one, created if new."""
    canon = _ensure_label(conn, canonical, None)
    return (canon if label == canonical else _ensure_label(conn, label, canon)), canon


def list_predicates(conn: Connection) -> list[str]:
    """Returns the labels of all predicates."""
    return [label for (label,) in conn.execute("SELECT label FROM predicate ORDER BY label")]


def _ensure_label(conn: Connection, label: str, canon: int | None) -> int:
    ids = read_column(conn, "SELECT id FROM predicate WHERE label = ?", label)
    return ids[0] if ids else insert_row(conn, "predicate", label=label, canon_id=canon)
