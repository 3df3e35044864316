"""Vectors of episodes, in the table `vec`, and of their sentences, in `sentence_vec`.

Nearest episodes are found in memory (`graph.snapshot`). The sentences of an episode, its theses in order, are one row:
(s, dimension) integers from -127 to 127. Only those of candidate episodes are read, so they need no index.

The active embedder has seen every live episode; none is active while vectors are being built for the first one.

A NULL vector says that the embedder knows no word of the text, so all stored vectors have norm 1, and a missing row
means not yet embedded."""

from collections.abc import Iterator, Sequence
from typing import SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.errors import InvalidInputError, NotFoundError
from memory.protocols import Embedder, Vectors
from memory.store.connect import LISTED, Connection, group_rows, id_list, insert_row, is_live, read_column, read_value

Ids = NDArray[np.int64]


def find_embedder(conn: Connection, embedder: Embedder) -> int:
    """Returns the embedder's id, 0 without vectors."""
    query = "SELECT id FROM embedder WHERE name = ? AND dimension = ?"
    return int(read_value(conn, query, embedder.name, embedder.dimension) or 0)


def register(conn: Connection, embedder: Embedder) -> int:
    """Returns the embedder's id; the first one of an empty memory becomes active. InvalidInputError if the name is
    known with another dimension or prefixes, whose vectors are incompatible."""
    theirs = (embedder.dimension, embedder.query_prefix, embedder.document_prefix)
    row = conn.execute(
        "SELECT id, dimension, query_prefix, document_prefix FROM embedder WHERE name = ?", (embedder.name,)
    ).fetchone()
    if row is None:
        nothing = "SELECT NOT EXISTS (SELECT 1 FROM embedder) AND NOT EXISTS (SELECT 1 FROM episode)"
        is_first = read_value(conn, nothing)
        return insert_row(
            conn, "embedder", name=embedder.name, dimension=embedder.dimension, query_prefix=embedder.query_prefix,
            document_prefix=embedder.document_prefix, active=is_first,
        )  # fmt: skip
    if row[1:] != theirs:
        raise InvalidInputError(
            f"The embedder {embedder.name!r} has {row[1]} dimensions and prefixes {row[2:]!r} in this memory,"
            f" now {theirs[0]} and {theirs[1:]!r}. Another embedder needs another name."
        )
    return int(row[0])


def active(conn: Connection) -> tuple[int, str] | tuple[None, None]:
    """Returns (id, name) of the embedder that has seen every live episode, if any."""
    return conn.execute("SELECT id, name FROM embedder WHERE active").fetchone() or (None, None)


def activate(conn: Connection, embedder_id: int) -> None:
    """Makes questions use this embedder's vectors, which must be complete."""
    conn.execute("UPDATE embedder SET active = (id = ?) WHERE active OR id = ?", (embedder_id, embedder_id))


def deactivate_others(conn: Connection, embedder_id: int) -> None:
    """Deactivates other embedders, because episodes were added that only this one has seen."""
    conn.execute("UPDATE embedder SET active = 0 WHERE active AND id <> ?", (embedder_id,))


def others(conn: Connection, embedder_id: int) -> list[int]:
    """Returns the ids of the other embedders."""
    return read_column(conn, "SELECT id FROM embedder WHERE id <> ? ORDER BY id", embedder_id)


def drop(conn: Connection, embedder_id: int, limit: int = 1000) -> bool:
    """Deletes up to `limit` of an embedder's vectors, and with the last one the embedder; returns whether it is gone.
    Use several units, so that writers need not wait long. InvalidInputError for the active embedder."""
    current, name = active(conn)
    if current == embedder_id:
        raise InvalidInputError(f"Questions use the vectors of {name}. Activate another embedder first.")
    subquery = "SELECT id FROM vec WHERE embedder_id = ? LIMIT ?"
    if conn.execute(f"DELETE FROM vec WHERE id IN ({subquery})", (embedder_id, limit)).rowcount == limit:
        return False
    for table, key in (("edge_memory", "embedder_id"), ("query", "embedder_id"), ("embedder", "id")):
        conn.execute(f"DELETE FROM {table} WHERE {key} = ?", (embedder_id,))
    return True


def put_many(
    conn: Connection, embedder_id: int, ids: Sequence[SupportsInt], matrix: Vectors, sentences: Sequence[Vectors]
) -> None:
    """Stores rows of `matrix` (n, dimension), each of norm 1 or zero, for episodes `ids` (n,), and the vectors of their
    `sentences`, n times (s, dimension). A zero row is stored as NULL and never found. InvalidInputError for another
    shape, norm, NaN or infinity; then nothing is stored."""
    checked = _check_matrix(conn, embedder_id, matrix)
    if not len(ids) == len(checked) == len(sentences):
        raise InvalidInputError(f"{len(ids)} ids and {len(checked)} vectors do not match.")
    checked_sentences = [to_bytes(_check_matrix(conn, embedder_id, rows_of)) for rows_of in sentences]
    conn.executemany(
        "INSERT INTO vec(embedder_id, item_kind, item_id, data, sha256) VALUES (?, 'episode', ?, ?, '')"
        " ON CONFLICT DO UPDATE SET data = excluded.data",
        [(embedder_id, int(id), row.tobytes() if row.any() else None) for id, row in zip(ids, checked, strict=True)],
    )
    conn.executemany(
        "INSERT OR REPLACE INTO sentence_vec(vec_id, data) SELECT id, ? FROM vec"
        " WHERE embedder_id = ? AND item_kind = 'episode' AND item_id = ?",
        [(rows_of.tobytes(), embedder_id, int(id)) for id, rows_of in zip(ids, checked_sentences, strict=True)],
    )


def delete_many(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Deletes these episodes' vectors of all embedders."""
    conn.execute(
        "DELETE FROM vec WHERE embedder_id IN (SELECT id FROM embedder) AND item_kind = 'episode'"  # as in its index
        f" AND item_id IN {LISTED}",
        (id_list(ids),),
    )


def delete_sentences(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Deletes the vectors of these episodes' changed sentences; they are embedded again later."""
    conn.execute(
        "DELETE FROM sentence_vec WHERE vec_id IN (SELECT id FROM vec WHERE embedder_id IN (SELECT id FROM embedder)"
        f" AND item_kind = 'episode' AND item_id IN {LISTED})",
        (id_list(ids),),
    )


def pieces_of(conn: Connection, embedder_id: int, size: int = 8192) -> Iterator[tuple[Ids, Vectors]]:
    """Yields (ids (s,) sorted, matrix (s, dimension)) of all vectors of an embedder (0: none), `size` at a time."""
    if not embedder_id:
        return
    dimension = _find_dimension(conn, embedder_id)
    cursor = conn.execute(
        "SELECT item_id, data FROM vec WHERE embedder_id = ? AND item_kind = 'episode' AND data IS NOT NULL"
        " ORDER BY item_id",
        (embedder_id,),
    )
    while rows := cursor.fetchmany(size):
        matrix = np.frombuffer(b"".join([row[1] for row in rows]), np.float32).reshape(len(rows), dimension)
        yield np.array([row[0] for row in rows], np.int64), matrix


def best_sentences(conn: Connection, embedder_id: int, ids: Sequence[int], query: Vectors) -> dict[int, float]:
    """Returns {episode: the greatest cosine of its sentences with `query` (dimension,)}; without episodes whose
    sentences have no vector."""
    return {id: float(cosines.max()) for id, cosines in _compare_sentences(conn, embedder_id, ids, query)}


def sentence_cosines(conn: Connection, embedder_id: int, ids: Sequence[int], query: Vectors) -> dict[int, float]:
    """Returns {thesis: the cosine of its sentence with `query` (dimension,)} for these episodes with vectors."""
    query_theses = f"SELECT episode_id, node_id FROM thesis WHERE origin = 'sentence' AND episode_id IN {LISTED}"
    rows = conn.execute(f"{query_theses} ORDER BY episode_id, span_from, node_id", (id_list(ids),))
    theses = group_rows(rows)
    compared = _compare_sentences(conn, embedder_id, ids, query)
    return {
        thesis: cosine
        for id, cosines in compared
        if len(cosines) == len(theses.get(id, ()))
        for thesis, cosine in zip(theses[id], cosines.tolist(), strict=True)
    }


def _compare_sentences(
    conn: Connection, embedder_id: int, ids: Sequence[int], query: Vectors
) -> list[tuple[int, Vectors]]:
    """Returns (id, cosines (s,) of the sentences with `query`) of these episodes with vectors."""
    rows = conn.execute(
        "SELECT v.item_id, s.data FROM vec v JOIN sentence_vec s ON s.vec_id = v.id WHERE v.embedder_id = ?"
        f" AND v.item_kind = 'episode' AND v.item_id IN {LISTED} AND s.data <> x''",
        (embedder_id, id_list(ids)),
    ).fetchall()
    if not rows:
        return []
    matrix = np.frombuffer(b"".join([data for _, data in rows]), np.int8).reshape(-1, len(query)).astype(np.float32)
    lengths = np.linalg.norm(matrix, axis=1)
    cosines = (matrix @ query) / np.where(lengths > 0, lengths, 1)
    ends = np.cumsum([len(data) // len(query) for _, data in rows])
    return list(zip([id for id, _ in rows], np.split(cosines, ends[:-1]), strict=True))


def list_missing(conn: Connection, embedder_id: int, limit: int, sentences: bool = False) -> list[int]:
    """Returns live episodes that this embedder has not seen, newest first; with `sentences` also those whose sentences
    have no vectors."""
    column = "s.vec_id" if sentences else "v.id"
    query = (
        "SELECT n.id FROM node n LEFT JOIN vec v ON v.embedder_id = ? AND v.item_kind = 'episode' AND v.item_id = n.id"
        f" LEFT JOIN sentence_vec s ON s.vec_id = v.id WHERE n.kind = 'E' AND {is_live('n')} AND {column} IS NULL"
        " ORDER BY n.id DESC LIMIT ?"
    )
    return read_column(conn, query, embedder_id, limit)


def list_live(conn: Connection) -> list[int]:
    """Returns all episodes that should have a vector."""
    return read_column(conn, f"SELECT n.id FROM node n WHERE n.kind = 'E' AND {is_live('n')} ORDER BY n.id")


def drop_stray(conn: Connection, embedder_id: int) -> None:
    """Deletes vectors of episodes that are not live, vectors of this embedder with a wrong length, and sentence vectors
    without a vector of the episode."""
    conn.execute(f"DELETE FROM vec WHERE item_id NOT IN (SELECT n.id FROM node n WHERE {is_live('n')})")
    wrong = "embedder_id = ? AND length(data) <> 4 * ?"
    conn.execute(f"DELETE FROM vec WHERE {wrong}", (embedder_id, _find_dimension(conn, embedder_id)))
    conn.execute("DELETE FROM sentence_vec WHERE vec_id NOT IN (SELECT id FROM vec)")


def coverage(conn: Connection, embedder_id: int) -> tuple[int, int]:
    """Returns (live episodes that this embedder has seen, all live episodes)."""
    seen, live = conn.execute(
        "SELECT count(v.id), count(*) FROM node n"
        " LEFT JOIN vec v ON v.embedder_id = ? AND v.item_kind = 'episode' AND v.item_id = n.id"
        f" WHERE n.kind = 'E' AND {is_live('n')}",
        (embedder_id,),
    ).fetchone()
    return int(seen), int(live)


def to_bytes(matrix: Vectors) -> NDArray[np.int8]:
    """Converts (n, d) rows of norm 1 or zero -> (n, d) integers from -127 to 127; the greatest of each row is 127."""
    greatest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    scaled: NDArray[np.int8] = np.rint(127 * matrix / np.where(greatest > 0, greatest, 1)).astype(np.int8)
    return scaled


def _find_dimension(conn: Connection, embedder_id: int) -> int:
    dimension = read_value(conn, "SELECT dimension FROM embedder WHERE id = ?", embedder_id)
    if dimension is None:
        raise NotFoundError(f"There is no embedder {embedder_id} in this memory.")
    return int(dimension)


def _check_matrix(conn: Connection, embedder_id: int, matrix: Vectors) -> Vectors:
    dimension = _find_dimension(conn, embedder_id)
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        raise InvalidInputError(f"Vectors of shape {matrix.shape} cannot be used; this embedder has (n, {dimension}).")
    if not np.isfinite(matrix).all():
        raise InvalidInputError("A vector holds NaN or infinity. The embedder is broken; nothing was stored.")
    # in double precision the square of no float32 overflows or vanishes
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    if np.any((np.abs(norms - 1) > 1e-3) & (norms != 0)):
        raise InvalidInputError("A vector's length is neither 1 nor 0. The embedder is broken; nothing was stored.")
    return np.ascontiguousarray(matrix, np.float32)
