"""Files to documents. What a plugin adds is a `Reader`; `documents` makes of what it read what every document needs.

What knows dates in many forms is imported with the first file: a daemon must start quickly.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote

from memory.errors import PalimpsestError
from memory.nouns import Document, Turn
from memory.text.words import replace_surrogates

MIB = 1024 * 1024
_TITLE_CHARS = 300
_CLOCK_SECONDS = 3600  # by which the clocks of two machines may differ
_TEXT_FIELDS = ("uri", "text", "title", "speaker", "conversation", "properties", "tags", "aliases")


class Unreadable(PalimpsestError):
    """A file that cannot become memory; the message is the reason, in words for the person who owns the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that cannot become memory, by its own id inside the file, with the reason for a person."""

    uri: str
    reason: str


Part = Document | Unread


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns the bytes of one kind of file into documents.

    `read(path, data)` opens nothing: `path` only lends its name. It gives one document, or several for a file
    that holds several sources; then the `uri` of each is its own id inside the file. What the reader leaves
    unset (uri, title, date, hash, size, the conversation of a chat) `documents` fills in. It raises Unreadable with a
    reason. With `dates_parts` sections and items of its text that begin with a date are from then.

    What may be too large to be held at once has a `stream(path, file)` instead, which yields one document after the
    other, each with its own id, and an `Unread` for what in it cannot be read; what came before it raises is kept. A
    document that bears a `sha256` of its own is left as it is if that is the one that is known of it.
    Another `version` than the one that read a file before reads it again, though it did not change.

    It runs in a process of its own (`daemon/reading/`), which is ended when a file takes more than `max_seconds` of the
    processor or `max_memory` (bytes): no network, no process but of its `programs`, nothing is written.
    """

    name: str
    suffixes: tuple[str, ...]  # lower case with the dot; "" for a name without one
    description: str
    read: Callable[[Path, bytes], list[Document]] | None = None
    max_bytes: int = 10 * MIB
    dates_parts: bool = False
    version: int = 1
    max_seconds: int = 60
    max_memory: int = 512 * MIB
    stream: Callable[[Path, BinaryIO], Iterator[Part]] | None = None
    programs: tuple[str, ...] = ()  # that it may start, by the names under which they are on the PATH


def documents(reader: Reader, path: Path, data: bytes, stat: os.stat_result, is_copied: bool = False) -> list[Document]:
    """The documents in a file: at least one, each with uri, title, date, hash and size. Raises Unreadable only. A file
    that is one document has the uri of its absolute path with forward slashes; of several, each has "#" and its own id
    or number behind it. `data` is what was read from `path`, `stat` what was true then. The time of a file that
    `is_copied` does not tell when it was written (`plugins.readers.copies`)."""
    if reader.stream is not None:
        streamed = stream_parts(reader, path, BytesIO(data), stat, is_copied)
        found = [part for part in streamed if isinstance(part, Document)]
        if not found:
            raise Unreadable("no text in it")
        return found
    _check_name(path)
    with _Failures(reader):
        assert reader.read is not None
        read = [_clean(document) for document in reader.read(path, data)]
    read = [document for document in read if document.turns or document.text.strip()]
    if not read:
        raise Unreadable("no text in it")
    uris = _uris(path.absolute().as_posix(), [document.uri for document in read])
    finish = _Finish(reader, path, lambda: hashlib.sha256(data).hexdigest(), stat, is_copied)
    return [finish(document, uri) for uri, document in zip(uris, read, strict=True)]


def stream_parts(
    reader: Reader, path: Path, file: BinaryIO, stat: os.stat_result, is_copied: bool = False
) -> Iterator[Part]:
    """What `documents` gives, one after the other, for a reader that streams; and what cannot be read in the file, by
    its uri. Raises Unreadable, perhaps after some of it."""
    assert reader.stream is not None
    _check_name(path)
    finish = _Finish(reader, path, partial(_hash_file, file), stat, is_copied)
    whole = path.absolute().as_posix()
    given: set[str] = set()
    with _Failures(reader):
        for number, part in enumerate(reader.stream(path, file), 1):
            uri = f"{whole}#{_valid(part.uri)}" if part.uri else whole
            uri = uri if uri not in given else f"{uri}#{number}"
            given.add(uri)
            if isinstance(part, Unread):
                yield Unread(uri, _valid(part.reason))
            elif part.turns or part.text.strip():
                yield finish(_clean(part), uri)


class _Failures:
    """Whatever a reader raises becomes an Unreadable: nothing that a file contains may stop the daemon."""

    def __init__(self, reader: Reader) -> None:
        self._name = reader.name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, Exception) or isinstance(error, Unreadable):
            return
        if isinstance(error, MemoryError):
            raise Unreadable(f"too large for the {self._name} reader: out of memory") from error
        if isinstance(error, RecursionError):
            raise Unreadable(f"nested too deeply for the {self._name} reader") from error
        raise Unreadable(f"the {self._name} reader failed: {type(error).__name__}: {error}") from error


class _Finish:
    """Fills in what a reader left unset of the documents of a file; `find_hash` gives that of its content."""

    def __init__(
        self, reader: Reader, path: Path, find_hash: Callable[[], str], stat: os.stat_result, is_copied: bool
    ) -> None:
        self._reader = reader
        self._path = path
        self._digest = cache(find_hash)
        self._stat = stat
        seconds = stat.st_mtime_ns // 1_000_000_000
        is_told = not is_copied and seconds <= time.time() + _CLOCK_SECONDS
        self._file_time = datetime.fromtimestamp(seconds, UTC).astimezone() if is_told else None

    def __call__(self, document: Document, uri: str) -> Document:
        from plugins.readers.origin import find_writer
        from plugins.readers.parts import date_document

        path = self._path
        document = date_document(document, path, self._file_time, self._reader.dates_parts)
        return replace(
            document,
            uri=uri,
            title=_title(document.title) or unquote(path.stem),
            kind="chat" if document.turns else "file",
            reader=self._reader.name,
            speaker=find_writer(document, path, self._reader.name),
            conversation=_title(document.conversation) or (path.stem if document.turns else None),
            sha256=document.sha256 or self._digest(),
            size=self._stat.st_size,
            mtime_ns=self._stat.st_mtime_ns,
            location=path.name,
        )


def _hash_file(file: BinaryIO) -> str:
    place = file.seek(0, os.SEEK_CUR)
    file.seek(0)
    digest = hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
    file.seek(place)
    return digest


def _check_name(path: Path) -> None:
    from plugins.readers.origin import is_template

    if replace_surrogates(str(path)) != str(path):
        raise Unreadable("its name is not valid text: rename it")
    if is_template(path):
        raise Unreadable("a template: it is in a folder of templates")


def sign(document: Document) -> Document:
    """The document with the hash of what it says as its `sha256`: in a newer version of its file it is known by it."""
    said: list[object] = [document.title, document.conversation, document.at, document.text]
    said += [(turn.speaker, turn.text, turn.at, turn.ref) for turn in document.turns]
    return replace(document, sha256=hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest())


def _uris(file: str, own: list[str]) -> list[str]:
    """The uri of each document of a file, by their own ids; all different, even where the ids are not."""
    if own == [""]:
        return [file]
    uris: dict[str, None] = {}
    for number, name in enumerate(own, 1):
        uri = f"{file}#{name or number}"
        uris[uri if uri not in uris else f"{uri}#{number}"] = None
    return list(uris)


def _title(title: str | None) -> str:
    return " ".join((title or "").split())[:_TITLE_CHARS]


def _clean(document: Document) -> Document:
    """The document without the lone surrogates and NUL characters that JSON, HTML and mail headers can spell."""
    turns = tuple(Turn(_valid(t.speaker), _valid(t.text), t.at, _valid(t.ref)) for t in document.turns)
    return replace(document, turns=turns, **{name: _valid(getattr(document, name)) for name in _TEXT_FIELDS})


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value.replace("\x00", ""))
    if isinstance(value, Mapping):
        return {_valid(key): _valid(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_valid(held) for held in value)
    return value
