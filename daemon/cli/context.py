"""pal context: what the memory holds for a task, for an agent's prompt."""

from __future__ import annotations

from datetime import datetime

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.mcp_options import check_name
from daemon.cli.options import as_of_option, json_option, scope_options
from daemon.cli.questions import explain_nothing
from daemon.cli.session import Session, pass_session


@click.command()
@click.argument("task", nargs=-1, required=True)
@click.option(
    "--tokens", type=click.IntRange(100, 50_000), default=1000, show_default=True, help="How long it may be, about."
)
@click.option("--client", callback=check_name, help="Only what this agent may see: see `pal mcp clients`.")
@scope_options
@as_of_option
@json_option
@pass_session
def context(
    session: Session,
    task: tuple[str, ...],
    tokens: int,
    client: str | None,
    within: wire.Scope,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Print what the memory holds for TASK, in few words, for an agent's prompt.

    First the facts that hold, then the sentences of notes that fit best, each with the number of its
    source. Tokens are reckoned as a third of the bytes, which is rather too many than too few. The
    same memory prints the same. Without --client all of the memory is looked at: what you give to an
    agent goes where that does.

    \b
    claude "$(pal context 'prepare the meeting with Ana') Prepare the meeting with Ana."
    """
    words = " ".join(task).strip()
    if not words:
        raise click.UsageError('The task is empty. For example: pal context "prepare the meeting with Ana"')
    if client is not None:
        if within != wire.Scope():
            raise click.UsageError("--client says what may be seen; leave out the other limits.")
        within = _seen_by(session, client)
    found = session.client.context(words, tokens, as_of=as_of, within=within)
    if as_json:
        output.print_json(found)
    elif found.lines:
        output.print_text(found.text)
    if not found.lines:
        raise NothingFound(explain_nothing(session, "Nothing in the memory bears on that."))


def _seen_by(session: Session, name: str) -> wire.Scope:
    """What an agent may see. ClickException if that is nothing."""
    from daemon.mcp.access import NOTHING_SHARED, Policies

    access = Policies(session.paths.config, session.client.folders).find(name).access
    if access.is_empty:
        raise click.ClickException(f"{name}: {NOTHING_SHARED}")
    return access.limit()
