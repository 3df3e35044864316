"""Episodes, their theses, and the secrets removed from them. Title and text of an episode never change: a different
text is a different episode."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple, SupportsInt

from memory.nouns import Episode, MaskedSecret, Scope, TurnStart
from memory.store import facts, sources, text, vectors
from memory.store.connect import (
    LISTED,
    LIVE,
    SOURCE_COLUMNS,
    Connection,
    get_meta,
    group_rows,
    id_list,
    is_live,
    read_column,
    read_value,
    source_from_row,
    to_json,
)
from memory.store.graph import Thesis
from memory.time.timestamps import from_wall, to_wall, wall_of
from memory.views import SecretPlace

RECENT_TRACES = 400  # traces whose episodes are read first


class EpisodeRow(NamedTuple):
    """The input of `insert_many`: times in ms UTC, 1-based lines, `sha256` (hex) of the identifying content. `since`:
    when an edit of the source added it, None for the first version."""

    id: int
    source_id: int
    seq: int
    title: str
    text: str
    sha256: str
    words: int
    speaker: str | None = None
    event_from: int | None = None
    event_to: int | None = None
    line_from: int | None = None
    line_to: int | None = None
    refs: tuple[str, ...] = ()
    line_map: tuple[int, ...] = ()  # the line of each text line, if they are not consecutive from `line_from`
    turns: tuple[TurnStart, ...] = ()
    since: int | None = None


class EpisodeRef(NamedTuple):
    """The place of a live episode in its source, and its times in ms UTC: of its topic, and of the edit that added it
    (or None)."""

    id: int
    seq: int
    sha256: str
    source_id: int
    event_from: int | None
    since: int | None


class EpisodeText(NamedTuple):
    """The text of a live episode; `sentences` are the spans of its theses."""

    id: int
    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]


def list_by_source(conn: Connection, source_id: int, former: bool = False) -> list[EpisodeRef]:
    """Returns the live episodes of a source in order; `former`: also restored ones of earlier versions."""
    return _list_refs(conn, "e.source_id = ? AND (? OR e.until IS NULL) ORDER BY e.seq, e.node_id", source_id, former)


def list_ids(conn: Connection, after: int, limit: int) -> list[int]:
    """Returns the next ids of episodes after one, retired ones included, sorted."""
    return read_column(conn, "SELECT node_id FROM episode WHERE node_id > ? ORDER BY node_id LIMIT ?", after, limit)


def list_refs(conn: Connection, ids: Sequence[SupportsInt]) -> list[EpisodeRef]:
    """Returns the live ones of these episodes, by id."""
    return _list_refs(conn, f"e.node_id IN {LISTED} ORDER BY e.node_id", id_list(ids))


def _list_refs(conn: Connection, where: str, *values: int | str) -> list[EpisodeRef]:
    query = "SELECT e.node_id, e.seq, e.sha256, e.source_id, e.event_from, e.since FROM episode e"
    rows = conn.execute(f"{query} JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE {where}", values)
    return [EpisodeRef(*row) for row in rows]


def insert_many(conn: Connection, rows: Sequence[EpisodeRow], now: int) -> None:
    """Inserts episodes with their nodes. `text.add` and `vectors.put_many` follow."""
    conn.executemany(
        "INSERT INTO node(id, kind, label, t_created) VALUES (?, 'E', ?, ?)", [(row.id, row.title, now) for row in rows]
    )
    conn.executemany(
        "INSERT INTO episode(node_id, source_id, seq, text, sha256, words, speaker, event_from, event_to, line_from,"
        " line_to, line_map, refs, turns, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(row.id, row.source_id, row.seq, *row[4:12], *_pack_lists(row), row.since) for row in rows],
    )


def restate_many(conn: Connection, rows: Sequence[EpisodeRow]) -> None:
    """Updates places and times of kept episodes; only changed rows are written."""
    conn.executemany(
        "UPDATE episode SET seq = ?2, event_from = ?3, event_to = ?4, line_from = ?5, line_to = ?6, line_map = ?7,"
        " refs = ?8, turns = ?9 WHERE node_id = ?1 AND (seq, event_from, event_to, line_from, line_to, line_map, refs,"
        " turns) IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        [(row.id, row.seq, *row[8:12], *_pack_lists(row)) for row in rows],
    )


def _pack_lists(row: EpisodeRow) -> tuple[str | None, str | None, str | None]:
    """Returns the columns line_map, refs and turns."""
    turns = tuple((turn.start, turn.number, to_wall(turn.at), len(turn.speaker)) for turn in row.turns)
    return _pack_list(row.line_map), _pack_list(row.refs), _pack_list(turns)


def _pack_list(values: tuple[object, ...]) -> str | None:
    return to_json(values) if values else None


def get_many(conn: Connection, ids: Sequence[SupportsInt]) -> list[Episode]:
    """Returns the episodes in the given order, expired ones included; unknown ids are skipped."""
    rows = conn.execute(
        "SELECT e.node_id, e.source_id, e.seq, n.label, e.text, e.event_from, e.event_to, e.speaker, e.line_from,"
        " e.line_to, e.line_map, e.refs, e.turns FROM episode e JOIN node n ON n.id = e.node_id"
        f" WHERE e.node_id IN {LISTED}",
        (id_list(ids),),
    ).fetchall()
    source_ids = id_list({row[1] for row in rows})
    sources = {
        row[0]: source_from_row(row)
        for row in conn.execute(f"SELECT {SOURCE_COLUMNS} FROM source WHERE id IN {LISTED}", (source_ids,))
    }
    by_id = {
        id: Episode(
            id, sources[source], seq, label or "", body, from_wall(event_from), from_wall(event_to), speaker, line_from,
            line_to, tuple(json.loads(refs or "[]")), tuple(json.loads(line_map or "[]")),
            tuple(
                TurnStart(start, number, body[start : start + length], from_wall(at))
                for start, number, at, length in json.loads(turns or "[]")
            ),
        )
        for id, source, seq, label, body, event_from, event_to, speaker, line_from, line_to, line_map, refs, turns
        in rows
    }  # fmt: skip
    return [by_id[int(id)] for id in ids if int(id) in by_id]


def alive(conn: Connection, ids: Sequence[SupportsInt]) -> set[int]:
    """Returns the live ones of these episodes."""
    return set(read_column(conn, f"SELECT id FROM node WHERE kind = 'E' AND {LIVE} AND id IN {LISTED}", id_list(ids)))


def read_at(conn: Connection, id: int) -> int:
    """Returns when an episode was read (ms UTC)."""
    return int(read_value(conn, "SELECT t_created FROM node WHERE id = ?", id))


def find_retired(conn: Connection, words: Sequence[str], limit: int) -> list[tuple[int, int]]:
    """Returns (id, ms UTC of retirement) of retired episodes that contain all words, regardless of case, last retired
    first. They are not indexed, so all texts are scanned."""
    rows = conn.execute(
        "SELECT n.id, n.t_expired FROM node n JOIN episode e ON e.node_id = n.id"
        " WHERE n.kind = 'E' AND n.t_expired IS NOT NULL AND NOT EXISTS (SELECT 1 FROM json_each(?)"
        " WHERE NOT instr(lower(ifnull(n.label, '') || ' ' || e.text), value)) ORDER BY n.t_expired DESC, n.id LIMIT ?",
        (to_json(list(words)), limit),
    )
    return rows.fetchall()


def was_stated_before(conn: Connection, id: int, words: str) -> bool:
    """Whether the preceding version of the episode's source contained these words."""
    query = (
        "SELECT 1 FROM episode e JOIN episode o ON o.source_id = e.source_id AND o.until = e.since"
        " WHERE e.node_id = ? AND instr(o.text, ?) LIMIT 1"
    )
    return read_value(conn, query, id, words) is not None


def end_many(conn: Connection, ids: Sequence[SupportsInt], until: int) -> None:
    """Records when the source of these episodes dropped them (ms UTC)."""
    conn.execute(f"UPDATE episode SET until = ? WHERE node_id IN {LISTED}", (until, id_list(ids)))


def read_texts(conn: Connection, ids: Sequence[SupportsInt]) -> list[EpisodeText]:
    """Returns the live ones of these episodes, by id."""
    listed = (id_list(ids),)
    query = f"SELECT episode_id, span_from, span_to FROM thesis WHERE episode_id IN {LISTED} AND origin = 'sentence'"
    spans = group_rows((id, (start, end)) for id, start, end in conn.execute(f"{query} ORDER BY node_id", listed))
    rows = conn.execute(
        "SELECT n.id, ifnull(n.label, ''), e.text FROM node n JOIN episode e ON e.node_id = n.id"
        f" WHERE n.id IN {LISTED} AND {is_live('n')} ORDER BY n.id",
        listed,
    )
    return [EpisodeText(id, title, text, tuple(spans.get(id, ()))) for id, title, text in rows]


def neighbours(conn: Connection, ids: Sequence[SupportsInt]) -> dict[int, tuple[int | None, int | None]]:
    """Returns {episode: (live episode before it, live episode after it)} in its source."""
    adjacent = (
        "(SELECT o.node_id FROM episode o JOIN node n ON n.id = o.node_id WHERE o.source_id = e.source_id"
        f" AND o.seq {{0}} e.seq AND {is_live('n')} ORDER BY o.seq {{1}} LIMIT 1)"
    )
    rows = conn.execute(
        f"SELECT e.node_id, {adjacent.format('<', 'DESC')}, {adjacent.format('>', 'ASC')} FROM episode e"
        f" WHERE e.node_id IN {LISTED}",
        (id_list(ids),),
    )
    return {id: (before, after) for id, before, after in rows}


def theses_of(conn: Connection, episode_ids: Sequence[SupportsInt]) -> list[Thesis]:
    """Returns the live theses of these episodes, by episode and place."""
    rows = conn.execute(
        "SELECT t.node_id, t.episode_id, t.span_from, t.span_to, c.body, t.origin, t.modality, t.conf, t.valid_from,"
        " t.valid_to FROM thesis t JOIN thesis_content c ON c.id = t.node_id"
        f" WHERE t.episode_id IN {LISTED} ORDER BY t.episode_id, t.span_from, t.node_id",
        (id_list(episode_ids),),
    )
    return [Thesis(*row) for row in rows]


def find_in_scope(conn: Connection, scope: Scope) -> list[int]:
    """Returns ids of the live episodes inside a scope. Folders are uri prefixes; a time range applies to the event,
    else to the source's date; an episode without a date is in no range."""
    conditions, values = [is_live("n")], []
    places = ["s.uri = ?"] * len(scope.sources) + ["substr(s.uri, 1, ?) = ?"] * len(scope.folders)
    if places:
        conditions.append(f"({' OR '.join(places)})")
        values += [*scope.sources, *(value for folder in scope.folders for value in (len(folder), folder))]
    if scope.tags:
        conditions.append(f"s.id IN (SELECT source_id FROM source_tag WHERE tag IN {LISTED})")
        values.append(to_json(scope.tags))
    if scope.conversation is not None:
        conditions.append(f"s.id IN {LISTED}")
        values.append(id_list(sources.chat_sources(conn, scope.conversation)))
    if scope.since is not None:
        conditions.append("coalesce(e.event_to, e.event_from, s.at) >= ?")
        values.append(to_wall(scope.since))
    if scope.until is not None:
        conditions.append("coalesce(e.event_from, s.at) < ?")
        values.append(to_wall(scope.until))
    query = "SELECT e.node_id FROM source s JOIN episode e ON e.source_id = s.id JOIN node n ON n.id = e.node_id"
    return read_column(conn, f"{query} WHERE {' AND '.join(conditions)} ORDER BY e.node_id", *values)


def retire_many(conn: Connection, ids: Sequence[SupportsInt], now: int) -> tuple[int, ...]:
    """Retires episodes with their theses, edges, full text, vectors, and objects without other mentions; returns the
    ids of all retired nodes. The rows stay for questions about earlier times. After an edit insert the new episodes
    first, so that shared objects keep their identity. Ids that are not live are ignored."""
    live = sorted(alive(conn, ids))
    if not live:
        return ()
    query = f"SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id WHERE t.episode_id IN {LISTED}"
    theses = read_column(conn, f"{query} AND {is_live('n')}", id_list(live))
    text.remove(conn, live)  # before the nodes expire: full text reads the words to remove from views
    nodes = id_list([*live, *theses])
    query = f"SELECT DISTINCT dst FROM edge WHERE src IN {LISTED} AND kind IN ('mention', 'member') AND {LIVE}"
    spoken_of = read_column(conn, query, nodes)
    for end in ("src", "dst"):
        query = f"UPDATE edge SET t_expired = ? WHERE {end} IN {LISTED} AND {LIVE} RETURNING id"
        edges = read_column(conn, query, now, nodes)
        conn.execute(f"DELETE FROM edge_memory WHERE edge_id IN {LISTED}", (id_list(edges),))
    lonely = read_column(conn, _LONELY, id_list(spoken_of))
    query = f"UPDATE node SET t_expired = ? WHERE id IN {LISTED}"
    conn.execute(query, (now, id_list([*live, *theses, *lonely])))
    vectors.delete_many(conn, live)
    facts.delete_vectors(conn, theses)
    return (*live, *theses, *lonely)


def retire_source(conn: Connection, source_id: int, now: int) -> tuple[int, ...]:
    """Retires a deleted source and its episodes, which stay until forgotten; returns ids as above. Its secrets are
    deleted."""
    conn.execute("UPDATE source SET t_deleted = ? WHERE id = ? AND t_deleted IS NULL", (now, source_id))
    end_many(conn, [row.id for row in list_by_source(conn, source_id)], wall_of(now))
    live = [row.id for row in list_by_source(conn, source_id, former=True)]
    keep_secrets(conn, source_id, ())
    return retire_many(conn, live, now)


_LONELY = f"""
SELECT id FROM node WHERE id IN {LISTED} AND kind = 'O' AND {LIVE}
 AND NOT EXISTS (SELECT 1 FROM edge WHERE dst = node.id AND {LIVE})
 AND NOT EXISTS (SELECT 1 FROM edge WHERE src = node.id AND {LIVE})
"""


def mark_read(conn: Connection, ids: Iterable[int], model: str, now: int) -> None:
    """Records that a model read these episodes, if they still exist."""
    conn.executemany(
        "INSERT OR REPLACE INTO extraction(episode_id, model, t) SELECT node_id, ?, ? FROM episode WHERE node_id = ?",
        [(model, now, id) for id in ids],
    )


def list_unread(conn: Connection, limit: int) -> list[int]:
    """Returns ids of live episodes that no model has read and no job covers: those found by the newest questions first;
    then those stored on the latest day, as changed files are; of one day the newest source's, in their order."""
    query = (
        f"SELECT v.node_id FROM trace_visit v JOIN node n ON n.id = v.node_id AND n.kind = 'E' AND {is_live('n')}"
        " WHERE v.trace_id > (SELECT ifnull(max(id), 0) - ? FROM trace) AND v.status IN ('seed', 'selected')"
        f" AND {_UNREAD.format('v.node_id')} GROUP BY v.node_id ORDER BY max(v.trace_id) DESC, v.node_id LIMIT ?"
    )
    recent = read_column(conn, query, RECENT_TRACES, limit)
    if len(recent) < limit:
        query = f"SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE"
        newest = f"{query} {_UNREAD.format('e.node_id')} ORDER BY n.t_created / 86400000 DESC,"
        newest += " max(e.event_from) OVER (PARTITION BY e.source_id) DESC, e.source_id DESC, e.seq LIMIT ?"
        recent += read_column(conn, newest, limit + len(recent))
    return list(dict.fromkeys(recent))[:limit]


def count_read(conn: Connection) -> tuple[int, int]:
    """Returns (live episodes that a model has read, all live episodes)."""
    read, live = conn.execute(
        "SELECT count(x.episode_id), count(*) FROM node n LEFT JOIN extraction x ON x.episode_id = n.id"
        f" WHERE n.kind = 'E' AND {is_live('n')}"
    ).fetchone()
    return int(read), int(live)


# NOT IN, so that the jobs are scanned once and not per episode
_UNREAD = """NOT EXISTS (SELECT 1 FROM extraction x WHERE x.episode_id = {0})
 AND {0} NOT IN (SELECT held.value FROM job j, json_each(j.payload, '$.episodes') held
  WHERE j.kind = 'extract' AND j.state <> 'done')"""


MASK_KEY = "mask_key"  # in the table meta


def get_mask_key(conn: Connection) -> bytes:
    """Returns the key of this memory's placeholders."""
    return bytes.fromhex(get_meta(conn, MASK_KEY))


# Secrets removed from texts, by their placeholders: no index, vector or fact contains them. A secret is deleted with
# its source, with an edit that removes it, and with the last passage that contained it ----------------------------


def keep_secrets(conn: Connection, source_id: int, secrets: Sequence[MaskedSecret]) -> None:
    """Replaces the secrets of a source; only changed rows are written."""
    rows = {secret.placeholder: (secret.kind, secret.value, secret.line) for secret in secrets}
    query = "SELECT placeholder, kind, value, line FROM secret WHERE source_id = ?"
    stored = {placeholder: tuple(row) for placeholder, *row in conn.execute(query, (source_id,))}
    gone = to_json(sorted(stored.keys() - rows.keys()))
    if stored.keys() - rows.keys():
        conn.execute(f"DELETE FROM secret WHERE source_id = ? AND placeholder IN {LISTED}", (source_id, gone))
    conn.executemany(
        "INSERT OR REPLACE INTO secret(source_id, placeholder, kind, value, line) VALUES (?, ?, ?, ?, ?)",
        [(source_id, placeholder, *row) for placeholder, row in rows.items() if stored.get(placeholder) != row],
    )


def remove_unseen_secrets(conn: Connection, source_ids: Iterable[int]) -> None:
    """Deletes secrets of these sources whose placeholder is in no live passage."""
    conn.execute(
        f"DELETE FROM secret WHERE source_id IN {LISTED} AND NOT EXISTS (SELECT 1 FROM episode e"
        f" JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        "  WHERE e.source_id = secret.source_id AND (instr(e.text, placeholder) OR instr(n.label, placeholder)))",
        (id_list(source_ids),),
    )


def find_secrets(conn: Connection, placeholders: Iterable[str]) -> dict[str, str]:
    """Returns {placeholder: secret} of the known ones."""
    query = f"SELECT placeholder, value FROM secret WHERE placeholder IN {LISTED}"
    return dict(conn.execute(query, (to_json(sorted(set(placeholders))),)).fetchall())


def list_masked(conn: Connection) -> list[SecretPlace]:
    """Returns the places of all secrets, by uri and line."""
    query = "SELECT uri, line, s.kind FROM secret s JOIN source ON source.id = source_id ORDER BY uri, line, s.kind"
    return [SecretPlace(uri, line, kind, is_masked=True) for uri, line, kind in conn.execute(query)]
