"""Forgetting for good: rows, vectors, full text, edges and what was learnt on them, traces and answers that showed it.

Call inside `store.writing()`, then `store.checkpoint()`: only after that the words are gone from the disk too. What a
person wrote in a chat stays, as do passages that mention a forgotten object: they are other sources' words.
"""

from __future__ import annotations

from typing import NamedTuple

from memory.errors import NotFoundError
from memory.store import graph, text, vectors
from memory.store.codec import id_list
from memory.store.connect import Connection
from memory.store.schema_first import FIRST_EDGE

FORGOTTEN_ANSWER = "[forgotten]"  # what stands in a chat where an answer quoted what is gone


class Forgotten(NamedTuple):
    """How many of each are gone."""

    sources: int = 0
    episodes: int = 0
    objects: int = 0
    facts: int = 0


def source(conn: Connection, uri: str, now: int) -> Forgotten:
    """A source with all it ever held, earlier versions too, and the jobs about it. NotFoundError."""
    sources = _ids(conn, "SELECT id FROM source WHERE uri = ?", uri)
    if not sources:
        raise NotFoundError(f"There is no source {uri}.")
    listed = id_list(sources)
    gone = _episodes(conn, _ids(conn, f"SELECT node_id FROM episode WHERE source_id IN {_LIST}", listed), now)
    conn.execute(f"DELETE FROM source WHERE id IN {_LIST}", (listed,))
    conn.execute("DELETE FROM skip WHERE uri = ?", (uri,))
    conn.execute("DELETE FROM job WHERE EXISTS (SELECT 1 FROM json_tree(job.payload) WHERE value = ?)", (uri,))
    return gone._replace(sources=len(sources))


def episode(conn: Connection, id: int, now: int) -> Forgotten:
    """One episode with its theses. NotFoundError."""
    if not _ids(conn, "SELECT node_id FROM episode WHERE node_id = ?", id):
        raise NotFoundError(f"There is no episode {id}.")
    return _episodes(conn, [id], now)


def object(conn: Connection, norm: str, now: int) -> Forgotten:
    """The object that the name `norm` finds, with its aliases and the facts about it. NotFoundError."""
    objects = graph.objects_by_norm(conn, [norm]).get(norm, [])[:1]
    objects += _ids(
        conn, "SELECT node_id FROM alias JOIN node ON id = node_id WHERE norm = ? AND t_expired IS NOT NULL", norm
    )
    if not objects:
        raise NotFoundError(f"Nothing is known of {norm!r}.")
    theses = _ids(
        conn,
        f"SELECT DISTINCT e.src FROM edge e JOIN node n ON n.id = e.src WHERE n.kind = 'T' AND e.id IN ({_TOUCHING})",
        *[id_list(objects)] * 4,
    )
    relations = _ids(conn, f"SELECT id FROM edge WHERE kind = 'rel' AND id IN ({_TOUCHING})", *[id_list(objects)] * 4)
    lonely = _remove(conn, [], theses, objects, relations, now)
    return Forgotten(objects=len(objects) + lonely, facts=len(theses) + len(relations))


def fact(conn: Connection, id: int, now: int) -> Forgotten:
    """One thesis or relation. The passage it was read from stays as it was written. NotFoundError."""
    if id >= FIRST_EDGE:
        theses, relations = [], _ids(conn, "SELECT id FROM edge WHERE id = ? AND kind = 'rel'", id)
    else:
        theses, relations = _ids(conn, "SELECT node_id FROM thesis WHERE node_id = ?", id), []
    if not theses and not relations:
        raise NotFoundError(f"There is no fact {id}.")
    return Forgotten(objects=_remove(conn, [], theses, [], relations, now), facts=1)


def _episodes(conn: Connection, episodes: list[int], now: int) -> Forgotten:
    listed = id_list(episodes)
    theses = _ids(conn, f"SELECT node_id FROM thesis WHERE episode_id IN {_LIST}", listed)
    relations = _ids(  # that no other episode tells
        conn,
        f"SELECT item_id FROM provenance p WHERE item_kind = 'edge' AND episode_id IN {_LIST} AND NOT EXISTS"
        " (SELECT 1 FROM provenance o WHERE o.item_kind = 'edge' AND o.item_id = p.item_id"
        f"  AND o.episode_id NOT IN {_LIST})",
        listed,
        listed,
    )
    lonely = _remove(conn, episodes, theses, [], relations, now)
    return Forgotten(episodes=len(episodes), objects=lonely, facts=len(theses) + len(relations))


def _remove(
    conn: Connection, episodes: list[int], theses: list[int], objects: list[int], relations: list[int], now: int
) -> int:
    """Removes these and all that hangs on them; returns how many objects went because nothing speaks of them now."""
    text.remove(conn, episodes, theses)
    nodes = id_list([*episodes, *theses, *objects])
    edges = id_list({*_ids(conn, _TOUCHING, *[nodes] * 4), *relations})
    spoken_of = id_list(
        _ids(
            conn,
            "SELECT DISTINCT n.id FROM edge e JOIN node n ON n.id IN (e.src, e.dst)"
            f" WHERE e.id IN {_LIST} AND n.kind = 'O' AND n.id NOT IN {_LIST}",
            edges,
            nodes,
        )
    )
    conn.execute(f"DELETE FROM edge WHERE id IN {_LIST}", (edges,))
    lonely = _ids(conn, f"SELECT id FROM node n WHERE id IN {_LIST} AND NOT EXISTS ({_ANY_EDGE})", spoken_of)
    silent = _ids(  # only the past speaks of them
        conn,
        f"SELECT id FROM node n WHERE id IN {_LIST} AND id NOT IN {_LIST} AND t_expired IS NULL"
        f" AND NOT EXISTS ({_LIVE_EDGE})",
        spoken_of,
        id_list(lonely),
    )
    conn.execute(
        f"UPDATE node SET t_expired = ?, expire_reason = 'forgotten' WHERE id IN {_LIST}", (now, id_list(silent))
    )
    nodes = id_list([*episodes, *theses, *objects, *lonely])
    _remove_traces(conn, nodes, edges)
    _remove_history(conn, nodes, edges)
    vectors.delete_many(conn, "episode", episodes)
    vectors.delete_many(conn, "thesis", theses)
    vectors.delete_many(conn, "object", [*objects, *lonely, *silent])
    conn.execute(f"DELETE FROM vec WHERE item_kind = 'edge' AND item_id IN {_LIST}", (edges,))
    for table in ("alias", "object", "thesis", "episode"):
        conn.execute(f"DELETE FROM {table} WHERE node_id IN {_LIST}", (nodes,))
    conn.execute(f"DELETE FROM node WHERE id IN {_LIST}", (nodes,))
    return len(lonely)


def _remove_traces(conn: Connection, nodes: str, edges: str) -> None:
    """Traces that touched any of these go, and so does what the answers they led to said in chats."""
    cites = f"EXISTS (SELECT 1 FROM json_each(citations) WHERE value ->> 'episode_id' IN {_LIST})"
    traces = id_list(
        _ids(
            conn,
            f"SELECT trace_id FROM trace_visit WHERE node_id IN {_LIST}"
            f" UNION SELECT trace_id FROM trace_edge WHERE edge_id IN {_LIST} UNION SELECT id FROM trace WHERE {cites}",
            nodes,
            edges,
            nodes,
        )
    )
    conn.execute(
        "UPDATE message SET text = ?, citations = '[]', trace_id = NULL"
        f" WHERE role = 'memory' AND (trace_id IN {_LIST} OR {cites})",
        (FORGOTTEN_ANSWER, traces, nodes),
    )
    conn.execute(f"DELETE FROM train_label WHERE edge_id IN {_LIST}", (edges,))
    conn.execute(f"DELETE FROM trace WHERE id IN {_LIST}", (traces,))


def _remove_history(conn: Connection, nodes: str, edges: str) -> None:
    """Journal, provenance, revisions, and what is said to be replaced by or merged into what is gone."""
    for kind, fact, listed in (("node", "thesis", nodes), ("edge", "relation", edges)):
        conn.execute(f"DELETE FROM journal WHERE item_kind = ? AND item_id IN {_LIST}", (kind, listed))
        conn.execute(f"DELETE FROM provenance WHERE item_kind = ? AND item_id IN {_LIST}", (kind, listed))
        for side in ("old", "new"):
            conn.execute(f"DELETE FROM revision WHERE {side}_kind = ? AND {side}_id IN {_LIST}", (fact, listed))
    conn.execute(f"DELETE FROM provenance WHERE episode_id IN {_LIST}", (nodes,))
    conn.execute(f"DELETE FROM journal WHERE episode_id IN {_LIST}", (nodes,))
    conn.execute(f"UPDATE thesis SET superseded_by = NULL WHERE superseded_by IN {_LIST}", (nodes,))
    conn.execute(f"UPDATE edge SET superseded_by = NULL WHERE superseded_by IN {_LIST}", (edges,))
    conn.execute(f"UPDATE node SET merged_into = NULL WHERE merged_into IN {_LIST}", (nodes,))


def _ids(conn: Connection, query: str, *values: int | str) -> list[int]:
    return [id for (id,) in conn.execute(query, values)]


_LIST = "(SELECT value FROM json_each(?))"

_LIVE, _GONE = "t_expired IS NULL", "t_expired IS NOT NULL"  # each has its own, partial, index

# Edges that touch any of the given nodes (the same list four times).
_TOUCHING = " UNION ".join(
    f"SELECT id FROM edge WHERE {end} IN {_LIST} AND {state}" for end in ("src", "dst") for state in (_LIVE, _GONE)
)
_LIVE_EDGE = " UNION ALL ".join(f"SELECT 1 FROM edge WHERE {end} = n.id AND {_LIVE}" for end in ("src", "dst"))
_ANY_EDGE = f"{_LIVE_EDGE} UNION ALL {_LIVE_EDGE.replace(_LIVE, _GONE)}"
