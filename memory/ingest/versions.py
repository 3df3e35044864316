"""A newer version of a source beside the former one: when it began, and which sentence was which."""

from collections.abc import Sequence

from memory.facts.edits import align_sentences, is_statement
from memory.ingest.chunk import Draft
from memory.nouns import Document
from memory.store import episodes, past
from memory.store.connect import Connection
from memory.time.timestamps import to_ms, to_wall, wall_of

FormerSentence = tuple[past.StoredSentence, bool]  # what a sentence was, and whether it says something else now


def align_versions(
    conn: Connection,
    drafts: Sequence[Draft],
    kept: Sequence[episodes.Placed | None],
    removed: Sequence[episodes.Placed],
) -> dict[tuple[int, int], FormerSentence]:
    """(episode, sentence) of a newer version, by their numbers -> the one of the former version that it was, where it
    was edited, or had been. `kept`: for each episode the stored one with the same words, or None; `removed`: those that
    are no longer there."""
    told = past.sentences_of(conn, [placed.id for placed in removed])
    former: list[tuple[past.StoredSentence | None, str]] = []
    for placed in sorted((*removed, *filter(None, kept)), key=lambda placed: placed.seq):
        if placed in kept:
            former.append((None, _anchor(placed)))
        else:
            former += [(one, one.text) for one in told.get(placed.id, ()) if is_statement(one.text, one.before)]
    new: list[tuple[tuple[int, int], str]] = []
    for number, (draft, stored) in enumerate(zip(drafts, kept, strict=True)):
        if stored is not None:
            new.append(((number, 0), _anchor(stored)))
            continue
        spans, text = enumerate(draft.sentences), draft.text
        new += [
            ((number, place), text[a:b]) for place, (a, b) in spans if is_statement(text[a:b], text[max(0, a - 6) : a])
        ]
    same, edited = align_sentences([words for _, words in former], [words for _, words in new])
    found = {new[j][0]: (one, False) for i, j in same if (one := former[i][0]) and one.replaced}
    return found | {new[j][0]: (one, True) for i, j in edited if (one := former[i][0])}


def _anchor(kept: episodes.Placed) -> str:
    """What stands for an episode that is in both versions."""
    return f"episode{kept.id}"


def find_version_begin(document: Document, before: tuple[int, int | None, int | None] | None, now: int) -> int | None:
    """When a source came to say what it says now (wall time): its new date, where it moved on, else when its file was
    written, or is read. None for a first version (also of one that had gone), for the same file read again, and for a
    chat, whose turns have their own times. `before`: what `sources.last_read` tells of it."""
    if before is None or document.kind == "chat":
        return None
    read_ms, dated_ms, mtime_ns = before
    if mtime_ns is None and document.mtime_ns is not None:  # the first version, of which a part was written before
        return None
    written = None if document.mtime_ns is None else document.mtime_ns // 1_000_000
    stated, stated_wall = to_ms(document.at), to_wall(document.at)
    if stated is not None and written is not None and 0 <= written - stated < 1000:
        stated = None  # that is the file's time, to the second
    if stated is not None and stated_wall is not None and dated_ms is not None and stated_wall > dated_ms:
        return stated_wall
    if written is not None and document.mtime_ns == mtime_ns:
        return None
    return wall_of(written if written is not None and read_ms < written <= now else now)
