"""The command line: `pal`. Every command is a thin view of one call of `daemon.client.client.Client`.

A command's module is imported when the command runs: the wire types alone take 33 ms, which `pal --help` need not pay.
No command imports numpy, a database or a model SDK into this process; tests check both."""

from __future__ import annotations

import errno
import importlib
import io
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

import click

ALL_COMMANDS = "all commands"  # in the context of `pal help all`
AGAIN_SECONDS = 0.05  # after which a Ctrl-C that was lost comes again
FOLDER = Path(__file__).parent
SECTIONS = {  # its commands, in the order of the help; at its end are those of none
    "Ask": "chat web ask recall context facts history today me",
    "Look into an answer": "traces why",
    "Teach": "good bad train",
    "Read and forget": "add remember watch forget",
    "Look after": "review undo same apart status pause unpause retry tidy backup restore replicate sync export import"
    " check rebuild doctor",
    "Set up": "init config embedder models plugins mcp daemon completion help",
}
# With `--at` these run on the computer that has the memory, for they need its files.
AT_SERVER = set("backup config daemon doctor embedder import init models pause plugins restore unpause".split())
OFTEN = set("chat web ask facts today init add watch remember forget review status backup doctor".split())


def find_modules() -> dict[str, Path]:
    """Returns the module of each command, which its first line names."""
    modules: dict[str, Path] = {}
    for file in FOLDER.glob("*.py"):
        with file.open(encoding="utf-8") as lines:
            if names := re.match(r'"""pal ([a-z, ]+):', lines.readline()):
                modules |= dict.fromkeys(names[1].split(", "), file)
    return modules


MODULES = find_modules()
SECTIONS["More"] = " ".join(sorted(MODULES.keys() - set(" ".join(SECTIONS.values()).split())))
COMMANDS = " ".join(SECTIONS.values()).split()


def read_sentence(name: str) -> str:
    """Returns the first sentence of a command's help, from the text of its module: importing all takes a second."""
    pattern = rf'^def {name}_?\(.*?"""(.+?\.)(?:\s|""")'
    sentence = re.search(pattern, MODULES[name].read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return sentence[1] if sentence else ""


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeats a Ctrl-C that Python dropped during cleanup, as at the end of an import, a moment later."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    import signal

    def send() -> None:
        signal.pthread_kill(main_thread, signal.SIGINT)  # which wakes what waits there

    main_thread = threading.main_thread().ident or 0
    again = threading.Timer(AGAIN_SECONDS, send)
    again.daemon = True
    again.start()


class Pal(click.Group):
    """Lists the commands by purpose, and prints the daemon's errors."""

    def main(self, *args: Any, **extra: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # of what a terminal that is not UTF-8 cannot show
        try:
            return super().main(*args, **extra)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EIO):
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left to be written would fail once more
            print(f"Error: The output cannot be written: {error.strerror}.", file=sys.stderr)
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"daemon.cli.{MODULES[cmd_name].stem}")
        command: click.Command = getattr(module, f"{cmd_name}_" if cmd_name in ("import", "help") else cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands for people, or all of them on request."""
        names = COMMANDS if ctx.meta.get(ALL_COMMANDS) else OFTEN
        for title, commands in SECTIONS.items():
            if listed := [name for name in commands.split() if name in names]:
                with formatter.section(title):
                    formatter.write_dl([(name, read_sentence(name)) for name in listed])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        more = "" if ctx.meta.get(ALL_COMMANDS) else f"All {len(COMMANDS)} commands: pal help all. "
        formatter.write_text(f"{more}One of them: pal help COMMAND")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        words = " ".join(args).split()
        if args[0] not in COMMANDS and len(words) > 2 and not any(word.startswith("-") for word in words):
            ctx.fail(f'To ask something: pal ask "{" ".join(words)}"')
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            groups = [group for name in COMMANDS if isinstance(group := self.get_command(ctx, name), click.Group)]
            if within := [f"pal {group.name} {args[0]}" for group in groups if args[0] in group.commands]:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(map(repr, within))}?")
            raise click.exceptions.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        if args[0] in AT_SERVER and "at" in ctx.params and not ctx.resilient_parsing:
            _run_at_server(ctx, args)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        from daemon.cli.session import Session

        session = ctx.ensure_object(Session)
        sys.unraisablehook = _interrupt_again
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            click.echo("\nStopped.", err=True)
            raise click.exceptions.Exit(130) from None
        except Exception as error:
            from daemon.cli.output import fill_said, to_click_exception

            known = to_click_exception(error, session.as_json) or error
            if isinstance(known, click.ClickException):
                text = fill_said(f"Error: {known.message}").removeprefix("Error: ")
                known.message = text  # type: ignore[misc]  # click sets it once
            if known is error:
                raise
            raise known from error


def _run_at_server(ctx: click.Context, args: list[str]) -> None:
    """Runs a command on the computer that has the memory, if it is remote; `config` only with `--at`."""
    from daemon.client.remote import run_there
    from daemon.paths import AT

    if ctx.params["at"] is not None:
        os.environ[AT] = ctx.params["at"]
    paths = ctx.obj.paths
    if paths.at and not (args[0] == "config" and AT not in os.environ):
        run_there(paths, args)


@click.group(cls=Pal, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--at", metavar="ADDRESS", help="Use the memory of another computer over ssh: me@server.")
@click.option("--no-start", is_flag=True, help="Do not start the daemon; exit with 3 if it is not running.")
@click.version_option(None, "--version", "-V", package_name="palimpsest-memory", prog_name="palimpsest")
@click.pass_context
def main(ctx: click.Context, at: str | None, no_start: bool) -> None:
    """A personal memory that lives on your machine.

    Reads your folders and chats, and answers questions with the source line of every claim.
    Without a command it opens the chat.
    """
    ctx.obj.start = not no_start
    if at is not None:
        from daemon.paths import AT

        os.environ[AT] = at  # for the processes that this one starts, too
    if ctx.invoked_subcommand is not None:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo(ctx.get_help())
        return
    from daemon.cli.chat import chat

    ctx.invoke(chat)
