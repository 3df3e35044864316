"""Predicates as rows: the types of relations, each with the canonical one that it stands for."""

from memory.store.connect import Connection


def ensure(conn: Connection, label: str, canonical: str) -> tuple[int, int]:
    """Ids of the predicate `label` and of the canonical one that it stands for; they are made where they are new."""
    canon = _named(conn, canonical, None)
    return (canon if label == canonical else _named(conn, label, canon)), canon


def list_labels(conn: Connection) -> list[str]:
    """What all predicates are called."""
    return [label for (label,) in conn.execute("SELECT label FROM predicate ORDER BY label")]


def _named(conn: Connection, label: str, canon: int | None) -> int:
    row = conn.execute("SELECT id FROM predicate WHERE label = ?", (label,)).fetchone()
    if row is None:
        query = "INSERT INTO predicate(label, canon_id) VALUES (?, ?) RETURNING id"
        row = conn.execute(query, (label, canon)).fetchone()
    return int(row[0])
