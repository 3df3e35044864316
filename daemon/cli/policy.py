"""Where text may go: asked once, before the first folder is read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from daemon.cli import output
from daemon.cli.session import Session

SETTING = "models.policy"

Command = TypeVar("Command", bound=Callable[..., Any])


def policy_option(command: Command) -> Command:
    """--policy: local or any."""
    return click.option(
        "--policy",
        type=click.Choice(["local", "any"]),
        help="local: text from here stays on this machine. any: models elsewhere may be given it.",
    )(command)


def ask(session: Session) -> None:
    """Asks for the policy of new folders and writes it into config.toml, unless somebody was asked before.

    Only on a terminal; elsewhere it stays open, which means local.
    """
    from daemon.settings import load

    if not (sys.stdin.isatty() and sys.stderr.isatty()) or load(session.paths.config).models.policy != "ask":
        return
    from daemon.cli.config import write_setting

    output.say("Text stays on this machine, unless you say otherwise. Asked once, for all folders that you add:")
    chosen, other = "local", "any"
    if click.confirm("May it be given to a language model on the net?", err=True):
        chosen, other = other, chosen
    write_setting(session.paths.config, SETTING, chosen)
    output.say(f"Kept: {SETTING} = {chosen}. To change it: pal config set {SETTING} {other}; for one folder: --policy")
