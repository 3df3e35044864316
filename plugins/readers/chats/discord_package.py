"""The messages of one person in the data package of Discord: a folder per channel, newest message first. Messages of
others are not in it."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import PurePosixPath
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers import MIB, Part, Unread, Unreadable, sign
from plugins.readers.chats.messages import as_mapping, clip, make_chat, time_of
from plugins.readers.common.archive import Archive
from plugins.readers.common.decode import text_of as decode

MAX_CHANNEL = 64 * MIB
OWNER = "user"  # if the package does not name the person
_MESSAGES = ("messages.json", "messages.csv")  # csv until 2023
_CHANNEL = "channel.json"


def is_message(value: Any) -> bool:
    """Whether a JSON value has the shape of a message."""
    return isinstance(value, Mapping) and {"ID", "Timestamp", "Contents"} <= value.keys()


def find_channels(packed: Archive) -> tuple[PurePosixPath, ...]:
    """The message files of a package, each next to its channel's description; () for another zip."""
    paths = set(packed.paths)
    return tuple(path for path in packed.paths if path.name in _MESSAGES and path.with_name(_CHANNEL) in paths)


def stream_package(packed: Archive, channels: Iterable[PurePosixPath]) -> Iterator[Part]:
    """The messages of each channel."""
    speaker = _find_owner(packed)
    names: dict[PurePosixPath, Mapping[str, Any]] = {}
    for path in channels:
        folder = path.parent
        index = folder.parent / "index.json"
        try:
            if index not in names:
                names[index] = as_mapping(packed.load_json(index, MAX_CHANNEL)) if index in packed.paths else {}
            about = as_mapping(packed.load_json(folder / _CHANNEL, MAX_CHANNEL))
            data = packed.read(path, MAX_CHANNEL)
            messages = list(csv.DictReader(StringIO(decode(data)))) if path.suffix == ".csv" else json.loads(data)
        except Unreadable as error:
            yield Unread(str(path), error.reason)
            continue
        except (ValueError, RecursionError, csv.Error) as error:
            yield Unread(str(path), f"not valid: {error}")
            continue
        id = str(about.get("id") or folder.name.removeprefix("c"))
        name = _name_channel(about) or names[index].get(id)
        document = read_channel(messages, id, name if isinstance(name, str) else folder.name, speaker)
        if document is not None:
            yield document


def read_channel(messages: Any, id: str, name: str, speaker: str = OWNER) -> Document | None:
    """The person's messages in a channel, oldest first; None for an empty channel."""
    turns = []
    for message in messages if isinstance(messages, Iterable) else ():
        text = message["Contents"] if is_message(message) else None
        if isinstance(text, str) and text.strip():
            written = str(message["Timestamp"]).strip()
            at = time_of(f"{written}+00:00" if len(written) == len("2026-03-04 10:00:00") else written)
            turns.append(Turn(speaker, clip(text.strip()), at, str(message["ID"])))
    if not turns:
        return None
    turns.sort(key=lambda turn: turn.at.timestamp() if turn.at else 0)
    return sign(make_chat(id, name, turns))


def _name_channel(about: Mapping[str, Any]) -> str | None:
    """ "server › channel", as in DiscordChatExporter's chats, or None."""
    server, name = as_mapping(about.get("guild")).get("name"), about.get("name")
    parts = [part for part in (server, name) if isinstance(part, str) and part]
    return " › ".join(parts) or None


def _find_owner(packed: Archive) -> str:
    for path in packed.paths:
        if path.name == "user.json" and path.parent.name.lower() == "account":
            try:
                about = as_mapping(packed.load_json(path, MAX_CHANNEL))
            except Unreadable:
                return OWNER
            return next((str(about[key]) for key in ("global_name", "username") if about.get(key)), OWNER)
    return OWNER
