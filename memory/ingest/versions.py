"""Alignment of a newer version of a source with the former one: its beginning, and former sentences."""

from collections.abc import Sequence

from memory.facts.edits import align_sentences, is_statement
from memory.ingest.chunk import Draft
from memory.nouns import Document
from memory.store import episodes, past
from memory.store.connect import Connection
from memory.time.timestamps import to_ms, to_wall, wall_of

FormerSentence = tuple[past.StoredSentence, bool]  # former sentence, and whether its meaning changed


def align_versions(
    conn: Connection,
    drafts: Sequence[Draft],
    matches: Sequence[episodes.Placed | None],
    removed: Sequence[episodes.Placed],
) -> dict[tuple[int, int], FormerSentence]:
    """{(episode, sentence) numbers in the newer version: the former sentence that it replaces, by this edit or an
    earlier one}. `matches`: the stored episode with the same words for each episode, or None; `removed`: those no
    longer there."""
    sentences_of = past.sentences_of(conn, [placed.id for placed in removed])
    former: list[tuple[past.StoredSentence | None, str]] = []
    for placed in sorted((*removed, *filter(None, matches)), key=lambda placed: placed.seq):
        if placed in matches:
            former.append((None, _make_anchor(placed)))
        else:
            former += [(row, row.text) for row in sentences_of.get(placed.id, ()) if is_statement(row.text, row.before)]
    new: list[tuple[tuple[int, int], str]] = []
    for number, (draft, stored) in enumerate(zip(drafts, matches, strict=True)):
        if stored is not None:
            new.append(((number, 0), _make_anchor(stored)))
            continue
        spans, text = enumerate(draft.sentences), draft.text
        new += [
            ((number, place), text[a:b]) for place, (a, b) in spans if is_statement(text[a:b], text[max(0, a - 6) : a])
        ]
    same, edited = align_sentences([words for _, words in former], [words for _, words in new])
    former_of = {new[j][0]: (row, False) for i, j in same if (row := former[i][0]) and row.replaced}
    return former_of | {new[j][0]: (row, True) for i, j in edited if (row := former[i][0])}


def _make_anchor(placed: episodes.Placed) -> str:
    """A text that represents an episode of both versions."""
    return f"episode{placed.id}"


def find_version_begin(document: Document, before: tuple[int, int | None, int | None] | None, now: int) -> int | None:
    """The start of a source's new version (wall time): its new date if later, else the time of its file or of reading.
    None for a first version (also of a restored source), for an unchanged file, and for a chat, whose turns have times.
    `before`: the result of `sources.last_read`."""
    if before is None or document.kind == "chat":
        return None
    read_ms, dated_ms, mtime_ns = before
    if mtime_ns is None and document.mtime_ns is not None:  # the first version, already partly written
        return None
    written = None if document.mtime_ns is None else document.mtime_ns // 1_000_000
    stated, stated_wall = to_ms(document.at), to_wall(document.at)
    if stated is not None and written is not None and 0 <= written - stated < 1000:
        stated = None  # the file's time to the second
    if stated is not None and stated_wall is not None and dated_ms is not None and stated_wall > dated_ms:
        return stated_wall
    if written is not None and document.mtime_ns == mtime_ns:
        return None
    return wall_of(written if written is not None and read_ms < written <= now else now)
