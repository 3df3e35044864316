"""The command line: `pal`. Every command is a thin view of one call of `daemon.client.Client`.

Nothing here imports numpy, a database or a model SDK; a test holds this.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from daemon.cli import config, folders, output, process, questions, upkeep, writing
from daemon.cli.errors import INTERRUPTED, DaemonState, Refused
from daemon.cli.session import Session
from daemon.client import DaemonDownError, DaemonError
from daemon.terminal import display_safe
from memory.errors import PalimpsestError

SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Ask": (questions.ask, questions.recall, questions.facts),
    "Read and forget": (writing.add, writing.remember, folders.watch, writing.forget),
    "Look after": (upkeep.status, upkeep.backup, upkeep.check),
    "Set up": (folders.init, config.config, process.daemon, config.completion),
}


class Pal(click.Group):
    """Lists its commands by what they are for, and tells what the daemon could not do."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [str(command.name) for commands in SECTIONS.values() for command in commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(str(command.name), command.get_short_help_str(80)) for command in commands])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if " " in args[0]:
            ctx.fail(f'To ask something: pal ask "{display_safe(args[0], line=True)}"')
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        session = ctx.ensure_object(Session)
        try:
            return super().invoke(ctx)
        except DaemonError as error:
            raise Refused(error.failed, session.as_json) from error
        except DaemonDownError as error:
            raise DaemonState(str(error)) from error
        except PalimpsestError as error:  # of config.toml
            raise click.ClickException(display_safe(str(error))) from error
        except (KeyboardInterrupt, click.Abort):
            output.say("\nStopped.")
            raise click.exceptions.Exit(INTERRUPTED) from None


@click.group(cls=Pal, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--no-start", is_flag=True, help="Do not start the daemon; exit with 3 if it is not running.")
@click.version_option(None, "--version", "-V", package_name="palimpsest", prog_name="palimpsest")
@click.pass_context
def main(ctx: click.Context, no_start: bool) -> None:
    """A personal memory that lives on your machine.

    Reads your folders and chats, and answers questions with the source line of every claim.
    Without a command it opens the chat.
    """
    session = ctx.ensure_object(Session)
    session.start = not no_start
    if ctx.invoked_subcommand is not None:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo(ctx.get_help())
        return
    from tui.app import run

    run(session.paths)


for _commands in SECTIONS.values():
    for _command in _commands:
        main.add_command(_command)
