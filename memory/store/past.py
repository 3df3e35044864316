"""The memory at an earlier time: the versions of sources, their facts, and restoring them in a copy of the file.

An edit retires the passages it changed, a deletion all of a source; their rows stay. A question about an earlier day is
asked of a copy in which these are restored and later ones removed."""

from collections.abc import Sequence
from typing import NamedTuple

from memory.store import relations, text
from memory.store.connect import LISTED, LIVE, Connection, group_rows, id_list, is_live, read_column, read_value
from memory.store.relations import Relation
from memory.time.timestamps import from_ms
from memory.views import RetiredText


class Versions(NamedTuple):
    """The difference to the current versions at a time: ids of live episodes added `later`, and of retired ones current
    `then` whose text is gone. `state` changes with every write to sources and facts."""

    later: tuple[int, ...]
    then: tuple[int, ...]
    state: tuple[int, ...]


def versions_at(conn: Connection, at: int) -> Versions | None:
    """Returns the difference to the current versions at a time (ms UTC), or None."""
    later = read_column(
        conn,
        f"SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE e.since > ?"
        " ORDER BY e.node_id",
        at,
    )
    then = read_column(
        conn,
        "SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND n.t_expired IS NOT NULL"
        " JOIN source s ON s.id = e.source_id WHERE e.until > ?1 AND ifnull(e.since, ?1) <= ?1"
        " AND ifnull(e.event_from, ?1) <= ?1 AND NOT EXISTS (SELECT 1 FROM source z"
        f" JOIN episode o ON o.source_id = z.id JOIN node m ON m.id = o.node_id AND {is_live('m')}"
        " WHERE z.uri = s.uri AND o.sha256 = e.sha256 AND ifnull(o.since, ?1) <= ?1) ORDER BY e.node_id",
        at,
    )
    if not later and not then:
        return None
    state = conn.execute(
        "SELECT (SELECT value FROM meta WHERE key = 'next_node'), (SELECT value FROM meta WHERE key = 'next_edge'),"
        " (SELECT ifnull(max(id), 0) FROM journal), (SELECT count(*) FROM journal), (SELECT count(*) FROM node)"
    ).fetchone()
    return Versions(tuple(later), tuple(then), tuple(map(int, state)))


class StoredSentence(NamedTuple):
    """A thesis that is a sentence of its episode, `before`: the characters before it; `replaced`: it replaced another
    by a revision, from `valid_from` on (ms UTC)."""

    id: int
    text: str
    before: str
    replaced: bool
    valid_from: int | None


def sentences_of(conn: Connection, episodes: Sequence[int]) -> dict[int, list[StoredSentence]]:
    """Returns {episode: its sentences in order}, also of retired episodes."""
    rows = conn.execute(
        "SELECT t.episode_id, t.node_id, substr(e.text, t.span_from + 1, t.span_to - t.span_from),"
        " substr(e.text, max(0, t.span_from - 6) + 1, min(6, t.span_from)),"
        " EXISTS (SELECT 1 FROM revision r WHERE r.new_id = t.node_id), t.valid_from FROM thesis t"
        " JOIN episode e ON e.node_id = t.episode_id WHERE t.origin = 'sentence'"
        f" AND t.episode_id IN {LISTED} ORDER BY t.episode_id, t.span_from",
        (id_list(episodes),),
    )
    return group_rows((episode, StoredSentence(*row)) for episode, *row in rows)


def restore(conn: Connection, ids: Sequence[int]) -> None:
    """Restores retired episodes with all that was retired with them, except vectors and revisions by their facts."""
    then = id_list(ids)
    theses = read_column(
        conn,
        "SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id"
        f" JOIN node o ON o.id = t.episode_id AND o.t_expired = n.t_expired WHERE t.episode_id IN {LISTED}",
        then,
    )
    nodes = id_list([*ids, *theses])
    conn.execute(
        "UPDATE OR IGNORE edge SET t_expired = NULL WHERE t_expired IS NOT NULL AND id IN ("
        " SELECT e.id FROM edge e JOIN node n ON n.id = e.src AND n.t_expired = e.t_expired"
        "  WHERE e.t_expired IS NOT NULL AND e.src IN (SELECT value FROM json_each(?1))"
        " UNION SELECT e.id FROM edge e JOIN node n ON n.id = e.dst AND n.t_expired = e.t_expired"
        "  WHERE e.t_expired IS NOT NULL AND e.dst IN (SELECT value FROM json_each(?1)))",
        (nodes,),
    )
    query = f"SELECT DISTINCT dst FROM edge WHERE {LIVE} AND kind IN ('mention', 'member') AND src IN {LISTED}"
    spoken_of = read_column(conn, query, nodes)
    query = f"UPDATE node SET t_expired = NULL WHERE id IN {LISTED}"
    conn.executemany(query, [(nodes,), (id_list(spoken_of),)])
    conn.execute(
        "UPDATE source SET t_deleted = NULL WHERE t_deleted IS NOT NULL AND id IN (SELECT source_id FROM episode"
        f" WHERE node_id IN {LISTED}) AND uri NOT IN (SELECT uri FROM source WHERE t_deleted IS NULL)",
        (then,),
    )
    text.add(conn, ids)


def restore_fact(conn: Connection, fact: int, ids: Sequence[int]) -> None:
    """Restores retired episodes as evidence of one fact. Sentences that assert it become valid again, also in episodes
    restored earlier; the others end when their source dropped them."""
    restore(conn, ids)
    conn.execute(
        "UPDATE thesis AS t SET valid_to = (SELECT until FROM episode e WHERE e.node_id = t.episode_id)"
        f" WHERE t.episode_id IN (SELECT value FROM json_each(?1)) AND t.valid_to IS NULL AND NOT {_TELLS}",
        (id_list(ids), fact),
    )
    conn.execute(
        "UPDATE thesis AS t SET valid_to = NULL WHERE t.episode_id IN (SELECT e.node_id FROM provenance v"
        " JOIN episode e ON e.node_id = v.episode_id AND e.until IS NOT NULL WHERE v.item_kind = 'edge'"
        f" AND v.item_id = ?2) AND t.valid_to IS NOT NULL AND t.superseded_by IS NULL AND {_TELLS}",
        (None, fact),
    )


def retire_successors(conn: Connection, ids: Sequence[int], now: int) -> None:
    """Retires the sentences with which an edit replaced those of these restored episodes."""
    theses = read_column(
        conn,
        "WITH RECURSIVE later(id) AS (SELECT superseded_by FROM thesis WHERE superseded_by IS NOT NULL"
        " AND episode_id IN (SELECT value FROM json_each(?)) UNION SELECT t.superseded_by FROM later"
        " JOIN thesis t ON t.node_id = later.id AND t.superseded_by IS NOT NULL)"
        f" SELECT n.id FROM later JOIN node n ON n.id = later.id AND {is_live('n')}",
        id_list(ids),
    )
    listed = id_list(theses)
    for end in ("src", "dst"):
        conn.execute(
            f"UPDATE edge SET t_expired = ?1 WHERE {end} IN (SELECT value FROM json_each(?2)) AND {LIVE}", (now, listed)
        )
    conn.execute("UPDATE node SET t_expired = ? WHERE id IN (SELECT value FROM json_each(?))", (now, listed))


# SQL: whether a thesis `t` is the fact ?2, or contains words that assert it.
_TELLS = (
    "(t.node_id = ?2 OR EXISTS (SELECT 1 FROM provenance v WHERE v.item_kind = 'edge' AND v.item_id = ?2"
    " AND v.episode_id = t.episode_id AND v.span_from < t.span_to AND v.span_to > t.span_from))"
)


# The facts of versions of a source ----------------------------------------------------------------


def former_evidence(conn: Connection, id: int) -> list[int]:
    """Returns the last retired episode of an earlier version that asserts a fact without live evidence."""
    rows = conn.execute(
        "SELECT e.node_id, n.t_expired IS NULL, e.until FROM episode e JOIN node n ON n.id = e.node_id"
        f" WHERE {_TELLING} ORDER BY e.until, e.node_id",
        (id,),
    ).fetchall()
    return [] if any(live for _, live, _ in rows) else [id for id, _, until in rows if until is not None][-1:]


def restored_evidence(conn: Connection, id: int) -> list[int]:
    """Returns the live episodes that a person restored for this fact only, and whose source no longer asserts it."""
    return read_column(
        conn,
        f"SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE {_TELLING}"
        " AND e.until IS NOT NULL AND NOT EXISTS (SELECT 1 FROM revision r WHERE r.relation = 'supersedes'"
        " AND r.old_id <> ?1 AND (r.old_id IN (SELECT t.node_id FROM thesis t WHERE t.episode_id = e.node_id"
        " AND t.superseded_by IS NULL) OR r.old_id IN (SELECT o.id FROM provenance v JOIN edge o ON o.id = v.item_id"
        " WHERE v.item_kind = 'edge' AND v.episode_id = e.node_id AND o.superseded_by IS NULL)))",
        id,
    )


# SQL: the episodes `e` that assert the fact ?1.
_TELLING = (
    "e.node_id IN (SELECT episode_id FROM provenance WHERE item_kind = 'edge' AND item_id = ?1"
    " UNION SELECT episode_id FROM thesis WHERE node_id = ?1)"
)


def edited_pairs(conn: Connection, source: int, since: int) -> list[tuple[Relation, Relation]]:
    """Returns (former, new) relations with the same subject and canonical predicate: the former is only in the version
    of a source that ended at `since` (ms UTC) and in no live episode, the new only in the version that began then;
    sources that do not matter (`_MATTERS`) are ignored. Several are paired in text order."""
    former = _group_slots(conn, _FORMER, source, since)
    fresh = _group_slots(conn, _FRESH, source, since)
    pairs = [pair for slot, ids in former.items() for pair in zip(ids, fresh.get(slot, ()), strict=False)]
    by_id = {fact.id: fact for fact in relations.get_many(conn, [id for pair in pairs for id in pair], ever=True)}
    return [(by_id[old], by_id[new]) for old, new in pairs if old in by_id and new in by_id]


def edited_sentences(conn: Connection, pairs: Sequence[tuple[int, int]]) -> list[tuple[Relation, Relation]]:
    """Returns the pairs (former, new) of theses whose change no replaced relation of the former expresses."""
    expressed = read_column(
        conn,
        "SELECT t.node_id FROM thesis t JOIN provenance v ON +v.item_kind = 'edge' AND v.episode_id = t.episode_id"
        " AND v.span_from < t.span_to AND v.span_to > t.span_from JOIN edge e ON e.id = v.item_id"
        f" AND e.superseded_by IS NOT NULL AND {is_live('e')} WHERE t.node_id IN {LISTED}",
        id_list(old for old, _ in pairs),
    )
    by_id = {fact.id: fact for fact in relations.get_claims(conn, [id for pair in pairs for id in pair], ever=True)}
    return [(by_id[old], by_id[new]) for old, new in pairs if old in by_id and new in by_id and old not in expressed]


def _group_slots(conn: Connection, query: str, source: int, since: int) -> dict[tuple[int, int], list[int]]:
    """Returns {(subject, canonical predicate): relations in text order}."""
    rows = conn.execute(query, (source, since))
    slots = group_rows(((subject, canon), id) for id, subject, canon in rows)
    return {slot: list(dict.fromkeys(ids)) for slot, ids in slots.items()}


# SQL: whether an episode `x` is independent evidence of a statement of the source ?1 in `v`: not in a copy, which has
# the same title; for properties no other source counts.
_MATTERS = (
    "(x.source_id = ?1 OR v.span_from IS NOT NULL AND (SELECT title FROM source WHERE id = x.source_id)"
    " IS NOT (SELECT title FROM source WHERE id = ?1))"
)
_OF_VERSION = f"""
SELECT e.id, e.src, ifnull(p.canon_id, p.id) FROM episode o JOIN provenance v ON +v.item_kind = 'edge'
 AND v.episode_id = o.node_id JOIN edge e ON e.id = v.item_id AND e.kind = 'rel' AND {is_live("e")}
 JOIN predicate p ON p.id = e.pred_id WHERE o.source_id = ?1 AND o.{{begins}} = ?2 AND NOT EXISTS (SELECT 1
 FROM provenance w JOIN episode x ON x.node_id = w.episode_id JOIN node n ON n.id = x.node_id
 WHERE w.item_kind = 'edge' AND w.item_id = e.id AND {_MATTERS} AND {{elsewhere}}) ORDER BY o.seq, v.span_from, e.id"""
_FORMER = _OF_VERSION.format(begins="until", elsewhere=is_live("n"))
_FRESH = _OF_VERSION.format(begins="since", elsewhere="x.since IS NOT ?2")


# Retired text, which only questions about an earlier time find: of deleted sources, and of earlier versions ---------


class Expiry(NamedTuple):
    """The retired text to delete: sources deleted before `deleted`, passages edited away before `edited`, and those
    edited away before `drafts` that were current for less than `shortest`. None: none of these."""

    deleted: int | None = None
    edited: int | None = None
    drafts: int | None = None
    shortest: int = 0


def list_retired(conn: Connection, limit: int = -1) -> list[RetiredText]:
    """Returns the retired text by source, last retired first."""
    rows = conn.execute(
        "SELECT s.uri, s.title, s.t_deleted IS NOT NULL, count(n.id), max(ifnull(s.t_deleted, 0), ifnull("
        f"max(n.t_expired), 0)) AS t FROM source s {_RETIRED} GROUP BY s.id"
        " HAVING count(n.id) OR s.t_deleted IS NOT NULL ORDER BY t DESC, s.uri LIMIT ?",
        (limit,),
    )
    return [RetiredText(uri, title, bool(gone), passages, from_ms(t)) for uri, title, gone, passages, t in rows]


def count_retired(conn: Connection) -> int:
    """Returns the number of sources that `list_retired` returns without a limit."""
    query = f"SELECT count(DISTINCT s.id) FROM source s {_RETIRED} WHERE n.id IS NOT NULL OR s.t_deleted IS NOT NULL"
    return int(read_value(conn, query))


def find_retired_sources(conn: Connection, expiry: Expiry, under: str, limit: int) -> list[int]:
    """Returns ids of sources deleted before the limit: all, or those at or below a uri."""
    if expiry.deleted is None:
        return []
    query = f"SELECT id FROM source s WHERE t_deleted < ? AND {_UNDER} ORDER BY id LIMIT ?"
    return read_column(conn, query, expiry.deleted, *_find_scope(under), limit)


def find_retired_passages(conn: Connection, expiry: Expiry, under: str, limit: int) -> list[int]:
    """Returns ids of passages no longer in their live source, as above."""
    stood = "e.until - min(n.t_created, coalesce(e.since, e.event_from))"  # NULL if the beginning is unknown
    query = (
        "SELECT n.id FROM node n JOIN episode e ON e.node_id = n.id JOIN source s ON s.id = e.source_id"
        f" WHERE n.t_expired IS NOT NULL AND s.t_deleted IS NULL AND {_UNDER}"
        f" AND (n.t_expired < ? OR n.t_expired < ? AND {stood} >= 0 AND {stood} < ?) ORDER BY n.id LIMIT ?"
    )
    times = [_NEVER if time is None else time for time in (expiry.edited, expiry.drafts)]
    return read_column(conn, query, *_find_scope(under), *times, expiry.shortest, limit)


def _find_scope(under: str) -> tuple[str, str, int, str, str]:
    return under, under, len(under) + 1, under + "/", under + "#"


_NEVER = -(1 << 62)
_RETIRED = "LEFT JOIN episode e ON e.source_id = s.id LEFT JOIN node n ON n.id = e.node_id AND n.t_expired IS NOT NULL"
_UNDER = "(? = '' OR s.uri = ? OR substr(s.uri, 1, ?) IN (?, ?))"
