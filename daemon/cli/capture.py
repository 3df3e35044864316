"""pal capture: keep a session with an agent."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.install import find_pal, install_capture
from daemon.cli.mcp_options import check_name
from daemon.cli.options import json_option
from daemon.cli.session import Session
from daemon.client import DaemonDownError, DaemonError
from daemon.terminal import count
from memory.errors import PalimpsestError

if TYPE_CHECKING:
    from daemon.session_formats import Session as Captured

MAX_INPUT = 256 << 20
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@click.group("capture", invoke_without_command=True)
@click.option("--client", default="agent", show_default=True, callback=check_name, help="With which agent it was.")
@click.option("--session", "name", metavar="NAME", help="The session's name: the same name again is the same session.")
@click.option("--title", help="What the session is called.")
@click.option("--hook", is_flag=True, help="What comes is from a hook: hand it over, print nothing, hold nobody up.")
@click.option("--codex", "notification", metavar="JSON", help="A notification of Codex, as it gives it.")
@json_option
@click.pass_context
def capture(
    ctx: click.Context,
    client: str,
    name: str | None,
    title: str | None,
    hook: bool,
    notification: str | None,
    as_json: bool,
) -> None:
    """Keep a session with an agent, from standard input.

    It takes the logs of Claude Code and Codex, messages in JSON, plain text ("User: ...",
    "Assistant: ..."), and what a hook of Claude Code says. What you said in it are your words; what
    the agent said is never taken for a fact. The same session again adds only what is new.

    \b
    pal capture --client aider < chat.json
    pal capture install claude-code
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    if hook or notification is not None:
        _keep_quietly(session, client, notification)
        return
    from daemon.session_formats import read_session

    found = read_session(_stdin())
    if found.log is not None:
        _read_log(session, found.log, as_json)
        return
    kept = _keep(session, client, found, name, title)
    if as_json:
        output.print_json(kept)
    elif kept.new:
        output.print_text(f"Captured {count(kept.turns, 'message')}, {kept.new:,} new: {kept.source}")
    else:
        output.print_text(f"Nothing new in {count(kept.turns, 'message')}: {kept.source}")


capture.add_command(install_capture)


def _keep(session: Session, client: str, found: Captured, name: str | None, title: str | None) -> wire.Captured:
    """Hands the turns over. A session without a name has that of its first turn, by which it is known when it comes
    again."""
    from daemon.session_formats import batches

    begun = hashlib.sha256(found.turns[0].text.encode("utf-8", "replace")).hexdigest()[:16] if found.turns else "empty"
    called = _NO_NAME.sub("-", name or found.name)[:100] or begun
    kept = [session.client.capture(client, called, row, title or found.title) for row in batches(found.turns) or [[]]]
    return wire.Captured(kept[-1].source, sum(one.turns for one in kept), sum(one.new for one in kept))


def _read_log(session: Session, log: Path, as_json: bool) -> None:
    """A log that is a file is read as one: where it is watched already, it is the same source."""
    for event in session.client.add([log]):
        if as_json:
            output.print_json(event)
        elif isinstance(event, wire.Skipped):
            output.say(f"Skipped {event.uri}: {event.reason}")
        elif isinstance(event, wire.Added):
            output.print_text(f"Captured {log}: {count(event.episodes, 'passage')} new or changed.")


def _keep_quietly(session: Session, client: str, notification: str | None) -> None:
    """For a program that waits: no word on stdout, which it might obey, and never exit code 2, by which a hook of
    Claude Code would be refused to end. What is wrong is said on stderr, with exit code 1."""
    from daemon.session_formats import read_notification, read_session

    try:
        found = read_session(_stdin()) if notification is None else read_notification(notification)
        if found.log is not None:
            _hand_over(session, found.log)
        elif found.turns:
            _keep(session, client if notification is None or client != "agent" else "codex", found, None, None)
    except (PalimpsestError, DaemonError, DaemonDownError, click.ClickException, OSError) as error:
        output.say(f"pal capture: {error}")
        sys.exit(1)


def _hand_over(session: Session, log: Path) -> None:
    """The daemon reads it, also when this ends before; where it does not run, a process of its own starts it."""
    from daemon.starting import connect

    try:
        connect(session.paths, start=False).add([log]).close()
    except DaemonDownError:
        if not session.start:
            raise
        subprocess.Popen(
            [find_pal(), "add", "--yes", str(log)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _stdin() -> bytes:
    if sys.stdin.isatty():
        output.say("Paste the session, then press Ctrl-D.")
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise click.ClickException(f"That is more than {MAX_INPUT >> 20} MB. Read it as a file: pal add FILE")
    return data
