"""A channel as DiscordChatExporter writes it when nobody asks for JSON: groups of messages, one writer each."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.messages import UNKNOWN, clip, make_chat

_CONTAINER = "chatlog__message-container-"
_HEADER = "preamble__entry"
_FIRST_DAY = datetime(2015, 1, 1, tzinfo=UTC)  # from which the ids of Discord count milliseconds, in all but 22 bits


class _Page(HTMLParser):
    """Collects what is said. When it was stands on the page in the language of who exported it, and in ids in none."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []  # of the server, and of the channel with its category
        self.turns: list[Turn] = []
        self._open: list[str] = []  # the classes of the divisions and spans one is in
        self._speaker: list[str] = []
        self._said: list[str] = []
        self._id = ""
        self._text_from = 0  # how deep the text of a message lies; 0 outside of it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if self._text_from and tag in ("br", "li", "img"):
            self._said.append({"br": "\n", "li": "\n- "}.get(tag, told.get("alt", "")))
        if tag not in ("div", "span"):
            return
        kind = told.get("class", "").strip()
        if "data-message-id" in told:
            self._id, self._said = told["data-message-id"], []
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
            if text := "".join(self._said).strip():
                speaker = "".join(self._speaker).strip() or UNKNOWN
                self.turns.append(Turn(speaker, clip(text), _time_of(self._id), self._id or None))
        self._open.pop()

    def handle_data(self, data: str) -> None:
        inner = self._open[-1] if self._open else ""
        if self._text_from:
            self._said.append(data)
        elif inner == "chatlog__author":
            self._speaker.append(data)
        elif inner == _HEADER and len(self.names) < 2 and data.strip():
            self.names.append(data.strip())


def is_page(text: str) -> bool:
    """Whether it is such a page, or its beginning with at least one message."""
    return _HEADER in text and _CONTAINER in text


def read_page(pieces: Iterable[str], uri: str = "") -> Document:
    """What is said on a page, which comes in pieces."""
    page = _Page()
    for piece in pieces:
        page.feed(piece)
    title = " › ".join([*page.names[:1], *(name.rpartition(" / ")[2] for name in page.names[1:])]) or None
    return sign(make_chat(uri, title, page.turns))


def _time_of(id: str) -> datetime | None:
    """When a message was written, which its id tells."""
    if not id.isdecimal() or len(id) > 19:
        return None
    return _FIRST_DAY + timedelta(milliseconds=int(id) >> 22)
