"""A newer version of a source compared with the former one: episodes, sentences, and when it began."""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from memory.facts.edits import align_sentences, is_statement
from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft
from memory.nouns import Document
from memory.store import episodes, past, sources
from memory.store.connect import Connection
from memory.time.timestamps import to_ms, to_wall, wall_of

FormerSentence = tuple[past.StoredSentence, bool]  # former sentence, and whether its meaning changed


class VersionDiff(NamedTuple):
    """The changes by a newer version of a source: `kept` has for each of its episodes the stored one with the same
    words, or None; `removed` are the stored ones no longer in it, `redated` (ids) those of them whose time no part has
    any more. The last two fields are the stored episodes on either side of a piece of a long document."""

    kept: tuple[episodes.EpisodeRef | None, ...]
    removed: tuple[episodes.EpisodeRef, ...]
    redated: tuple[int, ...] = ()
    before: episodes.EpisodeRef | None = None
    after: episodes.EpisodeRef | None = None


def compare_versions(conn: Connection, batch: Sequence[DocumentDraft]) -> list[VersionDiff]:
    """Compares each document with the stored version by the words of its episodes. Of a long one, an episode is removed
    with the piece next to it, which may be its edited form."""
    diffs = []
    for draft in batch:
        source = sources.get(conn, draft.document.uri)
        stored = episodes.of_source(conn, source.id) if source else []
        same_words: dict[str, deque[episodes.EpisodeRef]] = defaultdict(deque)
        for placed in stored:
            same_words[placed.sha256].append(placed)
        matches = [same_words[digest].popleft() if same_words[digest] else None for digest in draft.hashes]
        gone = {placed.id for unmatched in same_words.values() for placed in unmatched}
        if not draft.is_last:
            later = {placed.id for placed in matches[draft.end :] if placed}
            until = next((place for place, placed in enumerate(stored) if placed.id in later), 0)
            gone &= {placed.id for placed in stored[:until]}
        removed = tuple(placed for placed in stored if placed.id in gone)
        stated = {to_wall(at) for _, at in draft.document.parts}
        times = episodes.list_refs(conn, [placed.id for placed in removed]) if stated else ()
        redated = tuple(row.id for row in times if row.event_from not in stated)
        before, after = matches[draft.first - 1] if draft.first else None, None if draft.is_last else matches[draft.end]
        diffs.append(VersionDiff(tuple(matches[draft.first : draft.end]), removed, redated, before, after))
    return diffs


def align_versions(
    conn: Connection,
    drafts: Sequence[Draft],
    matches: Sequence[episodes.EpisodeRef | None],
    removed: Sequence[episodes.EpisodeRef],
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


def _make_anchor(placed: episodes.EpisodeRef) -> str:
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
