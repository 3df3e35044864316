"""Chats as web pages: the default HTML exports of Telegram's desktop program, of which a long chat has several, and of
DiscordChatExporter."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from memory.nouns import UNKNOWN, Document, Turn
from memory.time.dates import with_local_zone
from plugins.readers import sign
from plugins.readers.chats.messages import clip, make_chat, quote

_TELEGRAM = 'class="page_header"', 'class="message default clearfix'
_DISCORD = "preamble__entry", "chatlog__message-container-"
_ID = re.compile(r"message(-?\d+)")
_MOMENT = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)(?: UTC([+-]\d\d:\d\d))?")
_VIA = re.compile(r" via @\w+$")
_FIRST_DAY = datetime(2015, 1, 1, tzinfo=UTC)  # the epoch of Discord's ids, which are milliseconds shifted by 22 bits


class _Page(HTMLParser, ABC):
    """Collects the `turns` of a page; the classes of its open elements tell what a text is."""

    elements: tuple[str, ...] = ("div",)

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.turns: list[Turn] = []
        self.title: str | None = None
        self._open: list[str] = []  # the classes of the open elements
        self._speaker: list[str] = []
        self._pieces: list[str] = []
        self._id = ""
        self._at: datetime | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag in ("br", "li", "img") and self._is_text():
            self._pieces.append({"br": "\n", "li": "\n- "}.get(tag, attributes.get("alt", "")))
        if tag in self.elements:
            kind = attributes.get("class", "").strip()
            self._begin(kind, attributes)
            self._open.append(kind)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.elements and self._open:
            self._end(self._open.pop())

    def _is_in(self, kind: str) -> bool:
        return bool(self._open) and self._open[-1] == kind

    @abstractmethod
    def _is_text(self) -> bool:
        """Whether text that comes now belongs to a message."""

    @abstractmethod
    def _begin(self, kind: str, attributes: dict[str, str]) -> None:
        """Begins an element of this class."""

    @abstractmethod
    def _end(self, kind: str) -> None:
        """Ends an element of this class."""

    def _add_turn(self, is_quoted: bool = False) -> None:
        text = "".join(self._pieces).strip()
        if text:
            speaker = "".join(self._speaker).strip() or UNKNOWN
            self.turns.append(Turn(speaker, clip(quote(text) if is_quoted else text), self._at, self._id or None))
        self._pieces = []


class _Telegram(_Page):
    """Forwarded messages are quoted: another person wrote them. A joined message does not repeat its writer."""

    def __init__(self) -> None:
        super().__init__()
        self._name: list[str] = []
        self._is_forwarded = False

    def close(self) -> None:
        super().close()
        self._end_message()

    def handle_data(self, data: str) -> None:
        if self._is_text():
            self._pieces.append(data)
        elif self._is_in("from_name"):
            self._name.append(data)
        elif not self.title and self._is_in("text bold"):
            self.title = data.strip()

    def _is_text(self) -> bool:
        return self._is_in("text")

    def _begin(self, kind: str, attributes: dict[str, str]) -> None:
        if kind.startswith("message"):
            self._end_message()
            id = _ID.fullmatch(attributes.get("id", ""))
            self._id, self._open = id[1] if id else "", []
        elif kind == "pull_right date details" and self._at is None:
            self._at = _read_moment(attributes.get("title", ""))
        elif kind == "forwarded body":
            self._is_forwarded = True

    def _end(self, kind: str) -> None:
        if kind == "from_name":
            if not self._is_forwarded:
                self._speaker = [_VIA.sub("", "".join(self._name).strip())]
            self._name = []

    def _end_message(self) -> None:
        self._add_turn(self._is_forwarded)
        self._at, self._is_forwarded = None, False


class _Discord(_Page):
    """Groups of messages, one writer each. The times shown are in the exporter's language; ids contain them, too."""

    elements = ("div", "span")

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []  # of the server, and of the channel with its category
        self._text_from = 0  # depth of the text of a message; 0 outside

    def handle_data(self, data: str) -> None:
        if self._text_from:
            self._pieces.append(data)
        elif self._is_in("chatlog__author"):
            self._speaker.append(data)
        elif self._is_in(_DISCORD[0]) and len(self._names) < 2 and data.strip():
            self._names.append(data.strip().rpartition(" / ")[2] if self._names else data.strip())
            self.title = " › ".join(self._names)

    def _is_text(self) -> bool:
        return self._text_from > 0

    def _begin(self, kind: str, attributes: dict[str, str]) -> None:
        if id := attributes.get("data-message-id"):
            self._id, self._pieces = id, []
            is_valid = id.isdecimal() and len(id) <= 19
            self._at = _FIRST_DAY + timedelta(milliseconds=int(id) >> 22) if is_valid else None
        elif kind == "chatlog__message-group":
            self._speaker = []
        around = self._open[-1] if self._open else ""
        if kind == "chatlog__markdown-preserve" and around.startswith("chatlog__content"):
            self._text_from = len(self._open) + 1

    def _end(self, kind: str) -> None:
        if len(self._open) + 1 == self._text_from:
            self._text_from = 0
            self._add_turn()


def is_page(text: str) -> bool:
    """Whether a text is such a page, or its start with at least one message."""
    return any(all(mark in text for mark in marks) for marks in (_TELEGRAM, _DISCORD))


def read_page(pieces: Iterable[str], uri: str = "") -> Document:
    """The messages of a page, read in pieces."""
    page: _Page | None = None
    for piece in pieces:
        page = page or (_Telegram() if _TELEGRAM[0] in piece else _Discord())
        page.feed(piece)
    if page is not None:
        page.close()
    return sign(make_chat(uri, page.title if page else None, page.turns if page else []))


def _read_moment(written: str) -> datetime | None:
    """ "24.04.2025 13:49:04 UTC+02:00"; local time in older exports without a zone."""
    match = _MOMENT.fullmatch(written.strip())
    if match is None:
        return None
    day, month, year, clock, zone = match.groups()
    try:
        at = datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{zone or ''}")
    except ValueError:
        return None
    return at if at.tzinfo else with_local_zone(at)
