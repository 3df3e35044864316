"""Queries for screens: objects, facts and notes by words, the mentions of an object, and what is new.

Words match anywhere in a text, without accents: the last may be incomplete."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memory.errors import NotFoundError
from memory.nouns import Fact
from memory.store import facts, text
from memory.store.connect import (
    LISTED,
    LIVE,
    SOURCE_COLUMNS,
    Connection,
    id_list,
    is_asserted,
    is_live,
    make_pattern,
    read_column,
    read_value,
    source_from_row,
)
from memory.store.revisions import Row, list_by_clauses
from memory.text.mentions import norm
from memory.text.words import index_form, strip_accents
from memory.time.timestamps import from_wall
from memory.views import FoundObject, ListedSource, MentionedIn

# Types of objects that are no things; older memories have tags, and words that begin lines.
HIDDEN = ("date", "property", "state", "tag", "task", "value", "word")
REPLACED = "state IN ('open', 'kept') AND relation IN ('supersedes', 'negates') AND t > ?1 AND (?2 IS NULL OR t <= ?2)"
LEAST_NAME_CHARS = 3
LEAST_NOTES = 2  # that mention a thing without facts, to be notable


class ReadSource(NamedTuple):
    """A live source for its page; times in ms UTC. `readers`: the models that extracted facts from it."""

    source: ListedSource
    read: int
    tags: tuple[str, ...]
    readers: tuple[str, ...]
    passages: tuple[int, ...]


def _make_patterns(query: str) -> tuple[list[str], dict[str, str]]:
    """Returns (the words as names are looked up, {parameter: the pattern of each})."""
    words = strip_accents(norm(query)).split()
    return words, {f"word{place}": make_pattern(word) for place, word in enumerate(words)}


def find_objects(conn: Connection, query: str, limit: int, offset: int) -> tuple[list[FoundObject], int]:
    """Returns (page of live objects with a name that contains all words, total). Names that begin with the words come
    first, then the most mentioned; objects that are only values come last."""
    words, likes = _make_patterns(query)
    named = " AND ".join(f"ifnull(folded, norm) LIKE :{name} ESCAPE '\\'" for name in likes) or "1"
    chosen = f"WITH chosen(id) AS MATERIALIZED (SELECT DISTINCT node_id FROM alias WHERE {named})"
    filter = " IN (SELECT id FROM chosen)" if likes else " IS NOT NULL"  # without words a semijoin would be slower
    source = (
        f"JOIN node n ON n.id = o.node_id AND {is_live('n')}"
        f" WHERE o.node_id{filter} AND ifnull(o.type, '') NOT IN {HIDDEN}"
    )
    rows = conn.execute(
        f"{chosen},"
        f" fact(id, n) AS (SELECT src, count(*) FROM edge WHERE kind = 'rel' AND {LIVE} AND src{filter} GROUP BY src),"
        f" named(id, n) AS (SELECT dst, count(*) FROM edge WHERE {LIVE} AND dst{filter} GROUP BY dst)"
        " SELECT n.id, n.label, o.type, ifnull(t.n, 0) AS facts FROM object o LEFT JOIN fact t ON t.id = o.node_id"
        " LEFT JOIN named m ON m.id = o.node_id"
        f" {source} ORDER BY n.label LIKE :begin ESCAPE '\\' DESC, o.type IS NULL AND t.n IS NULL,"
        " ifnull(t.n, 0) + ifnull(m.n, 0) DESC, n.label, n.id"
        " LIMIT :limit OFFSET :offset",
        likes | {"begin": make_pattern(" ".join(words))[1:], "limit": limit, "offset": offset},
    ).fetchall()
    (total,) = conn.execute(f"{chosen} SELECT count(*) FROM object o {source}", likes).fetchone()
    notes = count_notes(conn, [row[0] for row in rows])
    objects = [FoundObject(name, name_kind(type), facts, notes.get(id, 0)) for id, name, type, facts in rows]
    return objects, int(total)


def count_notes(conn: Connection, objects: Sequence[int]) -> dict[int, int]:
    """Returns {object: number of sources that mention it}."""
    rows = conn.execute(
        "SELECT m.dst, count(DISTINCT e.source_id) FROM edge m JOIN episode e ON e.node_id = m.src"
        f" WHERE m.dst IN {LISTED} AND m.kind = 'mention' AND {is_live('m')} GROUP BY m.dst",
        (id_list(objects),),
    )
    return dict(rows.fetchall())


def find_facts(conn: Connection, query: str, limit: int, offset: int) -> tuple[list[Fact], int]:
    """Returns (page of relations, newest first, total): with live evidence; ends or predicate contain each word."""
    _, likes = _make_patterns(query)
    named = "SELECT node_id FROM alias WHERE ifnull(folded, norm) LIKE :{0} ESCAPE '\\'"
    matching = (
        f"(e.src IN ({named}) OR e.dst IN ({named}) OR"
        " e.pred_id IN (SELECT id FROM predicate WHERE label LIKE :{0} ESCAPE '\\'))"
    )
    chosen = "".join(f" AND {matching.format(name)}" for name in likes)
    source = f"FROM edge e WHERE e.kind = 'rel' AND {is_live('e')} AND {is_asserted('e')}{chosen}"
    page = likes | {"limit": limit, "offset": offset}
    rows = conn.execute(f"SELECT e.id {source} ORDER BY e.id DESC LIMIT :limit OFFSET :offset", page).fetchall()
    (total,) = conn.execute(f"SELECT count(*) {source}", likes).fetchone()
    return facts.get_many(conn, [id for (id,) in rows]), int(total)


def find_sources(conn: Connection, query: str, limit: int, offset: int) -> tuple[list[ListedSource], int]:
    """Returns (page of live sources, total) with all words in title or path, these first, or in one passage; then the
    newest first, those without a date last."""
    words, likes = _make_patterns(query)
    titled = " AND ".join(f"title || ' ' || uri LIKE :{name} ESCAPE '\\'" for name in likes) or "1 = 1"  # 1: a column
    matching = {"match": " ".join(f"{text.phrase(index_form(word))}*" for word in words)} if words else {}
    holding = (
        " OR id IN (SELECT e.source_id FROM episode_text JOIN episode e ON e.node_id = episode_text.rowid"
        " WHERE episode_text MATCH :match)"
    )
    source = f"FROM source WHERE t_deleted IS NULL AND (({titled}){holding if words else ''})"
    rows = conn.execute(
        f"SELECT {SOURCE_COLUMNS}, (SELECT count(*) FROM episode e JOIN node n ON n.id = e.node_id"
        f" WHERE e.source_id = source.id AND {is_live('n')}) {source}"
        f" ORDER BY ({titled}) DESC, at DESC, id DESC LIMIT :limit OFFSET :offset",
        likes | matching | {"limit": limit, "offset": offset},
    ).fetchall()
    (total,) = conn.execute(f"SELECT count(*) {source}", likes | matching).fetchone()
    return [make_listed(row) for row in rows], int(total)


def read_source(conn: Connection, uri: str) -> ReadSource:
    """Returns the live source of that uri with its passages' ids. NotFoundError."""
    row = conn.execute(
        f"SELECT {SOURCE_COLUMNS}, t_ingested FROM source WHERE uri = ? AND t_deleted IS NULL", (uri,)
    ).fetchone()
    if row is None:
        raise NotFoundError(f"{uri} is not in memory. It may have been forgotten or deleted.")
    rows = conn.execute(
        f"SELECT e.node_id, x.model FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        " LEFT JOIN extraction x ON x.episode_id = e.node_id WHERE e.source_id = ? ORDER BY e.seq, e.node_id",
        (row[0],),
    ).fetchall()
    tags = read_column(conn, "SELECT tag FROM source_tag WHERE source_id = ? ORDER BY tag", row[0])
    models = dict.fromkeys(model for _, model in rows if model)
    listed = make_listed((*row[:-1], len(rows)))
    return ReadSource(listed, row[-1], tuple(tags), tuple(models), tuple(id for id, _ in rows))


def names_of(conn: Connection, objects: Sequence[int]) -> list[str]:
    """Returns all names of these objects, as written."""
    query = f"SELECT DISTINCT surface FROM alias WHERE node_id IN {LISTED} ORDER BY conf DESC, surface"
    return read_column(conn, query, id_list(objects))


def list_mentioning(conn: Connection, objects: Sequence[int], limit: int) -> tuple[list[tuple[int, MentionedIn]], int]:
    """Returns ([(first episode, mention without its quote)]: the live sources that mention one of these objects, newest
    first; total)."""
    source = (
        "FROM edge m JOIN episode e ON e.node_id = m.src JOIN source s ON s.id = e.source_id"
        f" WHERE m.dst IN {LISTED} AND m.kind = 'mention' AND {is_live('m')}"
    )
    rows = conn.execute(
        "SELECT s.uri, s.title, min(e.node_id), count(DISTINCT e.node_id), max(ifnull(e.event_from, s.at)) AS at"
        f" {source} GROUP BY s.id ORDER BY at DESC, s.id DESC LIMIT ?",
        (id_list(objects), limit),
    ).fetchall()
    (total,) = conn.execute(f"SELECT count(DISTINCT s.id) {source}", (id_list(objects),)).fetchone()
    mentions = [(first, MentionedIn(uri, title, None, "", n, from_wall(at))) for uri, title, first, n, at in rows]
    return mentions, int(total)


def name_kind(type: str | None) -> str:
    """Returns the kind of an object; "" if its type is a form of text."""
    return "" if type in (None, "name", "title", "link") else type or ""


def list_notable_things(conn: Connection) -> list[tuple[int, str]]:
    """Returns (id, name) of the live things that notes mention, with a fact or mentioned by several notes."""
    notes = (
        "SELECT count(DISTINCT e.source_id) FROM edge m JOIN episode e ON e.node_id = m.src"
        f" WHERE m.dst = n.id AND m.kind = 'mention' AND {is_live('m')}"
    )
    has_fact = " OR ".join(
        f"EXISTS (SELECT 1 FROM edge r WHERE r.{end} = n.id AND r.kind = 'rel' AND {is_live('r')})"
        for end in ("src", "dst")
    )
    return conn.execute(
        f"SELECT n.id, n.label FROM node n JOIN object o ON o.node_id = n.id AND ifnull(o.type, '') NOT IN {HIDDEN}"
        f" WHERE n.kind = 'O' AND n.label <> '' AND {is_live('n')} AND ({notes}) + ({has_fact}) >= {LEAST_NOTES}"
        " ORDER BY n.id"
    ).fetchall()


def list_open_tasks(conn: Connection, most: int) -> list[int]:
    """Returns the first live passage of each of the newest open tasks."""
    return read_column(
        conn,
        "SELECT min(v.episode_id) FROM predicate p JOIN edge e ON e.pred_id = p.id AND e.kind = 'rel'"
        f" AND {is_live('e')} AND e.superseded_by IS NULL JOIN node o ON o.id = e.dst AND o.label = 'open'"
        " JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = e.id"
        f" JOIN node n ON n.id = v.episode_id AND {is_live('n')} WHERE p.label = 'status'"
        " GROUP BY e.id ORDER BY e.id DESC LIMIT ?",
        most,
    )


# News ----------------------------------------------------------------------------------------------------------


def list_read(conn: Connection, since: int, until: int | None, limit: int) -> tuple[list[ListedSource], int]:
    """Returns (live sources with passages read in (since, until] (ms UTC; None: unbounded), newest first; total).

    Uses the ids of the passages, which grow with time, and an index only: a scan of 100,000 sources takes 65 ms."""
    rows = conn.execute(
        "WITH found(id, newest) AS MATERIALIZED (SELECT source_id, max(node_id) FROM episode INDEXED BY episode_source"
        "  WHERE node_id >= ?1 AND (?2 IS NULL OR node_id < ?2) GROUP BY source_id)"
        " SELECT s.id, count(*) OVER () FROM found JOIN source s ON s.id = found.id AND s.t_deleted IS NULL"
        " ORDER BY newest DESC LIMIT ?3",
        (find_first_after(conn, since), until and find_first_after(conn, until), limit),
    ).fetchall()
    return _get_many(conn, [id for id, _ in rows]), rows[0][1] if rows else 0


def find_first_after(conn: Connection, since: int) -> int:
    """Returns the least id of a node created after a time, or the next id; ids grow with time."""
    low, high = 1, read_value(conn, "SELECT ifnull(max(id), 0) + 1 FROM node")
    while low < high:
        middle = (low + high) // 2
        query = "SELECT id, t_created FROM node WHERE id >= ? ORDER BY id LIMIT 1"
        id, made = conn.execute(query, (middle,)).fetchone()
        low, high = (low, middle) if made > since else (id + 1, high)
    return int(low)


def list_newest_notes(conn: Connection, episodes: Sequence[int], limit: int) -> list[ListedSource]:
    """Returns the live sources of these passages, the newest first, those without a date last; not the entries of the
    owner's profile."""
    ids = read_column(
        conn,
        "SELECT s.id FROM json_each(?1) l JOIN episode e ON e.node_id = l.value"
        " JOIN source s ON s.id = e.source_id AND s.t_deleted IS NULL AND s.uri NOT GLOB 'note:me/*'"
        " GROUP BY s.id ORDER BY s.at DESC, min(l.key) LIMIT ?2",
        id_list(episodes),
        limit,
    )
    return _get_many(conn, ids)


def list_replaced(conn: Connection, since: int, until: int | None, limit: int) -> tuple[list[Row], int]:
    """Returns (accepted revisions in (since, until] (ms UTC; None: unbounded) that replaced or ended a fact, newest
    first; total)."""
    (total,) = conn.execute(f"SELECT count(*) FROM revision WHERE {REPLACED}", (since, until)).fetchone()
    return list_by_clauses(conn, f"WHERE {REPLACED} ORDER BY t DESC, id DESC LIMIT ?3", since, until, limit), total


def list_newest_episodes(conn: Connection, limit: int) -> list[int]:
    """Returns the live passages read last, by id."""
    return read_column(
        conn,
        f"SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        " ORDER BY e.node_id DESC LIMIT ?",
        limit,
    )


def list_mentioned_things(conn: Connection, episodes: Sequence[int], limit: int) -> list[tuple[int, str]]:
    """Returns (id, name) of the things most often mentioned in these passages: people, linked names, and what one of
    their notes has as its title; a name that only occurs in a text may be any word, and a title that no text has is the
    name of a file."""
    listed = "(SELECT value FROM json_each(?1))"
    return conn.execute(
        "SELECT n.id, n.label FROM edge e JOIN object o ON o.node_id = e.dst"
        " AND o.type IN ('name', 'link', 'title', 'person')"
        " JOIN episode m ON m.node_id = e.src AND instr(m.text, n.label)"
        f" JOIN node n ON n.id = o.node_id AND {is_live('n')} WHERE e.kind = 'mention' AND {is_live('e')}"
        f" AND e.src IN {listed} AND length(n.label) >= ?2 AND (o.type IN ('link', 'person') OR n.label IN"
        f" (SELECT s.title FROM episode p JOIN source s ON s.id = p.source_id WHERE p.node_id IN {listed}))"
        " GROUP BY n.id ORDER BY count(DISTINCT e.src) DESC, n.id LIMIT ?3",
        (id_list(episodes), LEAST_NAME_CHARS, limit),
    ).fetchall()


# Lists of sources ----------------------------------------------------------------------------------------------


def search_sources(conn: Connection, query: str, limit: int) -> tuple[list[ListedSource], int]:
    """Returns (live sources with `query` in uri or title, regardless of case, newest read first; total). A source whose
    uri is `query` comes before all."""
    matching = r"WHERE t_deleted IS NULL AND (uri LIKE :like ESCAPE '\' OR title LIKE :like ESCAPE '\')"
    values = {"like": make_pattern(query), "query": query, "limit": limit}
    order = "ORDER BY uri = :query DESC, t_ingested DESC, id DESC LIMIT :limit"
    listed = [make_listed(row) for row in conn.execute(f"{_LISTED} {matching} {order}", values)]
    (total,) = conn.execute(f"SELECT count(*) FROM source {matching}", values).fetchone()
    return listed, total


def _get_many(conn: Connection, ids: Sequence[int]) -> list[ListedSource]:
    """Returns listed sources in the order of these ids."""
    rows = conn.execute(f"{_LISTED} WHERE id IN {LISTED}", (id_list(ids),)).fetchall()
    by_id = {row[0]: make_listed(row) for row in rows}
    return [by_id[id] for id in ids if id in by_id]


_LISTED = (
    f"SELECT {SOURCE_COLUMNS}, (SELECT count(*) FROM episode e JOIN node n ON n.id = e.node_id"
    f"  WHERE e.source_id = source.id AND {is_live('n')}) FROM source"
)


def make_listed(row: Sequence[Any]) -> ListedSource:
    """Returns a ListedSource from SOURCE_COLUMNS and the number of its episodes."""
    source = source_from_row(row[:-1])
    return ListedSource(source.uri, source.kind, source.title, row[-1], source.at, source.policy)


def count_tags(conn: Connection, limit: int) -> list[tuple[str, int]]:
    """Returns the tags of live sources with their frequency, most frequent first."""
    return conn.execute(
        "SELECT tag, count(*) AS n FROM source_tag JOIN source ON id = source_id WHERE t_deleted IS NULL"
        " GROUP BY tag ORDER BY n DESC, tag LIMIT ?",
        (limit,),
    ).fetchall()
