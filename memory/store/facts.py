"""The facts about an object: theses and relations, at a time or in all of history; and their vectors.

Each fact, a relation or a thesis in a model's words, has two vectors: of its slot (subject and predicate) and of its
statement with the supporting words. One vec0 table compares their signs (binary quantisation) and stores the values, a
byte each, to rank the nearest: ten times as fast as comparing all values at 100,000 facts. Derived from the facts;
`meta` names the embedder."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import PurePosixPath
from typing import Any, Literal, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.errors import NotFoundError
from memory.nouns import Citation, Fact, line_at
from memory.protocols import Embedder
from memory.store import relations
from memory.store.connect import (
    FIRST_EDGE,
    LISTED,
    Connection,
    get_meta,
    id_list,
    is_asserted,
    is_live,
    is_recorded,
    read_column,
    set_meta,
    valid,
    visible,
)
from memory.store.vectors import to_bytes
from memory.text.predicates import find_property, statement
from memory.text.words import lines_around, show_links
from memory.time.expressions import name_day
from memory.time.timestamps import from_ms, from_wall


def list_about(
    conn: Connection, objects: Sequence[int], known_on: int, at: int, history: bool = False, relations: bool = False
) -> list[Fact]:
    """Returns facts about these objects, valid at `at` and known at `known_on` (ms UTC), newest first, the lines of a
    note in its order. `history`: all facts ever known; `relations`: no theses."""
    times = {"ids": id_list(objects), "known_on": known_on, "at": at}
    theses: list[tuple[Any, ...]] = []
    if not relations:
        query = _THESES.format(chosen=f"({_OF_OBJECTS})", seen="1" if history else _SEEN_THESIS)
        theses = conn.execute(query if history else _restrict_to_known(query), times).fetchall()
    seen, evidence = ("1", "1") if history else (_SEEN_RELATION, _EVIDENCE)
    query = _RELATIONS.format(chosen=f"r.id IN ({_TOUCHING})", seen=seen, evidence=evidence, ended=_EVIDENCE_ENDED)
    rows = conn.execute(query if history else _restrict_to_known(query), times).fetchall()
    facts = _make_facts(conn, theses, rows)
    order = {fact.id: fact.id if fact.kind == "relation" else -fact.id for fact in facts}
    return sorted(facts, key=lambda fact: (fact.valid_from or fact.recorded, order[fact.id]), reverse=True)


def get_many(conn: Connection, ids: Sequence[int]) -> list[Fact]:
    """Returns these facts in the given order, replaced and retired ones included; unknown ids are skipped."""
    parameters = {"ids": id_list(ids), "known_on": 0, "at": 0}
    theses = conn.execute(
        _THESES.format(chosen=_THESE, seen="1"), parameters | {"ids": id_list(id for id in ids if id < FIRST_EDGE)}
    ).fetchall()
    relations = conn.execute(
        _RELATIONS.format(chosen=f"r.id IN {_THESE}", seen="1", evidence="1", ended="NULL"), parameters
    ).fetchall()
    facts = {fact.id: fact for fact in _make_facts(conn, theses, relations)}
    return [facts[id] for id in ids if id in facts]


def quoted_facts(conn: Connection, citations: Sequence[Citation]) -> dict[int, tuple[int, ...]]:
    """Returns {citation number: ids of the live relations extracted from the words it quotes}."""
    spans = relations.list_by_episodes(conn, sorted({citation.episode_id for citation in citations}))
    facts = {}
    for citation in citations:
        start = citation.passage.find(citation.quote)
        ids = [
            id
            for id, episode, first, last in spans
            if episode == citation.episode_id and start >= 0 and first < start + len(citation.quote) and start < last
        ]
        facts[citation.n] = tuple(dict.fromkeys(ids))
    return facts


def _make_facts(conn: Connection, theses: list[tuple[Any, ...]], relations: list[tuple[Any, ...]]) -> list[Fact]:
    """Returns the facts of these rows, with their end replaced by the start of their successor in its precision."""
    names = _list_objects(conn, [row[0] for row in theses])
    facts = {row[0]: _make_fact("thesis", row, names.get(row[0], ())) for row in theses}
    facts |= {row[0]: _make_relation(row) for row in relations}
    after = ((fact, facts.get(fact.superseded_by or 0)) for fact in facts.values())
    return [replace(fact, until=new.since) if new and new.valid_from == fact.valid_to else fact for fact, new in after]


def get(conn: Connection, id: int) -> Fact:
    """Returns a fact. NotFoundError for an unknown id."""
    facts = get_many(conn, [id])
    if not facts:
        raise NotFoundError(f"There is no fact {id}. `pal facts NAME` shows the numbers.")
    return facts[0]


def _select_as_known(item_kind: str, id: str, column: str) -> str:
    """Returns SQL: the value of a field of a fact at store time :known_on, without later revisions."""
    later = (
        f"FROM journal j WHERE j.item_kind = '{item_kind}' AND j.item_id = {id} AND j.field = '{column.split('.')[1]}'"
        " AND j.t > :known_on"
    )
    return f"iif(EXISTS (SELECT 1 {later}), (SELECT CAST(j.old AS INTEGER) {later} ORDER BY j.id LIMIT 1), {column})"


_THEN = {column: _select_as_known("node", "t.node_id", column) for column in ("t.valid_to", "t.superseded_by")}
_THEN |= {column: _select_as_known("edge", "r.id", column) for column in ("r.valid_to", "r.superseded_by")}


def _restrict_to_known(query: str) -> str:
    """Returns the query at store time :known_on."""
    for column, then in _THEN.items():
        query = query.replace(column, then)
    return query


# A version of a source is current in [since, until), regardless of when it was read.
_SAID = "(({node} OR {episode}.until > :at) AND ({episode}.since IS NULL OR {episode}.since <= :at))"
_SEEN_THESIS = f"({_SAID.format(node=is_recorded('n', ':known_on'), episode='e')} AND {valid('t', ':at')})"
_SEEN_RELATION = visible("r", ":known_on", ":at")
_EVIDENCE = _SAID.format(node=is_recorded("evidence", ":known_on"), episode="said")

_THESE = "(SELECT value FROM json_each(:ids))"
_TOUCHING = " UNION ".join(  # each of the four has its own partial index
    f"SELECT id FROM edge WHERE kind = 'rel' AND {end} IN {_THESE} AND t_expired {state}"
    for end in ("src", "dst")
    for state in ("IS NULL", "IS NOT NULL")
)
# When the last episode of its evidence was retired, if none is live.
_EVIDENCE_ENDED = """(SELECT max(g.t_expired) FROM provenance w JOIN node g ON g.id = w.episode_id
 WHERE w.item_kind = 'edge' AND w.item_id = r.id HAVING count(*) = count(g.t_expired))"""
_ABOUT_ANOTHER = """EXISTS (
  SELECT 1 FROM provenance v JOIN edge r ON v.item_kind = 'edge' AND r.id = v.item_id AND r.kind = 'rel'
  WHERE v.episode_id = t.episode_id AND v.span_from >= t.span_from AND v.span_to <= t.span_to
    AND r.src NOT IN (SELECT value FROM json_each(:ids)))"""
# Sentences that name an object, and those of notes about it without a fact about another. Each end of time has its own
# partial index.
_OF_OBJECTS = " UNION ".join(
    f"SELECT t.node_id FROM json_each(:ids) o JOIN edge m ON m.dst = o.value AND m.t_expired {state} AND {joined}"
    for joined in (
        "m.kind = 'member' JOIN thesis t ON t.node_id = m.src",
        f"m.kind = 'mention' AND m.role = 'title' JOIN thesis t ON t.episode_id = m.src AND NOT {_ABOUT_ANOTHER}",
    )
    for state in ("IS NULL", "IS NOT NULL")
)

# Columns: id, text, valid from and to, created, expired, superseded by, episode, uri, title, its first line and line
# map, its text and time, the span, modality, origin; of a relation also the names of its subject and object, and its
# predicate. The first passage is quoted: a later one with another date would change its meaning.
_THESES = """
SELECT t.node_id, ifnull(t.text, substr(e.text, t.span_from + 1, t.span_to - t.span_from)), t.valid_from, t.valid_to,
       n.t_created, n.t_expired, t.superseded_by, e.node_id, s.uri, s.title, e.line_from, e.line_map, e.text,
       e.event_from, t.span_from, t.span_to, t.modality, t.origin
FROM thesis t JOIN node n ON n.id = t.node_id JOIN episode e ON e.node_id = t.episode_id
JOIN source s ON s.id = e.source_id
WHERE t.node_id IN {chosen} AND {seen}
"""

_RELATIONS = """
SELECT r.id, r.valid_from, r.valid_to, r.t_created, ifnull(r.t_expired, {ended}), r.superseded_by,
       e.node_id, s.uri, s.title, e.line_from, e.line_map, e.text, e.event_from, v.span_from,
       v.span_to, ifnull(r.modality, 'asserted'), iif(v.extractor IN ('rule', 'user'), v.extractor, 'model'),
       a.label, b.label, p.label
FROM edge r JOIN node a ON a.id = r.src JOIN node b ON b.id = r.dst LEFT JOIN predicate p ON p.id = r.pred_id
JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = r.id
 AND v.episode_id = (SELECT p.episode_id FROM provenance p JOIN node evidence ON evidence.id = p.episode_id
                       JOIN episode said ON said.node_id = evidence.id
                      WHERE p.item_kind = 'edge' AND p.item_id = r.id AND {evidence}
                      ORDER BY evidence.t_expired IS NOT NULL, said.event_from IS NOT r.valid_from, p.episode_id
                      LIMIT 1)
JOIN episode e ON e.node_id = v.episode_id JOIN source s ON s.id = e.source_id
WHERE r.kind = 'rel' AND {chosen} AND {seen}
"""


def _make_relation(row: tuple[Any, ...]) -> Fact:
    id, *shared, subject, object, predicate = row
    words = statement(subject, predicate or "is related to", object)
    return _make_fact("relation", (id, words, *shared), (subject, object), predicate)


def _make_fact(
    kind: Literal["thesis", "relation"], row: Sequence[Any], objects: Iterable[str], predicate: str | None = None
) -> Fact:
    id, text, valid_from, valid_to, created, expired, superseded_by, episode, uri, title, *rest = row
    first, line_map, body, said_at, start, end, modality, origin = rest
    quote, words = (body[start:end], lines_around(body, start, end)) if start is not None else ("", "")
    if start is None and predicate and (place := find_property(body, predicate, [*objects][-1])) is not None:
        start, quote = place[0], body[slice(*place)]
    line = line_at(first, json.loads(line_map or "[]"), body, start or 0)
    words = f"{words}\n{title}\n{PurePosixPath(uri).stem}" if valid_from == said_at else words
    since, until = (
        name_day(at, words, from_wall(said_at)) if at else "" for at in map(from_wall, (valid_from, valid_to))
    )
    return Fact(
        id, kind, show_links(text), tuple(objects), from_wall(valid_from), from_wall(valid_to), from_ms(created),
        from_ms(expired), superseded_by, episode, uri, line, modality, origin, predicate, quote, title,
        since, until,
    )  # fmt: skip


def _list_objects(conn: Connection, theses: list[int]) -> dict[int, tuple[str, ...]]:
    """Returns the names of all objects of a thesis, also of a retired one."""
    names: dict[int, tuple[str, ...]] = {}
    for live in ("IS NULL", "IS NOT NULL"):  # two partial indexes
        for id, name in conn.execute(
            "SELECT DISTINCT m.src, o.label FROM edge m JOIN node o ON o.id = m.dst WHERE m.kind = 'member'"
            f" AND m.t_expired {live} AND m.src IN {LISTED} ORDER BY m.src, m.id",
            (id_list(theses),),
        ):
            if name not in names.get(id, ()):
                names[id] = (*names.get(id, ()), name)
    return names


Bytes = NDArray[np.int8]

VECTORS_OF = "fact_vectors"  # in the table meta: their embedder; deleting it makes `open_vectors` create them again
RESCORED = 40  # nearest by signs that are ranked by values
CLAIMS = ("asserted", "past", "negated", "plan")  # modalities of facts that are claims
_LISTED = ", ".join(f"'{claim}'" for claim in CLAIMS)
_FACTS = f"""
SELECT e.id FROM edge e WHERE e.kind = 'rel' AND {is_live("e")} AND ifnull(e.modality, 'asserted') IN ({_LISTED})
 AND {is_asserted("e")}
UNION ALL SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id AND {is_live("n")}
 WHERE t.origin = 'model' AND t.modality IN ({_LISTED})"""


def open_vectors(conn: Connection, embedder: Embedder) -> bool:
    """Creates an empty index unless there is one of this embedder; returns whether it did."""
    name = f"{embedder.name} {embedder.dimension}"
    if made := bool(get_meta(conn, VECTORS_OF) != name):
        bits = -(-embedder.dimension // 8) * 8
        conn.execute("DROP TABLE IF EXISTS vec_fact")
        conn.execute(
            f"CREATE VIRTUAL TABLE vec_fact USING vec0(id INTEGER PRIMARY KEY, slot bit[{bits}],"
            f" statement bit[{bits}], +slot_bytes BLOB, +statement_bytes BLOB, +crc INTEGER)"
        )
        set_meta(conn, VECTORS_OF, name)
    return made


def has_vectors(conn: Connection) -> bool:
    """Whether the index exists."""
    return get_meta(conn, VECTORS_OF) is not None


def complete_vectors(conn: Connection, embedder: Embedder, most: int) -> bool:
    """Removes vectors of facts that are not current, adds up to `most` missing ones; returns whether all are
    complete."""
    open_vectors(conn, embedder)
    delete_vectors(conn, read_column(conn, f"SELECT id FROM vec_fact WHERE id NOT IN ({_FACTS})"))
    missing = list_without_vectors(conn, most)
    put_vectors(conn, embedder, missing)
    return len(missing) < most


def list_without_vectors(conn: Connection, limit: int, among: Iterable[SupportsInt] | None = None) -> list[int]:
    """Returns current facts without vectors; `among` these, if given."""
    chosen = "" if among is None else f" AND id IN ({', '.join(str(int(id)) for id in among)})"
    query = f"SELECT id FROM ({_FACTS}) WHERE id NOT IN (SELECT id FROM vec_fact){chosen} LIMIT ?"
    return read_column(conn, query, limit)


def list_damaged_vectors(conn: Connection) -> list[int]:
    """Returns facts whose vectors are not as written."""
    rows = "id, slot, statement, slot_bytes, statement_bytes"
    return read_column(conn, f"SELECT id FROM vec_fact WHERE crc IS NOT checksum({rows})")


def put_vectors(conn: Connection, embedder: Embedder, ids: Sequence[int]) -> None:
    """Computes and stores the vectors of these facts, replacing old ones."""
    claims = [fact for fact in get_many(conn, ids) if fact.modality in CLAIMS]
    slots = [f"{fact.objects[0]} {fact.predicate}" if fact.predicate else " ".join(fact.objects) for fact in claims]
    matrix = embedder.embed_documents([*slots, *(f"{fact.text}. {fact.quote}" for fact in claims)])
    numbers, signs = to_bytes(matrix), _pack_signs(matrix)
    delete_vectors(conn, ids)
    conn.executemany(
        "INSERT INTO vec_fact(id, slot, statement, slot_bytes, statement_bytes, crc)"
        " VALUES (?1, vec_bit(?2), vec_bit(?3), ?4, ?5, checksum(?1, ?2, ?3, ?4, ?5))",
        [
            (fact.id, signs[at].tobytes(), signs[other].tobytes(), numbers[at].tobytes(), numbers[other].tobytes())
            for at, fact in enumerate(claims)
            for other in [at + len(claims)]
        ],
    )


def delete_vectors(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Deletes the vectors of these facts."""
    if not ids or not has_vectors(conn):
        return
    conn.executemany("DELETE FROM vec_fact WHERE id = ?", [(int(id),) for id in ids])


def nearest(conn: Connection, id: int, k: int) -> list[int]:
    """Returns the `k` other facts nearest to one by slot and statement in turn, nearest first."""
    row = conn.execute("SELECT slot_bytes, statement_bytes FROM vec_fact WHERE id = ?", (id,)).fetchone()
    if row is None:
        return []
    slot, statement = (np.frombuffer(blob, np.int8) for blob in row)
    in_turn = chain.from_iterable(zip_longest(_rank(conn, "slot", slot), _rank(conn, "statement", statement)))
    return [other for other in dict.fromkeys(in_turn) if other not in (None, id)][:k]


def _rank(conn: Connection, column: str, query: Bytes) -> list[int]:
    """Returns the facts nearest by signs, ranked by cosine."""
    if not query.any():
        return []
    rows = conn.execute(
        f"SELECT id, {column}_bytes FROM vec_fact WHERE {column} MATCH vec_bit(?) AND k = {RESCORED}",
        (_pack_signs(query[None])[0].tobytes(),),
    ).fetchall()
    if not rows:
        return []
    ids = np.array([id for id, _ in rows], np.int64)
    matrix = np.frombuffer(b"".join(blob for _, blob in rows), np.int8).reshape(len(rows), -1).astype(np.float32)
    lengths = np.linalg.norm(matrix, axis=1)
    cosines = matrix @ query.astype(np.float32) / np.where(lengths > 0, lengths, 1)
    order = np.lexsort((ids, -cosines))
    ranked: list[int] = ids[order[lengths[order] > 0]].tolist()
    return ranked


def _pack_signs(matrix: NDArray[np.float32] | Bytes) -> NDArray[np.uint8]:
    """Packs (n, d) -> (n, d / 8): one bit per value, whether it is positive."""
    return np.packbits(matrix > 0, axis=1)
