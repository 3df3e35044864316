"""pal mcp: the memory for agents."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.options import as_date, check_name, json_command, write_setting
from daemon.cli.output import NothingFound
from daemon.cli.session import Session, pass_session
from daemon.cli.show import print_forgotten
from daemon.paths import AT, HOME, write_private
from daemon.terminal import count, display_safe

LOG = "mcp.log"
NAME = "palimpsest"  # of the server in the settings of programs
SECTION = "mcpServers"  # of JSON settings
_DESKTOP = "Library/Application Support" if sys.platform == "darwin" else ".config"
SETTINGS = {  # the files of settings in which programs list their servers
    "claude-code": "~/.claude.json",
    "claude-desktop": f"~/{_DESKTOP}/Claude/claude_desktop_config.json",
    "codex": "~/.codex/config.toml",
    "cursor": "~/.cursor/mcp.json",
    "gemini": "~/.gemini/settings.json",
}


@click.group("mcp", invoke_without_command=True)
@click.option("--client", callback=check_name, help="The agent's name, in config.toml, in the log and on its notes.")
@click.pass_context
def mcp(ctx: click.Context, client: str | None) -> None:
    """Let an agent use the memory, over the Model Context Protocol.

    An agent's program starts this and talks to it over stdin and stdout; `pal mcp install` sets that up. Its
    permissions are in config.toml, under [mcp.clients.NAME]. By default it may read the folders watched with `--policy
    any`. Its calls are logged, without their words.
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    from daemon.client.starting import connect
    from daemon.mcp import Agent, Policies
    from daemon.mcp.server import AgentServer
    from daemon.process import logs

    logs.configure(session.paths.logs / LOG, "INFO")
    daemon = partial(connect, session.paths, session.start)  # one that was stopped meanwhile is started again
    policies = Policies(session.paths.config, lambda: daemon().folders())
    calls = policies.settings.mcp.calls_per_minute
    daemon()  # if it cannot start, the agent's program gets the error at once
    AgentServer(Agent(daemon, policies.find, calls, client)).run()


@mcp.command()
@json_command
def clients(session: Session) -> None:
    """List the agents with their permissions and notes."""
    from daemon.config.settings import McpClientSettings, load
    from daemon.mcp import access_of

    settings = load(session.paths.config).mcp
    watched = session.client.folders()
    wrote = {agent.name: agent for agent in session.client.agents()}
    rows = []
    for name in sorted({*settings.clients, *wrote}):
        access = access_of(settings.clients.get(name, McpClientSettings()), lambda: watched)
        known = wrote.get(name)
        rows.append(
            {
                "name": name,
                "sees": "all" if access.everything else list(access.folders),
                "write": access.writes,
                "notes": known.notes if known else 0,
                "last": known.last if known else None,
                "verdicts": known.verdicts if known else 0,
            }
        )
    session.show_rows(rows, map(_make_row, rows), "No agent is known yet. Give one the memory: pal mcp install CLIENT")


def _make_row(of: dict[str, Any]) -> list[str]:
    sees = of["sees"] if isinstance(of["sees"], str) else ", ".join(of["sees"]) or "nothing"
    last = f", the last on {output.format_day(of['last'].astimezone())}" if of["last"] else ""
    wrote = f"{count(of['notes'], 'note')}{last}" if of["notes"] else "no notes"
    return [of["name"], "reads and writes" if of["write"] else "reads", wrote, f"sees {sees}"]


@mcp.command()
@click.argument("name", callback=check_name)
@click.option("--since", metavar="DATE", type=as_date("start"), help="Only what it did from this date on.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def undo(session: Session, name: str, since: datetime | None, yes: bool) -> None:
    """Remove everything that the agent NAME wrote and judged.

    Forgets its notes, with the facts that only they state, and removes its verdicts on answers.
    """
    known = next((agent for agent in session.client.agents() if agent.name == name), None)
    if known is None:
        names = ", ".join(agent.name for agent in session.client.agents()) or "none"
        raise NothingFound(f"The agent {name!r} has written nothing. Agents that have: {names}.")
    if not yes:
        when = f" since {display_safe(f'{since:%Y-%m-%d %H:%M}')}" if since else ""
        what = f"{count(known.notes, 'note')} and {count(known.verdicts, 'verdict')}"
        output.confirm(
            f"Forget what {name} wrote{when} for good? In all it is {what}.", "forget", "Nothing was forgotten."
        )
    taken = session.client.undo_agent(name, since)
    if session.shows_json(taken):
        return
    print_forgotten(taken.forgotten)
    click.echo(f"Taken back: {count(taken.verdicts, 'verdict')}.")


@mcp.command("install")
@click.argument("client", metavar="CLIENT", type=click.Choice(sorted(SETTINGS)))
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--print", "only_print", is_flag=True, help="Print the entry and change nothing.")
@click.option(
    "--folder", "folders", type=click.Path(path_type=Path), multiple=True, help="It may read this folder; repeatable."
)
@click.option("--all", "everything", is_flag=True, help="It may read the whole memory.")
@click.option("--write", "writes", is_flag=True, help="It may add notes, judge answers, and forget its own notes.")
@pass_session
def install_server(
    session: Session,
    client: str,
    yes: bool,
    only_print: bool,
    folders: tuple[Path, ...],
    everything: bool,
    writes: bool,
) -> None:
    """Connect an agent's program to the memory.

    Shows the entry for its settings and asks before it is written. CLIENT is claude-code, claude-desktop, codex, cursor
    or gemini; the entry of codex you add yourself. The permissions --folder, --all and --write are written into
    config.toml, under [mcp.clients.NAME]; changes there take effect at once. `pal mcp clients` shows them.
    """
    file, arguments = Path(SETTINGS[client]).expanduser(), ["mcp", "--client", client]
    environment = {HOME: str(session.paths.data)} if os.environ.get(HOME) else {}  # which the program must set
    environment |= {AT: session.paths.at} if os.environ.get(AT) else {}
    is_toml = file.suffix == ".toml"
    if is_toml:
        output.print_text(f"[mcp_servers.{NAME}]\ncommand = {json.dumps(find_pal())}\nargs = {json.dumps(arguments)}")
        for name, value in environment.items():
            output.print_text(f"env.{name} = {json.dumps(value)}")
    else:
        server = {"command": find_pal(), "args": arguments} | ({"env": environment} if environment else {})
        output.print_text(json.dumps({SECTION: {NAME: server}}, indent=2))
    granted = dict(_write_grants(client, folders, everything, writes))
    if granted:
        output.print_text(f"\n{session.paths.config}:")
    for key, value in granted.items():
        output.print_text(f"{key} = {value}")
    if only_print:
        return
    text = None if is_toml else _add_server(file, server)
    if not yes and (granted or not is_toml):
        where = " and ".join(([] if is_toml else [str(file)]) + ["config.toml"] * bool(granted))
        output.confirm(f"Write this into {where}?", "write it", "Nothing was written.")
    for key, value in granted.items():
        write_setting(session.paths.config, key, value)
    if text is None:
        output.say(f"Add the entry to {file}, and start {client} again.")
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        shutil.copy2(file, file.with_name(f"{file.name}.before-palimpsest"))
    write_private(file.resolve(), text)  # a file of settings may be a link to where its owner keeps them
    output.say(f"Written. Start {client} again, and it has the memory's tools.")


def _add_server(file: Path, server: dict[str, Any]) -> str:
    """Returns the text of a program's settings with the server; ClickException if the file is something else."""
    try:
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        kept.setdefault(SECTION, {}).update({NAME: server})
    except (OSError, ValueError, AttributeError) as error:
        raise click.ClickException(f"{file} has no settings in JSON. Correct it; nothing was changed.") from error
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


def find_pal() -> str:
    """Returns the command by which another program starts `pal`."""
    return shutil.which("pal") or str(Path(sys.executable).with_name("pal"))


def _write_grants(client: str, folders: tuple[Path, ...], everything: bool, writes: bool) -> Iterator[tuple[str, str]]:
    """Yields the settings for config.toml, as TOML; none without options: then the present settings apply."""
    if not (folders or everything or writes):
        return
    section = f"mcp.clients.{client}"
    yield f"{section}.everything", str(everything).lower()
    yield f"{section}.folders", json.dumps([str(folder.expanduser().absolute()) for folder in folders])
    yield f"{section}.write", str(writes).lower()
