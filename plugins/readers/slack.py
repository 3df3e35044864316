"""Chats as Slack exports them: a zip with a folder for each channel, and in it a list of messages for each day.

Each day of a channel is a document of its own, so that of a newer export only new days are written. What joins, leaves
and topics is nobody's word.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.messages import UNKNOWN, as_mapping, clip, first_of, shorten, time_of

PEOPLE = "users.json"
CHANNELS = ("channels.json", "groups.json", "dms.json", "mpims.json")

_STAMP = re.compile(r"\d{9,11}\.\d{1,6}")
_SAID = (None, "thread_broadcast", "me_message", "file_share", "bot_message", "file_comment")  # other kinds tell events
_LINK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")


@dataclass
class Workspace:
    """Who is who in an export. `people`: names by id; `channels`: names of chats by their folder; `threads`: by time
    the first words of messages that were answered, of those days that were read."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)

    def introduce(self, people: Any) -> None:
        """Takes down who is in a list of people."""
        for person in _mappings(people):
            profile = as_mapping(person.get("profile"))
            names = (person.get("real_name"), profile.get("real_name"), profile.get("display_name"), person.get("name"))
            if name := next((name for name in names if isinstance(name, str) and name.strip()), None):
                self.people[str(person.get("id"))] = name

    def open_channels(self, channels: Any) -> None:
        """Takes down what the chats in a list are called: a direct one as those who are in it."""
        for channel in _mappings(channels):
            id, name, members = channel.get("id"), channel.get("name"), channel.get("members")
            if isinstance(name, str) and not name.startswith("mpdm-"):
                self.channels[name] = f"#{name}"
            elif isinstance(members, list):
                called = ", ".join(self.people.get(str(member), str(member)) for member in members)
                self.channels[str(name or id)] = called


def is_message(value: Any) -> bool:
    """Whether it has the shape of one."""
    return (
        isinstance(value, Mapping)
        and value.get("type") == "message"
        and isinstance(value.get("ts"), str)
        and _STAMP.fullmatch(value["ts"]) is not None
    )


def read_day(messages: Iterable[Any], workspace: Workspace, channel: str, day: str) -> Document | None:
    """What was said in a channel on a day, each thread together; None if nothing was."""
    said = [one for one in messages if is_message(one) and one.get("subtype") in _SAID and not one.get("hidden")]
    said.sort(key=lambda one: (_thread(one), one["ts"]))
    here = {one["ts"] for one in said}
    turns = []
    for message in said:
        text = _show_marks(str(message.get("text") or ""), workspace).strip()
        if not text:
            continue
        speaker, root = _speaker(message, workspace), _thread(message)
        if message["ts"] == root and message.get("reply_count"):
            workspace.threads[root] = f"{speaker}: {shorten(text)}"
        elif root not in here and root in workspace.threads:  # begun on an earlier day: the words of somebody else
            text = f"{text}\n> {workspace.threads[root]}"
        turns.append(Turn(speaker, clip(text), time_of(float(message["ts"])), message["ts"]))
    if not turns:
        return None
    name = workspace.channels.get(channel, f"#{channel}")
    return sign(Document(f"{channel}/{day}", turns=tuple(turns), title=name, conversation=name, at=turns[0].at))


def _thread(message: Mapping[str, Any]) -> str:
    root = message.get("thread_ts")
    return root if isinstance(root, str) else str(message["ts"])


def _speaker(message: Mapping[str, Any], workspace: Workspace) -> str:
    user, profile = message.get("user"), as_mapping(message.get("user_profile"))
    known = workspace.people.get(str(user)) if user else None
    told = first_of(profile, ("real_name", "display_name", "name")) or message.get("username")
    bot = as_mapping(message.get("bot_profile")).get("name")
    return next((str(name) for name in (known, told, bot, user) if name), UNKNOWN)


def _show_marks(text: str, workspace: Workspace) -> str:
    """Names, channels and links as people read them, links as Markdown."""

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


def _mappings(value: Any) -> Iterable[Mapping[str, Any]]:
    return (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()
