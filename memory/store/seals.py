"""Seals: checksums of rows, written with the rows, to detect bits that flip on the disk and rows that disappear.

SQLite detects damage to the structure of pages, not to contents. A seal is the sum of the checksums of the rows of one
table that share a key, mostly one row. Temporary triggers of the writing connection change the seal in the
transaction that changes the row, by the difference: so an update of a damaged row does not hide the damage.

Without seals are `meta`, a few numbers that programs change outside of a unit, and what SQLite checks itself, the full
text and indexes; the vectors of facts contain their checksums (`facts`)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from memory.store.connect import Connection, read_value

SEALED: Mapping[str, str] = {  # table -> key of its seals; the place in this list is stored: append only
    "source": "id", "node": "id", "object": "node_id", "episode": "node_id", "thesis": "node_id", "edge": "id",
    "predicate": "id", "provenance": "item_id", "alias": "node_id", "reading": "node_id", "embedder": "id", "vec": "id",
    "sentence_vec": "vec_id", "edge_memory": "edge_id", "revision": "id", "journal": "id", "extraction": "episode_id",
    "secret": "source_id", "source_tag": "source_id", "folder": "id", "forgotten": "0", "skip": "0",
    "conversation": "id", "message": "id", "trace": "id", "trace_step": "trace_id", "trace_edge": "trace_id",
    "trace_visit": "trace_id", "train_label": "trace_id", "query": "trace_id", "ml_model": "id", "job": "id",
    "llm_probe": "0", "llm_use": "0", "synced": "0",
}  # fmt: skip
ALLOCATED = ("node", "thesis", "episode", "edge")  # tables whose ids only ascend (`graph.allocate`)
KINDS = {table: kind for kind, table in enumerate(SEALED)}
MINOR = ("job", "llm_use", "llm_probe", "skip")  # tables of counts, and of work that is looked for again
MOST = 200  # ids listed in a sentence


Damage = tuple[str, list[int], list[int]]
"""A table, and the keys whose rows are not the sealed ones, and whose rows are lost."""


def watch(conn: Connection) -> None:
    """Makes a writing connection keep the seals, and seals everything if nothing is sealed."""
    columns = conn.execute(
        "SELECT t.name, c.name, c.type, c.pk FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
        f" WHERE t.name IN ({', '.join(map(repr, SEALED))}) ORDER BY t.name, c.cid"
    )
    conn.executescript(_write_script(tuple(columns)))
    any_row = " UNION ALL ".join(f"SELECT 1 FROM (SELECT 1 FROM {table} LIMIT 1)" for table in SEALED)
    if not conn.execute("SELECT 1 FROM seal").fetchone() and conn.execute(any_row).fetchone():
        conn.execute("BEGIN IMMEDIATE")
        renew(conn, SEALED)
        conn.execute("COMMIT")


@lru_cache(maxsize=4)
def _write_script(columns: tuple[tuple[str, str, str, int], ...]) -> str:
    """Returns the triggers and the view of a connection to tables with these columns: (table, name, type, place in the
    primary key). One transaction, written once in a process: an opened memory takes 4 ms less."""
    calls = {table: _write_call(row[1:3] for row in columns if row[0] == table) for table in SEALED}
    keys = {table: [name for of, name, _, place in columns if of == table and place] for table in SEALED}
    triggers = (
        f"CREATE TEMP TRIGGER seal_{table}_{event} AFTER {event} ON {table} BEGIN {steps} END"
        for table, call in calls.items()
        for event, steps in _make_triggers(table, keys[table], call).items()
    )
    new = (
        f"SELECT {KINDS[table]}, {SEALED[table]}, {calls[table].format('')} FROM {table}"
        f" WHERE {SEALED[table]} > (SELECT ifnull(max(id), 0) FROM seal WHERE kind = {KINDS[table]})"
        for table in ALLOCATED
    )
    return ";".join(("BEGIN", *triggers, f"CREATE TEMP VIEW unsealed AS {' UNION ALL '.join(new)}", "COMMIT"))


def _make_triggers(table: str, primary_key: list[str], call: str) -> dict[str, str]:
    """Returns {event: the statements of its trigger}."""
    kind, key = KINDS[table], SEALED[table]
    old, new = call.format("OLD."), call.format("NEW.")
    if primary_key == [key]:  # each row has its own seal
        added = f"INSERT INTO seal VALUES ({kind}, NEW.{key}, {new}) ON CONFLICT DO UPDATE SET crc = excluded.crc;"
        this = f"WHERE kind = {kind} AND id = OLD.{key};"
        change = f"UPDATE seal SET id = NEW.{key}, crc = crc - {old} + {new} {this}"
        events = {"DELETE": f"DELETE FROM seal {this}", "UPDATE": change}
        return events if table in ALLOCATED else {"INSERT": added, **events}
    of_old, of_new = ("0", "0") if key == "0" else (f"OLD.{key}", f"NEW.{key}")
    form = "INSERT INTO seal VALUES ({}, {}, {}) ON CONFLICT DO UPDATE SET crc = crc + excluded.crc;"
    added, removed = form.format(kind, of_new, new), form.format(kind, of_old, f"-{old}")
    removed += f" DELETE FROM seal WHERE kind = {kind} AND id = {of_old} AND crc = 0;"
    return {"INSERT": added, "DELETE": removed, "UPDATE": added + removed}


def seal_new(conn: Connection) -> None:
    """Seals the new rows of tables with ascending ids, at the end of a unit: half the time of triggers."""
    conn.execute("INSERT INTO seal SELECT * FROM unsealed")


def _call(conn: Connection, table: str) -> str:
    """Returns the call that computes the checksum of a row."""
    return _write_call(conn.execute(f"SELECT name, type FROM pragma_table_info('{table}')")).format("")


def _write_call(columns: Iterable[tuple[str, str]]) -> str:
    """Returns `_call` with {} before each column, given (name, type). Texts are bytes: damaged ones may be invalid."""
    values = (f"CAST({{0}}{name} AS BLOB)" if kind == "TEXT" else f"{{0}}{name}" for name, kind in columns)
    return f"checksum({', '.join(values)})"


def renew(conn: Connection, tables: Iterable[str]) -> None:
    """Seals the current rows of these tables, whatever they are."""
    for table in tables:
        conn.execute("DELETE FROM seal WHERE kind = ?", (KINDS[table],))
        sums = f"SELECT {KINDS[table]}, {SEALED[table]}, sum({_call(conn, table)}) FROM {table} GROUP BY 2"
        conn.execute(f"INSERT INTO seal {sums}")


def sum_checksums(conn: Connection) -> int:
    """Returns the sum of all seals except those of MINOR tables: it changes with contents, not with runs of jobs."""
    minor = ", ".join(str(KINDS[table]) for table in MINOR)
    return int(read_value(conn, f"SELECT ifnull(sum(crc), 0) FROM seal WHERE kind NOT IN ({minor})"))


def find_damage(conn: Connection, part: int = 0, parts: int = 1) -> Iterator[Damage]:
    """Yields the damage of each table, for every `parts`-th key from `part` on."""
    for table, key in SEALED.items():
        rows = conn.execute(
            f"SELECT id, max(crc) > 0 FROM (SELECT {key} AS id, sum({_call(conn, table)}) AS crc FROM {table}"
            f" WHERE {key} % {parts} = {part} GROUP BY 1"
            f" UNION ALL SELECT id, -crc FROM seal WHERE kind = {KINDS[table]} AND id % {parts} = {part})"
            " GROUP BY id HAVING sum(crc) <> 0 ORDER BY id"
        ).fetchall()
        if rows:
            yield table, [id for id, there in rows if there], [id for id, there in rows if not there]


def describe(damage: Damage) -> Iterator[str]:
    """Yields a sentence for the changed and one for the lost rows of a table."""
    table, changed, lost = damage
    why = "not as written, because the disk or another program has changed them"
    for ids, what in ((changed, why), (lost, "gone")):
        if ids:
            listed = ", ".join(map(str, ids[:MOST])) + (f" and {len(ids) - MOST:,} more" if len(ids) > MOST else "")
            yield f"Rows of the table {table} are {what}: {listed}."


def repair(conn: Connection, backup: Path) -> int:
    """Replaces damaged rows by those of a backup of the same format whose checksums are the sealed ones; returns the
    number of keys repaired. Rows that only count or wait (MINOR) are sealed unchanged."""
    conn.execute("ATTACH ? AS backup", (f"{backup.absolute().as_uri()}?immutable=1",))
    conn.execute("PRAGMA foreign_keys = OFF")  # or rows that belong to a replaced one would go with it
    try:
        conn.execute("BEGIN IMMEDIATE")
        repaired = sum(_repair_table(conn, damage) for damage in list(find_damage(conn)))
        conn.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        conn.execute("COMMIT")
        return repaired
    finally:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        conn.execute("PRAGMA foreign_keys = ON")
        conn.execute("DETACH backup")


def _repair_table(conn: Connection, damage: Damage) -> int:
    table, changed, lost = damage
    key, repaired = SEALED[table], 0
    query = f"SELECT sum({_call(conn, table)}) FROM backup.{table} WHERE {key} = ?"
    for id in changed + lost:
        place = KINDS[table], id
        sealed = conn.execute("SELECT crc FROM seal WHERE kind = ? AND id = ?", place).fetchone()
        if sealed and conn.execute(query, (id,)).fetchone() == sealed:
            conn.execute(f"DELETE FROM {table} WHERE {key} = ?", (id,))
            conn.execute(f"INSERT INTO {table} SELECT * FROM backup.{table} WHERE {key} = ?", (id,))
            conn.execute("INSERT OR REPLACE INTO seal(kind, id, crc) VALUES (?, ?, ?)", (*place, *sealed))
            repaired += 1
    if table in MINOR:
        renew(conn, [table])
    return repaired
