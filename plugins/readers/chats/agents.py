"""The logs of Claude Code and Codex: the messages of the person and the agent, without tools and thoughts. Chats of
Signal are lines of JSON, too (`messengers.py`).

A log grows while it is watched; an incomplete last line is read once it is complete."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from memory.nouns import Document, Turn
from plugins.readers import Part, Unreadable, sign
from plugins.readers.chats import (
    as_list,
    as_mapping,
    as_text,
    clip,
    make_chat,
    messengers,
    read_objects,
    shorten,
    text_of,
    time_of,
)

NOBODY = "a log without messages from a person"
_LOOKED_AT = 20  # lines looked at to recognize the program

_SPOKEN = ("text", "input_text", "output_text")  # kinds of content that are messages
_MACHINE_TAGS = (  # text that the program adds to messages of the person
    "system-reminder", "command-name", "command-message", "local-command-stdout", "local-command-stderr",
    "bash-input", "bash-stdout", "bash-stderr", "task-notification", "ide_opened_file", "ide_selection",
    "environment_context", "user_instructions", "permissions", "turn_aborted",
)  # fmt: skip
_INSTRUCTIONS = "# AGENTS.md instructions"

Line = Mapping[str, Any]
_Taken = tuple[str | None, str | None, Turn | None]  # (title, session, message) in a line


def stream(path: Path, file: BinaryIO, read_other: Callable[[Path, BinaryIO], Document]) -> Iterator[Part]:
    """Yields the session of a log, or the chats of Signal; other lines of JSON are read by `read_other`. Raises
    Unreadable."""
    lines = read_objects(file)
    first: list[Line] = []
    take = None
    for line in lines:
        first.append(line)
        if messengers.is_frame(line):
            yield from messengers.read_frames(chain(first, lines))
            return
        take = _recognize(line)
        if take is not None or len(first) == _LOOKED_AT:
            break
    if take is None:
        yield read_other(path, file)
        return
    title = session = None
    turns: list[Turn] = []
    for named, own_session, turn in map(take, chain(first, lines)):
        title, session = title or named, session or own_session
        turns += [turn] if turn else []
    asked = next((turn.text for turn in turns if turn.speaker == "user"), None)
    if asked is None:
        raise Unreadable(NOBODY)
    yield sign(replace(make_chat("", title or shorten(asked), turns), conversation=title or session))


def _recognize(line: Line) -> Callable[[Line], _Taken] | None:
    """Returns the parser for the lines of a log, chosen by the shape of one line."""
    if isinstance(line.get("sessionId"), str) or ("leafUuid" in line and line.get("type") == "summary"):
        return _take_claude
    if line.get("type") in ("session_meta", "response_item") and isinstance(line.get("payload"), Mapping):
        return _take_codex
    if {"id", "timestamp", "instructions"} <= line.keys():  # Codex logs of its first year
        return _take_codex
    return None


def _take_claude(line: Line) -> _Taken:
    kind, message, turn = line.get("type"), line.get("message"), None
    is_machine = any(line.get(mark) for mark in ("isSidechain", "isMeta", "isCompactSummary"))
    if kind in ("user", "assistant") and isinstance(message, Mapping) and not is_machine:
        turn = _make_turn(kind, message.get("content"), line.get("timestamp"), line.get("uuid"))
    title = as_text(line.get("summary")) if kind == "summary" else ""
    return title or None, as_text(line.get("sessionId")) or None, turn


def _take_codex(line: Line) -> _Taken:
    payload = as_mapping(line["payload"]) if isinstance(line.get("payload"), Mapping) else line
    if line.get("type") == "session_meta" or "instructions" in payload:
        return None, as_text(payload.get("id")) or None, None
    role = payload.get("role")
    is_said = line.get("type") in ("response_item", "message") and payload.get("type") == "message"
    if not is_said or role not in ("user", "assistant"):
        return None, None, None
    return None, None, _make_turn(role, payload.get("content"), line.get("timestamp"), payload.get("id"))


def _make_turn(speaker: str, content: Any, time: Any, id: Any) -> Turn | None:
    blocks = (block for block in map(as_mapping, as_list(content)) if block.get("type") in _SPOKEN)
    parts = [content] if isinstance(content, str) else map(text_of, blocks)
    texts = (_strip_machine_text(part) if speaker == "user" else part for part in parts)
    text = "\n\n".join(filter(None, (part.strip() for part in texts)))
    return Turn(speaker, clip(text), time_of(time), as_text(id) or None) if text else None


def _strip_machine_text(text: str) -> str:
    """Returns a message of the person without the text that the program added."""
    if text.lstrip().startswith(_INSTRUCTIONS):
        return ""
    for tag in _MACHINE_TAGS:
        begin, end = f"<{tag}>", f"</{tag}>"
        pieces = text.split(begin)
        text = "".join([pieces[0], *(piece.partition(end)[2] for piece in pieces[1:])])
    return text.replace("<command-args>", "").replace("</command-args>", "")
