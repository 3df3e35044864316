"""Vectors of facts, and the facts nearest to one.

Each fact, a relation or a thesis in a model's words, has two: of its slot, what is told of whom without the value, and
of its statement with the words that support it. One vec0 table holds both as signs, which it compares (binary
quantisation), with the numbers beside them, a byte each, by which the nearest are ranked: at 100,000 facts a search
takes a tenth of the time of one by all numbers. It is a view of the facts; `meta` says whose vectors they are.
"""

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.protocols import Embedder, Vectors
from memory.store import facts
from memory.store.connect import Connection
from memory.store.rows import is_live, select_ids
from memory.store.vectors import to_bytes

Bytes = NDArray[np.int8]

RESCORED = 40  # of the nearest by signs, ranked by their numbers
CLAIMS = ("asserted", "past", "negated", "plan")  # modalities of facts that say what is so
_LISTED = ", ".join(f"'{one}'" for one in CLAIMS)
_LIVE_EVIDENCE = (
    f"EXISTS (SELECT 1 FROM provenance v JOIN node n ON n.id = v.episode_id AND {is_live('n')}"
    " WHERE v.item_kind = 'edge' AND v.item_id = e.id)"
)
_FACTS = f"""
SELECT e.id FROM edge e WHERE e.kind = 'rel' AND {is_live("e")} AND ifnull(e.modality, 'asserted') IN ({_LISTED})
 AND {_LIVE_EVIDENCE}
UNION ALL SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id AND {is_live("n")}
 WHERE t.origin = 'model' AND t.modality IN ({_LISTED})"""


def open_index(conn: Connection, embedder: Embedder) -> bool:
    """Makes the index, empty, unless it is there and holds vectors of this embedder; whether it was made."""
    wanted = f"{embedder.name} {embedder.dimension}"
    if made := _made_by(conn) != wanted:
        bits = -(-embedder.dimension // 8) * 8
        conn.execute("DROP TABLE IF EXISTS vec_fact")
        conn.execute(
            f"CREATE VIRTUAL TABLE vec_fact USING vec0(id INTEGER PRIMARY KEY, slot bit[{bits}],"
            f" statement bit[{bits}], +slot_bytes BLOB, +statement_bytes BLOB)"
        )
        conn.execute("INSERT OR REPLACE INTO meta VALUES ('fact_vectors', ?)", (wanted,))
    return made


def discard(conn: Connection) -> None:
    """The index is made anew, and empty, when it is opened next."""
    conn.execute("DELETE FROM meta WHERE key = 'fact_vectors'")


def is_open(conn: Connection) -> bool:
    """Whether there is an index."""
    return _made_by(conn) is not None


def _made_by(conn: Connection) -> str | None:
    row = conn.execute("SELECT value FROM meta WHERE key = 'fact_vectors'").fetchone()
    return None if row is None else str(row[0])


def complete(conn: Connection, embedder: Embedder, most: int) -> bool:
    """Removes vectors of what is no fact that is told today, and gives at most so many facts those they lack; whether
    all have them now."""
    open_index(conn, embedder)
    delete(conn, select_ids(conn, f"SELECT id FROM vec_fact WHERE id NOT IN ({_FACTS})"))
    missing = list_missing(conn, most)
    put(conn, embedder, missing)
    return len(missing) < most


def list_missing(conn: Connection, limit: int) -> list[int]:
    """Facts that are told today and have no vectors yet."""
    return select_ids(conn, f"SELECT id FROM ({_FACTS}) WHERE id NOT IN (SELECT id FROM vec_fact) LIMIT ?", limit)


def put(conn: Connection, embedder: Embedder, ids: Sequence[int]) -> None:
    """Gives these facts their vectors, which are made here; what they had before is replaced."""
    told = [one for one in facts.by_id(conn, ids) if one.modality in CLAIMS]
    slots = [f"{one.objects[0]} {one.predicate}" if one.predicate else " ".join(one.objects) for one in told]
    matrix = embedder.embed_documents([*slots, *(f"{one.text}. {one.quote}" for one in told)])
    numbers, signs = to_bytes(matrix), _signs(matrix)
    delete(conn, ids)
    conn.executemany(
        "INSERT INTO vec_fact(id, slot, statement, slot_bytes, statement_bytes)"
        " VALUES (?, vec_bit(?), vec_bit(?), ?, ?)",
        [
            (one.id, signs[at].tobytes(), signs[other].tobytes(), numbers[at].tobytes(), numbers[other].tobytes())
            for at, one in enumerate(told)
            for other in [at + len(told)]
        ],
    )


def delete(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Removes these facts' vectors, if they have any."""
    if not ids or not is_open(conn):
        return
    conn.executemany("DELETE FROM vec_fact WHERE id = ?", [(int(id),) for id in ids])


def nearest(conn: Connection, id: int, k: int) -> list[int]:
    """The `k` other facts nearest to one, nearest first: by its slot and by its statement in turn."""
    row = conn.execute("SELECT slot_bytes, statement_bytes FROM vec_fact WHERE id = ?", (id,)).fetchone()
    if row is None:
        return []
    slot, statement = (np.frombuffer(blob, np.int8) for blob in row)
    in_turn = _take_turns([_ranked(conn, "slot", slot), _ranked(conn, "statement", statement)])
    return [one for one in in_turn if one != id][:k]


def near_texts(conn: Connection, matrix: Vectors, k: int) -> list[int]:
    """The `k` facts whose statements are nearest to some texts, given by their vectors (n, dimension): those nearest to
    each of them first. Empty without an index."""
    if not is_open(conn):
        return []
    return _take_turns([_ranked(conn, "statement", row) for row in to_bytes(matrix)])[:k]


def _take_turns(lists: Sequence[Sequence[int]]) -> list[int]:
    """The first of each list, then the second of each, and so on, each once."""
    return [one for one in dict.fromkeys(chain.from_iterable(zip_longest(*lists))) if one is not None]


def _ranked(conn: Connection, column: str, wanted: Bytes) -> list[int]:
    """The facts nearest by signs, ranked by the cosines of their numbers."""
    if not wanted.any():
        return []
    rows = conn.execute(
        f"SELECT id, {column}_bytes FROM vec_fact WHERE {column} MATCH vec_bit(?) AND k = {RESCORED}",
        (_signs(wanted[None])[0].tobytes(),),
    ).fetchall()
    if not rows:
        return []
    ids = np.array([id for id, _ in rows], np.int64)
    matrix = np.frombuffer(b"".join(blob for _, blob in rows), np.int8).reshape(len(rows), -1).astype(np.float32)
    lengths = np.linalg.norm(matrix, axis=1)
    cosines = matrix @ wanted.astype(np.float32) / np.where(lengths > 0, lengths, 1)
    order = np.lexsort((ids, -cosines))
    found: list[int] = ids[order[lengths[order] > 0]].tolist()
    return found


def _signs(matrix: NDArray[np.float32] | Bytes) -> NDArray[np.uint8]:
    """(n, d) -> (n, d / 8): a bit for each number, whether it is above zero."""
    return np.packbits(matrix > 0, axis=1)
