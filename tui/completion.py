"""What Tab makes of a half-typed command."""

from __future__ import annotations

import os
from pathlib import Path

from tui.actions import commands, find_commands


def complete(text: str) -> str | None:
    """`/ad` -> `/add `, `/add ~/no` -> `/add ~/notes/`; None if there is nothing to add.

    A path is completed as far as all that fits agrees.
    """
    if not text.startswith("/") or "\n" in text:
        return None
    head, space, argument = text.partition(" ")
    if not space:
        found = find_commands(head)
        return f"/{found[0].slash}{' ' if found[0].argument else ''}" if found else None
    takes_path = any(action.argument == "PATH" for action in commands() if head == f"/{action.slash}")
    completed = _complete_path(argument.lstrip()) if takes_path else None
    return f"{head} {completed}" if completed else None


def _complete_path(typed: str) -> str | None:
    folder, _, begun = typed.rpartition("/")
    try:
        where = Path(folder or ("/" if typed.startswith("/") else ".")).expanduser()
        names = [entry.name + "/" * entry.is_dir() for entry in where.iterdir() if entry.name.startswith(begun)]
    except (OSError, RuntimeError):  # not to be read; or a `~name` that nobody has
        return None
    if not begun:
        names = [name for name in names if not name.startswith(".")]
    completed = os.path.commonprefix(names)  # noqa: RUF071  of the characters, as a shell does it
    return typed[: len(typed) - len(begun)] + completed if len(completed) > len(begun) else None
