"""pal sync and pal replicate: one memory on several computers, and a copy of it that is always current."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from daemon import litestream, wire
from daemon.cli import output
from daemon.cli.options import json_command, json_option, require_folder
from daemon.cli.session import Session
from daemon.terminal import describe_replica, describe_sync, list_replica_problems, list_sync_problems

MARKER = "palimpsest-sync"  # as in memory.sync.folder, which a client does not import
KEEP_WORDS = "Whoever has these words and the folder can read it. Keep them where you keep passwords."


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def sync(ctx: click.Context) -> None:
    """Make this memory and those on your other computers agree.

    Without a command it synchronises now and shows the computers.
    """
    if ctx.invoked_subcommand is None:
        session = ctx.ensure_object(Session)
        session.show(session.client.sync(), _print_sync)


@sync.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@json_command
def sync_init(session: Session, folder: Path) -> None:
    """Synchronise through FOLDER, which Syncthing, Dropbox, git or a USB stick carries to your other computers.

    The first computer makes a key and shows its twelve words; every other one asks for them.
    """
    folder, words = folder.expanduser().absolute(), ""
    if (folder / MARKER).exists():
        if not sys.stdin.isatty():
            words = sys.stdin.readline().strip()
        else:
            words = str(click.prompt("The twelve words that the other computer showed", err=True))
    begun = session.client.begin_sync(folder, words)
    if session.shows_json(begun):
        return
    if begun.words:
        output.print_text(f"The key of {folder}:\n\n  {begun.words}\n\n{KEEP_WORDS}")
        output.say(
            "On every other computer: pal sync init with the same folder. To see the words again: pal sync words"
        )
    _print_sync(begun.sync)


@sync.command("words")
@json_command
def sync_words(session: Session) -> None:
    """Show the words of the key, for another computer."""
    words = session.client.sync_words()
    session.show({"words": words}, words)


@sync.command("forget")
@click.argument("machine")
@json_command
def sync_forget(session: Session, machine: str) -> None:
    """Remove the computer MACHINE from the folder. What it stated stays.

    Whoever has that computer still knows the words. If it is not yours any more, begin another folder on each of yours,
    and delete this one.
    """
    session.show(session.client.forget_computer(machine), _print_sync)


@sync.command("allow")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--no", "refused", is_flag=True, help="Not any more.")
@json_command
def sync_allow(session: Session, folder: Path, refused: bool) -> None:
    """Let text of a watched FOLDER go to your other computers.

    That is the facts that a language model read in it, and answers that cite it. Without this only those of folders
    with the policy `any` go there. Its files are carried by your own program.
    """
    state = session.client.allow_sync(require_folder(folder), not refused)
    what = "stays here" if refused else "goes to your other computers"
    session.show(state, f"Text of {folder} {what}.")


def _print_sync(state: wire.SyncState) -> None:
    output.print_text(describe_sync(state))
    rows = [
        (
            f"  {computer.name}",
            "this one" if computer.name == state.machine else f"last change {computer.at.astimezone():%Y-%m-%d %H:%M}",
        )
        for computer in state.computers
    ]
    output.print_table(rows)
    for problem in list_sync_problems(state):
        output.print_text(f"  {problem}")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def replicate(ctx: click.Context) -> None:
    """Keep a replica of the memory on another disk or computer.

    Litestream copies each change within ten seconds. Without a command it shows where the replica is, and when it was
    last complete.
    """
    if ctx.invoked_subcommand is None:
        session = ctx.ensure_object(Session)
        state = session.client.status().replica
        if state is None and not session.shows_json(state):
            output.say("There is no replica. To begin one: pal replicate to FOLDER")
        elif state is not None:
            session.show(state, _print_replica)


@replicate.command("to")
@click.argument("address")
@click.option("--yes", "-y", "goes_on", is_flag=True, help="Also where a replica is: this memory takes its place.")
@click.option("--local", "with_local", is_flag=True, help="Also text of folders that are local leaves this computer.")
@json_command
def replicate_to(session: Session, address: str, goes_on: bool, with_local: bool) -> None:
    """Begin a replica at ADDRESS: a folder, sftp://user@host/folder or s3://bucket/folder.

    It is not encrypted. On another computer: pal restore --from ADDRESS
    """
    address = litestream.read_address(address)
    session.show(session.client.replicate(address, goes_on, with_local), _print_replica)


@replicate.command("renew")
@json_command
def replicate_renew(session: Session) -> None:
    """Remove all earlier states of the memory from the replica, and so forgotten text."""
    session.show(session.client.renew_replica(), _print_replica)


@replicate.command("stop")
@json_command
def replicate_stop(session: Session) -> None:
    """Keep the replica no longer. Its files stay, yours to delete."""
    session.client.stop_replica()
    session.show({"stopped": True}, "The replica is kept no longer; its files stay.")


def _print_replica(state: wire.Replica) -> None:
    output.print_text(describe_replica(state))
    for problem in list_replica_problems(state):
        output.print_text(f"  {problem}")
