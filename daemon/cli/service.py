"""pal daemon install, uninstall: the daemon as a service of the person's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from daemon.cli import output
from daemon.cli.session import Session, pass_session
from daemon.client import Client
from daemon.lock import is_held
from daemon.paths import Paths, private_folder
from daemon.service import Service, choose_service, run_calls
from daemon.terminal import display_safe


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
    """Let the system start it no more. The memory stays; any command starts the daemon as before."""
    service = _choose(session.paths)
    if not service.file.exists():
        output.say("It was not installed.")
        return
    problem = run_calls(service.off)
    service.file.unlink()
    problem = run_calls(service.forget) or problem
    output.print_text(f"Removed: {service.file}")
    if problem:
        output.say(f"What the system was to be told, it did not hear. {problem}")


def _choose(paths: Paths, writable: Sequence[Path] = ()) -> Service:
    """The service of this system. UsageError where there is none."""
    if service := choose_service(paths, writable):
        return service
    raise click.UsageError("There is no service of this system that Palimpsest knows. Any command starts the daemon.")
