"""pal add, remember, forget, watch: what changes the memory, and the folders that it reads by itself."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import (
    as_date,
    confirm_much,
    json_command,
    list_unwatched,
    policy_option,
    require_folder,
    require_path,
    watch_folder,
)
from daemon.cli.output import NothingFound
from daemon.cli.session import Session, pass_session
from daemon.cli.show import describe_folder, print_forgotten
from daemon.terminal import count, display_safe

STDIN = "-"
GONE_SHOWN = 20
MAX_LISTED = 1000  # sources among which one is found by its name


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-", type=click.Path(allow_dash=True))
@policy_option
@click.option("--again", is_flag=True, help="Also read forgotten files.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def add(
    session: Session,
    paths: tuple[str, ...],
    policy: str | None,
    again: bool,
    yes: bool,
) -> None:
    """Read files and folders once.

    "-" reads text from standard input. Unchanged files are skipped, forgotten ones unless --again is given. For
    a folder of notes use `pal watch add`, which also reads later changes.

    On a terminal it asks before reading more than 5,000 files; before a whole disk or home it always asks.
    """
    files = [require_path(Path(path), "PATH") for path in paths if path != STDIN]
    folders = [file for file in files if file.is_dir()]
    if not yes:
        confirm_much(session, folders)
    if STDIN in paths:
        text = _read_stdin()
        session.show(session.client.remember(text), _print_receipt)
    if files:
        added = _read(session, files, policy, again)
        if added.skipped and not (added.sources or added.unchanged):
            sys.exit(1)


def _read(session: Session, files: list[Path], policy: str | None, again: bool) -> wire.Added:
    try:
        events = session.client.add(files, policy, again)
        return session.follow(events, wire.Added, "Reading", lambda added: click.echo(_summarise(added)))
    except KeyboardInterrupt:
        output.say("\nThe daemon goes on reading. `pal status` shows how far it is.")
        raise click.exceptions.Exit(130) from None


def _summarise(added: wire.Added) -> str:
    others = {"unchanged": added.unchanged, "skipped": added.skipped, "removed": added.removed}
    parts = [f"Read {count(added.sources, 'note')}", count(added.episodes, "passage")]
    parts += [f"{number:,} {word}" for word, number in others.items() if number]
    return f"{', '.join(parts)} ({added.ms / 1000:.1f} s)."


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--title", help="The note's title.")
@click.option("--at", metavar="DATE", type=as_date("start"), help="The note's date; default: now.")
@click.option("--source", help="The note's name. Using a name again replaces that note.")
@json_command
def remember(
    session: Session, text: tuple[str, ...], title: str | None, at: datetime | None, source: str | None
) -> None:
    """Save TEXT as a note. "-" reads it from standard input."""
    words = _read_stdin() if text == (STDIN,) else " ".join(text)
    if not words.strip():
        raise click.UsageError('There is nothing to remember. For example: pal remember "The key is under the pot"')
    session.show(session.client.remember(words, title=title, at=at, source=source), _print_receipt)


def _print_receipt(kept: wire.Receipt) -> None:
    if kept.added or kept.removed:
        click.echo(f"Remembered: {count(kept.added + kept.kept, 'passage')}, note {kept.source_id}.")
    else:
        click.echo(f"Already known: note {kept.source_id}.")


def _read_stdin() -> str:
    if sys.stdin.isatty():
        output.say("Type or paste the text, then press Ctrl-D.")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.ClickException("Standard input is not UTF-8 text. Give the file's path instead of -.") from error
    if not text.strip():
        raise click.UsageError("There was no text on standard input.")
    return text


@click.command()
@click.argument("bare", nargs=-1, metavar="")
@click.option("--source", metavar="PATH", type=click.Path(), help="A file, note or chat, by its path or name.")
@click.option("--object", "object_", metavar="NAME", help="A person, place or thing, with what links to it.")
@click.option("--passage", "episode", type=int, metavar="ID", help="One passage.")
@click.option("--fact", type=int, metavar="ID", help="One fact; `pal facts` shows the numbers.")
@click.option("--retired", is_flag=True, help="Deleted and earlier text: all of it, or that of --source.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def forget(
    session: Session,
    bare: tuple[str, ...],
    source: str | None,
    object_: str | None,
    episode: int | None,
    fact: int | None,
    retired: bool,
    yes: bool,
) -> None:
    """Remove something from the memory for good.

    Its text, vectors, index entries and traces are erased. Files on disk are never touched.
    """
    if bare:
        name = shlex.quote(display_safe(" ".join(bare), line=True))
        raise click.UsageError(
            f"Say what that is. A file or note: --source {name}. A person, place or thing: --object {name}"
        )
    given = {"source": source, "object": object_, "episode": episode, "fact": fact}
    chosen = {noun: value for noun, value in given.items() if value is not None}
    if len(chosen) != 1 and not (retired and not chosen):
        raise click.UsageError(
            "Say what to forget, one at a time: --source, --object, --passage or --fact; or --retired."
        )
    if retired and chosen.keys() - {"source"}:
        raise click.UsageError("--retired is for all of it, or for that of a --source.")
    if source is not None and (Path(source).exists() or (retired and not source.startswith("note:"))):
        chosen["source"] = str(Path(source).absolute())
    what = " ".join(f"the {noun} {display_safe(str(value), line=True)}" for noun, value in chosen.items())
    if retired:
        what = "deleted and earlier text" + (f" of {what}" if what else "")
    elif source is not None:
        chosen["source"], what = _find_source(session, str(chosen["source"]), yes)
    if not yes:
        question = f"Forget {display_safe(what, line=True)} for good? This cannot be undone."
        output.confirm(question, "forget", "Nothing was forgotten.")
    gone = session.client.forget(**chosen, retired=retired or None)  # type: ignore[arg-type]  # of its own type
    if not session.shows_json(gone):
        print_forgotten(gone)
        if source is not None and not retired and Path(source).is_file():
            output.print_text("The file stays on the disk and is not read again. To have it read: pal add --again")
        if episode is not None and gone.episodes:
            output.print_text("If its file changes it is read again. To keep it out: forget the --source, or edit it.")


def _find_source(session: Session, name: str, may_be_gone: bool) -> tuple[str, str]:
    """Returns (uri, words for it) of the source with that uri, file name, end of a path, or title; of a file or folder
    with several, or of one that `may_be_gone`, its name. NothingFound; UsageError if several have that name."""
    listed = session.client.sources(name, MAX_LISTED).sources
    known: list[wire.ListedSource | wire.RetiredText] = [*listed, *session.client.list_retired(MAX_LISTED).sources]
    for row in known:
        if row.uri == name:
            return name, _describe_source(name, row.title)
        if row.uri.startswith((f"{name}#", f"{name}/")):
            return name, output.name(name, "")
    key = name.casefold()
    rows = [row for row in listed if row.title.casefold() == key or f"/{row.uri.casefold()}".endswith(f"/{key}")]
    if len(rows) > 1:
        commands = "".join(f"\n  pal forget --source {shlex.quote(row.uri)}" for row in rows)
        raise click.UsageError(display_safe(f"{len(rows)} sources have that name. Choose one:{commands}"))
    if may_be_gone and not rows:
        return name, name  # the daemon finishes an erasure that was interrupted
    if not rows:
        raise NothingFound(f"There is no source {output.name(name, name)}. To see all: pal status --sources")
    return rows[0].uri, _describe_source(rows[0].uri, rows[0].title)


def _describe_source(uri: str, title: str) -> str:
    return f"“{title}” ({output.name(uri, uri)})" if title and title != uri else output.name(uri, uri)


@click.group()
def watch() -> None:
    """Manage watched folders, which are read again when files change."""


@watch.command("add")
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@policy_option
@click.option("--tag", "tags", metavar="TAG", multiple=True, help='Tag its notes; repeatable. "": no tag.')
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def watch_add(
    session: Session, folders: tuple[Path, ...], policy: str | None, tags: tuple[str, ...], yes: bool
) -> None:
    """Read FOLDER now, and again whenever something in it changes.

    To read a folder once: pal add.

    For a watched folder the options change its settings, also for notes that are already read.
    """
    chosen = [require_folder(folder) for folder in folders]
    if not yes:
        confirm_much(session, list_unwatched(session, chosen))
    for folder in chosen:
        watch_folder(session, folder, policy, [tag for tag in tags if tag] if tags else None)


@watch.command("send")
@pass_session
def watch_send(session: Session) -> None:
    """Send this computer's folders to the computer with the memory.

    Sends changes until Ctrl-C. For a memory on another computer (--at, memory.at) and the folders of this computer that
    it watches. Earlier changes are sent first.
    """
    import threading

    from daemon.client.remote import keep_sending, list_folders

    if not session.paths.at:
        raise click.UsageError("The memory is on this computer, so there is nothing to send.")
    if not list_folders(session.client):
        raise click.UsageError("No folder of this computer is watched there. Add one: pal watch add ~/notes")
    keep_sending(session.client, output.say, threading.Event())


@watch.command("rm")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--forget", is_flag=True, help="Also forget everything that was read from it.")
@json_command
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
        output.print_text(ended, nl=False)
        print_forgotten(gone)
    else:
        output.print_text(f"No longer watched: {folder}. Its notes stay.")


@watch.command("list")
@json_command
def watch_list(session: Session) -> None:
    """List the watched folders."""
    folders = session.client.folders()
    nothing = "No folder is watched. Watch one: pal watch add ~/notes"
    session.show_rows({"folders": folders}, map(describe_folder, folders), nothing)


@watch.command("gone")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--keep", "answer", flag_value="keep", help="Keep their content.")
@click.option("--drop", "answer", flag_value="drop", help="Remove their content from search.")
@json_command
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
        output.say("No missing files wait for your decision.")


def _print_gone(reply: wire.GoneReply) -> None:
    for file in reply.files[:GONE_SHOWN]:
        output.print_text(file)
    if reply.total > GONE_SHOWN:
        output.say(f"and {reply.total - GONE_SHOWN:,} more.")
    verb = "is" if reply.total == 1 else "are"
    output.say(f"{count(reply.total, 'file')} {verb} missing. To keep or remove their content:")
    for answer in ("keep", "drop"):
        output.say(f'  pal watch gone "{reply.path}" --{answer}')
