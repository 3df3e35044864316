"""Predicates as rows: the types of relations, each with its canonical one."""

from memory.store.connect import Connection


def ensure(conn: Connection, label: str, canonical: str) -> tuple[int, int]:
    """Ids of the predicate `label` and of its canonical one, created if new."""
    canon = _ensure_label(conn, canonical, None)
    return (canon if label == canonical else _ensure_label(conn, label, canon)), canon


def list_labels(conn: Connection) -> list[str]:
    """The labels of all predicates."""
    return [label for (label,) in conn.execute("SELECT label FROM predicate ORDER BY label")]


def _ensure_label(conn: Connection, label: str, canon: int | None) -> int:
    row = conn.execute("SELECT id FROM predicate WHERE label = ?", (label,)).fetchone()
    if row is None:
        query = "INSERT INTO predicate(label, canon_id) VALUES (?, ?) RETURNING id"
        row = conn.execute(query, (label, canon)).fetchone()
    return int(row[0])
