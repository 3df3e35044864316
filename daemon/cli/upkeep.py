"""pal backup, restore, check, tidy, rebuild, train, sync, replicate: what keeps the memory in order, on one computer or
several."""

from __future__ import annotations

import sys
import tempfile
from datetime import datetime
from pathlib import Path

import click

from daemon import litestream, wire
from daemon.cli import output
from daemon.cli.options import json_command, json_option, require_folder
from daemon.cli.session import Session
from daemon.cli.show import describe_work
from daemon.lock import hold
from daemon.paths import REPLACED, name_replaced, private_folder
from daemon.terminal import (
    count,
    describe_replica,
    describe_sync,
    display_safe,
    list_replica_problems,
    list_sync_problems,
    size,
)

MARKER = "palimpsest-sync"  # as in memory.sync.folder, which a client does not import
KEEP_WORDS = "Whoever has these words and the folder can read it. Keep them where you keep passwords."


@click.command()
@click.argument("to", required=False, type=click.Path(path_type=Path))
@json_command
def backup(session: Session, to: Path | None) -> None:
    """Copy the memory while it runs.

    TO is a new file; by default one in the backup folder.
    """
    if to is not None and to.is_dir():
        raise click.BadParameter(f"{str(to)!r} is a folder. Give the copy a name in it.", param_hint="TO")
    if to is not None and not to.absolute().parent.is_dir():
        raise click.BadParameter(f"There is no folder {str(to.absolute().parent)!r}.", param_hint="TO")
    done = session.reader.backup(to)
    session.show(done, f"Backed up to {done.path}, {size(done.bytes)}.")


@click.command()
@json_command
def check(session: Session) -> None:
    """Check the memory file from end to end.

    Exits with 1 if something is wrong.
    """
    reply = session.reader.check()
    if not session.shows_json(reply):
        for problem in reply.problems:
            output.print_text(f"Problem: {problem}")
        if not reply.problems:
            output.print_text(f"All is well. Checked: {', '.join(reply.checked)}.")
    if reply.problems:
        sys.exit(1)


@click.command()
@click.argument("backup", required=False, type=click.Path(path_type=Path))
@click.option("--from", "address", metavar="ADDRESS", help="Restore the replica at ADDRESS; see `pal replicate to`.")
@click.option("--list", "only_list", is_flag=True, help="Only list the backups, the newest first.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def restore(session: Session, backup: Path | None, address: str | None, only_list: bool, yes: bool) -> None:
    """Replace the memory with a backup or a replica.

    BACKUP is a file; by default the newest of the backup folder. It is verified first. The replaced memory is kept
    with the backups. The daemon must not run: pal daemon stop
    """
    if address is not None:
        if backup or only_list:
            raise click.UsageError("Give --from ADDRESS or a BACKUP, not both.")
        _restore_replica(session, litestream.read_address(address), yes)
        return
    files = (file for file in session.paths.backups.glob("*.db") if not file.name.startswith(REPLACED))
    there = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)
    if only_list:
        backups = [{"path": str(file), "at": _read_time(file).isoformat()} for file in there]
        nothing = "There is no backup yet. To make one: pal backup"
        session.show_rows(backups, ((_describe(file),) for file in there), nothing)
        return
    chosen = backup or next(iter(there), None)
    if chosen is None:
        raise click.ClickException(f"There is no backup in {display_safe(str(session.paths.backups), line=True)}.")
    if not chosen.is_file():
        raise click.BadParameter(f"There is no backup {str(chosen)!r}.", param_hint="BACKUP")
    if not yes:
        question = f"Restore {_describe(chosen)}? Forgotten notes are back, and newer ones are missing."
        output.confirm(question, "restore", "Nothing was changed.")
    _report_restored(session, str(chosen), _restore(session, chosen))


def _restore_replica(session: Session, address: str, yes: bool) -> None:
    if not yes:
        output.confirm(f"Restore {display_safe(address, line=True)}?", "restore", "Nothing was changed.")
    private_folder(session.paths.data)
    with tempfile.TemporaryDirectory(dir=session.paths.data) as folder:
        file = Path(folder) / "memory.db"
        litestream.restore(address, file)
        kept = _restore(session, file)
    if _report_restored(session, address, kept):
        return
    if not yes and click.confirm("Is the other computer gone, and should this one go on with its replica?", err=True):
        output.print_text(describe_replica(session.client.replicate(address, True, True)))
    else:
        output.say(f"To go on with this replica, if the other computer is gone: pal replicate to {address} --yes")


def _report_restored(session: Session, name: str, kept: Path) -> bool:
    """Reports a restored memory; returns whether as JSON."""
    if session.shows_json({"restored": name, "kept": str(kept) if kept.exists() else None}):
        return True
    output.print_text(f"Restored {name}.")
    if kept.exists():
        output.print_text(f"The replaced memory is kept; you may delete it: {kept}")
    return False


def _restore(session: Session, backup: Path) -> Path:
    """Restores it under the daemon's lock; returns where the replaced memory is kept."""
    from memory import Memory  # 0.3 s, which the other commands of this group should not pay

    paths = session.paths
    private_folder(paths.data)
    kept = name_replaced(paths.backups)
    with hold(paths.lock):
        Memory.restore(backup, paths.memory, kept)
    return kept


def _describe(file: Path) -> str:
    return display_safe(f"{file}, of {_read_time(file):%Y-%m-%d %H:%M}, {size(file.stat().st_size)}", line=True)


def _read_time(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime).astimezone()


@click.command()
@json_command
def tidy(session: Session) -> None:
    """Run the nightly maintenance now.

    Merges facts that several passages state (`pal undo` separates them), computes missing vectors, and clears unused
    parts of the file after something was forgotten. A second run changes nothing.
    """
    session.show(session.client.tidy(), _print_tidied)


def _print_tidied(done: wire.ConsolidationReport) -> None:
    did = describe_work(done)
    output.print_text(f"Done: {did}." if did else "All is in order.")
    if done.stopped:
        output.say("The daemon stopped meanwhile. The rest is done next time.")


@click.command()
@click.option("--memory", is_flag=True, help="Rebuild edge memory from the traces of questions.")
@click.option("--text", is_flag=True, help="Rebuild the full-text index, from the passages.")
@click.option("--vectors", is_flag=True, help="Rebuild the vectors, from the passages and facts.")
@click.option("--rows", is_flag=True, help="Restore damaged and lost rows from the backups.")
@json_command
def rebuild(session: Session, memory: bool, text: bool, vectors: bool, rows: bool) -> None:
    """Rebuild indexes and derived data.

    For damage that `pal check` or `pal doctor` reports. Nothing is lost: they are computed from passages, facts, traces
    and your verdicts, which do not change. Questions are answered meanwhile.
    """
    asked = {"memory": memory, "text": text, "vectors": vectors, "rows": rows}
    what = tuple(name for name, chosen in asked.items() if chosen)
    if not what:
        raise click.UsageError("Say what to rebuild: --memory, --text, --vectors, --rows or several.")

    def describe(done: wire.Rebuilt) -> None:
        sentences = {
            "memory": f"The edge memory of {count(done.edges, 'edge')} was rebuilt.",
            "text": f"The full text of {count(done.passages, 'passage')} was rebuilt.",
            "vectors": f"The vectors of {count(done.vectors, 'passage')} were rebuilt.",
            "rows": f"{count(done.rows, 'damaged row')} came from a backup. What is left: pal check",
        }
        for name in what:
            click.echo(sentences[name])

    session.follow(session.client.rebuild(what), wire.Rebuilt, "Rebuilding", describe)


@click.command()
@click.option("--undo", is_flag=True, help="Return to the previous ranker.")
@json_command
def train(session: Session, undo: bool) -> None:
    """Train the ranker on earlier questions: which edges lead to answers.

    The new ranker is used only if it finds clearly more evidence of the newest questions than the current one. Only the
    strategy "entities" uses it (memory.recall.strategy).
    """
    if undo:
        used = session.client.undo_training()
        now = "The previous one is used again." if used == "earlier" else "Nothing is used instead."
        session.show({"used": used}, f"Taken back. {now}" if used else "Nothing that was trained is in use.")
        return
    session.follow(session.client.train(), wire.TrainingReport, "Training", _print)


def _print(done: wire.TrainingReport) -> None:
    rows = [("Questions", f"{done.questions:,} with {count(sum(done.labels.values()), 'label')}")]
    if done.sigma is not None and done.scorer is not None:
        margin = f" (± {done.margin:.1f})" if done.margin is not None else ""
        rows.append(("Found before", f"{done.sigma:.1f} % of what the newest {done.measured} needed"))
        rows.append(("Found after", f"{done.scorer:.1f} %{margin}"))
    rows.append(("Outcome", f"{'in use now' if done.promoted else 'not used'}. {done.reason}"))
    output.print_table(rows)


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
    """Synchronise through FOLDER.

    Syncthing, Dropbox, git or a USB stick carries it to your other computers. The first computer makes a key and shows
    its twelve words; every other one asks for them.
    """
    folder, words = folder.expanduser().absolute(), ""
    if (folder / MARKER).exists():
        if not sys.stdin.isatty():
            words = sys.stdin.readline().strip()
        else:
            words = str(click.prompt("The twelve words that the other computer showed", err=True))
    made = session.client.begin_sync(folder, words)
    if session.shows_json({"words": made}):
        return
    if made:
        output.print_text(f"The key of {folder}:\n\n  {made}\n\n{KEEP_WORDS}")
        output.say(
            "On every other computer: pal sync init with the same folder. To see the words again: pal sync words"
        )
    _print_sync(session.client.sync())


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
@click.option("--no", "refused", is_flag=True, help="No longer let it.")
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
@click.option("--yes", "-y", "goes_on", is_flag=True, help="Replace a replica that is already there.")
@click.option("--local", "with_local", is_flag=True, help="Also copy the text of local folders.")
@json_command
def replicate_to(session: Session, address: str, goes_on: bool, with_local: bool) -> None:
    """Begin a replica at ADDRESS.

    ADDRESS is a folder, sftp://user@host/folder or s3://bucket/folder. The replica is not encrypted. On another
    computer: pal restore --from ADDRESS
    """
    address = litestream.read_address(address)
    session.show(session.client.replicate(address, goes_on, with_local), _print_replica)


@replicate.command("renew")
@json_command
def replicate_renew(session: Session) -> None:
    """Remove earlier states, and so forgotten text, from the replica."""
    session.show(session.client.renew_replica(), _print_replica)


@replicate.command("stop")
@json_command
def replicate_stop(session: Session) -> None:
    """Stop replicating. The files of the replica stay, yours to delete."""
    session.client.stop_replica()
    session.show({"stopped": True}, "Stopped; the files of the replica stay.")


def _print_replica(state: wire.Replica) -> None:
    output.print_text(describe_replica(state))
    for problem in list_replica_problems(state):
        output.print_text(f"  {problem}")
