"""Files to documents. `documents` is the one entry: whatever a file holds, it gives documents or raises Unreadable."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.nouns import Document, Turn
from memory.text.unicode import replace_surrogates
from memory.time.dates import with_local_zone
from plugins.readers import frontmatter
from plugins.readers.contract import MIB, Reader, Unreadable
from plugins.readers.dates import event_date
from plugins.readers.parts import begins_with_date, dated_parts, undated_time

if TYPE_CHECKING:
    from plugins.manager import Plugins

__all__ = ["Reader", "Unreadable", "documents", "reader_of"]

_TITLE_CHARS = 300


def reader_of(plugins: Plugins, path: Path, size: int) -> Reader:
    """The reader for a file of that name and size in bytes; raises Unreadable. To be asked before the file is read."""
    reader = plugins.reader_for(path)
    if reader is None:
        raise Unreadable(f"no reader for {path.suffix.lower()}" if path.suffix else "no reader for hidden files")
    if size == 0:
        raise Unreadable("empty file")
    if size > reader.max_bytes:
        raise Unreadable(
            f"too large: {size / MIB:,.1f} MiB, the {reader.name} reader takes {reader.max_bytes // MIB} MiB"
        )
    return reader


def documents(plugins: Plugins, path: Path, data: bytes, stat: os.stat_result) -> list[Document]:
    """The documents in a file: at least one, each with uri, title, date, hash and size. Raises Unreadable only.

    A file that is one document has the uri of its absolute path with forward slashes; of several, each has
    "#" and its own id or number behind it. `data` is what was read from `path`, `stat` what was true then.
    """
    reader = reader_of(plugins, path, len(data))
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
    if reader.dates_parts:
        read = [_dated(document, path, stat) for document in read]
    return [
        replace(
            document,
            uri=uri,
            title=_title(document.title) or path.stem,
            kind="chat" if document.turns else "file",
            reader=reader.name,
            at=_at(document, path, stat),
            conversation=_title(document.conversation) or (path.stem if document.turns else None),
            sha256=digest,
            size=len(data),
            mtime_ns=stat.st_mtime_ns,
        )
        for uri, document in zip(uris, read, strict=True)
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


def _dated(document: Document, path: Path, stat: os.stat_result) -> Document:
    """The document with what it says of its parts; then the first of their dates is not its own, and no title."""
    lines = document.text.split("\n")
    _, before = frontmatter.split(document.text)
    found = () if document.turns else dated_parts(lines, before, _written(stat))
    if not found:
        return document
    title = None if begins_with_date(document.title or "") else document.title
    above = next(line for line, at in found if at is not None) - 1
    own = document.at or event_date(path, title or "", "\n".join(lines[before:above]))
    undated = undated_time(own, found)
    return replace(document, title=title, at=own or _written(stat), parts=tuple((n, at or undated) for n, at in found))


def _at(document: Document, path: Path, stat: os.stat_result) -> datetime:
    """The event date: the header's, or one in the text or the name, or else the day the file was last written."""
    if document.at is not None:
        return with_local_zone(document.at)
    _, before = frontmatter.split(document.text)  # a day there that is not the note's own is somebody's birthday
    found = event_date(path, document.title or "", "\n".join(document.text.split("\n")[before:]))
    return found or _written(stat)


def _written(stat: os.stat_result) -> datetime:
    return datetime.fromtimestamp(stat.st_mtime_ns // 1_000_000_000, UTC).astimezone()


def _title(title: str | None) -> str:
    return " ".join((title or "").split())[:_TITLE_CHARS]


def _clean(document: Document) -> Document:
    """The document without the lone surrogates and NUL characters that JSON, HTML and mail headers can spell."""
    return replace(
        document,
        uri=_valid(document.uri),
        text=_valid(document.text),
        turns=tuple(Turn(_valid(t.speaker), _valid(t.text), t.at, _valid(t.ref)) for t in document.turns),
        title=_valid(document.title),
        speaker=_valid(document.speaker),
        conversation=_valid(document.conversation),
        properties=_valid(document.properties),
        tags=_valid(document.tags),
        aliases=_valid(document.aliases),
    )


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value.replace("\x00", ""))
    if isinstance(value, Mapping):
        return {_valid(key): _valid(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_valid(held) for held in value)
    return value
