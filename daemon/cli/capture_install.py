"""pal capture install: the entry by which an agent's program hands its sessions over."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.program_files import (
    confirm_writing,
    find_codex_settings,
    find_pal,
    inner_object,
    read_object,
    read_toml,
    write_object,
    write_text,
)
from daemon.cli.session import Session, pass_session
from daemon.paths import HOME

HOOKS = "hooks"
MARK = "capture --hook"  # in each command that is ours
SECONDS = 10


@click.command()
@click.argument("program", metavar="CLIENT", type=click.Choice(["claude-code", "codex"]))
@click.option("--every-turn", is_flag=True, help="Claude Code: after each answer, too, not only when a session ends.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--print", "only_print", is_flag=True, help="Print the entry and change nothing.")
@pass_session
def install(session: Session, program: str, every_turn: bool, yes: bool, only_print: bool) -> None:
    """Have an agent's program hand its sessions over: shows the entry and asks before it is written.

    CLIENT is claude-code or codex. Claude Code runs a hook when a session ends, Codex gives a
    notification after each turn. Either names its log, which is read as any file is; where you watch the
    folder of these logs already, you need neither.
    """
    if program == "codex":
        _install_codex(session, yes, only_print)
    else:
        _install_claude(session, ("SessionEnd", "Stop") if every_turn else ("SessionEnd",), yes, only_print)


def _install_claude(session: Session, events: tuple[str, ...], yes: bool, only_print: bool) -> None:
    file = Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "settings.json"
    command = f"{_environment(session)}{shlex.quote(find_pal())} {MARK}"
    entry = {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}
    output.print_text(json.dumps({HOOKS: {event: [entry] for event in events}}, indent=2))
    if only_print:
        return
    kept = read_object(file)
    hooks = inner_object(file, kept, HOOKS)
    for event in ("SessionEnd", "Stop"):
        others = hooks.get(event, [])
        if not isinstance(others, list):
            raise click.ClickException(f'"{event}" in {file} is no list: mend it first, nothing was changed.')
        entries = [one for one in others if not _is_ours(one)] + [entry] * (event in events)
        hooks.pop(event, None) if not entries else hooks.update({event: entries})
    _confirm(file, yes)
    write_object(file, kept)
    output.say("Written. It counts for sessions that begin from now on.")


def _is_ours(entry: Any) -> bool:
    inner = entry.get(HOOKS) if isinstance(entry, dict) else None
    return isinstance(inner, list) and any(isinstance(one, dict) and MARK in str(one.get("command")) for one in inner)


def _install_codex(session: Session, yes: bool, only_print: bool) -> None:
    file = find_codex_settings()
    command = [*shlex.split(_environment(session, "env ")), find_pal(), "capture", "--codex"]
    line = f"notify = {json.dumps(command)}"
    output.print_text(line)
    if only_print:
        return
    text, kept = read_toml(file)
    known = kept.get("notify")
    if known == command:
        output.say("It stands there already.")
        return
    if known is not None:
        raise click.ClickException(f"{file} has another `notify`, and there can be one only. Call both from a script.")
    _confirm(file, yes)
    write_text(file, f"{line}\n{text}")  # before the first section, or it would be a part of that
    output.say("Written. Start Codex again.")


def _confirm(file: Path, yes: bool) -> None:
    if not yes:
        confirm_writing(f"Write this into {file}?")


def _environment(session: Session, before: str = "") -> str:
    return f"{before}{HOME}={shlex.quote(str(session.paths.data))} " if os.environ.get(HOME) else ""
