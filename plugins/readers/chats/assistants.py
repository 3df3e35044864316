"""Conversations with assistants in exports of ChatGPT, Claude and Gemini, and what these remember of the person.

ChatGPT keeps a tree of messages, read along the branch that ends in `current_node`. Edited prompts and regenerated
answers begin other branches: replaced answers are kept and marked, replaced prompts are not. System messages, tool
calls and thoughts are omitted. Gemini's export (Google Takeout, "My Activity") has one activity per prompt, newest
first, without conversations: prompts without a long pause between them form one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.chats import (
    as_list,
    as_mapping,
    as_text,
    clip,
    make_chat,
    quote,
    shorten,
    text_of,
    time_of,
)
from plugins.readers.chats.shapes import Shape
from plugins.readers.common.html import convert

Node = Mapping[str, Any]

# ChatGPT --------------------------------------------------------------------------------------

_REPLACED = "(An answer that was replaced by another one.)"
_SAID = ("text", "multimodal_text")  # kinds of content that are messages
_MARKS = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")  # placeholders of links and searches
_NOTING = "bio"  # the tool that stores memories
_ENTRY = re.compile(
    r"^\d+\. \[(?P<day>\d{4}-\d\d-\d\d)\]\.? (?P<text>.+?)(?=\n+\d+\. \[|\s*\Z)", re.MULTILINE | re.DOTALL
)


def is_tree(value: Any) -> bool:
    """Whether a JSON value has the shape of a conversation of ChatGPT."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def read_tree(value: Node, number: int) -> Document:
    """Returns the document of the `number`-th conversation of a file."""
    tree = {id: node for id, node in value["mapping"].items() if isinstance(node, Mapping)}
    branch = _find_branch(tree, value.get("current_node"))
    turns = [turn for id in branch for turn in _list_turns(tree, id, frozenset(branch))]
    id, name = value.get("conversation_id") or value.get("id"), as_text(value.get("title")) or None
    chat = make_chat(str(id or number), name, turns)
    return replace(
        chat, at=chat.at or time_of(value.get("create_time")), conversation=name or (str(id) if id else None)
    )


def read_profile(value: Node) -> Iterator[Turn]:
    """Yields the custom instructions of the person at the time of this conversation."""
    for _, content in _list_contents(value):
        if content.get("content_type") == "user_editable_context":
            texts = (as_text(content.get(part)) for part in ("user_profile", "user_instructions"))
            if text := "\n\n".join(filter(None, texts)):
                yield Turn("user", clip(text), time_of(value.get("create_time")))


def read_memories(value: Node) -> Iterator[Turn]:
    """Yields the memories that ChatGPT stored in or before this conversation, each with its day. Their speaker is the
    assistant."""
    for message, content in _list_contents(value):
        if message.get("recipient") == _NOTING and as_mapping(message.get("author")).get("role") == "assistant":
            noted = as_text(content.get("text")) or text_of(content.get("parts"))
            for line in filter(None, map(str.strip, noted.splitlines())):
                yield Turn("assistant", clip(line), time_of(message.get("create_time")))
        for match in _ENTRY.finditer(as_text(content.get("model_set_context"))):
            yield Turn("assistant", clip(" ".join(match["text"].split())), time_of(match["day"]))


def _list_contents(value: Node) -> Iterator[tuple[Node, Node]]:
    """Yields each message with its content."""
    for node in value["mapping"].values():
        message = as_mapping(as_mapping(node).get("message"))
        yield message, as_mapping(message.get("content"))


def _find_branch(tree: Mapping[str, Node], end: Any) -> list[str]:
    """Returns the ids from the first message to `end`, or to the newest message without a valid `end`."""
    if not isinstance(end, str) or end not in tree:
        end = max(tree, key=lambda id: _find_time(tree[id]), default=None)
    branch: dict[str, None] = {}
    while isinstance(end, str) and end in tree and end not in branch:
        branch[end] = None
        end = tree[end].get("parent")
    return [*reversed(branch)]


def _find_time(node: Node) -> float:
    created = as_mapping(node.get("message")).get("create_time")
    return created if isinstance(created, int | float) else 0.0


def _list_turns(tree: Mapping[str, Node], id: str, branch: frozenset[str]) -> Iterator[Turn]:
    """Yields the turns of a message of the branch; replaced answers follow their prompt."""
    turn = _make_turn(tree[id])
    if turn is None:
        return
    yield turn
    children = _list_children(tree, id) if turn.speaker == "user" else []
    if not branch.isdisjoint(children):
        others = (_find_answer(tree, child) for child in children if child not in branch)
        yield from (replace(other, text=f"{_REPLACED}\n{other.text}") for other in others if other is not None)


def _find_answer(tree: Mapping[str, Node], id: str) -> Turn | None:
    """Returns the first reply of the assistant from here on, before the next prompt."""
    seen: set[str] = set()
    while id not in seen:
        seen.add(id)
        turn = _make_turn(tree[id])
        if turn is not None:
            return turn if turn.speaker == "assistant" else None
        id = next(iter(_list_children(tree, id)), id)
    return None


def _list_children(tree: Mapping[str, Node], id: str) -> list[str]:
    return [child for child in as_list(tree[id].get("children")) if isinstance(child, str) and child in tree]


def _make_turn(node: Node) -> Turn | None:
    """Returns a message of the person or the assistant to the other; None for all others."""
    message = as_mapping(node.get("message"))
    author, content, about = (as_mapping(message.get(key)) for key in ("author", "content", "metadata"))
    role = str(author.get("role"))
    is_said = role in ("user", "assistant") and content.get("content_type") in _SAID
    if not is_said or message.get("recipient") not in (None, "all"):
        return None
    if about.get("is_visually_hidden_from_conversation") or about.get("is_user_system_message"):
        return None
    text, id = _MARKS.sub("", text_of(content.get("parts"))).strip(), message.get("id")
    return Turn(role, clip(text), time_of(message.get("create_time")), str(id) if id else None) if text else None


# Claude ---------------------------------------------------------------------------------------

_REMEMBERED = "What Claude remembers"
_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


def is_memory(value: Any) -> bool:
    """Whether a JSON value holds Claude's memories of the person."""
    return isinstance(value, Mapping) and isinstance(value.get("conversations_memory"), str)


def read_memory(value: Node, number: int) -> Document:
    """Returns the memories, whose speaker is the assistant."""
    kept = map(as_text, (value["conversations_memory"], *as_mapping(value.get("project_memories")).values()))
    return make_chat("memory", _REMEMBERED, [Turn("assistant", clip(text)) for text in kept if text])


def is_project(value: Any) -> bool:
    """Whether a JSON value is a project of Claude: the person's instructions and documents."""
    return isinstance(value, Mapping) and "prompt_template" in value and isinstance(value.get("docs"), list)


def read_project(value: Node, number: int) -> Document:
    """Returns the document of the `number`-th project of a file; without text if it is empty or a starter project.
    Instructions to Claude are quoted, because they are about Claude."""
    instructions = as_text(value.get("prompt_template"))
    parts = [as_text(value.get("description")), quote(instructions) if instructions else ""]
    for item in map(as_mapping, value["docs"]):
        if content := as_text(item.get("content")):
            parts.append(f"## {item.get('filename') or 'document'}\n\n{content}")
    text = "" if value.get("is_starter_project") else "\n\n".join(filter(None, parts))
    title = as_text(value.get("name")) or None
    return Document(str(value.get("uuid") or number), clip(text), title=title, at=time_of(value.get("created_at")))


def _list_messages(conversation: Node) -> Iterator[Node]:
    for message in conversation["chat_messages"]:
        if as_mapping(message).get("sender") in _SPEAKERS:
            yield {**message, "sender": _SPEAKERS[message["sender"]]}


def _show(message: Node, written: Any) -> str:
    """Returns the text of a message, with its attached texts as quotations."""
    texts = [part for part in as_list(message.get("content")) if as_mapping(part).get("type") == "text"]
    parts = [text_of(texts) or as_text(written)]
    for attached in map(as_mapping, as_list(message.get("attachments"))):
        if content := as_text(attached.get("extracted_content")):
            parts.append(f"> {attached.get('file_name') or 'attachment'}\n{quote(content)}")
    return "\n\n".join(filter(None, map(str.strip, parts)))


CLAUDE = Shape(
    "", (), "sender", "text", "created_at", "uuid", ("name",), name="uuid",
    items="chat_messages", prepare=_list_messages, show=_show,
)  # fmt: skip

# Gemini ---------------------------------------------------------------------------------------

_PAUSE = timedelta(minutes=30)
_PRODUCT = re.compile(r"\b(?:Gemini|Bard)\b")
_ASKED = re.compile(r"(?:Prompted|Asked|Said|Branched|Answered)(?: with| Gemini| Bard)?:?[\s\u00a0]+")
_NOT_SAID = re.compile(
    "(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned|Renamed|Exported|Updated"
    "|Listened)[\\s\u00a0]"
)
_ATTACHED = re.compile(r"\s*Attached \d+ files?\.?(?:\s*[-•] .*)?\s*$", re.DOTALL)


def is_activity(value: Any) -> bool:
    """Whether a JSON value has the shape of an activity of Google Takeout, of any product."""
    return isinstance(value, Mapping) and {"header", "title", "time", "products"} <= value.keys()


def read_activities(items: Iterable[Any]) -> Iterator[Document]:
    """Yields the conversations in a list of activities, newest first."""
    talk: list[list[Turn]] = []
    for exchange in filter(None, map(_read_exchange, items)):
        at, before = exchange[0].at, talk[-1][0].at if talk else None
        if talk and not (at and before and abs(at - before) <= _PAUSE):
            yield _make_conversation(talk)
            talk = []
        talk.append(exchange)
    if talk:
        yield _make_conversation(talk)


def _make_conversation(newest_first: list[list[Turn]]) -> Document:
    newest_first.reverse()
    newest_first.sort(key=lambda exchange: exchange[0].at.timestamp() if exchange[0].at else 0)
    turns = [turn for exchange in newest_first for turn in exchange]
    title, at = shorten(turns[0].text), turns[0].at
    return sign(make_chat(at.astimezone(UTC).isoformat(timespec="milliseconds") if at else title, title, turns))


def _read_exchange(value: Any) -> list[Turn]:
    """Returns the prompt and answer of an activity; empty for other products and for clicks. In an unknown language the
    words before the prompt stay, and a prompt without an answer is skipped."""
    if not is_activity(value):
        return []
    title = str(value["title"])
    is_gemini = any(_PRODUCT.search(str(name)) for name in (value["header"], *as_list(value["products"])))
    if not is_gemini or _NOT_SAID.match(title):
        return []
    pages = (as_mapping(item).get("html") for item in as_list(value.get("safeHtmlItem")))
    answer = "\n\n".join(convert(page).text.strip() for page in pages if isinstance(page, str)).strip()
    asked = _ASKED.match(title)
    prompt = _ATTACHED.sub("", title[asked.end() :] if asked else title).strip()
    if not prompt or not (asked or answer):
        return []
    at = time_of(value["time"])
    return [Turn("user", clip(prompt), at), *([Turn("assistant", clip(answer), at)] if answer else [])]
