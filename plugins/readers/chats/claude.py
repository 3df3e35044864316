"""Conversations, memories and projects in an export of Claude."""

from collections.abc import Mapping
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers.chats.messages import as_mapping, clip, quote, text_of, time_of

REMEMBERED = "What Claude remembers"
_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


def is_conversation(value: Any) -> bool:
    """Whether a JSON value has the shape of a conversation."""
    return isinstance(value, Mapping) and isinstance(value.get("chat_messages"), list)


def is_memory(value: Any) -> bool:
    """Whether a JSON value holds Claude's memories of the person."""
    return isinstance(value, Mapping) and isinstance(value.get("conversations_memory"), str)


def is_project(value: Any) -> bool:
    """Whether a JSON value is a project: the person's instructions and documents."""
    return isinstance(value, Mapping) and "prompt_template" in value and isinstance(value.get("docs"), list)


def read_project(value: Mapping[str, Any], number: int) -> Document:
    """The document of the `number`-th project of a file; without text if it is empty or a starter project. Instructions
    to Claude are quoted, because they are about Claude."""
    instructions = value.get("prompt_template")
    parts = [
        value.get("description"),
        quote(instructions.strip()) if isinstance(instructions, str) and instructions.strip() else "",
    ]
    for item in _list(value["docs"]):
        content = as_mapping(item).get("content")
        if isinstance(content, str) and content.strip():
            parts.append(f"## {as_mapping(item).get('filename') or 'document'}\n\n{content.strip()}")
    own = () if value.get("is_starter_project") else parts
    text = "\n\n".join(part.strip() for part in own if isinstance(part, str) and part.strip())
    name = value.get("name")
    title = name if isinstance(name, str) and name.strip() else None
    return Document(str(value.get("uuid") or number), clip(text), title=title, at=time_of(value.get("created_at")))


def read_conversation(value: Mapping[str, Any], number: int) -> Document:
    """The document of the `number`-th conversation of a file."""
    turns = [turn for message in value["chat_messages"] if (turn := _make_turn(message)) is not None]
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
    """The memories, whose speaker is the assistant."""
    kept = [value["conversations_memory"], *as_mapping(value.get("project_memories")).values()]
    turns = [Turn("assistant", clip(text.strip())) for text in kept if isinstance(text, str) and text.strip()]
    return Document(uri="memory", turns=tuple(turns), title=REMEMBERED, conversation=REMEMBERED)


def _make_turn(message: Any) -> Turn | None:
    if not isinstance(message, Mapping):
        return None
    speaker = _SPEAKERS.get(str(message.get("sender")))
    texts = [part for part in _list(message.get("content")) if isinstance(part, Mapping) and part.get("type") == "text"]
    written = message.get("text")
    parts = [text_of(texts) or (written if isinstance(written, str) else "")]
    for attached in _list(message.get("attachments")):
        content = attached.get("extracted_content") if isinstance(attached, Mapping) else None
        if isinstance(content, str) and content.strip():
            parts.append(f"> {attached.get('file_name') or 'attachment'}\n" + quote(content.strip()))
    text = "\n\n".join(filter(None, (part.strip() for part in parts)))
    id = message.get("uuid")
    if speaker is None or not text:
        return None
    return Turn(speaker, clip(text), time_of(message.get("created_at")), str(id) if id else None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
