"""pal consolidate: putting the memory in order, now instead of at night."""

from __future__ import annotations

from datetime import datetime

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.facts import print_suspects
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count, size


@click.command()
@json_option
@pass_session
def consolidate(session: Session, as_json: bool) -> None:
    """Put the memory in order now, as it is done every night.

    Facts that were told twice become one that all their passages tell (`pal undo` takes it
    back), what lacks a vector gets one, and names that may be one are listed. No name is
    merged: that is for `pal same`. Doing it again changes nothing.
    """
    done = session.client.consolidate()
    if as_json:
        output.print_json(done)
        return
    did = _did(done)
    output.print_text(f"Done: {did}." if did else "All is in order.")
    if done.stopped:
        output.say("The daemon stopped meanwhile. The rest is done next time.")
    print_suspects(done.suspects)


def night(of: wire.Night) -> str:
    """When the last night's work was done, and what came of it, in a line."""
    if of.at is None:
        told = f"nothing done yet; every day from {of.hour}:00 on"
    else:
        names = f"{count(of.suspects, 'pair')} of names that may be one: pal doctor --memory" if of.suspects else ""
        erased = f"{count(of.erased, 'passage')} of the past erased" if of.erased else ""
        freed = f"{size(of.freed)} given back" if of.freed else ""
        parts = [_did(of) or "all was in order", names, of.learnt.rstrip("."), erased, freed]
        told = f"last {of.at.astimezone():%Y-%m-%d %H:%M}: {'; '.join(filter(None, parts))}"
    match of.state:
        case "off":
            return f"{told}; off: night.enabled"
        case "battery":
            return f"{told}; it waits until this machine is plugged in: night.on_battery"
        case "failed":
            return f"{told}; the next one broke off, and the daemon's log says where"
        case "working":
            return f"{told}; at work now"
        case _:
            return told


def describe_upkeep(of: wire.Upkeep) -> str:
    """When the last scheduled backup and look for damage were made, and what came of them, in a line."""
    if not of.backup_days:
        backup = "no backups: upkeep.backup_days"
    elif of.backup_problem:
        backup = f"the last backup failed: {of.backup_problem}"
    elif of.backup_at is None:
        backup = f"no backup yet; from {of.hour}:00 on"
    else:
        tried = f", restored on trial {_day(of.trial_at)}" if of.trial_at and not of.trial_problem else ""
        tried = "; it could not be restored: pal doctor" if of.trial_problem else tried
        backup = f"last backup {_day(of.backup_at)}, {of.backups:,} kept{tried}"
    if not of.check_days:
        check = "no checks: upkeep.check_days"
    elif of.check_at is None:
        check = "not checked yet"
    else:
        found = f"{count(of.problems, 'problem')}: pal check" if of.problems else "all was well"
        check = f"checked {_day(of.check_at)}, {found}"
    return f"{backup}; {check}"


def _day(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def _did(done: wire.ConsolidationReport | wire.Night) -> str:
    parts = [
        f"{count(done.joined, 'fact')} told twice joined" if done.joined else "",
        f"{count(done.episodes, 'passage')} embedded" if done.episodes else "",
        f"{count(done.questions, 'question')} embedded" if done.questions else "",
        f"{count(done.stale, 'row')} of edge memory let go" if done.stale else "",
    ]
    return ", ".join(filter(None, parts))
