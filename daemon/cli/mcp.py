"""pal mcp: the memory for agents."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import click

from daemon.cli import output
from daemon.cli.session import Session

LOG = "mcp.log"
AGENT = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
CLIENTS = {  # where each keeps its servers, and under which key
    "claude-code": ("~/.claude.json", "mcpServers"),
    "claude-desktop": (
        "~/Library/Application Support/Claude/claude_desktop_config.json"
        if sys.platform == "darwin"
        else "~/.config/Claude/claude_desktop_config.json",
        "mcpServers",
    ),
    "cursor": ("~/.cursor/mcp.json", "mcpServers"),
    "gemini": ("~/.gemini/settings.json", "mcpServers"),
}


def _check_agent(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if not AGENT.fullmatch(value):
        raise click.BadParameter("small letters, digits, dots and dashes, 40 at most.")
    return value


def _shared(command: click.decorators.FC) -> click.decorators.FC:
    """The options that say what an agent may do."""
    for option in (
        click.option("--write", "writes", is_flag=True, help="It may remember, judge, and forget what it wrote."),
        click.option("--all", "everything", is_flag=True, help="It sees all of the memory."),
        click.option(
            "--folder",
            "folders",
            type=click.Path(path_type=Path),
            multiple=True,
            help="It sees what was read from this folder. May be repeated.",
        ),
    ):
        command = option(command)
    return command


@click.group("mcp", invoke_without_command=True)
@click.option("--agent", default="agent", callback=_check_agent, help="Its name, in the log and on what it writes.")
@_shared
@click.pass_context
def mcp(ctx: click.Context, agent: str, folders: tuple[Path, ...], everything: bool, writes: bool) -> None:
    """Let an agent use the memory, over the Model Context Protocol.

    An agent's program starts this and speaks with it over stdin and stdout; `pal mcp install` tells it
    to. Without --folder or --all the agent sees what may go to models elsewhere: the folders that are
    watched with `--policy any`. What it asks is logged, without the words.
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    from daemon.mcp.access import Access
    from daemon.mcp.server import AgentServer
    from daemon.process import logs

    logs.configure(session.paths.logs / LOG, "INFO")
    paths = tuple(str(folder.expanduser().absolute()) for folder in folders)
    access = Access(paths, everything) if paths or everything else Access.from_policies(session.client.folders())
    AgentServer(lambda: session.client, access, agent, writes=writes).mcp.run()


@mcp.command()
@click.argument("client", type=click.Choice(sorted(CLIENTS)))
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--print", "only_print", is_flag=True, help="Print the entry and change nothing.")
@_shared
def install(
    client: str, yes: bool, only_print: bool, folders: tuple[Path, ...], everything: bool, writes: bool
) -> None:
    """Tell an agent's program where the memory is: shows the entry and asks before it is written."""
    name, key = CLIENTS[client]
    file = Path(name).expanduser()
    entry = _entry(client, folders, everything, writes)
    output.print_text(json.dumps({key: {"palimpsest": entry}}, indent=2))
    if only_print:
        return
    kept = _read(file)
    if not yes:
        click.confirm(f"Write this into {file}?", abort=True, err=True)
    servers = kept.setdefault(key, {})
    if not isinstance(servers, dict):
        raise click.ClickException(f'"{key}" in {file} is no object: mend it first.')
    servers["palimpsest"] = entry
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        shutil.copy2(file, file.with_name(f"{file.name}.before-palimpsest"))
    new = file.with_name(f".{file.name}.palimpsest")
    new.touch(0o600)
    new.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if file.exists():
        shutil.copymode(file, new)
    new.replace(file)
    output.say(f"Written. Start {client} again, and it has the memory's tools.")


def _entry(client: str, folders: tuple[Path, ...], everything: bool, writes: bool) -> dict[str, object]:
    command = shutil.which("pal") or str(Path(sys.executable).with_name("pal"))
    args = ["mcp", "--agent", client]
    for folder in folders:
        args += ["--folder", str(folder.expanduser().absolute())]
    return {"command": command, "args": args + ["--all"] * everything + ["--write"] * writes}


def _read(file: Path) -> dict[str, object]:
    try:
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    except ValueError as error:
        raise click.ClickException(f"{file} is no JSON ({error}): mend it first, nothing was changed.") from error
    if not isinstance(kept, dict):
        raise click.ClickException(f"{file} holds no JSON object: mend it first, nothing was changed.")
    return kept
