"""What changed in the memory from one time to another: facts that began, were replaced or ended, and sources.

Times are milliseconds UTC, of when the memory came to know; `since` is left out of a span, `until` is in it.
"""

from typing import Literal, NamedTuple

from memory.store.connect import Connection
from memory.store.revisions import Row, list_by_clauses
from memory.store.rows import is_recorded

Change = Literal["added", "edited", "deleted"]


class SourceRow(NamedTuple):
    """A source that changed last at `t`: so many passages `came` and `went`. One that came and went within the span is
    none."""

    uri: str
    title: str
    change: Change
    came: int
    went: int
    t: int


def list_begun(conn: Connection, since: int, until: int) -> list[int]:
    """The relations that began to be known and still were at the end, the newest first; none of those that took the
    place of another, or lost theirs."""
    told = (
        "EXISTS (SELECT 1 FROM provenance v JOIN node evidence ON evidence.id = v.episode_id"
        f" WHERE v.item_kind = 'edge' AND v.item_id = r.id AND {is_recorded('evidence', ':until')})"
    )
    stands = "state IN ('open', 'kept') AND t <= :until"
    replacing = f"SELECT new_id FROM revision WHERE relation = 'supersedes' AND {stands}"
    over = f"SELECT old_id FROM revision WHERE relation IN ('supersedes', 'negates') AND {stands}"
    return _select_ids(
        conn,
        f"SELECT r.id FROM edge r WHERE r.id >= :first AND r.kind = 'rel' AND r.t_created <= :until AND"
        f" {is_recorded('r', ':until')} AND {told} AND r.id NOT IN ({replacing})"
        f" AND r.id NOT IN ({over}) ORDER BY r.id DESC",
        first=find_first_after(conn, "edge", since),
        until=until,
    )


def list_revisions_between(conn: Connection, relation: str, since: int, until: int) -> list[Row]:
    """The revisions of one kind that were made and stand, the newest first."""
    return list_by_clauses(
        conn,
        "WHERE relation = ? AND state IN ('open', 'kept') AND t > ? AND t <= ? ORDER BY t DESC, id DESC",
        relation, since, until,
    )  # fmt: skip


def list_untold(conn: Connection, since: int, until: int) -> list[int]:
    """The relations, known before, that no passage told any more at the end, and that no revision replaced or ended,
    the newest first."""
    return _select_ids(
        conn,
        "SELECT r.id FROM edge r WHERE r.kind = 'rel' AND r.t_created <= :since AND r.superseded_by IS NULL"
        " AND r.id IN (SELECT v.item_id FROM node n JOIN provenance v ON v.episode_id = n.id AND v.item_kind = 'edge'"
        "  WHERE n.kind = 'E' AND n.t_expired > :since AND n.t_expired <= :until)"
        " AND NOT EXISTS (SELECT 1 FROM provenance v JOIN node n ON n.id = v.episode_id"
        f"  WHERE v.item_kind = 'edge' AND v.item_id = r.id AND {is_recorded('n', ':until')})"
        " AND NOT EXISTS (SELECT 1 FROM revision e WHERE e.old_id = r.id AND e.state IN ('open', 'kept')"
        "  AND e.relation IN ('supersedes', 'negates')) ORDER BY r.id DESC",
        since=since,
        until=until,
    )


def list_changed_sources(conn: Connection, since: int, until: int) -> list[SourceRow]:
    """The sources that were added, edited and deleted, the last changed first."""
    rows = conn.execute(
        "WITH passages AS (SELECT e.source_id AS id, min(n.t_created) AS first,"
        "  total(n.t_created > :since) AS came,"
        "  total(n.t_expired > :since AND n.t_expired <= :until) AS went,"
        "  max(iif(n.t_expired <= :until, n.t_expired, n.t_created)) AS last"
        "  FROM episode e JOIN node n ON n.id = e.node_id WHERE n.t_created <= :until GROUP BY e.source_id)"
        " SELECT s.uri, s.title, p.first > :since, s.t_deleted > :since AND s.t_deleted <= :until, p.came, p.went,"
        " iif(s.t_deleted <= :until, max(p.last, s.t_deleted), p.last) AS t"
        " FROM passages p JOIN source s ON s.id = p.id WHERE p.came OR p.went"
        "  OR (s.t_deleted > :since AND s.t_deleted <= :until) ORDER BY t DESC, s.id DESC",
        {"since": since, "until": until},
    )
    return [
        SourceRow(uri, title, "deleted" if gone else "added" if is_new else "edited", int(came), int(went), t)
        for uri, title, is_new, gone, came, went, t in rows
        if not (is_new and gone)
    ]


def find_first_after(conn: Connection, table: Literal["node", "edge"], since: int) -> int:
    """The least id of a row that was made after a time, for ids grow with it; one more than the last where there is
    none."""
    low, high = 1, conn.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").fetchone()[0]
    while low < high:
        middle = (low + high) // 2
        query = f"SELECT id, t_created FROM {table} WHERE id >= ? ORDER BY id LIMIT 1"
        id, made = conn.execute(query, (middle,)).fetchone()
        low, high = (low, middle) if made > since else (id + 1, high)
    return int(low)


def _select_ids(conn: Connection, query: str, **values: int) -> list[int]:
    return [row[0] for row in conn.execute(query, values)]
