"""The schema (`schema.sql`) as steps, and the upgrade of a file.

Times are ms, UTC or wall time (WALL_TIMES); spans count characters, end exclusive; JSON is text. Measured choices:
* `vec` has a rowid. Without one, a 256-dimensional row does not fit an index page and takes a whole page:
  4,682 instead of 1,391 bytes a vector at 4 kB pages (1,195 at the 8 kB pages used here). Its `item_kind` is always
  "episode": the vectors of facts are in `vec_fact` alone (`memory.store.fact_vectors`).
* The full text takes its content from a view instead of being contentless: a contentless-delete table leaves
  deleted words in the file until a merge, despite `secure-delete`. `reading` contains the index form of a text
  (`memory.text.words.index_form`) if it differs, mostly of scripts without spaces.
* `edge` has no foreign keys: each would need a full index. `check()` tests the references instead.
* An episode has two times: `event_from` of its topic, and [since, until) of its source's version; NULL for the
  first and the newest one.
* Edge ids start at 2^30, node ids at 1, so that the id of a fact distinguishes relation and thesis.

Completed steps are in the table `_sqlite_migrations` of sqlite-utils, written in the transaction of the step. Steps
are never reversed, nor edited after a release: a change is a new step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import StoreDamagedError, StoreError, StoreNewerError
from memory.nouns import FORGOTTEN
from memory.store import graph, seals, text
from memory.store.backup import verified_copy
from memory.store.connect import Connection, connect, driver, driver_errors
from memory.store.ownership import APPLICATION_ID
from memory.store.rows import to_json
from memory.text.mentions import norm
from memory.text.words import to_nfc
from memory.time.timestamps import wall_of

if TYPE_CHECKING:
    from sqlite_utils.db import Database

TABLES = Path(__file__).with_name("schema.sql")
MIGRATIONS = "palimpsest"  # the name of our steps in the table of migrations

WALL_TIMES = {  # columns of wall time: written, valid and event times (docs/times.md)
    "source": ("at",),
    "episode": ("event_from", "event_to", "since", "until"),
    "thesis": ("valid_from", "valid_to"),
    "edge": ("valid_from", "valid_to"),
}

Step = Callable[[Connection], None]


def create_memory(conn: Connection) -> None:
    """Creates the first version."""
    for statement in TABLES.read_text("utf-8").split(";\n"):
        if statement.strip():
            conn.execute(statement)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def drop_episode_indexes(conn: Connection) -> None:
    """Drops the vec0 tables of episodes, one per embedder, which were as large as the vectors and unused."""
    query = "SELECT name FROM sqlite_master WHERE name GLOB 'vec_episode_*' AND sql LIKE 'CREATE VIRTUAL TABLE%'"
    for (table,) in conn.execute(query).fetchall():
        conn.execute(f"DROP TABLE {table}")


def keep_marks_of_forgotten(conn: Connection) -> None:
    """Moves the marks of forgotten files (`memory.store.forgotten`); sets the reason of those marked by path."""
    conn.execute("CREATE TABLE forgotten(mark TEXT PRIMARY KEY, t INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    before = "forgotten on request; `pal add` reads it again"
    conn.execute("UPDATE skip SET reason = ? WHERE reason = ?", (FORGOTTEN, before))


def seal_rows(conn: Connection) -> None:
    """Creates the table of checksums (`memory.store.seals`); it had other columns until `seal_each_row`."""
    conn.execute("CREATE TABLE seal(kind INTEGER, block INTEGER)")


def keep_secrets_apart(conn: Connection) -> None:
    """Creates the table of secrets removed from texts (`memory.store.secrets`)."""
    conn.execute(
        "CREATE TABLE secret(source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE,"
        " placeholder TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, line INTEGER,"
        " PRIMARY KEY(source_id, placeholder)) STRICT, WITHOUT ROWID"
    )
    conn.execute("CREATE INDEX secret_placeholder ON secret(placeholder)")
    conn.execute("INSERT INTO meta(key, value) VALUES ('mask_key', lower(hex(randomblob(32))))")


def note_turns(conn: Connection) -> None:
    """Adds the turns of a chat to an episode: [[character, number, ms or null, characters of the name]]."""
    conn.execute("ALTER TABLE episode ADD COLUMN turns TEXT")


def search_locations(conn: Connection) -> None:
    """Adds the location of a file below its added folder (`Document.location`) to the full text. For existing sources
    it is known only below watched folders."""
    conn.execute("ALTER TABLE source ADD COLUMN location TEXT NOT NULL DEFAULT ''")
    conn.execute("ALTER TABLE reading ADD COLUMN location TEXT NOT NULL DEFAULT ''")
    roots = [f"{path.rstrip('/')}/" for (path,) in conn.execute("SELECT path FROM folder ORDER BY length(path) DESC")]
    files = conn.execute("SELECT id, uri FROM source WHERE sha256 IS NOT NULL AND kind IN ('file', 'chat')").fetchall()
    for id, uri in files:
        path = uri.partition("#")[0]
        root = next((root for root in roots if path.startswith(root)), path[: path.rfind("/") + 1])
        conn.execute("UPDATE source SET location = ? WHERE id = ?", (to_nfc(path.removeprefix(root)), id))
    for view in ("episode_reading", "episode_content"):
        conn.execute(f"DROP VIEW {view}")
    conn.execute(
        "CREATE VIEW episode_content(id, title, body, location) AS SELECT n.id, ifnull(n.label, ''), e.text, s.location"
        " FROM episode e JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id WHERE n.t_expired IS NULL"
    )
    conn.execute(
        "CREATE VIEW episode_reading(id, title, body, location) AS"
        " SELECT c.id, ifnull(r.title, c.title), ifnull(r.body, c.body), ifnull(r.location, c.location)"
        " FROM episode_content c LEFT JOIN reading r ON r.node_id = c.id"
    )
    options = conn.execute("SELECT sql FROM sqlite_master WHERE name = 'episode_text'").fetchone()[0]
    conn.execute("DROP TABLE episode_text")
    conn.execute(options.replace("title, body,", "title, body, location,"))
    conn.execute("INSERT INTO episode_text(episode_text, rank) VALUES ('secure-delete', 1)")
    text.rebuild(conn)


def keep_accents_of_names(conn: Connection) -> None:
    """Distinguishes names by accents; search ignores accents (`alias.folded`)."""
    conn.execute("ALTER TABLE alias ADD COLUMN folded TEXT")
    conn.execute("CREATE INDEX alias_folded ON alias(folded) WHERE folded IS NOT NULL")
    normalize_aliases(conn)


def normalize_aliases(conn: Connection) -> None:
    """Updates the norms of names with accents."""
    conn.create_function("norm", 1, norm, deterministic=True)
    conn.execute(
        "UPDATE OR REPLACE alias SET norm = norm(surface) WHERE length(CAST(surface AS BLOB)) > length(surface)"
        " AND norm(surface) <> ''"
    )
    graph.fold_aliases(conn)


def keep_wall_times(conn: Connection) -> None:
    """Converts the times of texts, statements and events to local wall time (`memory.time.timestamps`)."""
    moved = "CAST(strftime('%s', {0} / 1000, 'unixepoch', 'localtime') AS INTEGER) * 1000 + {0} % 1000"
    for table, columns in WALL_TIMES.items():
        for column in columns:
            conn.execute(f"UPDATE OR IGNORE {table} SET {column} = {moved.format(column)} WHERE {column} IS NOT NULL")
    for column in ("old", "new"):
        value = moved.format(f"CAST({column} AS INTEGER)")
        conn.execute(
            f"UPDATE journal SET {column} = {value} WHERE {column} > '' AND field IN ('valid_from', 'valid_to')"
        )
    for table, column in (("episode", "turns"), ("trace", "citations"), ("message", "citations")):
        rows = conn.execute(f"SELECT rowid, {column} FROM {table} WHERE {column} <> '[]'").fetchall()
        changed = [(to_json([_to_wall_time(item) for item in json.loads(items)]), id) for id, items in rows]
        conn.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", changed)


def compare_sentences(conn: Connection) -> None:
    """Creates the vectors of sentences (`memory.store.vectors`). Existing passages get theirs in the background
    (`Maintenance.fill_vectors`)."""
    conn.execute(
        "CREATE TABLE sentence_vec(vec_id INTEGER PRIMARY KEY REFERENCES vec(id) ON DELETE CASCADE,"
        " data BLOB NOT NULL) STRICT"
    )


def seal_each_row(conn: Connection) -> None:
    """Creates the seals (`memory.store.seals`); `fact_vectors` recreates its table with checksums."""
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'unseal_*'"
    for (trigger,) in conn.execute(query).fetchall():
        conn.execute(f"DROP TRIGGER {trigger}")
    conn.execute("DROP TABLE seal")
    conn.execute(
        "CREATE TABLE seal(kind INTEGER NOT NULL, id INTEGER NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(kind, id))"
        " STRICT, WITHOUT ROWID"
    )
    conn.execute("DELETE FROM meta WHERE key = 'fact_vectors'")


def drop_recorded_figures(conn: Connection) -> None:
    """Drops the nightly figures: a diagnosis is computed from the traces when it is asked for."""
    conn.execute("DROP TABLE IF EXISTS diag")


def drop_lines_of_events(conn: Connection) -> None:
    """Removes the lines that dated an event of a question from traces; forgetting no longer looks for them there."""
    conn.execute("UPDATE trace_step SET detail = json_remove(detail, '$.time') WHERE stage = 'scope'")


def keep_agreements(conn: Connection) -> None:
    """Creates the table of what other computers agreed on (`memory.store.synced`), and finds passages by their hash."""
    conn.execute(
        "CREATE TABLE synced(key TEXT PRIMARY KEY, seen TEXT NOT NULL, local TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )
    conn.execute("CREATE INDEX episode_sha ON episode(substr(sha256, 1, 16))")


def _to_wall_time(item: Any) -> Any:
    """A turn of a chat, [character, number, ms, length], or a citation, {"at": ms, ...}, with its time as wall time."""
    if isinstance(item, dict):
        return item if item["at"] is None else item | {"at": wall_of(item["at"])}
    start, number, at, length = item
    return [start, number, None if at is None else wall_of(at), length]


STEPS: tuple[Step, ...] = (
    create_memory,
    drop_episode_indexes,
    keep_marks_of_forgotten,
    seal_rows,
    keep_secrets_apart,
    note_turns,
    search_locations,
    keep_accents_of_names,
    keep_wall_times,
    compare_sentences,
    seal_each_row,
    drop_recorded_figures,
    keep_agreements,
    drop_lines_of_events,
)


def version_of(path: Path, steps: Sequence[Step]) -> int:
    """The number of `steps` that the file at `path` has (0: empty), read without changing a byte. StoreDamagedError if
    it is no memory, StoreNewerError if it has more steps, StoreError if it is from before the first release."""
    with driver_errors(path), closing(connect(path, read_only=True)) as conn:
        try:
            application: int = conn.execute("PRAGMA application_id").fetchone()[0]
            old_book: int = conn.execute("PRAGMA user_version").fetchone()[0]  # 0: there is only one connection
            tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            done: list[str] = []
            if "_sqlite_migrations" in tables:
                book = "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id"
                done = [name for (name,) in conn.execute(book, (MIGRATIONS,))]
        except driver().DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
                raise StoreDamagedError(f"{path} is no memory. Choose another path; it was not touched.") from error
            raise
    broken_off = tables <= {"_sqlite_migrations"}  # interrupted during creation: the table of migrations without a step
    if application != APPLICATION_ID and (application or old_book or not broken_off):
        raise StoreDamagedError(f"{path} belongs to another program. Choose another path; it was not touched.")
    names = _list_names(steps)
    if old_book or (done and done[0] != names[0]):
        raise StoreError(
            f"{path} was made by a Palimpsest from before the first release. It was not touched. Move it away and read "
            "your files again: pal add."
        )
    if done[: len(steps)] != names[: len(done)] or len(done) > len(steps):
        raise StoreNewerError(
            f"{path} was written by a newer Palimpsest (format {len(done)}; this one knows {len(steps)}). "
            "It was not touched. Update Palimpsest, or open the copy that ends in .bak beside it."
        )
    return len(done)


def upgrade(conn: Connection, path: Path, version: int, steps: Sequence[Step]) -> Path | None:
    """Upgrades the file from `version` to the newest step; returns the verified copy made before, if any step was
    needed. Each step is one transaction: after a crash the next opening continues."""
    if version == len(steps):
        return None
    copy = None
    if version > 0:
        copy = _find_free_name(path, len(steps))
        verified_copy(conn, path, copy)
    _apply(conn, steps)
    return copy


def _find_free_name(path: Path, version: int) -> Path:
    """`<name>.before-v<N>.bak`, with a number if the name is taken."""
    name, again = path.with_name(f"{path.name}.before-v{version}.bak"), 1
    while name.exists():
        again += 1
        name = path.with_name(f"{path.name}.before-v{version}.{again}.bak")
    return name


def _list_names(steps: Sequence[Step]) -> list[str]:
    return [f"{number:04d}_{step.__name__}" for number, step in enumerate(steps, 1)]


def _apply(conn: Connection, steps: Sequence[Step]) -> None:
    from sqlite_utils import Database, Migrations  # 60 ms, only for outdated files

    migrations = Migrations(MIGRATIONS)
    for name, step in zip(_list_names(steps), steps, strict=True):
        migrations(name=name)(_adapt_step(step))
    migrations.apply(Database(conn, execute_plugins=False))


def _adapt_step(step: Step) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        step(db.conn)
        seals.discard(db.conn)

    return run
