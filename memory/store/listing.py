"""All objects, sources, episodes and facts by id, in batches, for readers of a whole memory."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import islice
from typing import Any, NamedTuple

from memory.nouns import Fact
from memory.store import facts
from memory.store.browse import HIDDEN, count_notes
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, group_rows, id_list, is_asserted, is_live, read_value, select_ids
from memory.time.timestamps import from_ms, from_wall

AT_ONCE = 500
MIN_NOTES = 2  # mentions needed for a page of a thing without facts
UNTOLD = ("name", "title", "link", "property")  # types of a text form, not of a thing

Row = dict[str, Any]  # values by the names of fields, which docs/plugins.md lists


def list_things(conn: Connection) -> Iterator[Row]:
    """All live objects with all their `names`; `kind` is "" if unknown. `facts` and `notes` count what is about one and
    mentions it. `page`: its id if it has a page, else 0: it is no thing, or has a single mention only."""
    return _read_in_batches(conn, f"SELECT id FROM node WHERE kind = 'O' AND {LIVE} ORDER BY id", _read_things)


def _read_things(conn: Connection, ids: list[int]) -> list[Row]:
    listed = (id_list(ids),)
    rows = conn.execute(
        "SELECT n.id, n.label, o.type FROM node n JOIN object o ON o.node_id = n.id"
        f" WHERE n.id IN {LISTED} ORDER BY n.id",
        listed,
    ).fetchall()
    called = f"SELECT node_id, surface FROM alias WHERE node_id IN {LISTED} ORDER BY node_id, conf DESC, surface"
    names = group_rows(conn.execute(called, listed).fetchall())
    fact_counts: Counter[int] = Counter()
    for end in ("src", "dst"):
        query = f"SELECT {end}, count(*) FROM edge WHERE {end} IN {LISTED} AND kind = 'rel' AND {LIVE} GROUP BY {end}"
        fact_counts.update(dict(conn.execute(query, listed).fetchall()))
    notes = count_notes(conn, ids)
    things: list[Row] = []
    for id, label, type in rows:
        facts, mentions = fact_counts[id], notes.get(id, 0)
        is_thing = label and type not in HIDDEN and mentions and (facts or mentions >= MIN_NOTES)
        kind = "" if type in UNTOLD else type or ""
        all_names = tuple(dict.fromkeys(names.get(id, ())))
        things.append({
            "id": id, "name": label or "", "kind": kind, "names": all_names, "facts": facts, "notes": mentions,
            "page": id if is_thing else 0,
        })  # fmt: skip
    return things


def list_notes(conn: Connection) -> Iterator[Row]:
    """All live sources. `at` is the date of one, `read` when it was read."""
    return _read_in_batches(conn, "SELECT id FROM source WHERE t_deleted IS NULL ORDER BY id", _read_notes)


def _read_notes(conn: Connection, ids: list[int]) -> list[Row]:
    query = f"SELECT source_id, tag FROM source_tag WHERE source_id IN {LISTED} ORDER BY 1, 2"
    tags = group_rows(conn.execute(query, (id_list(ids),)).fetchall())
    notes = _read_rows(
        conn,
        "SELECT id, uri, title, kind, reader, policy, at, t_ingested AS read, (SELECT count(*) FROM episode e"
        f" JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE e.source_id = source.id) AS passages,"
        f" NULL AS tags, conversation FROM source WHERE id IN {LISTED} ORDER BY id",
        ids,
    )
    return [
        note | {"at": from_wall(note["at"]), "read": from_ms(note["read"]), "tags": tags.get(note["id"], ())}
        for note in notes
    ]


def list_passages(conn: Connection) -> Iterator[Row]:
    """All live episodes, with the id of the source, `note`, and its uri."""
    return _read_in_batches(conn, f"SELECT id FROM node WHERE kind = 'E' AND {LIVE} ORDER BY id", _read_passages)


def _read_passages(conn: Connection, ids: list[int]) -> list[Row]:
    passages = _read_rows(
        conn,
        "SELECT e.node_id AS id, e.source_id AS note, s.uri, e.seq, ifnull(n.label, '') AS title, e.text,"
        " e.event_from AS at, e.event_to AS until, e.speaker, e.line_from AS line, e.line_to AS end_line"
        " FROM episode e JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id"
        f" WHERE e.node_id IN {LISTED} ORDER BY e.node_id",
        ids,
    )
    return [item | {"at": from_wall(item["at"]), "until": from_wall(item["until"])} for item in passages]


_RELATIONS = f"SELECT r.id FROM edge r WHERE r.kind = 'rel' AND {is_live('r')} AND {is_asserted('r')}"
_THESES = (
    f"SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id AND {is_live('n')} WHERE t.origin <> 'sentence'"
)


def list_facts(conn: Connection) -> Iterator[Row]:
    """All facts with live evidence, replaced ones included: relations, and theses in a model's words. Adds the ids of
    the objects, `ends`."""
    return _read_in_batches(conn, f"{_THESES} UNION ALL {_RELATIONS} ORDER BY 1", _read_facts)


def _read_facts(conn: Connection, ids: list[int]) -> list[Row]:
    listed = id_list(ids)
    relations = conn.execute(f"SELECT id, src, dst FROM edge WHERE id IN {LISTED}", (listed,))
    ends = {id: (src, dst) for id, src, dst in relations}
    speak_of = f"SELECT src, dst FROM edge WHERE src IN {LISTED} AND kind = 'member' AND {LIVE} ORDER BY src, id"
    members = group_rows(conn.execute(speak_of, (listed,)).fetchall())
    return [
        {name: getattr(fact, name) for name in _FACT_FIELDS}
        | {"ends": ends.get(fact.id) or tuple(dict.fromkeys(members.get(fact.id, ())))}
        for fact in facts.by_id(conn, ids)
    ]


_FACT_FIELDS = [field.name for field in fields(Fact)]


class Noun(NamedTuple):
    """A kind of noun: a query that counts about how many there are, and what lists them."""

    counting: str
    list: Callable[[Connection], Iterator[Row]]

    def read_count(self, conn: Connection) -> int:
        return int(read_value(conn, self.counting))


def _read_rows(conn: Connection, query: str, ids: list[int]) -> list[Row]:
    rows = conn.execute(query, (id_list(ids),))
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _read_in_batches(conn: Connection, query: str, read: Callable[[Connection, list[int]], list[Row]]) -> Iterator[Row]:
    ids = iter(select_ids(conn, query))
    while piece := list(islice(ids, AT_ONCE)):
        yield from read(conn, piece)


NOUNS = {
    "thing": Noun(f"SELECT count(*) FROM node WHERE kind = 'O' AND {LIVE}", list_things),
    "note": Noun("SELECT count(*) FROM source WHERE t_deleted IS NULL", list_notes),
    "passage": Noun(f"SELECT count(*) FROM node WHERE kind = 'E' AND {LIVE}", list_passages),
    "fact": Noun(f"SELECT count(*) FROM ({_THESES} UNION ALL {_RELATIONS})", list_facts),
}
