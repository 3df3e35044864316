"""pal export, import: what is in the memory as files, and a memory of such a file."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.options import json_command, refuse_watched
from daemon.cli.output import NOTHING_READ, progress_bar
from daemon.cli.session import Session
from daemon.lock import hold
from daemon.paths import Paths, name_replaced, private_folder
from daemon.terminal import count, escape_unsafe, size

STDOUT = "-"
SUFFIXES = (".jsonl", ".ndjson")
HOLDS_NOTES = "It holds words of your notes."
STDIN = "-"


@click.command()
@click.argument("to", metavar="FILE|FOLDER|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--markdown", is_flag=True, help="Write a folder with a page for each person, place and thing.")
@click.option("--secrets", is_flag=True, help="Include passwords, keys and card numbers, which are masked by default.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_command
def export(session: Session, to: Path, markdown: bool, secrets: bool, force: bool) -> None:
    """Write the whole memory to a file or folder.

    \b
    pal export memory.jsonl          the whole memory; pal import creates the same one
    pal export memory.jsonl.gz       the same, compressed
    pal export - | jq .              the same, to standard output
    pal export FOLDER --markdown     pages to read, as Markdown

    Only you can read it, and it is written whole or not at all. FOLDER must be new or empty.
    """
    if markdown and secrets:
        raise click.UsageError("Pages have no secrets: leave out --secrets or --markdown.")
    if str(to) == STDOUT:
        if markdown:
            raise click.BadParameter("Pages are a folder of files. Name one.", param_hint="FOLDER")
        _write_out(_lines(session, secrets=secrets, hidden=sys.stdout.isatty()))
        return
    to = _check_place(session, to.expanduser(), markdown, force)
    from daemon.exporting import open_new, write_folder, write_pages

    try:
        if markdown:
            done = {"files": write_folder(to, write_pages(_lines(session, pages=True)))}
        else:
            with open_new(to) as file:
                file.writelines(_lines(session, secrets=secrets))
            done = {"bytes": to.stat().st_size}
    except OSError as error:
        raise click.BadParameter(f"It cannot be written: {error.strerror or error}.", param_hint="TO") from error
    amount = count(done["files"], "page") if markdown else size(done["bytes"])
    session.show({"path": str(to), "secrets": secrets} | done, f"Written: {to}, {amount}. {HOLDS_NOTES}")
    if not session.as_json and session.reader.status().stats.episodes == 0:
        output.say(NOTHING_READ)


def _check_place(session: Session, to: Path, markdown: bool, force: bool) -> Path:
    """Returns the absolute path of the export. BadParameter if it is not allowed."""
    to = to.absolute()
    if markdown:
        if to.exists() and not to.is_dir():
            raise click.BadParameter("It is a file; pages are written into a folder.", param_hint="FOLDER")
        return to
    if to.is_dir():
        raise click.BadParameter("It is a folder. Give the file a name in it, or add --markdown.", param_hint="FILE")
    if not to.name.lower().removesuffix(".gz").endswith(SUFFIXES):
        raise click.BadParameter(
            "Its name must end in .jsonl or .jsonl.gz; for pages, add --markdown.", param_hint="FILE"
        )
    if not to.parent.is_dir():
        raise click.BadParameter(f"There is no folder {str(to.parent)!r}.", param_hint="FILE")
    if to.exists() and not force:
        raise click.BadParameter("It exists already. Choose another name, or add --force.", param_hint="FILE")
    refuse_watched(session, to)
    return to


def _lines(session: Session, *, pages: bool = False, secrets: bool = False, hidden: bool = False) -> Iterator[bytes]:
    """Yields the lines of an export, with a bar on a terminal that shows how far it is."""
    export = session.reader.export_with_secrets() if secrets else session.reader.export(pages)
    with export as lines, progress_bar("Writing", hidden or session.as_json) as bar:
        step = 1000
        for number, line in enumerate(lines):
            if number == 0:
                bar.length = sum(json.loads(line)["counts"].values()) + 1
            elif number % step == 0:
                bar.update(step)
            yield line
        bar.update(max(0, (bar.length or 0) - bar.pos))


def _write_out(lines: Iterable[bytes]) -> None:
    """Writes to standard output; on a terminal escape sequences in notes are disabled."""
    to_terminal = sys.stdout.isatty()
    try:
        for line in lines:
            if to_terminal:
                click.echo(escape_unsafe(line.decode()), nl=False)
            else:
                sys.stdout.buffer.write(line)
        sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who read it has enough
        sys.exit(1)


@click.command("import")
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def import_(session: Session, file: Path, yes: bool) -> None:
    """Create a memory from an export.

    FILE is a .jsonl, compressed or not; "-" is standard input. It is checked first: nothing is imported from a damaged
    or incomplete export, or one by a newer Palimpsest. An existing memory is replaced, and kept with the backups. The
    daemon must not run: pal daemon stop

    To read chats, notes and tables of other programs: pal add
    """
    if file.expanduser().is_dir():
        raise click.BadParameter(
            "It is a folder. To read its notes, tables and chats: pal add FOLDER", param_hint="FILE"
        )
    if str(file) != STDIN and not file.expanduser().is_file():
        raise click.BadParameter(f"There is no file {str(file)!r}.", param_hint="FILE")
    paths = session.paths
    if not yes and not _is_empty(paths):
        question = f"There is a memory. Replace it by what {file} tells? It is kept beside the backups."
        output.confirm(question, "replace it", "Nothing was changed.")
    private_folder(paths.data)
    kept = name_replaced(paths.backups)
    with hold(paths.lock):
        counts = _load(file, paths, kept, session.as_json)
        vectors = _make_views(paths, session.as_json)
    parts = [count(counts["source"], "note"), count(counts["episode"], "passage"), count(counts["trace"], "question")]
    text = f"Imported: {', '.join(parts)}, with all that is known of them."
    if kept.exists():
        text += f"\nWhat it replaced is kept, yours to delete: {kept}"
    kept_path = str(kept) if kept.exists() else None
    session.show({"imported": str(file), "counts": counts, "vectors": vectors, "kept": kept_path}, text)


def _is_empty(paths: Paths) -> bool:
    """Whether there is no memory, or none in which anything is kept. One that cannot be looked into is not empty."""
    if not paths.memory.exists():
        return True
    from daemon.cli.offline import open_stored
    from memory.errors import PalimpsestError

    try:
        with hold(paths.lock), open_stored(paths, read_only=True) as memory:
            return not memory.browsing.stats().sources and not memory.conversations.latest(1)
    except PalimpsestError:
        return False


def _load(file: Path, paths: Paths, kept: Path, as_json: bool) -> dict[str, int]:
    from daemon.exporting import open_packed
    from memory import Memory

    with progress_bar("Reading", as_json) as bar:
        if str(file) == STDIN:
            return Memory.load(sys.stdin.buffer, paths.memory, kept, _shown(bar))
        with open_packed(file.expanduser()) as stream:
            return Memory.load(stream, paths.memory, kept, _shown(bar))


def _make_views(paths: Paths, as_json: bool) -> int:
    """Makes what follows from the rest, vectors above all; how many passages have one. A daemon that starts does it,
    too: nothing is lost if this is broken off."""
    from daemon.cli.offline import open_stored
    from memory.errors import NotAvailableError

    done = 0
    try:
        with open_stored(paths) as memory, progress_bar("Making vectors", as_json) as bar:
            for done, total in memory.maintenance.switch_embedder(memory.embedder):
                _shown(bar)(done, total)
    except NotAvailableError as error:
        output.say(f"The vectors are still to be made: {error}")
    except KeyboardInterrupt:
        output.say("\nIt is imported; the daemon makes the vectors that are missing when it starts.")
        raise
    return done


def _shown(bar: Any) -> Callable[[int, int], None]:
    def show(done: int, total: int) -> None:
        bar.length = total
        bar.update(done - bar.pos)

    return show
