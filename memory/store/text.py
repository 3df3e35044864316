"""Full text over titles, texts and locations of episodes: BM25 with Porter stemming, accents ignored.

The index is derived: its words come from the view episode_reading, which shows live episodes, with unspaced scripts in
pieces. So text is added after its rows and removed *before* its nodes expire. FTS5 breaks if a row to remove was never
added; its `_docsize` table lists those that were."""

from collections.abc import Sequence
from datetime import date
from typing import Any, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.store.connect import LISTED, Connection, id_list, is_live, read_column, read_value
from memory.text.words import LETTER_FOLDS, Term, index_form

FEW = 20_000  # episodes up to which all matches are scored; some microseconds each
BUDGET, SHARE, MOST = 5000, 20, 50_000  # for more: the minimum number scored, or one in so many, and the maximum number


def add(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Indexes live episodes; indexed ones stay."""
    new = f"id IN {LISTED} AND id NOT IN (SELECT id FROM episode_text_docsize)"
    _store_index_forms(conn, new, (id_list(ids),))
    conn.execute(
        "INSERT INTO episode_text(rowid, title, body, location) SELECT id, title, body, location FROM episode_reading"
        f" WHERE {new} ORDER BY id",
        (id_list(ids),),
    )


def _store_index_forms(conn: Connection, which: str, values: tuple[str, ...] = ()) -> None:
    """Stores the index form of texts that differ from it; plain ASCII never does."""
    rows = conn.execute(
        f"SELECT id, title, body, location FROM episode_content WHERE {which}"
        " AND length(CAST(title || body || location AS BLOB)) > length(title || body || location)",
        values,
    )
    read = [(id, written, tuple(map(index_form, written))) for id, *written in rows]
    conn.executemany(
        "INSERT INTO reading(node_id, title, body, location) VALUES (?, ?, ?, ?)",
        [(id, *forms) for id, written, forms in read if any(a is not b for a, b in zip(forms, written, strict=True))],
    )


def remove(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Removes live episodes from the index while their rows still exist."""
    conn.execute(
        "DELETE FROM episode_text WHERE rowid IN (SELECT c.id FROM json_each(?) j"
        " JOIN episode_content c ON c.id = j.value JOIN episode_text_docsize d ON d.id = j.value)",
        (id_list(ids),),
    )
    conn.execute(f"DELETE FROM reading WHERE node_id IN {LISTED}", (id_list(ids),))


def search(
    conn: Connection, terms: Sequence[str], k: int, *, within: Sequence[SupportsInt] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns (ids, scores) of the `k` best episodes for any of `terms`, optionally of those in `within`; larger is
    better. A term of several words is a phrase; a Term matches in all its forms. Terms contain no syntax."""
    # the + prevents one index query per id of `within`
    narrowed = "" if within is None else f" AND +rowid IN {LISTED}"
    ids = () if within is None else (id_list(within),)
    return _rank(conn, f"{_SCORED}{narrowed}", (_match_any(terms), *ids), k)


def search_affordably(
    conn: Connection, terms: Sequence[str], k: int, size: int, counts: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Searches like `search`, in a time independent of the `size` of the memory. Scoring is what costs, so above FEW
    episodes only `affordable` terms are searched. If all are too frequent, the newest episodes with all terms are
    scored, or the newest with the rarest one. `counts` caches frequencies until the next write."""
    chosen = affordable(conn, terms, size, counts)
    if chosen:
        return search(conn, chosen, k)
    hits = sorted((term for term in dict.fromkeys(terms) if counts[term]), key=lambda term: (counts[term], term))
    newest = f"{_SCORED} ORDER BY rowid DESC LIMIT {_find_budget(size)}"
    every = " AND ".join(f"({_match_any([term])})" for term in hits)
    for query in (every or '""', _match_any(hits[:1])):
        ids, scores = _rank(conn, newest, (query,), k)
        if len(ids):
            break
    return ids, scores


def affordable(conn: Connection, terms: Sequence[str], size: int, frequencies: dict[str, int]) -> list[str]:
    """Returns the rarest of `terms` whose episodes together may be scored in a memory of this `size`; all for a small
    one, none if each is too frequent. Adds the frequencies to `frequencies`."""
    different = list(dict.fromkeys(terms))
    if size <= FEW:
        return different
    most = _find_budget(size)
    frequencies |= document_frequencies(conn, [term for term in different if term not in frequencies], most + 1)
    order = sorted((term for term in different if frequencies[term]), key=lambda term: (frequencies[term], term))
    spent = np.cumsum([frequencies[term] for term in order])
    return order[: int(np.searchsorted(spent, most, side="right"))]


def _find_budget(size: int) -> int:
    return max(BUDGET, min(size // SHARE, MOST))


LOCATION_WEIGHT = 0.5  # weight of a word in the location; 1 in title and text
_SCORED = (
    f"SELECT rowid, bm25(episode_text, 1, 1, {LOCATION_WEIGHT}) AS cost FROM episode_text WHERE episode_text MATCH ?"
)


def _rank(conn: Connection, query: str, values: Sequence[Any], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rows = conn.execute(f"SELECT rowid, cost FROM ({query}) ORDER BY cost LIMIT ?", (*values, k)).fetchall()
    return np.array([row[0] for row in rows], np.int64), -np.array([row[1] for row in rows], np.float64)


def document_frequencies(conn: Connection, terms: Sequence[str], most: int = -1) -> dict[str, int]:
    """Returns {term: number of episodes that contain it, after stemming, counted up to `most`}. Asks the index, not an
    fts5vocab table, which would need the stem and is no faster."""
    count = "SELECT count(*) FROM (SELECT 1 FROM episode_text WHERE episode_text MATCH ? LIMIT ?)"
    return {term: read_value(conn, count, _match_any([term]), most) for term in dict.fromkeys(terms)}


def rebuild(conn: Connection) -> None:
    """Rebuilds the index from the live episodes."""
    conn.execute("DELETE FROM reading")
    _store_index_forms(conn, "id IS NOT NULL")
    conn.execute("INSERT INTO episode_text(episode_text) VALUES ('rebuild')")


def _match_any(terms: Sequence[str]) -> str:
    phrases = [phrase(term) for term in terms]
    phrases += [
        f"{phrase(form.removesuffix('*'))}{'*' * form.endswith('*')}"
        for term in terms
        if isinstance(term, Term)
        for form in term.forms
    ]
    return " OR ".join(phrases) or '""'


def phrase(term: str) -> str:
    """Returns the words of a term as an FTS5 phrase without syntax."""
    sayable = term.translate(LETTER_FOLDS).encode("utf-8", "replace").decode().replace("\0", " ").replace('"', '""')
    return f'"{sayable}"'


def naming_dates(conn: Connection, since: date, until: date) -> list[int]:
    """Returns ids of the live episodes that name a day in [since, until), or a month or year inside."""
    return read_column(
        conn,
        "SELECT DISTINCT e.src FROM alias a JOIN object o ON o.node_id = a.node_id AND o.type = 'date'"
        f" JOIN edge e ON e.dst = a.node_id AND e.kind = 'mention' AND {is_live('e')}"
        " WHERE a.norm >= ? AND a.norm < ? ORDER BY e.src",
        _find_first_name(since, until),
        until.isoformat().removesuffix("-01").removesuffix("-01"),
    )


def _find_first_name(since: date, until: date) -> str:
    """Returns the least name of a date in the span: its first year or month, if that is completely inside."""
    if (since.month, since.day) == (1, 1) and until.year > since.year:
        return f"{since.year:04}"
    if since.day == 1 and (until.year, until.month) > (since.year, since.month):
        return f"{since.year:04}-{since.month:02}"
    return since.isoformat()
