"""Chats in JSON, plain or in the zip of an export: those of the table (`shapes.py`), ChatGPT, Claude, Gemini, Slack
and Signal; in a zip also chats of WhatsApp.

Exports of hundreds of MB are read one conversation at a time. A conversation is identified by its id and a hash of its
content: a newer export only writes what changed."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import ijson

from memory.nouns import Document, Turn
from plugins.readers import MIB, Part, Unread, Unreadable, sign
from plugins.readers.chats import assistants, make_chat, messengers, read_objects, shapes
from plugins.readers.chats.chat_lines import turns_of
from plugins.readers.common import archive
from plugins.readers.common.decode import text_of as decode

NO_EXPORT = "an archive without a known chat export; unpack it to have its files read"
EMPTY = "a chat without messages"
_TITLES = {"profile": "About me, for ChatGPT", "memory": "What ChatGPT remembers"}
MAX_PLAIN = 64 * MIB  # of a file that is no export, or a text in a zip: it is loaded as a whole
_NAMELESS = "_chat"  # the file name of a WhatsApp chat from an iPhone; the archive has the chat's name

ReadOther = Callable[[Path, str, Any], list[Document]]
"""Reads JSON that is no chat: (path, text, parsed value)."""

_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any, int], Document]], ...] = (  # (whether it is one, reader)
    (assistants.is_tree, assistants.read_tree),
    (assistants.CLAUDE.fits, lambda value, number: assistants.CLAUDE.read(value, str(value.get("uuid") or number))),
    (assistants.is_memory, assistants.read_memory),
    (assistants.is_project, assistants.read_project),
)
_COLLECTED = {"profile": assistants.read_profile, "memory": assistants.read_memories}  # of all conversations of ChatGPT
_BOM = b"\xef\xbb\xbf"


def stream(path: Path, file: BinaryIO, read_other: ReadOther) -> Iterator[Part]:
    """Yields the conversations of an export, or the chats of a file; other JSON is read by `read_other`. Raises
    Unreadable."""
    if archive.is_archive(file):
        yield from _stream_archive(path, file)
    elif (export := _stream_list(path, file)) is not None:
        yield from export
    else:
        data = _read_whole(file)
        if data is None:
            yield from _stream_telegram(file)
        else:
            yield from read(path, data, read_other)


def _read_whole(file: BinaryIO) -> bytes | None:
    """Returns the content of a file, or None above MAX_PLAIN bytes."""
    file.seek(0)
    data = file.read(MAX_PLAIN + 1)
    return data if len(data) <= MAX_PLAIN else None


def _stream_archive(path: Path, file: BinaryIO) -> Iterator[Part]:
    """Yields the chats in a zip; other files in it are skipped. Raises Unreadable."""
    with closing(archive.Archive(file)) as packed:
        if (root := messengers.find_root(packed)) is not None:
            yield from messengers.stream_export(packed, root)
            return
        given: set[str] = set()
        for member in packed.members((".json", ".jsonl", ".txt")):
            for part in [member] if isinstance(member, Unread) else _read_member(path, *member):
                if part.uri not in given:  # a chat that is split over several files is reported once
                    given.add(part.uri)
                    yield part
        if not given:
            raise Unreadable(NO_EXPORT)


def _read_member(path: Path, name: PurePosixPath, file: BinaryIO) -> Iterator[Part]:
    """Yields the chats in a file of the zip; a chat without an id gets the name of the file."""
    try:
        if name.suffix.lower() == ".txt":
            parts: Iterator[Part] = _read_text(path, name, file)
        elif name.suffix.lower() == ".json":
            parts = _open_export(Path(name), file) or iter(())
        else:
            lines = read_objects(file)
            first = next(lines, {})
            parts = messengers.read_frames(chain([first], lines)) if messengers.is_frame(first) else iter(())
        for part in parts:
            yield part if part.uri else replace(part, uri=str(name))
    except Unreadable as error:
        yield Unread(name.name, error.reason)
    except archive.DAMAGED as error:
        yield Unread(name.name, f"damaged in the archive: {error}")


def _read_text(path: Path, name: PurePosixPath, file: BinaryIO) -> Iterator[Document]:
    data = file.read(MAX_PLAIN + 1)
    if data and len(data) <= MAX_PLAIN and (turns := turns_of(decode(data))):
        yield sign(make_chat("", path.stem if name.stem == _NAMELESS else name.stem, turns))


def _open_export(path: Path, file: BinaryIO) -> Iterator[Part] | None:
    """Returns the documents of an export of any kind, or None for another file. Raises Unreadable."""
    if (export := _stream_list(path, file)) is not None:
        return export
    if (data := _read_whole(file)) is None:
        return _stream_telegram(file)
    try:
        chats = shapes.read_export(json.loads(decode(data)), path)
    except (ValueError, RecursionError, Unreadable):
        return None
    return None if chats is None else iter(chats)


def _stream_telegram(file: BinaryIO) -> Iterator[Part]:
    """Yields the chats of an export of a Telegram account, one after the other. Raises Unreadable for other files."""
    file.seek(0)
    has_chats = False
    for chat in _parse_items(file, "chats.list.item"):
        for document in shapes.read_export({"chats": {"list": [chat]}}, Path()) or ():
            has_chats = True
            yield document
    if not has_chats:
        raise Unreadable(f"too large: the limit is {MAX_PLAIN // MIB} MiB for JSON that is no chat export")


def _stream_list(path: Path, file: BinaryIO) -> Iterator[Part] | None:
    """Returns the documents of an export that is a list, or None for another file."""
    begin = file.read(4096)
    file.seek(0)
    if begin.startswith(_BOM):
        file.read(len(_BOM))
    begin = begin.removeprefix(_BOM).lstrip()
    if not begin.startswith(b"[") or not begin[1:].lstrip().startswith(b"{"):
        return None  # the parser takes quadratic time for nested lists
    items = _parse_items(file, "item")
    try:
        first = next(items, None)
    except Unreadable:
        return None
    whole = chain([first], items)
    if _is_exported(first):
        return _stream_items(whole)
    if assistants.is_activity(first):
        return assistants.read_activities(whole)
    if messengers.is_message(first):  # an unpacked export
        day = messengers.read_day(whole, messengers.Workspace(), path.parent.name, path.stem)
        return iter([] if day is None else [replace(day, uri="")])
    return None


def _parse_items(file: BinaryIO, prefix: str) -> Iterator[Any]:
    """Yields the items of a JSON list, one after the other. Raises Unreadable."""
    try:
        yield from ijson.items(file, prefix, use_float=True)
    except (ijson.JSONError, ValueError, *archive.DAMAGED) as error:
        reason = str(error).partition("\n")[0].strip()
        raise Unreadable(f"not valid JSON from here on: {reason}") from error


def _is_exported(value: Any) -> bool:
    return any(fits(value) for fits, _ in _KINDS)


def _stream_items(items: Iterator[Any]) -> Iterator[Part]:
    collected: dict[str, dict[str, Turn]] = {uri: {} for uri in _COLLECTED}
    for number, value in enumerate(items, 1):
        try:
            part = _read_conversation(value, number)
            for uri, read_turns in _COLLECTED.items() if assistants.is_tree(value) else ():
                for turn in read_turns(value):
                    collected[uri].setdefault(turn.text, turn)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            part = Unread(str(number), f"a damaged conversation: {type(error).__name__}")
        if part is not None:
            yield part
    for uri, by_text in collected.items():
        turns = tuple(sorted(by_text.values(), key=lambda turn: turn.at.timestamp() if turn.at else 0))
        if turns:
            yield sign(Document(uri, turns=turns, title=_TITLES[uri], conversation=_TITLES[uri]))


def _read_conversation(value: Any, number: int) -> Part | None:
    """Returns the document of a conversation, or None for one without messages."""
    document = next((read(value, number) for fits, read in _KINDS if fits(value)), None)
    if document is None:
        return Unread(str(number), "not a conversation, in an export of conversations")
    return sign(document) if document.turns or document.text else None


def read(path: Path, data: bytes, read_other: ReadOther) -> list[Document]:
    try:
        text = decode(data)
        loaded = json.loads(text)
    except RecursionError as error:
        raise Unreadable("JSON that is nested too deeply") from error
    except ValueError as error:
        raise Unreadable(f"not valid JSON: {error}") from error
    if _is_exported(loaded):
        return [part for part in _stream_items(iter([loaded])) if isinstance(part, Document)]
    exported = shapes.read_export(loaded, path)
    chats = shapes.read_plain(loaded) if exported is None else exported
    if chats == []:
        raise Unreadable(EMPTY)
    return read_other(path, text, loaded) if chats is None else chats
