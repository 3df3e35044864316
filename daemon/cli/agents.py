"""pal mcp, capture: the memory for agents, and sessions with them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import as_date, check_name, grants, json_command, json_option, write_setting
from daemon.cli.output import NothingFound
from daemon.cli.session import Session, pass_session
from daemon.client.client import DaemonDownError, DaemonError
from daemon.paths import AT, HOME, write_private
from daemon.terminal import count, display_safe
from memory.errors import PalimpsestError

if TYPE_CHECKING:
    from daemon.client.client import Client
    from daemon.session_formats import Session as Captured

MAX_INPUT = 256 << 20
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
LOG = "mcp.log"
LOOK_SECONDS = 2.0  # between two looks whether the daemon is there
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
HOOK_SECONDS = 10


@click.group("capture", invoke_without_command=True)
@click.option("--client", default="agent", show_default=True, callback=check_name, help="The agent's name.")
@click.option(
    "--session", "name", metavar="NAME", help="The session's name. Using a name again continues that session."
)
@click.option("--title", help="The session's title.")
@click.option("--hook", is_flag=True, help="Input comes from a hook: return at once and print nothing.")
@click.option("--codex", "notification", metavar="JSON", help="A notification of Codex.")
@json_option
@click.pass_context
def capture(
    ctx: click.Context,
    client: str,
    name: str | None,
    title: str | None,
    hook: bool,
    notification: str | None,
) -> None:
    """Save a session with an agent, from standard input.

    Reads messages in JSON, plain text ("User: ...", "Assistant: ..."), and the input of a hook of Claude Code; for logs
    of Claude Code and Codex: pal add. Your messages are your words; nothing the agent said becomes a fact. The same
    session again adds only new messages.

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

    session_read = read_session(_stdin())
    if session_read.log is not None:
        _read_log(session, session_read.log)
        return
    kept = _keep(session, client, session_read, name, title)
    messages = count(kept.turns, "message")
    new = f"Captured {messages}, {kept.new:,} new" if kept.new else f"Nothing new in {messages}"
    session.show(kept, f"{new}: {kept.source}")


def _keep(session: Session, client: str, found: Captured, name: str | None, title: str | None) -> wire.Captured:
    """Hands the turns over. A session without a name has that of its first turn, by which it is known when it comes
    again."""
    from daemon.session_formats import batches

    begun = hashlib.sha256(found.turns[0].text.encode("utf-8", "replace")).hexdigest()[:16] if found.turns else "empty"
    called = _NO_NAME.sub("-", name or found.name)[:100] or begun
    kept = [session.client.capture(client, called, row, title or found.title) for row in batches(found.turns) or [[]]]
    return wire.Captured(kept[-1].source, sum(batch.turns for batch in kept), sum(batch.new for batch in kept))


def _read_log(session: Session, log: Path) -> None:
    """A log that is a file is read as one: where it is watched already, it is the same source."""
    for event in session.client.add([log]):
        if session.as_json:
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
        captured = read_session(_stdin()) if notification is None else read_notification(notification)
        if captured.log is not None:
            _hand_over(session, captured.log)
        elif captured.turns:
            _keep(session, client if notification is None or client != "agent" else "codex", captured, None, None)
    except (PalimpsestError, DaemonError, DaemonDownError, click.ClickException, OSError) as error:
        output.say(f"pal capture: {error}")
        sys.exit(1)


def _hand_over(session: Session, log: Path) -> None:
    """Has the daemon read the log, also after this process ends; if the daemon is down, a new process starts it."""
    from daemon.client.starting import connect

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


@click.group("mcp", invoke_without_command=True)
@click.option("--client", callback=check_name, help="The agent's name, in config.toml, in the log and on its notes.")
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

    An agent's program starts this and talks to it over stdin and stdout; `pal mcp install` sets that up. Its
    permissions are in config.toml, under [mcp.clients.NAME], or for this run in --folder, --all and --write. By default
    it may read the folders watched with `--policy any`. Its calls are logged, without their words.
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
        raise click.UsageError("--write needs --all or --folder; an agent in config.toml has its permission there.")
    calls = policies.settings.mcp.calls_per_minute
    daemon()  # if it cannot start, the agent's program gets the error at once
    AgentServer(Agent(daemon, find, calls, client)).run()


class _Daemon:
    """A client of a daemon that answers; one that was stopped meanwhile is started again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen = 0.0  # when it last answered

    def __call__(self) -> Client:
        from daemon.client.client import DaemonDownError

        if time.monotonic() - self._seen > LOOK_SECONDS:
            try:
                self._session.client.hello()
            except DaemonDownError:
                self._session.__dict__.pop("client", None)
            self._session.client.hello()
            self._seen = time.monotonic()
        return self._session.client


@mcp.command()
@json_command
def clients(session: Session) -> None:
    """List the agents with their permissions and notes."""
    from daemon.config.settings import McpClientSettings, load
    from daemon.mcp.access import policy_of

    settings = load(session.paths.config).mcp
    watched = session.client.folders()
    wrote = {agent.name: agent for agent in session.client.agents()}
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
    session.show_rows(rows, map(_row, rows), "No agent is known yet. Give one the memory: pal mcp install CLIENT")


def _row(of: dict[str, Any]) -> list[str]:
    sees = of["sees"] if isinstance(of["sees"], str) else ", ".join(of["sees"]) or "nothing"
    last = f", the last on {output.day(of['last'].astimezone())}" if of["last"] else ""
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
        names = ", ".join(agent.name for agent in session.client.agents())
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
    if session.shows_json(taken):
        return
    gone = taken.forgotten
    click.echo(
        f"Forgotten: {count(taken.notes, 'note')}, {count(gone.episodes, 'passage')}, {count(gone.facts, 'fact')}. "
        f"Taken back: {count(taken.verdicts, 'verdict')}."
    )
    from daemon.cli.show import print_copies

    print_copies(gone)


@mcp.command("install")
@click.argument("client", metavar="CLIENT", type=click.Choice(sorted(SETTINGS)))
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--print", "only_print", is_flag=True, help="Print the entry and change nothing.")
@grants
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
    """Connect an agent: shows the entry for its settings and asks before it is written.

    CLIENT is claude-code, claude-desktop, codex, cursor or gemini; the entry of codex you add yourself. The permissions
    --folder, --all and --write are written into config.toml, under [mcp.clients.NAME]; changes there take effect at
    once. `pal mcp clients` shows them.
    """
    file, arguments, environment = (
        Path(SETTINGS[client]).expanduser(),
        ["mcp", "--client", client],
        _environment(session),
    )
    is_toml = file.suffix == ".toml"
    if is_toml:
        output.print_text(f"[mcp_servers.{NAME}]\ncommand = {json.dumps(find_pal())}\nargs = {json.dumps(arguments)}")
        for name, value in environment.items():
            output.print_text(f"env.{name} = {json.dumps(value)}")
    else:
        server = {"command": find_pal(), "args": arguments} | ({"env": environment} if environment else {})
        output.print_text(json.dumps({SECTION: {NAME: server}}, indent=2))
    granted = dict(_granted(client, folders, everything, writes))
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
    """The text of a program's settings with the server; ClickException if the file is something else."""
    try:
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        kept.setdefault(SECTION, {}).update({NAME: server})
    except (OSError, ValueError, AttributeError) as error:
        raise click.ClickException(f"{file} has no settings in JSON. Correct it; nothing was changed.") from error
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


@capture.command("install")
@click.argument("client", metavar="CLIENT", type=click.Choice(["claude-code", "codex"]))
@pass_session
def install_capture(session: Session, client: str) -> None:
    """Print the entry with which all sessions with an agent are saved.

    CLIENT is claude-code or codex. Claude Code runs a hook at the end of a session (with "Stop" in place of
    "SessionEnd" after each answer), Codex sends a notification after each turn; both name the log, which is read like
    any file. If you already watch the folder of these logs, you need neither.
    """
    variables = [f"{name}={value}" for name, value in _environment(session).items()]
    command = [*(["env", *variables] if variables else []), find_pal(), "capture"]
    if client == "codex":
        output.print_text(f"notify = {json.dumps([*command, '--codex'])}")
        output.say("Add this line to ~/.codex/config.toml, before its first section.")
        return
    hook = {"type": "command", "command": shlex.join([*command, "--hook"]), "timeout": HOOK_SECONDS}
    output.print_text(json.dumps({"hooks": {"SessionEnd": [{"hooks": [hook]}]}}, indent=2))
    output.say("Add this to ~/.claude/settings.json.")


def _environment(session: Session) -> dict[str, str]:
    """What another program must set for this memory."""
    environment = {HOME: str(session.paths.data)} if os.environ.get(HOME) else {}
    return environment | ({AT: session.paths.at} if os.environ.get(AT) else {})


def find_pal() -> str:
    """The command by which another program starts this one."""
    return shutil.which("pal") or str(Path(sys.executable).with_name("pal"))


def _granted(client: str, folders: tuple[Path, ...], everything: bool, writes: bool) -> Iterator[tuple[str, str]]:
    """The settings for config.toml, as TOML; nothing without options: then the present settings count."""
    if not (folders or everything or writes):
        return
    section = f"mcp.clients.{client}"
    yield f"{section}.everything", str(everything).lower()
    yield f"{section}.folders", json.dumps([str(folder.expanduser().absolute()) for folder in folders])
    yield f"{section}.write", str(writes).lower()
