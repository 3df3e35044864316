"""Chats in the JSON of Telegram, DiscordChatExporter, Element and Meta (Messenger, Instagram). Joins, calls and pins
are skipped."""

from collections.abc import Iterator, Mapping
from typing import Any

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.chats import matrix
from plugins.readers.chats.messages import UNKNOWN, clip, make_chat, quote, time_of

_SAVED = "Saved messages"


def read_messengers(value: Any) -> list[Document] | None:
    """The chats in an export that contain messages; None for an unknown format."""
    if not isinstance(value, Mapping):
        return None
    if _is_telegram(value):
        documents = [_read_telegram(value, alone=True)]
    elif isinstance(chats := value.get("chats"), Mapping) and isinstance(chats.get("list"), list):
        documents = [_read_telegram(chat, alone=False) for chat in chats["list"] if _is_telegram(chat)]
    elif _is_discord(value):
        documents = [_read_discord(value)]
    elif _is_meta(value):
        documents = [_read_meta(value)]
    elif matrix.is_room(value):
        documents = [matrix.read_room(value)]
    else:
        return None
    return [sign(document) for document in documents if document.turns]


def _is_telegram(value: Any) -> bool:
    if not isinstance(value, Mapping) or not {"type", "id"} <= value.keys() or not _has_messages(value):
        return False
    return any(message.get("type") in ("message", "service") for message in _list_messages(value))


def _is_discord(value: Mapping[str, Any]) -> bool:
    return (
        isinstance(value.get("guild"), Mapping) and isinstance(value.get("channel"), Mapping) and _has_messages(value)
    )


def _has_messages(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("messages"), list)


def _read_telegram(chat: Mapping[str, Any], alone: bool) -> Document:
    name = chat.get("name") or (_SAVED if chat.get("type") == "saved_messages" else None)
    turns = []
    for message in _list_messages(chat):
        text = _telegram_text(message.get("text")).strip()
        if message.get("type") == "message" and text:
            unix = message.get("date_unixtime")
            at = time_of(int(unix)) if isinstance(unix, str) and unix.isdecimal() else time_of(message.get("date"))
            quoted = quote(text) if message.get("forwarded_from") else text  # somebody else wrote it
            turns.append(Turn(str(message.get("from") or UNKNOWN), clip(quoted), at, str(message.get("id"))))
    return make_chat("" if alone else str(chat.get("id")), _parse_name(name), turns)


def _telegram_text(value: Any) -> str:
    """The text of a string, or of a list of strings and formatted pieces."""
    pieces = value if isinstance(value, list) else [value]
    texts = (piece.get("text") if isinstance(piece, Mapping) else piece for piece in pieces)
    return "".join(text for text in texts if isinstance(text, str))


def _read_discord(value: Mapping[str, Any]) -> Document:
    names = (value[part].get("name") for part in ("guild", "channel"))
    turns = []
    for message in _list_messages(value):
        author, text = message.get("author"), message.get("content")
        if message.get("type") in ("Default", "Reply") and isinstance(text, str) and text.strip():
            about = author if isinstance(author, Mapping) else {}
            speaker = str(about.get("nickname") or about.get("name") or UNKNOWN)
            turns.append(Turn(speaker, clip(text.strip()), time_of(message.get("timestamp")), str(message.get("id"))))
    return make_chat("", _parse_name(" › ".join(str(name) for name in names if name)), turns)


def _is_meta(value: Mapping[str, Any]) -> bool:
    if not isinstance(value.get("participants"), list) or not _has_messages(value):
        return False
    first = next(_list_messages(value), {})
    return {"sender_name", "timestamp_ms"} <= first.keys() or {"senderName", "timestamp"} <= first.keys()


def _read_meta(chat: Mapping[str, Any]) -> Document:
    """A chat in either format of Meta's exports; one of them lists the newest message first."""
    turns = []
    for message in _list_messages(chat):
        text = _repair(message.get("content") or message.get("text")).strip()
        if text and not (message.get("is_unsent") or message.get("isUnsent")):
            speaker = _repair(message.get("sender_name") or message.get("senderName")) or UNKNOWN
            turns.append(Turn(speaker, clip(text), time_of(message.get("timestamp_ms") or message.get("timestamp"))))
    turns.sort(key=lambda turn: turn.at.timestamp() if turn.at else 0)
    return make_chat("", _parse_name(_repair(chat.get("title") or chat.get("threadName"))), turns)


def _repair(value: Any) -> str:
    """A text whose UTF-8 bytes were exported as single characters."""
    text = value if isinstance(value, str) else ""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _list_messages(chat: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (message for message in chat["messages"] if isinstance(message, Mapping))


def _parse_name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
