"""Is the memory whole? SQLite's own checks, and what must belong together by our rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from memory.errors import StoreDamagedError
from memory.nouns import Check
from memory.store import vectors
from memory.store.connect import Connection, driver
from memory.store.store import Store
from memory.store.visibility import is_live

RESTORE = (
    "Stop the daemon and put the newest backup in the memory's place (`pal config path --json` tells both places);"
    " without a backup, move the memory away and read your files again: pal add."
)
ANEW = "Make it anew: pal rebuild --text."


def check(store: Store, quick: bool = False) -> Check:
    """Looks at everything; writers wait meanwhile. Each problem is a sentence. `quick` leaves out what compares every
    text and vector with what is made of it."""
    problems: list[str] = []
    with store.quiet() as conn:
        looks: dict[str, Callable[[Connection], Iterator[str]]] = {"file": _file}
        looks |= {} if quick else {"full text": _full_text, "vectors": _vectors}
        looks |= {name: partial(_broken_rules, name) for name, _, _ in RULES}
        for name, look in looks.items():
            try:
                problems += look(conn)
            except (driver().DatabaseError, StoreDamagedError) as error:
                problems.append(f"The check of the {name} broke off: {error}")
    return Check(tuple(problems), tuple(looks))


def _file(conn: Connection) -> Iterator[str]:
    for (verdict,) in conn.execute("PRAGMA integrity_check(20)"):
        if verdict != "ok":
            yield f"The file is damaged: {verdict}. {RESTORE}"
    for table, row, parent, _ in conn.execute("PRAGMA foreign_key_check"):
        yield f"Row {row} of {table} belongs to a row of {parent} that is not there."


def _full_text(conn: Connection) -> Iterator[str]:
    for kind, rank in (("episode", 1), ("thesis", 0)):  # 1 compares with the texts as well
        try:
            conn.execute(f"INSERT INTO {kind}_text({kind}_text, rank) VALUES ('integrity-check', ?)", (rank,))
        except driver().DatabaseError as error:
            yield f"The full text of {kind} texts is damaged ({error}). {ANEW}"
    yield from _few(
        conn,
        "SELECT id FROM episode_content WHERE id NOT IN (SELECT id FROM episode_text_docsize)",
        f"Episode {{0}} is missing from the full text. {ANEW}",
    )
    for kind in ("episode", "thesis"):
        yield from _few(
            conn,
            f"SELECT id FROM {kind}_text_docsize WHERE id NOT IN (SELECT id FROM {kind}_content)",
            f"The full text holds {kind} {{0}}, which is not live. {ANEW}",
        )


def _vectors(conn: Connection) -> Iterator[str]:
    active = vectors.active(conn)
    if active is not None:
        yield from _few(
            conn,
            f"SELECT n.id FROM node n WHERE n.kind = 'E' AND {is_live('n')} AND NOT EXISTS (SELECT 1 FROM vec v"
            f" WHERE v.embedder_id = {active.id} AND v.item_kind = 'episode' AND v.item_id = n.id)",
            "Episode {0} has no vector.",
        )
    for id, dimension in conn.execute("SELECT id, dimension FROM embedder").fetchall():
        yield from _few(
            conn,
            f"SELECT item_kind, item_id FROM vec WHERE embedder_id = {id} AND length(data) <> {4 * dimension}",
            "The vector of {0} {1} has the wrong length.",
        )
        index = f"SELECT id FROM {vectors.index_of(id)}"
        truth = f"SELECT item_id FROM vec WHERE embedder_id = {id} AND item_kind = 'episode' AND data IS NOT NULL"
        for has, lacks in ((index, truth), (truth, index)):
            yield from _few(conn, f"{has} EXCEPT {lacks}", "The vector index and the vectors differ at episode {0}.")
    yield from _few(
        conn,
        "SELECT item_kind, item_id FROM vec v WHERE item_kind <> 'edge'"
        f" AND NOT EXISTS (SELECT 1 FROM node n WHERE n.id = v.item_id AND {is_live('n')})",
        "There is a vector of {0} {1}, which is not live.",
    )


# What is checked, a sentence for each row that is found, and the query that finds what must not be.
RULES: tuple[tuple[str, str, str], ...] = (
    *(
        (
            "graph",
            "Edge {0} ({1}) ends at a node that is not live.",
            f"SELECT e.id, e.kind FROM edge e LEFT JOIN node n ON n.id = e.{end}"
            f" WHERE n.id IS NULL OR ({is_live('e')} AND n.t_expired IS NOT NULL)",
        )
        for end in ("src", "dst")
    ),
    *(
        (
            "graph",
            f"Node {{0}} has no {table} row.",
            f"SELECT id FROM node WHERE kind = '{kind}' AND id NOT IN (SELECT node_id FROM {table})",
        )
        for kind, table in (("E", "episode"), ("T", "thesis"), ("O", "object"))
    ),
    (
        "graph",
        "Thesis {0} is live, but its episode is not.",
        "SELECT n.id FROM node n JOIN thesis t ON t.node_id = n.id JOIN node e ON e.id = t.episode_id"
        f" WHERE {is_live('n')} AND e.t_expired IS NOT NULL",
    ),
    (
        "graph",
        "Edge {0} is no longer live but still remembers questions.",
        "SELECT e.edge_id FROM edge_memory e JOIN edge g ON g.id = e.edge_id WHERE g.t_expired IS NOT NULL",
    ),
    (
        "sources",
        "{0} has two episodes in place {1}.",
        "SELECT s.uri, e.seq FROM episode e JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id"
        f" WHERE {is_live('n')} GROUP BY e.source_id, e.seq HAVING count(*) > 1",
    ),
    (
        "sources",
        "Episode {0} is live, but its source {1} has gone.",
        "SELECT e.node_id, s.uri FROM episode e JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id"
        f" WHERE {is_live('n')} AND s.t_deleted IS NOT NULL",
    ),
    (
        "facts",
        "Fact {0} ends before it begins.",
        "SELECT id FROM edge WHERE kind = 'rel' AND valid_to < valid_from",
    ),
    (
        "facts",
        "Fact {0} stands in no passage.",
        "SELECT id FROM edge e WHERE kind = 'rel' AND NOT EXISTS (SELECT 1 FROM provenance v"
        " WHERE v.item_kind = 'edge' AND v.item_id = e.id)",
    ),
    (
        "facts",
        "Fact {0} has predicate {1}, which is not there.",
        "SELECT id, pred_id FROM edge WHERE kind = 'rel' AND pred_id NOT IN (SELECT id FROM predicate)",
    ),
    (
        "facts",
        "Fact {0} is replaced by fact {1}, which is not there.",
        "SELECT id, superseded_by FROM edge WHERE superseded_by IS NOT NULL"
        " AND superseded_by NOT IN (SELECT id FROM edge WHERE kind = 'rel')",
    ),
    *(
        (
            "revisions",
            "Revision {0} is about fact {1}, which is not there.",
            f"SELECT id, {side}_id FROM revision WHERE {side}_kind = 'relation'"
            f" AND {side}_id NOT IN (SELECT id FROM edge WHERE kind = 'rel')"
            f" OR {side}_kind = 'thesis' AND {side}_id NOT IN (SELECT node_id FROM thesis)",
        )
        for side in ("old", "new")
    ),
    (
        "revisions",
        "Change {0} belongs to revision {1}, which is not there.",
        "SELECT id, revision_id FROM journal WHERE revision_id IS NOT NULL"
        " AND revision_id NOT IN (SELECT id FROM revision)",
    ),
    (
        "revisions",
        "Revision {0} is undone, but what it changed is not.",
        "SELECT DISTINCT r.id FROM revision r JOIN journal j ON j.revision_id = r.id WHERE r.state = 'undone'",
    ),
    (  # what one revision wrote another may have overwritten: the last one counts
        "revisions",
        "Fact {0} is replaced by fact {1}, but no revision says so.",
        "SELECT e.id, e.superseded_by FROM edge e WHERE e.superseded_by IS NOT NULL AND NOT EXISTS (SELECT 1"
        " FROM journal j WHERE j.item_kind = 'edge' AND j.item_id = e.id AND j.field = 'superseded_by')",
    ),
)


def _broken_rules(name: str, conn: Connection) -> Iterator[str]:
    for checked, sentence, query in RULES:
        if checked == name:
            yield from _few(conn, query, sentence)


def _few(conn: Connection, query: str, sentence: str, most: int = 5) -> Iterator[str]:
    """A sentence for each row, up to `most`, then how many more there are."""
    rows = conn.execute(query).fetchall()
    for row in rows[:most]:
        yield sentence.format(*row)
    if len(rows) > most:
        yield f"And {len(rows) - most} more like it."
