"""The page in the browser."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageLink:
    """POST /page: where the page is. `url` works once, within so many `seconds`; `opener` is a file of the owner's own
    that leads there, for a browser."""

    url: str
    opener: str
    port: int
    seconds: int


@dataclass(frozen=True, slots=True)
class PageClosed:
    """POST /page/close: whether the page `was_open`."""

    was_open: bool
