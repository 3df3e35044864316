"""A room of Matrix in the JSON of Element: its messages. Joins, calls and reactions are skipped."""

from collections.abc import Iterator, Mapping
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers.chats.messages import clip, make_chat, time_of

_SAID = ("m.text", "m.notice", "m.emote")
_EVENTS_LOOKED_AT = 20


def is_room(value: Any) -> bool:
    """Whether a JSON value is an exported room."""
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    return any(_is_event(event) for event in value["messages"][:_EVENTS_LOOKED_AT])


def read_room(value: Mapping[str, Any]) -> Document:
    """The messages of the room after their last edits."""
    events = [event for event in value["messages"] if _is_event(event)]
    names = dict(_list_names(events))
    edited = {id: content for event in events for id, content in _find_edits(event)}
    turns = []
    for event in events:
        content = edited.get(str(event.get("event_id")), event.get("content"))
        if event["type"] != "m.room.message" or not isinstance(content, Mapping) or [*_find_edits(event)]:
            continue
        body = content.get("body")
        if content.get("msgtype") in _SAID and isinstance(body, str) and (text := _strip_quote(body, content)):
            speaker = names.get(event["sender"]) or event["sender"].lstrip("@").partition(":")[0]
            turns.append(Turn(speaker, clip(text), time_of(event["origin_server_ts"]), str(event.get("event_id"))))
    name = value.get("room_name")
    title = name if isinstance(name, str) and name.strip() else None
    return make_chat("", title, turns)


def _is_event(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("origin_server_ts"), int | float):
        return False
    return isinstance(value.get("sender"), str) and isinstance(value.get("type"), str)


def _list_names(events: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for event in events:
        content = event.get("content")
        name = content.get("displayname") if isinstance(content, Mapping) else None
        if event["type"] == "m.room.member" and isinstance(name, str) and name.strip():
            yield str(event.get("state_key") or event["sender"]), name


def _find_edits(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(id of the replaced message, new content) of an edit."""
    content = event.get("content")
    relation = content.get("m.relates_to") if isinstance(content, Mapping) else None
    if isinstance(content, Mapping) and isinstance(relation, Mapping) and relation.get("rel_type") == "m.replace":
        new = content.get("m.new_content")
        yield str(relation.get("event_id")), new if isinstance(new, Mapping) else {}


def _strip_quote(body: str, content: Mapping[str, Any]) -> str:
    """A message without the quoted lines of the message it replies to, which older clients put first."""
    relation = content.get("m.relates_to")
    lines = body.split("\n")
    if isinstance(relation, Mapping) and "m.in_reply_to" in relation:
        while lines and lines[0].startswith("> "):
            del lines[0]
    return "\n".join(lines).strip()
