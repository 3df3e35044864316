"""What answers in a chat rest on and has changed since they were given."""

from collections.abc import Mapping, Sequence

from memory.nouns import AnswerChange, ChatMessage, Citation
from memory.store import facts
from memory.store.connect import Connection
from memory.store.rows import LISTED, id_list, is_live
from memory.time.timestamps import from_ms, to_ms

Span = tuple[int, int, int, int, int, int]  # a revision, its old and its new fact, when, and where the old one stood


def list_changes(conn: Connection, messages: Sequence[ChatMessage]) -> dict[int, tuple[AnswerChange, ...]]:
    """For each answer, by its message's id, what it cites and does not hold any more, or is contradicted: by a newer
    fact, else because its source no longer says so. Not what was an earlier value already."""
    answers = {one.id: one for one in messages if one.citations}
    cited = sorted({citation.episode_id for one in answers.values() for citation in one.citations})
    if not cited:
        return {}
    spans, gone = _revised(conn, cited), _retired(conn, cited)
    changes: dict[int, tuple[AnswerChange, ...]] = {}
    for id, answer in answers.items():
        said = to_ms(answer.at) or 0
        found = [
            change
            for citation in answer.citations
            if not citation.earlier
            for change in _changes_of(conn, citation, said, spans.get(citation.episode_id, ()), gone)
        ]
        once = {(change.old, change.new): change for change in reversed(found)}
        if found:
            changes[id] = tuple(sorted(once.values(), key=lambda change: change.n))
    return changes


def _changes_of(
    conn: Connection, cited: Citation, said: int, spans: Sequence[Span], gone: Mapping[int, int]
) -> list[AnswerChange]:
    """The newest change of a citation since the time `said`, if there is one."""
    start = cited.passage.find(cited.quote)
    over = [
        (t, revision, old, new)
        for revision, old, new, t, first, last in spans
        if t > said and start >= 0 and first < start + len(cited.quote) and start < last
    ]
    if over:
        t, revision, old, new = max(over)
        before, after = (next(iter(facts.by_id(conn, [fact])), None) for fact in (old, new))
        if before is not None and after is not None:
            return [AnswerChange(cited.n, before.text, after.text, from_ms(t), revision)]
    t = gone.get(cited.episode_id, 0)
    if t > said and not _stands(conn, cited):
        return [AnswerChange(cited.n, cited.quote, "", from_ms(t))]
    return []


def _revised(conn: Connection, episodes: Sequence[int]) -> dict[int, list[Span]]:
    """The standing revisions of what these episodes say, by episode; not those of which a person has said that the new
    fact was never true, which ended it."""
    refused = "j.revision_id = r.id AND j.item_id = r.new_id AND j.field = 't_expired'"
    standing = (
        "r.relation <> 'duplicates' AND (r.state = 'open' OR r.state = 'kept'"
        f" AND NOT EXISTS (SELECT 1 FROM journal j WHERE {refused}))"
    )
    rows = conn.execute(
        f"SELECT t.episode_id, r.id, r.old_id, r.new_id, r.t, t.span_from, t.span_to FROM thesis t"
        f" JOIN revision r ON r.old_id = t.node_id AND {standing} WHERE t.episode_id IN {LISTED}"
        " UNION ALL SELECT v.episode_id, r.id, r.old_id, r.new_id, r.t, v.span_from, v.span_to FROM provenance v"
        f" JOIN revision r ON r.old_id = v.item_id AND {standing}"
        f" WHERE +v.item_kind = 'edge' AND v.episode_id IN {LISTED} AND v.span_from IS NOT NULL",
        (id_list(episodes), id_list(episodes)),
    )
    found: dict[int, list[Span]] = {}
    for episode, *span in rows:
        found.setdefault(episode, []).append(tuple(span))
    return found


def _retired(conn: Connection, episodes: Sequence[int]) -> dict[int, int]:
    """When each of these episodes was retired, of those that were."""
    query = f"SELECT id, t_expired FROM node WHERE t_expired IS NOT NULL AND id IN {LISTED}"
    return dict(conn.execute(query, (id_list(episodes),)).fetchall())


def _stands(conn: Connection, cited: Citation) -> bool:
    """Whether the source still has the words."""
    row = conn.execute(
        "SELECT 1 FROM source s JOIN episode e ON e.source_id = s.id JOIN node n ON n.id = e.node_id"
        f" WHERE s.uri = ? AND {is_live('n')} AND instr(e.text, ?) LIMIT 1",
        (cited.uri, cited.quote),
    ).fetchone()
    return row is not None
