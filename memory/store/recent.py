"""News of a memory: what was read and replaced since a time, and the most mentioned names."""

from collections.abc import Sequence

from memory.nouns import ListedSource
from memory.store.connect import Connection
from memory.store.revisions import Row, list_by_clauses
from memory.store.rows import id_list, is_live, select_ids
from memory.store.sources import by_ids

REPLACED = "state IN ('open', 'kept') AND relation IN ('supersedes', 'negates') AND t > ?1 AND (?2 IS NULL OR t <= ?2)"
LEAST_NAME_CHARS = 3


def list_read(conn: Connection, since: int, until: int | None, limit: int) -> tuple[list[ListedSource], int]:
    """(live sources with passages read in (since, until] (ms UTC; None: unbounded), newest first; total).

    Uses the ids of the passages, which grow with time, and an index only: a scan of 100,000 sources would take 65
    ms."""
    rows = conn.execute(
        "WITH found(id, newest) AS MATERIALIZED (SELECT source_id, max(node_id) FROM episode INDEXED BY episode_source"
        "  WHERE node_id >= ?1 AND (?2 IS NULL OR node_id < ?2) GROUP BY source_id)"
        " SELECT s.id, count(*) OVER () FROM found JOIN source s ON s.id = found.id AND s.t_deleted IS NULL"
        " ORDER BY newest DESC LIMIT ?3",
        (find_first_after(conn, since), until and find_first_after(conn, until), limit),
    ).fetchall()
    return by_ids(conn, [id for id, _ in rows]), rows[0][1] if rows else 0


def find_first_after(conn: Connection, since: int) -> int:
    """The least id of a node created after a time, or the next id; ids grow with time."""
    low, high = 1, conn.execute("SELECT ifnull(max(id), 0) + 1 FROM node").fetchone()[0]
    while low < high:
        middle = (low + high) // 2
        query = "SELECT id, t_created FROM node WHERE id >= ? ORDER BY id LIMIT 1"
        id, made = conn.execute(query, (middle,)).fetchone()
        low, high = (low, middle) if made > since else (id + 1, high)
    return int(low)


def list_read_last(conn: Connection, episodes: Sequence[int], limit: int) -> list[ListedSource]:
    """The live sources of these passages, in the order of their first passage."""
    rows = conn.execute(
        "SELECT s.id FROM json_each(?1) l JOIN episode e ON e.node_id = l.value"
        " JOIN source s ON s.id = e.source_id AND s.t_deleted IS NULL GROUP BY s.id ORDER BY min(l.key) LIMIT ?2",
        (id_list(episodes), limit),
    ).fetchall()
    return by_ids(conn, [id for (id,) in rows])


def list_replaced(conn: Connection, since: int, until: int | None, limit: int) -> tuple[list[Row], int]:
    """(accepted revisions in (since, until] (ms UTC; None: unbounded) that replaced or ended a fact, newest first;
    total)."""
    (total,) = conn.execute(f"SELECT count(*) FROM revision WHERE {REPLACED}", (since, until)).fetchone()
    return list_by_clauses(conn, f"WHERE {REPLACED} ORDER BY t DESC, id DESC LIMIT ?3", since, until, limit), total


def list_newest_episodes(conn: Connection, limit: int) -> list[int]:
    """The live passages read last, by id."""
    return select_ids(
        conn,
        f"SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        " ORDER BY e.node_id DESC LIMIT ?",
        limit,
    )


def list_mentioned_things(conn: Connection, episodes: Sequence[int], limit: int) -> list[tuple[int, str]]:
    """(id, name) of the things most often mentioned in these passages: people, what is linked, and what one of their
    notes has as its title; a name that only occurs in a text may be any word."""
    listed = "(SELECT value FROM json_each(?1))"
    return conn.execute(
        "SELECT n.id, n.label FROM edge e JOIN object o ON o.node_id = e.dst"
        " AND o.type IN ('name', 'link', 'title', 'person')"
        f" JOIN node n ON n.id = o.node_id AND {is_live('n')} WHERE e.kind = 'mention' AND {is_live('e')}"
        f" AND e.src IN {listed} AND length(n.label) >= ?2 AND (o.type IN ('link', 'person') OR n.label IN"
        f" (SELECT s.title FROM episode p JOIN source s ON s.id = p.source_id WHERE p.node_id IN {listed}))"
        " GROUP BY n.id ORDER BY count(DISTINCT e.src) DESC, n.id LIMIT ?3",
        (id_list(episodes), LEAST_NAME_CHARS, limit),
    ).fetchall()
