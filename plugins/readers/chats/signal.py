"""Chats of Signal's own export (main.jsonl): lines for recipients, then chats, then all messages by their time."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memory.nouns import UNKNOWN, Document, Turn
from plugins.readers import sign
from plugins.readers.chats.messages import as_mapping, clip, first_of, make_chat, time_of

ME = "me"
_FRAMES = {"recipient": "id", "chat": "recipientId", "chatItem": "chatId"}  # kinds of lines, and a required key of each

Line = Mapping[str, Any]


def is_frame(line: Line) -> bool:
    """Whether a line of JSON is one of the export."""
    return "backupTimeMs" in line or any(id in as_mapping(line.get(frame)) for frame, id in _FRAMES.items())


def read_frames(lines: Iterable[Line]) -> Iterator[Document]:
    people: dict[str, tuple[str, str]] = {}  # id -> (name, id that is stable over exports)
    recipients: dict[str, str] = {}  # by the id of their chat
    chats: dict[tuple[str, str], list[Turn]] = {}
    for line in lines:
        person, chat, item = (as_mapping(line.get(kind)) for kind in _FRAMES)
        if person:
            people[str(person.get("id"))] = _parse_recipient(person)
        elif chat:
            recipients[str(chat.get("id"))] = str(chat.get("recipientId"))
        text = as_mapping(as_mapping(item.get("standardMessage")).get("text")).get("body")
        if isinstance(text, str) and text.strip():
            with_whom = people.get(recipients.get(str(item.get("chatId")), ""), (UNKNOWN, str(item.get("chatId"))))
            speaker = ME if "outgoing" in item else people.get(str(item.get("authorId")), (UNKNOWN, ""))[0]
            sent = str(item.get("dateSent") or "")
            at = time_of(int(sent)) if sent.isdecimal() else None
            chats.setdefault(with_whom, []).append(Turn(speaker, clip(text.strip()), at, sent or None))
    for (name, uri), turns in chats.items():
        yield sign(make_chat(uri, name, turns))


def _parse_recipient(recipient: Line) -> tuple[str, str]:
    """(name of a recipient, id that is the same in every export)."""
    id = str(recipient.get("id"))
    contact, group = as_mapping(recipient.get("contact")), as_mapping(recipient.get("group"))
    if "self" in recipient:
        return "Note to self", "self"
    if contact:
        return _name_contact(contact), str(first_of(contact, ("aci", "e164", "pni")) or id)
    if not group:
        return UNKNOWN, id
    title = as_mapping(group.get("snapshot")).get("title")
    key = group.get("masterKey")  # a secret: it gives access to the group
    stable = hashlib.sha256(key.encode()).hexdigest()[:16] if isinstance(key, str) else id
    return str(as_mapping(title).get("title", title) or "A group"), stable


def _name_contact(contact: Line) -> str:
    for names, keys in (
        (as_mapping(contact.get("nickname")), ("given", "family")),
        (contact, ("systemGivenName", "systemFamilyName")),
        (contact, ("profileGivenName", "profileFamilyName")),
    ):
        if parts := [str(names[key]) for key in keys if names.get(key)]:
            return " ".join(parts)
    return str(first_of(contact, ("username", "e164")) or UNKNOWN)
