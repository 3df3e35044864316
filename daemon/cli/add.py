"""pal add, remember, forget: what changes the memory."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import as_date, json_option, require_path
from daemon.cli.policy import confirm_much, policy_option
from daemon.cli.session import Session, pass_session
from daemon.cli.show import print_copies
from daemon.terminal import count, display_safe

STDIN = "-"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-", type=click.Path(allow_dash=True))
@policy_option
@click.option("--again", is_flag=True, help="Also read what was forgotten.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@pass_session
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
        text = _stdin()
        session.show(session.client.remember(text), _print_receipt)
    if files:
        added = _read(session, files, policy, again)
        if not session.as_json:
            click.echo(_summary(added))
        if added.skipped and not (added.sources or added.unchanged):
            sys.exit(1)


def _read(session: Session, files: list[Path], policy: str | None, again: bool) -> wire.Added:
    try:
        events = session.client.add(files, policy, again)
        return output.follow_progress(events, wire.Added, "Reading", session.as_json)
    except KeyboardInterrupt:
        output.say("\nThe daemon goes on reading. `pal status` shows how far it is.")
        raise click.exceptions.Exit(130) from None


def _summary(added: wire.Added) -> str:
    others = {"unchanged": added.unchanged, "skipped": added.skipped, "removed": added.removed}
    parts = [f"Read {count(added.sources, 'note')}", count(added.episodes, "passage")]
    parts += [f"{number:,} {word}" for word, number in others.items() if number]
    return f"{', '.join(parts)} ({added.ms / 1000:.1f} s)."


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--title", help="The note's title.")
@click.option("--at", metavar="DATE", type=as_date("start"), help="The note's date; default: now.")
@click.option("--source", help="The note's name. Using a name again replaces that note.")
@json_option
@pass_session
def remember(
    session: Session, text: tuple[str, ...], title: str | None, at: datetime | None, source: str | None
) -> None:
    """Save TEXT as a note. "-" reads it from standard input."""
    words = _stdin() if text == (STDIN,) else " ".join(text)
    if not words.strip():
        raise click.UsageError('There is nothing to remember. For example: pal remember "The key is under the pot"')
    session.show(session.client.remember(words, title=title, at=at, source=source), _print_receipt)


def _print_receipt(kept: wire.Receipt) -> None:
    if kept.added or kept.removed:
        click.echo(f"Remembered: {count(kept.added + kept.kept, 'passage')}, note {kept.source_id}.")
    else:
        click.echo(f"Already known: note {kept.source_id}.")


def _stdin() -> str:
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
@json_option
@pass_session
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
    if not yes:
        question = f"Forget {what} for good? This cannot be undone."
        output.confirm(question, "forget", "Nothing was forgotten.")
    gone = session.client.forget(**chosen, retired=retired or None)  # type: ignore[arg-type]  # of its own type
    if not session.shows_json(gone):
        if gone == wire.Forgotten(pending=gone.pending) and gone.pending:
            click.echo("It is not in the memory any more, or never was.")
        else:
            click.echo(
                f"Forgotten: {count(gone.sources, 'note')}, {count(gone.episodes, 'passage')}, "
                f"{count(gone.objects, 'object')}, {count(gone.facts, 'fact')}."
            )
        if source is not None and not retired and Path(source).is_file():
            output.print_text("The file stays on the disk and is not read again. To have it read: pal add --again")
        if episode is not None and gone.episodes:
            output.print_text("If its file changes it is read again. To keep it out: forget the --source, or edit it.")
        print_copies(gone)
