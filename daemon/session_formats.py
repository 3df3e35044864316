"""A session with an agent from standard input, in one of these formats, recognized by their shape.

a hook of Claude Code       {"hook_event_name", "transcript_path", ...}: a file to read
a notification of Codex     {"type": "agent-turn-complete", "thread-id", ...}: its log, or else the turn itself
messages                    [{"role", "content"}] or {"messages": [...]}
plain text                  "User: ..." and "Assistant: ..."; without these it is the agent's own word
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from daemon import wire
from memory.errors import InvalidInputError

USER, AGENT = "user", "assistant"  # as speakers
LOG_SUFFIX = ".jsonl"
BATCH_BYTES = 1_000_000  # of turns that are handed over at once; the daemon takes requests of 2 MiB
_LABEL = re.compile(
    r"^(user|human|you|me|assistant|claude|codex|chatgpt|gemini|copilot|ai|agent|bot|system):[ \t]*", re.I | re.M
)
_PERSON = frozenset(("user", "human", "you", "me"))


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of a session, or its `log` file. `name` is its own, "" without one."""

    turns: tuple[wire.Turn, ...] = ()
    title: str | None = None
    name: str = ""
    log: Path | None = None


def read_session(data: bytes) -> Session:
    """The session in what came from standard input. InvalidInputError."""
    text = _decode(data).strip()
    if not text:
        raise InvalidInputError("There was no text on standard input.")
    if text[0] in "{[" and (session := _read_json(text, data)) is not None:
        return session
    return Session(tuple(_split(text)))


def read_notification(text: str) -> Session:
    """The session of a notification of Codex, which it gives as an argument. InvalidInputError."""
    try:
        notification = json.loads(text)
    except ValueError as error:
        raise InvalidInputError("The notification is no JSON.") from error
    if not isinstance(notification, dict) or notification.get("type") != "agent-turn-complete":
        raise InvalidInputError("That is no notification of Codex that a turn is complete.")
    return _read_agent_notification(notification)


def batches(turns: Sequence[wire.Turn]) -> Iterator[Sequence[wire.Turn]]:
    """The turns in rows that can be handed over at once; the same turns are cut in the same places."""
    row: list[wire.Turn] = []
    size = 0
    for turn in turns:
        length = len(json.dumps([turn.speaker, turn.text])) + 100
        if row and size + length > BATCH_BYTES:
            yield row
            row, size = [], 0
        row.append(turn)
        size += length
    if row:
        yield row


def _read_json(text: str, data: bytes) -> Session | None:
    """None for what only looks like JSON."""
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise InvalidInputError("The JSON is nested too deeply.") from error
    except ValueError:
        return _refuse() if _is_object(text.partition("\n")[0]) else None
    if isinstance(whole, dict):
        if "hook_event_name" in whole or "transcript_path" in whole:
            return _read_hook(whole)
        if whole.get("type") == "agent-turn-complete":
            return _read_agent_notification(whole)
    return _read_chat(data) or _refuse()


def _read_chat(data: bytes) -> Session | None:
    from plugins.readers import Unreadable, registry

    try:
        chats = [
            chat for chat in registry.stream_chats(Path("session.json"), BytesIO(data)) if getattr(chat, "turns", ())
        ]
    except Unreadable as error:
        raise InvalidInputError(f"The JSON holds no session: {error.reason}.") from error
    if len(chats) > 1:
        raise InvalidInputError("That is an export of several chats. Read it as a file: pal add FILE")
    return Session(chats[0].turns, chats[0].title, chats[0].uri) if chats else None  # type: ignore[union-attr]


def _read_hook(hook: dict[str, Any]) -> Session:
    path = hook.get("transcript_path")
    if not isinstance(path, str) or not path.endswith(LOG_SUFFIX):
        raise InvalidInputError(f'The hook names no log: "transcript_path" must be a file {LOG_SUFFIX}.')
    log = Path(path).expanduser()
    if not log.is_file():
        raise InvalidInputError(f"There is no {log} yet: nothing was said in that session.")
    return Session(name=_to_str(hook.get("session_id")), log=log)


def _read_agent_notification(notification: dict[str, Any]) -> Session:
    """Its log, if Codex keeps one where it does by itself; else what the notification tells."""
    thread = _to_str(notification.get("thread-id"))
    if log := _find_log(thread):
        return Session(name=thread, log=log)
    asked = notification.get("input-messages")
    turns = [wire.Turn(USER, text) for text in asked if isinstance(text, str)] if isinstance(asked, list) else []
    if isinstance(notification.get("last-assistant-message"), str):
        turns.append(wire.Turn(AGENT, notification["last-assistant-message"]))
    return Session(tuple(turns), name=thread)


def _find_log(thread: str) -> Path | None:
    if not re.fullmatch(r"[\w-]{8,64}", thread):
        return None
    folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
    return max(folder.glob(f"**/rollout-*{thread}{LOG_SUFFIX}"), default=None)


def _split(text: str) -> Iterator[wire.Turn]:
    """The turns of a transcript; a text in which nobody has a name is the agent's."""
    labels = list(_LABEL.finditer(text))
    if not labels or labels[0].start() > 0 or len({label[1].lower() in _PERSON for label in labels}) < 2:
        yield wire.Turn(AGENT, text)
        return
    ends = [label.start() for label in labels[1:]] + [len(text)]
    for label, end in zip(labels, ends, strict=True):
        if words := text[label.end() : end].strip():
            yield wire.Turn(USER if label[1].lower() in _PERSON else AGENT, words)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError("Standard input is not UTF-8 text.") from error


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _to_str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _refuse() -> Session:
    raise InvalidInputError(
        'The JSON holds no session such as {"messages": [{"role", "content"}]}. To read a log: pal add FILE'
    )
