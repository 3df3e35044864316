"""Vectors of facts, and nearest facts.

Each fact, a relation or a thesis in a model's words, has two vectors: of its slot (subject and predicate) and of its
statement with the supporting words. One vec0 table compares their signs (binary quantisation) and stores the values, a
byte each, to rank the nearest: ten times as fast as comparing all values at 100,000 facts. Derived from the facts;
`meta` names the embedder."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.protocols import Embedder, Vectors
from memory.store import facts
from memory.store.connect import Connection, get_meta, is_asserted, is_live, select_ids, set_meta
from memory.store.vectors import to_bytes

Bytes = NDArray[np.int8]

EMBEDDER = "fact_vectors"  # in the table meta: whose vectors these are; deleting it makes `open_index` recreate them
RESCORED = 40  # nearest by signs that are ranked by values
CLAIMS = ("asserted", "past", "negated", "plan")  # modalities of facts that are claims
_LISTED = ", ".join(f"'{claim}'" for claim in CLAIMS)
_FACTS = f"""
SELECT e.id FROM edge e WHERE e.kind = 'rel' AND {is_live("e")} AND ifnull(e.modality, 'asserted') IN ({_LISTED})
 AND {is_asserted("e")}
UNION ALL SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id AND {is_live("n")}
 WHERE t.origin = 'model' AND t.modality IN ({_LISTED})"""


def open_index(conn: Connection, embedder: Embedder) -> bool:
    """Creates an empty index unless there is one of this embedder; returns whether it did."""
    name = f"{embedder.name} {embedder.dimension}"
    if made := bool(get_meta(conn, EMBEDDER) != name):
        bits = -(-embedder.dimension // 8) * 8
        conn.execute("DROP TABLE IF EXISTS vec_fact")
        conn.execute(
            f"CREATE VIRTUAL TABLE vec_fact USING vec0(id INTEGER PRIMARY KEY, slot bit[{bits}],"
            f" statement bit[{bits}], +slot_bytes BLOB, +statement_bytes BLOB, +crc INTEGER)"
        )
        set_meta(conn, EMBEDDER, name)
    return made


def is_open(conn: Connection) -> bool:
    """Whether the index exists."""
    return get_meta(conn, EMBEDDER) is not None


def complete(conn: Connection, embedder: Embedder, most: int) -> bool:
    """Removes vectors of facts that are not current, adds up to `most` missing ones; returns whether all are
    complete."""
    open_index(conn, embedder)
    delete(conn, select_ids(conn, f"SELECT id FROM vec_fact WHERE id NOT IN ({_FACTS})"))
    missing = list_missing(conn, most)
    put(conn, embedder, missing)
    return len(missing) < most


def list_missing(conn: Connection, limit: int, among: Iterable[SupportsInt] | None = None) -> list[int]:
    """Current facts without vectors; `among` these, if given."""
    chosen = "" if among is None else f" AND id IN ({', '.join(str(int(id)) for id in among)})"
    query = f"SELECT id FROM ({_FACTS}) WHERE id NOT IN (SELECT id FROM vec_fact){chosen} LIMIT ?"
    return select_ids(conn, query, limit)


def list_damaged(conn: Connection) -> list[int]:
    """Returns facts whose vectors are not as written."""
    rows = "id, slot, statement, slot_bytes, statement_bytes"
    return select_ids(conn, f"SELECT id FROM vec_fact WHERE crc IS NOT checksum({rows})")


def put(conn: Connection, embedder: Embedder, ids: Sequence[int]) -> None:
    """Computes and stores the vectors of these facts, replacing old ones."""
    claims = [fact for fact in facts.get_many(conn, ids) if fact.modality in CLAIMS]
    slots = [f"{fact.objects[0]} {fact.predicate}" if fact.predicate else " ".join(fact.objects) for fact in claims]
    matrix = embedder.embed_documents([*slots, *(f"{fact.text}. {fact.quote}" for fact in claims)])
    numbers, signs = to_bytes(matrix), _pack_signs(matrix)
    delete(conn, ids)
    conn.executemany(
        "INSERT INTO vec_fact(id, slot, statement, slot_bytes, statement_bytes, crc)"
        " VALUES (?1, vec_bit(?2), vec_bit(?3), ?4, ?5, checksum(?1, ?2, ?3, ?4, ?5))",
        [
            (fact.id, signs[at].tobytes(), signs[other].tobytes(), numbers[at].tobytes(), numbers[other].tobytes())
            for at, fact in enumerate(claims)
            for other in [at + len(claims)]
        ],
    )


def delete(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Deletes the vectors of these facts."""
    if not ids or not is_open(conn):
        return
    conn.executemany("DELETE FROM vec_fact WHERE id = ?", [(int(id),) for id in ids])


def nearest(conn: Connection, id: int, k: int) -> list[int]:
    """Returns the `k` other facts nearest to one by slot and statement in turn, nearest first."""
    row = conn.execute("SELECT slot_bytes, statement_bytes FROM vec_fact WHERE id = ?", (id,)).fetchone()
    if row is None:
        return []
    slot, statement = (np.frombuffer(blob, np.int8) for blob in row)
    in_turn = _take_turns([_rank(conn, "slot", slot), _rank(conn, "statement", statement)])
    return [other for other in in_turn if other != id][:k]


def find_near_texts(conn: Connection, matrix: Vectors, k: int) -> list[int]:
    """Returns the `k` facts whose statements are nearest to texts with vectors (n, dimension), nearest to each first.
    Empty without an index."""
    if not is_open(conn):
        return []
    return _take_turns([_rank(conn, "statement", row) for row in to_bytes(matrix)])[:k]


def _take_turns(lists: Sequence[Sequence[int]]) -> list[int]:
    """Returns the distinct items of the lists, interleaved."""
    return [item for item in dict.fromkeys(chain.from_iterable(zip_longest(*lists))) if item is not None]


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
    """(n, d) -> (n, d / 8): one bit per value, whether it is positive."""
    return np.packbits(matrix > 0, axis=1)
