"""pal import: a memory made of an export, without the daemon."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.lock import AlreadyRunningError, hold
from daemon.paths import REPLACED, Paths, private_folder
from daemon.terminal import count

STDIN = "-"
RUNNING = click.ClickException("The daemon has the memory open. Stop it first: pal daemon stop")


@click.command("import")
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def import_(session: Session, file: Path, yes: bool, as_json: bool) -> None:
    """Make the memory of an export that `pal export` wrote.

    FILE is a .jsonl, packed or not; "-" is standard input. All of it is checked first: of an export that is damaged,
    cut off or written by a newer Palimpsest nothing is taken. A memory that is there already is replaced, and kept
    beside the backups. The daemon must not run: pal daemon stop

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
    private_folder(paths.backups)
    kept = paths.backups / f"{REPLACED}{datetime.now():%Y%m%d-%H%M%S}.db"
    try:
        with hold(paths.lock):
            counts = _load(file, paths, kept, as_json)
            vectors = _make_views(paths, as_json)
    except AlreadyRunningError:
        raise RUNNING from None
    if as_json:
        kept_path = str(kept) if kept.exists() else None
        output.print_json({"imported": str(file), "counts": counts, "vectors": vectors, "kept": kept_path})
        return
    parts = [count(counts["source"], "note"), count(counts["episode"], "passage"), count(counts["trace"], "question")]
    output.print_text(f"Imported: {', '.join(parts)}, with all that is known of them.")
    if kept.exists():
        output.print_text(f"What it replaced is kept, yours to delete: {kept}")


def _is_empty(paths: Paths) -> bool:
    """Whether there is no memory, or none in which anything is kept. One that cannot be looked into is not empty."""
    if not paths.memory.exists():
        return True
    from daemon.cli.offline import open_memory
    from memory.errors import PalimpsestError

    try:
        with hold(paths.lock), open_memory(paths, read_only=True) as memory:
            return not memory.stats().sources and not memory.conversations.latest(1)
    except AlreadyRunningError:
        raise RUNNING from None
    except PalimpsestError:
        return False


def _load(file: Path, paths: Paths, kept: Path, as_json: bool) -> dict[str, int]:
    from daemon.exporting.files import open_packed
    from memory import Memory

    with _bar("Reading", as_json) as bar:
        if str(file) == STDIN:
            return Memory.load(sys.stdin.buffer, paths.memory, kept, _shown(bar))
        with open_packed(file.expanduser()) as stream:
            return Memory.load(stream, paths.memory, kept, _shown(bar))


def _make_views(paths: Paths, as_json: bool) -> int:
    """Makes what follows from the rest, vectors above all; how many passages have one. A daemon that starts does it,
    too: nothing is lost if this is broken off."""
    from daemon.cli.offline import open_memory
    from memory.errors import NotAvailableError

    done = 0
    try:
        with open_memory(paths) as memory, _bar("Making vectors", as_json) as bar:
            for done, total in memory.maintenance.switch_embedder(memory.embedder):
                _shown(bar)(done, total)
    except NotAvailableError as error:
        output.say(f"The vectors are still to be made: {error}")
    except KeyboardInterrupt:
        output.say("\nIt is imported; the daemon makes the vectors that are missing when it starts.")
        raise
    return done


def _bar(label: str, as_json: bool) -> AbstractContextManager[Any]:
    show = sys.stderr.isatty() and not as_json
    return click.progressbar(length=0, label=label, file=sys.stderr, hidden=not show)


def _shown(bar: Any) -> Callable[[int, int], None]:
    def show(done: int, total: int) -> None:
        bar.length = total
        bar.update(done - bar.pos)

    return show
