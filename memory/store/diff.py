"""Changes of the memory between two times: facts that began, were replaced or ended, and sources.

Times are ms UTC of when the memory learned something; spans are (since, until]."""

from typing import Literal, NamedTuple

from memory.store.connect import Connection
from memory.store.revisions import Row, list_by_clauses
from memory.store.rows import is_asserted, is_recorded

Change = Literal["added", "edited", "deleted"]


class SourceRow(NamedTuple):
    """A source last changed at `t`, with the numbers of passages added (`came`) and removed (`went`). One added and
    removed within the span is left out."""

    uri: str
    title: str
    change: Change
    came: int
    went: int
    t: int


def list_begun(conn: Connection, since: int, until: int) -> list[int]:
    """The relations first known in the span and still known at its end, newest first; without those that replaced
    another or were replaced."""
    stands = "state IN ('open', 'kept') AND t <= :until"
    replacing = f"SELECT new_id FROM revision WHERE relation = 'supersedes' AND {stands}"
    over = f"SELECT old_id FROM revision WHERE relation IN ('supersedes', 'negates') AND {stands}"
    return _select_ids(
        conn,
        f"SELECT r.id FROM edge r WHERE r.id >= :first AND r.kind = 'rel' AND r.t_created <= :until AND"
        f" {is_recorded('r', ':until')} AND {is_asserted('r', ':until')} AND r.id NOT IN ({replacing})"
        f" AND r.id NOT IN ({over}) ORDER BY r.id DESC",
        first=find_first_after(conn, "edge", since),
        until=until,
    )


def list_revisions_between(conn: Connection, relation: str, since: int, until: int) -> list[Row]:
    """The accepted revisions of one kind made in the span, newest first."""
    return list_by_clauses(
        conn,
        "WHERE relation = ? AND state IN ('open', 'kept') AND t > ? AND t <= ? ORDER BY t DESC, id DESC",
        relation, since, until,
    )  # fmt: skip


def list_untold(conn: Connection, since: int, until: int) -> list[int]:
    """The relations known before that lost all their passages without a revision, newest first."""
    return _select_ids(
        conn,
        "SELECT r.id FROM edge r WHERE r.kind = 'rel' AND r.t_created <= :since AND r.superseded_by IS NULL"
        " AND r.id IN (SELECT v.item_id FROM node n JOIN provenance v ON v.episode_id = n.id AND v.item_kind = 'edge'"
        "  WHERE n.kind = 'E' AND n.t_expired > :since AND n.t_expired <= :until)"
        f" AND NOT {is_asserted('r', ':until')}"
        " AND NOT EXISTS (SELECT 1 FROM revision e WHERE e.old_id = r.id AND e.state IN ('open', 'kept')"
        "  AND e.relation IN ('supersedes', 'negates')) ORDER BY r.id DESC",
        since=since,
        until=until,
    )


def list_changed_sources(conn: Connection, since: int, until: int) -> list[SourceRow]:
    """The sources added, edited and deleted, last changed first."""
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
    """The least id of a row created after a time, or the next id; ids grow with time."""
    low, high = 1, conn.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").fetchone()[0]
    while low < high:
        middle = (low + high) // 2
        query = f"SELECT id, t_created FROM {table} WHERE id >= ? ORDER BY id LIMIT 1"
        id, made = conn.execute(query, (middle,)).fetchone()
        low, high = (low, middle) if made > since else (id + 1, high)
    return int(low)


def _select_ids(conn: Connection, query: str, **values: int) -> list[int]:
    return [row[0] for row in conn.execute(query, values)]
