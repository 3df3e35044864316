"""Conversations, memories and projects in an export of Claude."""

from collections.abc import Iterator, Mapping
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers.chats.messages import as_list, as_mapping, clip, quote, text_of, time_of
from plugins.readers.chats.shapes import Shape

REMEMBERED = "What Claude remembers"
_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


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
    for item in as_list(value["docs"]):
        content = as_mapping(item).get("content")
        if isinstance(content, str) and content.strip():
            parts.append(f"## {as_mapping(item).get('filename') or 'document'}\n\n{content.strip()}")
    own = () if value.get("is_starter_project") else parts
    text = "\n\n".join(part.strip() for part in own if isinstance(part, str) and part.strip())
    name = value.get("name")
    title = name if isinstance(name, str) and name.strip() else None
    return Document(str(value.get("uuid") or number), clip(text), title=title, at=time_of(value.get("created_at")))


def read_memory(value: Mapping[str, Any]) -> Document:
    """The memories, whose speaker is the assistant."""
    kept = [value["conversations_memory"], *as_mapping(value.get("project_memories")).values()]
    turns = [Turn("assistant", clip(text.strip())) for text in kept if isinstance(text, str) and text.strip()]
    return Document(uri="memory", turns=tuple(turns), title=REMEMBERED, conversation=REMEMBERED)


def _list_messages(conversation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in conversation["chat_messages"]:
        if as_mapping(message).get("sender") in _SPEAKERS:
            yield {**message, "sender": _SPEAKERS[message["sender"]]}


def _show(message: Mapping[str, Any], written: Any) -> str:
    """The text of a message, with its attached texts as quotations."""
    texts = [part for part in as_list(message.get("content")) if as_mapping(part).get("type") == "text"]
    parts = [text_of(texts) or (written if isinstance(written, str) else "")]
    for attached in map(as_mapping, as_list(message.get("attachments"))):
        content = attached.get("extracted_content")
        if isinstance(content, str) and content.strip():
            parts.append(f"> {attached.get('file_name') or 'attachment'}\n" + quote(content.strip()))
    return "\n\n".join(filter(None, (part.strip() for part in parts)))


CONVERSATION = Shape(
    "", (), "sender", "text", "created_at", "uuid", ("name",), name="uuid",
    items="chat_messages", prepare=_list_messages, show=_show,
)  # fmt: skip
