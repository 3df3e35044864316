"""Logs of agents as Claude Code and Codex write them. The people are invented."""

from __future__ import annotations

import json
from typing import Any


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def claude(kind: str, content: Any, minute: int, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/home/ada/boat",
        "sessionId": "5c1e",
        "version": "2.0.1",
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": f"u-{minute}",
        "timestamp": f"2026-03-04T09:{minute:02}:00.500Z",
        **more,
    }


CLAUDE = (
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    {"type": "summary", "summary": "Tide table for the dinghy", "leafUuid": "u-5"},
    claude("user", "<local-command-stdout>cleared</local-command-stdout>", 0),
    claude("user", "Caveat: the messages below were generated", 0, isMeta=True),
    claude("user", "The dinghy needs 60 cm of water.<system-reminder>Be brief.</system-reminder> Write a table.", 1),
    claude("assistant", [{"type": "thinking", "thinking": "60 cm"}], 2),
    claude("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}], 2),
    claude("user", [{"type": "tool_result", "content": "tides.py"}], 3),
    claude("user", "Find the tides", 3, isSidechain=True),
    claude("assistant", [{"type": "text", "text": "Done: tides.py prints it."}], 4),
    claude("user", [{"type": "text", "text": "Use port Leixoes."}, {"type": "image", "source": {}}], 5),
)


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-05T10:00:00.000Z", "type": kind, "payload": payload}


CODEX = (
    codex("session_meta", id="0199", cwd="/home/ada", originator="codex_cli", instructions=None),
    codex("response_item", type="message", role="developer", content=[{"type": "input_text", "text": "Sandbox: on"}]),
    codex(
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>\n<cwd>/home</cwd></environment_context>"}],
    ),
    codex(
        "response_item", type="message", role="user", content=[{"type": "input_text", "text": "Rename the sail plan."}]
    ),
    codex("event_msg", type="user_message", message="Rename the sail plan."),
    codex("response_item", type="reasoning", summary=[]),
    codex("response_item", type="function_call", name="shell", arguments="{}"),
    codex(
        "response_item",
        type="message",
        role="assistant",
        content=[{"type": "output_text", "text": "It is plan-2 now."}],
    ),
)
