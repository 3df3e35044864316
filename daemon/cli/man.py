"""pal man: the manual page, made of the help of all commands."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

EXIT_CODES = {
    0: "Done.",
    1: "It went wrong; the message says what to do.",
    2: "The command, an option or the text given with it cannot be meant.",
    3: "The daemon is not running and could not, or should not, be started; or one is running already.",
    4: "Nothing was found, or the memory does not hold the answer; a newer Palimpsest wrote the memory.",
    74: "The memory's file is damaged, or was replaced or moved while it was open.",
    75: "Its disk is full, or the file cannot be written.",
    78: "config.toml cannot be meant; the message names the line.",
    130: "Ctrl-C.",
}
ENVIRONMENT = {
    "PALIMPSEST_HOME": "One folder for everything: memory, config.toml, logs, backups.",
    "XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME": "Where memory, config.toml and logs are without it, on Linux.",
    "NO_COLOR": "Plain text on a terminal, too.",
    "VISUAL, EDITOR": "The editor that `pal config edit` and the chat open.",
}


@click.command()
def man() -> None:
    """Show the manual page, or print it where stdout is no terminal.

    Printed, it is what `man` reads: pal man > ~/.local/share/man/man1/pal.1 keeps it there.
    """
    from daemon.cli import main

    text = "\n".join(write_page(main)) + "\n"
    viewer = shutil.which("man")
    if viewer is None or not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "pal.1"
        page.write_text(text, "utf-8")
        subprocess.run([viewer, str(page)])


def write_page(main: click.Group) -> Iterator[str]:
    """The lines of the page, as troff's macros `man` have them."""
    context = click.Context(main, info_name="pal")
    yield '.TH PAL 1 "" Palimpsest "User Commands"'
    yield from [".SH NAME", r"pal \- a personal memory that lives on your machine"]
    yield from [".SH SYNOPSIS", r".B pal", r"[\-\-no\-start] [COMMAND] [ARGUMENTS]"]
    yield from [".SH DESCRIPTION", *_paragraphs(main.help or "")]
    yield from [".SH COMMANDS", *_commands(main, context)]
    for title, rows in (("EXIT STATUS", EXIT_CODES), ("ENVIRONMENT", ENVIRONMENT)):
        yield f".SH {title}"
        for name, sentence in rows.items():
            yield from [".TP", f".B {_escape(str(name))}", _escape(sentence)]


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Each command below a group, with what it takes."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, parent=context, info_name=name)
        usage = " ".join([below.command_path, *command.collect_usage_pieces(below)])
        yield from [f".SS {_escape(usage)}", *_paragraphs(command.help or "")]
        for parameter in command.get_params(below):
            if (record := parameter.get_help_record(below)) and "--help" not in parameter.opts:
                yield from [".TP", f".B {_escape(record[0])}", _escape(" ".join(record[1].split()))]
        if isinstance(command, click.Group):
            yield from _commands(command, below)


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a help text; one that begins with click's mark \\b keeps its lines."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ".PP"
        keeps = paragraph.startswith("\b")
        lines = [_escape(line) for line in paragraph.removeprefix("\b").strip("\n").splitlines()]
        yield from [".nf", *lines, ".fi"] if keeps else lines


def _escape(text: str) -> str:
    """Text as troff takes it: neither a request nor a hyphen of its own."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
