"""pal chat: the chat, drawn or line by line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from daemon.cli.session import Session, pass_session
from daemon.terminal import display_safe


@click.command()
@click.option("--plain", is_flag=True, help="Line by line: no drawing, no colour; for screen readers and pipes.")
@click.option(
    "--record", type=click.Path(path_type=Path), metavar="FILE", help="Write what is asked and said to a new file, too."
)
@click.option("--replay", type=click.Path(path_type=Path), metavar="FILE", help="Show a recording; no memory is asked.")
@pass_session
def chat(session: Session, plain: bool, record: Path | None, replay: Path | None) -> None:
    """Open the chat.

    With --plain, on a dumb terminal (TERM=dumb) and at a pipe it goes line by line: each line is a question, each
    answer is read out with its sources. At a pipe it ends with 0, with 4 when a question was not answered, and with
    the code of the last error.

    A recording is for reports of faults: lines of JSON with your questions, the answers and what they cite, and when
    each came. Read it before you hand it on.
    """
    if record and replay:
        raise click.UsageError("--record or --replay, not both.")
    if (record or replay) and (plain or not can_draw()):
        raise click.UsageError("--record and --replay are for the chat that is drawn on a terminal, not for --plain.")
    if not plain and can_draw():
        from tui import garbage

        garbage.defer()
        from tui.app import run

        if record or replay:
            click.get_current_context().exit(_run_recorded(session, record, replay))
        click.get_current_context().exit(run(session.paths))
    from daemon.cli.plain import PlainChat

    click.get_current_context().exit(PlainChat(session, interactive=sys.stdin.isatty()).run())


def _run_recorded(session: Session, record: Path | None, replay: Path | None) -> int:
    from tui.app import run
    from tui.recording import RecordingError

    try:
        return run(session.paths, record, replay)
    except RecordingError as error:
        raise click.ClickException(display_safe(str(error), line=True)) from error


def can_draw() -> bool:
    """Whether there is a terminal, and one whose cursor can be moved."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
