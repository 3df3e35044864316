"""A newer version of a source compared with the former one: episodes, sentences, and when it began.

Both versions are lists of sentences. Sentences of only one version are compared if they are next to the same sentence
or at the same end. They match if each is most similar to the other by the share of their words in the same order (indel
similarity), or if only a number after their first words differs. So moved, added or removed sentences are no edits, and
neither is a rewritten note.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA, Indel, LCSseq, Postfix, Prefix

from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft
from memory.nouns import Document
from memory.store import episodes, past, sources
from memory.store.connect import Connection
from memory.text.languages import guess_language, stem, stop_words, word_set
from memory.text.words import words
from memory.time.dates import month_names
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
        stored = episodes.list_by_source(conn, source.id) if source else []
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
    """Returns {(episode, sentence) numbers in the newer version: the former sentence that it replaces, by this edit or
    an earlier one}. `matches`: the stored episode with the same words for each episode, or None; `removed`: those no
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
    """Returns a text that represents an episode of both versions."""
    return f"episode{placed.id}"


def find_version_begin(document: Document, before: tuple[int, int | None, int | None] | None, now: int) -> int | None:
    """Returns the start of a source's new version (wall time): its new date if later, else the time of its file or of
    reading. None for a first version (also of a restored source), for an unchanged file, and for a chat, whose turns
    have times. `before`: the result of `sources.last_read`."""
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


LEAST_ALIKE = 0.5  # least share of the words of two sentences that are the same
SPELLING = 0.8  # least share of the letters of two words that are the same, if one is the other misspelt
MOST_CHANGED = 50  # sentences of one version that the other does not have
FEW_EDITS = 3  # or as many as the unchanged sentences; beyond that the note was rewritten
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_CURRENCY = re.compile(r"[$€£¥%]")
_NO_STATEMENT = re.compile(r"(?:#|\[.?\])\s*$")  # before a heading, and a task
_NEGATING = word_set("claims", "negating")

Pair = tuple[int, int]
Words = tuple[str, ...]
Place = tuple[Words | None, Words | None]  # the previous and the next sentence that both versions have


def is_statement(sentence: str, before: str) -> bool:
    """Whether a sentence may state something: it is no question, task or heading, by the characters before it."""
    return not sentence.rstrip().endswith("?") and _NO_STATEMENT.search(before) is None


def align_sentences(former: Sequence[str], new: Sequence[str]) -> tuple[list[Pair], list[Pair]]:
    """Returns the pairs (place in `former`, in `new`) of sentences with the same content, perhaps in other words, and
    those where one was edited into the other: it has another number, name, date or content word."""
    old, fresh = [_words(sentence) for sentence in former], [_words(sentence) for sentence in new]
    common = {*old} & {*fresh}
    there = {key: place for place, key in reversed([*enumerate(fresh)])}
    same = [(place, there[key]) for place, key in enumerate(old) if key in common]
    lost, gained = _places_of_changed(old, common), _places_of_changed(fresh, common)
    if max(len(lost), len(gained)) > MOST_CHANGED:
        return same, []
    alike = {
        (i, j): _similarity(old[i], fresh[j])
        for i, place in lost.items()
        for j, other in gained.items()
        if place[0] == other[0] or place[1] == other[1]
    }
    ranked = sorted(alike, key=lambda pair: (-alike[pair], pair))
    of_old = dict(reversed(ranked))
    of_new = {j: i for i, j in reversed(ranked)}
    matched = [(i, j) for i, j in sorted(of_old.items()) if of_new[j] == i and alike[i, j] > LEAST_ALIKE]
    edited = [(i, j) for i, j in matched if _says_otherwise(old[i], fresh[j])]
    is_rewritten = len(edited) > max(FEW_EDITS, len(common))
    return [*same, *({*matched} - {*edited})], [] if is_rewritten else edited


def _words(sentence: str) -> Words:
    plain = _THOUSANDS.sub("", sentence)
    return (*words(plain), *_CURRENCY.findall(plain))


def _places_of_changed(sentences: Sequence[Words], common: Collection[Words]) -> Mapping[int, Place]:
    """Returns the neighbours of each sentence that is not `common` to both versions, by its index."""
    shared: list[Words | None] = [None, *(sentence for sentence in sentences if sentence in common), None]
    places, before = dict[int, Place](), 0
    for place, sentence in enumerate(sentences):
        if sentence in common:
            before += 1
        else:
            places[place] = shared[before], shared[before + 1]
    return places


def _similarity(old: Words, new: Words) -> float:
    """Returns the share of the words of two sentences in the same order; 1 if only the value after their first words
    differs: "Phone 0151 2345", "Phone 0160 9999". Such a line may be hardly longer than its value."""
    same, behind = Prefix.similarity(old, new), Postfix.similarity(old, new)
    values = (tokens[same : len(tokens) - behind] for tokens in (old, new))
    if same and same + behind < min(len(old), len(new)) and all(map(_is_value, values)):
        return 1.0
    return Indel.normalized_similarity(old, new)


def _is_value(words: Words) -> bool:
    """Whether these words are numbers, perhaps a date, and nothing else."""
    return any(word[0].isdigit() for word in words) and all(
        any(map(str.isdigit, word)) or word in month_names() for word in words
    )


def _says_otherwise(old: Words, new: Words) -> bool:
    """Whether two sentences of one thing say something else of it, and not the same in other words, or more."""
    language = guess_language(" ".join((*old, *new)))
    little = stop_words(language) - _NEGATING
    before, after = ([stem(word, language) for word in sentence if word not in little] for sentence in (old, new))
    if not any(word.isalpha() for word in {*before} & {*after}):
        return False
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    for word in list(lost):
        misspelt = next((added for added in gained if _is_spelling(word, added)), None)
        if misspelt is not None:
            del lost[word], gained[misspelt]
    if not _NEGATING.isdisjoint({*lost, *gained}):
        return True
    return bool(lost and gained) and (_is_of_one(before, after) or _is_one_run(old, new))


def _is_spelling(word: str, other: str) -> bool:
    return word.isalpha() and other.isalpha() and OSA.normalized_similarity(word, other) > SPELLING


def _is_of_one(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether both begin with a word that the other also has: their topic. "Flights cost 210" and "The press costs 400"
    do not."""
    first, other = (next((word for word in tokens if word.isalpha()), "") for tokens in (before, after))
    return first in after and other in before


def _is_one_run(old: Words, new: Words) -> bool:
    """Whether two sentences differ in one run of words only: "Ana is our vet", "Bo is our vet"."""
    return LCSseq.similarity(old, new) == Prefix.similarity(old, new) + Postfix.similarity(old, new)
