"""pal config, completion, init: the settings, and the questions of the first start. All are asked before anything is
written."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import (
    confirm_much,
    json_command,
    json_option,
    list_unwatched,
    require_folder,
    require_key,
    watch_folder,
    write_setting,
)
from daemon.cli.session import Session, pass_session
from daemon.client.client import Client
from daemon.setup import FAMILY, QUESTIONS, decline, install, list_offers, read_answer
from daemon.terminal import count, display_safe, size

LIKELY = ("Notes", "notes", "Documents/Notes", "Documents/Obsidian", "Obsidian", "Documents")
LEAST_ROOM = 20  # columns after a question, to type in
FILES_PER_SECOND = 185  # 1,000 notes of 1.4 kB took 5.4 s on two cores
NOT_ASKED = (
    "Not asked here: who you are (pal me set name 'YOUR NAME'), more folders (pal watch add FOLDER), better search and"
    " the readers of PDF and Office files. To be asked: pal init, on a terminal."
)


@click.group(invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show and change the settings.

    Changes take effect after: pal daemon restart
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(show)


@config.command()
@json_command
def show(session: Session) -> None:
    """List all settings with their values; a star marks changed ones."""
    from daemon.config.settings import describe_ignored, entries, load

    rows = entries(load(session.paths.config))
    session.show_rows(
        {key: value for key, (value, _, _) in rows.items()},
        (("*" if value != default else " ", key, _format_value(value)) for key, (value, default, _) in rows.items()),
    )
    if ignored := describe_ignored(session.paths.config):
        output.say(ignored)


@config.command()
@json_command
def path(session: Session) -> None:
    """Print where config.toml and everything else lives."""
    paths = session.paths
    places = {"config": paths.config, "memory": paths.memory, "backups": paths.backups, "log": paths.log}
    session.show({name: str(place) for name, place in places.items()}, str(paths.config))


def _complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from daemon.config.settings import Settings, entries

    return [key for key in entries(Settings()) if key.startswith(incomplete)]


@config.command("get")
@click.argument("key", shell_complete=_complete_key)
@json_command
def get_(session: Session, key: str) -> None:
    """Print the value of KEY, for example memory.answer.lines."""
    from daemon.config.settings import entries, load

    rows = entries(load(session.paths.config))
    value, _, _ = rows[require_key(key, rows)]
    session.show({key: value}, "\n".join(value) if isinstance(value, tuple) else _format_value(value))


@config.command("set")
@click.argument("key", shell_complete=_complete_key)
@click.argument("value")
@json_command
def set_(session: Session, key: str, value: str) -> None:
    """Write VALUE for KEY into config.toml, and keep its comments."""
    written = write_setting(session.paths.config, key, value)
    if not session.shows_json({key: written}):
        output.print_text(f"{key} = {value}")
        output.say(_tell_when_it_counts(session.paths.config, key))


def _tell_when_it_counts(file: Path, key: str) -> str:
    """Explains from when a setting applies, or that the daemon cannot start with the rest of the file."""
    from daemon.config.settings import SettingsError, load

    try:
        load(file)
    except SettingsError as error:
        return f"The daemon cannot start yet. {error}"
    at_once = key in ("chat.remember", "memory.at")
    return "It counts at once." if at_once else "It counts from the daemon's next start: pal daemon restart"


@config.command()
@pass_session
def edit(session: Session) -> None:
    """Open config.toml in $VISUAL or $EDITOR, and check it afterwards."""
    from daemon.config.file import read_or_make
    from daemon.config.settings import describe_ignored

    read_or_make(session.paths.config)
    click.edit(filename=str(session.paths.config))
    if ignored := describe_ignored(session.paths.config):
        output.say(ignored)
    output.say("The settings are valid. They take effect after: pal daemon restart")


def _format_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} entries"
    return str(value).lower() if isinstance(value, bool) else str(value)


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash   echo 'eval "$(pal completion bash)"' >> ~/.bashrc
    zsh    echo 'eval "$(pal completion zsh)"' >> ~/.zshrc
    fish   pal completion fish > ~/.config/fish/completions/pal.fish
    """
    from click.shell_completion import get_completion_class

    root = ctx.find_root()
    name = root.info_name or "pal"
    kind = get_completion_class(shell)
    assert kind is not None  # the choice above is click's own list
    click.echo(kind(root.command, {}, name, f"_{name}_COMPLETE".replace("-", "_").upper()).source())


@dataclass
class Choices:
    """The answers: statements about the owner, folders to watch, extras to install or never to offer again."""

    statements: dict[str, str] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    declined: list[str] = field(default_factory=list)


@click.command()
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def init(ctx: click.Context, folders: tuple[Path, ...]) -> None:
    """Say who you are, choose the folders to watch, and open the chat.

    Asks for your name, home, family and work (as `pal me set`), for folders (as `pal watch add`), and whether to
    install missing extras. An empty line skips a question. Nothing is written before the last answer. With FOLDER, or
    without a terminal, it asks nothing. Writes config.toml if there is none.
    """
    from daemon.config.settings import Settings, render
    from daemon.paths import private_folder, write_private

    session = ctx.ensure_object(Session)
    choices = Choices(folders=[require_folder(folder) for folder in folders])
    asks = not choices.folders and not session.as_json and sys.stdin.isatty()
    if asks:
        _ask(session, choices)
    elif choices.folders:
        confirm_much(session, list_unwatched(session, choices.folders))
    config = session.paths.config
    written = not config.exists()
    if written:
        private_folder(config.parent)
        write_private(config, render(Settings()))
    if not session.as_json:
        output.print_text(f"{'Written' if written else 'Kept'}: {config}")
    for key, value in choices.statements.items():
        session.client.set_profile(key, value)
    for extra in choices.declined:
        decline(session.paths, extra)
    problems = [install(extra) for extra in choices.extras]
    for problem in filter(None, problems):
        output.say(problem)
    if not all(problems):
        Client(session.paths).stop()  # the next one finds what is installed
        del session.client
    for folder in choices.folders:
        watch_folder(session, folder)
    if session.as_json:
        reply = {"config": str(config), "written": written, "folders": [str(folder) for folder in choices.folders]}
        output.print_json(reply)
    elif not asks:
        output.say(NOT_ASKED)
    elif output.can_draw() and click.confirm("Open the chat now?", default=True, err=True):
        group = ctx.find_root().command
        assert isinstance(group, click.Group)
        ctx.invoke(group.get_command(ctx, "chat"))  # type: ignore[arg-type]
    else:
        output.say('To open the chat: pal. To ask one question: pal ask "..."')


def _ask(session: Session, choices: Choices) -> None:
    output.say("Enter skips a question, or keeps what is in brackets. Ctrl+C changes nothing.")
    try:
        _ask_who(session.client.profile().profile, choices)
        lacking = _ask_for_folders(session, choices)
        _offer_extras(session, choices, lacking)
    except (KeyboardInterrupt, click.Abort):
        output.say("\nStopped. Nothing was changed. To begin again: pal init")
        raise click.exceptions.Exit(130) from None


def _ask_who(profile: wire.Profile, choices: Choices) -> None:
    from memory.facts.attributes import FAMILY as RELATIVES

    values = {entry.key: " and ".join(fact.objects[-1] for fact in entry.facts) for entry in profile.entries}
    known = {**values, "name": ", ".join(profile.names)}
    family = [values[FAMILY]] if FAMILY in values else []
    known[FAMILY] = ", ".join(family + [f"{key} {value}" for key, value in values.items() if key in RELATIVES])
    for question in QUESTIONS:
        hint = f"[{value}]" if (value := known.get(question.key)) else f"(such as {question.hint})"
        choices.statements |= read_answer(question.key, _prompt(f"{question.text} {hint}"))


def _prompt(question: str) -> str:
    """Returns the answer to a question, typed on the next line if little room is left."""
    safe = display_safe(question, line=True)
    if len(safe) > shutil.get_terminal_size().columns - LEAST_ROOM:
        output.say(safe)
        safe = ""
    return str(click.prompt(safe, default="", show_default=False, err=True, prompt_suffix=": " if safe else "> "))


def _ask_for_folders(session: Session, choices: Choices) -> int:
    """Asks for folders, each with the number of its files; returns how many files lack a reader."""
    watched = [row.path for row in session.client.folders()]
    for path in watched:
        output.say(f"Watched already: {path}")
    likely = [str(Path.home() / name) for name in LIKELY if (Path.home() / name).is_dir()]
    offered = likely[0] if likely and not watched else ""
    question = "Which folder should be read?" + (f" [{offered}]" if offered else "")
    lacking = 0
    while answer := _prompt(question).strip() or offered:
        offered = ""
        try:
            folder = require_folder(Path(answer))
        except click.BadParameter as error:
            output.say(error.message)
            continue
        if str(folder.resolve()) in (*watched, *map(str, choices.folders)):
            output.say("That is watched already.")
            continue
        counted = session.client.count([folder])
        is_whole = Path.home().is_relative_to(folder.resolve())
        output.say(f"It has {_describe_files(counted)}")
        if click.confirm("Watch it?", default=not is_whole, err=True):
            choices.folders.append(folder.resolve())
            lacking += counted.lacking
        question = "Which other folder?"
    return lacking


def _describe_files(counted: wire.Counted) -> str:
    """Returns `76 files that can be read, 1.2 MB, in less than a minute.`"""
    if not counted.files:
        return "no files that can be read yet."
    more = "" if counted.complete else "more than "
    minutes = round(counted.files / FILES_PER_SECOND / 60)
    how_long = f"in about {count(minutes, 'minute')}" if minutes else "in less than a minute"
    return f"{more}{count(counted.files, 'file')} that can be read, {more}{size(counted.bytes)}, {how_long}."


def _offer_extras(session: Session, choices: Choices, lacking: int) -> None:
    """Offers what is missing, with its install command."""
    for extra, offer in list_offers(session.paths, lacking).items():
        output.say(offer)
        if click.confirm("Run this command?", default=False, err=True):
            choices.extras.append(extra)
        else:
            choices.declined.append(extra)
