"""Full text over the titles, texts and locations of episodes: BM25 with Porter stemming, accents ignored.

The index is a view of the store: its words come from the view episode_reading, which shows what is live, in scripts
without spaces cut into pieces. So text is added after its rows and removed *before* its nodes expire or go. FTS5 takes
it on trust that a row it is to remove was added, and breaks if not; its own `_docsize` table says which were.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.store.connect import Connection
from memory.store.rows import LISTED, id_list, is_live
from memory.text.words import LETTER_FOLDS, Term, index_form

FEW = 20_000  # episodes, of which all that hold a word of the question may be scored: some microseconds each
BUDGET, SHARE, MOST = 5000, 20, 50_000  # of more so many, or one in so many if that is more, up to so many


def add(conn: Connection, ids: Sequence[SupportsInt]) -> None:
    """Makes live episodes findable; one that is already stays as it is."""
    new = f"id IN {LISTED} AND id NOT IN (SELECT id FROM episode_text_docsize)"
    _read(conn, new, (id_list(ids),))
    conn.execute(
        "INSERT INTO episode_text(rowid, title, body, location) SELECT id, title, body, location FROM episode_reading"
        f" WHERE {new} ORDER BY id",
        (id_list(ids),),
    )


def _read(conn: Connection, which: str, values: tuple[str, ...] = ()) -> None:
    """Writes down how texts are read that are not read as they are written; plain ASCII always is."""
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
    """Takes live episodes out of the index, while their rows are still there."""
    conn.execute(
        "DELETE FROM episode_text WHERE rowid IN (SELECT c.id FROM json_each(?) j"
        " JOIN episode_content c ON c.id = j.value JOIN episode_text_docsize d ON d.id = j.value)",
        (id_list(ids),),
    )
    conn.execute(f"DELETE FROM reading WHERE node_id IN {LISTED}", (id_list(ids),))


def search(
    conn: Connection, terms: Sequence[str], k: int, *, within: Sequence[SupportsInt] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `k` best episodes for any of `terms`, of those in `within` if it is given -> (ids, scores), larger is better.
    A term of several words is a phrase; a Term is looked up in all its forms. Nothing in a term is syntax."""
    # the + keeps SQLite from asking the index once for each id of `within`
    narrowed = "" if within is None else f" AND +rowid IN {LISTED}"
    ids = () if within is None else (id_list(within),)
    return _best(conn, f"{_SCORED}{narrowed}", (_any_of(terms), *ids), k)


def search_affordably(
    conn: Connection, terms: Sequence[str], k: int, size: int, known: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `k` best episodes for `terms` as by `search`, in a time that does not grow with the `size` of the memory.
    What costs is to score an episode, so in a memory of more than FEW episodes only the `affordable` words are looked
    for. If each word is too frequent, the newest episodes that have all of them are scored, or else the newest with the
    rarest. `known` keeps how frequent terms are, as long as nothing is written."""
    chosen = affordable(conn, terms, size, known)
    if chosen:
        return search(conn, chosen, k)
    there = sorted((term for term in dict.fromkeys(terms) if known[term]), key=lambda term: (known[term], term))
    newest = f"{_SCORED} ORDER BY rowid DESC LIMIT {_budget(size)}"
    every = " AND ".join(f"({_any_of([term])})" for term in there)
    for query in (every or '""', _any_of(there[:1])):
        ids, scores = _best(conn, newest, (query,), k)
        if len(ids):
            break
    return ids, scores


def affordable(conn: Connection, terms: Sequence[str], size: int, known: dict[str, int]) -> list[str]:
    """The rarest of `terms`, as many as stand in the episodes together that may be scored of a memory of this `size`;
    all of them if it is small, none if each stands in more or nowhere. What is counted is put into `known`."""
    different = list(dict.fromkeys(terms))
    if size <= FEW:
        return different
    most = _budget(size)
    counted = f"SELECT count(*) FROM (SELECT 1 FROM episode_text WHERE episode_text MATCH ? LIMIT {most + 1})"
    for term in different:
        if term not in known:
            known[term] = conn.execute(counted, (_any_of([term]),)).fetchone()[0]
    order = sorted((term for term in different if known[term]), key=lambda term: (known[term], term))
    spent = np.cumsum([known[term] for term in order])
    return order[: int(np.searchsorted(spent, most, side="right"))]


def _budget(size: int) -> int:
    return max(BUDGET, min(size // SHARE, MOST))


LOCATION_WEIGHT = 0.5  # of a word in the location, where one in the title or text counts 1
_SCORED = (
    f"SELECT rowid, bm25(episode_text, 1, 1, {LOCATION_WEIGHT}) AS cost FROM episode_text WHERE episode_text MATCH ?"
)


def _best(conn: Connection, found: str, values: Sequence[Any], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rows = conn.execute(f"SELECT rowid, cost FROM ({found}) ORDER BY cost LIMIT ?", (*values, k)).fetchall()
    return np.array([row[0] for row in rows], np.int64), -np.array([row[1] for row in rows], np.float64)


def document_frequencies(conn: Connection, terms: Sequence[str]) -> dict[str, int]:
    """In how many episodes each term stands, after stemming. Asked of the index itself rather than of an fts5vocab
    table: that one would need the stem, and counts by walking the same list (0.3 ms for 2,000 documents either way)."""
    count = "SELECT count(*) FROM episode_text WHERE episode_text MATCH ?"
    return {term: conn.execute(count, (_any_of([term]),)).fetchone()[0] for term in dict.fromkeys(terms)}


def rebuild(conn: Connection) -> None:
    """Makes the index anew from what is live."""
    conn.execute("DELETE FROM reading")
    _read(conn, "id IS NOT NULL")
    conn.execute("INSERT INTO episode_text(episode_text) VALUES ('rebuild')")


def _any_of(terms: Sequence[str]) -> str:
    phrases = [phrase(term) for term in terms]
    phrases += [
        f"{phrase(form.removesuffix('*'))}{'*' * form.endswith('*')}"
        for term in terms
        if isinstance(term, Term)
        for form in term.forms
    ]
    return " OR ".join(phrases) or '""'


def phrase(term: str) -> str:
    """The words of a term as FTS5 takes them, one behind the other; nothing in it is syntax."""
    sayable = term.translate(LETTER_FOLDS).encode("utf-8", "replace").decode().replace("\0", " ").replace('"', '""')
    return f'"{sayable}"'


def naming_dates(conn: Connection, since: date, until: date) -> list[int]:
    """Ids of the live episodes that name a day from `since` on and before `until`, or a month or year within."""
    rows = conn.execute(
        "SELECT DISTINCT e.src FROM alias a JOIN object o ON o.node_id = a.node_id AND o.type = 'date'"
        f" JOIN edge e ON e.dst = a.node_id AND e.kind = 'mention' AND {is_live('e')}"
        " WHERE a.norm >= ? AND a.norm < ? ORDER BY e.src",
        (_first_name(since, until), until.isoformat().removesuffix("-01").removesuffix("-01")),
    )
    return [id for (id,) in rows]


def _first_name(since: date, until: date) -> str:
    """The least name of a date in the span: that of its first year or month, if all of it lies in the span."""
    if (since.month, since.day) == (1, 1) and until.year > since.year:
        return f"{since.year:04}"
    if since.day == 1 and (until.year, until.month) > (since.year, since.month):
        return f"{since.year:04}-{since.month:02}"
    return since.isoformat()
