"""The schema (`schema.sql`) as steps, and the upgrade of a file.

Times are ms, UTC or wall time; spans count characters, end exclusive; JSON is text. Measured choices:
* `vec` has a rowid. Without one, a 256-dimensional row does not fit an index page and takes a whole page:
  4,682 instead of 1,391 bytes a vector at 4 kB pages (1,195 at the 8 kB pages used here). Its `item_kind` is always
  "episode": the vectors of facts are in `vec_fact` alone (`memory.store.facts`).
* The full text takes its content from a view instead of being contentless: a contentless-delete table leaves
  deleted words in the file until a merge, despite `secure-delete`. `reading` contains the index form of a text
  (`memory.text.words.index_form`) if it differs, mostly of scripts without spaces.
* `edge` has no foreign keys: each would need a full index. `check()` tests the references instead.
* An episode has two times: `event_from` of its topic, and [since, until) of its source's version; NULL for the
  first and the newest one.
* Edge ids start at 2^30, node ids at 1, so that the id of a fact distinguishes relation and thesis.

`PRAGMA user_version` counts the completed steps, from BASE on, and changes in the transaction of the step. Steps are
never reversed, nor edited after a release: a change is a new step.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from memory.errors import StoreDamagedError, StoreError, StoreNewerError
from memory.store.connect import Connection, connect, driver, driver_errors
from memory.store.files import APPLICATION_ID, verified_copy

TABLES = Path(__file__).with_name("schema.sql")
BASE = 100  # of `PRAGMA user_version`; lower numbers and other records are of the time before the first release
LAST_STEP = "0014_drop_lines_of_events"  # of that time: a file with it is as `create_memory` makes one

Step = Callable[[Connection], None]


def create_memory(conn: Connection) -> None:
    """Creates the tables."""
    for statement in TABLES.read_text("utf-8").split(";\n"):
        if statement.strip():
            conn.execute(statement)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


STEPS: tuple[Step, ...] = (create_memory,)


def version_of(path: Path, steps: Sequence[Step]) -> int:
    """Returns the number of `steps` that the file at `path` has (0: empty), read without changing a byte.
    StoreDamagedError if it is no memory, StoreNewerError if it has more steps, StoreError if it is from before the
    first release."""
    with driver_errors(path), closing(connect(path, read_only=True)) as conn:
        try:
            application: int = conn.execute("PRAGMA application_id").fetchone()[0]
            version: int = conn.execute("PRAGMA user_version").fetchone()[0]
            tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            recorded = "_sqlite_migrations" in tables and "SELECT 1 FROM _sqlite_migrations WHERE name = ?"
            if recorded and version == 0 and conn.execute(recorded, (LAST_STEP,)).fetchone():
                version = BASE + 1
        except driver().DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
                raise StoreDamagedError(f"{path} is no memory. Choose another path; it was not touched.") from error
            raise
    if not application and not version and not tables:
        return 0
    if application != APPLICATION_ID:
        raise StoreDamagedError(f"{path} belongs to another program. Choose another path; it was not touched.")
    if version <= BASE:
        raise StoreError(
            f"{path} was made by a Palimpsest from before the first release. It was not touched. Move it away and read "
            "your files again: pal add."
        )
    if version > BASE + len(steps):
        raise StoreNewerError(
            f"{path} was written by a newer Palimpsest (format {version - BASE}; this one knows {len(steps)}). "
            "It was not touched. Update Palimpsest, or open the copy next to it that ends in .bak."
        )
    return version - BASE


def upgrade(conn: Connection, path: Path, version: int, steps: Sequence[Step]) -> None:
    """Upgrades the file from `version` to the newest step, after a verified copy of a file that is not new. Each step
    is one transaction: after a crash the next opening continues."""
    if 0 < version < len(steps):
        verified_copy(conn, path, _find_free_name(path, len(steps)))
    for number, step in enumerate(steps[version:], version + 1):
        conn.execute("BEGIN IMMEDIATE")
        try:
            step(conn)
            conn.execute("DELETE FROM seal")  # the form of the rows may have changed; `seals.watch` adds them again
            conn.execute(f"PRAGMA user_version = {BASE + number}")
            conn.execute("COMMIT")
        except BaseException:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
            raise


def _find_free_name(path: Path, version: int) -> Path:
    """Returns `<name>.before-v<N>.bak`, with a number if the name is taken."""
    name, again = path.with_name(f"{path.name}.before-v{version}.bak"), 1
    while name.exists():
        again += 1
        name = path.with_name(f"{path.name}.before-v{version}.{again}.bak")
    return name
