"""Checks the integrity of a memory: SQLite's checks, and our own rules between tables."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from memory.errors import StoreDamagedError
from memory.store import facts, seals
from memory.store.connect import LIVE, Connection, driver, get_meta, is_live, read_value
from memory.store.store import Store
from memory.views import Check, Stats

RESTORE = (
    "Put the newest backup in its place: pal restore; without a backup, move the memory away (pal config path --json"
    " tells where it is) and read your files again: pal add."
)
REPAIR = "Take them from a backup: pal rebuild --rows."
REBUILD_TEXT = "Rebuild it: pal rebuild --text."
REBUILD_VECTORS = "Rebuild them: pal rebuild --vectors."
DERIVED = {  # table of data that can be recomputed -> how
    "vec": REBUILD_VECTORS, "sentence_vec": REBUILD_VECTORS, "reading": REBUILD_TEXT,
    "edge_memory": "Rebuild it: pal rebuild --memory.",
}  # fmt: skip
SLOW = ("full text", "vectors")  # compare all texts and vectors with their derived data
MOST = 5  # rows reported per rule


def check(store: Store, quick: bool = False) -> Check:
    """Runs all checks, or with `quick` all except SLOW; writers wait meanwhile. Problems are sentences."""
    problems: list[str] = []
    names = [name for name in {**LOOKS, **RULES} if not (quick and name in SLOW)]
    looks = {name: look for name, look in LOOKS.items() if not (store.is_read_only and look is _check_full_text)}
    with store.quiet() as conn:
        for name in names:
            try:
                if name in looks:
                    problems += looks[name](conn)
                for sentence, queries in RULES.get(name, {}).items():
                    for query in queries:
                        problems += _list_first(conn, sentence, query)
            except (driver().DatabaseError, StoreDamagedError) as error:
                problems.append(f"The check of the {name} broke off: {error}")
    return Check(tuple(problems), tuple(names))


def _check_file(conn: Connection) -> Iterator[str]:
    for (verdict,) in conn.execute("PRAGMA integrity_check(20)"):
        if verdict != "ok":
            problem = " ".join(verdict.replace("*** in database main ***", "").split())
            yield f"The file is damaged: {problem}. {RESTORE}"
    for table, row, parent, _ in conn.execute("PRAGMA foreign_key_check"):
        yield f"Row {row} of {table} belongs to a row of {parent} that is not there."


def _check_full_text(conn: Connection) -> Iterator[str]:
    """Checks the index. It is an INSERT, so it is skipped for a read-only file."""
    try:  # 1: also compares the texts
        conn.execute("INSERT INTO episode_text(episode_text, rank) VALUES ('integrity-check', 1)")
    except driver().DatabaseError as error:
        yield f"The full text of episode texts is damaged ({error}). {REBUILD_TEXT}"


def _check_fact_vectors(conn: Connection) -> Iterator[str]:
    if not facts.has_vectors(conn):
        return
    gone = "SELECT id FROM vec_fact EXCEPT SELECT id FROM edge EXCEPT SELECT node_id FROM thesis"
    yield from _list_first(conn, f"There are vectors of fact {{0}}, which there is not. {REBUILD_VECTORS}", gone)
    lacking = {"no vector": facts.list_without_vectors(conn, -1), "a damaged vector": facts.list_damaged_vectors(conn)}
    for what, ids in lacking.items():
        if ids:
            yield f"{len(ids):,} facts have {what}: {', '.join(map(str, ids[: seals.MOST]))}. {REBUILD_VECTORS}"


def _check_seals(conn: Connection) -> Iterator[str]:
    for damage in seals.find_damage(conn):
        table = damage[0]
        yield from (f"{sentence} {DERIVED.get(table, REPAIR)}" for sentence in seals.describe(damage))


LOOKS: Mapping[str, Callable[[Connection], Iterator[str]]] = {
    "file": _check_file, "full text": _check_full_text, "vectors": _check_fact_vectors, "checksums": _check_seals,
}  # fmt: skip

_IN_SOURCE = f"FROM episode e JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id WHERE {is_live('n')}"
# Name of a check -> (sentence for each row found, queries that must find none).
RULES: Mapping[str, Mapping[str, list[str]]] = {
    "full text": {
        f"Episode {{0}} is missing from the full text. {REBUILD_TEXT}": [
            "SELECT id FROM episode_content WHERE id NOT IN (SELECT id FROM episode_text_docsize)"
        ],
        f"The full text holds episode {{0}}, which is not live. {REBUILD_TEXT}": [
            "SELECT id FROM episode_text_docsize WHERE id NOT IN (SELECT id FROM episode_content)"
        ],
    },
    "vectors": {
        f"Episode {{0}} has no vector. {REBUILD_VECTORS}": [
            f"SELECT n.id FROM embedder a JOIN node n ON n.kind = 'E' AND {is_live('n')} WHERE a.active"
            " AND NOT EXISTS (SELECT 1 FROM vec v WHERE v.embedder_id = a.id AND v.item_kind = 'episode'"
            " AND v.item_id = n.id)"
        ],
        f"The vector of episode {{0}} has the wrong length. {REBUILD_VECTORS}": [
            "SELECT v.item_id FROM vec v JOIN embedder e ON e.id = v.embedder_id"
            " WHERE length(v.data) <> 4 * e.dimension"
        ],
        f"The vectors of the sentences of episode {{0}} are not as many as these. {REBUILD_VECTORS}": [
            "SELECT v.item_id FROM sentence_vec s JOIN vec v ON v.id = s.vec_id JOIN embedder e ON e.id = v.embedder_id"
            " WHERE length(s.data) <> e.dimension * (SELECT count(*) FROM thesis t WHERE t.episode_id = v.item_id"
            " AND t.origin = 'sentence')"
        ],
        f"There is a vector of episode {{0}}, which is not live. {REBUILD_VECTORS}": [
            "SELECT item_id FROM vec v WHERE NOT EXISTS"
            f" (SELECT 1 FROM node n WHERE n.id = v.item_id AND {is_live('n')})"
        ],
    },
    "graph": {
        "Edge {0} ({1}) ends at a node that is not live.": [
            f"SELECT e.id, e.kind FROM edge e LEFT JOIN node n ON n.id = e.{end}"
            f" WHERE n.id IS NULL OR ({is_live('e')} AND n.t_expired IS NOT NULL)"
            for end in ("src", "dst")
        ],
        **{
            f"Node {{0}} has no {table} row.": [
                f"SELECT id FROM node WHERE kind = '{kind}' AND id NOT IN (SELECT node_id FROM {table})"
            ]
            for kind, table in (("E", "episode"), ("T", "thesis"), ("O", "object"))
        },
        "Thesis {0} is live, but its episode is not.": [
            "SELECT n.id FROM node n JOIN thesis t ON t.node_id = n.id JOIN node e ON e.id = t.episode_id"
            f" WHERE {is_live('n')} AND e.t_expired IS NOT NULL"
        ],
        "Edge {0} is no longer live but still remembers questions.": [
            "SELECT e.edge_id FROM edge_memory e JOIN edge g ON g.id = e.edge_id WHERE g.t_expired IS NOT NULL"
        ],
    },
    "sources": {
        "{0} has two episodes in place {1}.": [
            f"SELECT s.uri, e.seq {_IN_SOURCE} AND e.until IS NULL GROUP BY e.source_id, e.seq HAVING count(*) > 1"
        ],
        "Episode {0} is live, but its source {1} has gone.": [
            f"SELECT e.node_id, s.uri {_IN_SOURCE} AND s.t_deleted IS NOT NULL"
        ],
    },
    "facts": {
        "Fact {0} ends before it begins.": ["SELECT id FROM edge WHERE kind = 'rel' AND valid_to < valid_from"],
        "Fact {0} has no passage.": [
            "SELECT id FROM edge e WHERE kind = 'rel' AND NOT EXISTS (SELECT 1 FROM provenance v"
            " WHERE v.item_kind = 'edge' AND v.item_id = e.id)"
        ],
        "Fact {0} has predicate {1}, which is not there.": [
            "SELECT id, pred_id FROM edge WHERE kind = 'rel' AND pred_id NOT IN (SELECT id FROM predicate)"
        ],
        "Fact {0} is replaced by fact {1}, which is not there.": [
            "SELECT id, superseded_by FROM edge WHERE superseded_by IS NOT NULL"
            " AND superseded_by NOT IN (SELECT id FROM edge WHERE kind = 'rel')"
        ],
    },
    "revisions": {
        "Revision {0} is about fact {1}, which is not there.": [
            f"SELECT id, {side}_id FROM revision WHERE {side}_kind = 'relation'"
            f" AND {side}_id NOT IN (SELECT id FROM edge WHERE kind = 'rel')"
            f" OR {side}_kind = 'thesis' AND {side}_id NOT IN (SELECT node_id FROM thesis)"
            for side in ("old", "new")
        ],
        "Change {0} belongs to revision {1}, which is not there.": [
            "SELECT id, revision_id FROM journal WHERE revision_id IS NOT NULL"
            " AND revision_id NOT IN (SELECT id FROM revision)"
        ],
        "Revision {0} is undone, but what it changed is not.": [
            "SELECT DISTINCT r.id FROM revision r JOIN journal j ON j.revision_id = r.id WHERE r.state = 'undone'"
        ],
        # a later revision may overwrite an earlier one: the last one counts
        "Fact {0} is replaced by fact {1} without a revision.": [
            "SELECT e.id, e.superseded_by FROM edge e WHERE e.superseded_by IS NOT NULL AND NOT EXISTS (SELECT 1"
            " FROM journal j WHERE j.item_kind = 'edge' AND j.item_id = e.id AND j.field = 'superseded_by')"
        ],
    },
}


def _list_first(conn: Connection, sentence: str, query: str) -> Iterator[str]:
    """Yields a sentence for each row, up to MOST, then the number of further rows."""
    rows = conn.execute(query).fetchall()
    for row in rows[:MOST]:
        yield sentence.format(*row)
    if len(rows) > MOST:
        yield f"And {len(rows) - MOST} more like it."


# Counts --------------------------------------------------------------------------------------------------------


def count_live(conn: Connection, path: Path, embedder: str) -> Stats:
    """Counts and size of the memory at `path`, including its write-ahead log."""
    episodes, theses, objects = conn.execute(  # GROUP BY would sort all nodes in memory
        f"SELECT total(kind = 'E'), total(kind = 'T'), total(kind = 'O') FROM node WHERE {LIVE}"
    ).fetchone()
    sources = read_value(conn, "SELECT count(*) FROM source WHERE t_deleted IS NULL")
    edges = read_value(conn, f"SELECT count(*) FROM edge WHERE {LIVE}")
    skipped = read_value(conn, "SELECT count(*) FROM skip")
    files = [path, path.with_name(path.name + "-wal")]
    size = sum(file.stat().st_size for file in files if file.exists())
    return Stats(
        str(path), sources, int(episodes), int(theses), int(objects), edges, skipped, size, embedder,
        get_meta(conn, "generation"),
    )  # fmt: skip
