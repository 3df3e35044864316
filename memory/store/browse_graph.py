"""A part of the graph for display: objects, the sources that mention them, and relations with their times."""

from collections.abc import Sequence
from typing import NamedTuple

from memory.store.browse import HIDDEN, NEWEST_PASSAGES
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, id_list, is_asserted, is_live

RELATED = 1 << 40  # exceeds the number of any joint mentions
EDGES_PER_VERTEX = 4  # of each kind: a larger drawing is unreadable


class Vertex(NamedTuple):
    """An object, or a source, whose id is negative and which has a `uri`. `at`: ms UTC, of a source. `degree`: its
    number of edges in the whole memory."""

    id: int
    label: str
    type: str | None
    uri: str
    at: int | None
    degree: int


class Edge(NamedTuple):
    """A relation between two objects or, without a `predicate`, a mention of one by a source. Times: ms UTC."""

    id: int
    src: int
    dst: int
    predicate: str
    valid_from: int | None
    valid_to: int | None


def list_things(conn: Connection, objects: Sequence[int], limit: int) -> list[int]:
    """The first of these ids that belong to live things."""
    rows = conn.execute(
        f"SELECT o.node_id FROM json_each(?) given JOIN object o ON o.node_id = given.value"
        f" AND ifnull(o.type, '') NOT IN {HIDDEN} JOIN node n ON n.id = o.node_id AND {is_live('n')}"
        " ORDER BY given.key LIMIT ?",
        (id_list(objects), limit),
    )
    return [id for (id,) in rows]


def list_joined(conn: Connection, objects: Sequence[int], limit: int) -> list[int]:
    """Ids of live objects related to these, then of things most often mentioned with them."""
    ours = "(SELECT value FROM json_each(:ids))"
    related = (
        f"SELECT dst AS id, {RELATED} AS times FROM edge WHERE src IN {ours} AND kind = 'rel' AND {LIVE}"
        f" UNION ALL SELECT src, {RELATED} FROM edge WHERE dst IN {ours} AND kind = 'rel' AND {LIVE}"
    )
    mentioned = (
        f"SELECT m.dst, count(*) FROM (SELECT DISTINCT src FROM edge WHERE dst IN {ours} AND kind = 'mention'"
        f" AND {LIVE} ORDER BY src DESC LIMIT :newest) here JOIN edge m ON m.src = here.src AND m.kind = 'mention'"
        f" AND {is_live('m')} GROUP BY m.dst"
    )
    rows = conn.execute(
        f"SELECT found.id FROM ({related} UNION ALL {mentioned}) found JOIN object o ON o.node_id = found.id"
        f" AND (found.times = {RELATED} OR ifnull(o.type, '') NOT IN {HIDDEN})"
        f" JOIN node n ON n.id = found.id AND {is_live('n')}"
        f" WHERE found.id NOT IN {ours} GROUP BY found.id ORDER BY max(found.times) DESC, found.id LIMIT :limit",
        {"ids": id_list(objects), "limit": limit, "newest": NEWEST_PASSAGES},
    )
    return [id for (id,) in rows]


def list_mentioned(conn: Connection, source: int, limit: int) -> list[int]:
    """Ids of the objects that a source mentions, in order."""
    rows = conn.execute(
        "SELECT m.dst FROM episode e JOIN edge m ON m.src = e.node_id AND m.kind = 'mention'"
        f" AND {is_live('m')} JOIN object o ON o.node_id = m.dst AND ifnull(o.type, '') NOT IN {HIDDEN}"
        " WHERE e.source_id = ? GROUP BY m.dst ORDER BY min(e.seq), m.dst LIMIT ?",
        (source, limit),
    )
    return [id for (id,) in rows]


def list_sources(conn: Connection, objects: Sequence[int], limit: int) -> list[int]:
    """Ids of the live sources that mention most of these objects."""
    rows = conn.execute(
        "SELECT s.id FROM edge m JOIN episode e ON e.node_id = m.src JOIN source s ON s.id = e.source_id"
        f" WHERE m.dst IN {LISTED} AND m.kind = 'mention' AND {is_live('m')} AND s.t_deleted IS NULL"
        " GROUP BY s.id ORDER BY count(DISTINCT m.dst) DESC, s.at DESC, s.id DESC LIMIT ?",
        (id_list(objects), limit),
    )
    return [id for (id,) in rows]


def read_vertices(conn: Connection, objects: Sequence[int], sources: Sequence[int]) -> list[Vertex]:
    """These objects and sources, sorted by id."""
    rows = conn.execute(
        "SELECT n.id, n.label, o.type, '', NULL,"
        f" (SELECT count(*) FROM edge e WHERE e.dst = n.id AND {is_live('e')})"
        f" + (SELECT count(*) FROM edge e WHERE e.src = n.id AND e.kind = 'rel' AND {is_live('e')})"
        f" FROM node n JOIN object o ON o.node_id = n.id WHERE n.id IN {LISTED} ORDER BY n.id",
        (id_list(objects),),
    ).fetchall()
    rows += conn.execute(
        "SELECT -s.id, s.title, 'note', s.uri, s.at, (SELECT count(DISTINCT m.dst) FROM episode e JOIN edge m ON"
        f" m.src = e.node_id AND m.kind = 'mention' AND {is_live('m')} WHERE e.source_id = s.id)"
        f" FROM source s WHERE s.id IN {LISTED} ORDER BY s.id",
        (id_list(sources),),
    ).fetchall()
    return [Vertex(*row) for row in rows]


def read_edges(conn: Connection, objects: Sequence[int], sources: Sequence[int]) -> list[Edge]:
    """The edges between these objects and sources: relations, replaced ones included, then mentions."""
    values = {"objects": id_list(objects), "sources": id_list(sources)}
    most = EDGES_PER_VERTEX * (len(objects) + len(sources))
    theirs = "(SELECT value FROM json_each(:objects))"
    relations = conn.execute(
        "SELECT r.id, r.src, r.dst, p.label, r.valid_from, r.valid_to FROM edge r JOIN predicate p ON p.id = r.pred_id"
        f" WHERE r.kind = 'rel' AND r.src IN {theirs} AND r.dst IN {theirs} AND {is_live('r')}"
        f" AND (r.superseded_by IS NOT NULL OR {is_asserted('r')}) ORDER BY r.id DESC LIMIT :most",
        values | {"most": most},
    ).fetchall()
    mentions = conn.execute(
        "SELECT min(m.id), -e.source_id, m.dst, '', min(ifnull(e.event_from, s.at)), NULL FROM edge m"
        " JOIN episode e ON e.node_id = m.src JOIN source s ON s.id = e.source_id"
        f" WHERE m.kind = 'mention' AND m.dst IN {theirs} AND {is_live('m')}"
        " AND e.source_id IN (SELECT value FROM json_each(:sources))"
        " GROUP BY e.source_id, m.dst ORDER BY count(*) DESC, min(m.id) LIMIT :most",
        values | {"most": most},
    ).fetchall()
    return [Edge(*row) for row in relations + mentions]
