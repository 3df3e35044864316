"""A conversation as Claude exports it, and what Claude keeps about the person between conversations."""

from collections.abc import Mapping
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers.messages import clip, text_of, time_of

_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


def is_conversation(value: Any) -> bool:
    """Whether it has the shape of one."""
    return isinstance(value, Mapping) and isinstance(value.get("chat_messages"), list)


def is_memory(value: Any) -> bool:
    """Whether it is what Claude keeps about the person."""
    return isinstance(value, Mapping) and isinstance(value.get("conversations_memory"), str)


def read_conversation(value: Mapping[str, Any], number: int) -> Document:
    """A conversation, the `number`-th of its file."""
    turns = [turn for message in value["chat_messages"] if (turn := _turn(message)) is not None]
    name, id = value.get("name"), value.get("uuid")
    title = name if isinstance(name, str) and name.strip() else None
    return Document(
        uri=str(id or number),
        turns=tuple(turns),
        title=title,
        conversation=title or (str(id) if id else None),
        at=next((turn.at for turn in turns if turn.at), None) or time_of(value.get("created_at")),
    )


def read_memory(value: Mapping[str, Any]) -> Document:
    """The machine wrote it: it can be found, and is nobody's word."""
    turns = (Turn("assistant", clip(value["conversations_memory"].strip())),)
    return Document(uri="memory", turns=turns, title="What Claude remembers", conversation="What Claude remembers")


def _turn(message: Any) -> Turn | None:
    if not isinstance(message, Mapping):
        return None
    speaker = _SPEAKERS.get(str(message.get("sender")))
    said = [part for part in _list(message.get("content")) if isinstance(part, Mapping) and part.get("type") == "text"]
    written = message.get("text")
    parts = [text_of(said) or (written if isinstance(written, str) else "")]
    for attached in _list(message.get("attachments")):
        content = attached.get("extracted_content") if isinstance(attached, Mapping) else None
        if isinstance(content, str) and content.strip():
            parts.append(f"> {attached.get('file_name') or 'attachment'}\n" + _quote(content.strip()))
    text = "\n\n".join(filter(None, (part.strip() for part in parts)))
    id = message.get("uuid")
    if speaker is None or not text:
        return None
    return Turn(speaker, clip(text), time_of(message.get("created_at")), str(id) if id else None)


def _quote(text: str) -> str:
    """What was attached is somebody's text, not what the person says."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
