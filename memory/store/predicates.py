"""Predicates as rows: the types of relations, each with the canonical one that it stands for."""

from memory.store.connect import Connection
from memory.store.rows import LIVE, is_live

MIN_SINGLE_SUBJECTS, MIN_SINGLE_SHARE = 5, 0.9  # from which on a predicate proves to have one value at a time
MIN_DECIDED = 3  # replacements that somebody decided, without which no predicate proves single


def ensure(conn: Connection, label: str, canonical: str) -> tuple[int, int]:
    """Ids of the predicate `label` and of the canonical one that it stands for; they are made where they are new."""
    canon = _named(conn, canonical, None)
    return (canon if label == canonical else _named(conn, label, canon)), canon


def label_of(conn: Connection, canon: int) -> str:
    """What a canonical predicate is called."""
    (label,) = conn.execute("SELECT label FROM predicate WHERE id = ?", (canon,)).fetchone()
    return str(label)


def list_labels(conn: Connection) -> list[str]:
    """What all predicates are called."""
    return [label for (label,) in conn.execute("SELECT label FROM predicate ORDER BY label")]


def is_learned_single(conn: Connection, canon: int) -> bool:
    """Whether nearly every subject has one value of the predicate at a time, as far as was decided before."""
    predicates = "(SELECT id FROM predicate WHERE id = ?1 OR canon_id = ?1)"
    (decided,) = conn.execute(
        "SELECT count(*) FROM (SELECT 1 FROM edge e CROSS JOIN revision r ON r.new_id = e.id"
        f" WHERE e.pred_id IN {predicates} AND e.kind = 'rel' AND {is_live('e')} AND r.relation = 'supersedes'"
        " AND (r.author = 'model' AND r.state = 'open' OR r.state = 'kept') LIMIT ?2)",
        (canon, MIN_DECIDED),
    ).fetchone()
    if decided < MIN_DECIDED:
        return False
    subjects, single = conn.execute(
        "SELECT count(*), count(*) FILTER (WHERE n = 1) FROM ("
        f" SELECT count(DISTINCT dst) n FROM edge WHERE pred_id IN {predicates} AND kind = 'rel' AND {LIVE}"
        " AND modality IS NULL AND valid_to IS NULL GROUP BY src)",
        (canon,),
    ).fetchone()
    return bool(subjects >= MIN_SINGLE_SUBJECTS and single >= MIN_SINGLE_SHARE * subjects)


def _named(conn: Connection, label: str, canon: int | None) -> int:
    row = conn.execute("SELECT id FROM predicate WHERE label = ?", (label,)).fetchone()
    if row is None:
        query = "INSERT INTO predicate(label, canon_id) VALUES (?, ?) RETURNING id"
        row = conn.execute(query, (label, canon)).fetchone()
    return int(row[0])
