"""Which episodes a model has read, and which it should read next."""

from __future__ import annotations

from memory.store.connect import Connection

ASKED = 400  # of the newest traces, whose episodes go first


def list_unread(conn: Connection, limit: int) -> list[int]:
    """Ids of live episodes that no model has read and no job has in hand: those that the newest questions found, the
    latest question's first; then the newest."""
    asked = conn.execute(
        "SELECT v.node_id FROM trace_visit v JOIN node n ON n.id = v.node_id AND n.kind = 'E' AND n.t_expired IS NULL"
        " WHERE v.trace_id > (SELECT ifnull(max(id), 0) - ? FROM trace) AND v.status IN ('seed', 'selected')"
        f" AND {_UNREAD.format('v.node_id')} GROUP BY v.node_id ORDER BY max(v.trace_id) DESC, v.node_id LIMIT ?",
        (ASKED, limit),
    )
    found = [id for (id,) in asked]
    if len(found) < limit:
        newest = conn.execute(
            "SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND n.t_expired IS NULL"
            f" WHERE {_UNREAD.format('e.node_id')} ORDER BY e.event_from DESC, e.node_id DESC LIMIT ?",
            (limit + len(found),),
        )
        found = list(dict.fromkeys([*found, *(id for (id,) in newest)]))
    return found[:limit]


def count_read(conn: Connection) -> tuple[int, int]:
    """How many live episodes a model has read, and how many there are."""
    read, live = conn.execute(
        "SELECT count(x.episode_id), count(*) FROM node n LEFT JOIN extraction x ON x.episode_id = n.id"
        " WHERE n.kind = 'E' AND n.t_expired IS NULL"
    ).fetchone()
    return int(read), int(live)


# NOT IN, so that the jobs are looked through once and not for each episode
_UNREAD = """NOT EXISTS (SELECT 1 FROM extraction x WHERE x.episode_id = {0})
 AND {0} NOT IN (SELECT held.value FROM job j, json_each(j.payload, '$.episodes') held
  WHERE j.kind = 'extract' AND j.state <> 'done')"""
