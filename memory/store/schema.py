"""The schema, as numbered steps, and how a file comes to have it.

`user_version` is the number of the newest step the file has; a step and its number are one transaction, so a file is
always exactly at one of them. Steps only ever go forward and are never edited after a release: a change is a new step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import NewerStoreError, StoreDamagedError
from memory.store import models, queries, revisions, traces
from memory.store.backup import verified_copy
from memory.store.connect import Connection, connect, driver, driver_errors
from memory.store.schema_first import FIRST

if TYPE_CHECKING:
    from sqlite_utils.db import Database

APPLICATION_ID = int.from_bytes(b"Plmp", "big")

Step = Callable[[Connection], None]


def first(conn: Connection) -> None:
    """Everything of version 1."""
    for statement in FIRST.split(";\n"):
        if statement.strip():
            conn.execute(statement)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def language_models(conn: Connection) -> None:
    """What is known of them, and what they were used for."""
    for statement in models.TABLES.split(";\n"):
        if statement.strip():
            conn.execute(statement)


def facts_in_time(conn: Connection) -> None:
    """Relations with a modality, revisions that can be taken back, and which episodes a model has read."""
    for statement in revisions.TABLES.split(";\n"):
        if statement.strip():
            conn.execute(statement)


def questions_as_vectors(conn: Connection) -> None:
    """What edges are to remember of questions, beside their traces."""
    for statement in queries.TABLES.split(";\n"):
        if statement.strip():
            conn.execute(statement)


def questions_in_vain(conn: Connection) -> None:
    """Which questions a model looked further for and found nothing."""
    conn.execute(traces.INDEXES)


STEPS: tuple[Step, ...] = (first, language_models, facts_in_time, questions_as_vectors, questions_in_vain)


def version_of(path: Path, newest: int) -> int:
    """The version of the file at `path` (0: empty), read without changing a byte of it.

    StoreDamagedError if it is no memory, NewerStoreError if its version is above `newest`.
    """
    with driver_errors(path):
        conn = connect(path, read_only=True)
        try:
            application: int = conn.execute("PRAGMA application_id").fetchone()[0]
            version: int = conn.execute("PRAGMA user_version").fetchone()[0]
            tables: int = conn.execute(  # one that broke off while it was made has the list of steps, and no step yet
                "SELECT count(*) FROM sqlite_master WHERE tbl_name <> '_sqlite_migrations'"
            ).fetchone()[0]
        except driver().DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
                raise StoreDamagedError(f"{path} is no memory. Choose another path; it was not touched.") from error
            raise
        finally:
            conn.close()
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreDamagedError(f"{path} belongs to another program. Choose another path; it was not touched.")
    if version > newest:
        raise NewerStoreError(
            f"{path} was written by a newer Palimpsest (format {version}; this one knows {newest}). "
            "It was not touched. Update Palimpsest, or open the copy that ends in .bak beside it."
        )
    return version


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


def _apply(conn: Connection, steps: Sequence[Step]) -> None:
    from sqlite_utils import Database, Migrations  # 60 ms, which only a file that is not up to date should pay

    migrations = Migrations("palimpsest")
    for number, step in enumerate(steps, 1):
        migrations(name=f"{number:04d}_{step.__name__}")(_numbered(step, number))
    migrations.apply(Database(conn, execute_plugins=False))


def _numbered(step: Step, number: int) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        step(db.conn)
        db.conn.execute(f"PRAGMA user_version = {number}")

    return run
