"""Confirmations: before a large folder is read, and before text may go to a model on another machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from daemon.cli import output
from daemon.cli.session import Session
from daemon.cli.show import describe_rules
from daemon.paths import name_received
from daemon.terminal import count, display_safe, size

SETTING = "models.policy"
MANY = 5_000  # files

Command = TypeVar("Command", bound=Callable[..., Any])


def policy_option(command: Command) -> Command:
    """--policy: local or any."""
    return click.option(
        "--policy",
        type=click.Choice(["local", "any"]),
        help="local: this text stays on this machine. any: models elsewhere may get it.",
    )(command)


def ask(session: Session, model: str) -> None:
    """Asks, the first time that a model elsewhere is named, whether it may be given text; writes the policy of new
    folders into config.toml and gives it to those that are watched.

    Only on a terminal; elsewhere it stays open, which means local.
    """
    from daemon.connecting import asks_policy, keep_policy

    if not (sys.stdin.isatty() and sys.stderr.isatty()) or not asks_policy(session.paths.config):
        return
    named = display_safe(model, line=True)
    output.say(f"{named} is not on this machine. Asked once, for your folders and those to come:")
    chosen, other = "local", "any"
    if click.confirm("May their text be given to it?", err=True):
        chosen, other = other, chosen
    keep_policy(session.client, session.paths.config, chosen)
    output.say(f"Kept: {SETTING} = {chosen}. To change it: pal config set {SETTING} {other}; for one folder: --policy")


def confirm_much(session: Session, folders: Sequence[Path]) -> None:
    """Tells how much there is, before anything is read, and asks whether that is meant: of a whole disk or home always,
    of another folder on a terminal and if it is much. Exits with 1 if not."""
    whole = any(Path.home().is_relative_to(folder.resolve()) for folder in folders)
    if not folders or not (whole or (sys.stdin.isatty() and sys.stderr.isatty())):
        return
    counted = session.client.count(folders)
    if whole or counted.files > MANY or not counted.complete:
        more = "" if counted.complete else "more than "
        question = f"That is {more}{count(counted.files, 'file')}, {more}{size(counted.bytes)}. Read all of it?"
        output.confirm(question, "read all of it", "Nothing was read.")


def list_unwatched(session: Session, folders: list[Path]) -> list[Path]:
    """Those of the folders that are not watched yet."""
    known = {row.path for row in session.client.folders()}
    return [folder for folder in folders if str(folder.resolve()) not in known]


def watch_folder(session: Session, folder: Path, policy: str | None = None, **rules: Any) -> None:
    """Watches a folder, and prints it."""
    known = {row.path: row.policy for row in session.client.folders()}
    row = session.client.watch(folder, policy, **rules)
    place = name_received(row.path)
    if session.as_json:
        output.print_json(row)
    elif row.path in known:
        changed = f". Its policy is {row.policy} now." if row.policy != known[row.path] else ""
        rules_text = (
            f". It is read like this: {described}." if (described := describe_rules(row)) and not changed else ""
        )
        output.print_text(f"Already watched: {place}{changed}{rules_text}")
    else:
        output.print_text(f"Watching {place}. It is being read; `pal status` shows how far.")
