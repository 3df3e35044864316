"""Exports a session to a file, from the chat."""

from __future__ import annotations

import re
from pathlib import Path

from daemon.client import Client
from tui.wording import short_path, typed_path

EXPORT_HINT = "A new file: .md for Markdown, .json for JSON · Esc cancels"
_ODD = re.compile(r"[^\w -]+")
NAME_CHARS = 60


class ExportError(Exception):
    """A session cannot be written; the message is for the person."""


def suggest_path(title: str) -> str:
    """A path for a session, from its title: `~/Who has the belt.md`."""
    name = " ".join(_ODD.sub(" ", title).split())[:NAME_CHARS].strip()
    return short_path(str(Path.home() / f"{name or 'session'}.md"))


def export(client: Client, id: int, typed: str) -> Path:
    """Writes a session to the typed path; returns it. ExportError, and what the client raises."""
    from daemon.exporting.sessions import write_session

    path = typed_path(typed)
    session = client.conversation(id)
    try:
        write_session(session, path)
    except FileExistsError as error:
        raise ExportError(f"{short_path(str(path))} exists already. Choose another name.") from error
    except OSError as error:
        raise ExportError(f"{short_path(str(path))} cannot be written: {error.strerror}.") from error
    return path
