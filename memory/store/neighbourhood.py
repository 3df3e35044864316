"""Parts of the graph for display: objects, the sources that mention them, relations with their times; and the
neighbourhood of an object."""

from collections.abc import Sequence
from dataclasses import replace

from memory.store import facts, relations
from memory.store.browse import HIDDEN, name_kind
from memory.store.connect import LISTED, LIVE, Connection, id_list, is_asserted, is_live
from memory.time.timestamps import from_wall, wall_of
from memory.views import GraphEdge, GraphNode

RELATED = 1 << 40  # exceeds the number of any joint mentions
EDGES_PER_VERTEX = 4  # of each kind: a larger drawing is unreadable
NEWEST_PASSAGES = 200  # passages of an object searched for its neighbours
MAX_JOINT = 12  # objects mentioned together with one


def list_things(conn: Connection, objects: Sequence[int], limit: int) -> list[int]:
    """Returns the first of these ids that belong to live things."""
    rows = conn.execute(
        f"SELECT o.node_id FROM json_each(?) given JOIN object o ON o.node_id = given.value"
        f" AND ifnull(o.type, '') NOT IN {HIDDEN} JOIN node n ON n.id = o.node_id AND {is_live('n')}"
        " ORDER BY given.key LIMIT ?",
        (id_list(objects), limit),
    )
    return [id for (id,) in rows]


# SQL: how often things are mentioned together with objects (the list :ids), in the newest passages that mention these.
_MENTIONED_WITH = (
    "SELECT m.dst AS id, count(*) AS times FROM (SELECT DISTINCT src FROM edge WHERE dst IN"
    f" (SELECT value FROM json_each(:ids)) AND kind = 'mention' AND {LIVE} ORDER BY src DESC LIMIT {NEWEST_PASSAGES})"
    f" here JOIN edge m ON m.src = here.src AND m.kind = 'mention' AND {is_live('m')} GROUP BY m.dst"
)


def list_joined(conn: Connection, objects: Sequence[int], limit: int) -> list[int]:
    """Returns ids of live objects related to these, then of things most often mentioned with them."""
    ours = "(SELECT value FROM json_each(:ids))"
    related = (
        f"SELECT dst AS id, {RELATED} AS times FROM edge WHERE src IN {ours} AND kind = 'rel' AND {LIVE}"
        f" UNION ALL SELECT src, {RELATED} FROM edge WHERE dst IN {ours} AND kind = 'rel' AND {LIVE}"
    )
    rows = conn.execute(
        f"SELECT found.id FROM ({related} UNION ALL {_MENTIONED_WITH}) found JOIN object o ON o.node_id = found.id"
        f" AND (found.times = {RELATED} OR ifnull(o.type, '') NOT IN {HIDDEN})"
        f" JOIN node n ON n.id = found.id AND {is_live('n')}"
        f" WHERE found.id NOT IN {ours} GROUP BY found.id ORDER BY max(found.times) DESC, found.id LIMIT :limit",
        {"ids": id_list(objects), "limit": limit},
    )
    return [id for (id,) in rows]


def list_mentioned(conn: Connection, source: int, limit: int) -> list[int]:
    """Returns ids of the objects that a source mentions, in order."""
    rows = conn.execute(
        "SELECT m.dst FROM episode e JOIN edge m ON m.src = e.node_id AND m.kind = 'mention'"
        f" AND {is_live('m')} JOIN object o ON o.node_id = m.dst AND ifnull(o.type, '') NOT IN {HIDDEN}"
        " WHERE e.source_id = ? GROUP BY m.dst ORDER BY min(e.seq), m.dst LIMIT ?",
        (source, limit),
    )
    return [id for (id,) in rows]


def list_sources(conn: Connection, objects: Sequence[int], limit: int) -> list[int]:
    """Returns ids of the live sources that mention most of these objects."""
    rows = conn.execute(
        "SELECT s.id FROM edge m JOIN episode e ON e.node_id = m.src JOIN source s ON s.id = e.source_id"
        f" WHERE m.dst IN {LISTED} AND m.kind = 'mention' AND {is_live('m')} AND s.t_deleted IS NULL"
        " GROUP BY s.id ORDER BY count(DISTINCT m.dst) DESC, s.at DESC, s.id DESC LIMIT ?",
        (id_list(objects), limit),
    )
    return [id for (id,) in rows]


def read_vertices(conn: Connection, objects: Sequence[int], sources: Sequence[int]) -> tuple[GraphNode, ...]:
    """Returns these objects and sources, sorted by id."""
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
    return tuple(
        GraphNode(id, label, name_kind(type), uri, from_wall(at), degree) for id, label, type, uri, at, degree in rows
    )


def read_edges(conn: Connection, objects: Sequence[int], sources: Sequence[int]) -> tuple[GraphEdge, ...]:
    """Returns the edges between these objects and sources: relations, replaced ones included, then mentions."""
    values = {"objects": id_list(objects), "sources": id_list(sources)}
    most = EDGES_PER_VERTEX * (len(objects) + len(sources))
    theirs = "(SELECT value FROM json_each(:objects))"
    stated = conn.execute(
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
    return tuple(
        GraphEdge(id, src, dst, predicate, from_wall(since), from_wall(until))
        for id, src, dst, predicate, since, until in stated + mentions
    )


def explore(conn: Connection, center: Sequence[int], now: int, limit: int) -> list[GraphEdge]:
    """Returns the edges between objects that are one thing, as its first id, and up to `limit` others: facts, newest
    first, then joint mentions of objects without a fact."""
    middle, same = center[0], dict.fromkeys(center, center[0])
    mentioned = (GraphEdge(0, middle, other, passages=passages) for other, passages in _rank(conn, center))
    edges, near = list[GraphEdge](), {middle}
    for edge in (*_join_by_facts(conn, center, now), *mentioned):
        edge = replace(edge, source=same.get(edge.source, edge.source), target=same.get(edge.target, edge.target))
        other = edge.source if edge.target == middle else edge.target
        if other != middle and (not edge.passages if other in near else len(near) < limit):
            near.add(other)
            edges.append(edge)
    return edges


def _join_by_facts(conn: Connection, objects: Sequence[int], now: int) -> list[GraphEdge]:
    joining = facts.list_about(conn, objects, now, wall_of(now), relations=True)
    ends = {row.id: (row.subject, row.object) for row in relations.get_many(conn, [fact.id for fact in joining])}
    return [
        GraphEdge(fact.id, *ends[fact.id], fact.predicate or "", fact.valid_from, fact.valid_to)
        for fact in joining
        if fact.id in ends
    ]


def _rank(conn: Connection, objects: Sequence[int]) -> list[tuple[int, int]]:
    """Returns [(object, passages)]: the objects most often mentioned in the newest passages that mention these, without
    namesakes."""
    return conn.execute(
        f"SELECT found.id, found.times FROM ({_MENTIONED_WITH}) found JOIN object o ON o.node_id = found.id"
        f" AND ifnull(o.type, '') NOT IN {HIDDEN} JOIN node n ON n.id = found.id AND {is_live('n')}"
        " WHERE found.id NOT IN (SELECT b.node_id FROM alias a JOIN alias b ON b.norm = a.norm"
        "  WHERE a.node_id IN (SELECT value FROM json_each(:ids))) ORDER BY found.times DESC, found.id LIMIT :limit",
        {"ids": id_list(objects), "limit": MAX_JOINT},
    ).fetchall()
