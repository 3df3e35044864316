"""pal daemon, help: the background process, and the help of each command."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_command
from daemon.cli.output import NOT_RUNNING, Failure
from daemon.cli.session import Session, pass_session
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.client.starting import connect
from daemon.lock import end_holder, is_held
from daemon.paths import Paths, private_folder
from daemon.service import Service, choose_service, find_installed, run_calls
from daemon.terminal import display_safe


@click.group("daemon")
def daemon() -> None:
    """Manage the background process.

    Other commands start it if needed.
    """


@daemon.command()
def run() -> None:
    """Run in the foreground until Ctrl-C. Exits with 3 if a daemon is already running."""
    from daemon.process import run as serve

    raise click.exceptions.Exit(serve())


@daemon.command()
@json_command
def start(session: Session) -> None:
    """Start the daemon if it is not running."""
    _report(session, was_running=_read_hello(session) is not None)


@daemon.command()
@json_command
def stop(session: Session) -> None:
    """Stop the daemon after its current write."""
    stopped = _stop(session)
    if not session.shows_json({"stopped": stopped}):
        click.echo("Stopped." if stopped else "It was not running.")
        if stopped and find_installed(session.paths):
            output.say("It is installed as a service: it starts again with your session, or with any command.")


@daemon.command()
@json_command
def restart(session: Session) -> None:
    """Stop the daemon and start it with the current settings.

    An installed service is started again by the system.
    """
    _stop(session)
    _report(session)


@daemon.command()
@json_command
def status(session: Session) -> None:
    """Show whether the daemon is running. Exits with 3 if not."""
    hello = _read_hello(session)
    reply = {"running": hello is not None, **(_describe(session, hello) if hello else {})}
    if not session.shows_json(reply) and hello:
        click.echo(f"Running: {display_safe(hello.version)}, process {hello.pid}.")
    if hello is None:
        raise Failure("The daemon is not running. Any command starts it; so does `pal daemon start`.", NOT_RUNNING)


@daemon.command()
@click.option("-n", "lines", type=click.IntRange(0), default=40, show_default=True, help="Lines to show.")
@pass_session
def log(session: Session, lines: int) -> None:
    """Show the end of the daemon's log."""
    try:
        file = session.paths.log.open(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise click.ClickException(f"There is no log yet; it will be {session.paths.log}.") from error
    with file:
        for line in deque(file, maxlen=lines):
            output.print_text(line, nl=False)


def _stop(session: Session) -> bool:
    """Stops the daemon, by a signal if it does not answer; returns whether one ran."""
    if _read_hello(session) is not None:
        Client(session.paths).stop()
        return True
    if not is_held(session.paths.lock):
        return False
    output.say("The daemon does not answer; ending its process.")
    if not end_holder(session.paths.lock):
        raise Failure(f"The daemon cannot be ended. {session.paths.lock} contains its process id.", NOT_RUNNING)
    return True


def _read_hello(session: Session) -> wire.Hello | None:
    try:
        return Client(session.paths).hello()
    except (DaemonDownError, DaemonError):  # the latter: it is busy and answers nobody
        return None


def _report(session: Session, *, was_running: bool = False) -> None:
    hello = connect(session.paths, say=output.say).hello()
    if not session.shows_json(_describe(session, hello)):
        click.echo(f"{'Already running' if was_running else 'Started'}: process {hello.pid}.")


def _describe(session: Session, hello: wire.Hello) -> dict[str, Any]:
    """Describes the daemon, including what a remote client needs: the path of the socket and of received files."""
    return {**wire.encode(hello), "socket": str(session.paths.socket), "received": str(session.paths.received)}


@daemon.command()
@click.option("--print", "only_print", is_flag=True, help="Print the service's file and change nothing.")
@click.option(
    "--writable",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="Another folder into which `pal backup FILE` may write; repeatable.",
)
@pass_session
def install(session: Session, only_print: bool, writable: tuple[Path, ...]) -> None:
    """Start the daemon with your session, and again after a crash.

    Installs a user service: systemd on Linux, launchd on macOS. With systemd it can write only into its own folders and
    use at most 2 GB of memory.
    """
    service = _choose(session.paths, writable)
    if only_print:
        output.print_text(service.text, nl=False)
        return
    for folder in (session.paths.data, session.paths.logs, session.paths.config.parent):
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


@daemon.command()
@pass_session
def uninstall(session: Session) -> None:
    """Remove the service. The memory stays; any command starts the daemon."""
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
    """Returns this system's kind of service. UsageError without one."""
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
        _, below, _ = context.command.resolve_command(context, [name])
        assert below is not None
        context = click.Context(below, parent=context, info_name=name)
    click.echo(context.get_help())
