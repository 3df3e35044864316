"""Drafts of documents, from their text alone: episodes with sentences, mentions and facts by rules; and the masking of
secrets before anything of a document is stored.

Independent of the store and of numpy, so that another process can do it (`daemon/reading/`), passage by passage: only a
piece of a long document is in memory at a time. All derived data (episodes, full text, vectors, facts, prompts, traces)
comes from the masked text. Line numbers stay the same for citations. The secrets are stored in their own table."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePath
from typing import Any

from memory.errors import InvalidInputError
from memory.events import SECRET_CHARS, SECRET_LETTERS
from memory.facts.extraction import NOTHING_EXTRACTED
from memory.facts.rules.extract import NO_HEADINGS, extract_by_rules
from memory.facts.rules.fields import find_headings
from memory.ingest.blocks import MAX_TITLE_CHARS, given_title, title_of
from memory.ingest.chunk import Draft, chunk_document, original_line
from memory.nouns import TOLD, Document, MaskedSecret
from memory.settings import ChunkSettings
from memory.text import mentions as mention_rules
from memory.text.mentions import Mention
from memory.text.secret_lines import SecretKind
from memory.text.sentences import sentences
from memory.text.words import replace_surrogates, to_nfc

LEFT_OUT = "too long: "  # start of the reason why a part of a document was not stored
IN_PART = "in part: "  # why a part of a document was not read
BROKEN_OFF = "read only in part: "  # why the rest of the file could not be read
NO_FACTS = ("bibtex", "ris", "bookmarks", "subtitles")  # readers of published texts, not of a life
MAX_EPISODES = 10_000  # of a document: 2.4 million words; prose of 10 MiB has fewer
MAX_FACTS = 5_000  # of a document, by rules: a person has fewer contacts, a machine's data has more keys
MAX_LINES = 200_000  # of a document: a book wrapped at 80 columns has 130,000 in 10 MiB


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document to store, its text in episodes only; or a piece of a long one, with its episodes from number `first`
    on. `hashes` identify all episodes of the document. `shared`: mentions in its properties. `secrets` were
    removed from it. `left_out` says what was not stored, if anything."""

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
        """The number after its last episode."""
        return self.first + len(self.episodes)

    @property
    def is_last(self) -> bool:
        """Whether this is the last piece of the document."""
        return self.end == len(self.hashes)


class Drafting:
    """Drafts one document: iterate over `episodes`, then `close`."""

    def __init__(
        self,
        document: Document,
        settings: ChunkSettings,
        masker: Masker | None,
        rules: bool = True,
        most: int | None = None,
    ) -> None:
        """InvalidInputError for a document without a uri. A `masker` masks its secrets; without `rules` no facts are
        extracted. Keeps at most `most` episodes; a longer document is then cut to MAX_LINES."""
        if not document.uri:
            raise InvalidInputError("A document needs a uri: it is the source's identity.")
        self._document = _clean(document)
        self._settings = settings
        self._rules = rules and document.reader not in NO_FACTS
        self._most = most
        self._hashes: list[str] = []
        self._facts = 0
        self._left_out = ""
        if len(document.title or "") > MAX_TITLE_CHARS:
            self._left_out = f"{IN_PART}only the first {MAX_TITLE_CHARS} characters of its title are kept"
        if most is not None and document.text.count("\n") >= MAX_LINES:
            self._cut_lines()
        self._secrets: tuple[MaskedSecret, ...] = ()
        if masker is not None:
            self._document, self._secrets = masker.mask_document(self._document)

    def episodes(self) -> Iterator[Draft]:
        """Yields the episodes in order; iterate once."""
        document = self._document
        headings = find_headings(document.text, title_of(document)) if self._rules else NO_HEADINGS
        # A title that is a whole file name without a suffix names a kind of file, like README.
        has_name = document.mtime_ns is None or PurePath(document.uri).name != document.title
        # Else the title is a part of its text, or the session's in which it was stated.
        is_titled = bool(given_title(document)) and (document.reader != TOLD or bool(document.properties))
        find_lines = _map_lines(document)
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
            facts, title = NOTHING_EXTRACTED, draft.title if is_titled else ""
            if self._rules and self._facts < MAX_FACTS:
                facts = extract_by_rules(
                    draft.text, title if has_name else "", draft.at, draft.speaker or document.speaker,
                    document.properties, not self._hashes, chat=bool(document.turns), spans=spans, headings=headings,
                    typed=document.reader == TOLD,
                )  # fmt: skip
                self._facts += len(facts.relations)
                if self._facts >= MAX_FACTS and not self._left_out:
                    self._left_out = f"{IN_PART}only the first {MAX_FACTS:,} of its facts were read; its text is whole"
            words = [draft.title, draft.text, draft.speaker or ""]
            if document.parts:  # equal words of another time are another episode
                words.append(draft.at.isoformat() if draft.at else "")
            if headings.records:  # the lines under a record's heading describe it
                words.append("things")
            digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()
            self._hashes.append(digest)
            mentions = tuple(mention_rules.mentions(draft.text, title, "columns" in document.properties))
            lines = find_lines(draft)
            yield replace(draft, sha256=digest, sentences=spans, mentions=mentions, extraction=facts, line_map=lines)

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
        """Returns the draft after the last episode, with these `episodes`. InvalidInputError if there were none."""
        document = self._document
        if not self._hashes:
            raise InvalidInputError(f"There are no words in {document.uri}.")
        shared = mention_rules.property_mentions(document.properties)
        times = dict.fromkeys(at for _, at in document.parts)
        bare = replace(document, text="", turns=(), lines=None, parts=tuple((1, at) for at in times))
        hashes = tuple(self._hashes)
        return DocumentDraft(
            bare, title_of(document), tuple(episodes), tuple(shared), hashes, 0, self._left_out, self._secrets
        )


def draft_document(
    document: Document, settings: ChunkSettings, rules: bool = True, masker: Masker | None = None
) -> DocumentDraft:
    """Returns the document as one draft. InvalidInputError without words or uri."""
    drafting = Drafting(document, settings, masker, rules)
    return drafting.close([*drafting.episodes()])


def _map_lines(document: Document) -> Callable[[Draft], tuple[int, ...]]:
    """Returns a function for drafts in order: the original line of each line of a draft, if the reader made the text
    and they are not consecutive."""
    lines, written = document.lines or (), document.text.split("\n") if document.lines is not None else []
    places: dict[int | None, int] = {line: number for number, line in reversed([*enumerate(lines)])}  # the first one

    def find(draft: Draft) -> tuple[int, ...]:
        if draft.line not in places:
            return ()
        place = places[draft.line]
        line_map = []
        for line in draft.text.split("\n"):
            while place < len(written) and line.strip() not in written[place]:
                place += 1
            if place == len(written):
                return ()
            line_map.append(lines[place])
            place += 1
        return () if line_map == list(range(line_map[0], line_map[0] + len(line_map))) else tuple(line_map)

    return find


def _clean(document: Document) -> Document:
    """Returns the document without characters that a database cannot store, with composed accents."""
    uri, ref = replace_surrogates(document.uri), document.ref and replace_surrogates(document.ref)
    title, speaker = (value and _tidy(value) for value in (document.title, document.speaker))
    turns = tuple(replace(turn, speaker=_tidy(turn.speaker), text=_tidy(turn.text)) for turn in document.turns)
    return replace(document, uri=uri, text=_tidy(document.text), title=title, speaker=speaker, ref=ref, turns=turns)


def _tidy(text: str) -> str:
    return to_nfc(replace_surrogates(text))


MIN_NAMED_CHARS = 6  # of a secret that is looked for in a name; a shorter one may be a part of a date or number


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks texts of one memory. `key`: the key of its placeholders."""

    key: bytes = field(repr=False)

    def make_placeholder(self, kind: SecretKind, value: str) -> str:
        """Returns the placeholder of a secret."""
        digest = int.from_bytes(hmac.digest(self.key, f"{kind}\0{value}".encode("utf-8", "surrogatepass"), "sha256"))
        letters = (
            SECRET_LETTERS[digest // len(SECRET_LETTERS) ** place % len(SECRET_LETTERS)]
            for place in range(SECRET_CHARS)
        )
        return f"‹{kind}-{''.join(letters)}›"

    def mask(self, text: str) -> str:
        """Returns the text with placeholders for its secrets."""
        return self._split(text)[0]

    def mask_document(self, document: Document) -> tuple[Document, tuple[MaskedSecret, ...]]:
        """Returns (document without its secrets, the secrets)."""
        collected: list[MaskedSecret] = []
        text, secrets = self._split(document.text)
        collected += [replace(secret, line=original_line(secret.line or 0, document.lines)) for secret in secrets]
        turns = tuple(
            replace(turn, text=self._mask_text(turn.text, collected), speaker=self._mask_text(turn.speaker, collected))
            for turn in document.turns
        )
        title, speaker, conversation = (
            name and self._mask_text(name, collected)
            for name in (document.title, document.speaker, document.conversation)
        )
        path, mark, part = document.uri.partition("#") if document.kind in ("file", "chat") else ("", "", document.uri)
        name = self._mask_text(part, collected)  # of a part of a file (a subject, a heading) or of a note
        properties = {key: self._mask_value(key, value, collected) for key, value in document.properties.items()}
        tags, aliases = (
            tuple(self._mask_text(name, collected) for name in names) for names in (document.tags, document.aliases)
        )
        if not collected:
            return document, ()
        for secret in collected:  # where its reader replaced characters around it, or the text has them escaped
            if len(secret.value) >= MIN_NAMED_CHARS:
                name = name.replace(secret.value, secret.placeholder)
                text = text.replace(secret.value, secret.placeholder) if secret.line is None else text
        masked = replace(
            document, uri=f"{path}{mark}{name}", text=text, turns=turns, title=title, speaker=speaker,
            conversation=conversation, properties=properties, tags=tags, aliases=aliases,
        )  # fmt: skip
        return masked, tuple({secret.placeholder: secret for secret in reversed(collected)}.values())

    def _mask_text(self, text: str, collected: list[MaskedSecret]) -> str:
        """Masks a text without line numbers."""
        masked, secrets = self._split(text)
        collected += [replace(secret, line=None) for secret in secrets]
        return masked

    def _mask_value(self, key: str, value: Any, collected: list[MaskedSecret]) -> Any:
        """Masks the value of a property, whose name is its label."""
        if isinstance(value, Mapping):
            return {name: self._mask_value(name, item, collected) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._mask_value(key, item, collected) for item in value)
        label = f"{key}: "
        written = label + (str(value) if isinstance(value, int | str) and not isinstance(value, bool) else "")
        masked = self._mask_text(written, collected)
        return masked.removeprefix(label) if masked != written else value

    def _split(self, text: str) -> tuple[str, list[MaskedSecret]]:
        pieces: list[str] = []
        secrets: list[MaskedSecret] = []
        done, line = 0, 1
        from memory.text.secrets import find_secrets  # 35 ms, too slow for the start of the daemon

        for start, end, kind in find_secrets(text):
            value = text[start:end]
            placeholder = self.make_placeholder(kind, value)
            line += text.count("\n", done, start)
            pieces += [text[done:start], placeholder, "\n" * value.count("\n")]
            secrets.append(MaskedSecret(placeholder, kind, value, line))
            line += value.count("\n")
            done = end
        return "".join([*pieces, text[done:]]), secrets
