"""pal daemon, man: the process in the background, and the manual page."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import DaemonState
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.client import Client, DaemonDownError, DaemonError
from daemon.lock import end_holder, is_held
from daemon.paths import Paths, private_folder
from daemon.service import Service, choose_service, find_installed, run_calls
from daemon.starting import connect
from daemon.terminal import display_safe

EXIT_CODES = {
    0: "Done.",
    1: "It went wrong; the message says what to do.",
    2: "The command, an option or its text is invalid.",
    3: "The daemon is not running and could not, or should not, be started; or one is running already.",
    4: "Nothing was found, or the memory does not hold the answer; a newer Palimpsest wrote the memory.",
    5: "No line answers the question plainly; the closest lines are shown (pal ask).",
    74: "The memory's file is damaged, or was replaced or moved while it was open.",
    75: "Its disk is full, or the file cannot be written.",
    78: "config.toml is invalid; the message names the line.",
    130: "Ctrl-C.",
}
ENVIRONMENT = {
    "PALIMPSEST_HOME": "One folder for everything: memory, config.toml, logs, backups.",
    "XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME": "Where memory, config.toml and logs are without it, on Linux.",
    "NO_COLOR": "Plain text on a terminal, too.",
    "VISUAL, EDITOR": "The editor that `pal config edit` and the chat open.",
}


@click.group("daemon")
def daemon() -> None:
    """The process in the background.

    Other commands start it when they need it.
    """


@daemon.command()
def run() -> None:
    """Run in the foreground, until Ctrl-C. Exits with 3 if a daemon is running already."""
    from daemon.process.main import run as serve

    raise click.exceptions.Exit(serve())


@daemon.command()
@json_option
@pass_session
def start(session: Session) -> None:
    """Start it, if it does not run."""
    _report(session, was_running=_hello(session) is not None)


@daemon.command()
@json_option
@pass_session
def stop(session: Session) -> None:
    """Stop it, when it has finished what it is writing."""
    stopped = _stop(session)
    if not session.shows_json({"stopped": stopped}):
        click.echo("Stopped." if stopped else "It was not running.")
        if stopped and find_installed(session.paths):
            output.say("It is installed as a service: it starts again with your session, or with any command.")


@daemon.command()
@json_option
@pass_session
def restart(session: Session) -> None:
    """Stop the daemon and start it with the current settings.

    One that is installed as a service is started by the system again.
    """
    _stop(session)
    _report(session)


@daemon.command()
@json_option
@pass_session
def status(session: Session) -> None:
    """Tell whether it runs, without starting it. Exits with 3 if not."""
    hello = _hello(session)
    if session.as_json:
        output.print_json({"running": hello is not None, **(wire.encode(hello) if hello else {})})
    elif hello:
        click.echo(f"Running: {display_safe(hello.version)}, process {hello.pid}.")
    if hello is None:
        raise DaemonState("The daemon is not running. Any command starts it; so does `pal daemon start`.")


@daemon.command()
@click.option("-n", "lines", type=click.IntRange(0), default=40, show_default=True, help="Lines to show.")
@click.option("-f", "--follow", is_flag=True, help="Go on with new lines until Ctrl-C.")
@pass_session
def log(session: Session, lines: int, follow: bool) -> None:
    """Show the end of the daemon's log."""
    try:
        file = session.paths.log.open(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise click.ClickException(f"There is no log yet; it will be {session.paths.log}.") from error
    with file:
        for line in deque(file, maxlen=lines):
            output.print_text(line, nl=False)
        while follow:
            if line := file.readline():
                output.print_text(line, nl=False)
            else:
                time.sleep(0.3)


def _stop(session: Session) -> bool:
    """Stops the daemon, by a signal if it does not answer; returns whether one ran."""
    if _hello(session) is not None:
        Client(session.paths).stop()
        return True
    if not is_held(session.paths.lock):
        return False
    output.say("The daemon does not answer; ending its process.")
    if not end_holder(session.paths.lock):
        raise DaemonState(f"The daemon cannot be ended. {session.paths.lock} contains its process id.")
    return True


def _hello(session: Session) -> wire.Hello | None:
    try:
        return Client(session.paths).hello()
    except (DaemonDownError, DaemonError):  # the latter: it is busy and answers nobody
        return None


def _report(session: Session, *, was_running: bool = False) -> None:
    hello = connect(session.paths, say=output.say).hello()
    session.show(hello, f"{'Already running' if was_running else 'Started'}: process {hello.pid}.")


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the service's file and change nothing.")
@click.option(
    "--writable",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="A folder, beside its own, into which `pal backup FILE` may write. May be repeated.",
)
@pass_session
def install(session: Session, only_print: bool, writable: tuple[Path, ...]) -> None:
    """Let the system start it: with your session, and again after a crash.

    A service of your own: systemd on Linux, launchd on macOS. With systemd it may write into nothing
    but its own folders, and takes 2 GB of memory at most.
    """
    service = _choose(session.paths, writable)
    if only_print:
        output.print_text(service.text, nl=False)
        return
    for folder in (session.paths.data, session.paths.logs):
        private_folder(folder)
    if is_held(session.paths.lock):
        Client(session.paths).stop()
    service.file.parent.mkdir(parents=True, exist_ok=True)
    service.file.write_text(service.text, "utf-8")
    if problem := run_calls(service.on):
        service.file.unlink()
        raise click.ClickException(display_safe(f"It is not installed. {problem}"))
    output.print_text(f"Installed: {service.file}")
    output.say("It runs from now on, and starts with your session. To end that: pal daemon uninstall")
    output.say("Keys of models in this shell's environment are not known to it: pal config set anthropic.key_file FILE")


@click.command()
@pass_session
def uninstall(session: Session) -> None:
    """Stop starting it automatically. The memory stays; any command starts the daemon as before."""
    service = _choose(session.paths)
    if not service.file.exists():
        output.say("It was not installed.")
        return
    problem = run_calls(service.off)
    service.file.unlink()
    problem = run_calls(service.forget) or problem
    output.print_text(f"Removed: {service.file}")
    if problem:
        output.say(f"The service manager did not respond. {problem}")


def _choose(paths: Paths, writable: Sequence[Path] = ()) -> Service:
    """The service of this system. UsageError where there is none."""
    if service := choose_service(paths, writable):
        return service
    raise click.UsageError("There is no service of this system that Palimpsest knows. Any command starts the daemon.")


@click.command("help")
@click.argument("command", nargs=-1)
def help_(command: tuple[str, ...]) -> None:
    """Show the help of COMMAND, or with `all` every command."""
    from daemon.cli import ALL_COMMANDS, main

    context = click.Context(main, info_name="pal")
    if command == ("all",):
        context.meta[ALL_COMMANDS], command = True, ()
    for name in command:
        if not isinstance(context.command, click.Group):
            raise click.UsageError(f"{context.command_path} has no command {name!r}.")
        _, found, _ = context.command.resolve_command(context, [name])
        assert found is not None
        context = click.Context(found, parent=context, info_name=name)
    click.echo(context.get_help())


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
    """Text escaped for troff: it is no request, and its hyphens are printed as typed."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


daemon.add_command(install)
daemon.add_command(uninstall)
