"""How the chat words dates, counts and paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from daemon import wire
from daemon.paths import name_received
from daemon.terminal import display_safe


def day(time: datetime | None) -> str:
    """`3 May 2026`; "" for None."""
    return f"{time.day} {time:%b %Y}" if time else ""


def when(time: datetime, now: datetime) -> str:
    """`today 14:02`, `yesterday 09:10`, `3 May`, `3 May 2025`, seen from `now`."""
    moment = time.astimezone(now.tzinfo)
    days = (now.date() - moment.date()).days
    if days in (0, 1):
        return f"{'today' if days == 0 else 'yesterday'} {moment:%H:%M}"
    return f"{moment.day} {moment:%b}" if moment.year == now.year else f"{moment.day} {moment:%b %Y}"


def short_path(path: str, folders: Iterable[str] = ()) -> str:
    """Returns a path relative to its watched folder, else to `~`; `laptop:notes/x.md` for another computer's file."""
    if (received := name_received(path)) != path:
        return received
    for folder in folders:
        parent, _, name = folder.rstrip("/").rpartition("/")
        if name and path.startswith(f"{parent}/{name}/"):
            return path[len(parent) + 1 :]
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home + "/") else path


def is_file(path: Path) -> bool:
    """Whether the file exists; False for invalid paths."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def typed_path(typed: str) -> Path:
    """Parses a path as a person types or drops it: perhaps quoted, relative to `~` or the working folder."""
    home = os.path.expanduser(typed.strip("'\""))  # noqa: PTH111  keeps the `~name` of an unknown user
    return Path(os.path.normpath(Path(home).absolute()))


def cut_left(text: str, width: int) -> str:
    """Cuts `text` to `width` characters at its beginning, at a slash if possible: the end of a path says more."""
    if len(text) <= width:
        return text
    end = text[-max(1, width - 1) :]
    return "…" + end[max(0, end.find("/")) :]


def cited_label(cited: wire.Citation, folders: Iterable[str] = ()) -> str:
    """Returns a citation's `path:line`, or the daemon's label for one without a file."""
    is_note = cited.uri.startswith("note:")  # without a file, so by its title
    return cited.label if cited.line is None or is_note else wire.name_place(short_path(cited.uri, folders), cited.line)


def cited_day(cited: wire.Citation) -> str:
    """Returns the date of a citation: `3 May 2026`, for a message `3 May 2026 18:05`."""
    return cited.moment.replace(cited.at.date().isoformat(), day(cited.at), 1) if cited.at else cited.moment


def citation_text(cited: wire.Citation) -> str:
    """Returns a citation for the clipboard: its words, source and date."""
    source = cited.label if cited.line is None else f"{cited.label}, {cited_day(cited)}".rstrip(", ")
    return display_safe(f"“{cited.quote}” ({source})")


def source_label(cited: wire.Citation, folders: Iterable[str] = ()) -> str:
    """Returns a citation's source and date: `museum/fog.md:14, 9 Mar 2026`."""
    label = cited_label(cited, folders)
    return label if cited.line is None else ", ".join(filter(None, (label, cited_day(cited))))


def answer_markdown(text: str, citations: Sequence[wire.Citation]) -> str:
    """Returns an answer for the clipboard: its text, then a list of its sources."""
    sources = "\n".join(f"- [{cited.n}] {source_label(cited)}" for cited in citations)
    return display_safe("\n\n".join(filter(None, (text.strip(), sources))))
