"""pal mcp: the memory for agents."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.install import install_server
from daemon.cli.mcp_options import check_name, grants
from daemon.cli.options import as_date, json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count, display_safe

if TYPE_CHECKING:
    from daemon.client import Client

LOG = "mcp.log"
LOOK_SECONDS = 2.0  # between two looks whether the daemon is there


@click.group("mcp", invoke_without_command=True)
@click.option("--client", callback=check_name, help="Its name, in config.toml, in the log and on what it writes.")
@grants
@click.pass_context
def mcp(
    ctx: click.Context,
    client: str | None,
    folders: tuple[Path, ...],
    everything: bool,
    writes: bool,
) -> None:
    """Let an agent use the memory, over the Model Context Protocol.

    An agent's program starts this and speaks with it over stdin and stdout; `pal mcp install` tells it
    to. What the agent may see and do stands in config.toml, under [mcp.clients.NAME]; --folder, --all
    and --write say it for this run instead. Without either it reads what may go to models elsewhere:
    the folders that are watched with `--policy any`. What it asks is logged, without the words.
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    from daemon.mcp.access import Access, Policies, Policy
    from daemon.mcp.agent import Agent
    from daemon.mcp.server import AgentServer
    from daemon.process import logs

    logs.configure(session.paths.logs / LOG, "INFO")
    daemon = _Daemon(session)
    policies = Policies(session.paths.config, lambda: daemon().folders())
    here = Policy(Access(everything=True) if everything else Access.in_folders(folders), writes)
    find = (lambda name: here) if folders or everything else policies.find
    if writes and not (folders or everything):
        raise click.UsageError("--write goes with --all or --folder; for an agent of config.toml it is said there.")
    calls = policies.settings.mcp.calls_per_minute
    daemon()  # where it cannot start, the program that starts this is told at once
    AgentServer(Agent(daemon, find, calls, client)).run()


class _Daemon:
    """A client of a daemon that answers; one that was stopped meanwhile is started again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen = 0.0  # when it last answered

    def __call__(self) -> Client:
        from daemon.client import DaemonDownError

        if time.monotonic() - self._seen > LOOK_SECONDS:
            try:
                self._session.client.hello()
            except DaemonDownError:
                self._session.__dict__.pop("client", None)
            self._session.client.hello()
            self._seen = time.monotonic()
        return self._session.client


@mcp.command()
@json_option
@pass_session
def clients(session: Session, as_json: bool) -> None:
    """List the agents: what each may see and do, and what it wrote."""
    from daemon.mcp.access import policy_of
    from daemon.settings import McpClientSettings, load

    settings = load(session.paths.config).mcp
    watched = session.client.folders()
    wrote = {one.name: one for one in session.client.agents()}
    rows = []
    for name in sorted({*settings.clients, *wrote}):
        policy = policy_of(settings.clients.get(name, McpClientSettings()), lambda: watched)
        known = wrote.get(name)
        rows.append(
            {
                "name": name,
                "sees": "all" if policy.access.everything else list(policy.access.folders),
                "write": policy.writes,
                "notes": known.notes if known else 0,
                "last": known.last if known else None,
                "verdicts": known.verdicts if known else 0,
            }
        )
    if as_json:
        output.print_json(rows)
        return
    if not rows:
        output.say("No agent is known yet. Give one the memory: pal mcp install CLIENT")
    output.print_table(map(_row, rows))


def _row(of: dict[str, Any]) -> list[str]:
    sees = of["sees"] if isinstance(of["sees"], str) else ", ".join(of["sees"]) or "nothing"
    last = f", the last on {output.day(of['last'].astimezone())}" if of["last"] else ""
    wrote = f"{count(of['notes'], 'note')}{last}" if of["notes"] else "no notes"
    return [of["name"], "reads and writes" if of["write"] else "reads", wrote, f"sees {sees}"]


@mcp.command()
@click.argument("name", callback=check_name)
@click.option("--since", metavar="DATE", type=as_date("start"), help="Only what it did from then on.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def undo(session: Session, name: str, since: datetime | None, yes: bool, as_json: bool) -> None:
    """Take back all that the agent NAME wrote and judged.

    Its notes are forgotten for good, with the facts that only they tell; what it said of answers
    teaches nothing any more.
    """
    known = next((one for one in session.client.agents() if one.name == name), None)
    if known is None:
        names = ", ".join(one.name for one in session.client.agents())
        raise NothingFound(
            f"No agent {name!r} wrote anything here. {f'Who did: {names}.' if names else 'Nor did another.'}"
        )
    if not yes:
        when = f" since {display_safe(f'{since:%Y-%m-%d %H:%M}')}" if since else ""
        what = f"{count(known.notes, 'note')} and {count(known.verdicts, 'verdict')}"
        output.confirm(
            f"Forget what {name} wrote{when} for good? In all it is {what}.", "forget", "Nothing was forgotten."
        )
    taken = session.client.undo_agent(name, since)
    if as_json:
        output.print_json(taken)
        return
    gone = taken.forgotten
    click.echo(
        f"Forgotten: {count(taken.notes, 'note')}, {count(gone.episodes, 'passage')}, {count(gone.facts, 'fact')}. "
        f"Taken back: {count(taken.verdicts, 'verdict')}."
    )
    from daemon.cli.writing import print_copies

    print_copies(gone)


mcp.add_command(install_server)
