"""The schema, as steps, and how a file comes to have it.

The book of them is the table `_sqlite_migrations` of sqlite-utils, and there is no other: a step and its entry are one
transaction, so a file is always exactly at one of them. Steps only ever go forward and are never edited after a
release: a change is a new step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import NewerStoreError, StoreDamagedError, StoreError
from memory.store.backup import verified_copy
from memory.store.connect import Connection, connect, driver, driver_errors
from memory.store.tables import SCHEMA

if TYPE_CHECKING:
    from sqlite_utils.db import Database

APPLICATION_ID = int.from_bytes(b"Plmp", "big")
MIGRATIONS = "palimpsest"  # the name of our steps in the book

Step = Callable[[Connection], None]


def create_tables(conn: Connection) -> None:
    """All of the first version."""
    for statement in SCHEMA.split(";\n"):
        if statement.strip():
            conn.execute(statement)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def drop_sentence_text(conn: Connection) -> None:
    """Removes the full text that sentences had of their own, which no question was searched in."""
    conn.execute("DELETE FROM reading WHERE node_id IN (SELECT node_id FROM thesis)")
    conn.execute("DROP TABLE IF EXISTS thesis_text")
    conn.execute("DROP VIEW IF EXISTS thesis_reading")


STEPS: tuple[Step, ...] = (create_tables, drop_sentence_text)


def version_of(path: Path, steps: Sequence[Step]) -> int:
    """How many of `steps` the file at `path` has (0: it is empty), read without changing a byte of it.

    StoreDamagedError if it is no memory, NewerStoreError if it has more, StoreError if it was made by a Palimpsest from
    before the first release.
    """
    with driver_errors(path):
        conn = connect(path, read_only=True)
        try:
            application: int = conn.execute("PRAGMA application_id").fetchone()[0]
            old_book: int = conn.execute("PRAGMA user_version").fetchone()[0]  # 0 since there is only one
            tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            done: list[str] = []
            if "_sqlite_migrations" in tables:
                rows = conn.execute(
                    "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", (MIGRATIONS,)
                )
                done = [name for (name,) in rows]
        except driver().DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
                raise StoreDamagedError(f"{path} is no memory. Choose another path; it was not touched.") from error
            raise
        finally:
            conn.close()
    broken_off = tables <= {"_sqlite_migrations"}  # while it was made: the book is there, and no step yet
    if application != APPLICATION_ID and (application or old_book or not broken_off):
        raise StoreDamagedError(f"{path} belongs to another program. Choose another path; it was not touched.")
    if old_book:
        raise StoreError(
            f"{path} was made by a Palimpsest from before the first release. It was not touched. Move it away and read "
            "your files again: pal add."
        )
    if done[: len(steps)] != _names(steps)[: len(done)] or len(done) > len(steps):
        raise NewerStoreError(
            f"{path} was written by a newer Palimpsest (format {len(done)}; this one knows {len(steps)}). "
            "It was not touched. Update Palimpsest, or open the copy that ends in .bak beside it."
        )
    return len(done)


def upgrade(conn: Connection, path: Path, version: int, steps: Sequence[Step]) -> Path | None:
    """Takes the file from `version` to the newest step; returns the verified copy made before, if there was any need.

    Each step is one transaction: after a crash the file is at one version or the next, and opening it goes on.
    """
    if version == len(steps):
        return None
    copy = None
    if version > 0:
        copy = _free_name(path, len(steps))
        verified_copy(conn, path, copy)
    _apply(conn, steps)
    return copy


def _free_name(path: Path, version: int) -> Path:
    """`<name>.before-v<N>.bak`, or with a number where an earlier attempt has left one."""
    name, again = path.with_name(f"{path.name}.before-v{version}.bak"), 1
    while name.exists():
        again += 1
        name = path.with_name(f"{path.name}.before-v{version}.{again}.bak")
    return name


def _names(steps: Sequence[Step]) -> list[str]:
    return [f"{number:04d}_{step.__name__}" for number, step in enumerate(steps, 1)]


def _apply(conn: Connection, steps: Sequence[Step]) -> None:
    from sqlite_utils import Database, Migrations  # 60 ms, which only a file that is not up to date should pay

    migrations = Migrations(MIGRATIONS)
    for name, step in zip(_names(steps), steps, strict=True):
        migrations(name=name)(_on_database(step))
    migrations.apply(Database(conn, execute_plugins=False))


def _on_database(step: Step) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        step(db.conn)

    return run
