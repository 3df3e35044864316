"""The entries by which programs of agents find the memory and hand their sessions over."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.options import write_setting
from daemon.cli.session import Session
from daemon.paths import AT, HOME

NAME = "palimpsest"
MARK = "capture --hook"  # in each command that is ours
EVENTS = ("SessionEnd", "Stop")
SECONDS = 10
_TOOLS = "Written. Start {client} again, and it has the memory's tools."
_DESKTOP = "Library/Application Support" if sys.platform == "darwin" else ".config"


Snippet = dict[str, Any]  # the keys of a file of settings that are ours, from the top


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of ours: the file it goes into, whose folder a `variable` may name, and the snippet, made of the command
    that starts this program, its environment and the client's name. `put` gives the file's text with the snippet in
    it; ClickException where it does not fit. `written` is said in the end."""

    file: str
    make: Callable[[str, dict[str, str], str], Snippet]
    put: Callable[[Path, Snippet], str]
    written: str
    variable: str = ""

    def find_file(self) -> Path:
        path = Path(self.file)
        folder = os.environ.get(self.variable, "") if self.variable else ""
        return (Path(folder) / path.name if folder else path).expanduser()


def _server(section: str, pal: str, environment: dict[str, str], client: str) -> Snippet:
    server = {"command": pal, "args": ["mcp", "--client", client]} | ({"env": environment} if environment else {})
    return {section: {NAME: server}}


def _hook(pal: str, environment: dict[str, str], client: str) -> Snippet:
    before = (f"{name}={shlex.quote(value)}" for name, value in environment.items())
    command = " ".join([*before, shlex.quote(pal), MARK])
    hook = {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}
    return {"hooks": {event: [hook] for event in EVENTS}}


def _notification(pal: str, environment: dict[str, str], client: str) -> Snippet:
    before = ["env", *(f"{name}={value}" for name, value in environment.items())] if environment else []
    return {"notify": [*before, pal, "capture", "--codex"]}


def _put_server(file: Path, snippet: Snippet) -> str:
    """In the place of an entry of that name."""
    return _put_json(file, snippet, lambda key, value, known: value)


def _put_hook(file: Path, snippet: Snippet) -> str:
    """Puts our hook after those of others, in place of an earlier one of ours."""

    def join(event: str, hooks: list[Any], known: Any) -> list[Any]:
        if not isinstance(known or [], list):
            raise click.ClickException(f'"{event}" in {file} is not a list. Correct it; nothing was changed.')
        return [*(hook for hook in known or [] if MARK not in json.dumps(hook)), *hooks]

    return _put_json(file, {"hooks": {event: [] for event in EVENTS} | snippet["hooks"]}, join)


def _put_json(file: Path, snippet: Snippet, join: Callable[[str, Any, Any], Any]) -> str:
    try:
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{file} is not valid JSON ({error}). Correct it; nothing was changed.") from error
    if not isinstance(kept, dict):
        raise click.ClickException(f"{file} does not contain a JSON object. Correct it; nothing was changed.")
    for section, entries in snippet.items():
        inner = kept.setdefault(section, {})
        if not isinstance(inner, dict):
            raise click.ClickException(f'"{section}" in {file} is not an object. Correct it; nothing was changed.')
        joined = {key: join(key, value, inner.get(key)) for key, value in entries.items()}
        kept[section] = {key: value for key, value in (inner | joined).items() if value or key not in joined}
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


def _put_toml(file: Path, snippet: Snippet) -> str:
    """Adds the entry at the end of the file, which is otherwise unchanged; a key outside any section goes before the
    first section."""
    try:
        text = file.read_text("utf-8") if file.exists() else ""
        kept: Any = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{file} is not valid TOML ({error}). Correct it; nothing was changed.") from error
    [(key, value)] = snippet.items()
    known = kept.get(key)
    if not isinstance(value, dict):
        if known not in (None, value):
            raise click.ClickException(
                f"{file} has another `{key}`, and there can be one only. Call both from a script."
            )
        return text if known else f"{to_toml(snippet)}\n{text}"
    known = known.get(NAME) if isinstance(known, dict) else known
    if known not in (None, value[NAME]):
        raise click.ClickException(
            f"{file} has another entry at [{key}.{NAME}]. Take it out, or put this into its place."
        )
    return text if known else f"{text.rstrip()}\n\n{to_toml(snippet)}\n".lstrip()


def to_toml(snippet: Snippet) -> str:
    """A section with one entry, or a key outside of sections. Strings and lists are written as those of JSON."""
    [(key, value)] = snippet.items()
    if not isinstance(value, dict):
        return f"{key} = {_to_value(value)}"
    return "\n".join([f"[{key}.{NAME}]", *(f"{name} = {_to_value(entry)}" for name, entry in value[NAME].items())])


def _to_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {json.dumps(item)}' for name, item in value.items())} }}"
    return json.dumps(value)


_JSON_SERVER = partial(_server, "mcpServers")


SERVERS = {  # by which a client finds the memory
    "claude-code": Entry("~/.claude.json", _JSON_SERVER, _put_server, _TOOLS),
    "claude-desktop": Entry(f"~/{_DESKTOP}/Claude/claude_desktop_config.json", _JSON_SERVER, _put_server, _TOOLS),
    "codex": Entry("~/.codex/config.toml", partial(_server, "mcp_servers"), _put_toml, _TOOLS, "CODEX_HOME"),
    "cursor": Entry("~/.cursor/mcp.json", _JSON_SERVER, _put_server, _TOOLS),
    "gemini": Entry("~/.gemini/settings.json", _JSON_SERVER, _put_server, _TOOLS),
}


CAPTURES = {  # by which it hands its sessions over
    "claude-code": Entry(
        "~/.claude/settings.json", _hook, _put_hook,
        "Written. It counts for sessions that begin from now on.", "CLAUDE_CONFIG_DIR",
    ),
    "codex": Entry("~/.codex/config.toml", _notification, _put_toml, "Written. Start Codex again.", "CODEX_HOME"),
}  # fmt: skip


def make_entry(session: Session, client: str, entry: Entry) -> Snippet:
    environment = {HOME: str(session.paths.data)} if os.environ.get(HOME) else {}
    environment |= {AT: session.paths.at} if os.environ.get(AT) else {}
    return entry.make(find_pal(), environment, client)


def write_entry(
    session: Session,
    client: str,
    entry: Entry,
    snippet: Snippet,
    yes: bool,
    only_print: bool,
    granted: dict[str, str] | None = None,
) -> None:
    """Shows the entry, and what is `granted` in config.toml, and writes both when a person wants it."""
    file, granted = entry.find_file(), granted or {}
    output.print_text(to_toml(snippet) if file.suffix == ".toml" else json.dumps(snippet, indent=2))
    if granted:
        rows = [f"{key} = {value}" for key, value in granted.items()]
        output.print_text("\n".join([f"\n{session.paths.config}:", *rows]))
    if only_print:
        return
    text = entry.put(file, snippet)
    is_there = file.exists() and file.read_text("utf-8") == text
    if is_there and not granted:
        output.say("It is already there.")
        return
    if not yes:
        _confirm(f"Write this into {file}{' and config.toml' if granted else ''}?")
    for key, value in granted.items():
        write_setting(session.paths.config, key, value)
    if not is_there:
        _write(file, text)
    output.say(entry.written.format(client=client))


def find_pal() -> str:
    """The command by which another program starts this one."""
    return shutil.which("pal") or str(Path(sys.executable).with_name("pal"))


def _confirm(question: str) -> None:
    """Asks before the settings of another program are written. click's Abort if they are not to be, its UsageError
    where nobody is there to answer."""
    try:
        is_meant = click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.UsageError("Cannot ask for confirmation here. Add --yes to write it without being asked.") from None
    if not is_meant:
        output.say("Nothing was written.")
        raise click.Abort


def _write(file: Path, text: str) -> None:
    """Replaces a file's text and keeps a copy of the old file; its permissions stay."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file = file.resolve()  # a file of settings may be a link to where its owner keeps them
    if file.exists():
        shutil.copy2(file, file.with_name(f"{file.name}.before-palimpsest"))
    new = file.with_name(f".{file.name}.palimpsest")
    new.unlink(missing_ok=True)
    new.touch(0o600)
    new.write_text(text, "utf-8")
    if file.exists():
        shutil.copymode(file, new)
    new.replace(file)
