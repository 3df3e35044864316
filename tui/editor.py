"""Opens the person's editor at a line."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from daemon import wire

if TYPE_CHECKING:
    from textual.app import App

# How editors take the line: what replaces the path in the command, by the name of the program.
_LINES = {
    "+{line} {path}": (
        "vi vim nvim gvim mvim view ex nano pico emacs emacsclient mg zile jmacs micro kak joe jstar jpico ne vis"
        " mcedit less most gedit pluma xed geany bbedit"
    ),
    "--goto {path}:{line}": "code code-insiders codium code-oss cursor windsurf positron",
    "{path}:{line}": "hx helix subl sublime_text zed zeditor lapce lite-xl",
    "--line {line} {path}": "kate kwrite mate idea pycharm webstorm goland clion rider rubymine phpstorm",
    "-n{line} {path}": "notepad++",
}
_TEMPLATES = {name: template for template, names in _LINES.items() for name in names.split()}
_USUAL = ("nano", "vim", "vi")


class CannotOpenError(Exception):
    """A source cannot be opened in an editor; the message is a sentence for the person."""


def open_in_editor(app: App[object], uri: str, line: int | None) -> None:
    """Opens a source at its line, and returns when the editor is closed. CannotOpenError with the reason."""
    command = opening_command(uri, line)
    if line != 1 and command == editor_command(find_editor() or "", uri):
        app.notify(f"{_name(command)} cannot open at a line: it is {line}.", markup=False)
    try:
        with app.suspend():
            subprocess.run(command, check=False)
    except SuspendNotSupported as error:
        raise CannotOpenError("This terminal cannot show an editor; here is the passage.") from error
    except OSError as error:
        reason = f"The editor did not start: {error.strerror}. Set $EDITOR to one that is installed."
        raise CannotOpenError(reason) from error


def opening_command(uri: str, line: int | None) -> list[str]:
    """Returns the command that opens a source at its line. CannotOpenError with the reason."""
    if line is None:
        raise CannotOpenError("This comes from a chat or a remembered note; there is no file to open.")
    if wire.counted_in(uri) != "line":
        raise CannotOpenError(f"No editor shows this kind of file; it is in {wire.name_place(uri, line)}.")
    path = Path(wire.file_of(uri))
    if not path.is_absolute() or not path.is_file():
        raise CannotOpenError("The file no longer exists; this is the passage as it was read.")
    editor = find_editor()
    if editor is None:
        raise CannotOpenError("No editor was found. Set $EDITOR, for example to nano or vim.")
    variable = "$VISUAL" if os.environ.get("VISUAL", "").strip() else "$EDITOR"
    try:
        command = editor_command(editor, str(path), line)
    except ValueError as error:
        raise CannotOpenError(f"{variable} cannot be understood: {error}") from error
    if shutil.which(command[0]) is None:
        raise CannotOpenError(f"{variable} names {command[0]}, which is not installed. Set it to one that is.")
    return command


def find_editor(environ: Mapping[str, str] = os.environ) -> str | None:
    """Returns $VISUAL, else $EDITOR, else a usual one; None without any."""
    chosen = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    return chosen or next((name for name in _USUAL if shutil.which(name)), None)


def editor_command(editor: str, path: str, line: int | None = None) -> list[str]:
    """Returns the command that opens `path`, at `line` (from 1) if the editor is a known one, or has placeholders:
    `myed --at {line} {path}`. `editor` may contain arguments (`emacsclient -nw`). ValueError if its quotes do not
    match."""
    command = shlex.split(editor)
    if not command:
        raise ValueError("No editor is named.")
    if any("{path}" in part for part in command[1:]):
        return [command[0], *_fill(command[1:], path, line or 1)]
    template = _TEMPLATES.get(_name(command)) if line is not None else None
    return [*command, *_fill((template or "{path}").split(), path, line or 1)]


def _fill(parts: Sequence[str], path: str, line: int) -> list[str]:
    return [part.replace("{line}", str(line)).replace("{path}", path) for part in parts]


def _name(command: Sequence[str]) -> str:
    return PurePath(command[0]).name.removesuffix(".exe")
