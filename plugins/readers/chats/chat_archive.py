"""The chats in a zip: an export of ChatGPT, Claude, Gemini, Slack, Discord, Signal or a messenger, or a chat of
WhatsApp. Other files in it are skipped."""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Part, Unread, Unreadable, sign
from plugins.readers.chats import discord_package, gemini, pages, signal, slack
from plugins.readers.chats.chat_lines import turns_of
from plugins.readers.chats.messages import read_objects
from plugins.readers.common.archive import DAMAGED, Archive
from plugins.readers.common.decode import text_of as decode

NO_EXPORT = "an archive without a known chat export; unpack it to have its files read"
MAX_TEXT = 64 * MIB  # of a chat in a text file
_PIECE = MIB  # of a page that is read at once
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NAMELESS = "_chat"  # the file name of a WhatsApp chat from an iPhone; the archive has the chat's name

ReadJson = Callable[[Path, BinaryIO], Iterator[Part] | None]


def stream_archive(path: Path, file: BinaryIO, read_json: ReadJson) -> Iterator[Part]:
    """The chats in a zip; `read_json` parses a JSON file. Raises Unreadable."""
    with Archive(file) as packed:
        if (root := _find_workspace(packed)) is not None:
            yield from _stream_workspace(packed, root)
            return
        if channels := discord_package.find_channels(packed):
            yield from discord_package.stream_package(packed, channels)
            return
        has_chats, given = False, set[str]()
        for member in packed.members((".json", ".jsonl", ".txt", ".html", ".htm")):
            if isinstance(member, Unread):
                has_chats = True
                yield member
                continue
            name, opened = member
            try:
                for part in _read_member(path, name, opened, read_json):
                    has_chats = True
                    if not part.uri:  # each chat has its own file; many have the same name
                        part = replace(part, uri=name.name if name.name not in given else str(name))
                    if part.uri not in given:  # a chat that is split over several files is reported once
                        given.add(part.uri)
                        yield part
            except Unreadable as error:
                has_chats = True
                yield Unread(name.name, error.reason)
            except DAMAGED as error:
                has_chats = True
                yield Unread(name.name, f"damaged in the archive: {error}")
        if not has_chats:
            raise Unreadable(NO_EXPORT)


def _read_member(path: Path, name: PurePosixPath, file: BinaryIO, read_json: ReadJson) -> Iterator[Part]:
    suffix = name.suffix.lower()
    if suffix == ".json":
        yield from read_json(Path(name), file) or ()
    elif suffix == ".jsonl":
        first = next(read_objects(file), None)
        read = signal.recognize(first) if first is not None else None
        if read is not None:
            file.seek(0)
            yield from read(Path(name), read_objects(file))
    elif suffix == ".txt":
        data = file.read(MAX_TEXT + 1)
        turns = turns_of(decode(data)) if data and len(data) <= MAX_TEXT else ()
        if turns:
            title = path.stem if name.stem == _NAMELESS else name.stem
            yield sign(Document("", turns=turns, title=title, conversation=title, at=turns[0].at))
    else:
        parts = _decode(file)
        if gemini.is_page(begin := next(parts, "")):
            yield from gemini.read_page(chain([begin], parts))
        elif pages.is_page(begin):
            yield pages.read_page(chain([begin], parts))


def _decode(file: BinaryIO) -> Iterator[str]:
    decoder = getincrementaldecoder("utf-8")("replace")
    while data := file.read(_PIECE):
        yield decoder.decode(data)


def _find_workspace(packed: Archive) -> PurePosixPath | None:
    """The folder in the zip that is an export of Slack, or None."""
    paths = set(packed.paths)
    roots = (path.parent for path in packed.paths if path.name == slack.PEOPLE)
    return next((root for root in roots if any(root / name in paths for name in slack.CHANNELS)), None)


def _stream_workspace(packed: Archive, root: PurePosixPath) -> Iterator[Part]:
    workspace = slack.Workspace()
    paths = set(packed.paths)
    for name, take in [
        (slack.PEOPLE, workspace.introduce),
        *((name, workspace.open_channels) for name in slack.CHANNELS),
    ]:
        if root / name in paths:
            try:
                take(packed.load_json(root / name, MAX_TEXT))
            except Unreadable as error:
                yield Unread(name, error.reason)
    for path in packed.paths:
        if path.parent.parent == root and _DAY.fullmatch(path.stem) and path.suffix == ".json":
            channel = path.parent.name
            try:
                messages = packed.load_json(path, MAX_TEXT)
            except Unreadable as error:
                yield Unread(f"{channel}/{path.name}", error.reason)
                continue
            day = slack.read_day(messages if isinstance(messages, list) else (), workspace, channel, path.stem)
            if day is not None:
                yield day
