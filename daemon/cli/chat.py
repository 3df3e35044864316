"""pal chat: the chat, drawn or line by line."""

from __future__ import annotations

import os
import sys

import click

from daemon.cli.session import Session, pass_session


@click.command()
@click.option("--plain", is_flag=True, help="Line by line: no drawing, no colour; for screen readers and pipes.")
@pass_session
def chat(session: Session, plain: bool) -> None:
    """Open the chat.

    With --plain, on a dumb terminal (TERM=dumb) and at a pipe it goes line by line: each line is a question, each
    answer is read out with its sources. At a pipe it ends with 0, with 4 when a question was not answered, and with
    the code of the last error.
    """
    if not plain and can_draw():
        from tui import gc_tuning

        gc_tuning.defer()
        from tui.app import run

        click.get_current_context().exit(run(session.paths))
    from daemon.cli.plain import PlainChat

    click.get_current_context().exit(PlainChat(session, interactive=sys.stdin.isatty()).run())


def can_draw() -> bool:
    """Whether there is a terminal, and one whose cursor can be moved."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
