"""The rows of the hypergraph: objects and aliases, theses, edges. Written in bulk, loaded at once; walks use
`memory.graph`."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, SupportsInt

from memory.store.connect import (
    LISTED,
    LIVE,
    Connection,
    group_rows,
    id_list,
    is_live,
    read_column,
    read_value,
    to_json,
)
from memory.text.mentions import STATE, VALUE
from memory.text.predicates import NAMELESS
from memory.text.words import strip_accents

EdgeKind = Literal["mention", "asserts", "member", "next", "rel", "open"]
EDGE_KINDS: tuple[EdgeKind, ...] = ("mention", "asserts", "member", "next", "rel", "open")
"""In every array a kind is its place here; in the file its name is stored."""
NO_THINGS = ("date", STATE)  # types of objects that lead nowhere
OWNER_NAME = 0.5  # confidence of the owner's names, which ranks namesakes first


class AliasRow(NamedTuple):
    """`norm` identifies an object, `surface` is the spelling in the text. The table adds `folded`, the norm without
    accents if it has any, for searching."""

    norm: str
    surface: str
    node_id: int
    origin: str
    conf: float = 1.0


class Thesis(NamedTuple):
    """A thesis of an episode. The span counts characters of the episode's text, end exclusive; stored without a `text`,
    its words are the thesis. Validity in ms UTC."""

    id: int
    episode_id: int
    span_from: int | None
    span_to: int | None
    text: str = ""
    origin: str = "sentence"
    modality: str = "asserted"
    conf: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None


class EdgeRow(NamedTuple):
    """For a mention, `n_support` is its frequency and `role` "title" if the object titles the episode."""

    id: int
    kind: EdgeKind
    src: int
    dst: int
    n_support: int = 1
    role: str | None = None
    pred_id: int | None = None
    conf: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None


def allocate(conn: Connection, table: Literal["node", "edge"], n: int) -> int:
    """Returns the first of `n` consecutive ids that were never used."""
    query = "UPDATE meta SET value = value + ? WHERE key = ? RETURNING value"
    (next_free,) = conn.execute(query, (n, f"next_{table}")).fetchone()
    return int(next_free) - n


def insert_objects(conn: Connection, rows: Sequence[tuple[int, str, str | None]], now: int) -> None:
    """Inserts objects (id, name, type) with their nodes."""
    nodes = [(id, name, now) for id, name, _ in rows]
    conn.executemany("INSERT INTO node(id, kind, label, t_created) VALUES (?, 'O', ?, ?)", nodes)
    conn.executemany("INSERT INTO object(node_id, type) VALUES (?, ?)", [(id, type) for id, _, type in rows])


def insert_aliases(conn: Connection, rows: Sequence[AliasRow]) -> None:
    """Inserts aliases; existing ones stay unchanged."""
    conn.executemany(
        "INSERT OR IGNORE INTO alias(norm, surface, node_id, origin, conf, folded) VALUES (?, ?, ?, ?, ?, ?)",
        [(*row, fold_name(row.norm)) for row in rows],
    )


def fold_name(norm: str) -> str | None:
    """Returns the norm without accents, or None if it is the same."""
    folded = strip_accents(norm)
    return None if folded == norm else folded


def fold_aliases(conn: Connection) -> None:
    """Fills in `folded` of all aliases."""
    conn.create_function("fold_name", 1, fold_name, deterministic=True)
    conn.execute("UPDATE alias SET folded = fold_name(norm) WHERE length(CAST(norm AS BLOB)) > length(norm)")


def insert_theses(conn: Connection, rows: Sequence[Thesis], now: int) -> None:
    """Inserts theses with their nodes, after their episodes."""
    conn.executemany(f"INSERT INTO node(id, kind, t_created) VALUES (?, 'T', {int(now)})", [(row.id,) for row in rows])
    conn.executemany(
        "INSERT INTO thesis(node_id, episode_id, span_from, span_to, text, origin, modality, conf,"
        " valid_from, valid_to) VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?)",
        rows,
    )


def insert_edges(conn: Connection, rows: Sequence[EdgeRow], now: int) -> None:
    """Inserts edges between existing nodes. Only one copy of an edge may be live. Most have default values after
    `n_support`: leaving them to SQLite is twice as fast, since the driver takes a microsecond per bound NULL."""
    conn.executemany(
        f"INSERT INTO edge(id, kind, src, dst, n_support, t_created) VALUES (?, ?, ?, ?, ?, {int(now)})",
        [row[:5] for row in rows if row[5:] == _EDGE_DEFAULTS],
    )
    conn.executemany(
        "INSERT INTO edge(id, kind, src, dst, n_support, role, pred_id, conf, valid_from, valid_to, t_created)"
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {int(now)})",
        [row for row in rows if row[5:] != _EDGE_DEFAULTS],
    )


_EDGE_DEFAULTS = tuple(EdgeRow._field_defaults.values())[1:]


def objects_by_norm(conn: Connection, norms: Sequence[str]) -> dict[str, list[int]]:
    """Returns {alias: live objects}, surest, then oldest first; unknown norms are missing."""
    rows = conn.execute(
        f"SELECT a.norm, a.node_id FROM alias a JOIN node n ON n.id = a.node_id WHERE a.norm IN {LISTED}"
        f" AND {is_live('n')} ORDER BY a.norm, a.conf DESC, a.node_id",
        (json.dumps(list(norms)),),  # in ASCII: a name may contain half a surrogate pair
    )
    return group_rows(rows)


def objects_by_search(conn: Connection, norms: Sequence[str]) -> dict[str, list[int]]:
    """Returns the same as `objects_by_norm`, but searches unknown names without accents."""
    by_norm = objects_by_norm(conn, norms)
    missing = {norm: strip_accents(norm) for norm in norms if norm not in by_norm}
    rows = conn.execute(
        "SELECT f.value, a.node_id FROM json_each(?) f CROSS JOIN alias a ON a.folded = f.value"
        f" JOIN node n ON n.id = a.node_id WHERE {is_live('n')} ORDER BY f.value, a.conf DESC, a.node_id",
        (json.dumps(sorted({*missing.values()})),),
    )
    folded = group_rows(rows)
    folded |= {
        norm: [*nodes, *folded.get(norm, ())] for norm, nodes in objects_by_norm(conn, [*missing.values()]).items()
    }
    return by_norm | {norm: folded[bare] for norm, bare in missing.items() if bare in folded}


def all_by_norm(conn: Connection, norm: str) -> list[int]:
    """Returns the objects, retired ones included, with that name, by id."""
    return read_column(conn, "SELECT node_id FROM alias WHERE norm = ? ORDER BY node_id", norm)


def beginning_with(conn: Connection, norm: str, most: int) -> list[str]:
    """Returns up to `most` names of live objects that begin with `norm`, regardless of accents, shortest first."""
    return read_column(
        conn,
        f"SELECT DISTINCT n.label FROM alias a JOIN node n ON n.id = a.node_id AND {is_live('n')}"
        " WHERE (a.norm > ?1 AND a.norm < ?2) OR (a.folded > ?1 AND a.folded < ?2)"
        " ORDER BY length(n.label), n.label LIMIT ?3",
        norm,
        f"{norm}\U0010ffff",
        most,
    )


def find_by_own_name(conn: Connection, norm: str) -> list[int]:
    """Returns the objects with that name from their texts, not from a person or model; by id."""
    query = "SELECT a.node_id FROM alias a JOIN node n ON n.id = a.node_id WHERE a.norm = ?"
    own = "a.origin IN ('mention', 'frontmatter') OR n.label = a.surface"
    return read_column(conn, f"{query} AND ({own}) ORDER BY a.node_id", norm)


def join(conn: Connection, ones: Sequence[int], others: Sequence[int]) -> None:
    """Adds the names of each group of objects to the other group; changes nothing else."""
    for mine, theirs in ((ones, others), (others, ones)):
        conn.execute(
            "INSERT INTO alias(norm, surface, node_id, origin) SELECT a.norm, a.surface, o.value, 'user'"
            f" FROM json_each(?) o, alias a WHERE a.node_id IN {LISTED}"
            " ON CONFLICT DO UPDATE SET origin = 'user' WHERE origin = 'place'",
            (id_list(mine), id_list(theirs)),
        )


def part(conn: Connection, ones: Sequence[int], others: Sequence[int]) -> None:
    """Removes from each group of objects the names that came from the other group."""
    places = "UPDATE alias SET origin = 'place' WHERE origin = 'user' AND node_id IN (SELECT value FROM json_each(?))"
    own_name = "surface = (SELECT label FROM node WHERE id = node_id)"
    conn.execute(f"{places} AND {own_name}", (id_list([*ones, *others]),))
    for mine, theirs in ((ones, others), (others, ones)):
        conn.execute(
            "DELETE FROM alias WHERE origin IN ('user', 'told') AND node_id IN (SELECT value FROM json_each(?1))"
            " AND norm IN (SELECT norm FROM alias WHERE origin IN ('mention', 'frontmatter')"
            "  AND node_id IN (SELECT value FROM json_each(?2))"
            "  UNION SELECT a.norm FROM alias a JOIN node n ON n.id = a.node_id AND n.label = a.surface"
            "  WHERE a.node_id IN (SELECT value FROM json_each(?2)))",
            (id_list(mine), id_list(theirs)),
        )


def owner(conn: Connection) -> list[int]:
    """Returns the object of the memory's owner, then its namesakes; empty until something is asserted of the owner or a
    name is known."""
    return [object for id in read_column(conn, _OWNER) for object in dict.fromkeys((id, *namesakes(conn, id)))]


_OWNER = f"SELECT n.id FROM meta m JOIN node n ON n.id = m.value WHERE m.key = 'owner' AND {is_live('n')}"


def owner_names(conn: Connection) -> tuple[str, ...]:
    """Returns the names of the owner as written, first name first."""
    return tuple(read_column(conn, "SELECT surface FROM alias WHERE origin = 'owner' ORDER BY conf DESC"))


def name_owner(conn: Connection, names: Mapping[str, str], now: int) -> tuple[int, bool]:
    """Gives the owner these names (norm -> as written) instead of the former ones; returns (its object, whether it is
    new). Objects with these names stay separate: the names may be corrected later."""
    owners = read_column(conn, _OWNER)
    id = owners[0] if owners else allocate(conn, "node", 1)
    if not owners:
        insert_objects(conn, [(id, NAMELESS, "person")], now)
        conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('owner', ?)", (id,))
    conn.execute("DELETE FROM alias WHERE origin = 'owner'")
    aliases = enumerate(names.items())
    insert_aliases(
        conn, [AliasRow(norm, name, id, "owner", OWNER_NAME / (1 + place)) for place, (norm, name) in aliases]
    )
    conn.execute("UPDATE node SET label = ? WHERE id = ?", (next(iter(names.values()), NAMELESS), id))
    return id, not owners


def list_people(conn: Connection, objects: Sequence[int], marks: Collection[str] = ()) -> list[int]:
    """Returns the persons among these objects: by type, or by a predicate that only persons have (`marks`)."""
    return read_column(
        conn,
        "SELECT node_id FROM object WHERE type = 'person' AND node_id IN (SELECT value FROM json_each(?1)) UNION"
        " SELECT e.src FROM edge e JOIN predicate p ON p.id = e.pred_id"
        " WHERE e.src IN (SELECT value FROM json_each(?1))"
        f" AND p.label IN (SELECT value FROM json_each(?2)) AND e.kind = 'rel' AND {is_live('e')}",
        id_list(objects),
        to_json(sorted(marks)),
    )


def names_of(conn: Connection, object: int) -> list[str]:
    """Returns the norms of all names of an object."""
    return read_column(conn, "SELECT norm FROM alias WHERE node_id = ?", object)


def namesakes(conn: Connection, object: int) -> list[int]:
    """Returns the live objects that share a name with an object; names of places are not shared."""
    query = "SELECT DISTINCT b.node_id FROM alias a JOIN alias b ON b.norm = a.norm JOIN node n ON n.id = b.node_id"
    shared = "a.origin <> 'place' AND b.origin <> 'place'"
    return read_column(conn, f"{query} WHERE a.node_id = ? AND {shared} AND {is_live('n')}", object)


def find_subjects(conn: Connection, objects: Sequence[int], sources: Sequence[int]) -> tuple[set[int], set[int]]:
    """Returns (those of these objects that rules made subjects of facts in one of these `sources`, those that are
    subjects in other sources): other contacts if the sources are contacts, else other notes."""
    rows = conn.execute(
        "SELECT DISTINCT e.src, o.source_id IN (SELECT value FROM json_each(?2)) FROM edge e"
        " JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = e.id AND v.extractor = 'rule'"
        " JOIN episode o ON o.node_id = v.episode_id JOIN source s ON s.id = o.source_id"
        " WHERE e.kind = 'rel' AND e.src IN (SELECT value FROM json_each(?1)) AND ((s.reader = 'contacts') = EXISTS ("
        " SELECT 1 FROM source c WHERE c.reader = 'contacts' AND c.id IN (SELECT value FROM json_each(?2))))",
        (id_list(objects), id_list(sources)),
    ).fetchall()
    return {node for node, is_own in rows if is_own}, {node for node, is_own in rows if not is_own}


def persons_called(conn: Connection, first: str, limit: int) -> list[int]:
    """Returns live persons with a longer name that begins with that word."""
    return read_column(
        conn,
        "SELECT DISTINCT a.node_id FROM alias a JOIN object o ON o.node_id = a.node_id AND o.type = 'person'"
        f" JOIN node n ON n.id = a.node_id AND {is_live('n')} WHERE a.norm > ? AND a.norm < ? LIMIT ?",
        f"{first} ",
        f"{first}!",
        limit,
    )


def object_type(conn: Connection, object: int) -> str | None:
    type: str | None = read_value(conn, "SELECT type FROM object WHERE node_id = ?", object)
    return type


def name_values(conn: Connection, objects: Sequence[int]) -> None:
    """Makes names of those of these objects that were only the values of facts."""
    query = f"UPDATE object SET type = 'name' WHERE type = '{VALUE}' AND node_id IN {LISTED}"
    conn.execute(query, (id_list(objects),))


def set_object_type(conn: Connection, object: int, type: str) -> None:
    conn.execute("UPDATE object SET type = ? WHERE node_id = ?", (type, object))


def mentioned_names(conn: Connection, episode: int) -> list[tuple[str, str | None]]:
    """Returns (name, type) of the objects that the passage mentions."""
    return conn.execute(
        "SELECT n.label, o.type FROM edge m JOIN node n ON n.id = m.dst JOIN object o ON o.node_id = n.id"
        f" WHERE m.src = ? AND m.kind = 'mention' AND m.role IS NULL AND {is_live('m')}",
        (episode,),
    ).fetchall()


def object_labels(conn: Connection, ids: Sequence[SupportsInt]) -> dict[int, str]:
    """Returns {id: name} of objects."""
    rows = conn.execute(f"SELECT id, label FROM node WHERE kind = 'O' AND id IN {LISTED}", (id_list(ids),))
    return dict(rows.fetchall())


def thesis_texts(conn: Connection, ids: Sequence[SupportsInt]) -> dict[int, str]:
    """Returns {id: text} of live theses."""
    return dict(conn.execute(f"SELECT id, body FROM thesis_content WHERE id IN {LISTED}", (id_list(ids),)).fetchall())


def relation_words(conn: Connection, ids: Sequence[SupportsInt]) -> dict[int, tuple[int, str]]:
    """Returns {id: (source node, predicate or "")} of edges."""
    query = "SELECT e.id, e.src, ifnull(p.label, '') FROM edge e LEFT JOIN predicate p ON p.id = e.pred_id"
    rows = conn.execute(f"{query} WHERE e.id IN {LISTED}", (id_list(ids),))
    return {id: (src, label) for id, src, label in rows}


def edges_from(conn: Connection, nodes: Sequence[SupportsInt], kind: EdgeKind) -> list[EdgeRow]:
    """Returns the live edges of a kind from these nodes, by id."""
    rows = conn.execute(
        "SELECT id, kind, src, dst, n_support, role, pred_id, conf, valid_from, valid_to FROM edge"
        f" WHERE src IN {LISTED} AND kind = ? AND {LIVE} ORDER BY id",
        (id_list(nodes), kind),
    )
    return [EdgeRow(*row) for row in rows]


def retire_edges(conn: Connection, ids: Sequence[SupportsInt], now: int) -> None:
    """Retires edges and deletes their memory. Ids that are not live are ignored."""
    query = f"UPDATE edge SET t_expired = ? WHERE id IN {LISTED} AND {LIVE}"
    conn.execute(query, (now, id_list(ids)))
    conn.execute(f"DELETE FROM edge_memory WHERE edge_id IN {LISTED}", (id_list(ids),))
