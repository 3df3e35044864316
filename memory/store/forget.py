"""Permanent forgetting: rows, vectors, full text, edges with their memory, traces and the answers that showed the data.

Call inside `store.writing()`, then `store.checkpoint()`, which removes the words from the disk. A person's chat
messages stay, as do passages of other sources that mention a forgotten object. Facts that a forgotten fact replaced
become valid again, until the next replacement."""

import hmac
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex

from memory.errors import NotFoundError
from memory.store import edge_memory, episodes, facts, graph, revisions, shared, synced, text, vectors
from memory.store.connect import (
    FIRST_EDGE,
    LISTED,
    LIVE,
    Connection,
    get_meta,
    id_list,
    read_column,
    read_value,
    set_meta,
    to_json,
)
from memory.views import Forgotten

HANDED_OVER = "What took its place is forgotten; this came after that."
FORGOTTEN_ANSWER = "[forgotten]"  # replaces an answer in a chat that quoted forgotten data
KEY = "forgotten_key"  # in the table meta: of the hashes of forgotten contents
UNWIPED = "unwiped"  # in the table meta: ms UTC since which the log may contain forgotten data
UNCLEARED = "uncleared"  # in the table meta: ms UTC since which unused parts of pages may contain forgotten data


def note_unwiped(conn: Connection, now: int, by_person: bool) -> None:
    """Records that the log contains data forgotten in this unit, and that unused parts of pages may contain what a
    person forgot."""
    for key in (UNWIPED, UNCLEARED) if by_person else (UNWIPED,):
        if get_meta(conn, key) is None:
            set_meta(conn, key, now)


def source(conn: Connection, uri: str, now: int) -> Forgotten:
    """Forgets a source with all its versions and jobs; the same content is not read again. NotFoundError."""
    sources = read_column(conn, "SELECT id FROM source WHERE uri = ?", uri)
    if not sources:
        raise NotFoundError(f"There is no source {uri}.")
    return _forget_versions(conn, uri, sources, now, mark_content=True)


def retired_source(conn: Connection, id: int, now: int, mark: bool) -> Forgotten:
    """Forgets a retired source; with `mark` a file with the same content is not read again."""
    return _forget_versions(conn, read_value(conn, "SELECT uri FROM source WHERE id = ?", id), [id], now, mark)


def _forget_versions(conn: Connection, uri: str, sources: Sequence[int], now: int, mark_content: bool) -> Forgotten:
    listed = id_list(sources)
    if mark_content:
        query = f"SELECT DISTINCT sha256 FROM source WHERE id IN {LISTED} AND sha256 IS NOT NULL"
        mark(conn, [digest for (digest,) in conn.execute(query, (listed,)).fetchall()], now)
    episodes = read_column(conn, f"SELECT node_id FROM episode WHERE source_id IN {LISTED}", listed)
    gone = passages(conn, episodes, now)
    conn.execute(f"DELETE FROM source WHERE id IN {LISTED}", (listed,))
    if read_value(conn, "SELECT 1 FROM source WHERE uri = ?", uri) is None:
        _remove_references(conn, uri)
    return replace(gone, sources=len(sources))


def _remove_references(conn: Connection, uri: str) -> None:
    """Deletes what refers to a source: skips, questions limited to it, jobs."""
    conn.execute("DELETE FROM skip WHERE uri = ?", (uri,))
    within = "SELECT 1 FROM json_tree(plan, '$.within') WHERE value IN (?1, ?1 || '#')"  # questions limited to it
    limited = id_list(read_column(conn, f"SELECT id FROM trace WHERE EXISTS ({within})", uri))
    edge_memory.remove_credit(conn, limited, "[]")
    conn.execute(f"DELETE FROM trace WHERE id IN {LISTED}", (limited,))
    conn.execute("DELETE FROM job WHERE EXISTS (SELECT 1 FROM json_tree(job.payload) WHERE value = ?)", (uri,))


def episode(conn: Connection, id: int, now: int) -> Forgotten:
    """Forgets an episode with its theses. NotFoundError."""
    query = "SELECT source_id, uri FROM episode JOIN source s ON s.id = source_id WHERE node_id = ?"
    row = conn.execute(query, (id,)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no passage {id}.")
    synced.note_forgotten(conn, "passage", [(sha,) for sha in shared.hashes_of(conn, [id]).values()])
    gone = passages(conn, [id], now)
    episodes.remove_unseen_secrets(conn, [row[0]])
    conn.execute(  # the title may contain the first words; the source stays, so that the file is not read again
        "UPDATE source SET title = ?2 WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM episode WHERE source_id = ?1)",
        (row[0], row[1].rpartition("/")[2]),
    )
    return gone


def object(conn: Connection, norm: str, now: int) -> Forgotten:
    """Forgets the object with the name `norm`, its aliases and the facts about it. NotFoundError."""
    objects = graph.objects_by_norm(conn, [norm]).get(norm, [])[:1]
    gone = "SELECT node_id FROM alias JOIN node ON id = node_id WHERE norm = ? AND t_expired IS NOT NULL"
    objects += read_column(conn, gone, norm)
    if not objects:
        raise NotFoundError(f"Nothing is known about {norm!r}.")
    synced.note_forgotten(conn, "object", [(norm,)])
    touching = [id_list(objects)] * 4
    query = "SELECT DISTINCT e.src FROM edge e JOIN node n ON n.id = e.src WHERE n.kind = 'T' AND e.id IN"
    theses = read_column(conn, f"{query} ({_TOUCHING})", *touching)
    relations = read_column(conn, f"SELECT id FROM edge WHERE kind = 'rel' AND id IN ({_TOUCHING})", *touching)
    lonely = _remove(conn, [], theses, objects, relations, now)
    return Forgotten(objects=len(objects) + lonely, facts=len(theses) + len(relations))


def fact(conn: Connection, id: int, now: int) -> Forgotten:
    """Forgets a thesis or relation; its passage stays. NotFoundError."""
    if id >= FIRST_EDGE:
        theses, relations = [], read_column(conn, "SELECT id FROM edge WHERE id = ? AND kind = 'rel'", id)
    else:
        theses, relations = read_column(conn, "SELECT node_id FROM thesis WHERE node_id = ?", id), []
    if not theses and not relations:
        raise NotFoundError(f"There is no fact {id}.")
    synced.note_forgotten(conn, "fact", shared.fact_refs(conn, [id]).values())
    twice = "relation = 'duplicates' AND state IN ('open', 'kept') AND new_kind = 'relation'"
    relations += read_column(conn, f"SELECT new_id FROM revision WHERE old_id = ? AND {twice}", id)
    return Forgotten(objects=_remove(conn, [], theses, [], relations, now), facts=1)


def passages(conn: Connection, episodes: list[int], now: int) -> Forgotten:
    """Forgets episodes with all that was learned from them."""
    listed = id_list(episodes)
    theses = read_column(conn, f"SELECT node_id FROM thesis WHERE episode_id IN {LISTED}", listed)
    relations = read_column(  # without other evidence
        conn,
        f"SELECT item_id FROM provenance p WHERE item_kind = 'edge' AND episode_id IN {LISTED} AND NOT EXISTS"
        " (SELECT 1 FROM provenance o WHERE o.item_kind = 'edge' AND o.item_id = p.item_id"
        f"  AND o.episode_id NOT IN {LISTED})",
        listed,
        listed,
    )
    named_only = read_column(  # objects that a model only named while reading them
        conn,
        "SELECT id FROM node n WHERE kind = 'O' AND t_created IN (SELECT t FROM extraction"
        f" WHERE episode_id IN {LISTED}) AND NOT EXISTS ({_ANY_EDGE})",
        listed,
    )
    lonely = _remove(conn, episodes, theses, named_only, relations, now) + len(named_only)
    return Forgotten(episodes=len(episodes), objects=lonely, facts=len(theses) + len(relations))


def _remove(
    conn: Connection, episodes: list[int], theses: list[int], objects: list[int], relations: list[int], now: int
) -> int:
    """Removes these and all that depends on them; returns the number of objects removed for lack of mentions."""
    _reopen(conn, {*theses, *relations}, now)
    text.remove(conn, episodes)
    nodes = id_list([*episodes, *theses, *objects])
    edges = id_list({*read_column(conn, _TOUCHING, *[nodes] * 4), *relations})
    query = "SELECT DISTINCT n.id FROM edge e JOIN node n ON n.id IN (e.src, e.dst) AND n.kind = 'O'"
    spoken_of = id_list(read_column(conn, f"{query} WHERE e.id IN {LISTED} AND n.id NOT IN {LISTED}", edges, nodes))
    query = f"SELECT DISTINCT pred_id FROM edge WHERE id IN {LISTED} AND pred_id IS NOT NULL"
    predicates = id_list(read_column(conn, query, edges))
    conn.execute(f"DELETE FROM edge WHERE id IN {LISTED}", (edges,))
    _remove_predicates(conn, predicates)
    lonely = read_column(conn, f"SELECT id FROM node n WHERE id IN {LISTED} AND NOT EXISTS ({_ANY_EDGE})", spoken_of)
    conn.execute(  # only retired edges mention them
        f"UPDATE node AS n SET t_expired = ? WHERE id IN {LISTED} AND id NOT IN {LISTED}"
        f" AND {LIVE} AND NOT EXISTS ({_LIVE_EDGE})",
        (now, spoken_of, id_list(lonely)),
    )
    nodes = id_list([*episodes, *theses, *objects, *lonely])
    _remove_traces(conn, nodes, edges)
    _remove_history(conn, nodes, edges)
    _remove_names(conn, episodes, spoken_of)
    conn.execute(  # the other episodes of such a job wait for a new one
        "DELETE FROM job WHERE EXISTS (SELECT 1 FROM json_each(job.payload, '$.episodes')"
        f" WHERE value IN {LISTED}) OR json_extract(job.payload, '$.episode') IN {LISTED}",
        [id_list(episodes)] * 2,
    )
    conn.execute(f"DELETE FROM meta WHERE key = 'owner' AND value IN {LISTED}", (nodes,))
    vectors.delete_many(conn, episodes)
    vectors.delete_sentences(conn, read_column(conn, f"SELECT episode_id FROM thesis WHERE node_id IN {LISTED}", nodes))
    facts.delete_vectors(conn, [*theses, *relations])
    for table in ("alias", "object", "thesis", "episode"):
        conn.execute(f"DELETE FROM {table} WHERE node_id IN {LISTED}", (nodes,))
    conn.execute(f"DELETE FROM node WHERE id IN {LISTED}", (nodes,))
    return len(lonely)


def _reopen(conn: Connection, gone: set[int], now: int) -> None:
    """Restores what these facts replaced; until the next replacement, if there is one."""
    listed = id_list(gone)
    query = f"SELECT id FROM revision WHERE new_id IN {LISTED} AND old_id NOT IN {LISTED} ORDER BY id DESC"
    ids = read_column(conn, query, listed, listed)
    for row in [revisions.get(conn, id) for id in ids]:
        after = revisions.find_replacement(conn, row.new, gone)
        if row.relation == "supersedes" and row.state in _STANDING and after is not None:
            _hand_over(conn, row, after, now)
        else:
            revisions.revert(conn, row.id)


def _hand_over(conn: Connection, row: revisions.Row, after: revisions.Row, now: int) -> None:
    """Gives a revision the next newer fact instead of the forgotten one."""
    query = "SELECT new FROM journal WHERE revision_id = ? AND item_id = ? AND field = 'valid_to' ORDER BY id DESC"
    ended = read_value(conn, query, after.id, after.old)
    revisions.revert(conn, row.id)
    conn.execute(
        "UPDATE revision SET new_id = ?, new_kind = ?, reason = ?, author = ?, conf = ? WHERE id = ?",
        (after.new, revisions.kind_of(after.new), HANDED_OVER, after.author, after.conf, row.id),
    )
    end = None if ended is None else int(ended)
    table, key = revisions.find_column(row.old, "valid_to")
    before = read_value(conn, f"SELECT valid_to FROM {table} WHERE {key} = ?", row.old)
    if end is not None and (before is None or before > end):
        revisions.change(conn, row.id, row.old, "valid_to", end, now)
    revisions.change(conn, row.id, row.old, "superseded_by", after.new, now)


def _remove_predicates(conn: Connection, predicates: str) -> None:
    """Removes unused predicates and their canonical ones."""
    query = f"SELECT canon_id FROM predicate WHERE id IN {LISTED} AND canon_id IS NOT NULL"
    canons = read_column(conn, query, predicates)
    for listed in (predicates, id_list(canons)):
        conn.execute(
            f"DELETE FROM predicate AS p WHERE id IN {LISTED}"
            " AND NOT EXISTS (SELECT 1 FROM edge WHERE pred_id = p.id)"
            " AND NOT EXISTS (SELECT 1 FROM predicate o WHERE o.canon_id = p.id AND o.id <> p.id)",
            (listed,),
        )


def _remove_names(conn: Connection, episodes: list[int], objects: str) -> None:
    """Removes names of remaining objects that only these episodes, or the properties of a source removed with them,
    gave."""
    listed = id_list(episodes)
    named = conn.execute(
        f"DELETE FROM alias AS a WHERE node_id IN {LISTED} AND origin <> 'mention' AND EXISTS"
        f" (SELECT 1 {_NAMING} WHERE e.node_id IN {LISTED} AND ({_IN_TEXT} OR {_IN_PROPERTIES} AND NOT EXISTS"
        f"   (SELECT 1 FROM episode o WHERE o.source_id = s.id AND o.node_id NOT IN {LISTED})))"
        f" AND NOT EXISTS (SELECT 1 {_NAMING} WHERE e.node_id IN ("
        "   SELECT src FROM edge WHERE dst = a.node_id AND kind = 'mention' UNION SELECT p.episode_id FROM edge r"
        "   JOIN provenance p ON p.item_kind = 'edge' AND p.item_id = r.id"
        "   WHERE r.kind = 'rel' AND a.node_id IN (r.src, r.dst))"
        f"  AND e.node_id NOT IN {LISTED} AND ({_IN_TEXT} OR {_IN_PROPERTIES}))"
        " RETURNING node_id, surface",
        (objects, listed, listed, listed),
    ).fetchall()
    for node, surface in named:
        conn.execute(
            "UPDATE node SET label = ifnull((SELECT surface FROM alias WHERE node_id = ?1 ORDER BY conf DESC, surface"
            " LIMIT 1), label) WHERE id = ?1 AND label = ?2",
            (node, surface),
        )


def _remove_traces(conn: Connection, nodes: str, edges: str) -> None:
    """Removes traces that touched any of these, and the text of their answers in chats."""
    cites = f"EXISTS (SELECT 1 FROM json_each(citations) WHERE value ->> 'episode_id' IN {LISTED})"
    query = (
        f"SELECT trace_id FROM trace_visit WHERE node_id IN {LISTED}"
        f" UNION SELECT trace_id FROM trace_edge WHERE edge_id IN {LISTED} UNION SELECT id FROM trace WHERE {cites}"
    )
    traces = id_list(read_column(conn, query, nodes, edges, nodes))
    conn.execute(
        "UPDATE message SET text = ?, citations = '[]', trace_id = NULL"
        f" WHERE role = 'memory' AND (trace_id IN {LISTED} OR {cites})",
        (FORGOTTEN_ANSWER, traces, nodes),
    )
    edge_memory.remove_credit(conn, traces, edges)
    conn.execute(f"DELETE FROM train_label WHERE edge_id IN {LISTED}", (edges,))  # which earlier versions wrote
    conn.execute(f"DELETE FROM trace WHERE id IN {LISTED}", (traces,))


def _remove_history(conn: Connection, nodes: str, edges: str) -> None:
    """Removes journal, provenance and revisions of these, and references to them as successors."""
    for fact, listed in (("thesis", nodes), ("relation", edges)):
        for side in ("old", "new"):
            condition = f"FROM revision WHERE {side}_kind = ? AND {side}_id IN {LISTED}"
            conn.execute(f"DELETE FROM journal WHERE revision_id IN (SELECT id {condition})", (fact, listed))
            conn.execute(f"DELETE {condition}", (fact, listed))
    for kind, listed in (("node", nodes), ("edge", edges)):
        conn.execute(f"DELETE FROM journal WHERE item_kind = ? AND item_id IN {LISTED}", (kind, listed))
        conn.execute(f"DELETE FROM provenance WHERE item_kind = ? AND item_id IN {LISTED}", (kind, listed))
    conn.execute(f"DELETE FROM provenance WHERE episode_id IN {LISTED}", (nodes,))
    conn.execute(f"DELETE FROM journal WHERE episode_id IN {LISTED}", (nodes,))
    conn.execute(f"UPDATE thesis SET superseded_by = NULL WHERE superseded_by IN {LISTED}", (nodes,))
    conn.execute(f"UPDATE edge SET superseded_by = NULL WHERE superseded_by IN {LISTED}", (edges,))


_STANDING = ("open", "kept")

_NAMING = "FROM episode e JOIN source s ON s.id = e.source_id"
_IN_TEXT = "instr(lower(e.text), lower(a.surface))"
_IN_PROPERTIES = "instr(lower(s.properties), lower(a.surface))"

_GONE = "t_expired IS NOT NULL"  # it and LIVE each have an index
# Edges that touch any of the given nodes (the same list four times).
_TOUCHING = " UNION ".join(
    f"SELECT id FROM edge WHERE {end} IN {LISTED} AND {state}" for end in ("src", "dst") for state in (LIVE, _GONE)
)
_LIVE_EDGE = " UNION ALL ".join(f"SELECT 1 FROM edge WHERE {end} = n.id AND {LIVE}" for end in ("src", "dst"))
_ANY_EDGE = f"{_LIVE_EDGE} UNION ALL {_LIVE_EDGE.replace(LIVE, _GONE)}"


# Marks of forgotten contents, which are not read again. A hash with a key of this memory remains: enough to recognize
# the content under any name, useless for a lookup elsewhere. ------------------------------------------------------


def mark(conn: Connection, digests: Sequence[str], now: int) -> None:
    """Excludes files with these contents (SHA-256, hex) from reading."""
    rows = [(_hash_content(conn, digest), now) for digest in digests]
    conn.executemany("INSERT OR IGNORE INTO forgotten(mark, t) VALUES (?, ?)", rows)
    synced.note_forgotten(conn, "file", [(digest,) for digest in digests])


def unmark(conn: Connection, digests: Sequence[str]) -> None:
    """Allows reading files with these contents."""
    marks = to_json([_hash_content(conn, digest) for digest in digests])
    conn.execute(f"DELETE FROM forgotten WHERE mark IN {LISTED}", (marks,))
    synced.allow_again(conn, "file", [(digest,) for digest in digests])


def is_marked(conn: Connection, digest: str) -> bool:
    """Whether a file with this content must not be read: it was forgotten here or on a synchronised computer."""
    if synced.is_forgotten(conn, "file", digest):
        return True
    if conn.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone() is None:
        return False
    return read_value(conn, "SELECT 1 FROM forgotten WHERE mark = ?", _hash_content(conn, digest)) is not None


def _hash_content(conn: Connection, digest: str) -> str:
    key = get_meta(conn, KEY)
    if key is None:
        key = token_hex(32)
        set_meta(conn, KEY, key)
    return hmac.digest(bytes.fromhex(key), digest.encode(), "sha256").hex()
