"""What follows from a document's text alone: its episodes with their sentences, mentions and facts by rules.

Nothing here knows a store or numbers, so that it can be done in another process (`daemon/reading/`), and passage by
passage: of a long document no more than a piece need be in memory at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath

from memory.errors import InvalidInputError
from memory.facts.extraction import NOTHING_EXTRACTED
from memory.facts.rules.extract import NO_HEADINGS, extract_by_rules
from memory.facts.rules.fields import find_headings
from memory.ingest.chunk import Draft, chunk_document, title_of
from memory.ingest.masking import Masker
from memory.nouns import TOLD, Document
from memory.settings import ChunkSettings
from memory.text import mentions as mention_rules
from memory.text.mentions import Mention
from memory.text.placeholders import MaskedSecret
from memory.text.sentences import sentences
from memory.text.words import replace_surrogates, to_nfc

LEFT_OUT = "too long: "  # how a reason begins why something of a document is not kept
IN_PART = "in part: "  # and why something of a document was not read
BROKEN_OFF = "read only in part: "  # and where the rest of the file could not be
NO_FACTS = ("bibtex", "ris", "bookmarks", "subtitles")  # readers of what others wrote or published, not of a life
MAX_EPISODES = 10_000  # of a document: 2.4 million words; prose of 10 MiB has less
MAX_LINES = 200_000  # of a document: a book that is wrapped at 80 columns has 130,000 in 10 MiB


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document as it will be stored, its text in episodes only; or a piece of a long one, with its episodes from
    number `first` on. `hashes` name all episodes of the document. `shared`: mentions in its properties and tags, of
    each of its episodes. `secrets` were taken out of the document. `left_out` says what of it is not kept, where that
    is not all of it."""

    document: Document
    title: str
    episodes: tuple[Draft, ...]
    shared: tuple[Mention, ...]
    hashes: tuple[str, ...]
    first: int = 0
    left_out: str = ""
    secrets: tuple[MaskedSecret, ...] = ()

    @property
    def end(self) -> int:
        """The number of the episode behind its last one."""
        return self.first + len(self.episodes)

    @property
    def is_last(self) -> bool:
        """Whether no piece of the document comes behind it."""
        return self.end == len(self.hashes)


class Drafting:
    """Drafts one document: `episodes` one after the other, and then `close` for all that is not in one."""

    def __init__(
        self,
        document: Document,
        settings: ChunkSettings,
        masker: Masker | None,
        rules: bool = True,
        most: int | None = None,
    ) -> None:
        """InvalidInputError for a document without a uri. With a `masker` its secrets are masked; without `rules` no
        facts are looked for. Of a document with more than `most` episodes, or then of one with more than MAX_LINES, the
        first are kept."""
        if not document.uri:
            raise InvalidInputError("A document needs a uri: it is the source's identity.")
        self._document = _clean(document)
        self._settings = settings
        self._rules = rules and document.reader not in NO_FACTS
        self._most = most
        self._hashes: list[str] = []
        self._left_out = ""
        if most is not None and document.text.count("\n") >= MAX_LINES:
            self._cut_lines()
        self._secrets: tuple[MaskedSecret, ...] = ()
        if masker is not None:
            self._document, self._secrets = masker.mask_document(self._document)

    def episodes(self) -> Iterator[Draft]:
        """In order; to be taken once."""
        document = self._document
        headings = find_headings(document.text, title_of(document)) if self._rules else NO_HEADINGS
        # A title that is the whole name of a file, without a suffix, says what kind of file it is, as README does.
        has_name = document.mtime_ns is None or PurePath(document.uri).name != document.title
        line_maps = _LineMaps(document)
        cut = chunk_document(document, self._settings)
        if self._most is not None and len(cut) > self._most:
            last = cut[self._most - 1].end_line
            until = f", up to line {last:,}" if last else ""
            self._left_out = (
                f"{LEFT_OUT}only its first {self._most:,} of {len(cut):,} passages are kept{until}; split it, and all"
                " of it is read"
            )
        for draft in islice(cut, self._most):
            spans = tuple(sentences(draft.text))
            found = NOTHING_EXTRACTED
            if self._rules:
                found = extract_by_rules(
                    draft.text, draft.title if has_name else "", draft.at, draft.speaker or document.speaker,
                    document.properties, not self._hashes, chat=bool(document.turns), spans=spans, headings=headings,
                    told=document.reader == TOLD,
                )  # fmt: skip
            words = [draft.title, draft.text, draft.speaker or ""]
            if document.parts:  # the same words of another time are another episode
                words.append(draft.at.isoformat() if draft.at else "")
            if headings.records:  # the lines under a record's heading describe it
                words.append("things")
            digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()
            self._hashes.append(digest)
            mentions = tuple(mention_rules.mentions(draft.text, draft.title))
            lines = line_maps.find(draft)
            yield replace(draft, sha256=digest, sentences=spans, mentions=mentions, extraction=found, line_map=lines)

    def _cut_lines(self) -> None:
        document = self._document
        lines = document.text.split("\n")
        self._left_out = (
            f"{LEFT_OUT}only its first {MAX_LINES:,} of {len(lines):,} lines are kept; split it, and all of it is read"
        )
        self._document = replace(
            document,
            text="\n".join(lines[:MAX_LINES]),
            lines=document.lines and document.lines[:MAX_LINES],
            parts=tuple(part for part in document.parts if part[0] <= MAX_LINES),
        )

    def close(self, episodes: Sequence[Draft] = ()) -> DocumentDraft:
        """The draft, after the last episode, with these of them. InvalidInputError if there was none."""
        document = self._document
        if not self._hashes:
            raise InvalidInputError(f"There are no words in {document.uri}.")
        shared = mention_rules.property_mentions(document.properties, document.tags)
        times = dict.fromkeys(at for _, at in document.parts)
        bare = replace(document, text="", turns=(), lines=None, parts=tuple((1, at) for at in times))
        hashes = tuple(self._hashes)
        return DocumentDraft(
            bare, title_of(document), tuple(episodes), tuple(shared), hashes, 0, self._left_out, self._secrets
        )


def draft_document(
    document: Document, settings: ChunkSettings, rules: bool = True, masker: Masker | None = None
) -> DocumentDraft:
    """The document as one draft. Raises InvalidInputError if it holds no words or has no uri."""
    drafting = Drafting(document, settings, masker, rules)
    return drafting.close([*drafting.episodes()])


class _LineMaps:
    """The original's line of each line of a draft, where the reader made the text and they do not run on."""

    def __init__(self, document: Document) -> None:
        self._lines = document.lines
        self._written = document.text.split("\n") if document.lines is not None else []
        self._places: dict[int, int] = {}  # the first line of the text that is from that line of the original
        for place, line in enumerate(document.lines or ()):
            self._places.setdefault(line, place)

    def find(self, draft: Draft) -> tuple[int, ...]:
        if self._lines is None or draft.line not in self._places:
            return ()
        place = self._places[draft.line]
        found = []
        for line in draft.text.split("\n"):
            while place < len(self._written) and line.strip() not in self._written[place]:
                place += 1
            if place == len(self._written):
                return ()
            found.append(self._lines[place])
            place += 1
        return () if found == list(range(found[0], found[0] + len(found))) else tuple(found)


def _clean(document: Document) -> Document:
    """The document without what a database cannot hold, its accents on their letters."""
    uri, ref = replace_surrogates(document.uri), document.ref and replace_surrogates(document.ref)
    title, speaker = (said and _tidy(said) for said in (document.title, document.speaker))
    turns = tuple(replace(turn, speaker=_tidy(turn.speaker), text=_tidy(turn.text)) for turn in document.turns)
    return replace(document, uri=uri, text=_tidy(document.text), title=title, speaker=speaker, ref=ref, turns=turns)


def _tidy(text: str) -> str:
    return to_nfc(replace_surrogates(text))
