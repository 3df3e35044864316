"""The rows that are shared with other computers, each with a `mark` that changes with it (`memory.sync`).

Passages and facts are named by what is the same on every computer: the beginning of a passage's hash, and where in it
the words of a fact are. Text of a file is shared only if its policy is "any" or its folder is allowed."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from memory.nouns import BY_HAND, DISPUTED, Document, Episode
from memory.store import episodes, graph, synced
from memory.store.connect import (
    FIRST_EDGE,
    LISTED,
    SOURCE_COLUMNS,
    Connection,
    group_rows,
    id_list,
    is_live,
    read_column,
    read_value,
    source_from_row,
    to_json,
)
from memory.text.mentions import norm

HASH_CHARS = 16  # of a passage's hash, in hexadecimal

FactRef = tuple[str, int, int, str, str]
"""A fact on any computer: hash of a passage, the words there (-1: in its properties), hashes of predicate and value."""


class MessageRow(NamedTuple):
    """A message of a chat with the memory; `chat` and `asked` are ms UTC of the chat and of the question. `words`:
    those of a person, which never change; "" of an answer, which changes when something of it is forgotten."""

    id: int
    chat: int
    role: str
    t: int
    words: str
    asked: int | None
    is_withheld: bool
    mark: str


class DecisionRow(NamedTuple):
    """A revision that a person settled or a model proposed. `verdict`: "" if nobody decided."""

    old: int
    new: int
    relation: str
    author: str
    conf: float
    verdict: str


def hash_text(*parts: object) -> str:
    """Returns a short hash."""
    return hashlib.sha256(to_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]


def list_notes(conn: Connection) -> list[tuple[int, str, str]]:
    """Returns (id, uri, mark) of the notes without a file, without corrections and disputed values. The mark is "" if
    it was deleted; it may have been forgotten since."""
    rows = conn.execute(
        "SELECT s.id, s.uri, s.t_deleted IS NULL, s.title, s.kind, s.reader, s.conversation, s.policy, s.at,"
        " s.properties, (SELECT group_concat(tag) FROM source_tag WHERE source_id = s.id), (SELECT group_concat(sha256)"
        f"  FROM (SELECT e.sha256 FROM episode e JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        "   WHERE e.source_id = s.id ORDER BY e.seq)) FROM source s WHERE s.sha256 IS NULL"
        " AND (s.uri >= 'note:' AND s.uri < 'note;' OR s.uri >= 'told:' AND s.uri < 'told;') ORDER BY s.t_deleted, s.id"
    )
    return [
        (id, uri, hash_text(*rest) if live else "")
        for id, uri, live, *rest in rows
        if not uri.startswith((BY_HAND, DISPUTED))
    ]


def list_corrections(conn: Connection) -> list[tuple[str, int, str, int | None]]:
    """Returns (uri, corrected fact, its value now, when it was stated: wall ms) of the corrections by hand; value "" of
    one that was taken back."""
    return conn.execute(
        "SELECT s.uri, CAST(substr(s.uri, ?2) AS INTEGER) AS fact, iif(s.t_deleted IS NULL, ifnull((SELECT n.label"
        " FROM revision r JOIN edge e ON e.id = r.new_id JOIN node n ON n.id = e.dst WHERE r.old_id = "
        "  CAST(substr(s.uri, ?2) AS INTEGER) AND r.author = 'user' ORDER BY r.id DESC LIMIT 1), ''), ''), s.at"
        " FROM source s WHERE substr(s.uri, 1, ?2 - 1) = ?1 ORDER BY s.t_deleted IS NULL, s.id",
        (BY_HAND, len(BY_HAND) + 1),
    ).fetchall()


def list_read(conn: Connection) -> list[tuple[int, str, str, str]]:
    """Returns (passage, hash, model, mark) of the live passages that a model has read and whose text is shared."""
    rows = conn.execute(
        "SELECT x.episode_id, e.sha256, x.model, (SELECT count(*) FROM provenance p WHERE +p.item_kind = 'edge'"
        " AND p.episode_id = x.episode_id AND p.extractor = x.model), (SELECT count(*) FROM thesis t"
        " WHERE t.episode_id = x.episode_id AND t.origin = 'model'), s.uri, s.policy = 'any' OR s.sha256 IS NULL"
        f" FROM extraction x JOIN episode e ON e.node_id = x.episode_id JOIN node n ON n.id = e.node_id"
        f" AND {is_live('n')} JOIN source s ON s.id = e.source_id WHERE x.model NOT IN ('user', 'rule')"
    ).fetchall()
    allowed = _list_allowed(conn)
    return [
        (episode, sha[:HASH_CHARS], model, f"{model} {relations} {theses}")
        for episode, sha, model, relations, theses, uri, is_open in rows
        if is_open or uri.startswith(allowed)
    ]


def _list_allowed(conn: Connection) -> tuple[str, ...]:
    """Returns how the uris of files begin whose text is shared."""
    return tuple(f"{folder.rstrip('/')}/" for folder in synced.list_allowed(conn))


def read_relations(conn: Connection, episode: int, model: str) -> list[list[Any]]:
    """Returns [subject, predicate, value, start, end, modality, valid from, to, confidence] of what a model read in a
    passage; a name is None for the owner."""
    owner = graph.owner(conn)[:1]
    rows = conn.execute(
        "SELECT r.src, a.label, p.label, r.dst, b.label, v.span_from, v.span_to, ifnull(r.modality, 'asserted'),"
        " r.valid_from, r.valid_to, r.conf FROM provenance v JOIN edge r ON r.id = v.item_id"
        " JOIN node a ON a.id = r.src JOIN node b ON b.id = r.dst JOIN predicate p ON p.id = r.pred_id"
        " WHERE +v.item_kind = 'edge' AND v.episode_id = ? AND v.extractor = ? AND r.kind = 'rel' ORDER BY r.id",
        (episode, model),
    )
    return [
        [None if src in owner else subject, predicate, None if dst in owner else value, *rest]
        for src, subject, predicate, dst, value, *rest in rows
    ]


def read_theses(conn: Connection, episode: int) -> list[list[Any]]:
    """Returns [text, start, end, modality, valid from, to, names] of a model's theses of a passage."""
    rows = conn.execute(
        "SELECT t.node_id, t.text, t.span_from, t.span_to, t.modality, t.valid_from, t.valid_to FROM thesis t"
        f" JOIN node n ON n.id = t.node_id AND {is_live('n')} WHERE t.episode_id = ? AND t.origin = 'model'"
        " ORDER BY t.node_id",
        (episode,),
    ).fetchall()
    names = group_rows(
        conn.execute(
            "SELECT m.src, o.label FROM edge m JOIN node o ON o.id = m.dst"
            f" WHERE m.kind = 'member' AND {is_live('m')} AND m.src IN {LISTED} ORDER BY m.src, m.id",
            (id_list(row[0] for row in rows),),
        ).fetchall()
    )
    return [[*rest, names.get(id, [])] for id, *rest in rows]


def list_decisions(conn: Connection) -> list[DecisionRow]:
    """Returns the revisions that a person settled, or that a model made; without corrections by hand."""
    rows = conn.execute(
        "SELECT r.old_id, r.new_id, r.relation, r.author, r.conf, CASE WHEN r.t_settled IS NULL THEN ''"
        " WHEN r.state = 'settled' THEN 'both' WHEN r.state = 'undone' THEN 'undo' WHEN EXISTS (SELECT 1"
        "  FROM journal j WHERE j.revision_id = r.id AND j.item_id = r.new_id AND j.field = 't_expired')"
        " THEN 'old' ELSE 'keep' END FROM revision r WHERE r.author <> 'user'"
        " AND (r.t_settled IS NOT NULL OR r.author = 'model' AND r.state <> 'undone') ORDER BY r.id"
    )
    return [DecisionRow(*row) for row in rows]


def list_verdicts(conn: Connection) -> list[tuple[int, str, int]]:
    """Returns (time in ms UTC, question, a person's verdict on its answer) of the traces with one."""
    return conn.execute("SELECT t, question, feedback FROM trace WHERE feedback IS NOT NULL ORDER BY id").fetchall()


def list_chats(conn: Connection) -> list[tuple[int, int, str]]:
    """Returns (id, ms UTC of creation, title) of the chats with messages."""
    query = "SELECT id, t_created, title FROM conversation c WHERE EXISTS"
    return conn.execute(f"{query} (SELECT 1 FROM message WHERE conversation_id = c.id) ORDER BY id").fetchall()


def list_messages(conn: Connection) -> list[MessageRow]:
    """Returns all messages, in order. Withheld are answers that cite a file whose text is not shared."""
    allowed = _list_allowed(conn)
    hidden = {
        id
        for id, uri in conn.execute("SELECT id, uri FROM source WHERE policy <> 'any' AND sha256 IS NOT NULL")
        if not uri.startswith(allowed)
    }
    cited = group_rows(
        conn.execute(
            "SELECT m.id, e.source_id FROM message m, json_each(m.citations) c JOIN episode e"
            " ON e.node_id = c.value ->> 'episode_id' WHERE m.role = 'memory'"
        ).fetchall()
    )
    rows = conn.execute(
        "SELECT m.id, c.t_created, m.role, m.t, t.t, m.text, m.state, m.citations FROM message m"
        " JOIN conversation c ON c.id = m.conversation_id LEFT JOIN trace t ON t.id = m.trace_id ORDER BY m.id"
    )
    listed = []
    for id, chat, role, t, asked, text, *rest in rows:
        is_withheld = not hidden.isdisjoint(cited.get(id, ()))
        words, mark = text if role == "user" else "", hash_text(is_withheld, text, *rest)
        listed.append(MessageRow(id, chat, role, t, words, asked, is_withheld, mark))
    return listed


# The same on every computer -----------------------------------------------------------------------------------


def passages_by_hash(conn: Connection, hashes: Iterable[str]) -> dict[str, list[int]]:
    """Returns {beginning of a hash: the live passages with it}."""
    rows = conn.execute(
        f"SELECT substr(e.sha256, 1, {HASH_CHARS}) AS sha, e.node_id FROM episode e JOIN node n ON n.id = e.node_id"
        f" AND {is_live('n')} WHERE substr(e.sha256, 1, {HASH_CHARS}) IN {LISTED} ORDER BY e.node_id",
        (to_json(sorted(set(hashes))),),
    )
    return group_rows(rows)


def hashes_of(conn: Connection, passages: Iterable[int], after: int = -1) -> dict[int, str]:
    """Returns {passage: the beginning of its hash}, of these or of all live ones that came `after` an id."""
    query = f"SELECT e.node_id, substr(e.sha256, 1, {HASH_CHARS}) FROM episode e"
    if after < 0:
        return dict(conn.execute(f"{query} WHERE e.node_id IN {LISTED}", (id_list(passages),)).fetchall())
    live = f"JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE e.node_id > ?"
    return dict(conn.execute(f"{query} {live}", (after,)).fetchall())


def fact_refs(conn: Connection, facts: Iterable[int]) -> dict[int, FactRef]:
    """Returns {fact: how it is found on any computer}, by the first of its live evidence in the order of hashes."""
    refs: dict[int, FactRef] = {}
    for id, *ref in _list_refs(conn, facts):
        refs[id] = min(refs.get(id, tuple(ref)), tuple(ref))  # type: ignore[assignment]
    return refs


def find_facts(conn: Connection, refs: Iterable[Sequence[Any]]) -> dict[FactRef, int]:
    """Returns the facts with these references, without those that are not here."""
    wanted = {(*ref,) for ref in refs}
    passages = [id for ids in passages_by_hash(conn, {ref[0] for ref in wanted}).values() for id in ids]
    facts = read_column(
        conn,
        f"SELECT item_id FROM provenance WHERE +item_kind = 'edge' AND episode_id IN {LISTED}"
        f" UNION SELECT node_id FROM thesis WHERE episode_id IN {LISTED}",
        *[id_list(passages)] * 2,
    )
    by_ref: dict[FactRef, int] = {}
    for id, *ref in _list_refs(conn, facts):
        if (key := tuple(ref)) in wanted:
            by_ref.setdefault(key, id)  # type: ignore[arg-type]
    return by_ref


def _list_refs(conn: Connection, facts: Iterable[int]) -> list[tuple[int, str, int, int, str, str]]:
    ids = sorted(facts)
    relations = conn.execute(
        f"SELECT r.id, substr(e.sha256, 1, {HASH_CHARS}), ifnull(v.span_from, -1), ifnull(v.span_to, -1), p.label,"
        " b.label FROM edge r JOIN provenance v ON v.item_kind = 'edge' AND v.item_id = r.id"
        f" JOIN episode e ON e.node_id = v.episode_id JOIN predicate p ON p.id = r.pred_id JOIN node b ON b.id = r.dst"
        f" WHERE r.kind = 'rel' AND r.id IN {LISTED} ORDER BY r.id",
        (id_list(id for id in ids if id >= FIRST_EDGE),),
    ).fetchall()
    theses = conn.execute(
        f"SELECT t.node_id, substr(e.sha256, 1, {HASH_CHARS}), ifnull(t.span_from, -1), ifnull(t.span_to, -1), '',"
        " ifnull(t.text, '') FROM thesis t JOIN episode e ON e.node_id = t.episode_id"
        f" WHERE t.node_id IN {LISTED} ORDER BY t.node_id",
        (id_list(id for id in ids if id < FIRST_EDGE),),
    ).fetchall()
    return [
        (id, sha, start, end, hash_text(norm(predicate)), hash_text(norm(value) or value))
        for id, sha, start, end, predicate, value in (*relations, *theses)
    ]


# What other computers stated ----------------------------------------------------------------------------------


def find_trace(conn: Connection, t: int, question: str = "") -> int | None:
    """Returns the trace of the question asked at a time (ms UTC)."""
    id: int | None = read_value(conn, "SELECT id FROM trace WHERE t = ?1 AND (?2 = '' OR question = ?2)", t, question)
    return id


def find_chat(conn: Connection, created: int) -> int | None:
    """Returns the chat of a time (ms UTC)."""
    id: int | None = read_value(conn, "SELECT id FROM conversation WHERE t_created = ?", created)
    return id


def find_message(conn: Connection, chat: int, role: str, t: int, words: str) -> int | None:
    """Returns the message of a chat (by its id), as `MessageRow` has the rest."""
    query = "SELECT id FROM message WHERE conversation_id = ? AND role = ? AND t = ? AND (role <> 'user' OR text = ?)"
    id: int | None = read_value(conn, query, chat, role, t, words)
    return id


def read_message(conn: Connection, id: int) -> dict[str, Any]:
    """Returns the content of a message: `text`, `state`, `no_answer`, and what is `cited`, with hashes of passages."""
    query = "SELECT text, state, no_answer, citations FROM message WHERE id = ?"
    text, state, no_answer, citations = conn.execute(query, (id,)).fetchone()
    cited = json.loads(citations)
    hashes = hashes_of(conn, {citation["episode_id"] for citation in cited})
    for citation in cited:
        citation["episode_id"] = hashes.get(citation["episode_id"], "")
    return {"text": text, "state": state, "no_answer": bool(no_answer), "cited": cited}


def write_message(conn: Connection, id: int, message: dict[str, Any], trace: int | None) -> None:
    """Writes the content of a message from another computer, as `read_message` has it; its citations of passages that
    are here lead to them."""
    here = passages_by_hash(conn, {citation["episode_id"] for citation in message["cited"]})
    citations = []
    for citation in message["cited"]:
        episode = next(iter(here.get(citation["episode_id"], ())), 0)
        uri = read_value(
            conn, "SELECT uri FROM source s JOIN episode e ON e.source_id = s.id WHERE e.node_id = ?", episode
        )
        citations.append(citation | {"episode_id": episode, "uri": uri or citation["uri"]})
    conn.execute(
        "UPDATE message SET text = ?, state = ?, no_answer = ?, citations = ?, trace_id = ? WHERE id = ?",
        (message["text"], message["state"], message["no_answer"], to_json(citations), trace, id),
    )


def objects_with_key(conn: Connection, secret: bytes, keys: set[str]) -> list[str]:
    """Returns the names (norms) of objects whose keys are among these."""
    names = read_column(conn, "SELECT DISTINCT norm FROM alias")
    return [name for name in names if synced.make_key(secret, "object", name) in keys]


def files_with_key(conn: Connection, secret: bytes, keys: set[str]) -> list[str]:
    """Returns the uris of sources whose content has one of these keys."""
    rows = conn.execute("SELECT uri, sha256 FROM source WHERE sha256 IS NOT NULL").fetchall()
    return sorted({uri for uri, digest in rows if synced.make_key(secret, "file", digest) in keys})


def facts_after(conn: Connection, node: int, edge: int) -> list[int]:
    """Returns the live facts with later ids than these."""
    return read_column(
        conn,
        f"SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id AND {is_live('n')} WHERE t.node_id > ?"
        f" UNION ALL SELECT id FROM edge r WHERE kind = 'rel' AND {is_live('r')} AND id > ?",
        node,
        edge,
    )


def read_among(conn: Connection, passages: Iterable[int]) -> set[int]:
    """Returns those of these passages that a model or the person has read."""
    listed = id_list(passages)
    return set(read_column(conn, f"SELECT episode_id FROM extraction WHERE episode_id IN {LISTED}", listed))


def read_document(conn: Connection, id: int) -> Document:
    """Returns the document of a source, without its text."""
    query = f"SELECT properties, ref, {SOURCE_COLUMNS} FROM source WHERE id = ?"
    properties, ref, *columns = conn.execute(query, (id,)).fetchone()
    tags = tuple(read_column(conn, "SELECT tag FROM source_tag WHERE source_id = ? ORDER BY 1", id))
    row = source_from_row(columns)
    return Document(
        row.uri, title=row.title, kind=row.kind, reader=row.reader, at=row.at, ref=ref, conversation=row.conversation,
        policy=row.policy, properties=json.loads(properties), tags=tags,
    )  # fmt: skip


def read_passages(conn: Connection, source: int) -> list[tuple[Episode, str]]:
    """Returns the live passages of a source, in order, with their hashes."""
    placed = episodes.list_by_source(conn, source)
    rows = episodes.get_many(conn, [place.id for place in placed])
    return list(zip(rows, (place.sha256 for place in placed), strict=True))


def last_ids(conn: Connection) -> tuple[int, int]:
    """Returns the newest ids of a node and of an edge."""
    query = "SELECT ifnull((SELECT max(id) FROM node), 0), ifnull((SELECT max(id) FROM edge), 0)"
    ids: tuple[int, int] = conn.execute(query).fetchone()
    return ids


def delete_messages(conn: Connection, ids: Iterable[int]) -> None:
    conn.execute(f"DELETE FROM message WHERE id IN {LISTED}", (id_list(ids),))
