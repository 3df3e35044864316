"""Bookmarks by folder, each with its address and the day it was added, in the HTML that every browser exports.

Such a file has an element per line: a heading for each folder, then a list of links, each perhaps with a description.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

from memory.nouns import Document
from plugins.readers.common.laid_out import LaidOut

MAX_TITLE_CHARS = 300
_SIGN = "<!doctype netscape-bookmark-file-1"
_LIST_END = re.compile(r"\s*</DL>", re.IGNORECASE)
_FOLDER = re.compile(r"<H3[^<>]*>(?P<name>[^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<A (?P<fields>[^<>]*)>(?P<title>[^<]*)", re.IGNORECASE)
_ABOUT = re.compile(r"\s*<DD>(?P<words>[^<]*)", re.IGNORECASE)
_FIELD = re.compile(r'(\w+)="([^"]*)"')
_NO_PAGE = ("javascript:", "data:", "place:")


def is_netscape(text: str) -> bool:
    """Whether a page holds the bookmarks of a browser."""
    return text[:400].lstrip("\ufeff \n\t").lower().startswith(_SIGN)


def read_netscape(text: str) -> Document:
    out = LaidOut()
    folders: list[str] = []
    shown, newest = "", None
    for number, line in enumerate(text.split("\n"), 1):
        if folder := _FOLDER.search(line):
            folders.append(_clean(folder["name"]))
        elif link := _LINK.search(line):
            fields = {key.lower(): unescape(value) for key, value in _FIELD.findall(link["fields"])}
            address = fields.get("href", "")
            if not address or address.startswith(_NO_PAGE):
                continue
            if shown != (folder_path := " › ".join(folders) or "Bookmarks"):
                shown = folder_path
                out.add("", number)
                out.add(shown, number, level=2)
            at = _parse_time(fields.get("add_date", ""))
            newest = max(filter(None, (newest, at)), default=None)
            added = f", added {at.astimezone():%Y-%m-%d}" if at else ""
            tags = "".join(f" #{tag.strip().replace(' ', '-')}" for tag in fields.get("tags", "").split(",") if tag)
            out.add(f"- [{_clean(link['title']) or address}]({address}){added}{tags}", number, apart=False)
        elif about := _ABOUT.match(line):
            out.add(f"  {_clean(about['words'])}", number, apart=False)
        elif _LIST_END.match(line) and folders:
            folders.pop()
    return out.close("Bookmarks", newest)


def _clean(words: str) -> str:
    return " ".join(unescape(words).split())[:MAX_TITLE_CHARS]


def _parse_time(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC) if int(seconds) > 0 else None
    except (ValueError, OverflowError, OSError):
        return None
