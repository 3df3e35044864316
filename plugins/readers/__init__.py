"""Files to documents. A plugin registers a `Reader`; `documents` completes what the reader returns.

Date parsing is imported with the first file: a daemon must start quickly."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
LAST_NS = (1 << 63) - 1  # the latest time of a file that SQLite can store, in the year 2262
_TITLE_CHARS = 300
_CLOCK_SECONDS = 3600  # tolerated difference between the clocks of two machines
_TEXT_FIELDS = ("uri", "text", "title", "speaker", "conversation", "properties", "tags", "aliases")


class Unreadable(PalimpsestError):
    """A file that cannot be read; the message tells its owner the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that cannot be read, with its id inside the file and the reason."""

    uri: str
    reason: str


Part = Document | Unread


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns the bytes of one kind of file into documents.

    `read(path, data)` opens no file: `path` only supplies the name. It returns one document, or several for a file of
    several sources; then `uri` is the id inside the file. `documents` fills in what the reader leaves unset (uri,
    title, date, hash, size, the conversation of a chat). Raises Unreadable. With `dates_parts`, sections and items that
    begin with a date get that date.

    A reader of large files has `stream(path, file)` instead: it yields documents, each with its id, and an `Unread` for
    each part that cannot be read; documents yielded before an error are kept. A document with its own `sha256` is
    skipped if the stored hash is the same. A new `version` reads unchanged files again.

    It runs in a separate process (`daemon/reading/`), which is killed above `max_seconds` of processor time or
    `max_memory` bytes; it has no network, starts only its `programs` and writes nothing."""

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
    programs: tuple[str, ...] = ()  # programs that it may start, by their names on the PATH
    library: str = ""  # module of the extra `readers` without which it reads nothing


def documents(reader: Reader, path: Path, data: bytes, stat: os.stat_result, is_copied: bool = False) -> list[Document]:
    """Returns the documents in a file: at least one, each with uri, title, date, hash and size. Raises Unreadable only.

    The uri of a single document is the absolute path with forward slashes; several append "#" and their id or number.
    `data` and `stat` belong to the same read of `path`. The time of a file that `is_copied` is ignored
    (`plugins.readers.common.origin`)."""
    parts = stream_parts(reader, path, BytesIO(data), stat, is_copied)
    read = [part for part in parts if isinstance(part, Document)]
    if not read:
        raise Unreadable("no text in it")
    return read


def stream_parts(
    reader: Reader, path: Path, file: BinaryIO, stat: os.stat_result, is_copied: bool = False
) -> Iterator[Part]:
    """Yields the `documents` of a file, one after the other, and an Unread for each part that cannot be read. Raises
    Unreadable, perhaps after some documents."""
    _check_name(path)
    finish = partial(_finish, reader, path, stat, is_copied, cache(partial(_hash_file, file)))
    whole = path.absolute().as_posix()
    given: set[str] = set()
    with _explain_failures(reader):
        for number, part in enumerate(_read_parts(reader, path, file), 1):
            uri = f"{whole}#{_valid(part.uri)}" if part.uri else whole
            uri = uri if uri not in given else f"{uri}#{number}"
            given.add(uri)
            if isinstance(part, Unread):
                yield Unread(uri, _valid(part.reason))
            elif part.turns or part.text.strip():
                yield finish(_clean(part), uri)


def _read_parts(reader: Reader, path: Path, file: BinaryIO) -> Iterator[Part]:
    if reader.stream is not None:
        yield from reader.stream(path, file)
    elif reader.read is not None:
        read = [part for part in reader.read(path, file.read()) if part.turns or part.text.strip()]
        for number, part in enumerate(read, 1):
            yield part if part.uri or len(read) == 1 else replace(part, uri=str(number))


@contextmanager
def _explain_failures(reader: Reader) -> Iterator[None]:
    """Turns any exception of a reader into Unreadable: no file may stop the daemon."""
    try:
        yield
    except Unreadable:
        raise
    except MemoryError as error:
        raise Unreadable(f"too large for the {reader.name} reader: out of memory") from error
    except RecursionError as error:
        raise Unreadable(f"nested too deeply for the {reader.name} reader") from error
    except Exception as error:
        raise Unreadable(f"the {reader.name} reader failed: {type(error).__name__}: {error}") from error


def _finish(
    reader: Reader,
    path: Path,
    stat: os.stat_result,
    is_copied: bool,
    digest: Callable[[], str],
    document: Document,
    uri: str,
) -> Document:
    """Returns the document with what its reader left unset."""
    from plugins.readers.common.origin import find_writer
    from plugins.readers.common.parts import date_document

    seconds = stat.st_mtime_ns // 1_000_000_000
    is_reliable = not is_copied and seconds <= time.time() + _CLOCK_SECONDS
    file_time = datetime.fromtimestamp(seconds, UTC).astimezone() if is_reliable else None
    document = date_document(document, path, file_time, reader.dates_parts)
    return replace(
        document,
        uri=uri,
        title=_clean_title(document.title) or unquote(path.stem),
        kind="chat" if document.turns else "file",
        reader=reader.name,
        speaker=find_writer(document, path, reader.name),
        conversation=_clean_title(document.conversation) or (path.stem if document.turns else None),
        sha256=document.sha256 or digest(),
        size=stat.st_size,
        mtime_ns=min(stat.st_mtime_ns, LAST_NS),
        location=path.name,
    )


def _hash_file(file: BinaryIO) -> str:
    place = file.seek(0, os.SEEK_CUR)
    file.seek(0)
    digest = hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
    file.seek(place)
    return digest


def _check_name(path: Path) -> None:
    from plugins.readers.common.origin import is_template

    if replace_surrogates(str(path)) != str(path):
        raise Unreadable("its name is not valid text: rename it")
    if is_template(path):
        raise Unreadable("a template: it is in a folder of templates")


def sign(document: Document) -> Document:
    """Returns the document with a `sha256` of its content, which identifies it in a newer version of its file."""
    fields: list[object] = [document.title, document.conversation, document.at, document.text]
    fields += [(turn.speaker, turn.text, turn.at, turn.ref) for turn in document.turns]
    return replace(document, sha256=hashlib.sha256(repr(fields).encode("utf-8", "surrogatepass")).hexdigest())


def _clean_title(title: str | None) -> str:
    return " ".join((title or "").split())[:_TITLE_CHARS]


def _clean(document: Document) -> Document:
    """Returns the document without lone surrogates and NUL characters, which JSON, HTML and mails can contain."""
    turns = tuple(Turn(_valid(t.speaker), _valid(t.text), t.at, _valid(t.ref)) for t in document.turns)
    return replace(document, turns=turns, **{name: _valid(getattr(document, name)) for name in _TEXT_FIELDS})


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value.replace("\x00", ""))
    if isinstance(value, Mapping):
        return {_valid(key): _valid(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_valid(item) for item in value)
    return value
