"""The plain shape of a chat in JSON: {"title", "messages": [{"role", "content", "time"}]}, one or a list of them."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.nouns import Document, Turn
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.decode import text_of

NO_CHAT = 'JSON, but not a chat: expected {"title", "messages": [{"role", "content", "time"}]} or a list of such'

_SPEAKER = ("role", "speaker", "author", "sender", "from", "name")
_TEXT = ("content", "text", "message")
_TIME = ("time", "timestamp", "at", "date", "created_at")
_ID = ("id", "uuid", "conversation_id")
_NAME = ("title", "name", *_ID)
MAX_MESSAGE = 5 * MIB  # characters of a message that are read
_MILLISECONDS = 10**11  # seconds since 1970 stay below this until the year 5138


def read(path: Path, data: bytes) -> list[Document]:
    try:
        loaded = json.loads(text_of(data))
    except RecursionError as error:
        raise Unreadable("JSON that is nested too deeply") from error
    except ValueError as error:
        raise Unreadable(f"not valid JSON: {error}") from error
    if isinstance(loaded, list) and loaded and all(map(_is_message, loaded)):
        loaded = {"messages": loaded}
    several = isinstance(loaded, list)
    chats = loaded if several else [loaded]
    if not chats or not all(map(_is_chat, chats)):
        raise Unreadable(NO_CHAT)
    documents = [_document(chat, str(number) if several else "") for number, chat in enumerate(chats, 1)]
    documents = [document for document in documents if document.turns]
    if not documents:
        raise Unreadable("a chat without messages")
    return documents


def _is_chat(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("messages"), list)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and _first(value, _SPEAKER) is not None and _first(value, _TEXT) is not None


def _document(chat: Mapping[str, Any], number: str) -> Document:
    turns = tuple(turn for message in chat["messages"] if (turn := _turn(message)) is not None)
    own_id = _first(chat, _ID)
    title = chat.get("title")
    long = sum(len(turn.text) == MAX_MESSAGE for turn in turns)
    note = f"only the first {MAX_MESSAGE:,} characters were read of {long} of its messages"
    at = next((turn.at for turn in turns if turn.at is not None), None)
    return Document(
        uri=(str(own_id) if number and own_id is not None else number),
        turns=turns,
        title=title if isinstance(title, str) else None,
        kind="chat",
        at=at if at is not None else _time(_first(chat, _TIME)),
        conversation=_called(chat),
        properties={"note": note} if long else {},
    )


def _called(chat: Mapping[str, Any]) -> str | None:
    """What the export calls the chat: its title, else whom it is with, else its id."""
    names = (chat.get(key) for key in _NAME)
    called = (str(name).strip() for name in names if isinstance(name, str | int) and not isinstance(name, bool))
    return next(filter(None, called), None)


def _turn(message: Any) -> Turn | None:
    if not isinstance(message, Mapping):
        return None
    text = _text(_first(message, _TEXT)).strip()[:MAX_MESSAGE]
    if not text:
        return None
    own_id = _first(message, _ID)
    return Turn(
        _speaker(_first(message, _SPEAKER)),
        text,
        _time(_first(message, _TIME)),
        None if own_id is None else str(own_id),
    )


def _speaker(value: Any) -> str:
    if isinstance(value, Mapping):
        value = _first(value, ("name", "role"))
    return value.strip() or "unknown" if isinstance(value, str) else "unknown"


def _text(value: Any) -> str:
    """A string, a part with a text, or a list of parts; images and other parts say nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n\n".join(filter(None, (_text(part).strip() for part in value)))
    return _text(_first(value, _TEXT)) if isinstance(value, Mapping) else ""


def _time(value: Any) -> datetime | None:
    """ISO 8601 or another written date, or seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return parse_date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _first(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("chat", (".json",), "Chats in JSON: a title and messages", read, 64 * MIB))
