"""Chats of Signal, as lines of JSON: its own export in plain text (main.jsonl), what signal-cli receives, and what the
program signal-export writes (data.json in a folder for each chat).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.messages import UNKNOWN, as_mapping, clip, first_of, make_chat, time_of

ME = "me"
_FRAMES = {"recipient": "id", "chat": "recipientId", "chatItem": "chatId"}  # kinds of lines, and what each must have

Line = Mapping[str, Any]


@dataclass
class _Chat:
    name: str
    turns: list[Turn] = field(default_factory=list)


def recognize(line: Line) -> Callable[[Path, Iterable[Line]], Iterator[Document]] | None:
    """What reads the lines of such a file, by the shape of one of them; None if it is no chat of Signal."""
    if isinstance(_envelope(line), Mapping):
        return _read_envelopes
    if "backupTimeMs" in line or any(id in as_mapping(line.get(frame)) for frame, id in _FRAMES.items()):
        return _read_frames
    if {"date", "sender", "body"} <= line.keys() and "reactions" in line:
        return _read_messages
    return None


def _read_frames(path: Path, lines: Iterable[Line]) -> Iterator[Document]:
    """Signal's own export: who there is, which chats, then the messages of all of them in the order of their time."""
    people: dict[str, tuple[str, str]] = {}  # id -> name, and what it is known by in every export
    chats: dict[str, str] = {}
    found: dict[str, _Chat] = {}
    for line in lines:
        person, chat, item = (line.get(kind) for kind in ("recipient", "chat", "chatItem"))
        if isinstance(person, Mapping):
            people[str(person.get("id"))] = _introduce(person)
        elif isinstance(chat, Mapping):
            chats[str(chat.get("id"))] = str(chat.get("recipientId"))
        elif isinstance(item, Mapping):
            text = as_mapping(as_mapping(item.get("standardMessage")).get("text")).get("body")
            if isinstance(text, str) and text.strip():
                name, uri = people.get(chats.get(str(item.get("chatId")), ""), (UNKNOWN, str(item.get("chatId"))))
                speaker = ME if "outgoing" in item else people.get(str(item.get("authorId")), (UNKNOWN, ""))[0]
                _add(found.setdefault(uri, _Chat(name)), speaker, text, item.get("dateSent"))
    return _documents(found)


def _introduce(recipient: Line) -> tuple[str, str]:
    """A recipient's name, and an id that is the same in every export."""
    if "self" in recipient:
        return "Note to self", "self"
    id = str(recipient.get("id"))
    contact, group = recipient.get("contact"), recipient.get("group")
    if isinstance(contact, Mapping):
        return _name_contact(contact), str(first_of(contact, ("aci", "e164", "pni")) or id)
    if isinstance(group, Mapping):
        title = as_mapping(group.get("snapshot")).get("title")
        name = title.get("title") if isinstance(title, Mapping) else title
        key = group.get("masterKey")  # opens the group: it is nobody's business
        return str(name or "A group"), hashlib.sha256(key.encode()).hexdigest()[:16] if isinstance(key, str) else id
    return UNKNOWN, id


def _name_contact(contact: Line) -> str:
    nickname = contact.get("nickname")
    for held, keys in (
        (nickname, ("given", "family")),
        (contact, ("systemGivenName", "systemFamilyName")),
        (contact, ("profileGivenName", "profileFamilyName")),
    ):
        parts = [str(held[key]) for key in keys if held.get(key)] if isinstance(held, Mapping) else []
        if parts:
            return " ".join(parts)
    return str(first_of(contact, ("username", "e164")) or UNKNOWN)


def _read_envelopes(path: Path, lines: Iterable[Line]) -> Iterator[Document]:
    """What signal-cli received, and what was sent from another device."""
    found: dict[str, _Chat] = {}
    for line in lines:
        envelope = as_mapping(_envelope(line))
        sent = as_mapping(as_mapping(envelope.get("syncMessage")).get("sentMessage"))
        message = sent or as_mapping(envelope.get("dataMessage"))
        text = message.get("message")
        if not isinstance(text, str) or not text.strip():
            continue
        source = str(first_of(envelope, ("sourceNumber", "source", "sourceUuid")) or UNKNOWN)
        name = str(envelope.get("sourceName") or source)
        group = as_mapping(message.get("groupInfo"))
        if group:
            uri, called = str(group.get("groupId")), str(group.get("groupName") or "A group")
        elif sent:
            uri = called = str(first_of(sent, ("destinationNumber", "destination", "destinationUuid")) or UNKNOWN)
        else:
            uri, called = source, name
        chat = found.setdefault(uri, _Chat(called))
        if not sent and not group:
            chat.name = name  # who was only known by a number before
        _add(chat, ME if sent else name, text, message.get("timestamp") or envelope.get("timestamp"))
    return _documents(found)


def _envelope(line: Line) -> Any:
    params = line.get("params")
    return params.get("envelope") if isinstance(params, Mapping) else line.get("envelope")


def _read_messages(path: Path, lines: Iterable[Line]) -> Iterator[Document]:
    """What signal-export writes: a file for each chat, whose name is that of its folder."""
    chat = _Chat(path.parent.name or path.stem)
    for line in lines:
        text, sender = line.get("body"), line.get("sender")
        if isinstance(text, str) and text.strip():
            speaker = str(sender or UNKNOWN)
            _add(chat, ME if speaker == "Me" else speaker, text, line.get("date"))
    return _documents({"": chat})


def _add(chat: _Chat, speaker: str, text: str, at: Any) -> None:
    moment = time_of(int(at)) if isinstance(at, str) and at.isdecimal() else time_of(at)
    chat.turns.append(Turn(speaker, clip(text.strip()), moment, str(at) if at else None))


def _documents(chats: Mapping[str, _Chat]) -> Iterator[Document]:
    for uri, chat in chats.items():
        if chat.turns:
            yield sign(make_chat(uri, chat.name, chat.turns))
