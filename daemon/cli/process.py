"""pal daemon: the process in the background."""

from __future__ import annotations

import time
from collections import deque

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import DaemonState
from daemon.cli.options import json_option
from daemon.cli.service import install, uninstall
from daemon.cli.session import Session, pass_session
from daemon.client import Client, DaemonDownError
from daemon.service import find_installed
from daemon.starting import connect
from daemon.terminal import display_safe


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
def start(session: Session, as_json: bool) -> None:
    """Start it, if it does not run."""
    _report(session, as_json, was_running=_hello(session) is not None)


@daemon.command()
@json_option
@pass_session
def stop(session: Session, as_json: bool) -> None:
    """Stop it, when it has finished what it is writing."""
    running = _hello(session)
    if running is not None:
        Client(session.paths).stop()
    if as_json:
        output.print_json({"stopped": running is not None})
    else:
        click.echo("Stopped." if running else "It was not running.")
        if running and find_installed(session.paths):
            output.say("It is installed as a service: it starts again with your session, or with any command.")


@daemon.command()
@json_option
@pass_session
def restart(session: Session, as_json: bool) -> None:
    """Stop it and start it again, with the settings as they are now.

    One that is installed as a service is started by the system again.
    """
    if _hello(session) is not None:
        Client(session.paths).stop()
    _report(session, as_json)


@daemon.command()
@json_option
@pass_session
def status(session: Session, as_json: bool) -> None:
    """Tell whether it runs, without starting it. Exits with 3 if not."""
    hello = _hello(session)
    if as_json:
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


daemon.add_command(install)
daemon.add_command(uninstall)


def _hello(session: Session) -> wire.Hello | None:
    try:
        return Client(session.paths).hello()
    except DaemonDownError:
        return None


def _report(session: Session, as_json: bool, *, was_running: bool = False) -> None:
    hello = connect(session.paths, say=output.say).hello()
    if as_json:
        output.print_json(hello)
    else:
        click.echo(f"{'Already running' if was_running else 'Started'}: process {hello.pid}.")
