"""pal watch: which folders the memory reads by itself."""

from __future__ import annotations

from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import ListGroup, json_option, require_folder
from daemon.cli.policy import confirm_much, list_unwatched, policy_option, watch_folder
from daemon.cli.session import Session, pass_session
from daemon.cli.show import describe_folder, print_copies
from daemon.terminal import count

GONE_SHOWN = 20


@click.group(cls=ListGroup)
def watch() -> None:
    """Manage watched folders, which are read again when files change."""


@watch.command("add")
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@policy_option
@click.option("--tag", "tags", metavar="TAG", multiple=True, help='Tag its notes; repeatable. "": no tag.')
@click.option(
    "--reader",
    "readers",
    metavar="NAME",
    multiple=True,
    help='Only files of this reader, such as markdown or eml; repeatable. "": all.',
)
@click.option("--depth", type=click.IntRange(0), help="Levels of folders; 1: no subfolder. 0: all.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def watch_add(
    session: Session,
    folders: tuple[Path, ...],
    policy: str | None,
    tags: tuple[str, ...],
    readers: tuple[str, ...],
    depth: int | None,
    yes: bool,
) -> None:
    """Read FOLDER now, and again whenever something in it changes.

    To read a folder once: pal add.

    For a watched folder the options change its settings, --policy and --tag also for notes that are already read. Notes
    that no longer match are removed.
    """
    chosen = [require_folder(folder) for folder in folders]
    if not yes:
        confirm_much(session, list_unwatched(session, chosen))
    rules = {
        "tags": [tag for tag in tags if tag] if tags else None,
        "readers": [name for name in readers if name] if readers else None,
        "depth": depth,
    }
    for folder in chosen:
        watch_folder(session, folder, policy, **rules)


@watch.command("send")
@pass_session
def watch_send(session: Session) -> None:
    """Send changes of this computer's folders to the computer with the memory, until Ctrl-C.

    For a memory on another computer (--at, memory.at) and the folders of this computer that it watches. Earlier changes
    are sent first.
    """
    import threading

    from daemon.client.sending import keep_sending, list_folders

    if not session.paths.at:
        raise click.UsageError("The memory is on this computer, so there is nothing to send.")
    if not list_folders(session.client):
        raise click.UsageError("No folder of this computer is watched there. Add one: pal watch add ~/notes")
    keep_sending(session.client, output.say, threading.Event())


@watch.command("rm")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--forget", is_flag=True, help="Also forget everything that was read from it.")
@json_option
@pass_session
def watch_rm(session: Session, folder: Path, forget: bool) -> None:
    """Stop watching FOLDER. Its notes stay, unless --forget is given.

    With --forget it may also be a folder that is not watched.
    """
    watched = {row.path for row in session.client.folders()} if forget else set()
    gone = session.client.unwatch(folder, forget=forget)
    if session.as_json:
        output.print_json(gone)
    elif forget:
        ended = f"No longer watched: {folder}. " if {str(folder.absolute()), str(folder.resolve())} & watched else ""
        output.print_text(f"{ended}Forgotten: {count(gone.sources, 'note')}.")
        print_copies(gone)
    else:
        output.print_text(f"No longer watched: {folder}. Its notes stay.")


@watch.command("list")
@json_option
@pass_session
def watch_list(session: Session) -> None:
    """List the watched folders."""
    folders = session.client.folders()
    nothing = "No folder is watched. Watch one: pal watch add ~/notes"
    session.show_rows({"folders": folders}, map(describe_folder, folders), nothing)


@watch.command("gone")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--keep", "answer", flag_value="keep", help="Keep their content.")
@click.option("--drop", "answer", flag_value="drop", help="Remove their content from search.")
@json_option
@pass_session
def watch_gone(session: Session, folder: Path | None, answer: str | None) -> None:
    """List the missing files of FOLDER, or decide about them.

    If many files vanish at once, they stay in the memory until you decide: a drive may be disconnected. A removed file
    is read again when it is back.
    """
    asking = [Path(row.path) for row in session.client.folders() if row.gone]
    chosen = [folder] if folder else asking
    if answer and len(chosen) > 1:
        raise click.UsageError("Files of several folders are gone: name one. They are: pal watch gone")
    for path in chosen:
        reply = session.client.list_gone(path)
        row = session.client.decide_gone(path, keep=answer == "keep") if answer and reply.total else None
        if session.as_json:
            output.print_json(reply)
        elif row is not None:
            outcome = "Their content is kept." if answer == "keep" else "Their content is removed."
            output.print_text(f"{row.path}: {count(reply.total, 'file')} gone. {outcome}")
        elif reply.total:
            _print_gone(reply)
    if not session.as_json and not (asking if folder is None else reply.total):
        output.say("No files are gone that you were to decide about.")


def _print_gone(reply: wire.GoneReply) -> None:
    for file in reply.files[:GONE_SHOWN]:
        output.print_text(file)
    if reply.total > GONE_SHOWN:
        output.say(f"and {reply.total - GONE_SHOWN:,} more.")
    verb = "is" if reply.total == 1 else "are"
    output.say(f"{count(reply.total, 'file')} {verb} missing. To keep or remove their content:")
    for answer in ("keep", "drop"):
        output.say(f'  pal watch gone "{reply.path}" --{answer}')
