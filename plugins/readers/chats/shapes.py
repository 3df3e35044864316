"""Chats in JSON by a table of shapes: which fields of an export are its messages' writer, text and time.

Telegram, DiscordChatExporter, the data package of Discord, Meta (Messenger, Instagram), Element (Matrix), and {"title",
"messages": [{"role", "content", "time"}]}, one or a list. Joins, calls, pins and reactions are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from memory.nouns import NOT_READ, UNKNOWN, Document, Turn
from plugins.readers import sign
from plugins.readers.chats import MAX_MESSAGE, as_list, as_mapping, clip, make_chat, quote, text_of, time_of

Message = Mapping[str, Any]

OWNER = "user"
_LOOKED_AT = 1000  # messages looked at to recognize a shape
_SPEAKERS = "role speaker author.name author.role author sender from name"
_TEXTS = "content text message"
_IDS = "id uuid conversation_id"


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of an export. Of several names, separated by spaces, the first that is set counts; a dot leads into
    an object. `chat`: fields of every chat; `message`: fields of a message, in one of several ways. `titles` are
    joined. `kinds`: values of `type` that are messages. `show` returns the text of a message, "" for none."""

    chat: str
    message: tuple[str, ...]
    speaker: str
    text: str
    time: str
    id: str
    titles: tuple[str, ...]
    name: str = ""  # of a chat without a title
    kinds: frozenset[str] = frozenset()
    show: Callable[[Message, Any], str] = lambda message, text: text_of(text)
    prepare: Callable[[Message], Iterable[Any]] = lambda chat: chat["messages"]
    items: str = "messages"  # field of the messages
    is_sorted: bool = True  # in the export

    def fits(self, chat: Any) -> bool:
        """Whether a JSON value is a chat of this shape."""
        messages = chat.get(self.items) if isinstance(chat, Mapping) else None
        if not isinstance(messages, list) or not all(_find(chat, key) is not None for key in self.chat.split()):
            return False
        first = [message for message in islice(messages, _LOOKED_AT) if isinstance(message, Mapping)]
        ways = [way.split() for way in self.message]
        return not ways or any(all(_find(item, key) is not None for key in way) for item in first for way in ways)

    def read(self, chat: Message, uri: str = "") -> Document:
        """Returns the document of a chat; without turns if it has no message."""
        turns = [*filter(None, map(self._make_turn, self.prepare(chat)))]
        if not self.is_sorted:
            turns.sort(key=lambda turn: turn.at.timestamp() if turn.at else 0)
        parts = (_find(chat, names) for names in self.titles)
        title = " › ".join(_repair(part) for part in parts if isinstance(part, str) and part.strip()) or None
        document = make_chat(uri, title, turns)
        long = sum(len(turn.text) == MAX_MESSAGE for turn in turns)
        note = f"only the first {MAX_MESSAGE:,} characters were read of {long} of its messages"
        names = (chat.get(key) for key in self.name.split() if not title)
        named = (str(name).strip() for name in names if isinstance(name, str | int) and not isinstance(name, bool))
        return replace(
            document,
            at=document.at or time_of(_find(chat, self.time)),
            conversation=title or next(filter(None, named), None),
            properties={NOT_READ: note} if long else {},
        )

    def _make_turn(self, message: Any) -> Turn | None:
        if not isinstance(message, Mapping) or (self.kinds and message.get("type") not in self.kinds):
            return None
        text = clip(self.show(message, _find(message, self.text)).strip())
        speaker, id, at = (_find(message, names) for names in (self.speaker, self.id, self.time))
        name = _repair(speaker).strip() if isinstance(speaker, str) else ""
        moment = time_of(int(at)) if isinstance(at, str) and at.isdecimal() else time_of(at)
        return Turn(name or UNKNOWN, text, moment, None if id is None else str(id)) if text else None


def _find(value: Message, names: str) -> Any:
    """Returns the first of several fields that is set; None without any."""
    for name in names.split():
        inner: Any = value
        for key in name.split("."):
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        if inner is not None:
            return inner
    return None


def _repair(text: str) -> str:
    """Returns a text whose UTF-8 bytes were exported as single characters, as Meta does."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _show_telegram(message: Message, text: Any) -> str:
    """Returns the text of a string, or of a list of strings and formatted pieces; forwarded texts are of others."""
    pieces = text if isinstance(text, list) else [text]
    texts = (piece.get("text") if isinstance(piece, Mapping) else piece for piece in pieces)
    words = "".join(part for part in texts if isinstance(part, str)).strip()
    poll = as_mapping(message.get("poll"))
    answers = [f"- {text_of(answer)}" for answer in as_list(poll.get("answers"))]
    words = "\n".join(filter(None, (words, text_of(poll.get("question")), *answers)))
    return quote(words) if words and message.get("forwarded_from") else words


def _show_discord(message: Message, text: Any) -> str:
    """Returns the text with its embedded pages, which others wrote."""
    pages = [as_mapping(page) for page in as_list(message.get("embeds"))]
    quoted = [quote(words) for page in pages for key in ("title", "description") if (words := text_of(page.get(key)))]
    return "\n".join(filter(None, (text_of(text), *quoted)))


def _show_meta(message: Message, text: Any) -> str:
    """Returns the text, and that of a shared post with its link."""
    if message.get("is_unsent") or message.get("isUnsent"):
        return ""
    share = as_mapping(message.get("share"))
    post = _repair(text_of(share.get("share_text")))
    shared = (quote(post) if post else "", text_of(share.get("link")))
    return "\n".join(filter(None, (_repair(text_of(text)), *shared)))


def _prepare_package(channel: Message) -> Iterator[Message]:
    """Yields the messages of the person who asked for their data, oldest first; their times are in UTC."""
    for message in reversed([*map(as_mapping, channel["messages"])]):
        written = str(message.get("Timestamp")).strip()
        has_zone = len(written) > len("2026-03-04 10:00:00")
        yield {**message, "speaker": OWNER, "Timestamp": written if has_zone else f"{written}+00:00"}


def _prepare_room(room: Message) -> Iterator[Message]:
    """Yields the messages of a room of Matrix after their last edits, with their writers' names."""
    events = [event for event in room["messages"] if isinstance(event, Mapping) and event.keys() >= _MATRIX_EVENT]
    names, edits = {}, {}
    for event in events:
        content = as_mapping(event.get("content"))
        relation = as_mapping(content.get("m.relates_to"))
        if event["type"] == "m.room.member" and isinstance(content.get("displayname"), str):
            names[str(event.get("state_key") or event["sender"])] = content["displayname"]
        if relation.get("rel_type") == "m.replace":
            edits[str(relation.get("event_id"))] = as_mapping(content.get("m.new_content"))
    for event in events:
        content = as_mapping(event.get("content"))
        if event["type"] == "m.room.message" and as_mapping(content.get("m.relates_to")).get("rel_type") != "m.replace":
            content = edits.get(str(event.get("event_id")), content)
            sender = str(event["sender"])
            yield {
                **event,
                "sender": (names.get(sender) or "").strip() or sender.lstrip("@").partition(":")[0],
                "text": _show_room(content) if content.get("msgtype") in ("m.text", "m.notice", "m.emote") else "",
            }


def _show_room(content: Message) -> str:
    """Returns a message without the quoted lines of the message it replies to, which older clients put first."""
    lines = text_of(content.get("body")).split("\n")
    if "m.in_reply_to" in as_mapping(content.get("m.relates_to")):
        while lines and lines[0].startswith("> "):
            del lines[0]
    return "\n".join(lines)


_SAVED = {"type": "saved_messages", "name": "Saved messages"}  # which have no name in an export
_MATRIX_EVENT = frozenset(("origin_server_ts", "sender", "type"))
TELEGRAM = Shape(
    "type id", ("type id",), "from", "text", "date_unixtime date", "id", ("name",),
    kinds=frozenset(("message",)), show=_show_telegram,
)  # fmt: skip
EXPORTS = (
    TELEGRAM,
    Shape(
        "guild.id channel.id", (), "author.nickname author.name", "content", "timestamp", "id",
        ("guild.name", "channel.name"), kinds=frozenset(("Default", "Reply")), show=_show_discord,
    ),
    Shape(
        "participants", ("sender_name timestamp_ms", "senderName timestamp"), "sender_name senderName", "content text",
        "timestamp_ms timestamp", "", ("title threadName",), show=_show_meta, is_sorted=False,
    ),
    Shape(
        "", (" ".join(_MATRIX_EVENT),), "sender", "text", "origin_server_ts", "event_id", ("room_name",),
        prepare=_prepare_room,
    ),
    Shape(
        "", ("ID Timestamp Contents",), "speaker", "Contents", "Timestamp", "ID", ("name",), prepare=_prepare_package
    ),
)  # fmt: skip
PLAIN = Shape(
    "", tuple(f"{speaker} {text}" for speaker in _SPEAKERS.split() for text in _TEXTS.split()), _SPEAKERS, _TEXTS,
    "time timestamp at date created_at", _IDS, ("title",), name=f"title name {_IDS}",
)  # fmt: skip


def read_export(value: Any, path: Path) -> list[Document] | None:
    """Returns the chats with messages in an export of a messenger; None for an unknown format."""
    if isinstance(value, list):  # a chat named by its folder
        value = {"messages": value, "name": path.parent.name}
    account = as_mapping(as_mapping(value).get("chats")).get("list")
    if isinstance(account, list):
        chats = (
            {**chat, **_SAVED} if _SAVED["type"] == chat["type"] else chat for chat in account if TELEGRAM.fits(chat)
        )
        documents = [TELEGRAM.read(chat, str(chat["id"])) for chat in chats]
    elif shape := next((shape for shape in EXPORTS if shape.fits(value)), None):
        documents = [shape.read(value)]
    else:
        return None
    return [sign(document) for document in documents if document.turns]


def read_plain(value: Any) -> list[Document] | None:
    """Returns the chats with messages in plain JSON: one chat, a list of chats or a list of messages; None for other
    JSON."""
    if isinstance(value, list) and value and PLAIN.fits({"messages": value}):
        value = {"messages": value}
    several = isinstance(value, list)
    chats = value if several else [value]
    if not chats or not all(PLAIN.fits(chat) or as_mapping(chat).get("messages") == [] for chat in chats):
        return None
    ids = [_find(chat, _IDS) if several else "" for chat in chats]
    documents = (
        PLAIN.read(chat, str(number if id is None else id))
        for number, (chat, id) in enumerate(zip(chats, ids, strict=True), 1)
    )
    return [document for document in documents if document.turns]
