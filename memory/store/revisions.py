"""Revisions as rows, and the journal by which each can be taken back exactly.

Whatever a revision changes of a fact goes through `change`, which writes down what stood there before.
"""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from memory.errors import NotFoundError
from memory.nouns import RevisionState
from memory.store import edge_memory
from memory.store.connect import Connection
from memory.store.rows import FIRST_EDGE, LISTED, id_list, insert_row, is_live, select_ids

Field = Literal["valid_from", "valid_to", "superseded_by", "t_expired"]
RelationKind = Literal["supersedes", "negates", "contradicts", "duplicates"]
Author = Literal["rule", "model", "user"]


class Row(NamedTuple):
    """A revision as it is stored; times in milliseconds UTC."""

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
    """Where a newer version of a source says again what a sentence (thesis) said, revisions by which that took the
    place of another are about the new sentence from now on, and what a person said of the one is said of it. `pairs`:
    (thesis that went, new thesis)."""
    for gone, new in pairs:
        conn.execute("UPDATE revision SET new_id = ? WHERE new_id = ? AND new_kind = 'thesis'", (new, gone))
        conn.execute("UPDATE thesis SET superseded_by = ? WHERE superseded_by = ?", (new, gone))
        conn.execute(
            "UPDATE journal SET new = ? WHERE item_kind = 'node' AND field = 'superseded_by' AND new = ?",
            (str(new), str(gone)),
        )
        expired = conn.execute(
            "UPDATE journal SET item_id = ? WHERE item_kind = 'node' AND item_id = ? AND field = 't_expired'"
            " RETURNING CAST(new AS INTEGER)",
            (new, gone),
        ).fetchall()
        for (at,) in expired:
            conn.execute("UPDATE node SET t_expired = ? WHERE id = ?", (at, new))
            _expire_edges(conn, new, None, at)


def kind_of(fact: int) -> Literal["relation", "thesis"]:
    """What kind of fact has that id."""
    return "relation" if fact >= FIRST_EDGE else "thesis"


def add(
    conn: Connection, relation: RelationKind, old: int, new: int, reason: str, author: Author, conf: float, now: int
) -> int:
    """A new, open revision; its id. It changes nothing yet."""
    return insert_row(
        conn, "revision", relation=relation, old_kind=kind_of(old), old_id=old, new_kind=kind_of(new), new_id=new,
        reason=reason, author=author, conf=conf, t=now,
    )  # fmt: skip


def change(conn: Connection, revision: int, fact: int, field: Field, value: int | None, now: int) -> None:
    """Gives a field of a fact another value and writes the one before into the journal."""
    table, key = _place(fact, field)
    (before,) = conn.execute(f"SELECT {field} FROM {table} WHERE {key} = ?", (fact,)).fetchone()
    if before == value:
        return
    conn.execute(f"UPDATE {table} SET {field} = ? WHERE {key} = ?", (value, fact))
    conn.execute(
        "INSERT INTO journal(t, item_kind, item_id, field, old, new, revision_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (now, _item_kind(fact), fact, field, _text(before), _text(value), revision),
    )
    if field == "t_expired" and table == "node":
        _expire_edges(conn, fact, before, value)
    elif field == "t_expired" and value is not None:  # its edge memory is that of something that is not so
        conn.execute("DELETE FROM edge_memory WHERE edge_id = ?", (fact,))


def share_evidence(conn: Connection, revision: int, fact: int, other: int, now: int) -> None:
    """The evidence of the other relation is this one's, too; written into the journal, and reverted with it."""
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
    """Takes `share_evidence` back, but for evidence of another relation that this one still stands for. One without
    other evidence keeps what it has: a fact stands in some passage."""
    copies = "FROM journal WHERE revision_id = ? AND field = 'told'"
    facts = select_ids(conn, f"SELECT DISTINCT item_id {copies}", revision)
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
    row = conn.execute(
        "SELECT 1 FROM journal WHERE item_kind = ? AND item_id = ? AND field = ? AND revision_id IS NOT NULL LIMIT 1",
        (_item_kind(fact), fact, field),
    ).fetchone()
    return row is not None


def revert(conn: Connection, revision: int) -> list[int]:
    """Puts back what the revision changed; ids of the facts whose fields are others now. Where a later revision has
    changed the same field, that field stays, and the later one leads back to what stood before both: so revisions can
    be taken back in any order."""
    edge_memory.disinherit(conn, revision)
    _unshare_evidence(conn, revision)
    changed = set()
    for id, fact, field, old in conn.execute(
        "SELECT id, item_id, field, old FROM journal WHERE revision_id = ? ORDER BY id DESC", (revision,)
    ).fetchall():
        later = conn.execute(
            "SELECT id FROM journal WHERE item_kind = ? AND item_id = ? AND field = ? AND id > ?"
            " AND revision_id IS NOT NULL ORDER BY id LIMIT 1",
            (_item_kind(fact), fact, field, id),
        ).fetchone()
        if later:
            conn.execute("UPDATE journal SET old = ? WHERE id = ?", (old, later[0]))
        else:
            table, key = _place(fact, field)
            value = None if old is None else int(old)
            if field == "t_expired" and table == "edge" and value is None:
                _make_room(conn, fact)
            if field == "t_expired" and table == "node":
                (expired,) = conn.execute("SELECT t_expired FROM node WHERE id = ?", (fact,)).fetchone()
                _expire_edges(conn, fact, expired, value)
            conn.execute(f"UPDATE {table} SET {field} = ? WHERE {key} = ?", (value, fact))
            changed.add(int(fact))
        conn.execute("DELETE FROM journal WHERE id = ?", (id,))
    return sorted(changed)


def _expire_edges(conn: Connection, thesis: int, before: int | None, expired: int | None) -> None:
    """The edges of a thesis go with it, and are back with it."""
    conn.execute(
        "UPDATE OR IGNORE edge SET t_expired = ? WHERE (src = ? OR dst = ?) AND t_expired IS ?",
        (expired, thesis, thesis, before),
    )


def _make_room(conn: Connection, relation: int) -> None:
    """The same relation may have been asserted again since: one edge may live only once, so this one begins a moment
    later."""
    while conn.execute(
        "SELECT 1 FROM edge e JOIN edge o ON o.src = e.src AND o.kind = e.kind AND o.dst = e.dst AND o.id <> e.id"
        " AND ifnull(o.pred_id, 0) = ifnull(e.pred_id, 0) AND ifnull(o.valid_from, 0) = ifnull(e.valid_from, 0)"
        f" AND {is_live('o')} WHERE e.id = ?",
        (relation,),
    ).fetchone():
        conn.execute("UPDATE edge SET valid_from = ifnull(valid_from, 0) + 1 WHERE id = ?", (relation,))


def _place(fact: int, field: Field) -> tuple[str, str]:
    if kind_of(fact) == "relation":
        return "edge", "id"
    return ("node", "id") if field == "t_expired" else ("thesis", "node_id")


def _item_kind(fact: int) -> str:
    return "edge" if kind_of(fact) == "relation" else "node"


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def settle(conn: Connection, id: int, state: RevisionState, now: int | None) -> None:
    """Notes what became of a revision; `now` is None where nobody decided it."""
    conn.execute("UPDATE revision SET state = ?, t_settled = ? WHERE id = ?", (state, now, id))


def get(conn: Connection, id: int) -> Row:
    """NotFoundError if there is no such revision."""
    found = list_by_clauses(conn, "WHERE r.id = ?", id)
    if not found:
        raise NotFoundError(f"There is no revision {id}. `pal review` lists those that are open.")
    return found[0]


def list_by_clauses(conn: Connection, clauses: str, *values: int | str | None) -> list[Row]:
    """The revisions (`r`) that some SQL after FROM chooses and orders."""
    rows = conn.execute(
        "SELECT r.id, r.relation, r.old_id, r.new_id, ifnull(r.reason, ''), r.author, r.conf, r.state, r.t, r.t_settled"
        f" FROM revision r {clauses}",
        values,
    )
    return [Row(*row) for row in rows]


def list_revisions(
    conn: Connection, state: RevisionState | None, limit: int, about: Sequence[int] | None = None
) -> list[Row]:
    """Revisions in a state (None: any), the newest first; `about`: only those of relations of these objects, and of
    sentences that speak of them or stand in a note that is called so."""
    if about is None:
        return list_by_clauses(conn, "WHERE ?1 IS NULL OR state = ?1 ORDER BY t DESC, id DESC LIMIT ?2", state, limit)
    chosen = f"{_TOLD_OF} WHERE ?2 IS NULL OR r.state = ?2 ORDER BY r.t DESC, r.id DESC LIMIT ?3"
    return list_by_clauses(conn, chosen, id_list(about), state, limit)


# Facts that are told of these objects (?1), live ones and others, of which each has its own, partial, index.
_RELATIONS = (
    "SELECT e.id FROM json_each(?1) o JOIN edge e ON e.{end} = o.value AND e.kind = 'rel' AND e.t_expired {state}"
)
_THESES = (
    "SELECT iif(e.kind = 'member', e.src, t.node_id) FROM json_each(?1) o JOIN edge e ON e.dst = o.value"
    " AND e.t_expired {state} LEFT JOIN thesis t ON e.kind = 'mention' AND t.episode_id = e.src"
    " WHERE e.kind = 'member' OR (e.kind = 'mention' AND e.role = 'title')"
)
_TOLD = " UNION ALL ".join(
    query.format(end=end, state=state)
    for state in ("IS NULL", "IS NOT NULL")
    for query, end in ((_RELATIONS, "src"), (_RELATIONS, "dst"), (_THESES, ""))
)
# Looked up from the objects: to ask each of 4,000 revisions whether it is about them takes 7 ms, and this 0.03.
_TOLD_OF = f"""
JOIN (WITH told(id) AS MATERIALIZED ({_TOLD}) SELECT r.id FROM told JOIN revision r ON r.old_id = told.id
 UNION SELECT r.id FROM told JOIN revision r ON r.new_id = told.id) about ON about.id = r.id"""


def count_open(conn: Connection) -> int:
    """How many nobody has looked at."""
    found: int = conn.execute("SELECT count(*) FROM revision WHERE state = 'open'").fetchone()[0]
    return found


def find_between(conn: Connection, one: int, other: int) -> Row | None:
    """The newest revision of these two facts, whichever is the older one."""
    pairs = "(old_id = ?1 AND new_id = ?2) OR (old_id = ?2 AND new_id = ?1)"
    return next(iter(list_by_clauses(conn, f"WHERE {pairs} ORDER BY id DESC LIMIT 1", one, other)), None)


def contradictions(conn: Connection, facts: Sequence[int]) -> list[tuple[int, int]]:
    """(old, new) of the open revisions by which one of these facts contradicts another, the newest last."""
    return conn.execute(
        "SELECT old_id, new_id FROM revision WHERE relation = 'contradicts' AND state = 'open'"
        " AND (old_id IN (SELECT value FROM json_each(?1)) OR new_id IN (SELECT value FROM json_each(?1))) ORDER BY id",
        (id_list(facts),),
    ).fetchall()


def find_replacement(conn: Connection, fact: int, gone: Collection[int]) -> Row | None:
    """The standing revision by which something else stands in the place of a fact that goes: something that does not
    itself go."""
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
    """The standing revisions whose newer fact is one of these; the newest first."""
    return list_by_clauses(conn, f"WHERE {_STANDING} AND new_id IN {LISTED} ORDER BY id DESC", id_list(facts))


def list_undone_by_newer(conn: Connection, facts: Collection[int]) -> list[Row]:
    """The revisions that nobody undid, but that went with the evidence of their newer fact, one of these."""
    undone = f"WHERE state = 'undone' AND t_settled IS NULL AND new_id IN {LISTED} ORDER BY id"
    return list_by_clauses(conn, undone, id_list(facts))


def list_by_older(conn: Connection, fact: int) -> list[Row]:
    """The standing revisions whose older fact it is; the newest first."""
    return list_by_clauses(conn, f"WHERE {_STANDING} AND old_id = ? ORDER BY id DESC", fact)


_STANDING = "state IN ('open', 'kept', 'settled')"


def list_merges(conn: Connection, facts: Collection[int], begin: int) -> list[Row]:
    """The standing revisions that nobody has settled, by which rules took one of these relations for the same as one
    that begins after `begin` (ms UTC). Found by the facts (the plus), not by the state, which most revisions have."""
    return list_by_clauses(
        conn,
        "JOIN edge e ON e.id = r.new_id AND e.valid_from > ? WHERE r.relation = 'duplicates' AND r.author = 'rule'"
        f" AND +r.state = 'kept' AND r.t_settled IS NULL AND r.old_id IN {LISTED} ORDER BY r.id DESC",
        begin,
        id_list(facts),
    )


def list_across(conn: Connection, ones: Sequence[int], others: Sequence[int]) -> list[Row]:
    """The standing revisions that nobody has settled, of a relation of one of these objects and one of those; the
    newest first."""
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
    """Pairs of objects, told of as if they were one: (subject of the newer facts, of the older ones, how many), most
    facts first. A fact of one took the place of the other's with another value, or was the other's told again; rules
    never say that of two subjects, so a model or a person has."""
    return conn.execute(
        "SELECT n.src, o.src, count(*) FROM revision r JOIN edge n ON n.id = r.new_id JOIN edge o ON o.id = r.old_id"
        " WHERE r.state IN ('open', 'kept') AND n.src <> o.src AND n.pred_id = o.pred_id"
        " AND (r.relation = 'supersedes' AND n.dst <> o.dst OR r.relation = 'duplicates' AND n.dst = o.dst)"
        " GROUP BY n.src, o.src ORDER BY count(*) DESC, max(r.id) DESC LIMIT ?",
        (most,),
    ).fetchall()
