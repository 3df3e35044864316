"""Files to documents. What a plugin adds is a `Reader`; `documents` makes of what it read what every document needs.

What knows dates in many forms is imported with the first file: a daemon must start quickly.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.errors import PalimpsestError
from memory.nouns import Document, Turn
from memory.text.words import replace_surrogates

MIB = 1024 * 1024
_TITLE_CHARS = 300
_TEXT_FIELDS = ("uri", "text", "title", "speaker", "conversation", "properties", "tags", "aliases")


class Unreadable(PalimpsestError):
    """A file that cannot become memory; the message is the reason, in words for the person who owns the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns the bytes of one kind of file into documents.

    `read(path, data)` opens nothing: `path` only lends its name. It gives one document, or several for a file
    that holds several sources; then the `uri` of each is its own id inside the file. What the reader leaves
    unset (uri, title, date, hash, size, the conversation of a chat) `documents` fills in. It raises Unreadable with a
    reason. With `dates_parts` sections and items of its text that begin with a date are from then.
    Another `version` than the one that read a file before reads it again, though it did not change.

    It runs in a process of its own (`daemon/reading/`), which is ended when a file takes more than `max_seconds` of the
    processor or `max_memory` (bytes): no network, no other process, nothing is written.
    """

    name: str
    suffixes: tuple[str, ...]  # lower case with the dot; "" for a name without one
    description: str
    read: Callable[[Path, bytes], list[Document]]
    max_bytes: int = 10 * MIB
    dates_parts: bool = False
    version: int = 1
    max_seconds: int = 60
    max_memory: int = 512 * MIB


def documents(reader: Reader, path: Path, data: bytes, stat: os.stat_result) -> list[Document]:
    """The documents in a file: at least one, each with uri, title, date, hash and size. Raises Unreadable only. A file
    that is one document has the uri of its absolute path with forward slashes; of several, each has "#" and its own id
    or number behind it. `data` is what was read from `path`, `stat` what was true then."""
    from plugins.readers.parts import date_document

    if replace_surrogates(str(path)) != str(path):
        raise Unreadable("its name is not valid text: rename it")
    try:
        read = [_clean(document) for document in reader.read(path, data)]
    except Unreadable:
        raise
    except MemoryError as error:
        raise Unreadable(f"too large for the {reader.name} reader: out of memory") from error
    except RecursionError as error:
        raise Unreadable(f"nested too deeply for the {reader.name} reader") from error
    except Exception as error:  # nothing that a file contains may stop the daemon
        raise Unreadable(f"the {reader.name} reader failed: {type(error).__name__}: {error}") from error
    read = [document for document in read if document.turns or document.text.strip()]
    if not read:
        raise Unreadable("no text in it")
    uris = _uris(path.absolute().as_posix(), [document.uri for document in read])
    digest = hashlib.sha256(data).hexdigest()
    written = datetime.fromtimestamp(stat.st_mtime_ns // 1_000_000_000, UTC).astimezone()
    dated = (date_document(document, path, written, reader.dates_parts) for document in read)
    return [
        replace(
            document,
            uri=uri,
            title=_title(document.title) or path.stem,
            kind="chat" if document.turns else "file",
            reader=reader.name,
            conversation=_title(document.conversation) or (path.stem if document.turns else None),
            sha256=digest,
            size=len(data),
            mtime_ns=stat.st_mtime_ns,
        )
        for uri, document in zip(uris, dated, strict=True)
    ]


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
