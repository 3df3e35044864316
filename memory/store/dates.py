"""Episodes by the dates that their text names. Dates are objects whose names are ISO days, months or years."""

from __future__ import annotations

from datetime import date

from memory.store.connect import Connection


def naming(conn: Connection, since: date, until: date) -> list[int]:
    """Ids of the live episodes that name a day from `since` on and before `until`, or a month or year within."""
    rows = conn.execute(
        "SELECT DISTINCT e.src FROM alias a JOIN object o ON o.node_id = a.node_id AND o.type = 'date'"
        " JOIN edge e ON e.dst = a.node_id AND e.kind = 'mention' AND e.t_expired IS NULL"
        " WHERE a.norm >= ? AND a.norm < ? ORDER BY e.src",
        (_from(since, until), until.isoformat().removesuffix("-01").removesuffix("-01")),
    )
    return [id for (id,) in rows]


def _from(since: date, until: date) -> str:
    """The least name of a date in the span: that of its first year or month, if all of it lies in the span."""
    if (since.month, since.day) == (1, 1) and until.year > since.year:
        return f"{since.year:04}"
    if since.day == 1 and (until.year, until.month) > (since.year, since.month):
        return f"{since.year:04}-{since.month:02}"
    return since.isoformat()
