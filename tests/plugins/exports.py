"""Exports of chats as ChatGPT and Claude write them, in all that a reader looks at. The people are invented."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

SPRING = 1_772_600_000.0  # 4 March 2026


def message(
    id: str,
    role: str,
    text: str | list[Any],
    parent: str | None,
    children: tuple[str, ...] = (),
    *,
    kind: str = "text",
    to: str = "all",
    **metadata: Any,
) -> dict[str, Any]:
    """A node of ChatGPT's tree; a message whose id ends with digits was written so many minutes later."""
    minutes = int("".join(char for char in id if char.isdigit()) or 0)
    parts = text if isinstance(text, list) else [text]
    said = {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": SPRING + 60 * minutes,
        "content": {"content_type": kind, "parts": parts},
        "status": "finished_successfully",
        "end_turn": role == "assistant",
        "weight": 1.0,
        "metadata": metadata,
        "recipient": to,
    }
    return {"id": id, "message": said, "parent": parent, "children": list(children)}


def tree(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {node["id"]: node for node in nodes}


def chatgpt() -> list[dict[str, Any]]:
    """Two conversations: one with an edited prompt, a regenerated answer and a search, and one without a name."""
    boiler = tree(
        {"id": "root", "message": None, "parent": None, "children": ["s0"]},
        message("s0", "system", "You are ChatGPT.", "root", ("c0",), is_visually_hidden_from_conversation=True),
        {
            "id": "c0",
            "message": {
                "id": "c0",
                "author": {"role": "user"},
                "create_time": None,
                "content": {
                    "content_type": "user_editable_context",
                    "user_profile": "I am a nurse in Bergen.",
                    "user_instructions": "Answer briefly.",
                },
                "metadata": {"is_visually_hidden_from_conversation": True},
                "recipient": "all",
            },
            "parent": "s0",
            "children": ["u1", "u3"],
        },
        message("u1", "user", "My boyler is loud", "c0", ("a2",)),
        message("a2", "assistant", "Which boyler?", "u1"),
        message("u3", "user", "My boiler is a Vaillant ecoTEC and it is loud.", "c0", ("a4", "t5")),
        message("a4", "assistant", "Bleed the radiators.", "u3"),
        message("t5", "assistant", "vaillant loud", "u3", ("r6",), kind="code", to="web"),
        message("r6", "tool", "Results", "t5", ("h7",)),
        message("h7", "assistant", "Let me think.", "r6", ("a8",), kind="thoughts"),
        message("a8", "assistant", "Check the pump.\ue200cite\ue202turn0search0\ue201", "h7", ("u9",)),
        message(
            "u9",
            "user",
            [
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
                "The plumber Olav comes on Friday.",
            ],
            "a8",
            ("a10",),
            kind="multimodal_text",
        ),
        message("a10", "assistant", "Good. The plumber is called Per.", "u9"),
    )
    nameless = tree(
        message("q20", "user", "What is 12 feet in metres?", None, ("a21",)), message("a21", "assistant", "3.66", "q20")
    )
    return [
        {"title": "Loud boiler", "create_time": SPRING, "update_time": SPRING + 900, "mapping": boiler,
         "current_node": "a10", "conversation_id": "c-boiler", "id": "c-boiler"},
        {"title": None, "create_time": SPRING, "mapping": nameless, "current_node": "gone", "id": "c-feet"},
        {"title": "New chat", "create_time": SPRING, "mapping": {}, "current_node": None, "id": "c-empty"},
    ]  # fmt: skip


def chatgpt_memory() -> dict[str, Any]:
    """A conversation in which ChatGPT notes something down, and is told what it had noted before."""
    before = "1. [2025-11-02]. Has a dog called Rex.\n\n2. [2026-01-15]. Works as a nurse\n in Bergen."
    mapping = tree(
        message("u1", "user", "Remember that I moved to Bergen.", None, ("b2",)),
        message("b2", "assistant", "User moved to Bergen.\nHas a dog called Rex.", "u1", ("t3",), to="bio"),
        message("t3", "tool", "Model set context updated.", "b2", ("a4",)),
        message("a4", "assistant", "Noted.", "t3"),
    )
    held = {"content_type": "model_editable_context", "model_set_context": before}
    mapping["c0"] = {
        "id": "c0",
        "message": {"id": "c0", "author": {"role": "assistant"}, "content": held},
        "parent": None,
        "children": [],
    }
    return {"title": "Moving", "create_time": SPRING, "mapping": mapping, "current_node": "a4", "id": "c-moving"}


def claude() -> list[dict[str, Any]]:
    """A conversation with an attachment and a tool, and one in the older form, with the text alone."""
    return [
        {
            "uuid": "k-lease",
            "name": "Lease of the flat",
            "created_at": "2026-02-10T08:00:00.123456Z",
            "updated_at": "2026-02-10T08:05:00Z",
            "account": {"uuid": "me"},
            "chat_messages": [
                {
                    "uuid": "m1",
                    "sender": "human",
                    "text": "I signed the lease for Kirkegata 7 yesterday.",
                    "content": [{"type": "text", "text": "I signed the lease for Kirkegata 7 yesterday."}],
                    "created_at": "2026-02-10T08:00:00.123456Z",
                    "attachments": [{"file_name": "lease.txt", "extracted_content": "The rent is 9,000 kroner."}],
                    "files": [],
                },
                {
                    "uuid": "m2",
                    "sender": "assistant",
                    "text": "",
                    "content": [
                        {"type": "thinking", "thinking": "They have signed."},
                        {"type": "tool_use", "name": "web_search", "input": {"query": "rent"}},
                        {"type": "text", "text": "Congratulations on the flat."},
                    ],
                    "created_at": "2026-02-10T08:01:00Z",
                },
            ],
        },
        {
            "uuid": "k-name",
            "name": "",
            "created_at": "2026-02-11T19:00:00Z",
            "chat_messages": [
                {
                    "uuid": "m3",
                    "sender": "human",
                    "text": "Name ideas for a boat?",
                    "created_at": "2026-02-11T19:00:00Z",
                },
                {"uuid": "m4", "sender": "assistant", "text": "Solveig.", "created_at": "2026-02-11T19:00:10Z"},
            ],
        },
    ]


def packed(members: Mapping[str, Any]) -> bytes:
    """A zip with these files: bytes as they are, all else as JSON."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return stream.getvalue()
