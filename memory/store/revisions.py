"""Revisions as rows, and the journal by which each can be reverted exactly.

Every change of a fact by a revision goes through `change`, which records the old value."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from memory.errors import NotFoundError
from memory.nouns import RevisionState
from memory.store.connect import FIRST_EDGE, LISTED, Connection, id_list, insert_row, is_live, read_column, read_value

Field = Literal["valid_from", "valid_to", "superseded_by", "t_expired"]
RelationKind = Literal["supersedes", "negates", "contradicts", "duplicates"]
Author = Literal["rule", "model", "user"]


class Row(NamedTuple):
    """A stored revision; times in ms UTC."""

    id: int
    relation: RelationKind
    old: int
    new: int
    reason: str
    author: Author
    conf: float
    state: RevisionState
    t: int
    settled: int | None


def restate(conn: Connection, pairs: Sequence[tuple[int, int]]) -> None:
    """Moves revisions and verdicts from retired sentences to equal ones of a newer version. `pairs`: (retired thesis,
    new thesis)."""
    moves = "UPDATE journal SET item_id = ? WHERE item_kind = 'node' AND item_id = ? AND field = 't_expired'"
    for gone, new in pairs:
        conn.execute("UPDATE revision SET new_id = ? WHERE new_id = ? AND new_kind = 'thesis'", (new, gone))
        conn.execute("UPDATE thesis SET superseded_by = ? WHERE superseded_by = ?", (new, gone))
        conn.execute(
            "UPDATE journal SET new = ? WHERE item_kind = 'node' AND field = 'superseded_by' AND new = ?",
            (str(new), str(gone)),
        )
        for at in read_column(conn, f"{moves} RETURNING CAST(new AS INTEGER)", new, gone):
            conn.execute("UPDATE node SET t_expired = ? WHERE id = ?", (at, new))
            _expire_edges(conn, new, None, at)


def kind_of(fact: int) -> Literal["relation", "thesis"]:
    """Returns the kind of fact with that id."""
    return "relation" if fact >= FIRST_EDGE else "thesis"


def add(
    conn: Connection, relation: RelationKind, old: int, new: int, reason: str, author: Author, conf: float, now: int
) -> int:
    """Inserts an open revision, which changes nothing yet; returns its id."""
    return insert_row(
        conn, "revision", relation=relation, old_kind=kind_of(old), old_id=old, new_kind=kind_of(new), new_id=new,
        reason=reason, author=author, conf=conf, t=now,
    )  # fmt: skip


def change(conn: Connection, revision: int, fact: int, field: Field, value: int | None, now: int) -> None:
    """Sets a field of a fact and records the old value in the journal."""
    table, key = find_column(fact, field)
    before = read_value(conn, f"SELECT {field} FROM {table} WHERE {key} = ?", fact)
    if before == value:
        return
    conn.execute(f"UPDATE {table} SET {field} = ? WHERE {key} = ?", (value, fact))
    conn.execute(
        "INSERT INTO journal(t, item_kind, item_id, field, old, new, revision_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (now, _find_item_kind(fact), fact, field, _to_text(before), _to_text(value), revision),
    )
    if field == "t_expired" and table == "node":
        _expire_edges(conn, fact, before, value)
    elif field == "t_expired" and value is not None:  # its edge memory belongs to a rejected fact
        conn.execute("DELETE FROM edge_memory WHERE edge_id = ?", (fact,))


def share_evidence(conn: Connection, revision: int, fact: int, other: int, now: int) -> None:
    """Adds the evidence of another relation to this one, recorded in the journal and reverted with it."""
    conn.execute(
        "INSERT INTO journal(t, item_kind, item_id, field, new, episode_id, revision_id)"
        " SELECT ?, 'edge', ?, 'told', ?, episode_id, ? FROM provenance p WHERE item_kind = 'edge' AND item_id = ?"
        " AND NOT EXISTS (SELECT 1 FROM provenance o WHERE o.item_kind = 'edge' AND o.item_id = ?"
        "  AND o.episode_id = p.episode_id)",
        (now, fact, str(other), revision, other, fact),
    )
    conn.execute(
        "INSERT OR IGNORE INTO provenance(item_kind, item_id, episode_id, span_from, span_to, extractor)"
        " SELECT 'edge', ?, episode_id, span_from, span_to, extractor FROM provenance"
        " WHERE item_kind = 'edge' AND item_id = ?",
        (fact, other),
    )


def _unshare_evidence(conn: Connection, revision: int) -> None:
    """Reverts `share_evidence`, except evidence of another relation that this one still represents. A fact without
    other evidence keeps it: every fact needs a passage."""
    copies = "FROM journal WHERE revision_id = ? AND field = 'told'"
    facts = read_column(conn, f"SELECT DISTINCT item_id {copies}", revision)
    for fact in facts:
        conn.execute(
            "DELETE FROM provenance WHERE item_kind = 'edge' AND item_id = ?1 AND episode_id IN"
            " (SELECT episode_id FROM journal WHERE revision_id = ?2 AND field = 'told') AND EXISTS"
            " (SELECT 1 FROM provenance o WHERE o.item_kind = 'edge' AND o.item_id = ?1 AND o.episode_id NOT IN"
            "  (SELECT episode_id FROM journal WHERE revision_id = ?2 AND field = 'told'))",
            (fact, revision),
        )
    conn.execute(f"DELETE {copies}", (revision,))
    others = conn.execute(
        "SELECT id, old_id, new_id, t FROM revision WHERE relation = 'duplicates' AND +state IN ('open', 'kept')"
        f" AND id <> ? AND old_id IN {LISTED}",
        (revision, id_list(facts)),
    ).fetchall()
    for other, fact, new, t in others:
        share_evidence(conn, other, fact, new, t)


def has_changed(conn: Connection, fact: int, field: Field) -> bool:
    """Whether some revision has changed that field."""
    query = "SELECT 1 FROM journal WHERE item_kind = ? AND item_id = ? AND field = ? AND revision_id IS NOT NULL"
    return read_value(conn, query, _find_item_kind(fact), fact, field) is not None


def revert(conn: Connection, revision: int) -> list[int]:
    """Restores what the revision changed; returns the ids of the changed facts. If a later revision changed the same
    field, the field stays and the later one gets the old value: revisions can be reverted in any order."""
    conn.execute("DELETE FROM journal WHERE revision_id = ? AND field = 'memory'", (revision,))  # of earlier versions
    _unshare_evidence(conn, revision)
    changed = set()
    for id, fact, field, old in conn.execute(
        "SELECT id, item_id, field, old FROM journal WHERE revision_id = ? ORDER BY id DESC", (revision,)
    ).fetchall():
        query = "SELECT min(id) FROM journal WHERE item_kind = ? AND item_id = ? AND field = ? AND id > ?"
        later = read_value(conn, f"{query} AND revision_id IS NOT NULL", _find_item_kind(fact), fact, field, id)
        if later is not None:
            conn.execute("UPDATE journal SET old = ? WHERE id = ?", (old, later))
        else:
            table, key = find_column(fact, field)
            value = None if old is None else int(old)
            if field == "t_expired" and table == "edge" and value is None:
                _make_room(conn, fact)
            if field == "t_expired" and table == "node":
                _expire_edges(conn, fact, read_value(conn, "SELECT t_expired FROM node WHERE id = ?", fact), value)
            conn.execute(f"UPDATE {table} SET {field} = ? WHERE {key} = ?", (value, fact))
            changed.add(int(fact))
        conn.execute("DELETE FROM journal WHERE id = ?", (id,))
    return sorted(changed)


def _expire_edges(conn: Connection, thesis: int, before: int | None, expired: int | None) -> None:
    """Expires or restores the edges of a thesis with it."""
    conn.execute(
        "UPDATE OR IGNORE edge SET t_expired = ? WHERE (src = ? OR dst = ?) AND t_expired IS ?",
        (expired, thesis, thesis, before),
    )


def _make_room(conn: Connection, relation: int) -> None:
    """Moves the start of a relation by a moment if an equal one was asserted since: one copy of an edge may be live."""
    while conn.execute(
        "SELECT 1 FROM edge e JOIN edge o ON o.src = e.src AND o.kind = e.kind AND o.dst = e.dst AND o.id <> e.id"
        " AND ifnull(o.pred_id, 0) = ifnull(e.pred_id, 0) AND ifnull(o.valid_from, 0) = ifnull(e.valid_from, 0)"
        f" AND {is_live('o')} WHERE e.id = ?",
        (relation,),
    ).fetchone():
        conn.execute("UPDATE edge SET valid_from = ifnull(valid_from, 0) + 1 WHERE id = ?", (relation,))


def find_column(fact: int, field: Field) -> tuple[str, str]:
    """Returns the table of a field of a fact, and its key."""
    if kind_of(fact) == "relation":
        return "edge", "id"
    return ("node", "id") if field == "t_expired" else ("thesis", "node_id")


def _find_item_kind(fact: int) -> str:
    return "edge" if kind_of(fact) == "relation" else "node"


def _to_text(value: int | None) -> str | None:
    return None if value is None else str(value)


def settle(conn: Connection, id: int, state: RevisionState, now: int | None) -> None:
    """Sets the state of a revision; `now` is None if nobody decided it."""
    conn.execute("UPDATE revision SET state = ?, t_settled = ? WHERE id = ?", (state, now, id))


def get(conn: Connection, id: int) -> Row:
    """Returns a revision. NotFoundError for an unknown id."""
    rows = list_by_clauses(conn, "WHERE r.id = ?", id)
    if not rows:
        raise NotFoundError(f"There is no revision {id}. `pal review` lists those that are open.")
    return rows[0]


def list_by_clauses(conn: Connection, clauses: str, *values: int | str | None) -> list[Row]:
    """Returns the revisions (`r`) selected and sorted by SQL after FROM."""
    rows = conn.execute(
        "SELECT r.id, r.relation, r.old_id, r.new_id, ifnull(r.reason, ''), r.author, r.conf, r.state, r.t, r.t_settled"
        f" FROM revision r {clauses}",
        values,
    )
    return [Row(*row) for row in rows]


def list_revisions(
    conn: Connection, state: RevisionState | None, limit: int, about: Sequence[int] | None = None
) -> list[Row]:
    """Returns revisions in a state (None: any), newest first; `about`: only for relations of these objects, and
    sentences that mention them or are in a note with their name."""
    if about is None:
        return list_by_clauses(conn, "WHERE ?1 IS NULL OR state = ?1 ORDER BY t DESC, id DESC LIMIT ?2", state, limit)
    chosen = f"{_ABOUT} WHERE ?2 IS NULL OR r.state = ?2 ORDER BY r.t DESC, r.id DESC LIMIT ?3"
    return list_by_clauses(conn, chosen, id_list(about), state, limit)


# Facts about these objects (?1), live or not; each half has its own partial index.
_RELATIONS = (
    "SELECT e.id FROM json_each(?1) o JOIN edge e ON e.{end} = o.value AND e.kind = 'rel' AND e.t_expired {state}"
)
_THESES = (
    "SELECT iif(e.kind = 'member', e.src, t.node_id) FROM json_each(?1) o JOIN edge e ON e.dst = o.value"
    " AND e.t_expired {state} LEFT JOIN thesis t ON e.kind = 'mention' AND t.episode_id = e.src"
    " WHERE e.kind = 'member' OR (e.kind = 'mention' AND e.role = 'title')"
)
_FACTS_ABOUT = " UNION ALL ".join(
    query.format(end=end, state=state)
    for state in ("IS NULL", "IS NOT NULL")
    for query, end in ((_RELATIONS, "src"), (_RELATIONS, "dst"), (_THESES, ""))
)
# Starts from the objects: testing each of 4,000 revisions takes 7 ms, this 0.03.
_ABOUT = f"""
JOIN (WITH fact(id) AS MATERIALIZED ({_FACTS_ABOUT}) SELECT r.id FROM fact JOIN revision r ON r.old_id = fact.id
 UNION SELECT r.id FROM fact JOIN revision r ON r.new_id = fact.id) about ON about.id = r.id"""


def count_open(conn: Connection) -> int:
    """Returns the number of unreviewed revisions."""
    return int(read_value(conn, "SELECT count(*) FROM revision WHERE state = 'open'"))


def find_between(conn: Connection, fact: int, other: int) -> Row | None:
    """Returns the newest revision between these two facts, in either direction."""
    pairs = "(old_id = ?1 AND new_id = ?2) OR (old_id = ?2 AND new_id = ?1)"
    return next(iter(list_by_clauses(conn, f"WHERE {pairs} ORDER BY id DESC LIMIT 1", fact, other)), None)


def find_replacement(conn: Connection, fact: int, gone: Collection[int]) -> Row | None:
    """Returns the accepted revision that replaced `fact` with a fact outside `gone`, or None."""
    seen = {fact}
    standing = "WHERE old_id = ? AND relation = 'supersedes' AND state IN ('open', 'kept') ORDER BY id DESC LIMIT 1"
    while rows := list_by_clauses(conn, standing, fact):
        fact = rows[0].new
        if fact not in gone:
            return rows[0]
        if fact in seen:
            break
        seen.add(fact)
    return None


def list_by_newer(conn: Connection, facts: Collection[int]) -> list[Row]:
    """Returns the accepted revisions whose newer fact is one of these, newest first."""
    return list_by_clauses(conn, f"WHERE {_STANDING} AND new_id IN {LISTED} ORDER BY id DESC", id_list(facts))


def list_undone_by_newer(conn: Connection, facts: Collection[int]) -> list[Row]:
    """Returns the revisions undone because the evidence of their newer fact, one of these, was removed."""
    undone = f"WHERE state = 'undone' AND t_settled IS NULL AND new_id IN {LISTED} ORDER BY id"
    return list_by_clauses(conn, undone, id_list(facts))


def list_by_older(conn: Connection, fact: int) -> list[Row]:
    """Returns the accepted revisions whose older fact is this one, newest first."""
    return list_by_clauses(conn, f"WHERE {_STANDING} AND old_id = ? ORDER BY id DESC", fact)


_STANDING = "state IN ('open', 'kept', 'settled')"


def list_merges(conn: Connection, facts: Collection[int], begin: int) -> list[Row]:
    """Returns the open revisions by which rules merged one of these relations with one that begins after `begin` (ms
    UTC). Selected by the facts (the plus), not by the state, which most revisions have."""
    return list_by_clauses(
        conn,
        "JOIN edge e ON e.id = r.new_id AND e.valid_from > ? WHERE r.relation = 'duplicates' AND r.author = 'rule'"
        f" AND +r.state = 'kept' AND r.t_settled IS NULL AND r.old_id IN {LISTED} ORDER BY r.id DESC",
        begin,
        id_list(facts),
    )


def list_across(conn: Connection, ones: Sequence[int], others: Sequence[int]) -> list[Row]:
    """Returns the open revisions of relations between one of `ones` and one of `others`, newest first."""
    return list_by_clauses(
        conn,
        "JOIN edge o ON o.id = r.old_id JOIN edge n ON n.id = r.new_id"
        " WHERE r.state = 'open' AND r.author <> 'user' AND (o.src IN (SELECT value FROM json_each(?1))"
        " AND n.src IN (SELECT value FROM json_each(?2)) OR o.src IN (SELECT value FROM json_each(?2))"
        " AND n.src IN (SELECT value FROM json_each(?1))) ORDER BY r.id DESC",
        id_list(ones),
        id_list(others),
    )


def count_subject_pairs(conn: Connection, most: int) -> list[tuple[int, int, int]]:
    """Returns (subject of the newer facts, of the older ones, number of facts), most first: pairs of objects treated as
    one. A model or person said that a fact of one replaced or repeated a fact of the other; rules never do that across
    subjects."""
    return conn.execute(
        "SELECT n.src, o.src, count(*) FROM revision r JOIN edge n ON n.id = r.new_id JOIN edge o ON o.id = r.old_id"
        " WHERE r.state IN ('open', 'kept') AND n.src <> o.src AND n.pred_id = o.pred_id"
        " AND (r.relation = 'supersedes' AND n.dst <> o.dst OR r.relation = 'duplicates' AND n.dst = o.dst)"
        " GROUP BY n.src, o.src ORDER BY count(*) DESC, max(r.id) DESC LIMIT ?",
        (most,),
    ).fetchall()
