"""All there is of each noun, by id, some at a time: for who reads a whole memory and holds none of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from memory.nouns import Fact
from memory.store import facts
from memory.store.browse import HIDDEN
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, group_rows, id_list, is_live, select_ids
from memory.time.timestamps import from_ms, from_wall

AT_ONCE = 500
MIN_NOTES = 2  # that mention a thing of which no fact is told, for it to have a page
UNTOLD = ("name", "title", "link", "property")  # types that say how something was written, and not what it is

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListedThing:
    """A live object with all its `names`; `kind` is what it is, "" if nothing says it. So many `facts` are told of it,
    and so many `notes` mention it. `page`: the one of those that share a name with it, or itself, under which a person
    would look for it; 0 if nobody would look for it as a thing, or a single mention is all there is."""

    id: int
    name: str
    kind: str
    names: tuple[str, ...]
    facts: int
    notes: int
    page: int


@dataclass(frozen=True, slots=True)
class ListedNote:
    """A live source. `at` is its date, `read` when it was read."""

    id: int
    uri: str
    title: str
    kind: str
    reader: str
    policy: str
    at: datetime | None
    read: datetime
    passages: int
    tags: tuple[str, ...]
    conversation: str | None


@dataclass(frozen=True, slots=True)
class ListedPassage:
    """A live episode of the source `note`, whose uri is `uri`."""

    id: int
    note: int
    uri: str
    seq: int
    title: str
    text: str
    at: datetime | None
    until: datetime | None
    speaker: str | None
    line: int | None
    end_line: int | None


def list_things(conn: Connection) -> Iterator[ListedThing]:
    """Every object that something live speaks of."""
    page_of = _shared_pages(conn)
    for one in _in_pieces(conn, f"SELECT id FROM node WHERE kind = 'O' AND {LIVE} ORDER BY id", _read_things):
        yield replace(one, page=page_of.get(one.id, one.page))


def _shared_pages(conn: Connection) -> dict[int, int]:
    """Of objects that share names: whose page tells of each, that of which most is told; 0 if none of them has one."""
    shared = group_rows(
        conn.execute(
            "SELECT a.norm, a.node_id FROM alias a WHERE a.norm IN (SELECT x.norm FROM alias x JOIN node n"
            f" ON n.id = x.node_id AND {is_live('n')} GROUP BY x.norm HAVING count(*) > 1) AND EXISTS"
            f" (SELECT 1 FROM node n WHERE n.id = a.node_id AND {is_live('n')}) ORDER BY a.norm, a.node_id"
        ).fetchall()
    )
    group: dict[int, set[int]] = {}
    for ids in shared.values():
        joined = set(ids).union(*(group.get(id, ()) for id in ids))
        group |= dict.fromkeys(joined, joined)
    known = {one.id: one for one in _read_things(conn, sorted(group))}
    found = {}
    for id, members in group.items():
        things = [known[member] for member in sorted(members)]
        best = max(things, key=lambda one: (bool(one.page), one.facts, one.notes, len(one.name)))
        found[id] = best.id if any(one.page for one in things) else 0
    return found


def _read_things(conn: Connection, ids: list[int]) -> list[ListedThing]:
    listed = (id_list(ids),)
    rows = conn.execute(
        "SELECT n.id, n.label, o.type FROM node n JOIN object o ON o.node_id = n.id"
        f" WHERE n.id IN {LISTED} ORDER BY n.id",
        listed,
    ).fetchall()
    called = f"SELECT node_id, surface FROM alias WHERE node_id IN {LISTED} ORDER BY node_id, conf DESC, surface"
    names = group_rows(conn.execute(called, listed).fetchall())
    told: Counter[int] = Counter()
    for end in ("src", "dst"):
        query = f"SELECT {end}, count(*) FROM edge WHERE {end} IN {LISTED} AND kind = 'rel' AND {LIVE} GROUP BY {end}"
        told.update(dict(conn.execute(query, listed).fetchall()))
    mentioning = (
        "SELECT m.dst, count(DISTINCT e.source_id) FROM edge m JOIN episode e ON e.node_id = m.src"
        f" WHERE m.dst IN {LISTED} AND m.kind = 'mention' AND {is_live('m')} GROUP BY m.dst"
    )
    notes = dict(conn.execute(mentioning, listed).fetchall())
    things = []
    for id, label, type in rows:
        facts, mentions = told[id], notes.get(id, 0)
        is_thing = label and type not in HIDDEN and mentions and (facts or mentions >= MIN_NOTES)
        kind = "" if type in UNTOLD else type or ""
        known = tuple(dict.fromkeys(names.get(id, ())))
        things.append(ListedThing(id, label or "", kind, known, facts, mentions, id if is_thing else 0))
    return things


def list_notes(conn: Connection) -> Iterator[ListedNote]:
    """Every live source."""
    return _in_pieces(conn, "SELECT id FROM source WHERE t_deleted IS NULL ORDER BY id", _read_notes)


def _read_notes(conn: Connection, ids: list[int]) -> list[ListedNote]:
    listed = (id_list(ids),)
    tags = group_rows(
        conn.execute(
            f"SELECT source_id, tag FROM source_tag WHERE source_id IN {LISTED} ORDER BY 1, 2", listed
        ).fetchall()
    )
    rows = conn.execute(
        "SELECT id, uri, title, kind, reader, policy, at, t_ingested, (SELECT count(*) FROM episode e JOIN node n"
        f" ON n.id = e.node_id AND {is_live('n')} WHERE e.source_id = source.id), conversation"
        f" FROM source WHERE id IN {LISTED} ORDER BY id",
        listed,
    )
    return [
        ListedNote(
            id,
            uri,
            title,
            kind,
            reader,
            policy,
            from_wall(at),
            from_ms(read),
            passages,
            tuple(tags.get(id, ())),
            chat,
        )
        for id, uri, title, kind, reader, policy, at, read, passages, chat in rows
    ]


def list_passages(conn: Connection) -> Iterator[ListedPassage]:
    """Every live episode."""
    return _in_pieces(conn, f"SELECT id FROM node WHERE kind = 'E' AND {LIVE} ORDER BY id", _read_passages)


def _read_passages(conn: Connection, ids: list[int]) -> list[ListedPassage]:
    rows = conn.execute(
        "SELECT e.node_id, e.source_id, s.uri, e.seq, ifnull(n.label, ''), e.text, e.event_from, e.event_to, e.speaker,"
        " e.line_from, e.line_to FROM episode e JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id"
        f" WHERE e.node_id IN {LISTED} ORDER BY e.node_id",
        (id_list(ids),),
    )
    return [
        ListedPassage(id, note, uri, seq, title, body, from_wall(at), from_wall(until), speaker, line, end)
        for id, note, uri, seq, title, body, at, until, speaker, line, end in rows
    ]


_TOLD = (
    f"SELECT r.id FROM edge r WHERE r.kind = 'rel' AND {is_live('r')} AND EXISTS (SELECT 1 FROM provenance v"
    f" JOIN node s ON s.id = v.episode_id AND {is_live('s')} WHERE v.item_kind = 'edge' AND v.item_id = r.id)"
)
_THESES = (
    f"SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id AND {is_live('n')} WHERE t.origin <> 'sentence'"
)


def list_facts(conn: Connection) -> Iterator[dict[str, Any]]:
    """Every fact that a passage tells, also such as were replaced or ended: relations, and theses in a model's words.
    Beside its fields the ids of its objects, `ends`."""
    return _in_pieces(conn, f"{_THESES} UNION ALL {_TOLD} ORDER BY 1", _read_facts)


def _read_facts(conn: Connection, ids: list[int]) -> list[dict[str, Any]]:
    listed = id_list(ids)
    relations = conn.execute(f"SELECT id, src, dst FROM edge WHERE id IN {LISTED}", (listed,))
    ends = {id: (src, dst) for id, src, dst in relations}
    speak_of = f"SELECT src, dst FROM edge WHERE src IN {LISTED} AND kind = 'member' AND {LIVE} ORDER BY src, id"
    members = group_rows(conn.execute(speak_of, (listed,)).fetchall())
    return [
        {name: getattr(one, name) for name in _FACT_FIELDS}
        | {"ends": ends.get(one.id) or tuple(dict.fromkeys(members.get(one.id, ())))}
        for one in facts.by_id(conn, ids)
    ]


_FACT_FIELDS = [field.name for field in fields(Fact)]


def count(conn: Connection) -> dict[str, int]:
    """How many things, notes, passages and facts there are."""
    queries = {
        "thing": f"SELECT count(*) FROM node WHERE kind = 'O' AND {LIVE}",
        "note": "SELECT count(*) FROM source WHERE t_deleted IS NULL",
        "passage": f"SELECT count(*) FROM node WHERE kind = 'E' AND {LIVE}",
        "fact": f"SELECT count(*) FROM ({_THESES} UNION ALL {_TOLD})",
    }
    return {name: int(conn.execute(query).fetchone()[0]) for name, query in queries.items()}


def _in_pieces(conn: Connection, query: str, read: Callable[[Connection, list[int]], Sequence[T]]) -> Iterator[T]:
    ids = iter(select_ids(conn, query))
    while piece := list(islice(ids, AT_ONCE)):
        yield from read(conn, piece)
