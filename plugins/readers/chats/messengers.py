"""Chats in exports of Slack and Signal.

Slack: a zip with a folder per channel and in it a list of messages per day. Each day of a channel is a document, so
that a newer export only adds new days. Joins, leaves and topics are skipped. Signal (main.jsonl): lines for recipients,
then chats, then all messages by their time."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import PurePosixPath
from typing import Any

from memory.nouns import UNKNOWN, Document, Turn
from plugins.readers import Part, Unread, Unreadable, sign
from plugins.readers.chats import as_list, as_mapping, clip, first_of, make_chat, quote, shorten, time_of
from plugins.readers.common.archive import Archive

# Slack ----------------------------------------------------------------------------------------

_PEOPLE = "users.json"
_CHANNELS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_STAMP = re.compile(r"\d{9,11}\.\d{1,6}")
_SUBTYPES = (None, "thread_broadcast", "me_message", "file_share", "bot_message", "file_comment")  # others are events
_LINK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")


@dataclass
class Workspace:
    """The names in an export. `people`: by user id; `channels`: by folder; `threads`: the first words of answered
    messages of the days read so far, by time stamp."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)

    def introduce(self, people: Iterable[Any]) -> None:
        """Adds the names in a list of people."""
        for person in map(as_mapping, people):
            profile = as_mapping(person.get("profile"))
            names = (person.get("real_name"), profile.get("real_name"), profile.get("display_name"), person.get("name"))
            if name := next((name for name in names if isinstance(name, str) and name.strip()), None):
                self.people[str(person.get("id"))] = name

    def open_channels(self, channels: Iterable[Any]) -> None:
        """Adds the names of the chats in a list; a direct chat is named after its members."""
        for channel in map(as_mapping, channels):
            id, name, members = channel.get("id"), channel.get("name"), channel.get("members")
            if isinstance(name, str) and not name.startswith("mpdm-"):
                self.channels[name] = f"#{name}"
            elif isinstance(members, list):
                called = ", ".join(self.people.get(str(member), str(member)) for member in members)
                self.channels[str(name or id)] = called


def find_root(packed: Archive) -> PurePosixPath | None:
    """Returns the folder in a zip that is an export, or None."""
    paths = set(packed.paths)
    roots = (path.parent for path in packed.paths if path.name == _PEOPLE)
    return next((root for root in roots if any(root / name in paths for name in _CHANNELS)), None)


def stream_export(packed: Archive, root: PurePosixPath) -> Iterator[Part]:
    """Yields the days of all channels of the export in that folder."""
    workspace = Workspace()
    lists = [(_PEOPLE, workspace.introduce), *((name, workspace.open_channels) for name in _CHANNELS)]
    try:
        for name, take in lists:
            if root / name in packed.paths:
                take(as_list(packed.load_json(root / name)))
    except Unreadable as error:
        yield Unread(name, error.reason)
    for path in packed.paths:
        if path.parent.parent == root and _DAY.fullmatch(path.stem) and path.suffix == ".json":
            channel = path.parent.name
            try:
                day = read_day(as_list(packed.load_json(path)), workspace, channel, path.stem)
            except Unreadable as error:
                yield Unread(f"{channel}/{path.name}", error.reason)
                continue
            if day is not None:
                yield day


def is_message(value: Any) -> bool:
    """Whether a JSON value has the shape of a message."""
    return (
        isinstance(value, Mapping)
        and value.get("type") == "message"
        and isinstance(value.get("ts"), str)
        and _STAMP.fullmatch(value["ts"]) is not None
    )


def read_day(messages: Iterable[Any], workspace: Workspace, channel: str, day: str) -> Document | None:
    """Returns the messages of a channel on one day, each thread together; None without any."""
    kept = [
        item for item in messages if is_message(item) and item.get("subtype") in _SUBTYPES and not item.get("hidden")
    ]
    kept.sort(key=lambda item: (_find_thread(item), item["ts"]))
    stamps = {item["ts"] for item in kept}
    turns = []
    for message in kept:
        shown = map(as_mapping, as_list(message.get("attachments")))
        attached = (quote(str(words)) for item in shown if (words := first_of(item, ("text", "fallback"))))
        text = _show_marks("\n".join((str(message.get("text") or ""), *attached)), workspace).strip()
        if not text:
            continue
        speaker, root = _find_speaker(message, workspace), _find_thread(message)
        if message["ts"] == root and message.get("reply_count"):
            workspace.threads[root] = f"{speaker}: {shorten(text)}"
        elif root not in stamps and root in workspace.threads:  # begun earlier: quote its first message
            text = f"{text}\n> {workspace.threads[root]}"
        turns.append(Turn(speaker, clip(text), time_of(float(message["ts"])), message["ts"]))
    if not turns:
        return None
    name = workspace.channels.get(channel, f"#{channel}")
    return sign(make_chat(f"{channel}/{day}", name, turns))


def _find_thread(message: Mapping[str, Any]) -> str:
    root = message.get("thread_ts")
    return root if isinstance(root, str) else str(message["ts"])


def _find_speaker(message: Mapping[str, Any], workspace: Workspace) -> str:
    user, profile = message.get("user"), as_mapping(message.get("user_profile"))
    member = workspace.people.get(str(user)) if user else None
    profile_name = first_of(profile, ("real_name", "display_name", "name")) or message.get("username")
    bot = as_mapping(message.get("bot_profile")).get("name")
    return next((str(name) for name in (member, profile_name, bot, user) if name), UNKNOWN)


def _show_marks(text: str, workspace: Workspace) -> str:
    """Mentions and channels as names, links as Markdown."""

    def show(match: re.Match[str]) -> str:
        target, label = match[1], match[2]
        if target.startswith("@"):
            return f"@{label or workspace.people.get(target[1:], target[1:])}"
        if target.startswith("#"):
            return f"#{label or target[1:]}"
        if target.startswith("!"):
            return label or f"@{target[1:].partition('^')[0]}"
        if target.startswith("mailto:") or not label or label == target:
            return label or target
        return f"[{label}]({target})"

    return unescape(_LINK.sub(show, text))


# Signal ---------------------------------------------------------------------------------------

_ME = "me"
_FRAMES = {"recipient": "id", "chat": "recipientId", "chatItem": "chatId"}  # kinds of lines, and a required key of each


def is_frame(line: Mapping[str, Any]) -> bool:
    """Whether a line of JSON is one of an export of Signal."""
    return "backupTimeMs" in line or any(id in as_mapping(line.get(frame)) for frame, id in _FRAMES.items())


def read_frames(lines: Iterable[Mapping[str, Any]]) -> Iterator[Document]:
    """Yields the chats in the lines of an export of Signal."""
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
            speaker = _ME if "outgoing" in item else people.get(str(item.get("authorId")), (UNKNOWN, ""))[0]
            sent = str(item.get("dateSent") or "")
            at = time_of(int(sent)) if sent.isdecimal() else None
            chats.setdefault(with_whom, []).append(Turn(speaker, clip(text.strip()), at, sent or None))
    for (name, uri), turns in chats.items():
        yield sign(make_chat(uri, name, turns))


def _parse_recipient(recipient: Mapping[str, Any]) -> tuple[str, str]:
    """Returns (name of a recipient, id that is the same in every export)."""
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


def _name_contact(contact: Mapping[str, Any]) -> str:
    for names, keys in (
        (as_mapping(contact.get("nickname")), ("given", "family")),
        (contact, ("systemGivenName", "systemFamilyName")),
        (contact, ("profileGivenName", "profileFamilyName")),
    ):
        if parts := [str(names[key]) for key in keys if names.get(key)]:
            return " ".join(parts)
    return str(first_of(contact, ("username", "e164")) or UNKNOWN)
