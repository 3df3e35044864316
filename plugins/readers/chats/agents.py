"""The logs of Claude Code and Codex: the messages of the person and the agent, without tools and thoughts. Chats of
Signal are lines of JSON, too (`signal.py`).

A log grows while it is watched; an incomplete last line is read once it is complete."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from memory.nouns import Document, Turn
from plugins.readers import Part, Unreadable, sign
from plugins.readers.chats import signal
from plugins.readers.chats.messages import clip, read_objects, shorten, text_of, time_of

NOBODY = "a log without messages from a person"
_LOOKED_AT = 20  # lines looked at to recognize the program

_SPOKEN = ("text", "input_text", "output_text")  # kinds of content that are messages
_MACHINE_TAGS = (  # text that the program adds to messages of the person
    "system-reminder", "command-name", "command-message", "local-command-stdout", "local-command-stderr",
    "bash-input", "bash-stdout", "bash-stderr", "task-notification", "ide_opened_file", "ide_selection",
    "environment_context", "user_instructions", "permissions", "turn_aborted",
)  # fmt: skip
_INSTRUCTIONS = "# AGENTS.md instructions"


@dataclass
class _Log:
    """The session read so far."""

    turns: list[Turn] = field(default_factory=list)
    title: str | None = None
    session: str | None = None


def stream(path: Path, file: BinaryIO, read_other: Callable[[Path, BinaryIO], Document]) -> Iterator[Part]:
    """The session of a log, or the chats of Signal; other lines of JSON are read by `read_other`. Raises Unreadable."""
    lines = read_objects(file)
    first: list[Mapping[str, Any]] = []
    take = None
    for line in lines:
        first.append(line)
        if signal.is_frame(line):
            yield from signal.read_frames(chain(first, lines))
            return
        take = _recognize(line)
        if take is not None or len(first) == _LOOKED_AT:
            break
    if take is None:
        yield read_other(path, file)
        return
    log = _Log()
    for some in (first, lines):
        for line in some:
            take(line, log)
    if not any(turn.speaker == "user" for turn in log.turns):
        raise Unreadable(NOBODY)
    yield sign(
        Document(
            uri="",
            turns=tuple(log.turns),
            title=log.title or shorten(next(turn.text for turn in log.turns if turn.speaker == "user")),
            conversation=log.title or log.session,
            at=next((turn.at for turn in log.turns if turn.at is not None), None),
        )
    )


def _recognize(line: Mapping[str, Any]) -> Callable[[Mapping[str, Any], _Log], None] | None:
    """The parser for the lines of a log, chosen by the shape of one line."""
    if isinstance(line.get("sessionId"), str) or ("leafUuid" in line and line.get("type") == "summary"):
        return _take_claude
    if line.get("type") in ("session_meta", "response_item") and isinstance(line.get("payload"), Mapping):
        return _take_codex
    if {"id", "timestamp", "instructions"} <= line.keys():  # Codex logs of its first year
        return _take_codex
    return None


def _take_claude(line: Mapping[str, Any], log: _Log) -> None:
    kind, message = line.get("type"), line.get("message")
    if kind == "summary" and isinstance(line.get("summary"), str):
        log.title = log.title or line["summary"]
    log.session = log.session or _parse_string(line.get("sessionId"))
    is_machine = any(line.get(mark) for mark in ("isSidechain", "isMeta", "isCompactSummary"))
    if kind in ("user", "assistant") and isinstance(message, Mapping) and not is_machine:
        _add(log, kind, message.get("content"), line.get("timestamp"), line.get("uuid"))


def _take_codex(line: Mapping[str, Any], log: _Log) -> None:
    payload = line.get("payload") if isinstance(line.get("payload"), Mapping) else line
    assert isinstance(payload, Mapping)
    if line.get("type") == "session_meta" or "instructions" in payload:
        log.session = log.session or _parse_string(payload.get("id"))
    elif line.get("type") in ("response_item", "message") and payload.get("type") == "message":
        role = payload.get("role")
        if role in ("user", "assistant"):
            _add(log, role, payload.get("content"), line.get("timestamp"), payload.get("id"))


def _add(log: _Log, speaker: str, content: Any, time: Any, id: Any) -> None:
    parts = [content] if isinstance(content, str) else _list_texts(content)
    texts = (_strip_machine_text(part) if speaker == "user" else part for part in parts)
    text = "\n\n".join(filter(None, (part.strip() for part in texts)))
    if text:
        log.turns.append(Turn(speaker, clip(text), time_of(time), _parse_string(id)))


def _list_texts(content: Any) -> Iterable[str]:
    parts = content if isinstance(content, list) else []
    return [text_of(part) for part in parts if isinstance(part, Mapping) and part.get("type") in _SPOKEN]


def _strip_machine_text(text: str) -> str:
    """A message of the person without the text that the program added."""
    if text.lstrip().startswith(_INSTRUCTIONS):
        return ""
    for tag in _MACHINE_TAGS:
        begin, end = f"<{tag}>", f"</{tag}>"
        pieces = text.split(begin)
        text = "".join([pieces[0], *(piece.partition(end)[2] for piece in pieces[1:])])
    return text.replace("<command-args>", "").replace("</command-args>", "")


def _parse_string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
