"""pal restore: a backup in the place of the memory, without the daemon."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.lock import AlreadyRunningError, hold
from daemon.paths import REPLACED, private_folder
from daemon.terminal import display_safe, size


@click.command()
@click.argument("backup", required=False, type=click.Path(path_type=Path))
@click.option("--list", "only_list", is_flag=True, help="List the backups, the newest first, and do nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def restore(session: Session, backup: Path | None, only_list: bool, yes: bool, as_json: bool) -> None:
    """Put a backup in the place of the memory.

    BACKUP is a file; by default the newest of the backup folder. It is verified first. What it replaces is kept beside
    the backups. The daemon must not run: pal daemon stop
    """
    there = _backups(session.paths.backups)
    if only_list:
        _print_backups(there, as_json)
        return
    chosen = backup or next(iter(there), None)
    if chosen is None:
        raise click.ClickException(f"There is no backup in {display_safe(str(session.paths.backups), line=True)}.")
    if not chosen.is_file():
        raise click.BadParameter(f"There is no backup {str(chosen)!r}.", param_hint="BACKUP")
    if not yes:
        question = f"Restore {_describe(chosen)}? What was forgotten since is back, and what was added is not there."
        output.confirm(question, "restore", "Nothing was changed.")
    kept = _restore(session, chosen)
    if as_json:
        output.print_json({"restored": str(chosen), "kept": str(kept) if kept.exists() else None})
        return
    output.print_text(f"Restored {chosen}.")
    if kept.exists():
        output.print_text(f"What it replaced is kept, yours to delete: {kept}")


def _restore(session: Session, backup: Path) -> Path:
    """Restores it under the daemon's lock; where what it replaced is kept."""
    from memory import Memory  # 0.3 s, which the other commands of this group should not pay

    paths = session.paths
    private_folder(paths.data)
    private_folder(paths.backups)
    kept = paths.backups / f"{REPLACED}{datetime.now():%Y%m%d-%H%M%S}.db"
    try:
        with hold(paths.lock):
            Memory.restore(backup, paths.memory, kept)
    except AlreadyRunningError:
        raise click.ClickException("The daemon has the memory open. Stop it first: pal daemon stop") from None
    return kept


def _backups(folder: Path) -> list[Path]:
    """The backups of the folder, the newest first."""
    found = [file for file in folder.glob("*.db") if not file.name.startswith(REPLACED)]
    return sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)


def _print_backups(there: list[Path], as_json: bool) -> None:
    if as_json:
        output.print_json([{"path": str(file), "at": _written(file).isoformat()} for file in there])
        return
    for file in there:
        output.print_text(_describe(file))
    if not there:
        output.say("There is no backup yet. To make one: pal backup")


def _describe(file: Path) -> str:
    return display_safe(f"{file}, of {_written(file):%Y-%m-%d %H:%M}, {size(file.stat().st_size)}", line=True)


def _written(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime).astimezone()
