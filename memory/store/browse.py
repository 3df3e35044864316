"""Search pages of objects, facts and notes by words; the neighbours of an object and its mentions.

Words are without accents and match anywhere in a text: the last may be incomplete."""

from collections.abc import Sequence
from typing import NamedTuple

from memory.nouns import ListedSource
from memory.store import text
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, SOURCE_COLUMNS, id_list, is_asserted, is_live, source_from_row
from memory.text.words import index_form

HIDDEN = ("date", "property", "tag")  # types of objects that are no things
NEWEST_PASSAGES = 200  # passages of an object searched for its neighbours


class FoundObject(NamedTuple):
    """An object with the numbers of `facts` about it and `notes` that mention it."""

    name: str
    type: str | None
    facts: int
    notes: int


class Neighbour(NamedTuple):
    """An object related by a `predicate`, as its object if `forward`; without one, mentioned in the same `passages`
    (number)."""

    name: str
    predicate: str = ""
    forward: bool = True
    passages: int = 0


class MentionedIn(NamedTuple):
    """A source that mentions an object in `passages` (number), first in `episode`."""

    uri: str
    title: str
    episode: int
    passages: int
    at: int | None  # ms UTC


class ReadSource(NamedTuple):
    """A live source for its page; times in ms UTC. `readers`: the models that extracted facts from it."""

    source: ListedSource
    read: int
    tags: tuple[str, ...]
    readers: tuple[str, ...]
    passages: tuple[int, ...]


def find_objects(conn: Connection, words: Sequence[str], limit: int, offset: int) -> tuple[list[FoundObject], int]:
    """(page of live objects with a name that contains all words, total). Names that begin with the words come first,
    then the most mentioned; objects that are only values come last."""
    likes = {f"word{place}": _make_pattern(word) for place, word in enumerate(words)}
    named = " AND ".join(f"ifnull(folded, norm) LIKE :{name} ESCAPE '\\'" for name in likes) or "1"
    chosen = f"WITH chosen(id) AS MATERIALIZED (SELECT DISTINCT node_id FROM alias WHERE {named})"
    filter = " IN (SELECT id FROM chosen)" if likes else " IS NOT NULL"  # without words a semijoin would be slower
    source = (
        f"JOIN node n ON n.id = o.node_id AND {is_live('n')}"
        f" WHERE o.node_id{filter} AND ifnull(o.type, '') NOT IN {HIDDEN}"
    )
    rows = conn.execute(
        f"{chosen},"
        f" told(id, n) AS (SELECT src, count(*) FROM edge WHERE kind = 'rel' AND {LIVE} AND src{filter} GROUP BY src),"
        f" named(id, n) AS (SELECT dst, count(*) FROM edge WHERE {LIVE} AND dst{filter} GROUP BY dst)"
        " SELECT n.id, n.label, o.type, ifnull(t.n, 0) AS facts FROM object o LEFT JOIN told t ON t.id = o.node_id"
        " LEFT JOIN named m ON m.id = o.node_id"
        f" {source} ORDER BY n.label LIKE :begin ESCAPE '\\' DESC, o.type IS NULL AND t.n IS NULL,"
        " ifnull(t.n, 0) + ifnull(m.n, 0) DESC, n.label, n.id"
        " LIMIT :limit OFFSET :offset",
        likes | {"begin": _make_pattern(" ".join(words))[1:], "limit": limit, "offset": offset},
    ).fetchall()
    (total,) = conn.execute(f"{chosen} SELECT count(*) FROM object o {source}", likes).fetchone()
    notes = count_notes(conn, [row[0] for row in rows])
    return [FoundObject(name, type, facts, notes.get(id, 0)) for id, name, type, facts in rows], int(total)


def count_notes(conn: Connection, objects: Sequence[int]) -> dict[int, int]:
    """{object: number of sources that mention it}."""
    rows = conn.execute(
        "SELECT m.dst, count(DISTINCT e.source_id) FROM edge m JOIN episode e ON e.node_id = m.src"
        f" WHERE m.dst IN {LISTED} AND m.kind = 'mention' AND {is_live('m')} GROUP BY m.dst",
        (id_list(objects),),
    )
    return dict(rows.fetchall())


def find_facts(conn: Connection, words: Sequence[str], limit: int, offset: int) -> tuple[list[int], int]:
    """(page of relation ids, newest first, total): relations with live evidence whose ends or predicate contain each
    word."""
    likes = {f"word{place}": _make_pattern(word) for place, word in enumerate(words)}
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
    return [id for (id,) in rows], int(total)


def find_sources(conn: Connection, words: Sequence[str], limit: int, offset: int) -> tuple[list[ListedSource], int]:
    """(page of live sources, total) with all words in title or path, these first, or in one passage; then the newest
    first."""
    likes = {f"word{place}": _make_pattern(word) for place, word in enumerate(words)}
    titled = " AND ".join(f"title || ' ' || uri LIKE :{name} ESCAPE '\\'" for name in likes) or "1"
    matching = {"match": " ".join(f"{text.phrase(index_form(word))}*" for word in words)} if words else {}
    holding = (
        " OR id IN (SELECT e.source_id FROM episode_text JOIN episode e ON e.node_id = episode_text.rowid"
        " WHERE episode_text MATCH :match)"
    )
    source = f"FROM source WHERE t_deleted IS NULL AND (({titled}){holding if words else ''})"
    rows = conn.execute(
        f"SELECT {SOURCE_COLUMNS}, (SELECT count(*) FROM episode e JOIN node n ON n.id = e.node_id"
        f" WHERE e.source_id = source.id AND {is_live('n')}) {source}"
        f" ORDER BY ({titled}) DESC, ifnull(at, t_ingested) DESC, id DESC LIMIT :limit OFFSET :offset",
        likes | matching | {"limit": limit, "offset": offset},
    ).fetchall()
    (total,) = conn.execute(f"SELECT count(*) {source}", likes | matching).fetchone()
    return [_make_listed(row) for row in rows], int(total)


def _make_listed(row: Sequence[object]) -> ListedSource:
    source = source_from_row(row[:-1])
    return ListedSource(source.uri, source.kind, source.title, row[-1], source.at, source.policy)  # type: ignore[arg-type]


def read_source(conn: Connection, uri: str) -> ReadSource | None:
    """The live source of that uri, or None."""
    row = conn.execute(
        f"SELECT {SOURCE_COLUMNS}, t_ingested FROM source WHERE uri = ? AND t_deleted IS NULL", (uri,)
    ).fetchone()
    if row is None:
        return None
    passages = conn.execute(
        f"SELECT e.node_id, x.model FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        " LEFT JOIN extraction x ON x.episode_id = e.node_id WHERE e.source_id = ? ORDER BY e.seq, e.node_id",
        (row[0],),
    ).fetchall()
    tags = conn.execute("SELECT tag FROM source_tag WHERE source_id = ? ORDER BY tag", (row[0],)).fetchall()
    return ReadSource(
        _make_listed((*row[:-1], len(passages))),
        row[-1],
        tuple(tag for (tag,) in tags),
        tuple(dict.fromkeys(model for _, model in passages if model)),
        tuple(id for id, _ in passages),
    )


def names_of(conn: Connection, objects: Sequence[int]) -> list[str]:
    """All names of these objects, as written."""
    rows = conn.execute(
        f"SELECT DISTINCT surface FROM alias WHERE node_id IN {LISTED} ORDER BY conf DESC, surface", (id_list(objects),)
    )
    return [name for (name,) in rows]


def list_mentioning(
    conn: Connection, objects: Sequence[int], limit: int, offset: int = 0
) -> tuple[list[MentionedIn], int]:
    """(page of the live sources that mention one of these objects, newest first, total)."""
    source = (
        "FROM edge m JOIN episode e ON e.node_id = m.src JOIN source s ON s.id = e.source_id"
        f" WHERE m.dst IN (SELECT value FROM json_each(:ids)) AND m.kind = 'mention' AND {is_live('m')}"
    )
    values = {"ids": id_list(objects), "limit": limit, "offset": offset}
    rows = conn.execute(
        "SELECT s.uri, s.title, min(e.node_id), count(DISTINCT e.node_id), max(ifnull(e.event_from, s.at)) AS at"
        f" {source} GROUP BY s.id ORDER BY at DESC, s.id DESC LIMIT :limit OFFSET :offset",
        values,
    ).fetchall()
    (total,) = conn.execute(f"SELECT count(DISTINCT s.id) {source}", {"ids": values["ids"]}).fetchone()
    return [MentionedIn(*row) for row in rows], int(total)


def list_neighbours(conn: Connection, objects: Sequence[int], limit: int) -> list[Neighbour]:
    """The objects related to these by current relations, newest first, then those most often mentioned in the same
    passages."""
    ids = id_list(objects)
    joined = conn.execute(
        "SELECT n.label, p.label, e.src IN (SELECT value FROM json_each(:ids)) AS forward FROM edge e"
        " JOIN predicate p ON p.id = e.pred_id JOIN node n ON n.id = iif("
        "e.src IN (SELECT value FROM json_each(:ids)), e.dst, e.src) WHERE e.id IN ("
        f"SELECT id FROM edge WHERE src IN (SELECT value FROM json_each(:ids)) AND kind = 'rel' AND {LIVE} UNION"
        f" SELECT id FROM edge WHERE dst IN (SELECT value FROM json_each(:ids)) AND kind = 'rel' AND {LIVE})"
        f" AND e.superseded_by IS NULL AND {is_live('n')} AND {is_asserted('e')}"
        " ORDER BY e.id DESC LIMIT :limit",
        {"ids": ids, "limit": limit},
    ).fetchall()
    neighbours = [Neighbour(name, predicate, bool(forward)) for name, predicate, forward in joined]
    mentioned = conn.execute(
        "SELECT n.label, count(*) AS passages FROM (SELECT DISTINCT src FROM edge WHERE dst IN"
        f" (SELECT value FROM json_each(:ids)) AND kind = 'mention' AND {LIVE} ORDER BY src DESC LIMIT :newest) here"
        f" JOIN edge m ON m.src = here.src AND m.kind = 'mention' AND {is_live('m')}"
        " JOIN node n ON n.id = m.dst JOIN object o ON o.node_id = n.id"
        f" WHERE m.dst NOT IN (SELECT value FROM json_each(:ids)) AND ifnull(o.type, '') NOT IN {HIDDEN}"
        " GROUP BY m.dst ORDER BY passages DESC, n.label LIMIT :limit",
        {"ids": ids, "newest": NEWEST_PASSAGES, "limit": limit},
    ).fetchall()
    names = {neighbour.name for neighbour in neighbours}
    neighbours += [Neighbour(name, passages=passages) for name, passages in mentioned if name not in names]
    return neighbours[:limit]


def _make_pattern(word: str) -> str:
    return "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
