"""A conversation of ChatGPT: a tree of messages, read along the branch that ends in `current_node`.

Edited prompts and regenerated answers begin other branches. Replaced answers are kept and marked; replaced prompts are
not. System messages, tool calls and thoughts are omitted."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers.chats.messages import as_mapping, clip, text_of, time_of

REMEMBERED = "What ChatGPT remembers"
REPLACED = "(An answer that was replaced by another one.)"
_SAID = ("text", "multimodal_text")  # kinds of content that are messages
_MARKS = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")  # placeholders of links and searches
_PROFILE = "user_editable_context"
_NOTING = "bio"  # the tool that stores memories
_STORED = "model_set_context"
_ENTRY = re.compile(
    r"^\d+\. \[(?P<day>\d{4}-\d\d-\d\d)\]\.? (?P<text>.+?)(?=\n+\d+\. \[|\s*\Z)", re.MULTILINE | re.DOTALL
)
_PROFILE_PARTS = ("user_profile", "user_instructions")

Node = Mapping[str, Any]


def is_conversation(value: Any) -> bool:
    """Whether a JSON value has the shape of a conversation."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def read_conversation(value: Mapping[str, Any], number: int) -> Document:
    """The document of the `number`-th conversation of a file."""
    tree = {id: node for id, node in value["mapping"].items() if isinstance(node, Mapping)}
    branch = _find_branch(tree, value.get("current_node"))
    kept = frozenset(branch)
    turns = [turn for id in branch for turn in _list_turns(tree, id, kept)]
    title = value.get("title")
    id = value.get("conversation_id") or value.get("id")
    name = title if isinstance(title, str) and title.strip() else None
    return Document(
        uri=str(id or number),
        turns=tuple(turns),
        title=name,
        conversation=name or (str(id) if id else None),
        at=next((turn.at for turn in turns if turn.at), None) or time_of(value.get("create_time")),
    )


def read_profile(value: Mapping[str, Any]) -> Iterator[Turn]:
    """The custom instructions of the person at the time of this conversation."""
    for node in value["mapping"].values():
        message = node.get("message") if isinstance(node, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        if isinstance(content, Mapping) and content.get("content_type") == _PROFILE:
            texts = [content.get(part) for part in _PROFILE_PARTS]
            text = "\n\n".join(part.strip() for part in texts if isinstance(part, str) and part.strip())
            if text:
                yield Turn("user", clip(text), time_of(value.get("create_time")))


def read_memories(value: Mapping[str, Any]) -> Iterator[Turn]:
    """The memories that ChatGPT stored in or before this conversation, each with its day. Their speaker is the
    assistant."""
    for node in value["mapping"].values():
        message = as_mapping(as_mapping(node).get("message"))
        content = as_mapping(message.get("content"))
        if message.get("recipient") == _NOTING and as_mapping(message.get("author")).get("role") == "assistant":
            noted = content.get("text") or text_of(content.get("parts"))
            for line in noted.splitlines() if isinstance(noted, str) else ():
                if line.strip():
                    yield Turn("assistant", clip(line.strip()), time_of(message.get("create_time")))
        stored = content.get(_STORED)
        if isinstance(stored, str):
            for match in _ENTRY.finditer(stored):
                yield Turn("assistant", clip(" ".join(match["text"].split())), time_of(match["day"]))


def _find_branch(tree: Mapping[str, Node], end: Any) -> list[str]:
    """The ids from the first message to `end`, or to the newest message without a valid `end`."""
    if not isinstance(end, str) or end not in tree:
        end = max(tree, key=lambda id: _find_time(tree[id]), default=None)
    branch: dict[str, None] = {}
    while isinstance(end, str) and end in tree and end not in branch:
        branch[end] = None
        end = tree[end].get("parent")
    return [*reversed(branch)]


def _find_time(node: Node) -> float:
    message = node.get("message")
    created = message.get("create_time") if isinstance(message, Mapping) else None
    return created if isinstance(created, int | float) else 0.0


def _list_turns(tree: Mapping[str, Node], id: str, branch: frozenset[str]) -> Iterator[Turn]:
    """The turns of a message of the branch; replaced answers follow their prompt."""
    turn = _make_turn(tree[id])
    if turn is None:
        return
    yield turn
    children = _list_children(tree, id) if turn.speaker == "user" else []
    if not branch.isdisjoint(children):
        others = (_find_answer(tree, child) for child in children if child not in branch)
        yield from (replace(other, text=f"{REPLACED}\n{other.text}") for other in others if other is not None)


def _find_answer(tree: Mapping[str, Node], id: str) -> Turn | None:
    """The first reply of the assistant from here on, before the next prompt."""
    seen: set[str] = set()
    while id not in seen:
        seen.add(id)
        turn = _make_turn(tree[id])
        if turn is not None:
            return turn if turn.speaker == "assistant" else None
        id = next(iter(_list_children(tree, id)), id)
    return None


def _list_children(tree: Mapping[str, Node], id: str) -> list[str]:
    children = tree[id].get("children")
    return (
        [child for child in children if isinstance(child, str) and child in tree] if isinstance(children, list) else []
    )


def _make_turn(node: Node) -> Turn | None:
    """A message of the person or the assistant to the other; None for all others."""
    message = node.get("message")
    if not isinstance(message, Mapping):
        return None
    author, content, about = (as_mapping(message.get(key)) for key in ("author", "content", "metadata"))
    role = str(author.get("role"))
    is_said = role in ("user", "assistant") and content.get("content_type") in _SAID
    if not is_said or message.get("recipient") not in (None, "all"):
        return None
    if about.get("is_visually_hidden_from_conversation") or about.get("is_user_system_message"):
        return None
    text = _MARKS.sub("", text_of(content.get("parts"))).strip()
    id = message.get("id")
    return Turn(role, clip(text), time_of(message.get("create_time")), str(id) if id else None) if text else None
