"""pal rebuild: views of what the memory holds, made anew."""

from __future__ import annotations

import click

from daemon import wire
from daemon.cli.following import follow_progress
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count


@click.command()
@click.option("--memory", is_flag=True, help="What was learnt from answers, from the traces of questions.")
@click.option("--text", is_flag=True, help="The full text, from the passages.")
@click.option("--vectors", is_flag=True, help="The vectors, from the passages and facts.")
@json_option
@pass_session
def rebuild(session: Session, memory: bool, text: bool, vectors: bool, as_json: bool) -> None:
    """Make anew what follows from the rest of the memory.

    For when `pal check` or `pal doctor` tells that it is damaged. Nothing is lost by it: passages, facts,
    traces and what you said of answers are the truth, and stay as they are. Questions go on meanwhile.
    """
    what = tuple(name for name, chosen in (("memory", memory), ("text", text), ("vectors", vectors)) if chosen)
    if not what:
        raise click.UsageError("Say what to make anew: --memory, --text, --vectors or several.")
    done = follow_progress(session.client.rebuild(what), wire.Rebuilt, "Making it anew", as_json)
    if as_json:
        return
    if memory:
        click.echo(f"{count(done.edges, 'edge')} of the graph {_remember(done.edges)} of earlier questions.")
    if text:
        click.echo(f"The full text of {count(done.passages, 'passage')} was made anew.")
    if vectors:
        click.echo(f"The vectors of {count(done.vectors, 'passage')} were made anew.")


def _remember(edges: int) -> str:
    return "remembers something" if edges == 1 else "remember something"
