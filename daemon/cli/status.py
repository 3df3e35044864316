"""pal status, pause, unpause, retry: the contents of the memory and the work of the daemon."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_command
from daemon.cli.output import NOTHING_READ
from daemon.cli.session import Session
from daemon.cli.show import describe_folder, describe_work, format_time
from daemon.health import list_problems
from daemon.terminal import count, describe_replica, describe_sync, size

NIGHT_STATES = {
    "off": "; off: night.enabled",
    "battery": "; it waits until this machine is plugged in: night.on_battery",
    "failed": "; the next one broke off, and the daemon's log says where",
    "working": "; at work now",
}


@click.command()
@click.option("--sources", is_flag=True, help="List the notes.")
@click.option("--skipped", is_flag=True, help="List skipped files, with the reasons.")
@click.option("--retired", is_flag=True, help="List kept text of deleted files and edited notes.")
@click.option("--failed", is_flag=True, help="List failed files and failed work of models, with the reasons.")
@click.option("--all", "in_full", is_flag=True, help="Also show the daemon's work and the embedder.")
@click.option(
    "--match",
    metavar="TEXT",
    default="",
    help="With --sources or --skipped: only rows with TEXT in the name or reason.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="With --sources, --skipped or --retired: the number of rows.",
)
@json_command
def status(
    session: Session,
    sources: bool,
    skipped: bool,
    retired: bool,
    failed: bool,
    in_full: bool,
    match: str,
    limit: int,
) -> None:
    """Show what is in the memory and what it is doing.

    Problems are at the end, each with the command that fixes it.
    """
    if retired:
        _show_retired(session, session.client.list_retired(limit))
        return
    if sources:
        _show_sources(session, session.reader.sources(match, limit))
        return
    if skipped:
        session.show(session.client.list_skipped(match, limit), _print_skipped)
        return
    now = session.reader.status()
    session.show(now, print_failed if failed else partial(_print_status, in_full=in_full, at=session.paths.at))


def _show_sources(session: Session, reply: wire.SourcesReply) -> None:
    rows = ((output.format_day(row.at), f"{row.episodes:,}", row.kind, row.uri) for row in reply.sources)
    if session.show_rows(reply, rows):
        output.say_rest(len(reply.sources), reply.total, "--match and --limit choose others")


def _show_retired(session: Session, reply: wire.RetiredReply) -> None:
    rows = (
        (output.format_day(row.at), count(row.passages, "passage"), "deleted" if row.deleted else "edited", row.uri)
        for row in reply.sources
    )
    if not session.show_rows(reply, rows, "Nothing is kept of deleted and earlier text."):
        return
    output.say_rest(len(reply.sources), reply.total, "--limit chooses how many")
    output.say("Only questions about an earlier time find it. To erase it: pal forget --retired")


def _print_skipped(reply: wire.SkippedReply) -> None:
    for row in reply.files:
        output.print_text(f"{row.uri}: {row.reason}")
    if not reply.total:
        output.say("Nothing was skipped.")
    output.say_rest(len(reply.files), reply.total, "--match and --limit choose others")


def _print_status(now: wire.Status, in_full: bool = False, at: str = "") -> None:
    """Prints the contents of the memory, the current work, and problems."""
    state, files = now.enrichment if now.enrichment and now.enrichment.total else None, now.files
    rows: dict[str, str] = {
        "At": at,
        "Notes": f"{now.stats.sources:,}, with {count(now.stats.episodes, 'passage')}",
        "Now": f"{count(files.queue, 'file')} to read" * bool(files.queue) + f", {files.busy}" * bool(files.busy),
        "Skipped": f"{count(now.stats.skipped, 'file')}; why: pal status --skipped" if now.stats.skipped else "",
        "Review": f"{count(now.review, 'changed fact')} to look at: pal review" if now.review else "",
        "Model": now.model or "none; answers are lines of your notes",
        "Read": describe_reading(state) if state else "",
        "Search": now.preparing,
        "Sync": describe_sync(now.sync) if now.sync else "",
        "Replica": describe_replica(now.replica) if now.replica else "",
        "Erasing": _describe_erasing(now.erasing) if now.erasing else "",
    }
    output.print_table((title, text.removeprefix(", ")) for title, text in rows.items() if text)
    if now.files.folders:
        click.echo("\nWatched folders")
        output.print_table(map(describe_folder, now.files.folders))
    elif not now.stats.sources:
        output.say(f"\n{NOTHING_READ}")
    if problems := list(list_problems(now)):
        click.echo("\nProblems")
        output.print_text("\n".join(f"  {problem}" for problem in problems))
    if in_full:
        click.echo("\nThe daemon")
        output.print_table(_list_details(now))


def _list_details(now: wire.Status) -> Iterator[tuple[str, str]]:
    yield "Palimpsest", f"{now.process.version}, process {now.process.pid}, up {_format_uptime(now.process.uptime_s)}"
    yield "Memory", f"{now.stats.path}, {size(now.stats.bytes)}"
    yield "Graph", f"{count(now.stats.objects, 'object')}, {count(now.stats.edges, 'edge')}"
    yield "Embedder", now.stats.embedder
    if now.enrichment and now.enrichment.tokens:
        spent = f"{now.enrichment.tokens:,} tokens and {now.enrichment.minutes:,.0f} min of models today"
        yield "Spent", f"{spent}, to read; by model: pal models"
    if now.night:
        yield "Night", describe_night(now.night)
    if now.upkeep:
        yield "Upkeep", describe_upkeep(now.upkeep)


def _describe_erasing(now: wire.Erasing) -> str:
    parts = []
    if now.folders:
        parts.append(f"{count(now.left, 'note')} left of {', '.join(now.folders)}")
    if now.unwiped_since:
        why = f": {now.reason}" if now.reason else ""
        parts.append(f"text forgotten at {now.unwiped_since.astimezone():%H:%M} is not off the disk yet{why}")
    return "; ".join(parts) or "deleted and earlier text"


def _format_uptime(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 2880 else f"{minutes // 1440} days"


@click.command()
@json_command
def pause(session: Session) -> None:
    """Pause background reading by language models.

    Questions and reading without a model continue.
    """
    _enable(session, False)


@click.command()
@json_command
def unpause(session: Session) -> None:
    """Resume background reading by language models."""
    _enable(session, True)


def _enable(session: Session, enabled: bool) -> None:
    from daemon.cli.options import write_setting

    state = session.client.enable_enrichment(enabled)
    write_setting(session.paths.config, "enrichment.enabled", str(enabled).lower())
    off = "No language model reads in the background until: pal unpause"
    session.show(state, "Language models read in the background again." if enabled else off)


@click.command()
@click.argument("id", required=False, type=int, metavar="[ID]")
@json_command
def retry(session: Session, id: int | None) -> None:
    """Retry files that were set aside and texts that a language model could not read.

    ID is a number of `pal status --failed`; without one, all of them.
    """
    jobs = session.client.retry(id)
    done = f"{count(jobs, 'job')} will be done again. `pal status` shows how far it is."
    session.show({"jobs": jobs}, done if jobs else "Nothing has failed.")


def print_failed(now: wire.Status) -> None:
    """Prints the dead jobs with their reasons."""
    models = now.enrichment or wire.Enrichment("idle")
    failed, total = [*now.files.failed, *models.failed], now.files.failed_total + models.failed_total
    for job in failed:
        output.print_text(f"{job.id}  {job.label}: {job.reason}")
    if not failed:
        output.say("Nothing has failed.")
        return
    if total > len(failed):
        output.say(f"The last {len(failed):,} of {total:,} are shown.")
    output.say("To have it done again: pal retry, or pal retry NUMBER")


def describe_reading(state: wire.Enrichment) -> str:
    """Describes the progress of models, in a line."""
    far = f"{state.read:,} of {count(state.total, 'passage')} by a model"
    match state.state:
        case "off":
            return f"{far}; paused. To go on: pal unpause"
        case "no_model":
            return f"{far}; no model is connected (optional). To add one: pal models"
        case "reading":
            return f"{far}, now {state.model}" + (f"; {state.detail}" if state.detail else "")
        case _:
            return f"{far}; {state.detail}" if state.detail else far


def describe_night(of: wire.Night) -> str:
    """Describes the last nightly run and its results, in a line."""
    if of.at is None:
        last = f"nothing done yet; every day from {of.hour}:00 on"
    else:
        erased = f"{count(of.erased, 'passage')} of the past erased" if of.erased else ""
        parts = [describe_work(of) or "all was in order", erased]
        last = f"last {format_time(of.at)}: {'; '.join(filter(None, parts))}"
    return last + NIGHT_STATES.get(of.state, "")


def describe_upkeep(of: wire.BackupState) -> str:
    """Describes the last scheduled backup and check with their results, in a line."""
    if not of.backup_days:
        backup = "no backups: upkeep.backup_days"
    elif of.backup_problem:
        backup = f"the last backup failed: {of.backup_problem}"
    elif of.backup_at is None:
        backup = f"no backup yet; from {of.hour}:00 on"
    else:
        tried = f", restored on trial {format_time(of.trial_at)}" if of.trial_at and not of.trial_problem else ""
        tried = "; it could not be restored: pal doctor" if of.trial_problem else tried
        backup = f"last backup {format_time(of.backup_at)}, {of.backups:,} kept{tried}"
    if not of.check_days:
        check = "no checks: upkeep.check_days"
    elif of.check_at is None:
        check = "not checked yet"
    else:
        outcome = f"{count(of.problems, 'problem')}: pal check" if of.problems else "all was well"
        check = f"checked {format_time(of.check_at)}, {outcome}"
    return f"{backup}; {check}"
