"""pal same, apart: whether two names mean one."""

from __future__ import annotations

import click

from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count


@click.command()
@click.argument("name")
@click.argument("other")
@json_option
@pass_session
def same(session: Session, name: str, other: str, as_json: bool) -> None:
    """Say that two names mean one person, place or thing.

    Each name finds both from now on; no fact is replaced. `pal apart` undoes it.
    """
    _decide(session, name, other, True, as_json)


@click.command()
@click.argument("name")
@click.argument("other")
@json_option
@pass_session
def apart(session: Session, name: str, other: str, as_json: bool) -> None:
    """Say that two names mean two; undoes `pal same`.

    It also helps where a model took one name for another name of the same thing.
    """
    _decide(session, name, other, False, as_json)


def _decide(session: Session, name: str, other: str, same: bool, as_json: bool) -> None:
    reply = session.client.names(name, other, same)
    if as_json:
        output.print_json(reply)
        return
    if same:
        output.print_text(f"Merged {name} and {other}.")
    else:
        output.print_text(f"Separated {name} and {other}; {count(reply.replaced, 'replacement')} undone.")
