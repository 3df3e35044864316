"""Chats of Signal as JSON lines: its plain text export (main.jsonl), the messages of signal-cli, and the files of
signal-export (data.json in a folder per chat)."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.chats.messages import UNKNOWN, as_mapping, clip, first_of, make_chat, time_of

ME = "me"
_FRAMES = {"recipient": "id", "chat": "recipientId", "chatItem": "chatId"}  # kinds of lines, and a required key of each

Line = Mapping[str, Any]


@dataclass
class _Chat:
    name: str
    turns: list[Turn] = field(default_factory=list)


def recognize(line: Line) -> Callable[[Path, Iterable[Line]], Iterator[Document]] | None:
    """The parser for the lines of a file, chosen by the shape of one line; None if it is no chat of Signal."""
    if isinstance(_find_envelope(line), Mapping):
        return _read_envelopes
    if "backupTimeMs" in line or any(id in as_mapping(line.get(frame)) for frame, id in _FRAMES.items()):
        return _read_frames
    if {"date", "sender", "body"} <= line.keys() and "reactions" in line:
        return _read_messages
    return None


def _read_frames(path: Path, lines: Iterable[Line]) -> Iterator[Document]:
    """Signal's export: recipients, chats, then all messages in the order of their time."""
    people: dict[str, tuple[str, str]] = {}  # id -> (name, id that is stable over exports)
    chats: dict[str, str] = {}
    chat_by_uri: dict[str, _Chat] = {}
    for line in lines:
        person, chat, item = (line.get(kind) for kind in ("recipient", "chat", "chatItem"))
        if isinstance(person, Mapping):
            people[str(person.get("id"))] = _parse_recipient(person)
        elif isinstance(chat, Mapping):
            chats[str(chat.get("id"))] = str(chat.get("recipientId"))
        elif isinstance(item, Mapping):
            text = as_mapping(as_mapping(item.get("standardMessage")).get("text")).get("body")
            if isinstance(text, str) and text.strip():
                name, uri = people.get(chats.get(str(item.get("chatId")), ""), (UNKNOWN, str(item.get("chatId"))))
                speaker = ME if "outgoing" in item else people.get(str(item.get("authorId")), (UNKNOWN, ""))[0]
                _add(chat_by_uri.setdefault(uri, _Chat(name)), speaker, text, item.get("dateSent"))
    return _make_documents(chat_by_uri)


def _parse_recipient(recipient: Line) -> tuple[str, str]:
    """(name of a recipient, id that is the same in every export)."""
    if "self" in recipient:
        return "Note to self", "self"
    id = str(recipient.get("id"))
    contact, group = recipient.get("contact"), recipient.get("group")
    if isinstance(contact, Mapping):
        return _name_contact(contact), str(first_of(contact, ("aci", "e164", "pni")) or id)
    if isinstance(group, Mapping):
        title = as_mapping(group.get("snapshot")).get("title")
        name = title.get("title") if isinstance(title, Mapping) else title
        key = group.get("masterKey")  # a secret: it gives access to the group
        return str(name or "A group"), hashlib.sha256(key.encode()).hexdigest()[:16] if isinstance(key, str) else id
    return UNKNOWN, id


def _name_contact(contact: Line) -> str:
    nickname = contact.get("nickname")
    for names, keys in (
        (nickname, ("given", "family")),
        (contact, ("systemGivenName", "systemFamilyName")),
        (contact, ("profileGivenName", "profileFamilyName")),
    ):
        parts = [str(names[key]) for key in keys if names.get(key)] if isinstance(names, Mapping) else []
        if parts:
            return " ".join(parts)
    return str(first_of(contact, ("username", "e164")) or UNKNOWN)


def _read_envelopes(path: Path, lines: Iterable[Line]) -> Iterator[Document]:
    """The messages that signal-cli received, and those sent from another device."""
    chat_by_uri: dict[str, _Chat] = {}
    for line in lines:
        envelope = as_mapping(_find_envelope(line))
        sent = as_mapping(as_mapping(envelope.get("syncMessage")).get("sentMessage"))
        message = sent or as_mapping(envelope.get("dataMessage"))
        text = message.get("message")
        if not isinstance(text, str) or not text.strip():
            continue
        source = str(first_of(envelope, ("sourceNumber", "source", "sourceUuid")) or UNKNOWN)
        name = str(envelope.get("sourceName") or source)
        group = as_mapping(message.get("groupInfo"))
        if group:
            uri, chat_name = str(group.get("groupId")), str(group.get("groupName") or "A group")
        elif sent:
            uri = chat_name = str(first_of(sent, ("destinationNumber", "destination", "destinationUuid")) or UNKNOWN)
        else:
            uri, chat_name = source, name
        chat = chat_by_uri.setdefault(uri, _Chat(chat_name))
        if not sent and not group:
            chat.name = name  # known only by number so far
        _add(chat, ME if sent else name, text, message.get("timestamp") or envelope.get("timestamp"))
    return _make_documents(chat_by_uri)


def _find_envelope(line: Line) -> Any:
    params = line.get("params")
    return params.get("envelope") if isinstance(params, Mapping) else line.get("envelope")


def _read_messages(path: Path, lines: Iterable[Line]) -> Iterator[Document]:
    """A file of signal-export: one chat, named after its folder."""
    chat = _Chat(path.parent.name or path.stem)
    for line in lines:
        text, sender = line.get("body"), line.get("sender")
        if isinstance(text, str) and text.strip():
            speaker = str(sender or UNKNOWN)
            _add(chat, ME if speaker == "Me" else speaker, text, line.get("date"))
    return _make_documents({"": chat})


def _add(chat: _Chat, speaker: str, text: str, at: Any) -> None:
    moment = time_of(int(at)) if isinstance(at, str) and at.isdecimal() else time_of(at)
    chat.turns.append(Turn(speaker, clip(text.strip()), moment, str(at) if at else None))


def _make_documents(chats: Mapping[str, _Chat]) -> Iterator[Document]:
    for uri, chat in chats.items():
        if chat.turns:
            yield sign(make_chat(uri, chat.name, chat.turns))
