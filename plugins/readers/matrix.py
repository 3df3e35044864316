"""A room of Matrix as Element exports it in JSON: its events. What joins, calls and reactions is nobody's word."""

from collections.abc import Iterator, Mapping
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers.messages import clip, make_chat, time_of

_SAID = ("m.text", "m.notice", "m.emote")
_EVENTS_LOOKED_AT = 20


def is_room(value: Any) -> bool:
    """Whether it is an export of one."""
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    return any(_is_event(event) for event in value["messages"][:_EVENTS_LOOKED_AT])


def read_room(value: Mapping[str, Any]) -> Document:
    """What was said in the room, as it was edited last."""
    events = [event for event in value["messages"] if _is_event(event)]
    names = dict(_names(events))
    edited = {id: content for event in events for id, content in _edits(event)}
    turns = []
    for event in events:
        content = edited.get(str(event.get("event_id")), event.get("content"))
        if event["type"] != "m.room.message" or not isinstance(content, Mapping) or [*_edits(event)]:
            continue
        body = content.get("body")
        if content.get("msgtype") in _SAID and isinstance(body, str) and (text := _without_quote(body, content)):
            speaker = names.get(event["sender"]) or event["sender"].lstrip("@").partition(":")[0]
            turns.append(Turn(speaker, clip(text), time_of(event["origin_server_ts"]), str(event.get("event_id"))))
    name = value.get("room_name")
    title = name if isinstance(name, str) and name.strip() else None
    return make_chat("", title, turns)


def _is_event(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("origin_server_ts"), int | float):
        return False
    return isinstance(value.get("sender"), str) and isinstance(value.get("type"), str)


def _names(events: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for event in events:
        content = event.get("content")
        name = content.get("displayname") if isinstance(content, Mapping) else None
        if event["type"] == "m.room.member" and isinstance(name, str) and name.strip():
            yield str(event.get("state_key") or event["sender"]), name


def _edits(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The id of the message that an event replaces, with what stands there now."""
    content = event.get("content")
    relation = content.get("m.relates_to") if isinstance(content, Mapping) else None
    if isinstance(content, Mapping) and isinstance(relation, Mapping) and relation.get("rel_type") == "m.replace":
        new = content.get("m.new_content")
        yield str(relation.get("event_id")), new if isinstance(new, Mapping) else {}


def _without_quote(body: str, content: Mapping[str, Any]) -> str:
    """A message without the lines of the one that it answers, which older clients put before it."""
    relation = content.get("m.relates_to")
    lines = body.split("\n")
    if isinstance(relation, Mapping) and "m.in_reply_to" in relation:
        while lines and lines[0].startswith("> "):
            del lines[0]
    return "\n".join(lines).strip()
