"""A page of a chat in the default HTML export of Telegram's desktop program. A long chat has several."""

import re
from collections.abc import Iterable
from datetime import datetime
from html.parser import HTMLParser

from memory.nouns import Document, Turn
from memory.time.dates import with_local_zone
from plugins.readers import sign
from plugins.readers.chats.messages import UNKNOWN, clip, make_chat, quote

_MESSAGE = 'class="message default clearfix'
_HEADER = 'class="page_header"'
_ID = re.compile(r"message(-?\d+)")
_MOMENT = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)(?: UTC([+-]\d\d:\d\d))?")
_VIA = re.compile(r" via @\w+$")


class _Page(HTMLParser):
    """Collects the `turns`; complete after `close`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.turns: list[Turn] = []
        self._open: list[str] = []  # the classes of the open divisions
        self._speaker = UNKNOWN  # kept for joined messages, which do not repeat it
        self._pieces: list[str] = []
        self._name: list[str] = []
        self._id = ""
        self._at: datetime | None = None
        self._is_forwarded = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br" and self._is_in("text"):
            self._pieces.append("\n")
        if tag != "div":
            return
        attributes = {name: value or "" for name, value in attrs}
        kind = attributes.get("class", "").strip()
        if kind.startswith("message"):
            self._end_message()
            id = _ID.fullmatch(attributes.get("id", ""))
            self._id = id[1] if id else ""
            self._open = []
        elif kind == "pull_right date details" and self._at is None:
            self._at = _read_moment(attributes.get("title", ""))
        elif kind == "forwarded body":
            self._is_forwarded = True
        self._open.append(kind)

    def handle_endtag(self, tag: str) -> None:
        if tag != "div" or not self._open:
            return
        if self._open.pop() == "from_name":
            name = "".join(self._name).strip()
            if not self._is_forwarded:
                self._speaker = _VIA.sub("", name) or UNKNOWN
            self._name = []

    def handle_data(self, data: str) -> None:
        if self._is_in("text"):
            self._pieces.append(data)
        elif self._is_in("from_name"):
            self._name.append(data)
        elif not self.title and self._is_in("text bold"):
            self.title = data.strip()

    def _is_in(self, kind: str) -> bool:
        return bool(self._open) and self._open[-1] == kind

    def _end_message(self) -> None:
        text = "".join(self._pieces).strip()
        if text:
            quoted = quote(text) if self._is_forwarded else text
            self.turns.append(Turn(self._speaker, clip(quoted), self._at, self._id or None))
        self._pieces, self._at, self._is_forwarded = [], None, False

    def close(self) -> None:
        super().close()
        self._end_message()


def is_page(text: str) -> bool:
    """Whether a text is such a page, or its start with at least one message."""
    return _HEADER in text and _MESSAGE in text


def read_page(pieces: Iterable[str], uri: str = "") -> Document:
    """The messages of a page, read in pieces. Forwarded messages are quoted: another person wrote them."""
    page = _Page()
    for piece in pieces:
        page.feed(piece)
    page.close()
    return sign(make_chat(uri, page.title or None, page.turns))


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
