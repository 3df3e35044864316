"""Bookmarks of browsers by folder, each with its address and the day it was added.

Reads the HTML that every browser exports, Chrome's own file, and the JSON of a Firefox backup."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.common.tree import Node, parse_json

CHROME_FILE = "Bookmarks"
MAX_TITLE_CHARS = 300
_SIGN = "<!doctype netscape-bookmark-file-1"
_CHROME_BEGINS = datetime(1601, 1, 1, tzinfo=UTC)
_UNIX_BEGINS = datetime(1970, 1, 1, tzinfo=UTC)
_PACKED = "a compressed Firefox backup: use Bookmarks, Manage bookmarks, Export Bookmarks to HTML"


class _Bookmark(NamedTuple):
    line: int
    folders: tuple[str, ...]
    title: str
    address: str
    added: datetime | None
    tags: tuple[str, ...] = ()
    about: str = ""


def is_netscape(text: str) -> bool:
    """Whether a page holds the bookmarks of a browser."""
    return text[:400].lstrip("\ufeff \n\t").lower().startswith(_SIGN)


def read_netscape(text: str) -> Document:
    page = _Page()
    page.feed(text)
    page.finish()
    return _lay_out(iter(page.bookmarks))


def is_bookmarks(loaded: Any) -> bool:
    """Whether a JSON value holds the bookmarks of Chrome or Firefox."""
    if not isinstance(loaded, Mapping):
        return False
    roots = loaded.get("roots")
    return (isinstance(roots, Mapping) and "bookmark_bar" in roots) or loaded.get(
        "type"
    ) == "text/x-moz-place-container"


def convert(tree: Node) -> Document:
    return _lay_out(_walk_tree(tree))


def read_chrome_file(path: Path, text: str) -> Document:
    try:
        loaded = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"not valid JSON: {error}") from error
    if not is_bookmarks(loaded):
        raise Unreadable("JSON, but not the bookmarks of a browser")
    return convert(parse_json(text))


def _walk_tree(tree: Node) -> Iterator[_Bookmark]:
    roots = dict(tree.fields or ()).get("roots")
    above = [root for _, root in roots.fields or ()] if roots is not None else [tree]
    waiting: list[tuple[Node, tuple[str, ...]]] = [(node, ()) for node in reversed(above)]
    while waiting:
        node, folders = waiting.pop()
        fields = dict(node.fields or ())
        text = {key: value.text for key, value in fields.items() if value.is_plain}
        title = text.get("name") or text.get("title", "")
        children = fields.get("children")
        if children is not None:
            inner = (*folders, title) if title else folders
            waiting += [(child, inner) for child in reversed(children.items or ())]
        elif address := text.get("url") or text.get("uri", ""):
            added = _count_from(_CHROME_BEGINS, text.get("date_added", "")) or _count_from(
                _UNIX_BEGINS, text.get("dateAdded", "")
            )
            tags = tuple(filter(None, text.get("tags", "").split(",")))
            yield _Bookmark(node.line, folders, title, address, added, tags)


def _count_from(begin: datetime, microseconds: str) -> datetime | None:
    try:
        return begin + timedelta(microseconds=int(microseconds)) if int(microseconds) > 0 else None
    except (ValueError, OverflowError):
        return None


class _Page(HTMLParser):
    """Collects the bookmarks of a page; folders are lists, each after a heading."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.bookmarks: list[_Bookmark] = []
        self._folders: list[str] = []
        self._named = ""  # the folder whose list comes next
        self._words: list[str] | None = None  # text of the open element
        self._link: _Bookmark | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "dl":
            self.finish()
            self._folders.append(self._named)
            self._named = ""
        elif tag in ("h3", "dt", "dd"):
            self._take_about()
            if tag == "dt":
                self.finish()
            self._words = [] if tag != "dt" else None
        elif tag == "a":
            seconds = attributes.get("add_date", "")
            added = _count_from(_UNIX_BEGINS, f"{seconds[:12]}000000") if seconds.isdigit() else None
            tags = tuple(filter(None, attributes.get("tags", "").split(",")))
            folders = tuple(filter(None, self._folders))
            self._link = _Bookmark(self.getpos()[0], folders, "", attributes.get("href", ""), added, tags)
            self._words = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "h3":
            self._named = self._take_words()
        elif tag == "a" and self._link is not None:
            self._link = self._link._replace(title=self._take_words())
        elif tag == "dl":
            self.finish()
            self._folders = self._folders[:-1]

    def handle_data(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)

    def finish(self) -> None:
        """Ends the current bookmark."""
        self._take_about()
        if self._link is not None and self._link.address:
            self.bookmarks.append(self._link)
        self._link = None

    def _take_about(self) -> None:
        """Adds the text since the current bookmark as its description."""
        if self._words and self._link is not None:
            about = self._take_words()
            self._link = self._link._replace(about=about) if self._link.title else self._link._replace(title=about)
        self._words = None

    def _take_words(self) -> str:
        words = " ".join("".join(self._words or ()).split())[:MAX_TITLE_CHARS]
        self._words = None
        return words


def _lay_out(bookmarks: Iterator[_Bookmark]) -> Document:
    out = LaidOut()
    shown: tuple[str, ...] = ()
    line, newest = 1, None
    for bookmark in bookmarks:
        if bookmark.address.startswith(("javascript:", "data:", "place:")):
            continue
        line = max(line, bookmark.line)
        newest = max(filter(None, (newest, bookmark.added)), default=None)
        if bookmark.folders != shown:
            out.add("", line)
            out.add(" › ".join(bookmark.folders) or "Bookmarks", line, level=2)
            shown = bookmark.folders
        added = f", added {bookmark.added.astimezone().date().isoformat()}" if bookmark.added else ""
        tags = "".join(f" #{tag.strip().replace(' ', '-')}" for tag in bookmark.tags)
        out.add(f"- [{bookmark.title or bookmark.address}]({bookmark.address}){added}{tags}", line, apart=False)
        if bookmark.about:
            out.add(f"  {bookmark.about}", line, apart=False)
    return out.close("Bookmarks", newest)


def refuse(path: Path, data: bytes) -> list[Document]:
    raise Unreadable(_PACKED)
