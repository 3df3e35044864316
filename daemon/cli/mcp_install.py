"""pal mcp install: the entry by which an agent's program finds the memory, and what it may there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.config import write_setting
from daemon.cli.mcp_options import grants
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

SERVERS = "mcpServers"
TOML_SERVERS = "mcp_servers"
NAME = "palimpsest"

PROGRAMS = {  # the file in which an agent's program keeps its servers
    "claude-code": "~/.claude.json",
    "claude-desktop": "~/Library/Application Support/Claude/claude_desktop_config.json"
    if sys.platform == "darwin"
    else "~/.config/Claude/claude_desktop_config.json",
    "cursor": "~/.cursor/mcp.json",
    "gemini": "~/.gemini/settings.json",
    "codex": "~/.codex/config.toml",  # or where CODEX_HOME says
}


@click.command()
@click.argument("client", metavar="CLIENT", type=click.Choice(sorted(PROGRAMS)))
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--print", "only_print", is_flag=True, help="Print the entry and change nothing.")
@grants
@pass_session
def install(
    session: Session,
    client: str,
    yes: bool,
    only_print: bool,
    folders: tuple[Path, ...],
    everything: bool,
    writes: bool,
) -> None:
    """Tell an agent's program where the memory is: shows the entry and asks before it is written.

    CLIENT is claude-code, claude-desktop, codex, cursor or gemini. What --folder, --all and --write
    allow is written into config.toml, under [mcp.clients.NAME]: there it can be changed at any time, and
    counts at once. `pal mcp clients` shows it.
    """
    file = find_codex_settings() if client == "codex" else Path(PROGRAMS[client]).expanduser()
    entry = _entry(session, client)
    output.print_text(_as_toml(entry) if file.suffix == ".toml" else json.dumps({SERVERS: {NAME: entry}}, indent=2))
    granted = dict(_granted(client, folders, everything, writes))
    if granted:
        output.print_text(
            "\n".join([f"\n{session.paths.config}:", *(f"{key} = {one}" for key, one in granted.items())])
        )
    if only_print:
        return
    write = _prepare_toml(file, entry) if file.suffix == ".toml" else _prepare_json(file)
    if not yes:
        question = f"Write this into {file}{' and config.toml' if granted else ''}?"
        confirm_writing(question)
    for key, value in granted.items():
        write_setting(session.paths.config, key, value)
    write(entry)
    output.say(f"Written. Start {client} again, and it has the memory's tools.")


def _prepare_json(file: Path) -> Callable[[dict[str, Any]], None]:
    """What puts the entry into a file of JSON. ClickException where that holds something else."""
    kept = read_object(file)
    servers = inner_object(file, kept, SERVERS)

    def write(entry: dict[str, Any]) -> None:
        servers[NAME] = entry
        write_object(file, kept)

    return write


def _prepare_toml(file: Path, entry: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """The same of TOML, behind what stands there, which stays as it is. ClickException where it has another entry."""
    text, kept = read_toml(file)
    servers = kept.get(TOML_SERVERS, {})
    known = servers.get(NAME) if isinstance(servers, dict) else servers
    if known not in (None, entry):
        raise click.ClickException(
            f"{file} has another entry at [{TOML_SERVERS}.{NAME}]. Take it out, or put this into its place."
        )

    def write(entry: dict[str, Any]) -> None:
        if known is None:
            write_text(file, f"{text.rstrip()}\n\n{_as_toml(entry)}\n".lstrip())

    return write


def _as_toml(entry: dict[str, Any]) -> str:
    """A section; strings and lists of TOML are written as those of JSON."""
    env = entry.get("env", {})
    lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items() if key != "env"]
    lines += [f"env = {{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in env.items())} }}"] if env else []
    return "\n".join([f"[{TOML_SERVERS}.{NAME}]", *lines])


def _entry(session: Session, client: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": find_pal(), "args": ["mcp", "--client", client]}
    return entry | ({"env": {HOME: str(session.paths.data)}} if os.environ.get(HOME) else {})


def _granted(client: str, folders: tuple[Path, ...], everything: bool, writes: bool) -> Iterator[tuple[str, str]]:
    """What is written into config.toml, as TOML; nothing where nothing was said: then what stands there counts."""
    if not (folders or everything or writes):
        return
    section = f"mcp.clients.{client}"
    yield f"{section}.everything", str(everything).lower()
    yield f"{section}.folders", json.dumps([str(folder.expanduser().absolute()) for folder in folders])
    yield f"{section}.write", str(writes).lower()
