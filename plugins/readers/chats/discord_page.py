"""A channel in the HTML of DiscordChatExporter, its default: groups of messages, one writer each."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.chats.messages import UNKNOWN, clip, make_chat

_CONTAINER = "chatlog__message-container-"
_HEADER = "preamble__entry"
_FIRST_DAY = datetime(2015, 1, 1, tzinfo=UTC)  # the epoch of Discord's ids, which are milliseconds shifted by 22 bits


class _Page(HTMLParser):
    """Collects the messages. The times shown are in the language of the exporter; the ids contain them, too."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []  # of the server, and of the channel with its category
        self.turns: list[Turn] = []
        self._open: list[str] = []  # the classes of the open divisions and spans
        self._speaker: list[str] = []
        self._pieces: list[str] = []
        self._id = ""
        self._text_from = 0  # depth of the text of a message; 0 outside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if self._text_from and tag in ("br", "li", "img"):
            self._pieces.append({"br": "\n", "li": "\n- "}.get(tag, attributes.get("alt", "")))
        if tag not in ("div", "span"):
            return
        kind = attributes.get("class", "").strip()
        if "data-message-id" in attributes:
            self._id, self._pieces = attributes["data-message-id"], []
        elif kind == "chatlog__message-group":
            self._speaker = []
        around = self._open[-1] if self._open else ""
        is_text = kind == "chatlog__markdown-preserve" and around.startswith("chatlog__content")
        self._open.append(kind)
        if is_text:
            self._text_from = len(self._open)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("div", "span") or not self._open:
            return
        if len(self._open) == self._text_from:
            self._text_from = 0
            if text := "".join(self._pieces).strip():
                speaker = "".join(self._speaker).strip() or UNKNOWN
                self.turns.append(Turn(speaker, clip(text), _parse_time(self._id), self._id or None))
        self._open.pop()

    def handle_data(self, data: str) -> None:
        inner = self._open[-1] if self._open else ""
        if self._text_from:
            self._pieces.append(data)
        elif inner == "chatlog__author":
            self._speaker.append(data)
        elif inner == _HEADER and len(self.names) < 2 and data.strip():
            self.names.append(data.strip())


def is_page(text: str) -> bool:
    """Whether a text is such a page, or its start with at least one message."""
    return _HEADER in text and _CONTAINER in text


def read_page(pieces: Iterable[str], uri: str = "") -> Document:
    """The messages of a page, read in pieces."""
    page = _Page()
    for piece in pieces:
        page.feed(piece)
    title = " › ".join([*page.names[:1], *(name.rpartition(" / ")[2] for name in page.names[1:])]) or None
    return sign(make_chat(uri, title, page.turns))


def _parse_time(id: str) -> datetime | None:
    """The time in the id of a message."""
    if not id.isdecimal() or len(id) > 19:
        return None
    return _FIRST_DAY + timedelta(milliseconds=int(id) >> 22)
