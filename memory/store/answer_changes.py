"""Changes, since an answer was given, of the sources it cites."""

from collections.abc import Mapping, Sequence

from memory.nouns import AnswerChange, ChatMessage, Citation
from memory.store import facts
from memory.store.connect import Connection
from memory.store.rows import LISTED, id_list, is_live
from memory.time.timestamps import from_ms, to_ms

Span = tuple[int, int, int, int, int, int]  # revision, old fact, new fact, time, [start, end) of the old one


def list_changes(conn: Connection, messages: Sequence[ChatMessage]) -> dict[int, tuple[AnswerChange, ...]]:
    """{message id: changes} of the answers whose citations are out of date: revised by a newer fact, else no longer in
    their source. Citations of earlier values do not count."""
    answers = {message.id: message for message in messages if message.citations}
    cited = sorted({citation.episode_id for message in answers.values() for citation in message.citations})
    if not cited:
        return {}
    spans, gone = _find_revised(conn, cited), _find_retired(conn, cited)
    changes: dict[int, tuple[AnswerChange, ...]] = {}
    for id, answer in answers.items():
        given_at = to_ms(answer.at) or 0
        current = [
            change
            for citation in answer.citations
            if not citation.earlier
            for change in _find_changes(conn, citation, given_at, spans.get(citation.episode_id, ()), gone)
        ]
        once = {(change.old, change.new): change for change in reversed(current)}
        if current:
            changes[id] = tuple(sorted(once.values(), key=lambda change: change.n))
    return changes


def _find_changes(
    conn: Connection, cited: Citation, given_at: int, spans: Sequence[Span], gone: Mapping[int, int]
) -> list[AnswerChange]:
    """The newest change of a citation since `given_at`, or none."""
    start = cited.passage.find(cited.quote)
    over = [
        (t, revision, old, new)
        for revision, old, new, t, first, last in spans
        if t > given_at and start >= 0 and first < start + len(cited.quote) and start < last
    ]
    if over:
        t, revision, old, new = max(over)
        before, after = (next(iter(facts.by_id(conn, [fact])), None) for fact in (old, new))
        if before is not None and after is not None:
            return [AnswerChange(cited.n, before.text, after.text, from_ms(t), revision)]
    t = gone.get(cited.episode_id, 0)
    if t > given_at and not _is_current(conn, cited):
        return [AnswerChange(cited.n, cited.quote, "", from_ms(t))]
    return []


def _find_revised(conn: Connection, episodes: Sequence[int]) -> dict[int, list[Span]]:
    """The accepted revisions of statements in these episodes, by episode; not those whose new fact a person
    rejected."""
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
    spans: dict[int, list[Span]] = {}
    for episode, *span in rows:
        spans.setdefault(episode, []).append(tuple(span))
    return spans


def _find_retired(conn: Connection, episodes: Sequence[int]) -> dict[int, int]:
    """{episode: time of retirement} of the retired ones."""
    query = f"SELECT id, t_expired FROM node WHERE t_expired IS NOT NULL AND id IN {LISTED}"
    return dict(conn.execute(query, (id_list(episodes),)).fetchall())


def _is_current(conn: Connection, cited: Citation) -> bool:
    """Whether the source still contains the quote."""
    row = conn.execute(
        "SELECT 1 FROM source s JOIN episode e ON e.source_id = s.id JOIN node n ON n.id = e.node_id"
        f" WHERE s.uri = ? AND {is_live('n')} AND instr(e.text, ?) LIMIT 1",
        (cited.uri, cited.quote),
    ).fetchone()
    return row is not None
