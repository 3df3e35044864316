"""Splits a document into drafts of episodes, which get their ids when they are stored.

Invariants: drafts are in order; the text of a draft is an exact slice of `Document.text`, so that quotes and
lines can be verified; together the drafts contain every word; equal documents and settings give equal drafts.

Sections (headings of level 1 and 2) come first, the budget of words second: the author grouped their contents,
and the title of an episode that is one section is exact. So:

* A section of up to 1.5 times the budget is one episode; a longer one fills episodes block by block up to
  the budget.
* A section of less than a quarter of the budget says little alone ("## Decision: RabbitMQ, 3 nodes.").
  Neighbouring small siblings share an episode up to the budget: a note of eight sections of 20 words is one
  episode. Larger sections are never merged.
* The few words between a heading and its first subheading belong to what follows.
* Parts of a document that are from different times share no episode.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate, groupby, pairwise, takewhile

from memory.facts.extraction import NOTHING_EXTRACTED, Extraction
from memory.ingest.blocks import Block, BlockKind, has_structure, has_words, split_blocks, title_of
from memory.nouns import Document, Turn, TurnStart
from memory.settings import ChunkSettings
from memory.text.mentions import Mention
from memory.text.sentences import sentences
from memory.text.words import LONG_WORD, count_words

_STRETCH = 1.5  # times the budget, up to which a section is not split
_SMALL = 0.25  # of the budget: a small section
_WHOLE: frozenset[BlockKind] = frozenset({"code", "table", "frontmatter"})  # splitting makes them meaningless
_WHOLE_LIMIT = 100_000  # characters above which they are split at lines anyway: no model or screen takes more
_LEVELS = 6  # of headings
_SEPARATOR = " › "

_ONLY_MARKS = re.compile(r"(?:\[[xX]\]|\W|_)*+")
_PARTICLE = re.compile(rf"\S{{1,{LONG_WORD}}}")


@dataclass(frozen=True, slots=True)
class Draft:
    """A future episode. `line` and `end_line` are 1-based in the original; None for a chat. Drafting adds: `sha256` of
    the words, `sentences` (spans), `extraction` by rules, and `line_map`, the line of each of its lines if not
    consecutive. `turns`: its turns of a chat."""

    title: str
    text: str
    line: int | None = None
    end_line: int | None = None
    at: datetime | None = None
    until: datetime | None = None
    speaker: str | None = None
    refs: tuple[str, ...] = ()
    sha256: str = ""
    sentences: tuple[tuple[int, int], ...] = ()
    mentions: tuple[Mention, ...] = ()
    extraction: Extraction = NOTHING_EXTRACTED
    line_map: tuple[int, ...] = ()
    turns: tuple[TurnStart, ...] = ()


_Message = tuple[int, Turn]  # a turn with its number in its chat, from 1
# An episode's span in the text, and its headings.
_Cut = tuple[int, int, tuple[str, ...]]


def chunk_document(document: Document, settings: ChunkSettings) -> list[Draft]:
    """Returns the drafts of a document: of its turns, if any, else of its text."""
    if document.turns:
        return [*_chunk_chat(document, settings)]
    return [*_chunk_text(document, settings)]


# Text -----------------------------------------------------------------------------------------


def _chunk_text(document: Document, settings: ChunkSettings) -> Iterator[Draft]:
    text = document.text
    if not has_words(text):
        return
    blocks: list[Block] = []
    short = count_words(text) <= settings.words * _STRETCH
    if not short or document.parts or has_structure(text):
        blocks = split_blocks(text)
    headed = any(block.title for block in blocks)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    begins = [starts[line - 1] for line, _ in document.parts]
    if short and not headed and not begins:
        start = len(text) - len(text.lstrip())
        cuts: Iterable[_Cut] = [(start, len(text.rstrip()), ())]
    else:
        cuts = _find_cuts(text, blocks, begins, settings)
    title = title_of(document)
    for start, end, path in cuts:
        if not has_words(text[start:end]):  # a part of a long run of punctuation
            continue
        yield Draft(
            title=_join_title(title, path),
            text=text[start:end],
            line=original_line(bisect_right(starts, start), document.lines),
            end_line=original_line(bisect_right(starts, end - 1), document.lines),
            at=document.parts[bisect_right(begins, start) - 1][1] if begins else document.at,
            speaker=document.speaker,
            refs=(document.ref,) if document.ref else (),
        )


def original_line(line: int, lines: Sequence[int] | None) -> int:
    return lines[min(line, len(lines)) - 1] if lines else line


def _join_title(title: str, path: tuple[str, ...]) -> str:
    """Joins "Document › Heading › Subheading", without repetitions."""
    if path and path[0].casefold() == title.casefold():
        path = path[1:]
    return _SEPARATOR.join((title, *path))


# Sections and their pieces --------------------------------------------------------------------


def _find_cuts(text: str, blocks: Sequence[Block], begins: Sequence[int], settings: ChunkSettings) -> Iterator[_Cut]:
    """Finds where the text is cut. `begins`: the starts of parts of the text that must not share an episode."""
    pieces = [
        piece
        for block in blocks
        for part in _split_at_parts(text, block, begins)
        if has_words(part.text)
        for piece in _split_long_block(text, part, settings)
    ]
    for _, part in groupby(pieces, lambda piece: bisect_right(begins, piece.start)):
        for section in _group_sections([*part], settings):
            yield from _fill_episodes(text, section, settings)


def _split_at_parts(text: str, block: Block, begins: Sequence[int]) -> Iterator[Block]:
    """Yields the block, or its slices if a part begins inside it."""
    bounds = [block.start, *begins[bisect_right(begins, block.start) : bisect_left(begins, block.end)], block.end]
    for start, end in pairwise(bounds):
        part = text[start:end].rstrip()
        yield block if len(bounds) == 2 else replace(block, text=part, start=start, end=start + len(part))


def _split_long_block(text: str, block: Block, settings: ChunkSettings) -> Iterator[Block]:
    """Yields the block, or its parts if it is too long and may be split."""
    if len(block.text) <= _WHOLE_LIMIT if block.kind in _WHOLE else block.words <= settings.words * _STRETCH:
        yield block
        return
    for start, end in _split_text(text, block.start, block.end, settings):
        yield replace(block, text=text[start:end], start=start, end=end)


def _split_text(text: str, start: int, end: int, settings: ChunkSettings) -> Iterator[tuple[int, int]]:
    """Yields (start, end) of parts within the budget, of similar length, each ending at a sentence end."""
    units = [*_list_units(text, start, end, settings)]
    words_left = sum(length for _, length in units)
    begin, size = start, 0
    for unit, length in units:
        if size and _is_enough(size, length, words_left, settings):
            yield begin, begin + len(text[begin:unit].rstrip())
            begin, words_left, size = unit, words_left - size, 0
        size += length
    yield begin, end


def _is_enough(size: int, following: int, words_left: int, settings: ChunkSettings) -> bool:
    """Whether a part of `size` words should end here, given `words_left` to split into equal parts."""
    fair = words_left / math.ceil(words_left / settings.words)
    return size + following > settings.words or size + following / 2 > fair


def _list_units(text: str, start: int, end: int, settings: ChunkSettings) -> Iterator[tuple[int, int]]:
    """Yields (start, words) of the sentences; of single words if a sentence is longer than an episode."""
    for first, last in sentences(text[start:end]):
        sentence = text[start + first : start + last]
        words = count_words(sentence)
        if words <= settings.words:
            yield _include_marks(text, start, start + first), words
        else:
            for match in _PARTICLE.finditer(sentence):
                yield start + first + match.start(), count_words(match.group())


def _include_marks(text: str, start: int, sentence: int) -> int:
    """Returns the start of the sentence's line if only its bullet or quote mark comes before it; not before `start`."""
    nearest = max(start, sentence - 40)
    line = text.rfind("\n", nearest, sentence) + 1 or nearest
    begins = line == start or text[line - 1] == "\n"
    if not begins or not _ONLY_MARKS.fullmatch(text, line, sentence):
        return sentence
    return sentence - len(text[line:sentence].lstrip())


def _group_sections(pieces: Sequence[Block], settings: ChunkSettings) -> Iterator[list[Block]]:
    """Yields groups the pieces by section, merging small sections (see the module)."""
    levels = [piece.level for piece in pieces if piece.level]
    deepest = max(2, min(levels, default=2))  # also of a document with third-level headings only
    sections: list[list[Block]] = []
    for piece in pieces:
        if not sections or 0 < piece.level <= deepest:
            sections.append([])
        sections[-1].append(piece)
    small = settings.words * _SMALL
    group: list[Block] = []
    size, all_small = 0, True
    above: tuple[str, ...] = ()
    for section in sections:
        words = sum(piece.words for piece in section)
        path = section[0].path
        child = len(path) > len(above) and path[: len(above)] == above
        related = size < small or child or path[:-1] == above[:-1]
        fits = all_small and words < small and size + words <= settings.words
        if group and not (size < small and child) and not (related and fits):
            yield group
            group, size, all_small = [], 0, True
        group += section
        size, all_small, above = size + words, all_small and words < small, path
    if group:
        yield group


def _fill_episodes(text: str, pieces: Sequence[Block], settings: ChunkSettings) -> Iterator[_Cut]:
    """Yields the episodes of a section."""
    words_left = sum(piece.words for piece in pieces)
    episode: list[Block] = []
    size = 0
    for index, piece in enumerate(pieces):
        if size + words_left > settings.words * _STRETCH and _is_full(episode, size, pieces, index, settings):
            lead: list[Block] = []  # the line that introduces a table stays with it, a heading with its text
            follows = any(not block.level for block in episode[:-1])
            if piece.kind in _WHOLE and follows and episode[-1].words < settings.words * _SMALL:
                lead.append(episode.pop())
            while len(lead) <= _LEVELS and episode[-1].level and any(not block.level for block in episode):
                lead.insert(0, episode.pop())
            yield _make_cut(episode, settings)
            episode, size = lead, sum(block.words for block in lead)
        episode.append(piece)
        size += piece.words
        words_left -= piece.words
    yield _make_cut(episode, settings)


def _is_full(episode: Sequence[Block], size: int, pieces: Sequence[Block], index: int, settings: ChunkSettings) -> bool:
    """Whether an episode of `size` words should end before the piece at `index`."""
    piece = pieces[index]
    if not episode or (size + piece.words <= settings.words and all(block.level for block in episode)):
        return False
    if size < settings.words * _SMALL and (piece.kind in _WHOLE or size + piece.words <= settings.words * _STRETCH):
        return False  # the line that introduces a table or a long paragraph stays with it
    if size + piece.words > settings.words:
        return True
    if not piece.level or size < settings.words / 2:
        return False
    subsection = piece.words  # rather half empty than a split subsection
    for number in range(index + 1, len(pieces)):
        if 0 < pieces[number].level <= piece.level or size + subsection > settings.words:
            break
        subsection += pieces[number].words
    return size + subsection > settings.words


def _make_cut(episode: Sequence[Block], settings: ChunkSettings) -> _Cut:
    """Makes an episode. Its headings are those shared by all its pieces; a few words above a heading do not count."""
    words: dict[tuple[str, ...], int] = {}
    for piece in episode:
        words[piece.path] = words.get(piece.path, 0) + piece.words
    longest = max(words, key=len)
    about = [
        path
        for path in words
        if path == longest or path != longest[: len(path)] or words[path] >= settings.words * _SMALL
    ]
    shared = tuple(names[0] for names in takewhile(lambda names: len({*names}) == 1, zip(*about, strict=False)))
    return episode[0].start, episode[-1].end, shared


# Chats ----------------------------------------------------------------------------------------


def _chunk_chat(document: Document, settings: ChunkSettings) -> Iterator[Draft]:
    """Yields groups of turns within the budget. A group repeats the last turn of the one before if it is short: an
    answer needs its question."""
    title = title_of(document)
    turns = [(number, turn) for number, turn in enumerate(document.turns, 1) if turn.text.strip()]
    for session in _split_sessions(turns, timedelta(minutes=settings.turn_gap_minutes)):
        for messages in _group_turns(session, settings):
            group = [turn for _, turn in messages]
            if not any(has_words(turn.text) for turn in group):
                continue
            times = [turn.at for turn in group if turn.at is not None]
            speakers = {turn.speaker for turn in group}
            lines = [_turn_line(turn) for turn in group]
            starts = accumulate((len(line) + 1 for line in lines), initial=0)
            yield Draft(
                title=title,
                text="\n".join(lines),
                at=times[0] if times else document.at,
                until=times[-1] if times else None,
                speaker=(speakers.pop() or None) if len(speakers) == 1 else None,
                refs=tuple(turn.ref for turn in group if turn.ref),
                turns=tuple(
                    TurnStart(start, number, _show_speaker(turn), turn.at)
                    for start, (number, turn) in zip(starts, messages, strict=False)
                ),
            )


def _group_turns(session: Sequence[_Message], settings: ChunkSettings) -> Iterator[list[_Message]]:
    """Yields groups of similar length; a turn too long for one becomes a group per part."""
    lengths = [count_words(_turn_line(turn)) for _, turn in session]
    words_left = sum(lengths)
    group: list[_Message] = []
    size = new = 0  # words of the group, and those not repeated
    for (number, turn), words in zip(session, lengths, strict=True):
        too_long = words > settings.words * _STRETCH
        if new and (too_long or size + words > settings.words or _is_enough(new, words, words_left, settings)):
            yield group
            words_left -= new
            last = count_words(_turn_line(group[-1][1]))
            keep = not too_long and len(group) > 1 and last <= settings.overlap and last + words <= settings.words
            group, size, new = (group[-1:], last, 0) if keep else ([], 0, 0)
        if too_long:
            for start, end in _split_text(turn.text, 0, len(turn.text), settings):
                yield [(number, replace(turn, text=turn.text[start:end]))]
            group, size, words_left = [], 0, words_left - words
            continue
        group.append((number, turn))
        size, new = size + words, new + words
    if new:
        yield group


def _turn_line(turn: Turn) -> str:
    """Returns "Speaker: words"."""
    speaker = _show_speaker(turn)
    return f"{speaker}: {turn.text.strip()}" if speaker else turn.text.strip()


def _show_speaker(turn: Turn) -> str:
    return " ".join(turn.speaker.split())


def _split_sessions(turns: Iterable[_Message], pause: timedelta) -> list[list[_Message]]:
    """Returns turns without a long pause or midnight between them, by their local times."""
    sessions: list[list[_Message]] = []
    last: datetime | None = None
    for number, turn in turns:
        is_later = turn.at and last and (abs(turn.at - last) > pause or turn.at.date() != last.date())
        if is_later or not sessions:
            sessions.append([])
        sessions[-1].append((number, turn))
        last = turn.at or last
    return sessions
