"""The chats in a zip: an export of ChatGPT, Claude, Gemini, Slack, Signal or a messenger, or a chat of WhatsApp. Other
files in it are skipped."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Part, Unread, Unreadable, sign
from plugins.readers.chats import signal, slack
from plugins.readers.chats.chat_lines import turns_of
from plugins.readers.chats.messages import make_chat, read_objects
from plugins.readers.common.archive import DAMAGED, Archive
from plugins.readers.common.decode import text_of as decode

NO_EXPORT = "an archive without a known chat export; unpack it to have its files read"
MAX_TEXT = 64 * MIB  # of a chat in a text file
_NAMELESS = "_chat"  # the file name of a WhatsApp chat from an iPhone; the archive has the chat's name

ReadJson = Callable[[Path, BinaryIO], Iterator[Part] | None]


def stream_archive(path: Path, file: BinaryIO, read_json: ReadJson) -> Iterator[Part]:
    """The chats in a zip; `read_json` parses a JSON file. Raises Unreadable."""
    with Archive(file) as packed:
        if (root := slack.find_root(packed)) is not None:
            yield from slack.stream_export(packed, root)
            return
        given: set[str] = set()
        for member in packed.members((".json", ".jsonl", ".txt")):
            for part in [member] if isinstance(member, Unread) else _read_member(path, *member, read_json):
                if part.uri not in given:  # a chat that is split over several files is reported once
                    given.add(part.uri)
                    yield part
        if not given:
            raise Unreadable(NO_EXPORT)


def _read_member(path: Path, name: PurePosixPath, file: BinaryIO, read_json: ReadJson) -> Iterator[Part]:
    """The chats in a file of the zip; a chat without an id gets the name of the file."""
    try:
        if name.suffix.lower() == ".txt":
            parts: Iterator[Part] = _read_text(path, name, file)
        elif name.suffix.lower() == ".json":
            parts = read_json(Path(name), file) or iter(())
        else:
            lines = read_objects(file)
            first = next(lines, {})
            parts = signal.read_frames(chain([first], lines)) if signal.is_frame(first) else iter(())
        for part in parts:
            yield part if part.uri else replace(part, uri=str(name))
    except Unreadable as error:
        yield Unread(name.name, error.reason)
    except DAMAGED as error:
        yield Unread(name.name, f"damaged in the archive: {error}")


def _read_text(path: Path, name: PurePosixPath, file: BinaryIO) -> Iterator[Document]:
    data = file.read(MAX_TEXT + 1)
    if data and len(data) <= MAX_TEXT and (turns := turns_of(decode(data))):
        yield sign(make_chat("", path.stem if name.stem == _NAMELESS else name.stem, turns))
